//! The types of `expire`.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use memdir::StoreError as CoreStoreError;
use memdir::policy::expiry::Progress;

use crate::error::MemdirError;
use crate::results::{Expired, ExpiryProgress};
use crate::store::StoreError;

/// Receives the progress of an expiry.
#[uniffi::export(rust, foreign)]
pub trait ExpiryWatch: Send + Sync {
    /// Return true to continue. If it returns false or throws, the expiry stops; files that are
    /// already removed stay removed.
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
