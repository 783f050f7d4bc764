//! [`Usage`]: the last measurement of the tree, kept up to date between commands.
//!
//! No lock is held while the store works, because a store may be custom code. So a write is noted before it
//! begins. Its note counts from then on, and is removed if the write fails. While a file is being written, it
//! is unknown which of its sizes the store has. With several writes, it is also unknown which is last and which
//! fail. So the largest size counts until all writes of the file have ended. For this memory's own commands,
//! the total is never too small.
//!
//! A measurement walks through the tree while others may write. For each file it sees the size at some moment
//! of the walk, which counts as the size without the writes in progress. But if a write of the file ended
//! during the walk, the note of that write counts instead.
//!
//! A deletion does not change the total, which is then too large. That is enough to allow a write while the
//! limit is far away. Near a limit the tree is measured before anything is refused.
//!
//! A walk misses a file that is moved from where it has not been to where it has been. So a walk during a move
//! is made again, and the moves that come next wait for the second walk. They wait for a limited time, because
//! a store of custom code may use the memory itself.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use memdir_store::is_own_file;
use memdir_store::path::{Folding, MemoryPath};

use crate::store::{EntryKind, Store, StoreError};

/// The time for which a measurement is used at least, although other processes may have written since.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// A measurement is used for this many times as long as it took, so a large tree is not measured all the time.
const TRUSTED_TIMES: u32 = 50;

/// The time after which a walk is not made again, although files were moved during it, and for which a move
/// waits for a walk. WebAssembly has one thread, in which nothing can end while it waits.
const PATIENCE: Duration =
    if cfg!(target_family = "wasm") { Duration::ZERO } else { Duration::from_secs(2) };

/// The bytes and files of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Held {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
}

impl Held {
    fn of_file(size: Option<u64>) -> Self {
        Self { bytes: size.unwrap_or(0), files: size.is_some().into() }
    }

    /// Returns the maximum of each number.
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

/// The sizes of a file before and after a change. `before` is `None` if there was no file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SizeChange {
    pub(crate) before: Option<u64>,
    pub(crate) after: u64,
}

impl SizeChange {
    /// Returns the growth of the tree, if it grows.
    pub(crate) fn growth(self) -> Held {
        Held::of_file(Some(self.after)).minus(Held::of_file(self.before))
    }

    /// Returns the most that the file may hold during the change.
    fn most(self) -> Held {
        Held::of_file(self.before).or_more(Held::of_file(Some(self.after)))
    }
}

/// The usage of one memory's tree.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    /// Makes all spellings of a path count as one file.
    folding: Folding,
    state: Mutex<UsageState>,
    /// Wakes what waits for the end of a move, or of a walk that keeps moves waiting.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct UsageState {
    /// The last total, without the writes in progress.
    known: Option<Known>,
    /// The files that are being written, or were written when a walk in progress began.
    noted: HashMap<MemoryPath, File>,
    /// Increases with each write that begins or ends.
    clock: u64,
    /// The clock at the start of each walk in progress.
    walks: Vec<u64>,
    /// The number of deletions and renames in progress. `moved` counts all that ever began, and every doubt.
    moving: usize,
    moved: u64,
    /// The number of walks that keep moves waiting.
    alone: usize,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    held: Held,
    /// The start of the measurement.
    at: Instant,
    /// The time for which it is used, from its start.
    trusted_for: Duration,
    /// True if the total is not too small: nothing was moved during the measurement, or restored since.
    sure: bool,
}

impl Known {
    fn is_recent(&self) -> bool {
        self.sure && self.at.elapsed() <= self.trusted_for
    }
}

/// A moment between the changes by this memory: the clock, and the deletions and renames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    clock: u64,
    moved: u64,
    moving: usize,
}

/// A file that is being written.
#[derive(Debug, Default)]
struct File {
    /// The part of the last total that comes from this file.
    known: Held,
    /// The writes in progress, in the order in which they began.
    writes: BTreeMap<u64, SizeChange>,
    /// The last write that ended.
    last: Option<Ended>,
    /// True if it may have been moved since. Then each of its writes may be that of another file.
    is_moved: bool,
}

#[derive(Debug, Clone, Copy)]
struct Ended {
    number: u64,
    at: u64,
    held: Held,
}

impl File {
    /// Returns the most that the writes in progress may add to the last total.
    fn pending(&self) -> Held {
        let writes = self.writes.values().map(|write| write.most());
        if self.is_moved {
            return writes.fold(Held::default(), Held::plus);
        }
        writes.fold(self.known, Held::or_more).minus(self.known)
    }

    /// Returns its size after a write that was made. `is_last` is true if no other write was made after it.
    fn after(&self, change: SizeChange, is_last: bool) -> Held {
        let held = Held::of_file(Some(change.after));
        match (self.is_moved, is_last) {
            (true, _) => self.known.plus(held),
            (false, true) => held,
            (false, false) => self.known.or_more(held),
        }
    }

    /// Returns its size without the writes in progress, after a walk that began at `began` found the size
    /// `seen`.
    fn measured(&self, seen: Held, began: u64) -> Held {
        self.last.filter(|last| last.at > began).map_or(seen, |last| last.held)
    }
}

/// The result of a walk through the tree.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The total, without the writes in progress at the end of the walk.
    pub(crate) held: Held,
    pub(crate) files: Vec<(MemoryPath, u64)>,
}

impl UsageState {
    /// Returns the most by which the writes in progress may make the tree grow.
    fn pending(&self) -> Held {
        self.noted.values().fold(Held::default(), |sum, file| sum.plus(file.pending()))
    }

    /// Counts the writes in progress in addition to the last total, because their files may be at other paths by
    /// now. The total may then be too large, but not too small.
    fn count_in_addition(&mut self) {
        for file in self.noted.values_mut() {
            file.known = Held::default();
            file.is_moved = true;
        }
    }

    /// Marks the last total as untrusted, and those of the walks in progress.
    fn doubt(&mut self) {
        self.moved += 1;
        if let Some(known) = &mut self.known {
            known.sure = false;
        }
    }

    /// Removes the note of a write. `made` returns the new size of the file, if it was written.
    fn end(
        &mut self,
        path: &MemoryPath,
        number: u64,
        made: impl FnOnce(&File, SizeChange) -> Option<Held>,
    ) {
        self.clock += 1;
        let at = self.clock;
        let Some(file) = self.noted.get_mut(path) else { return };
        let Some(change) = file.writes.remove(&number) else { return };
        if let Some(mut held) = made(file, change) {
            // A write that began earlier was usually made earlier, so the size of the later one counts. But the
            // file may have been deleted between the two, so the larger size counts.
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

    /// Removes ended writes, unless a walk in progress may have seen the file before them.
    fn forget(&mut self) {
        let oldest = self.walks.iter().copied().min();
        self.noted.retain(|_, file| {
            let is_needed = |last: Ended| oldest.is_some_and(|began| began < last.at);
            !file.writes.is_empty() || file.last.is_some_and(is_needed)
        });
    }
}

impl Usage {
    pub(super) fn new(folding: Folding) -> Self {
        Self { folding, ..Self::default() }
    }

    /// Returns how paths are compared.
    pub(super) fn folding(&self) -> Folding {
        self.folding
    }

    fn state(&self) -> MutexGuard<'_, UsageState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the total with the writes in progress, if the last measurement is recent and can be trusted. What
    /// was deleted since then still counts.
    pub(crate) fn recent(&self) -> Option<Held> {
        let state = self.state();
        let known = state.known.filter(Known::is_recent)?;
        Some(known.held.plus(state.pending()))
    }

    /// Walks through the tree.
    pub(crate) fn measure(&self, store: &dyn Store) -> Result<Measured, StoreError> {
        let begun = Instant::now();
        let mut alone = None;
        loop {
            let measuring = Measuring::begin(self);
            let mut files = Vec::new();
            store.files(&mut |file| {
                if let EntryKind::File(size) = file.kind
                    && !is_own_file(&file.path)
                {
                    files.push((file.path, size));
                }
            })?;
            let (held, sure) = measuring.end(&files);
            if sure || begun.elapsed() >= PATIENCE {
                return Ok(Measured { held, files });
            }
            alone
                .get_or_insert_with(|| Alone::begin(self))
                .wait(PATIENCE.saturating_sub(begun.elapsed()));
        }
    }

    /// Notes a write if `check` allows it. For a write that may replace a file, `looked` is the moment before the look at
    /// that file's size. An edit is noted within the store, where the size cannot change. `check` gets the total with all writes in progress and this one, or
    /// `None` if there is no recent measurement. A command that has `measured` always gets the total.
    pub(crate) fn note<R>(
        &self,
        path: &MemoryPath,
        change: SizeChange,
        looked: Option<Moment>,
        measured: bool,
        check: impl FnOnce(Option<Held>) -> Result<(), R>,
    ) -> Result<Noted<'_>, R> {
        let path = self.folding.key(path).into_owned();
        let mut state = self.state();
        state.clock += 1;
        let number = state.clock;
        // A new file is not in the last total. A file that may have been moved since the look at it counts in
        // addition to what the last total counts.
        let is_unchanged = looked.is_none_or(|looked| {
            number == looked.clock + 1 && looked.moving == 0 && state.moved == looked.moved
        });
        let known = Held::of_file(change.before.filter(|_| state.moving == 0 && is_unchanged));
        let file =
            state.noted.entry(path.clone()).or_insert_with(|| File { known, ..File::default() });
        file.writes.insert(number, change);
        let is_ordered = looked.is_none() || file.writes.len() == 1;
        let noted = Noted { usage: self, path, number, is_ordered, ended: false };
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

    /// Marks that a deletion or rename is in progress, until the returned value is dropped. Waits for a walk that
    /// has to be alone.
    pub(crate) fn moving(&self) -> Moving<'_> {
        let mut state = self.wait(self.state(), PATIENCE, |state| state.alone > 0);
        state.moving += 1;
        state.moved += 1;
        state.count_in_addition();
        Moving(self)
    }

    /// Waits at most for this time, while the condition is true.
    fn wait<'u>(
        &self,
        state: MutexGuard<'u, UsageState>,
        patience: Duration,
        condition: impl Fn(&UsageState) -> bool,
    ) -> MutexGuard<'u, UsageState> {
        let waited = self.ended.wait_timeout_while(state, patience, |state| condition(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Marks the last total as untrusted, because it may be too small.
    pub(crate) fn doubt(&self) {
        self.state().doubt();
    }

    /// Returns the current moment.
    pub(super) fn moment(&self) -> Moment {
        let UsageState { clock, moved, moving, .. } = *self.state();
        Moment { clock, moved, moving }
    }
}

/// A write in progress. If it is dropped before it ends, its result is unknown, and it counts.
#[derive(Debug)]
pub(crate) struct Noted<'u> {
    usage: &'u Usage,
    path: MemoryPath,
    number: u64,
    /// True if the file has this write's size after the writes that began before it.
    is_ordered: bool,
    ended: bool,
}

impl Noted<'_> {
    /// The write was made.
    pub(crate) fn done(mut self) {
        self.ended = true;
        let is_ordered = self.is_ordered;
        let made = |file: &File, change: SizeChange| Some(file.after(change, is_ordered));
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
            let most = |file: &File, change: SizeChange| Some(file.after(change, false));
            state.end(&self.path, self.number, most);
        }
    }
}

/// A deletion or rename in progress.
pub(crate) struct Moving<'u>(&'u Usage);

impl Drop for Moving<'_> {
    fn drop(&mut self) {
        self.0.state().moving -= 1;
        self.0.ended.notify_all();
    }
}

/// Keeps new moves waiting, until it is dropped.
struct Alone<'u>(&'u Usage);

impl<'u> Alone<'u> {
    fn begin(usage: &'u Usage) -> Self {
        usage.state().alone += 1;
        Self(usage)
    }

    /// Waits at most for this time until no move is in progress.
    fn wait(&self, patience: Duration) {
        drop(self.0.wait(self.0.state(), patience, |state| state.moving > 0));
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.state().alone -= 1;
        self.0.ended.notify_all();
    }
}

/// A walk through the tree in progress.
struct Measuring<'u> {
    usage: &'u Usage,
    began: u64,
    at: Instant,
    /// The number of moves at the start of the walk, if none was in progress.
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

    /// Returns the total. It can be trusted if nothing was moved during the walk, which is the second value.
    fn end(self, files: &[(MemoryPath, u64)]) -> (Held, bool) {
        let mut state = self.usage.state();
        let (mut held, mut seen) = (Held::default(), HashMap::new());
        for (path, size) in files {
            let (path, size) = (self.usage.folding.key(path), Held::of_file(Some(*size)));
            if state.noted.contains_key(&*path) {
                seen.insert(path, size);
            } else {
                held = held.plus(size);
            }
        }
        let seen = |path: &MemoryPath| seen.get(path).copied().unwrap_or_default();
        let noted = state.noted.iter().map(|(path, file)| file.measured(seen(path), self.began));
        held = noted.fold(held, Held::plus);
        let sure = self.moved == Some(state.moved);
        let state = &mut *state;
        if let Some(known) = state.known.as_mut().filter(|known| known.sure && !sure) {
            // The walk may have missed files, and the last total does not have what other processes wrote.
            known.held = known.held.or_more(held);
            state.count_in_addition();
        } else if state.known.is_none_or(|known| known.at < self.at || !known.sure) {
            // The tests of this module may be interrupted for seconds before they look.
            let at_least = TRUSTED_FOR * if cfg!(test) { 3_600 } else { 1 };
            let trusted_for = at_least.max(self.at.elapsed() * TRUSTED_TIMES);
            state.known = Some(Known { held, at: self.at, trusted_for, sure });
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
