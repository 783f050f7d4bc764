//! Renaming from one store into another, which no store can do in one step.
//!
//! The copy is made under a name that no view shows, compared with the original, and takes its
//! place at once. Then the original is moved to such a name, so that nobody can change it any
//! more, and looked at once more: if it is what was copied, it goes; if not, it comes back, the
//! copy goes, and all begins anew. At every moment one whole copy is in its place, and no edit that
//! was acknowledged is in neither.

use std::hash::{BuildHasher, RandomState};

use super::snapshot::{Camera, Snapshot, Trouble, from_above};
use crate::path::MemoryPath;
use crate::store::{EntryKind, Node, Store, StoreError};

/// How often a move begins anew because what it moves was changed meanwhile.
const MAX_ATTEMPTS: usize = 20;

/// The beginning of the names of what is on its way. It is hidden, and a number follows.
const ASIDE: &str = ".memdir-moving-";

/// One end of a rename.
pub(super) struct End<'m> {
    pub(super) store: &'m dyn Store,
    /// The path as the store names it.
    pub(super) inside: MemoryPath,
    /// The path as the whole tree names it.
    pub(super) path: &'m MemoryPath,
    /// Whether it is a mount point or above one.
    pub(super) fixed: bool,
}

/// Moves a file or directory into another store.
pub(super) fn rename(from: &End<'_>, to: &End<'_>) -> Result<(), StoreError> {
    for _ in 0..MAX_ATTEMPTS {
        if attempt(from, to)? {
            return Ok(());
        }
    }
    Err(failed(from, "it was changed each time when it had been copied"))
}

/// The conditions of a rename, in the order of [`Store::rename`]. Without one, the topmost
/// directory that is missing above the destination, or the destination itself: what will be new.
pub(super) fn judge(from: &End<'_>, to: &End<'_>) -> Result<MemoryPath, StoreError> {
    let moves_directory = is_directory(from.store, &from.inside).map_err(about_source)?;
    if to.fixed {
        return Err(StoreError::AlreadyExists);
    }
    match is_directory(to.store, &to.inside) {
        Ok(_) => return Err(StoreError::AlreadyExists),
        Err(error) if error.is_failure() => return Err(error),
        // Anything but nothing will be said by the destination's own rename.
        Err(_) => {}
    }
    if from.store.is_read_only() {
        return Err(about_source(StoreError::ReadOnly));
    }
    if to.store.is_read_only() {
        return Err(StoreError::ReadOnly);
    }
    if moves_directory && from.path.is_above(to.path) {
        return Err(StoreError::IntoItself);
    }
    let mut new = to.inside.clone();
    while let Some(above) = new.parent() {
        match is_directory(to.store, &above) {
            Ok(true) => break,
            Ok(false) => return Err(StoreError::NotADirectory),
            Err(StoreError::NotFound) => new = above,
            Err(error) => return Err(error),
        }
    }
    Ok(new)
}

/// For a rename within a store that is not the root's: refuses what would give something a path
/// that is none in the whole tree, where it is longer than in the store.
pub(super) fn check_paths_below(from: &End<'_>, to: &End<'_>) -> Result<(), StoreError> {
    let longer = to.path.as_str().len() > from.path.as_str().len()
        || to.path.names().count() > from.path.names().count();
    if !longer || from.path == &from.inside {
        return Ok(());
    }
    let mut directories = vec![from.inside.clone()];
    while let Some(directory) = directories.pop() {
        // What is the matter with the source, the store's own rename will say.
        for entry in from.store.list(&directory).unwrap_or_default() {
            if entry.path.moved(&from.inside, to.path).is_err() {
                return judge(from, to).and(Err(StoreError::NameTooLong));
            }
            if entry.kind == EntryKind::Directory {
                directories.push(entry.path);
            }
        }
    }
    Ok(())
}

/// Whether it was moved; if not, it was changed meanwhile, and all is as before.
fn attempt(from: &End<'_>, to: &End<'_>) -> Result<bool, StoreError> {
    let new = judge(from, to)?;
    let camera = Camera::new();
    let aside = aside()?;
    let fits = |below: &MemoryPath| below.moved(&MemoryPath::root(), to.path).is_ok();
    let (original, copy) = ((from.store, &from.inside), (to.store, &aside));
    let copied = camera.copy(original, copy, fits).and_then(|seen| {
        to.store.rename(&aside, &to.inside).map_err(Trouble::Destination)?;
        Ok(seen)
    });
    let seen = match copied {
        Ok(seen) => seen,
        Err(trouble) => {
            // Nobody else knows the name. If this fails too, it is not seen by anybody either.
            let _ = to.store.delete(&aside);
            return match trouble {
                Trouble::Changed => Ok(false),
                Trouble::Source(error) => Err(about_source(error)),
                Trouble::Destination(StoreError::NotFound | StoreError::Source(_)) => {
                    Err(failed(from, "the copy was removed before it was in its place"))
                }
                Trouble::Destination(error) => Err(error),
            };
        }
    };
    match take(&camera, from.store, &from.inside, &seen)? {
        Taken::Gone => Ok(true),
        Taken::Stays(reason) => {
            undo(&camera, to, &new, &seen)
                .map_err(|error| failed(from, format!("there are two copies now: {error}")))?;
            reason.map_or(Ok(false), |error| Err(about_source(error)))
        }
    }
}

/// What became of something that was to go.
enum Taken {
    Gone,
    /// It is where it was, whole: it is not what was seen, or may not go.
    Stays(Option<StoreError>),
}

/// Deletes what is at `path` if it is what was `seen`.
///
/// # Errors
/// Only where it is not known to be in its place, or not known to be gone.
fn take(
    camera: &Camera,
    store: &dyn Store,
    path: &MemoryPath,
    seen: &Snapshot,
) -> Result<Taken, StoreError> {
    let aside = aside()?;
    match store.rename(path, &aside) {
        Ok(()) => {}
        Err(error) if error.is_failure() => return Err(error),
        Err(StoreError::Source(condition)) => return Ok(Taken::Stays(Some(*condition))),
        Err(condition) => return Ok(Taken::Stays(Some(condition))),
    }
    let reason = match camera.look(store, &aside) {
        Ok(now) if now == *seen => match store.delete(&aside) {
            Ok(()) | Err(StoreError::NotFound) => return Ok(Taken::Gone),
            Err(error) if error.is_failure() => return Err(error),
            Err(condition) => Some(condition),
        },
        Ok(_) => None,
        Err(error) => Some(error),
    };
    match put_back(store, &aside, path) {
        Ok(()) => Ok(Taken::Stays(reason)),
        Err(error) => Err(StoreError::failed(format!("putting {path} back"), error.to_string())),
    }
}

/// Puts back what was taken: beside its place, in sight, if somebody else is there already.
fn put_back(store: &dyn Store, aside: &MemoryPath, path: &MemoryPath) -> Result<(), StoreError> {
    match store.rename(aside, path) {
        Err(StoreError::AlreadyExists | StoreError::NotADirectory) => {}
        result => return result,
    }
    let number = aside.name().and_then(|name| name.strip_prefix(ASIDE)).unwrap_or_default();
    let beside = MemoryPath::root().join(&format!("moved-{number}"));
    let beside = beside.map_err(|_| StoreError::NameTooLong)?;
    store.rename(aside, &beside)?;
    let problem = format!("something new is there; what it held is at {beside} now");
    Err(StoreError::failed("renaming", problem))
}

/// Removes the copy, and the parents that were made for it, unless somebody has changed it already.
fn undo(
    camera: &Camera,
    to: &End<'_>,
    new: &MemoryPath,
    seen: &Snapshot,
) -> Result<(), StoreError> {
    let below = to.inside.moved(new, &MemoryPath::root()).map_err(|_| StoreError::NameTooLong)?;
    if let Taken::Gone = take(camera, to.store, new, &from_above(seen, &below)?)? {
        return Ok(());
    }
    // Somebody has put something beside it: the parents stay.
    match take(camera, to.store, &to.inside, seen)? {
        Taken::Gone | Taken::Stays(Some(StoreError::NotFound)) => Ok(()),
        Taken::Stays(Some(error)) => Err(error),
        Taken::Stays(None) => {
            Err(StoreError::failed(format!("removing {}", to.path), "it was changed meanwhile"))
        }
    }
}

fn is_directory(store: &dyn Store, path: &MemoryPath) -> Result<bool, StoreError> {
    match store.open(path, 1) {
        Ok(node) => Ok(matches!(node, Node::Directory(_))),
        Err(StoreError::NotADirectory) => Err(StoreError::NotFound),
        Err(error) => Err(error),
    }
}

/// A name that nobody else has.
fn aside() -> Result<MemoryPath, StoreError> {
    let number = RandomState::new().hash_one(std::process::id());
    MemoryPath::root().join(&format!("{ASIDE}{number:016x}")).map_err(|_| StoreError::NameTooLong)
}

/// As a rename names what is the matter with its source.
fn about_source(error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound | StoreError::Source(_) => error,
        failure if failure.is_failure() => failure,
        condition => StoreError::Source(Box::new(condition)),
    }
}

fn failed(
    from: &End<'_>,
    problem: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::failed(format!("moving {} to another store", from.path), problem)
}
