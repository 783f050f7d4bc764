//! The times of a file. The last write is the file system's own time. The last access is stored in an
//! extended attribute, because many mounts do not update the file system's access time, and backups and
//! searches set it, too.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use memdir_store::micros;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{OFlags, Stat};
use rustix::io::Errno;

use super::beneath::open_child;

/// The types of `Stat`'s fields differ between systems; some need no conversion.
macro_rules! time {
    ($seconds:expr, $fraction:expr) => {{
        #[allow(clippy::useless_conversion, reason = "only on some systems")]
        let parts = (i64::try_from($seconds).ok(), u32::try_from($fraction).ok());
        parts.0.zip(parts.1).and_then(|(seconds, fraction)| time(seconds, fraction))
    }};
}

/// When the content was last written.
pub(super) fn modified(stat: &Stat) -> Option<SystemTime> {
    time!(stat.st_mtime, stat.st_mtime_nsec)
}

/// When the content, the mode or the name of the file was last changed.
pub(super) fn changed(stat: &Stat) -> Option<SystemTime> {
    time!(stat.st_ctime, stat.st_ctime_nsec)
}

/// `None` if the time is out of range.
fn time(seconds: i64, fraction: u32) -> Option<SystemTime> {
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    second?.checked_add(Duration::from_nanos(fraction.into()))
}

/// Nanoseconds since 1970, as a number for comparison only.
pub(super) fn number(time: Option<SystemTime>) -> u64 {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    match time.map(|time| time.duration_since(SystemTime::UNIX_EPOCH)) {
        None => u64::MAX,
        Some(Ok(since)) => nanos(since),
        Some(Err(before)) => !nanos(before.duration()),
    }
}

/// Sets the time of the last write. The file can be open for reading only, but must belong to us.
pub(super) fn set_modified(file: &File, time: SystemTime) -> std::io::Result<()> {
    file.set_times(FileTimes::new().set_modified(time))
}

/// Microseconds since 1970 as decimal text, which other programs can read.
const ACCESSED: &str = "user.memdir.accessed";

/// Whether the file system supports the attribute.
pub(super) fn tracks_access(file: impl AsFd) -> bool {
    matches!(attribute::get(file, ACCESSED), Ok(_) | Err(attribute::MISSING))
}

/// `None` if no access was recorded, or the attribute cannot be read.
pub(super) fn accessed(file: impl AsFd) -> Option<SystemTime> {
    let text = attribute::get(file, ACCESSED).ok()?;
    micros::time(std::str::from_utf8(&text).ok()?.parse().ok()?)
}

/// As [`accessed`], for the file of this name in a directory.
pub(super) fn accessed_in(directory: BorrowedFd<'_>, name: Option<&str>) -> Option<SystemTime> {
    // If the file is replaced by a FIFO meanwhile, the flags keep the call from blocking.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    accessed(open_child(directory, name?, flags).ok()?)
}

/// Records an access. The file can be open for reading only, but must be writable for us.
pub(super) fn record_access(file: impl AsFd, time: SystemTime) -> Result<(), Errno> {
    attribute::set(file, ACCESSED, micros::of(time).to_string().as_bytes())
}

/// Extended attributes, on systems with a supported interface.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attribute {
    use super::{AsFd, Errno};
    use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};

    #[cfg(not(target_vendor = "apple"))]
    pub(super) const MISSING: Errno = Errno::NODATA;
    #[cfg(target_vendor = "apple")]
    pub(super) const MISSING: Errno = Errno::NOATTR;

    pub(super) fn get(file: impl AsFd, name: &str) -> Result<Vec<u8>, Errno> {
        // Long enough for any number. A longer value was not written by memdir.
        let mut value = [0; 32];
        let read = fgetxattr(file, name, &mut value)?;
        Ok(value.get(..read).unwrap_or_default().to_vec())
    }

    pub(super) fn set(file: impl AsFd, name: &str, value: &[u8]) -> Result<(), Errno> {
        fsetxattr(file, name, value, XattrFlags::empty())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod attribute {
    use super::{AsFd, Errno};

    pub(super) const MISSING: Errno = Errno::NOENT;

    pub(super) fn get(_: impl AsFd, _: &str) -> Result<Vec<u8>, Errno> {
        Err(Errno::NOTSUP)
    }

    pub(super) fn set(_: impl AsFd, _: &str, _: &[u8]) -> Result<(), Errno> {
        Err(Errno::NOTSUP)
    }
}
