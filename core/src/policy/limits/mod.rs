//! Limits of the bytes of one file, and of the bytes and files of the whole tree.
//!
//! A command that would make the tree grow beyond a limit is refused. A command that does not make it grow is
//! always allowed. Hidden files count. Measuring needs a walk through the tree, so most commands use the last
//! measurement. The tree is measured again near a limit and before any refusal ([`usage`]).

mod usage;

use memdir_store::Error;
use memdir_store::path::{Folding, MemoryPath};

use super::write_patterns::WritePatterns;
use crate::reply::{self, Used, Uses};
use crate::store::{Effect, EntryKind, Store, StoreError};

pub(crate) use usage::{Held, SizeChange, Usage};
use usage::{Measured, Moment, Moving, Noted};

/// The number of files that a refusal names.
const NAMED: usize = 5;

/// The limits of one memory, and its last measurement.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    file_bytes: Option<u64>,
    total_bytes: Option<u64>,
    files: Option<u64>,
    usage: Usage,
}

impl Limits {
    /// Sets the most bytes of one file, and the most bytes and files of the whole tree.
    pub(crate) fn new(
        file_bytes: Option<u64>,
        total_bytes: Option<u64>,
        files: Option<u64>,
        folding: Folding,
    ) -> Self {
        Self { file_bytes, total_bytes, files, usage: Usage::new(folding) }
    }

    /// Returns whether the whole tree has a limit.
    pub(crate) fn are_set(&self) -> bool {
        self.total_bytes.is_some() || self.files.is_some()
    }

    /// Refuses a file that would exceed its limit. `now` is its current size, if it exists. A file over the
    /// limit may become smaller.
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

    /// Returns the last line of a listing, if a limit is near. A store that cannot be measured can still be
    /// viewed.
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

    /// Marks that a deletion or rename is in progress, until the returned value is dropped.
    pub(crate) fn moving(&self) -> Option<Moving<'_>> {
        self.are_set().then(|| self.usage.moving())
    }

    /// Marks that an unknown amount was written.
    pub(crate) fn restored(&self) {
        self.usage.doubt();
    }

    /// Returns the usage of each limit that is set and `wanted`.
    fn uses(&self, held: Held, wanted: impl Fn(Used) -> bool) -> Option<Uses> {
        let used = |held, limit: Option<u64>| {
            limit.map(|limit| Used { held, limit }).filter(|used| wanted(*used))
        };
        let bytes = used(held.bytes, self.total_bytes);
        let files = used(held.files, self.files);
        (bytes.is_some() || files.is_some()).then_some(Uses { bytes, files })
    }

    /// Returns the limits that are near: a tenth or less is left.
    fn near(&self, held: Held) -> Option<Uses> {
        self.uses(held, |used| u128::from(used.held) * 10 >= u128::from(used.limit) * 9)
    }
}

/// The bytes and files that a command reserves within the limits of the whole tree.
pub(crate) struct Reservation<'p> {
    limits: &'p Limits,
    /// The patterns that decide which files may be deleted. A refusal names only those files.
    patterns: &'p WritePatterns,
    noted: Option<Noted<'p>>,
    /// The measurement by this command, if any.
    measured: Option<Measured>,
}

/// The reason why a command gets no reservation.
#[derive(Debug)]
pub(crate) enum Unreserved {
    /// The tree must be measured first, which is not possible during an edit.
    Unsure,
    /// The tree would exceed these limits.
    Full(Uses),
}

impl<'p> Reservation<'p> {
    pub(crate) fn new(limits: &'p Limits, patterns: &'p WritePatterns) -> Self {
        Self { limits, patterns, noted: None, measured: None }
    }

    /// Measures the tree if that is probably necessary, so the store does not have to start the edit twice.
    pub(crate) fn prepare(&mut self, store: &dyn Store) {
        let unsure = |held| self.limits.near(held).is_some();
        if self.limits.are_set() && self.limits.usage.recent().is_none_or(unsure) {
            // If it fails, an edit that does not make the tree grow is still possible.
            let _ = self.measure(store);
        }
    }

    /// Measures the tree.
    pub(crate) fn measure(&mut self, store: &dyn Store) -> Result<(), Error> {
        let measured = self.limits.usage.measure(store);
        self.measured = Some(measured.map_err(|error| Error::Store(error.unchanged()))?);
        Ok(())
    }

    /// Reserves the new size of a file. Replaces an earlier reservation. For a write that may replace a file,
    /// `looked` is the moment before the look at that file's size.
    pub(crate) fn reserve(
        &mut self,
        path: &MemoryPath,
        change: SizeChange,
        looked: Option<Moment>,
    ) -> Result<(), Unreserved> {
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
            // A limit applies only if the command increases what the limit counts.
            let grown = Held {
                bytes: if growth.bytes > 0 { held.bytes } else { 0 },
                files: if growth.files > 0 { held.files } else { 0 },
            };
            match limits.uses(grown, |used| used.held > used.limit) {
                Some(over) => Err(Unreserved::Full(over)),
                None => Ok(()),
            }
        };
        self.noted = Some(self.limits.usage.note(path, change, looked, measured, check)?);
        Ok(())
    }

    /// Releases the reservation, because nothing is written.
    pub(crate) fn release(&mut self) {
        if let Some(noted) = self.noted.take() {
            noted.undone();
        }
    }

    /// Commits the reservation, because the file was written.
    pub(crate) fn commit(&mut self) {
        if let Some(noted) = self.noted.take() {
            noted.done();
        }
    }

    /// Handles an error of the store's write.
    pub(crate) fn failed(&mut self, error: &StoreError) {
        // After a failure with unknown effect the file may have been written, so the reservation stays.
        if !matches!(error, StoreError::Failed { effect: Effect::Unknown, .. }) {
            self.release();
        }
    }

    /// Returns the refusal for a limit that the store itself checked, because other processes also write to it.
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

    /// Returns the refusal. It names the largest of the files that could be deleted.
    pub(crate) fn refusal(&self, path: &MemoryPath, over: Uses) -> Error {
        let mut files: Vec<&(MemoryPath, u64)> = self
            .measured
            .iter()
            .flat_map(|measured| &measured.files)
            .filter(|(path, _)| self.patterns.allow(path))
            .collect();
        files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        files.truncate(NAMED);
        reply::memory_full(path, over, &files)
    }

    /// Returns whether the measurement found an entry at the path.
    fn is_taken(&self, path: &MemoryPath) -> bool {
        let folding = self.limits.usage.folding();
        let path = &*folding.key(path);
        let mut files = self.measured.iter().flat_map(|measured| &measured.files);
        files.any(|(file, _)| {
            let file = &*folding.key(file);
            file == path || path.is_above(file)
        })
    }
}

/// Reserves the space for a file of `size` bytes that `create` is about to write. `overwrites` is true if the
/// file may replace another.
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
    let (mut change, mut looked) = size_change(limits, store, path, size, overwrites)?;
    let mut taken = reservation.reserve(path, change, looked);
    if let Err(Unreserved::Unsure) = taken {
        reservation.measure(store)?;
        (change, looked) = size_change(limits, store, path, size, overwrites)?;
        taken = reservation.reserve(path, change, looked);
    }
    match taken {
        Ok(()) => Ok(reservation),
        Err(Unreserved::Full(_)) if !overwrites && reservation.is_taken(path) => {
            Err(reply::create_exists(path))
        }
        Err(Unreserved::Full(over)) => Err(reservation.refusal(path, over)),
        // Not possible after measuring.
        Err(Unreserved::Unsure) => Ok(reservation),
    }
}

/// Returns the sizes before and after a `create`, and the moment before the look at the file if it may be replaced.
fn size_change(
    limits: &Limits,
    store: &dyn Store,
    path: &MemoryPath,
    after: u64,
    overwrites: bool,
) -> Result<(SizeChange, Option<Moment>), Error> {
    if !overwrites {
        return Ok((SizeChange { before: None, after }, None));
    }
    let looked = limits.usage.moment();
    let before = size_of(store, path, limits.usage.folding())?;
    Ok((SizeChange { before, after }, Some(looked)))
}

/// Returns the size of the file at `path`, if it exists.
fn size_of(store: &dyn Store, path: &MemoryPath, folding: Folding) -> Result<Option<u64>, Error> {
    let Some(above) = path.parent() else { return Ok(None) };
    let listed = match store.list(&above) {
        Err(broken) if broken.is_failure() => return Err(Error::Store(broken.unchanged())),
        // Writing the file fails in the same way.
        Err(_) => return Ok(None),
        Ok(listed) => listed,
    };
    let file = listed.into_iter().find(|entry| folding.are_same(&entry.path, path));
    Ok(file.and_then(|file| match file.kind {
        EntryKind::File(size) => Some(size),
        EntryKind::Directory => None,
    }))
}
