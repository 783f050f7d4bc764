//! [`copy`]: copies everything from one store into another.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::ops::ControlFlow;
use std::sync::Arc;

use memdir::copy::{CopyError, Progress};
use memdir::{OnExisting, StoreError as CoreStoreError};

use crate::error::MemdirError;
use crate::foreign_store::core_store;
use crate::results::{Copied, CopyProgress};
use crate::store::{Store, StoreError};

/// Follows a copy.
#[uniffi::export(rust, foreign)]
pub trait CopyWatch: Send + Sync {
    /// Called before each file. If it returns false or throws, the copy ends there, and what was copied
    /// before stays.
    fn copying(&self, progress: CopyProgress) -> Result<bool, StoreError>;
}

/// Copies everything from one store into another: contents, times, hidden files, empty directories.
///
/// Nothing is ever deleted. Both stores are compared first. A file that is there already with the same
/// content only gets its time. If one is there with another content, nothing is copied at all, unless `overwrite`
/// is true. What is written is read back and compared. After an interruption, the same call does the
/// rest. The model cannot call this.
///
/// Throws `Copy` if the destination holds something else or `watch` stopped the copy, `Store` if a store
/// failed. What was copied before stays.
#[uniffi::export(default(overwrite = false, watch = None))]
pub fn copy(
    source: Arc<dyn Store>,
    destination: Arc<dyn Store>,
    overwrite: bool,
    watch: Option<Arc<dyn CopyWatch>>,
) -> Result<Copied, MemdirError> {
    let existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
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
    let copied =
        memdir::copy(&*core_store(source), &*core_store(destination), existing, &mut go_on);
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
