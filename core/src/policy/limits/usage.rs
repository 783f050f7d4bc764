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
}

#[derive(Debug)]
struct Write {
    path: MemoryPath,
    change: Change,
    done: bool,
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
    fn without_pending(&self, files: &[(MemoryPath, u64)]) -> Held {
        /// A file that is, or just was, being written.
        struct Written {
            held: Held,
            was_there: bool,
            largest: u64,
        }
        let mut written: HashMap<&MemoryPath, Written> = HashMap::new();
        for Write { path, change, done } in self.writes.values() {
            // The first one knows what was there before all of them.
            let file = written.entry(path).or_insert_with(|| Written {
                held: Held::of_file(change.before),
                was_there: change.before.is_some(),
                largest: 0,
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
                // Somebody else's, which a creation has not met yet.
                Some(file) if !file.was_there => {
                    file.held.bytes += size.saturating_sub(file.largest);
                }
                Some(_) => {}
            }
        }
        written.values().fold(held, |held, file| held.plus(file.held))
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
        let known = state.known.filter(|known| known.at.elapsed() <= TRUSTED_FOR)?;
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
    /// and this one. It is given `None` where that is not known well enough; `measured` is what this
    /// command itself has measured, which always is.
    pub(crate) fn note<R>(
        &self,
        path: &MemoryPath,
        change: Change,
        measured: Option<Held>,
        judge: impl FnOnce(Option<Held>) -> Result<(), R>,
    ) -> Result<Noted<'_>, R> {
        let mut state = self.state();
        let trusted = |known: &Known| measured.is_some() || known.at.elapsed() <= TRUSTED_FOR;
        let known = state.known.filter(trusted).map(|known| known.held).or(measured);
        judge(known.map(|held| change.applied_to(held.plus(state.pending()))))?;
        state.began += 1;
        let number = state.began;
        state.writes.insert(number, Write { path: path.clone(), change, done: false });
        Ok(Noted { usage: self, number, done: false })
    }

    /// A deletion or rename begins; it ends when what comes back is dropped.
    pub(crate) fn moving(&self) -> Moving<'_> {
        let mut state = self.state();
        state.moving += 1;
        state.moved += 1;
        Moving(self)
    }

    /// Nothing is known any more.
    pub(crate) fn forget(&self) {
        self.state().known = None;
    }
}

/// A write that is under way. If it is dropped before it is done, nobody knows what came of it.
#[derive(Debug)]
pub(crate) struct Noted<'u> {
    usage: &'u Usage,
    number: u64,
    done: bool,
}

impl Noted<'_> {
    /// The write was made.
    pub(crate) fn done(mut self) {
        self.done = true;
        let mut state = self.usage.state();
        let Some(write) = state.writes.get_mut(&self.number) else { return };
        write.done = true;
        let change = write.change;
        state.known =
            state.known.map(|known| Known { held: change.applied_to(known.held), ..known });
        state.forget_done_writes();
    }

    /// The write was not made.
    pub(crate) fn undone(mut self) {
        self.done = true;
        self.usage.state().writes.remove(&self.number);
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if !self.done {
            let mut state = self.usage.state();
            state.writes.remove(&self.number);
            state.known = None;
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
        if !sure {
            state.known = None;
        } else if state.known.is_none_or(|known| known.at < self.at) {
            state.known = Some(Known { held, at: self.at });
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
