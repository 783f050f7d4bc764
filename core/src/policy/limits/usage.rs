//! What is known of how much the tree holds, between one command and the next.
//!
//! Nothing is locked while the store works, as a store may be anybody's code. So a write is noted
//! before it is made, counts from then on, and is struck out if it fails. A measuring walks through the
//! tree meanwhile, and what it sees of a file that is just being written may be old or new: for these
//! files the notes count, and not what it saw. That way the sum is exact, whatever runs at once, as far
//! as this memory's own commands go.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::path::MemoryPath;
use crate::store::{EntryKind, Store, StoreError};

/// How long what is known is taken for true, though others may have written.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// How often the tree is measured anew in which files are moved and deleted meanwhile.
const ATTEMPTS: usize = 3;

/// How much a tree holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Held {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
}

impl Held {
    fn of_file(size: Option<u64>) -> Self {
        Self { bytes: size.unwrap_or(0), files: size.is_some().into() }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            files: self.files.saturating_add(other.files),
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            files: self.files.saturating_sub(other.files),
        }
    }
}

/// What a file's change does to the whole: the sizes before and after, where there was or is a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) before: Option<u64>,
    pub(crate) after: u64,
}

impl Change {
    /// By how much the tree grows, if it does.
    pub(crate) fn growth(self) -> Held {
        Held::of_file(Some(self.after)).minus(Held::of_file(self.before))
    }

    fn applied_to(self, held: Held) -> Held {
        held.plus(Held::of_file(Some(self.after))).minus(Held::of_file(self.before))
    }
}

/// What is known of one memory's tree.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Without the writes that are under way.
    known: Option<Known>,
    /// Writes that are under way, and those that were done while the tree was being measured; in the
    /// order in which they began.
    writes: BTreeMap<u64, Write>,
    began: u64,
    measuring: usize,
    /// Deletions and renames that are under way, and how many there ever were.
    moving: usize,
    moved: u64,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    held: Held,
    at: Instant,
    /// Whether it can be decided by: something may have been deleted since, or moved while it was
    /// measured.
    sure: bool,
}

impl Known {
    fn is_recent(&self) -> bool {
        self.sure && self.at.elapsed() <= TRUSTED_FOR
    }
}

#[derive(Debug)]
struct Write {
    path: MemoryPath,
    change: Change,
    done: bool,
    /// A walk saw a file where this one is to be made: this write's, or somebody else's.
    met: bool,
}

/// What a walk through the tree found.
#[derive(Debug)]
pub(crate) struct Measured {
    /// Without the writes that were under way at its end.
    pub(crate) held: Held,
    pub(crate) files: Vec<(MemoryPath, u64)>,
}

impl State {
    /// How much the writes under way may make the tree grow.
    fn pending(&self) -> Held {
        let under_way = self.writes.values().filter(|write| !write.done);
        under_way.fold(Held::default(), |sum, write| sum.plus(write.change.growth()))
    }

    /// What the tree held without the writes under way, when a walk saw it as `files`.
    fn without_pending(&mut self, files: &[(MemoryPath, u64)]) -> Held {
        /// A file that is, or just was, being written.
        struct Written {
            held: Held,
            was_there: bool,
            largest: u64,
            met: bool,
        }
        let mut written: HashMap<MemoryPath, Written> = HashMap::new();
        for Write { path, change, done, .. } in self.writes.values() {
            // The first one knows what was there before all of them.
            let file = written.entry(path.clone()).or_insert_with(|| Written {
                held: Held::of_file(change.before),
                was_there: change.before.is_some(),
                largest: 0,
                met: false,
            });
            file.largest = file.largest.max(change.after);
            if *done {
                file.held = change.applied_to(file.held);
            }
        }
        let mut held = Held::default();
        for (path, size) in files {
            match written.get_mut(path) {
                None => held = held.plus(Held::of_file(Some(*size))),
                Some(file) => {
                    file.met = true;
                    if !file.was_there {
                        // Somebody else's may be larger.
                        file.held.bytes += size.saturating_sub(file.largest);
                    }
                }
            }
        }
        for write in self.writes.values_mut().filter(|write| write.change.before.is_none()) {
            write.met |= written.get(&write.path).is_some_and(|file| file.met);
        }
        written.values().fold(held, |held, file| held.plus(file.held))
    }

    /// A write counts as done.
    fn end(&mut self, number: u64) {
        let Some(write) = self.writes.get_mut(&number) else { return };
        write.done = true;
        let change = write.change;
        if let Some(known) = &mut self.known {
            known.held = change.applied_to(known.held);
        }
        self.forget_done_writes();
    }

    fn doubt(&mut self) {
        if let Some(known) = &mut self.known {
            known.sure = false;
        }
    }

    fn forget_done_writes(&mut self) {
        if self.measuring == 0 {
            self.writes.retain(|_, write| !write.done);
        }
    }
}

impl Usage {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the tree holds, with the writes under way, if that is known well enough.
    pub(crate) fn recent(&self) -> Option<Held> {
        let state = self.state();
        let known = state.known.filter(Known::is_recent)?;
        Some(known.held.plus(state.pending()))
    }

    /// Walks through the tree.
    pub(crate) fn measure(&self, store: &dyn Store) -> Result<Measured, StoreError> {
        let mut attempt = 1;
        loop {
            let measuring = Measuring::begin(self);
            let mut files = Vec::new();
            store.files(&mut |file| {
                if let EntryKind::File(size) = file.kind {
                    files.push((file.path, size));
                }
            })?;
            let (held, sure) = measuring.end(&files);
            if sure || attempt == ATTEMPTS {
                return Ok(Measured { held, files });
            }
            attempt += 1;
        }
    }

    /// Notes a write if `judge` allows it, given what the tree would hold: with the writes under way
    /// and this one. It is given `None` where that is not known well enough; to a command that has
    /// `measured` it always is.
    pub(crate) fn note<R>(
        &self,
        path: &MemoryPath,
        change: Change,
        measured: bool,
        judge: impl FnOnce(Option<Held>) -> Result<(), R>,
    ) -> Result<Noted<'_>, R> {
        let mut state = self.state();
        let known = state.known.filter(|known| measured || known.is_recent());
        judge(known.map(|known| change.applied_to(known.held.plus(state.pending()))))?;
        state.began += 1;
        let number = state.began;
        let write = Write { path: path.clone(), change, done: false, met: false };
        state.writes.insert(number, write);
        Ok(Noted { usage: self, number, ended: false })
    }

    /// A deletion or rename begins; it ends when what comes back is dropped.
    pub(crate) fn moving(&self) -> Moving<'_> {
        let mut state = self.state();
        state.moving += 1;
        state.moved += 1;
        Moving(self)
    }

    /// What is known is not to be decided by any more: something was deleted or overwritten.
    pub(crate) fn doubt(&self) {
        self.state().doubt();
    }
}

/// A write that is under way. If it is dropped before it has ended, nobody knows what came of it, and
/// it counts.
#[derive(Debug)]
pub(crate) struct Noted<'u> {
    usage: &'u Usage,
    number: u64,
    ended: bool,
}

impl Noted<'_> {
    /// The write was made.
    pub(crate) fn done(mut self) {
        self.ended = true;
        self.usage.state().end(self.number);
    }

    /// The write was not made.
    pub(crate) fn undone(mut self) {
        self.ended = true;
        let mut state = self.usage.state();
        if state.writes.get(&self.number).is_some_and(|write| write.met) {
            // It kept the place of somebody else's file in what is known.
            state.end(self.number);
            state.doubt();
        } else {
            state.writes.remove(&self.number);
        }
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let mut state = self.usage.state();
            state.end(self.number);
            state.doubt();
        }
    }
}

/// A deletion or rename that is under way.
pub(crate) struct Moving<'u>(&'u Usage);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.state().moving -= 1;
    }
}

/// A walk through the tree that is under way.
struct Measuring<'u> {
    usage: &'u Usage,
    at: Instant,
    /// What it was when nothing was being moved.
    moved: Option<u64>,
}

impl<'u> Measuring<'u> {
    fn begin(usage: &'u Usage) -> Self {
        let mut state = usage.state();
        state.measuring += 1;
        let moved = (state.moving == 0).then_some(state.moved);
        Self { usage, at: Instant::now(), moved }
    }

    /// What the tree holds, and whether nothing was moved meanwhile, so that it can be remembered.
    fn end(self, files: &[(MemoryPath, u64)]) -> (Held, bool) {
        let mut state = self.usage.state();
        let held = state.without_pending(files);
        let sure = self.moved == Some(state.moved);
        if state.known.is_none_or(|known| known.at < self.at || !known.sure) {
            state.known = Some(Known { held, at: self.at, sure });
        }
        (held, sure)
    }
}

impl Drop for Measuring<'_> {
    fn drop(&mut self) {
        let mut state = self.usage.state();
        state.measuring -= 1;
        state.forget_done_writes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OnExisting;
    use crate::store::InProcess;

    fn path(name: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{name}")).unwrap()
    }

    fn put(store: &InProcess, name: &str, content: &str) {
        store.write(&path(name), content.as_bytes(), OnExisting::Overwrite).unwrap();
    }

    fn note<'u>(usage: &'u Usage, name: &str, before: Option<u64>, after: u64) -> Noted<'u> {
        let change = Change { before, after };
        usage.note::<()>(&path(name), change, true, |_| Ok(())).unwrap()
    }

    const fn held(bytes: u64, files: u64) -> Option<Held> {
        Some(Held { bytes, files })
    }

    #[test]
    fn a_write_counts_once_whether_the_walk_saw_it_or_not() {
        for seen in [false, true] {
            let (usage, store) = (Usage::default(), InProcess::new());
            put(&store, "a", "1");
            put(&store, "b", "12345");
            let (grown, new) = (note(&usage, "a", Some(1), 4), note(&usage, "new", None, 2));
            let shrunk = note(&usage, "b", Some(5), 3);
            if seen {
                put(&store, "a", "1234");
                put(&store, "b", "123");
                put(&store, "new", "12");
            }
            assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 6, files: 2 });
            // What shrinks counts in full until it has.
            assert_eq!(usage.recent(), held(11, 3));
            grown.done();
            shrunk.done();
            assert_eq!(usage.recent(), held(9, 3));
            new.undone();
            assert_eq!(usage.recent(), if seen { None } else { held(7, 2) });
        }
    }

    #[test]
    fn writes_that_end_during_a_walk_count_once() {
        let (usage, store) = (Usage::default(), InProcess::new());
        put(&store, "a", "1");
        let (first, failed) = (note(&usage, "a", Some(1), 4), note(&usage, "f", None, 9));
        let walk = Measuring::begin(&usage);
        first.done();
        failed.undone();
        note(&usage, "a", Some(4), 6).done();
        let last = note(&usage, "a", Some(6), 5);
        // Whichever of the contents it saw.
        assert_eq!(walk.end(&[(path("a"), 4)]), (Held { bytes: 6, files: 1 }, true));
        assert_eq!(usage.recent(), held(6, 1));
        last.done();
        assert_eq!(usage.recent(), held(5, 1));
        assert!(usage.state().writes.is_empty());
    }

    #[test]
    fn a_file_of_somebody_else_in_the_way_of_a_creation_counts() {
        let (usage, store) = (Usage::default(), InProcess::new());
        put(&store, "a", "12345");
        for after in [2, 9] {
            let creation = note(&usage, "a", None, after);
            usage.measure(&store).unwrap();
            creation.undone();
            // Not less than is there, and not to be decided by.
            let known = usage.state().known.unwrap();
            assert_eq!((known.held, known.sure), (Held { bytes: after.max(5), files: 1 }, false));
        }
    }

    #[test]
    fn what_nobody_knows_the_end_of_counts_until_it_is_measured() {
        let (usage, store) = (Usage::default(), InProcess::new());
        usage.measure(&store).unwrap();
        drop(note(&usage, "a", None, 5));
        assert_eq!(usage.recent(), None);
        assert_eq!(usage.state().known.unwrap().held, Held { bytes: 5, files: 1 });
        usage.measure(&store).unwrap();
        assert_eq!(usage.recent(), held(0, 0));
    }

    #[test]
    fn a_walk_during_a_move_is_made_again_and_not_relied_on() {
        let (usage, store) = (Usage::default(), InProcess::new());
        put(&store, "a", "1");
        let moving = usage.moving();
        assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 1, files: 1 });
        assert_eq!(usage.recent(), None);
        drop(moving);
        usage.measure(&store).unwrap();
        assert_eq!(usage.recent(), held(1, 1));
        let walk = Measuring::begin(&usage);
        drop(usage.moving());
        assert!(!walk.end(&[]).1);
    }
}
