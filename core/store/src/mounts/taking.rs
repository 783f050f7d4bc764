//! The steps of a move that could lose data: a rename that may have succeeded although the store reported an
//! error, and the deletion of something that another caller must not change meanwhile.

use std::hash::{BuildHasher, RandomState};

use super::snapshot::{Snapshot, Snapshotter};
use crate::path::MemoryPath;
use crate::process;
use crate::{Context, Effect, MOVING, Mutation, Store, StoreError};

/// How many times the put-back is attempted.
const PUT_BACK_ATTEMPTS: usize = 3;

/// Why a rename within one store was not done.
pub(super) enum Stopped {
    /// Nothing was moved.
    Before(StoreError),
    /// Something may be at both paths, or the state is unknown.
    Halfway(StoreError),
}

impl Stopped {
    fn error(&self) -> &StoreError {
        match self {
            Self::Before(error) | Self::Halfway(error) => error,
        }
    }

    fn into_error(self) -> StoreError {
        match self {
            Self::Before(error) | Self::Halfway(error) => error,
        }
    }
}

/// Renames within one store. No other caller knows one of the two paths, so this function can find out the
/// outcome if the store does not report it.
pub(super) fn rename(
    context: &Context,
    store: &dyn Store,
    from: &MemoryPath,
    to: &MemoryPath,
) -> Result<(), Stopped> {
    let Err(error) = store.mutate(context, Mutation::Rename { from, to }) else { return Ok(()) };
    if !may_have_changed(&error) {
        return Err(Stopped::Before(error));
    }
    // It may be done later, so what is there now says nothing.
    if error.is_unanswered() {
        return Err(Stopped::Halfway(error));
    }
    match (is_there(store, from), is_there(store, to)) {
        (Ok(false), Ok(true)) => Ok(()),
        (Ok(true), Ok(false)) => Err(Stopped::Before(error)),
        _ => Err(Stopped::Halfway(error)),
    }
}

/// Whether an operation may have had an effect, in whole or in part, despite this error.
fn may_have_changed(error: &StoreError) -> bool {
    match error {
        StoreError::Failed { effect, .. } => *effect != Effect::Unchanged,
        // A store that works in several steps may return these errors after some of them.
        StoreError::PermissionDenied | StoreError::Full => true,
        StoreError::Source(error) => may_have_changed(error),
        _ => false,
    }
}

fn is_there(store: &dyn Store, path: &MemoryPath) -> Result<bool, StoreError> {
    match store.open(path, 0) {
        Ok(_) => Ok(true),
        Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The result of a deletion attempt.
pub(super) enum Taken {
    /// It is no longer at its path and will not return. If the store failed, a part of it may be left under a
    /// hidden name.
    Gone,
    /// It is complete and at its path: it was not as expected, or cannot be deleted.
    Stays(Option<StoreError>),
}

/// Deletes the file or directory at `path` if it is as `expected`.
///
/// Once the deletion has begun, it counts as done: a failure's leftovers are never put back.
///
/// # Errors
/// Only if it is unknown whether it is at its path or gone.
pub(super) fn take(
    context: &Context,
    snapshotter: &Snapshotter,
    store: &dyn Store,
    path: &MemoryPath,
    expected: &dyn Fn(&Snapshot) -> bool,
) -> Result<Taken, StoreError> {
    let temporary_path = temporary_path()?;
    match rename(context, store, path, &temporary_path) {
        Ok(()) => {}
        Err(Stopped::Before(StoreError::Source(condition))) => {
            return Ok(Taken::Stays(Some(*condition)));
        }
        Err(Stopped::Before(error)) => return Ok(Taken::Stays(Some(error))),
        Err(Stopped::Halfway(error)) => return Err(lost_sight(path, &temporary_path, error)),
    }
    let reason = match snapshotter.take(store, &temporary_path) {
        Ok(held) if expected(&held) => match store
            .mutate(context, Mutation::Delete { path: &temporary_path })
        {
            Ok(_) | Err(StoreError::NotFound) => return Ok(Taken::Gone),
            // It may be deleted later.
            Err(error) if error.is_unanswered() => return Ok(Taken::Gone),
            Err(error) => {
                let whole = snapshotter.take(store, &temporary_path).is_ok_and(|now| now == held);
                if whole && rename(context, store, &temporary_path, path).is_ok() {
                    return Ok(Taken::Stays(Some(error)));
                }
                return Ok(Taken::Gone);
            }
        },
        Ok(_) => None,
        Err(error) => Some(error),
    };
    match put_back(context, store, &temporary_path, path) {
        Ok(()) => Ok(Taken::Stays(reason)),
        Err(error) => Err(lost_sight(path, &temporary_path, error)),
    }
}

/// Puts back what was moved away. If its path is now occupied, it gets a visible name in the root.
fn put_back(
    context: &Context,
    store: &dyn Store,
    temporary_path: &MemoryPath,
    path: &MemoryPath,
) -> Result<(), StoreError> {
    let mut last = Ok(());
    for _ in 0..PUT_BACK_ATTEMPTS {
        match rename(context, store, temporary_path, path) {
            Ok(()) => return Ok(()),
            Err(Stopped::Before(StoreError::AlreadyExists | StoreError::NotADirectory)) => {
                return put_beside(context, store, temporary_path);
            }
            // Asked again, the store would have two of them to do.
            Err(stopped) if stopped.error().is_unanswered() => return Err(stopped.into_error()),
            Err(stopped) => last = Err(stopped.into_error()),
        }
    }
    last
}

fn put_beside(
    context: &Context,
    store: &dyn Store,
    temporary_path: &MemoryPath,
) -> Result<(), StoreError> {
    let number =
        temporary_path.name().and_then(|name| name.strip_prefix(MOVING)).unwrap_or_default();
    let beside = MemoryPath::root().join(&format!("moved-{number}"));
    let beside = beside.map_err(|_| StoreError::NameTooLong)?;
    rename(context, store, temporary_path, &beside).map_err(Stopped::into_error)?;
    let problem = format!("something new is there; what it held is at {beside} now");
    Err(StoreError::failed("renaming", problem))
}

fn lost_sight(path: &MemoryPath, temporary_path: &MemoryPath, error: StoreError) -> StoreError {
    StoreError::failed(format!("moving {path} to {temporary_path} and back"), error)
}

/// A unique hidden name.
pub(super) fn temporary_path() -> Result<MemoryPath, StoreError> {
    let number = RandomState::new().hash_one(process::id());
    MemoryPath::root().join(&format!("{MOVING}{number:016x}")).map_err(|_| StoreError::NameTooLong)
}
