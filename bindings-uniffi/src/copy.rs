//! [`copy`]: copies everything from one store into another.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::ops::ControlFlow;
use std::sync::Arc;

use memdir::copy::{CopyError, Progress};
use memdir::{CopyOptions, OnExisting, StoreError as CoreStoreError};

use crate::error::MemdirError;
use crate::foreign_store::core_store;
use crate::results::{Copied, CopyProgress};
use crate::store::{Store, StoreError};

/// Receives the progress of a copy.
#[uniffi::export(rust, foreign)]
pub trait CopyWatch: Send + Sync {
    /// Called before each file. If it returns false or throws, the copy stops, and files that were copied
    /// before stay.
    fn copying(&self, progress: CopyProgress) -> Result<bool, StoreError>;
}

/// Copies everything from one store into another: contents, times, hidden files, empty directories, the history.
///
/// Nothing is ever deleted. The stores are compared first. For an existing file with the same content, only the
/// time is set. If a file exists with different content, nothing at all is copied, unless `overwrite` is true.
/// Everything that is written is read back and compared. After an interruption, the same call copies the rest.
/// If the history of the destination has changes that the source does not have, or the history of the source is
/// damaged, nothing is copied at all, unless `without_history` is true: then only the files are copied. The model
/// cannot call this.
///
/// Throws `Copy` if the destination has files with different content, the history cannot be copied, or `watch`
/// stopped the copy, `Store` if a store failed. Files that were copied before stay.
#[uniffi::export(default(overwrite = false, without_history = false, watch = None))]
pub fn copy(
    source: Arc<dyn Store>,
    destination: Arc<dyn Store>,
    overwrite: bool,
    without_history: bool,
    watch: Option<Arc<dyn CopyWatch>>,
) -> Result<Copied, MemdirError> {
    let mut how = CopyOptions::default();
    how.existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
    how.without_history = without_history;
    let mut thrown = None;
    let mut go_on = |progress: Progress<'_>| match &watch {
        None => ControlFlow::Continue(()),
        Some(watch) => match watch.copying(progress.into()) {
            Ok(true) => ControlFlow::Continue(()),
            Ok(false) => ControlFlow::Break(()),
            Err(failure) => {
                thrown = Some(failure);
                ControlFlow::Break(())
            }
        },
    };
    let copied = memdir::copy(&core_store(source), &core_store(destination), how, &mut go_on);
    match thrown {
        Some(failure) => Err(CoreStoreError::failed("copying", failure).into()),
        None => Ok(copied?.into()),
    }
}

impl From<CopyError> for MemdirError {
    fn from(error: CopyError) -> Self {
        let reason = error.to_string();
        let paths = error.paths().map(ToString::to_string).collect();
        match error {
            CopyError::Source { error, .. } | CopyError::Destination { error, .. } => {
                let kind = error.kind().into();
                Self::Store { reason, answer: Self::from(error).reply().content, kind }
            }
            _ => Self::Copy { reason, paths },
        }
    }
}
