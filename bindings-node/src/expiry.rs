//! The types of `expire`.

use memdir::Expired;
use memdir::policy::expiry::Progress;
use napi_derive::napi;

use crate::entry::to_millis;
use crate::progress::number;

/// A file that was removed because nobody used it.
#[napi(object)]
pub(crate) struct ExpiredFile {
    /// Its path.
    pub path: String,
    /// Its size in bytes.
    pub bytes: i64,
    /// Its last use, in milliseconds since 1970.
    pub last_used: f64,
}

impl From<Expired> for ExpiredFile {
    fn from(file: Expired) -> Self {
        Self {
            path: file.path.as_str().to_owned(),
            bytes: number(file.bytes),
            last_used: to_millis(file.last_used),
        }
    }
}

/// The progress of an expiry.
#[napi(object)]
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
