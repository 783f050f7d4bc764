//! [`copy()`]: copies everything from one store into another.
//!
//! A copy first compares both stores and changes nothing. Then it writes the missing files, one at a time, and
//! reads each one back. Each file is written atomically. After an interruption, a second copy skips the
//! finished files and writes the rest.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

mod refusal;

use memdir_store::path::{Folding, MemoryPath};
use serde::{Serialize, Serializer};

use self::refusal::list;
pub use self::refusal::{Refusal, There};
use crate::store::OnExisting;
use crate::store::access::Times;
use crate::store::transfer::{holds, place_file};
use crate::store::{Entry, EntryKind, Problem, Store, StoreError, micros, overlap, sort_by_path};

/// Copies everything from one store into another: contents, times, hidden files, empty directories. Nothing is
/// ever deleted. The history of a memory is not copied; the command line copies it, too.
///
/// Entries with [reserved](MemoryPath::is_reserved) names are left out and reported, as are all entries that
/// are not part of the memory. An encrypted store must therefore be opened with its key: a copy of the
/// encrypted files without the store's key record is useless.
///
/// If the destination already has a file with the same content, only its time is set. If any file has different
/// content there, nothing is copied at all, unless `existing` is [`OnExisting::Overwrite`]. Each written file
/// is read back and compared.
///
/// `progress` is called before each file and can stop the copy. Memory use: the largest file, plus the list of
/// paths.
///
/// ```
/// use memdir::{Memory, OnExisting, MemoryOptions};
/// use std::ops::ControlFlow;
///
/// let (old, new) = (
///     Memory::open("memory:", MemoryOptions::default())?,
///     Memory::open("memory:", MemoryOptions::default())?,
/// );
/// old.create("/memories/notes.md", "- likes tea\n")?;
/// let (from, to) = (&**old.store(), &**new.store());
/// let copied = memdir::copy(from, to, OnExisting::Error, &mut |_| ControlFlow::Continue(()))?;
/// assert_eq!((copied.files, copied.bytes), (1, 12));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`CopyError`]. Each of its cases says what was copied before the error.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    existing: OnExisting,
    progress: &mut OnProgress<'_>,
) -> Result<Copied, CopyError> {
    Plan::compare(from, to, existing, progress)?.carry_out(from, to, progress)
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
    /// The number of files that this phase has finished.
    pub files: u64,
    /// The bytes of the finished files.
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
}

fn as_sentences<S: Serializer>(problems: &[Problem], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(problems.iter().map(ToString::to_string))
}

/// An error of a copy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The destination has other entries at these paths, or cannot represent their names. Nothing was changed,
    /// unless another process caused the conflict during the copy. In that case the files before it are copied.
    #[error("{}", list(.0))]
    Refused(Vec<Refusal>),
    /// Both stores are the same, or one contains the other. Nothing was changed.
    #[error("the source and the destination are the same, or one of them is within the other")]
    Overlapping,
    /// Reading from the source failed at this path. Files that are already copied stay.
    #[error("reading {path} from the source: {error}")]
    Source {
        /// The path that could not be read.
        path: MemoryPath,
        /// The error of the store.
        #[source]
        error: StoreError,
    },
    /// Writing to the destination failed at this path. Files that are already copied stay.
    #[error("writing {path} to the destination: {error}")]
    Destination {
        /// The path that could not be written or compared.
        path: MemoryPath,
        /// The error of the store.
        #[source]
        error: StoreError,
    },
    /// The callback stopped the copy. Files that are already copied stay.
    #[error("the copy was stopped")]
    Stopped,
}

impl CopyError {
    /// Returns the paths of [`CopyError::Refused`]. Empty for every other error.
    pub fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let refusals = if let Self::Refused(refusals) = self { &refusals[..] } else { &[] };
        refusals.iter().map(|refusal| &refusal.path)
    }
}

/// A planned copy, from a comparison of both stores.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    files: Vec<ToWrite>,
    bytes: u64,
    directories: Vec<MemoryPath>,
    /// Files with the same content, but other times.
    times: Vec<(MemoryPath, Times)>,
    equal: u64,
    refused: Vec<Refusal>,
    left_out: Vec<Problem>,
}

#[derive(Debug, Clone)]
struct ToWrite {
    path: MemoryPath,
    size: u64,
    existing: OnExisting,
}

impl Plan {
    /// Compares both stores, as [`copy()`] does before it changes anything.
    ///
    /// # Errors
    /// [`CopyError::Overlapping`], [`CopyError::Source`], [`CopyError::Destination`],
    /// [`CopyError::Stopped`].
    pub fn compare(
        from: &dyn Store,
        to: &dyn Store,
        existing: OnExisting,
        progress: &mut OnProgress<'_>,
    ) -> Result<Self, CopyError> {
        if overlap(&from.info().locations, &to.info().locations) {
            return Err(CopyError::Overlapping);
        }
        let mut plan = Self::default();
        let root = MemoryPath::root();
        let left_out = &mut plan.left_out;
        from.inspect(&mut |problem| {
            if problem.kind.is_beside() {
                left_out.push(problem);
            }
        })
        .map_err(|error| CopyError::Source { path: root.clone(), error })?;
        Comparison { from, to, existing, plan: &mut plan, seen: (0, 0), progress }
            .directory(&root, true)?;
        Ok(plan)
    }

    /// Returns the conflicting paths. If there are any, [`carry_out`](Plan::carry_out) changes nothing.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// Returns the files that would be written, with their sizes in bytes.
    pub fn files(&self) -> impl Iterator<Item = (&MemoryPath, u64)> {
        self.files.iter().map(|file| (&file.path, file.size))
    }

    /// Returns the result of [`carry_out`](Plan::carry_out) if nothing fails.
    #[must_use]
    pub fn outcome(&self) -> Copied {
        Copied {
            files: self.files.len() as u64,
            bytes: self.bytes,
            equal: self.equal,
            directories: self.directories.len() as u64,
            left_out: self.left_out.clone(),
        }
    }

    /// Executes the plan on the stores that were compared.
    ///
    /// # Errors
    /// Same as [`copy()`].
    pub fn carry_out(
        self,
        from: &dyn Store,
        to: &dyn Store,
        progress: &mut OnProgress<'_>,
    ) -> Result<Copied, CopyError> {
        if !self.refused.is_empty() {
            return Err(CopyError::Refused(self.refused));
        }
        let mut copied = Copied { equal: self.equal, left_out: self.left_out, ..Copied::default() };
        for path in self.directories {
            to.make_directory(&path).map_err(|error| CopyError::Destination { path, error })?;
            copied.directories += 1;
        }
        for (path, times) in self.times {
            times.set(to, &path).map_err(|error| CopyError::Destination { path, error })?;
        }
        let of_files = self.files.len() as u64;
        for file in self.files {
            let at = Progress {
                phase: Phase::Copying,
                path: &file.path,
                files: copied.files,
                bytes: copied.bytes,
                of_files,
                of_bytes: self.bytes,
            };
            if progress(at).is_break() {
                return Err(CopyError::Stopped);
            }
            match copy_one(from, to, &file)? {
                Some(bytes) => {
                    copied.files += 1;
                    copied.bytes += bytes;
                }
                None => copied.equal += 1,
            }
        }
        Ok(copied)
    }
}

/// Copies one file. Returns the number of bytes written, or `None` if another process wrote the same content
/// first.
fn copy_one(from: &dyn Store, to: &dyn Store, file: &ToWrite) -> Result<Option<u64>, CopyError> {
    let path = &file.path;
    let of_source = |error| CopyError::Source { path: path.clone(), error };
    let of_destination = |error| CopyError::Destination { path: path.clone(), error };
    let times = Times::of(from, path).map_err(of_source)?;
    let content = from.read(path).map_err(of_source)?;
    match place_file(to, path, &content, times, file.existing) {
        Ok(()) => Ok(Some(content.len() as u64)),
        Err(StoreError::AlreadyExists) => match holds(to, path, &content) {
            Ok(true) => Ok(None),
            Ok(false) => Err(refuse(path, There::AnotherContent)),
            Err(StoreError::IsADirectory) => Err(refuse(path, There::ADirectory)),
            Err(error) => Err(of_destination(error)),
        },
        Err(error) => Err(of_destination(error)),
    }
}

fn refuse(path: &MemoryPath, there: There) -> CopyError {
    CopyError::Refused(vec![Refusal { path: path.clone(), there }])
}

/// Walks through both trees, side by side.
struct Comparison<'c, 'w> {
    from: &'c dyn Store,
    to: &'c dyn Store,
    existing: OnExisting,
    plan: &'c mut Plan,
    /// Files and bytes.
    seen: (u64, u64),
    progress: &'c mut OnProgress<'w>,
}

impl Comparison<'_, '_> {
    /// Compares a directory of the source. `there` is true if the destination has it.
    fn directory(&mut self, path: &MemoryPath, there: bool) -> Result<(), CopyError> {
        let listed = self.from.list(path);
        let mut entries =
            listed.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        entries.retain(|entry| !self.leaves_out(entry));
        if entries.is_empty() && !there {
            self.plan.directories.push(path.clone());
        }
        sort_by_path(&mut entries);
        let found = if there { self.destination(path)? } else { HashMap::new() };
        let (folding, mut taken) = (self.folding(), HashSet::new());
        for entry in entries {
            if !self.to.can_keep(&entry.path) {
                self.refuse(entry.path, There::BadName);
                continue;
            }
            let key = folding.key(&entry.path).into_owned();
            let there = found.get(&key);
            if !taken.insert(key) {
                self.refuse(entry.path, There::SameName);
                continue;
            }
            match (entry.kind, there.map(|there| there.kind)) {
                (EntryKind::Directory, None) => self.directory(&entry.path, false)?,
                (EntryKind::Directory, Some(EntryKind::Directory)) => {
                    self.directory(&entry.path, true)?;
                }
                (EntryKind::Directory, Some(EntryKind::File(_))) => {
                    self.refuse(entry.path, There::AFile);
                }
                (EntryKind::File(_), Some(EntryKind::Directory)) => {
                    self.refuse(entry.path, There::ADirectory);
                }
                (EntryKind::File(size), None) => {
                    self.tell(&entry.path, size)?;
                    self.write(entry.path, size, OnExisting::Error);
                }
                (EntryKind::File(size), Some(EntryKind::File(_))) => {
                    self.tell(&entry.path, size)?;
                    match self.same_content(&entry, there)? {
                        true => self.keep(entry, there)?,
                        false if self.existing == OnExisting::Overwrite => {
                            self.write(entry.path, size, OnExisting::Overwrite);
                        }
                        false => self.refuse(entry.path, There::AnotherContent),
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether the entry is left out because of its name. If so, it is reported.
    fn leaves_out(&mut self, entry: &Entry) -> bool {
        let problem = Problem::of_reserved_name(entry);
        let leaves_out = problem.is_some();
        self.plan.left_out.extend(problem);
        leaves_out
    }

    /// Returns how the destination compares paths.
    fn folding(&self) -> Folding {
        Folding::new(self.to.info().folds_case)
    }

    /// Returns the entries of a directory of the destination, by their keys.
    fn destination(&self, path: &MemoryPath) -> Result<HashMap<MemoryPath, Entry>, CopyError> {
        match self.to.list(path) {
            Ok(entries) => {
                let folding = self.folding();
                let keyed = |entry: Entry| (folding.key(&entry.path).into_owned(), entry);
                Ok(entries.into_iter().map(keyed).collect())
            }
            // Another process removed it just now.
            Err(StoreError::NotFound) => Ok(HashMap::new()),
            Err(error) => Err(CopyError::Destination { path: path.clone(), error }),
        }
    }

    fn tell(&mut self, path: &MemoryPath, size: u64) -> Result<(), CopyError> {
        let (files, bytes) = self.seen;
        self.seen = (files + 1, bytes + size);
        let at = Progress {
            phase: Phase::Comparing,
            path,
            files,
            bytes,
            of_files: files + 1,
            of_bytes: bytes + size,
        };
        if (self.progress)(at).is_break() { Err(CopyError::Stopped) } else { Ok(()) }
    }

    fn same_content(&self, entry: &Entry, there: Option<&Entry>) -> Result<bool, CopyError> {
        if there.is_none_or(|there| there.kind != entry.kind) {
            return Ok(false);
        }
        let path = &entry.path;
        let content = self.from.read(path);
        let content = content.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        match holds(self.to, path, &content) {
            Err(StoreError::NotFound) => Ok(false),
            held => held.map_err(|error| CopyError::Destination { path: path.clone(), error }),
        }
    }

    /// Keeps the file. Its times may still have to be set, if an earlier copy was interrupted before it set
    /// them.
    fn keep(&mut self, entry: Entry, there: Option<&Entry>) -> Result<(), CopyError> {
        self.plan.equal += 1;
        let kept = there.map(Times::from).unwrap_or_default();
        if self.differing((&entry).into(), kept).is_none() {
            return Ok(());
        }
        let path = entry.path;
        // A listing of object storage only has the time at which the object was stored.
        let times = Times::of(self.from, &path);
        let times = times.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        let kept = Times::of(self.to, &path);
        let kept = kept.map_err(|error| CopyError::Destination { path: path.clone(), error })?;
        if let Some(times) = self.differing(times, kept) {
            self.plan.times.push((path, times));
        }
        Ok(())
    }

    /// Returns the times that must be set, or `None` if they are already right.
    fn differing(&self, times: Times, kept: Times) -> Option<Times> {
        let modified = match (times.modified, kept.modified) {
            (Some(time), Some(kept)) if micros::of(time) != micros::of(kept) => Some(time),
            _ => None,
        };
        // The copy may have been accessed since then, and the original too.
        let accessed = times.accessed.filter(|&time| {
            self.to.info().tracks_access
                && kept.accessed.is_none_or(|kept| micros::of(kept) < micros::of(time))
        });
        (modified.is_some() || accessed.is_some()).then_some(Times { modified, accessed })
    }

    fn write(&mut self, path: MemoryPath, size: u64, existing: OnExisting) {
        self.plan.bytes += size;
        self.plan.files.push(ToWrite { path, size, existing });
    }

    fn refuse(&mut self, path: MemoryPath, there: There) {
        self.plan.refused.push(Refusal { path, there });
    }
}
