//! The stale-view guard: refuses edits that are based on an outdated view.
//!
//! For each file, a session of a memory remembers a fingerprint of the content that it last showed or wrote. It
//! compares the fingerprint with the content that an edit is about to change. The comparison runs within the
//! store's update, so no other writer can interfere.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{ConfigError, Error};

use crate::reply;

/// The setting for edits that are based on an outdated view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StaleGuard {
    /// Edits are never refused.
    #[default]
    Off,
    /// Refuses an `insert` into a file that has changed since this session of the memory last showed or wrote
    /// it.
    On,
    /// Also refuses such a `str_replace`, and both commands for a file that this session has never shown or
    /// written.
    Strict,
}

impl std::str::FromStr for StaleGuard {
    type Err = Error;

    /// Parses `"off"`, `"on"` or `"strict"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "stale_guard",
            &[("off", Self::Off), ("on", Self::On), ("strict", Self::Strict)],
            word,
        )
    }
}

/// Remembers, for each file, the content that a memory last showed or wrote. Remembers nothing while the guard
/// is off.
#[derive(Debug, Default)]
pub(crate) struct ViewLog {
    guard: StaleGuard,
    /// Makes all spellings of a path count as one file.
    folding: Folding,
    /// Random keys of this memory, so an attacker cannot construct two contents with the same fingerprint.
    keys: RandomState,
    state: Mutex<ViewLogState>,
}

#[derive(Debug, Default)]
struct ViewLogState {
    records: HashMap<MemoryPath, Record>,
    last: u64,
}

/// The order in which threads read a file. They may finish in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sequence(u64);

#[derive(Debug, Clone, Copy)]
struct Record {
    sequence: Sequence,
    seen: Seen,
}

/// The content of a file that the model knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Content(Fingerprint),
    /// A content that may no longer be in the model's context. It is not a basis for any edit, whatever the
    /// file contains.
    Forgotten,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    len: u64,
    hash: u64,
}

/// A fingerprint of a content, to remember if the command succeeds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Snapshot {
    sequence: Sequence,
    fingerprint: Fingerprint,
}

impl ViewLog {
    pub(crate) fn new(guard: StaleGuard, folding: Folding) -> Self {
        Self { guard, folding, ..Self::default() }
    }

    /// Returns the log of another session with the same guard.
    pub(crate) fn for_session(&self) -> Self {
        Self::new(self.guard, self.folding)
    }

    fn is_off(&self) -> bool {
        self.guard == StaleGuard::Off
    }

    fn state(&self) -> MutexGuard<'_, ViewLogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Sequence {
        let mut state = self.state();
        state.last += 1;
        Sequence(state.last)
    }

    fn fingerprint(&self, pieces: &[&[u8]]) -> Fingerprint {
        let mut reading = Reading::new(self.keys.build_hasher());
        pieces.iter().for_each(|piece| reading.feed(piece));
        reading.end()
    }

    /// Checks that an `insert` is based on this content.
    pub(crate) fn check_insert(&self, path: &MemoryPath, content: &[u8]) -> Result<(), Error> {
        if self.is_off() { Ok(()) } else { self.check(path, content) }
    }

    /// Checks that a `str_replace` is based on this content.
    pub(crate) fn check_replace(&self, path: &MemoryPath, content: &[u8]) -> Result<(), Error> {
        if self.guard == StaleGuard::Strict { self.check(path, content) } else { Ok(()) }
    }

    fn check(&self, path: &MemoryPath, content: &[u8]) -> Result<(), Error> {
        let record = self.state().records.get(&*self.folding.key(path)).copied();
        match record {
            None if self.guard == StaleGuard::Strict => Err(reply::not_viewed(path)),
            None => Ok(()),
            Some(Record { seen: Seen::Forgotten, .. }) => Err(reply::view_forgotten(path)),
            Some(Record { seen: Seen::Content(seen), .. }) => {
                let is_same = seen == self.fingerprint(&[content]);
                if is_same { Ok(()) } else { Err(reply::changed_since_view(path)) }
            }
        }
    }

    /// Returns a snapshot of the content about to be written, which is given in pieces. Take it before writing,
    /// under the store's lock if there is one. `None` while the guard is off.
    pub(crate) fn writing(&self, pieces: &[&[u8]]) -> Option<Snapshot> {
        let snapshot = || Snapshot { sequence: self.next(), fingerprint: self.fingerprint(pieces) };
        (!self.is_off()).then(snapshot)
    }

    /// Returns a fingerprint that is computed while reading. Call this before the file is opened. `None` while
    /// the guard is off.
    pub(crate) fn fingerprinter(&self) -> Option<Fingerprinter> {
        (!self.is_off()).then(|| Fingerprinter {
            sequence: self.next(),
            reading: Reading::new(self.keys.build_hasher()),
        })
    }

    /// Remembers that the file was shown or written with this content.
    pub(crate) fn remember(&self, path: &MemoryPath, snapshot: Option<Snapshot>) {
        let Some(Snapshot { sequence, fingerprint }) = snapshot else { return };
        let key = self.folding.key(path);
        let mut state = self.state();
        if state.records.get(&*key).is_none_or(|record| record.sequence < sequence) {
            let seen = Seen::Content(fingerprint);
            state.records.insert(key.into_owned(), Record { sequence, seen });
        }
    }

    /// Marks everything that was shown or written as forgotten: seen, but not a basis for edits. A view that
    /// runs at the same time still counts.
    pub(crate) fn forget_all(&self) {
        self.state().records.values_mut().for_each(|record| record.seen = Seen::Forgotten);
    }

    /// Tracks files that the program, and not the model, restored to an earlier path or content. If the file
    /// has a record, the record stays: its fingerprint shows whether the file is as the model saw it. A file
    /// without a record, such as one that the model had deleted, counts as forgotten.
    pub(crate) fn restored<'p>(
        &self,
        files: impl Iterator<Item = (&'p MemoryPath, Option<&'p MemoryPath>)>,
    ) {
        if self.is_off() {
            return;
        }
        let sequence = self.next();
        let mut state = self.state();
        // All records are removed before the first is added again, because two files may have swapped their
        // paths.
        let arrivals: Vec<_> = files
            .map(|(path, old_path)| {
                let record = old_path.map(|old| state.records.remove(&*self.folding.key(old)));
                (self.folding.key(path).into_owned(), record)
            })
            .collect();
        let forgotten = Record { sequence, seen: Seen::Forgotten };
        for (path, record) in arrivals {
            match record {
                Some(Some(record)) => drop(state.records.insert(path, record)),
                // The model has seen the file at neither of its paths.
                Some(None) => {}
                None => drop(state.records.entry(path).or_insert(forgotten)),
            }
        }
    }

    /// Removes the records of a deleted file or directory.
    pub(crate) fn removed(&self, path: &MemoryPath) {
        if !self.is_off() {
            let path = &*self.folding.key(path);
            self.state().records.retain(|known, _| known != path && !path.is_above(known));
        }
    }

    /// Moves the records of a renamed file or directory.
    pub(crate) fn moved(&self, from: &MemoryPath, to: &MemoryPath) {
        if self.is_off() {
            return;
        }
        let (from, to) = (&*self.folding.key(from), &*self.folding.key(to));
        if from == to {
            // Only the case of the name changes.
            return;
        }
        let within = |known: &MemoryPath, path: &MemoryPath| known == path || path.is_above(known);
        let mut state = self.state();
        state.records.retain(|known, _| !within(known, to));
        let moved: Vec<(MemoryPath, Record)> =
            state.records.extract_if(|known, _| within(known, from)).collect();
        let moved = moved.into_iter();
        state.records.extend(moved.filter_map(|(at, it)| Some((at.moved(from, to).ok()?, it))));
    }
}

/// Computes the fingerprint of a content while it is read.
pub(crate) struct Fingerprinter {
    sequence: Sequence,
    reading: Reading,
}

impl Fingerprinter {
    /// Returns a reader of the same content that feeds this fingerprint.
    pub(crate) fn through<'r>(&'r mut self, content: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
        Box::new(Through { content, reading: &mut self.reading })
    }

    /// Returns the fingerprint of the bytes that were read.
    pub(crate) fn end(self) -> Snapshot {
        Snapshot { sequence: self.sequence, fingerprint: self.reading.end() }
    }
}

struct Through<'r> {
    content: Box<dyn Read + 'r>,
    reading: &'r mut Reading,
}

impl Read for Through<'_> {
    fn read(&mut self, window: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(window)?;
        self.reading.feed(window.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// An unfinished fingerprint.
struct Reading {
    hasher: DefaultHasher,
    len: u64,
    /// Bytes that do not fill a block yet. Without whole blocks, the hash could depend on the size of the
    /// pieces.
    block: Vec<u8>,
}

impl Reading {
    const BLOCK: usize = 4096;

    fn new(hasher: DefaultHasher) -> Self {
        Self { hasher, len: 0, block: Vec::with_capacity(Self::BLOCK) }
    }

    fn feed(&mut self, mut piece: &[u8]) {
        self.len += piece.len() as u64;
        while !piece.is_empty() {
            let room = Self::BLOCK - self.block.len();
            let (now, later) = piece.split_at(room.min(piece.len()));
            self.block.extend_from_slice(now);
            piece = later;
            if self.block.len() == Self::BLOCK {
                self.hasher.write(&self.block);
                self.block.clear();
            }
        }
    }

    fn end(mut self) -> Fingerprint {
        self.hasher.write(&self.block);
        Fingerprint { len: self.len, hash: self.hasher.finish() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{name}")).unwrap()
    }

    #[test]
    fn the_fingerprint_is_of_the_content_however_it_comes() {
        let views = ViewLog::new(StaleGuard::On, Folding::default());
        let content: Vec<u8> = (0..20_000u32).map(|n| u8::try_from(n % 251).unwrap()).collect();
        let whole = views.fingerprint(&[&content]);
        for cut in [0, 1, 4095, 4096, 4097, 12_288, 20_000] {
            let (start, end) = content.split_at(cut);
            assert_eq!(views.fingerprint(&[start, b"", end]), whole, "{cut}");
            let mut fingerprinter = views.fingerprinter().unwrap();
            let both: Box<dyn Read> = Box::new(start.chain(end));
            io::copy(&mut fingerprinter.through(both), &mut io::sink()).unwrap();
            assert_eq!(fingerprinter.end().fingerprint, whole, "{cut}");
        }
        let mut other = content.clone();
        other[19_999] ^= 1;
        assert_ne!(views.fingerprint(&[&other]), whole);
        assert_ne!(views.fingerprint(&[&content[..19_999]]), whole);
    }

    #[test]
    fn what_was_seen_last_counts_whoever_finishes_first() {
        let views = ViewLog::new(StaleGuard::On, Folding::default());
        let (first, second) = (views.writing(&[b"1"]), views.writing(&[b"2"]));
        views.remember(&path("a"), second);
        views.remember(&path("a"), first);
        views.check_insert(&path("a"), b"2").unwrap();
        views.check_insert(&path("a"), b"1").unwrap_err();
    }

    #[test]
    fn records_move_and_go_with_their_files() {
        let views = ViewLog::new(StaleGuard::Strict, Folding::default());
        for name in ["a/x", "a/y/z", "ab", "b/old"] {
            views.remember(&path(name), views.writing(&[name.as_bytes()]));
        }
        views.moved(&path("a"), &path("b"));
        for (name, content) in [("b/x", "a/x"), ("b/y/z", "a/y/z"), ("ab", "ab")] {
            views.check_replace(&path(name), content.as_bytes()).unwrap();
        }
        views.check_replace(&path("b/old"), b"b/old").unwrap_err();
        views.check_replace(&path("a/x"), b"a/x").unwrap_err();
        views.removed(&path("b"));
        assert_eq!(views.state().records.len(), 1);
    }

    #[test]
    fn what_is_forgotten_was_seen_and_guards_on() {
        for guard in [StaleGuard::On, StaleGuard::Strict] {
            let views = ViewLog::new(guard, Folding::default());
            let running = views.fingerprinter();
            views.remember(&path("a"), views.writing(&[b"1"]));
            views.remember(&path("b"), views.writing(&[b"1"]));
            views.forget_all();
            let refused = views.check_insert(&path("a"), b"1").unwrap_err().to_string();
            assert!(refused.contains("may no longer be in this conversation"), "{refused}");
            assert_eq!(views.check_insert(&path("new"), b"").is_ok(), guard == StaleGuard::On);
            views.remember(&path("a"), views.writing(&[b"1"]));
            views.check_insert(&path("a"), b"1").unwrap();
            // The view began before `b` was written, so it shows an older content.
            views.remember(&path("b"), running.map(Fingerprinter::end));
            views.check_insert(&path("b"), b"").unwrap_err();
        }
    }

    #[test]
    fn files_that_change_places_keep_their_records() {
        let views = ViewLog::new(StaleGuard::On, Folding::default());
        for name in ["a", "b", "same"] {
            views.remember(&path(name), views.writing(&[name.as_bytes()]));
        }
        let [a, b, c, d, same] = ["a", "b", "c", "d", "same"].map(path);
        views.restored(
            [(&a, Some(&b)), (&b, Some(&a)), (&d, Some(&c)), (&c, None), (&same, None)].into_iter(),
        );
        views.check_insert(&a, b"b").unwrap();
        views.check_insert(&a, b"a").unwrap_err();
        views.check_insert(&b, b"a").unwrap();
        views.check_insert(&c, b"").unwrap_err();
        views.check_insert(&d, b"").unwrap();
        views.check_insert(&same, b"same").unwrap();
        views.check_insert(&same, b"other").unwrap_err();
    }

    #[test]
    fn nothing_is_remembered_while_it_is_off() {
        let views = ViewLog::new(StaleGuard::Off, Folding::default());
        assert!(views.fingerprinter().is_none() && views.writing(&[b"a"]).is_none());
        views.check_insert(&path("a"), b"a").unwrap();
        views.check_replace(&path("a"), b"a").unwrap();
    }
}
