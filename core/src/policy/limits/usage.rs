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
    /// Writes that are under way, in the order in which they were decided; and those that have ended
    /// since the oldest command or walk which is under way began.
    writes: BTreeMap<u64, Write>,
    /// Goes on with each write that is decided or ends.
    clock: u64,
    /// When the commands and walks that are under way began.
    under_way: Vec<u64>,
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
    ended: Option<u64>,
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
    /// Which write of a file ended last, as they were decided. On a store that retries, what others
    /// decided before it was about an older content, and will be decided anew; on all others it came
    /// before. So it holds all of them.
    fn last_ended(&self, path: &MemoryPath) -> Option<(u64, &Write)> {
        let of_file = self.writes.iter().rev().filter(|(_, write)| write.path == *path);
        of_file.map(|(number, write)| (*number, write)).find(|(_, write)| write.ended.is_some())
    }

    fn is_superseded(&self, number: u64, path: &MemoryPath) -> bool {
        self.last_ended(path).is_some_and(|(last, _)| last > number)
    }

    /// What a file that is noted counts without the writes under way.
    fn without_writes(&self, path: &MemoryPath) -> Held {
        if let Some((_, last)) = self.last_ended(path) {
            return Held::of_file(Some(last.change.after));
        }
        let first = self.writes.values().find(|write| write.path == *path);
        Held::of_file(first.and_then(|first| first.change.before))
    }

    /// How much the writes under way may make the tree grow.
    fn pending(&self) -> Held {
        let under_way = self.writes.iter().filter(|(number, write)| {
            write.ended.is_none() && !self.is_superseded(**number, &write.path)
        });
        under_way.fold(Held::default(), |sum, (_, write)| sum.plus(write.change.growth()))
    }

    /// What the tree held without the writes under way, when a walk saw it as `files`.
    fn without_pending(&mut self, files: &[(MemoryPath, u64)]) -> Held {
        let mut noted: HashMap<MemoryPath, Held> = HashMap::new();
        for write in self.writes.values() {
            if !noted.contains_key(&write.path) {
                noted.insert(write.path.clone(), self.without_writes(&write.path));
            }
        }
        let mut held = Held::default();
        for (path, size) in files {
            let Some(counted) = noted.get_mut(path) else {
                held = held.plus(Held::of_file(Some(*size)));
                continue;
            };
            let writes = self.writes.values_mut().filter(|write| write.path == *path);
            let mut largest = 0;
            for write in writes {
                write.met |= write.change.before.is_none();
                largest = largest.max(write.change.after);
            }
            if counted.files == 0 {
                // Where one is to be made, somebody else's may be, and be larger.
                counted.bytes = size.saturating_sub(largest);
            }
        }
        noted.values().copied().fold(held, Held::plus)
    }

    /// A write counts as made.
    fn end(&mut self, number: u64) {
        let Some(write) = self.writes.get(&number) else { return };
        let (path, after) = (write.path.clone(), Held::of_file(Some(write.change.after)));
        if !self.is_superseded(number, &path) {
            let before = self.without_writes(&path);
            if let Some(known) = &mut self.known {
                known.held = known.held.plus(after).minus(before);
            }
        }
        self.clock += 1;
        if let Some(write) = self.writes.get_mut(&number) {
            write.ended = Some(self.clock);
        }
        self.forget_ended_writes();
    }

    fn doubt(&mut self) {
        if let Some(known) = &mut self.known {
            known.sure = false;
        }
    }

    fn forget_ended_writes(&mut self) {
        let oldest = self.under_way.iter().copied().min();
        self.writes.retain(|_, write| {
            write.ended.is_none_or(|ended| oldest.is_some_and(|oldest| oldest < ended))
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
        state.clock += 1;
        let number = state.clock;
        let write = Write { path: path.clone(), change, ended: None, met: false };
        state.writes.insert(number, write);
        Ok(Noted { usage: self, number, ended: false })
    }

    /// A command begins that may write; it ends when what comes back is dropped.
    pub(crate) fn under_way(&self) -> UnderWay<'_> {
        let mut state = self.state();
        let began = state.clock;
        state.under_way.push(began);
        UnderWay { usage: self, began }
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
            let write = state.writes.get(&self.number);
            if write.is_some_and(|write| write.change.growth() == Held::default()) {
                state.writes.remove(&self.number);
            } else {
                state.end(self.number);
            }
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

/// A command or walk that is under way.
#[derive(Debug)]
pub(crate) struct UnderWay<'u> {
    usage: &'u Usage,
    began: u64,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let mut state = self.usage.state();
        if let Some(place) = state.under_way.iter().position(|began| *began == self.began) {
            state.under_way.swap_remove(place);
        }
        state.forget_ended_writes();
    }
}

/// A walk through the tree that is under way.
struct Measuring<'u> {
    usage: &'u Usage,
    _under_way: UnderWay<'u>,
    at: Instant,
    /// What it was when nothing was being moved.
    moved: Option<u64>,
}

impl<'u> Measuring<'u> {
    fn begin(usage: &'u Usage) -> Self {
        let under_way = usage.under_way();
        let state = usage.state();
        let moved = (state.moving == 0).then_some(state.moved);
        Self { usage, _under_way: under_way, at: Instant::now(), moved }
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

#[cfg(test)]
mod tests;
