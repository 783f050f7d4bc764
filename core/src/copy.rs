//! [`copy()`]: copies everything from one store into another.
//!
//! A copy first compares both stores and changes nothing. Then it writes the missing files, many small ones together
//! (`batch`), and reads each one back. Each file is written atomically. At the end it appends the records of the
//! history. After an interruption, a second copy skips the finished files and records, and writes the rest.

use std::ops::ControlFlow;
use std::sync::Arc;

mod batch;
mod comparison;
mod error;
mod refusal;

use memdir_store::path::MemoryPath;
use serde::{Serialize, Serializer};

use self::batch::Batch;
use self::comparison::{Comparison, Found};
pub use self::error::CopyError;
pub use self::refusal::{Refusal, There};
use crate::history::{HistoryRecords, without_journal};
use crate::memory::Memory;
use crate::store::batch::in_batches;
use crate::store::{Context, Durability, OnExisting, Problem, Store, overlap};

/// Copies everything from one store into another: contents, times, hidden files, empty directories, and the history.
/// Nothing is ever deleted.
///
/// Entries with [reserved](MemoryPath::is_reserved) names are left out and reported, as are all entries that
/// are not part of the memory. An encrypted store must therefore be opened with its key: a copy of the
/// encrypted files without the store's key record is useless.
///
/// If the destination already has a file with the same content, only its time is set. If any file has different
/// content there, nothing is copied at all, unless [`existing`](CopyOptions::existing) is
/// [`OnExisting::Overwrite`]. Each written file is read back and compared.
///
/// The history is copied after the files, with the ids of its versions and changes, whether or not a memory is
/// open with the option `history`. If the history of the destination has changes that the source does not have, or
/// the history of the source is damaged, nothing is copied at all, unless
/// [`without_history`](CopyOptions::without_history) is set. Pass the stores that
/// [`open_store`](crate::open_store) returned; for two memories, use [`Memory::copy_to`].
///
/// `progress` is called before each file and can stop the copy. Memory use: the largest file, or 8 MiB, plus the
/// list of paths and the headers of the history.
///
/// ```
/// use memdir::{CopyOptions, Memory, MemoryOptions, OnExisting, open_store};
/// use std::ops::ControlFlow;
/// use std::sync::Arc;
///
/// let mut options = MemoryOptions::default();
/// options.history = true;
/// let (old, new) = (open_store("memory:", &options)?, open_store("memory:", &options)?);
/// Memory::with_store(Arc::clone(&old), options).create("/memories/notes.md", "- likes tea\n")?;
///
/// let mut go_on = |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
/// let copied = memdir::copy(&old, &new, CopyOptions::default(), &mut go_on)?;
/// assert_eq!((copied.files, copied.bytes, copied.changes), (1, 12, Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CopyError`]. Each of its cases says what was copied before the error.
pub fn copy(
    from: &Arc<dyn Store>,
    to: &Arc<dyn Store>,
    options: CopyOptions,
    progress: &mut OnProgress<'_>,
) -> Result<Copied, CopyError> {
    check_overlap(from, to)?;
    let source = Source::new(from, options)?;
    let plan = Plan::compare(source, to, options.existing, progress)?;
    plan.carry_out(to, options.durability, progress)
}

/// The options of a copy.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct CopyOptions {
    /// Whether a file of the destination that has different content is replaced. By default nothing is copied then.
    pub existing: OnExisting,
    /// Copies only the files, and not the history.
    pub without_history: bool,
    /// The durability of the copied history. Files are as durable as the destination makes them.
    pub durability: Durability,
}

impl Memory {
    /// Copies everything in this memory into another one, as [`copy()`] does. It stops when this memory's
    /// [cancellation](Memory::cancellation) is cancelled.
    ///
    /// If there is no history to copy, the history of the destination records the copied files as changes.
    ///
    /// ```
    /// use memdir::{CopyOptions, Memory, MemoryOptions};
    /// use std::ops::ControlFlow;
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let (old, new) = (Memory::open("memory:", options.clone())?, Memory::open("memory:", options)?);
    /// old.create("/memories/notes.md", "- likes tea\n")?;
    /// let mut go_on = |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
    /// assert_eq!(old.copy_to(&new, CopyOptions::default(), &mut go_on)?.changes, Some(1));
    /// assert_eq!(new.read("/memories/notes.md")?, "- likes tea\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`copy()`].
    pub fn copy_to(
        &self,
        to: &Memory,
        options: CopyOptions,
        progress: &mut OnProgress<'_>,
    ) -> Result<Copied, CopyError> {
        let (raw, destination) = (self.without_recorder(), to.without_recorder());
        check_overlap(raw, destination)?;
        let mut progress = |at: Progress<'_>| match self.cancellation().is_cancelled() {
            true => ControlFlow::Break(()),
            false => progress(at),
        };
        let source = Source::new(raw, options)?;
        let plan = Plan::compare(source, destination, options.existing, &mut progress)?;
        if plan.source.history.is_some() {
            return plan.carry_out(destination, options.durability, &mut progress);
        }
        plan.write(&**to.store(), &mut progress)
    }
}

/// The source of a copy: a store, or the parts of an archive.
pub struct Source {
    files: Arc<dyn Store>,
    /// `None` if there is no history, or it is left out.
    history: Option<HistoryRecords>,
}

impl Source {
    /// The files and the history of a store, or its files alone.
    ///
    /// # Errors
    /// [`CopyError::DamagedHistory`], [`CopyError::Source`].
    pub fn new(store: &Arc<dyn Store>, options: CopyOptions) -> Result<Self, CopyError> {
        let history = match options.without_history {
            true => None,
            false => Some(HistoryRecords::of(Arc::clone(store)).map_err(CopyError::of_source)?),
        };
        Ok(Self::of(without_journal(Arc::clone(store)), history))
    }

    /// These files and this history.
    #[must_use]
    pub fn of(files: Arc<dyn Store>, history: Option<HistoryRecords>) -> Self {
        Self { files, history: history.filter(|history| !history.is_empty()) }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

fn check_overlap(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> Result<(), CopyError> {
    // A store of the application has no location, so the pointers are compared as well.
    match Arc::ptr_eq(from, to) || overlap(&from.info().locations, &to.info().locations) {
        true => Err(CopyError::Overlapping),
        false => Ok(()),
    }
}

/// The callback of a copy: gets the progress, and returns whether the copy continues.
pub type OnProgress<'w> = dyn FnMut(Progress<'_>) -> ControlFlow<()> + 'w;

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename = "CopyProgress")]
#[non_exhaustive]
pub struct Progress<'p> {
    /// The current phase.
    pub phase: Phase,
    /// The next file.
    #[cfg_attr(feature = "schema", schemars(with = "MemoryPath"))]
    pub path: &'p MemoryPath,
    /// The number of files of this phase before this one. Small files are written together: some of these may be
    /// written only later, but also if the copy is stopped here.
    pub files: u64,
    /// The bytes of these files.
    pub bytes: u64,
    /// The number of all files of this phase; while comparing, of those found so far.
    pub of_files: u64,
    /// The bytes of all files of this phase.
    pub of_bytes: u64,
}

/// The phase of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename = "CopyPhase", rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Phase {
    /// Both stores are compared. Nothing is changed.
    Comparing,
    /// Files are written.
    Copying,
}

impl Phase {
    /// Returns its name in other languages: `comparing` or `copying`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comparing => "comparing",
            Self::Copying => "copying",
        }
    }
}

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Copied {
    /// The number of files that were written.
    pub files: u64,
    /// The bytes of the written files.
    pub bytes: u64,
    /// The number of files that the destination already had, with the same content.
    pub equal: u64,
    /// The number of empty directories that were created.
    pub directories: u64,
    /// Entries of the source that were not copied, because they are not part of the memory, such as links and
    /// reserved names.
    #[serde(serialize_with = "as_sentences")]
    #[cfg_attr(feature = "schema", schemars(with = "Vec<String>"))]
    pub left_out: Vec<Problem>,
    /// The number of changes that were copied from the history of the source; `None` if it has no history, or the
    /// history was left out.
    pub changes: Option<u64>,
}

fn as_sentences<S: Serializer>(problems: &[Problem], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(problems.iter().map(ToString::to_string))
}

/// A planned copy, from a comparison of both stores.
#[derive(Debug)]
pub struct Plan {
    source: Source,
    found: Found,
    /// The numbers of the records of the history that the destination does not have.
    missing: Vec<usize>,
}

impl Plan {
    /// Compares both stores, as [`copy()`] does before it changes anything.
    ///
    /// # Errors
    /// [`CopyError::Overlapping`], [`CopyError::OtherHistory`], [`CopyError::ManyHistories`],
    /// [`CopyError::Source`], [`CopyError::Destination`], [`CopyError::Stopped`].
    pub fn compare(
        source: Source,
        to: &Arc<dyn Store>,
        existing: OnExisting,
        progress: &mut OnProgress<'_>,
    ) -> Result<Self, CopyError> {
        check_overlap(&source.files, to)?;
        let (mut found, root) = (Found::default(), MemoryPath::root());
        let from = &*source.files;
        let left_out = &mut found.left_out;
        from.inspect(&mut |problem| {
            if problem.kind.is_beside() {
                left_out.push(problem);
            }
        })
        .map_err(|error| CopyError::Source { path: root.clone(), error })?;
        let files = without_journal(Arc::clone(to));
        let (seen, to_find) = ((0, 0), &mut found);
        Comparison { from, to: &*files, existing, plan: to_find, seen, progress }
            .directory(&root, true)?;
        let mut missing = Vec::new();
        // If there are conflicts, nothing is copied anyway.
        if let Some(history) = source.history.as_ref().filter(|_| found.refused.is_empty()) {
            if to.mounts().is_some() {
                return Err(CopyError::ManyHistories);
            }
            let lacking = history.missing_in(to).map_err(CopyError::of_destination)?;
            missing = lacking.ok_or(CopyError::OtherHistory)?;
        }
        Ok(Self { source, found, missing })
    }

    /// Returns the conflicting paths. If there are any, [`carry_out`](Plan::carry_out) changes nothing.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.found.refused
    }

    /// Returns the files that would be written, with their sizes in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&MemoryPath, u64)> {
        self.found.files.iter().map(|file| (&file.path, file.size))
    }

    /// Returns the result of [`carry_out`](Plan::carry_out) if nothing fails.
    #[must_use]
    pub fn outcome(&self) -> Copied {
        let found = &self.found;
        Copied {
            files: found.files.len() as u64,
            bytes: found.bytes,
            equal: found.equal,
            directories: found.directories.len() as u64,
            left_out: found.left_out.clone(),
            changes: self.changes(),
        }
    }

    fn changes(&self) -> Option<u64> {
        self.source.history.as_ref().map(|_| self.missing.len() as u64)
    }

    /// Executes the plan on the destination that was compared. `durability` is that of the copied history.
    ///
    /// # Errors
    /// Same as [`copy()`].
    pub fn carry_out(
        self,
        to: &Arc<dyn Store>,
        durability: Durability,
        progress: &mut OnProgress<'_>,
    ) -> Result<Copied, CopyError> {
        let copied = self.write(&*without_journal(Arc::clone(to)), progress)?;
        if let Some(history) = &self.source.history {
            let appended = history.append_to(to, &self.missing, durability);
            appended.map_err(CopyError::of_destination)?;
        }
        Ok(copied)
    }

    /// Writes the files and directories.
    fn write(&self, to: &dyn Store, progress: &mut OnProgress<'_>) -> Result<Copied, CopyError> {
        let found = &self.found;
        if !found.refused.is_empty() {
            return Err(CopyError::Refused(found.refused.clone()));
        }
        let of_destination =
            |path: &MemoryPath, error| CopyError::Destination { path: path.clone(), error };
        let left_out = found.left_out.clone();
        let mut copied =
            Copied { equal: found.equal, left_out, changes: self.changes(), ..Copied::default() };
        for path in &found.directories {
            to.make_directory(path).map_err(|error| of_destination(path, error))?;
            copied.directories += 1;
        }
        for (path, times) in &found.times {
            times.set(to, path).map_err(|error| of_destination(path, error))?;
        }
        let from = &*self.source.files;
        if found.files.is_empty() {
            // The copy before may have been killed at its end. The store removes what it left, as far as possible.
            let _ = to.write_batch(&Context::new(), &[]);
        }
        let mut batch = Batch::new(from, to);
        for files in in_batches(&found.files, |file| file.size) {
            let (mut count, mut bytes) = (0, 0);
            for file in files {
                let at = Progress {
                    phase: Phase::Copying,
                    path: &file.path,
                    files: copied.files + count as u64,
                    bytes: copied.bytes + bytes,
                    of_files: found.files.len() as u64,
                    of_bytes: found.bytes,
                };
                if progress(at).is_break() {
                    break;
                }
                (count, bytes) = (count + 1, bytes + file.size);
            }
            // If a file cannot be read, those before it are copied.
            let read = batch.read(&files[..count]);
            batch.write(&mut copied)?;
            read?;
            if count < files.len() {
                return Err(CopyError::Stopped);
            }
        }
        Ok(copied)
    }
}
