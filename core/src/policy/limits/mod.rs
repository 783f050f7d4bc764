//! Limits: how many bytes a file may come to hold; and how many bytes, and how many files, the whole tree.
//!
//! A command that would make the tree grow beyond a limit is refused; one that does not make it grow is
//! always allowed. Hidden files count. Measuring takes a walk through the tree, so that most commands
//! go by what is known: always anew it is measured near a limit, and before anything is refused
//! ([`usage`]).

mod usage;

use super::write_patterns::WritePatterns;
use crate::error::Error;
use crate::path::MemoryPath;
use crate::reply::{self, Used, Uses};
use crate::store::{Effect, EntryKind, Store, StoreError};

pub(crate) use usage::{Change, Held, Usage};
use usage::{Measured, Moving, Noted};

/// How many files a refusal names.
const NAMED: usize = 5;

/// The limits of one memory, and what is known of how much it holds.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    file_bytes: Option<u64>,
    total_bytes: Option<u64>,
    files: Option<u64>,
    usage: Usage,
}

impl Limits {
    /// How many bytes a file and all files together may come to hold, and how many files there may come to be.
    pub(crate) fn new(
        file_bytes: Option<u64>,
        total_bytes: Option<u64>,
        files: Option<u64>,
    ) -> Self {
        Self { file_bytes, total_bytes, files, usage: Usage::default() }
    }

    /// Whether there is a limit of the whole tree at all.
    fn are_set(&self) -> bool {
        self.total_bytes.is_some() || self.files.is_some()
    }

    /// Refuses a file that would come to hold more than it may; `now` is what it holds, if it is there. One
    /// that holds more already may come to hold less.
    pub(crate) fn check_file(
        &self,
        path: &MemoryPath,
        now: Option<usize>,
        would_be: usize,
    ) -> Result<(), Error> {
        match self.file_bytes {
            Some(limit) if would_be as u64 > limit && now.is_none_or(|now| now < would_be) => {
                Err(reply::file_too_large(path, now.map(|now| now as u64), would_be as u64, limit))
            }
            _ => Ok(()),
        }
    }

    /// The last line of a listing, where a limit is near. A store that cannot be measured can be viewed.
    pub(crate) fn notice(&self, store: &dyn Store) -> Option<String> {
        if !self.are_set() {
            return None;
        }
        let known = self.usage.recent().filter(|held| self.near(*held).is_none());
        let held = match known {
            Some(held) => held,
            None => self.usage.measure(store).ok()?.held,
        };
        self.near(held).map(reply::nearly_full)
    }

    /// A deletion or rename is under way until what comes back is dropped.
    pub(crate) fn moving(&self) -> Option<Moving<'_>> {
        self.are_set().then(|| self.usage.moving())
    }

    /// That something was deleted, nobody knows how much.
    pub(crate) fn shrunk(&self) {
        self.usage.doubt();
    }

    /// A limit each, where there is one and `wanted` says so.
    fn uses(&self, held: Held, wanted: impl Fn(Used) -> bool) -> Option<Uses> {
        let used = |held, limit: Option<u64>| {
            limit.map(|limit| Used { held, limit }).filter(|used| wanted(*used))
        };
        let bytes = used(held.bytes, self.total_bytes);
        let files = used(held.files, self.files);
        (bytes.is_some() || files.is_some()).then_some(Uses { bytes, files })
    }

    /// The limits near which this is: a tenth of the limit, or less, is left.
    fn near(&self, held: Held) -> Option<Uses> {
        self.uses(held, |used| u128::from(used.held) * 10 >= u128::from(used.limit) * 9)
    }
}

/// What a command reserves of the limits of the whole tree.
pub(crate) struct Reservation<'p> {
    limits: &'p Limits,
    /// Which files a refusal may name.
    patterns: &'p WritePatterns,
    noted: Option<Noted<'p>>,
    /// While a file is overwritten.
    replacing: Option<Moving<'p>>,
    /// By this command.
    measured: Option<Measured>,
}

/// Why a command cannot have its reservation.
#[derive(Debug)]
pub(crate) enum Unreserved {
    /// The tree has to be measured first, which cannot be done within an edit.
    Unsure,
    /// It would hold so much.
    Full(Uses),
}

impl<'p> Reservation<'p> {
    pub(crate) fn new(limits: &'p Limits, patterns: &'p WritePatterns) -> Self {
        Self { limits, patterns, noted: None, replacing: None, measured: None }
    }

    /// Measures the tree if it is likely to be needed, so that an edit need not be asked for twice.
    pub(crate) fn prepare(&mut self, store: &dyn Store) {
        let unsure = |held| self.limits.near(held).is_some();
        if self.limits.are_set() && self.limits.usage.recent().is_none_or(unsure) {
            // Where it fails, an edit that makes nothing grow can be made nevertheless.
            let _ = self.measure(store);
        }
    }

    /// Measures the tree.
    pub(crate) fn measure(&mut self, store: &dyn Store) -> Result<(), Error> {
        let measured = self.limits.usage.measure(store);
        self.measured = Some(measured.map_err(|error| Error::Store(error.unchanged()))?);
        Ok(())
    }

    /// Reserves what a file is to hold, in the place of what was taken before.
    pub(crate) fn reserve(&mut self, path: &MemoryPath, change: Change) -> Result<(), Unreserved> {
        let limits = self.limits;
        self.release();
        if !limits.are_set() {
            return Ok(());
        }
        let measured = self.measured.is_some();
        let growth = change.growth();
        let check = |would_be: Option<Held>| {
            if growth == Held::default() {
                return Ok(());
            }
            let held = would_be.ok_or(Unreserved::Unsure)?;
            if !measured && limits.near(held).is_some() {
                return Err(Unreserved::Unsure);
            }
            // A limit that the command does not come nearer to does not stand in its way.
            let grown = Held {
                bytes: if growth.bytes > 0 { held.bytes } else { 0 },
                files: if growth.files > 0 { held.files } else { 0 },
            };
            match limits.uses(grown, |used| used.held > used.limit) {
                Some(over) => Err(Unreserved::Full(over)),
                None => Ok(()),
            }
        };
        self.noted = Some(self.limits.usage.note(path, change, measured, check)?);
        Ok(())
    }

    /// Nothing is to be written.
    pub(crate) fn release(&mut self) {
        if let Some(noted) = self.noted.take() {
            noted.undone();
        }
    }

    /// It was written.
    pub(crate) fn commit(&mut self) {
        if let Some(noted) = self.noted.take() {
            noted.done();
        }
    }

    /// The store did not write it, for this reason.
    pub(crate) fn failed(&mut self, error: &StoreError) {
        // Of what broke nobody knows whether it was written.
        if !matches!(error, StoreError::Failed { effect: Effect::Unknown, .. }) {
            self.release();
        }
    }

    /// The refusal where the store itself found that it would come to hold so much: others write to it.
    pub(crate) fn refused_by(
        &mut self,
        store: &dyn Store,
        path: &MemoryPath,
        bytes: Option<u64>,
        files: Option<u64>,
    ) -> Error {
        if let Err(error) = self.measure(store) {
            return error;
        }
        let used = |held: Option<u64>, limit: Option<u64>| {
            held.zip(limit).map(|(held, limit)| Used { held, limit })
        };
        let over = Uses {
            bytes: used(bytes, self.limits.total_bytes),
            files: used(files, self.limits.files),
        };
        self.refusal(path, over)
    }

    /// The refusal, which names the largest of the files that could be deleted.
    pub(crate) fn refusal(&self, path: &MemoryPath, over: Uses) -> Error {
        let mut files: Vec<&(MemoryPath, u64)> = self
            .measured
            .iter()
            .flat_map(|measured| &measured.files)
            .filter(|(path, _)| self.patterns.allow(path))
            .collect();
        files.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        files.truncate(NAMED);
        reply::memory_full(path, over, &files)
    }

    /// Whether something is at the path, as far as the tree was measured.
    fn is_taken(&self, path: &MemoryPath) -> bool {
        let files = self.measured.iter().flat_map(|measured| &measured.files);
        files.into_iter().any(|(file, _)| file == path || path.is_above(file))
    }
}

/// Reservation for a file of `size` bytes that `create` is to write; whether it `overwrites` one that is there.
pub(crate) fn reserve_file<'p>(
    limits: &'p Limits,
    patterns: &'p WritePatterns,
    store: &dyn Store,
    path: &MemoryPath,
    size: u64,
    overwrites: bool,
) -> Result<Reservation<'p>, Error> {
    let mut reservation = Reservation::new(limits, patterns);
    if !limits.are_set() {
        return Ok(reservation);
    }
    let before = if overwrites { size_of(store, path)? } else { None };
    let change = Change { before, after: size };
    let taken = match reservation.reserve(path, change) {
        Err(Unreserved::Unsure) => {
            reservation.measure(store)?;
            reservation.reserve(path, change)
        }
        taken => taken,
    };
    match taken {
        Ok(()) => {
            // Of two at once nobody knows which was the last one, so that no walk is relied on.
            reservation.replacing = overwrites.then(|| limits.usage.moving());
            Ok(reservation)
        }
        Err(Unreserved::Full(_)) if !overwrites && reservation.is_taken(path) => {
            Err(reply::create_exists(path))
        }
        Err(Unreserved::Full(over)) => Err(reservation.refusal(path, over)),
        // Not after measuring.
        Err(Unreserved::Unsure) => Ok(reservation),
    }
}

/// That `create` has written its file. What it took the place of may have been another than was
/// looked at.
pub(crate) fn written(mut reservation: Reservation<'_>) {
    reservation.commit();
    if reservation.replacing.is_some() {
        reservation.limits.usage.doubt();
    }
}

/// How large the file at `path` is, if there is one.
fn size_of(store: &dyn Store, path: &MemoryPath) -> Result<Option<u64>, Error> {
    let Some(above) = path.parent() else { return Ok(None) };
    let listed = match store.list(&above) {
        Err(broken) if broken.is_failure() => return Err(Error::Store(broken.unchanged())),
        // Writing the file will meet it, too.
        Err(_) => return Ok(None),
        Ok(listed) => listed,
    };
    let file = listed.into_iter().find(|entry| entry.path == *path);
    Ok(file.and_then(|file| match file.kind {
        EntryKind::File(size) => Some(size),
        EntryKind::Directory => None,
    }))
}
