//! What is known of how much the tree holds, between one command and the next.
//!
//! Nothing is locked while the store works, as a store may be anybody's code. So a write is noted
//! before it is made, counts from then on, and is struck out if it fails. Of a file that is being written
//! nobody knows which of its sizes the store has just now, nor which of several writes will be the last, or
//! fail. So the largest of them counts, until all have ended: never too little, as far as this memory's own
//! commands go, and exactly what is there as soon as nothing is under way.
//!
//! A measuring walks through the tree meanwhile. What it sees of a file is its size at some moment of the
//! walk, which is taken for its size without the writes that are under way; only where a write has ended
//! during the walk, its note counts and not what the walk saw.

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

    /// The larger one of each.
    fn or_more(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), files: self.files.max(other.files) }
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

    /// The most that the file may hold meanwhile.
    fn most(self) -> Held {
        Held::of_file(self.before).or_more(Held::of_file(Some(self.after)))
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
    /// The files that are being written, or were while a walk that is under way began.
    noted: HashMap<MemoryPath, File>,
    /// Goes on with each write that is decided or ends.
    clock: u64,
    /// When the walks that are under way began.
    walks: Vec<u64>,
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

/// A file that is being written.
#[derive(Debug, Default)]
struct File {
    /// What of it is in what is known.
    known: Held,
    /// The writes that are under way, by the order in which they were decided.
    writes: BTreeMap<u64, Change>,
    /// The last write that ended.
    last: Option<Ended>,
}

#[derive(Debug, Clone, Copy)]
struct Ended {
    number: u64,
    at: u64,
    held: Held,
}

impl File {
    /// How much more than is known it may come to hold.
    fn pending(&self) -> Held {
        let most = self.writes.values().fold(self.known, |most, write| most.or_more(write.most()));
        most.minus(self.known)
    }

    /// What it held without the writes under way, when a walk that began then saw it as `seen`.
    fn measured(&self, seen: Held, began: u64) -> Held {
        self.last.filter(|last| last.at > began).map_or(seen, |last| last.held)
    }
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
        self.noted.values().fold(Held::default(), |sum, file| sum.plus(file.pending()))
    }

    /// Strikes the note of a write out; what the file came to hold by it, if it was made.
    fn end(
        &mut self,
        path: &MemoryPath,
        number: u64,
        made: impl FnOnce(&File, Change) -> Option<Held>,
    ) {
        self.clock += 1;
        let at = self.clock;
        let Some(file) = self.noted.get_mut(path) else { return };
        let Some(change) = file.writes.remove(&number) else { return };
        if let Some(mut held) = made(file, change) {
            // Decided earlier, it was mostly made earlier, and what came after it holds all of it. But
            // the file may have been deleted in between.
            if let Some(last) = file.last.filter(|last| last.number > number) {
                held = held.or_more(last.held);
            }
            if let Some(known) = &mut self.known {
                known.held = known.held.plus(held).minus(file.known);
            }
            file.known = held;
            let number = file.last.map_or(number, |last| last.number.max(number));
            file.last = Some(Ended { number, at, held });
        }
        self.forget();
    }

    fn doubt(&mut self) {
        if let Some(known) = &mut self.known {
            known.sure = false;
        }
    }

    /// Forgets what has ended, unless a walk may have seen it as it was before.
    fn forget(&mut self) {
        let oldest = self.walks.iter().copied().min();
        self.noted.retain(|_, file| {
            let is_needed = |last: Ended| oldest.is_some_and(|began| began < last.at);
            !file.writes.is_empty() || file.last.is_some_and(is_needed)
        });
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

    /// Notes a write if `check` allows it, given what the tree would hold: with the writes under way
    /// and this one. It is given `None` where that is not known well enough; to a command that has
    /// `measured` it always is.
    pub(crate) fn note<R>(
        &self,
        path: &MemoryPath,
        change: Change,
        measured: bool,
        check: impl FnOnce(Option<Held>) -> Result<(), R>,
    ) -> Result<Noted<'_>, R> {
        let mut state = self.state();
        state.clock += 1;
        let number = state.clock;
        let file = state.noted.entry(path.clone()).or_insert_with(|| File {
            // A file that is to be made is not known to be there.
            known: Held::of_file(change.before),
            ..File::default()
        });
        file.writes.insert(number, change);
        let noted = Noted { usage: self, path: path.clone(), number, ended: false };
        let known = state.known.filter(|known| measured || known.is_recent());
        let checked = check(known.map(|known| known.held.plus(state.pending())));
        drop(state);
        match checked {
            Ok(()) => Ok(noted),
            Err(refusal) => {
                noted.undone();
                Err(refusal)
            }
        }
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
    path: MemoryPath,
    number: u64,
    ended: bool,
}

impl Noted<'_> {
    /// The write was made.
    pub(crate) fn done(mut self) {
        self.ended = true;
        let made = |_: &File, change: Change| Some(Held::of_file(Some(change.after)));
        self.usage.state().end(&self.path, self.number, made);
    }

    /// The write was not made.
    pub(crate) fn undone(mut self) {
        self.ended = true;
        self.usage.state().end(&self.path, self.number, |_, _| None);
    }
}

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        if !self.ended {
            let mut state = self.usage.state();
            let most = |file: &File, change: Change| Some(file.known.or_more(change.most()));
            state.end(&self.path, self.number, most);
            state.doubt();
        }
    }
}

/// A deletion or rename that is under way.
pub(crate) struct Moving<'u>(&'u Usage);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        // What is noted of their files stays until all that is under way has ended: rather too much
        // counts than too little.
        self.0.state().moving -= 1;
    }
}

/// A walk through the tree that is under way.
struct Measuring<'u> {
    usage: &'u Usage,
    began: u64,
    at: Instant,
    /// What it was when nothing was being moved.
    moved: Option<u64>,
}

impl<'u> Measuring<'u> {
    fn begin(usage: &'u Usage) -> Self {
        let mut state = usage.state();
        let began = state.clock;
        state.walks.push(began);
        let moved = (state.moving == 0).then_some(state.moved);
        Self { usage, began, at: Instant::now(), moved }
    }

    /// What the tree holds, and whether nothing was moved meanwhile, so that it can be remembered.
    fn end(self, files: &[(MemoryPath, u64)]) -> (Held, bool) {
        let mut state = self.usage.state();
        let (mut held, mut seen) = (Held::default(), HashMap::new());
        for (path, size) in files {
            let size = Held::of_file(Some(*size));
            if state.noted.contains_key(path) {
                seen.insert(path, size);
            } else {
                held = held.plus(size);
            }
        }
        let seen = |path: &MemoryPath| seen.get(path).copied().unwrap_or_default();
        let noted = state.noted.iter().map(|(path, file)| file.measured(seen(path), self.began));
        held = noted.fold(held, Held::plus);
        let sure = self.moved == Some(state.moved);
        if state.known.is_none_or(|known| known.at < self.at || !known.sure) {
            state.known = Some(Known { held, at: self.at, sure });
            for (path, file) in &mut state.noted {
                file.known = file.measured(seen(path), self.began);
            }
        }
        (held, sure)
    }
}

impl Drop for Measuring<'_> {
    fn drop(&mut self) {
        let mut state = self.usage.state();
        if let Some(place) = state.walks.iter().position(|began| *began == self.began) {
            state.walks.swap_remove(place);
        }
        state.forget();
    }
}

#[cfg(test)]
mod tests;
