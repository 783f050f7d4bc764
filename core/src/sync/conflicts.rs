//! [`conflicts`] and [`resolve`]: the conflict copies in a memory, and how one of them ends.
//!
//! A conflict copy is a file like any other, known by its name. So each memory knows its conflicts, whichever sync made them.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::time::SystemTime;

use memdir_store::path::{MAX_NAME_BYTES, MemoryPath};
use memdir_store::{Error, ErrorKind, Refused};
use serde::Serialize;

use super::baseline::{Digest, digest};
use super::both::SyncSide;
use super::change::{NewFile, Outcome};
use super::error::SyncError;
use super::names::{parse, split};
use super::side::Side;
use super::survey::travels;
use crate::memory::Memory;
use crate::reply;

/// A file that a sync has kept because both memories had changed the same lines of another file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ConflictCopy {
    /// The file that both memories had changed.
    pub path: MemoryPath,
    /// The file with the other content.
    pub copy_path: MemoryPath,
    /// The memory from which the content of the copy is, such as `laptop`.
    pub origin: String,
    /// When the copy was last written, if the store keeps times.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    pub modified: Option<SystemTime>,
    /// Whether there are files below `path`: one memory had a file there, and the other one a directory. Such a conflict ends when the copy
    /// is renamed or deleted.
    pub is_directory: bool,
}

/// Both contents of a conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConflictContents {
    /// The content of the file; `None` if there is no file.
    pub original: Option<Vec<u8>>,
    /// The content of the copy.
    pub copy: Vec<u8>,
}

/// How a conflict ends. The copy is deleted in each case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolution<'t> {
    /// The file keeps its content.
    KeepOriginal,
    /// The file gets the content of the copy. If the file no longer exists, the copy gets its name.
    KeepCopy,
    /// The file gets this content.
    Merged(&'t [u8]),
}

impl ConflictCopy {
    /// Reads both contents; `None` if the copy no longer exists.
    ///
    /// # Errors
    /// [`Error::Store`].
    pub fn read(&self, memory: &Memory) -> Result<Option<ConflictContents>, Error> {
        self.read_on(&Side::new(SyncSide::A, memory))
    }

    fn read_on(&self, side: &Side<'_>) -> Result<Option<ConflictContents>, Error> {
        let Some(copy) = side.read(&self.copy_path).map_err(SyncError::into_error)? else {
            return Ok(None);
        };
        let original = side.read(&self.path).map_err(SyncError::into_error)?;
        Ok(Some(ConflictContents { original, copy }))
    }
}

/// Returns the conflict copies in the memory, sorted by path.
///
/// ```
/// use memdir::{Memory, MemoryOptions, SyncOptions};
/// use memdir::sync::{Resolution, conflicts, resolve};
/// use std::ops::ControlFlow;
///
/// let laptop = Memory::open("memory:", MemoryOptions::default())?;
/// let server = Memory::open("memory:", MemoryOptions::default())?;
/// laptop.create("/memories/tea.md", "green\n")?;
/// server.create("/memories/tea.md", "black\n")?;
/// let mut go_on = |_: memdir::sync::SyncProgress<'_>| ControlFlow::Continue(());
/// memdir::sync(&laptop, &server, &SyncOptions::default(), &mut go_on)?;
///
/// let found = conflicts(&laptop)?;
/// assert_eq!(found[0].path.as_str(), "/memories/tea.md");
/// assert_eq!(laptop.read(found[0].copy_path.as_str())?, "black\n");
///
/// let seen = found[0].read(&laptop)?;
/// resolve(&laptop, &found[0].copy_path, Resolution::KeepCopy, seen.as_ref())?;
/// assert_eq!(laptop.read("/memories/tea.md")?, "black\n");
/// assert_eq!(conflicts(&laptop)?, []);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Store`].
pub fn conflicts(memory: &Memory) -> Result<Vec<ConflictCopy>, Error> {
    find(&Side::new(SyncSide::A, memory))
}

fn find(side: &Side<'_>) -> Result<Vec<ConflictCopy>, Error> {
    let entries = side.list().map_err(SyncError::into_error)?;
    let paths: BTreeSet<&MemoryPath> = entries.iter().map(|entry| &entry.path).collect();
    let is_directory = |path: &MemoryPath| {
        // The files below a path come directly after it.
        let mut after = paths.range::<MemoryPath, _>((Bound::Excluded(path), Bound::Unbounded));
        after.next().is_some_and(|next| path.is_above(next))
    };
    let mut found = Vec::new();
    for entry in entries.iter().filter(|entry| travels(&entry.path, &[])) {
        let Some((parsed, origin)) = parse(&entry.path) else { continue };
        let path = uncut(&entry.path, &parsed, &paths).unwrap_or(parsed);
        if !travels(&path, &[]) {
            continue;
        }
        found.push(ConflictCopy {
            is_directory: is_directory(&path),
            path,
            origin: origin.to_owned(),
            modified: entry.modified,
            copy_path: entry.path.clone(),
        });
    }
    found.sort_by(|one, other| (&one.path, &one.copy_path).cmp(&(&other.path, &other.copy_path)));
    Ok(found)
}

/// The file whose name was cut for the name of the copy.
fn uncut(
    copy: &MemoryPath,
    parsed: &MemoryPath,
    paths: &BTreeSet<&MemoryPath>,
) -> Option<MemoryPath> {
    // A character has at most four bytes, so a name that was cut is at most three bytes shorter.
    if copy.name()?.len() + 3 < MAX_NAME_BYTES {
        return None;
    }
    let (stem, extension) = split(parsed.name()?);
    let is_of = |path: &&&MemoryPath| {
        path.parent() == copy.parent()
            && **path != copy
            && path
                .name()
                .map(split)
                .is_some_and(|(of, its)| its == extension && of.starts_with(stem) && of != stem)
            && parse(path).is_none()
    };
    paths.iter().find(is_of).map(|path| (*path).clone())
}

/// Ends a conflict: the file gets its final content, and the copy is deleted, as one change in the history. Returns the path of the file.
///
/// With `seen`, both files must still have these contents. The next sync takes the result to the other memories.
///
/// # Errors
/// [`Error::Refused`] if `copy` is not a conflict copy, a directory has the name of the file, one of the files was changed meanwhile,
/// or an option of the memory forbids the change; [`Error::Store`]. If the copy cannot be deleted, the file gets its old content back. If a
/// store fails, both files may stay with the new content, so nothing is lost.
pub fn resolve(
    memory: &Memory,
    copy: &MemoryPath,
    resolution: Resolution<'_>,
    seen: Option<&ConflictContents>,
) -> Result<MemoryPath, Error> {
    let side = Side::changed_by(SyncSide::A, memory, memory.clone());
    let refused = |sentence: String| Error::Refused(Refused::new(ErrorKind::Invalid, sentence));
    let found = find(&side)?.into_iter().find(|conflict| conflict.copy_path == *copy);
    let Some(conflict) = found else {
        let is_missing = side.read(copy).map_err(SyncError::into_error)?.is_none();
        return Err(match parse(copy) {
            Some(_) if is_missing => reply::missing(copy),
            _ => refused(format!("Error: {copy} is not a conflict copy")),
        });
    };
    let path = &conflict.path;
    if conflict.is_directory {
        return Err(refused(format!("Error: {path} is a directory: rename {copy}, or delete it")));
    }
    let now = conflict.read_on(&side)?.ok_or_else(|| reply::missing(copy))?;
    if let Some(seen) = seen.filter(|seen| **seen != now) {
        let changed = if seen.copy == now.copy { path } else { copy };
        return Err(reply::changed_meanwhile(changed));
    }
    // Before the file is changed.
    side.writer.check_change(copy)?;
    let ConflictContents { original, copy: theirs } = &now;
    let content = match (resolution, original) {
        // The content of the copy would be in no file.
        (Resolution::KeepOriginal, None) => return Err(reply::missing(path)),
        (Resolution::KeepOriginal, Some(original)) => original,
        (Resolution::KeepCopy, None) => {
            let renamed = side.rename(copy, path, digest(theirs), theirs.len() as u64);
            done(path, renamed)?;
            return Ok(conflict.path);
        }
        (Resolution::KeepCopy, Some(_)) => &theirs[..],
        (Resolution::Merged(content), _) => content,
    };
    let written = match original {
        Some(original) if original == content => None,
        Some(original) => Some(done(path, replace(&side, path, digest(original), content))?),
        None => Some(done(path, create(&side, path, content))?),
    };
    let Err(error) = done(copy, side.delete(copy, digest(theirs))) else {
        return Ok(conflict.path);
    };
    let undone = match (written, original) {
        (None, _) => true,
        (Some(written), None) => matches!(side.delete(path, written), Ok(Outcome::Done(..))),
        (Some(written), Some(original)) => {
            let undone = replace(&side, path, written, original);
            matches!(undone, Ok(Outcome::Done(now, _)) if now == digest(original))
        }
    };
    match error {
        Error::Refused(_) if !undone => Err(Error::Refused(Refused::new(
            ErrorKind::Changed,
            format!(
                "Error: {path} has its new content, but {copy} was not deleted: read both again"
            ),
        ))),
        error => Err(error),
    }
}

fn create(side: &Side<'_>, path: &MemoryPath, content: &[u8]) -> Result<Outcome, SyncError> {
    let created = side.create(&[NewFile { path, from: path, content, modified: None }])?;
    Ok(created.into_iter().next().unwrap_or(Outcome::Changed))
}

fn replace(
    side: &Side<'_>,
    path: &MemoryPath,
    old: Digest,
    content: &[u8],
) -> Result<Outcome, SyncError> {
    side.replace(path, old, content, digest(content))
}

/// The digest of the content that was written.
fn done(path: &MemoryPath, outcome: Result<Outcome, SyncError>) -> Result<Digest, Error> {
    match outcome.map_err(SyncError::into_error)? {
        Outcome::Done(digest, _) => Ok(digest),
        Outcome::Refused(error) => Err(error),
        Outcome::Changed | Outcome::Exists | Outcome::Directory { .. } => {
            Err(reply::changed_meanwhile(path))
        }
    }
}
