//! Moving house: everything that one store holds, copied into another.
//!
//! First both are compared, and nothing is changed; then what is missing is written, a file at a
//! time, each whole or not there, and each read back. Where a copy is interrupted, another one finds
//! what is there already, and does the rest.

use std::collections::HashMap;
use std::ops::ControlFlow;

mod refusal;

use self::refusal::list;
pub use self::refusal::{Refusal, There};
use crate::path::MemoryPath;
use crate::store::OnExisting;
use crate::store::access::Times;
use crate::store::transfer::{holds, place_file};
use crate::store::{
    Entry, EntryKind, NEW_DIRECTORY, Problem, ProblemKind, Store, StoreError, micros, overlap,
};

/// Copies everything from one store into another: contents, times, hidden files, empty
/// directories. Nothing is ever deleted.
///
/// A file that is there already with the same content is left as it is, but for its time. If one
/// is there with another content, nothing is copied at all, unless `existing` is
/// [`OnExisting::Overwrite`]. What is written is read back and compared.
///
/// `progress` is called before each file, and can end the copy there. As much is in memory as the
/// largest file takes, and the paths of what is to be copied.
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
/// [`CopyError`] says what was done before it.
pub fn copy(
    from: &dyn Store,
    to: &dyn Store,
    existing: OnExisting,
    progress: &mut Watch<'_>,
) -> Result<Copied, CopyError> {
    Plan::compare(from, to, existing, progress)?.carry_out(from, to, progress)
}

/// Is told how far a copy is, and says whether it goes on.
pub type Watch<'w> = dyn FnMut(Progress<'_>) -> ControlFlow<()> + 'w;

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress<'p> {
    /// What is being done.
    pub phase: Phase,
    /// The file that comes next.
    pub path: &'p MemoryPath,
    /// The files that this phase is through with.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The files that this phase is about; while comparing, as many as were found so far.
    pub of_files: u64,
    /// Their bytes.
    pub of_bytes: u64,
}

/// What a copy is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Both stores are looked through; nothing is changed.
    Comparing,
    /// Files are written.
    Copying,
}

impl Phase {
    /// Its name, `comparing` or `copying`, as other languages have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Comparing => "comparing",
            Self::Copying => "copying",
        }
    }
}

/// What a copy did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Copied {
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that were there already, with the same content.
    pub equal: u64,
    /// Empty directories that were made.
    pub directories: u64,
    /// What is kept beside the memory that was copied, such as links, and is no part of it.
    pub left_out: Vec<Problem>,
}

/// Why not everything was copied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CopyError {
    /// The destination holds something else at these paths, or cannot keep their names. Nothing was
    /// changed, unless somebody put it there during the copy: then the files before it are copied.
    #[error("{}", list(.0))]
    Refused(Vec<Refusal>),
    /// Both stores are the same, or one of them is kept within the other. Nothing was changed.
    #[error("the source and the destination are the same, or one of them is within the other")]
    Overlapping,
    /// The store that is copied from failed at this path. What was copied before stays.
    #[error("reading {path} from the source: {error}")]
    Source {
        /// What was to be read.
        path: MemoryPath,
        /// Why it was not.
        #[source]
        error: StoreError,
    },
    /// The store that is copied to failed at this path. What was copied before stays.
    #[error("writing {path} to the destination: {error}")]
    Destination {
        /// What was to be written, or compared.
        path: MemoryPath,
        /// Why it was not.
        #[source]
        error: StoreError,
    },
    /// The callback ended it. What was copied before stays.
    #[error("the copy was stopped")]
    Stopped,
}

impl CopyError {
    /// Where the destination holds something else; nothing for every other error.
    pub fn paths(&self) -> impl Iterator<Item = &MemoryPath> {
        let refusals = if let Self::Refused(refusals) = self { &refusals[..] } else { &[] };
        refusals.iter().map(|refusal| &refusal.path)
    }
}

/// What a copy would do, as a comparison of both stores found it.
#[derive(Debug, Clone, Default)]
pub struct Plan {
    files: Vec<ToWrite>,
    bytes: u64,
    directories: Vec<MemoryPath>,
    /// Files that have the same content, but other times.
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
        progress: &mut Watch<'_>,
    ) -> Result<Self, CopyError> {
        if overlap(&from.locations(), &to.locations()) {
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

    /// What is in the way. While there is anything, nothing is carried out.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }

    /// The files that would be written, and their bytes.
    pub fn files(&self) -> impl Iterator<Item = (&MemoryPath, u64)> {
        self.files.iter().map(|file| (&file.path, file.size))
    }

    /// What [`carry_out`](Plan::carry_out) will have done, if all goes well.
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

    /// Does it, to the stores that were compared.
    ///
    /// # Errors
    /// As [`copy()`].
    pub fn carry_out(
        self,
        from: &dyn Store,
        to: &dyn Store,
        progress: &mut Watch<'_>,
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

/// How many bytes were written; `None` if somebody else wrote the same meanwhile.
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

/// A walk through both trees, side by side.
struct Comparison<'c, 'w> {
    from: &'c dyn Store,
    to: &'c dyn Store,
    existing: OnExisting,
    plan: &'c mut Plan,
    /// Files and bytes.
    seen: (u64, u64),
    progress: &'c mut Watch<'w>,
}

impl Comparison<'_, '_> {
    /// Compares a directory of the source; `there` says whether the destination has it.
    fn directory(&mut self, path: &MemoryPath, there: bool) -> Result<(), CopyError> {
        let listed = self.from.list(path);
        let mut entries =
            listed.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        entries.retain(|entry| !self.is_left_over(entry));
        if entries.is_empty() && !there {
            self.plan.directories.push(path.clone());
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let found = if there { self.destination(path)? } else { HashMap::new() };
        for entry in entries {
            if !self.to.can_keep(&entry.path) {
                self.refuse(entry.path, There::BadName);
                continue;
            }
            let there = found.get(&entry.path);
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

    /// Whether it is what a directory is made with, and only there for as long as that takes. It is named, as
    /// it may be somebody's own.
    fn is_left_over(&mut self, entry: &Entry) -> bool {
        let left = entry.kind == EntryKind::File(0) && entry.path.name() == Some(NEW_DIRECTORY);
        if left {
            let problem = Problem::new(ProblemKind::LeftOver, &entry.path, "");
            self.plan.left_out.push(problem);
        }
        left
    }

    fn destination(&self, path: &MemoryPath) -> Result<HashMap<MemoryPath, Entry>, CopyError> {
        match self.to.list(path) {
            Ok(entries) => {
                Ok(entries.into_iter().map(|entry| (entry.path.clone(), entry)).collect())
            }
            // Somebody removed it just now.
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

    /// The file stays; its times may have to be set, where a copy was interrupted just before that.
    fn keep(&mut self, entry: Entry, there: Option<&Entry>) -> Result<(), CopyError> {
        self.plan.equal += 1;
        let kept = there.map(Times::from).unwrap_or_default();
        if self.differing((&entry).into(), kept).is_none() {
            return Ok(());
        }
        let path = entry.path;
        // A listing of object storage only says when the object was put there.
        let times = Times::of(self.from, &path);
        let times = times.map_err(|error| CopyError::Source { path: path.clone(), error })?;
        let kept = Times::of(self.to, &path);
        let kept = kept.map_err(|error| CopyError::Destination { path: path.clone(), error })?;
        if let Some(times) = self.differing(times, kept) {
            self.plan.times.push((path, times));
        }
        Ok(())
    }

    /// Those times that are to be set.
    fn differing(&self, times: Times, kept: Times) -> Option<Times> {
        let modified = match (times.modified, kept.modified) {
            (Some(time), Some(kept)) if micros::of(time) != micros::of(kept) => Some(time),
            _ => None,
        };
        // The copy may have been accessed since, and the original too.
        let accessed = times.accessed.filter(|&time| {
            self.to.tracks_access()
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
