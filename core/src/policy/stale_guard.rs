//! The stale-view guard: refuses edits that are based on an outdated view.
//!
//! For each file, a memory remembers a fingerprint of the content that it last showed or wrote. It compares
//! the fingerprint with the content that an edit is about to change, within the store's update, so no other
//! writer can come between.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, DefaultHasher, Hasher as _, RandomState};
use std::io::{self, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::{ConfigError, Error};
use crate::path::{Folding, MemoryPath};
use crate::reply;

/// Whether an edit that is based on an outdated view is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StaleGuard {
    /// Never.
    #[default]
    Off,
    /// Refuses an `insert` into a file that has changed since this memory last showed or wrote it.
    On,
    /// Also refuses such a `str_replace`, and both commands for a file that this memory has never shown or
    /// written.
    Strict,
}

impl std::str::FromStr for StaleGuard {
    type Err = Error;

    /// `"off"`, `"on"` or `"strict"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "stale_guard",
            &[("off", Self::Off), ("on", Self::On), ("strict", Self::Strict)],
            word,
        )
    }
}

/// Remembers, for each file, the content that a memory last showed or wrote. Remembers nothing while the
/// guard is off.
#[derive(Debug, Default)]
pub(crate) struct ViewLog {
    guard: StaleGuard,
    /// A file is one by every spelling of its path.
    folding: Folding,
    /// Random keys of this memory, so nobody can make two contents with the same fingerprint.
    keys: RandomState,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: HashMap<MemoryPath, Record>,
    last: u64,
}

/// The order in which threads saw a file; they may finish in another order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Sequence(u64);

#[derive(Debug, Clone, Copy)]
struct Record {
    sequence: Sequence,
    fingerprint: Fingerprint,
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

    fn is_off(&self) -> bool {
        self.guard == StaleGuard::Off
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
            Some(record) if record.fingerprint != self.fingerprint(&[content]) => {
                Err(reply::changed_since_view(path))
            }
            _ => Ok(()),
        }
    }

    /// A snapshot of the content about to be written, which comes in pieces. Take it before writing, under
    /// the store's lock if there is one. `None` while the guard is off.
    pub(crate) fn writing(&self, pieces: &[&[u8]]) -> Option<Snapshot> {
        let snapshot = || Snapshot { sequence: self.next(), fingerprint: self.fingerprint(pieces) };
        (!self.is_off()).then(snapshot)
    }

    /// A fingerprint to take while reading; make it before the file is opened. `None` while the guard is off.
    pub(crate) fn watch(&self) -> Option<Watch> {
        (!self.is_off()).then(|| Watch {
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
            state.records.insert(key.into_owned(), Record { sequence, fingerprint });
        }
    }

    /// Forgets a deleted file or directory.
    pub(crate) fn forget(&self, path: &MemoryPath) {
        if !self.is_off() {
            let path = &*self.folding.key(path);
            self.state().records.retain(|known, _| known != path && !path.is_above(known));
        }
    }

    /// Follows a renamed file or directory.
    pub(crate) fn moved(&self, from: &MemoryPath, to: &MemoryPath) {
        if self.is_off() {
            return;
        }
        let (from, to) = (&*self.folding.key(from), &*self.folding.key(to));
        if from == to {
            // Only the case of a name changes.
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

/// Takes the fingerprint of a content while it is read.
pub(crate) struct Watch {
    sequence: Sequence,
    reading: Reading,
}

impl Watch {
    /// A reader of the same content that feeds this fingerprint.
    pub(crate) fn through<'r>(&'r mut self, content: Box<dyn Read + 'r>) -> Box<dyn Read + 'r> {
        Box::new(Through { content, reading: &mut self.reading })
    }

    /// The fingerprint of the bytes that were read.
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
    /// Bytes that do not fill a block yet. The hash could depend on the pieces in which it is fed.
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
            let mut watch = views.watch().unwrap();
            let both: Box<dyn Read> = Box::new(start.chain(end));
            io::copy(&mut watch.through(both), &mut io::sink()).unwrap();
            assert_eq!(watch.end().fingerprint, whole, "{cut}");
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
        views.forget(&path("b"));
        assert_eq!(views.state().records.len(), 1);
    }

    #[test]
    fn nothing_is_remembered_while_it_is_off() {
        let views = ViewLog::new(StaleGuard::Off, Folding::default());
        assert!(views.watch().is_none() && views.writing(&[b"a"]).is_none());
        views.check_insert(&path("a"), b"a").unwrap();
        views.check_replace(&path("a"), b"a").unwrap();
    }
}
