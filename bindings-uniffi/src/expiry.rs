//! The types of `expire`.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir::StoreError as CoreStoreError;
use memdir::policy::expiry::Progress;

use crate::error::MemdirError;
use crate::store::StoreError;

/// A file that was removed because nobody used it.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Expired {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: i64,
    /// Its last use: the later of its last change and its last recorded access.
    pub last_used: SystemTime,
}

impl From<memdir::Expired> for Expired {
    fn from(file: memdir::Expired) -> Self {
        let path = file.path.as_str().to_owned();
        Self { path, bytes: number(file.bytes), last_used: file.last_used }
    }
}

/// The progress of an expiry.
#[derive(uniffi::Record, Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpiryProgress {
    /// The files that were scanned.
    pub files: i64,
    /// Those of them that were removed, or would be.
    pub removed: i64,
}

impl From<Progress> for ExpiryProgress {
    fn from(progress: Progress) -> Self {
        Self { files: number(progress.files), removed: number(progress.removed) }
    }
}

pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Gets the progress of an expiry.
#[uniffi::export(rust, foreign)]
pub trait ExpiryWatch: Send + Sync {
    /// Returns whether the expiry goes on. If it returns false or throws, the expiry stops; files
    /// that are already removed stay removed.
    fn scanned(&self, progress: ExpiryProgress) -> Result<bool, StoreError>;
}

pub(crate) fn expire(
    memory: &memdir::Memory,
    older_than: Duration,
    dry_run: bool,
    watch: Option<Arc<dyn ExpiryWatch>>,
) -> Result<Vec<Expired>, MemdirError> {
    let mut thrown = None;
    let go_on = move |progress: Progress| match &watch {
        None => Ok(true),
        Some(watch) => watch.scanned(progress.into()),
    };
    let expired = memory.expire(older_than, dry_run, &mut |progress| match go_on(progress) {
        Ok(true) => ControlFlow::Continue(()),
        Ok(false) => ControlFlow::Break(()),
        Err(failure) => {
            thrown = Some(failure);
            ControlFlow::Break(())
        }
    });
    match thrown {
        Some(failure) => Err(CoreStoreError::failed("expiring", failure).into()),
        None => Ok(expired?.into_iter().map(Expired::from).collect()),
    }
}
