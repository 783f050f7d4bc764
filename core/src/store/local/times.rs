//! When a file was last written, as the file system has it.

use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use rustix::fs::Stat;

/// `None` for what no clock shows.
pub(super) fn modified(stat: &Stat) -> Option<SystemTime> {
    // The fields' types differ from system to system; on some nothing is to be converted.
    #[allow(clippy::useless_conversion, reason = "only on some systems")]
    let (seconds, fraction) =
        (i64::try_from(stat.st_mtime).ok()?, u32::try_from(stat.st_mtime_nsec).ok()?);
    let whole = Duration::from_secs(seconds.unsigned_abs());
    let second = if seconds < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(whole)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(whole)
    };
    second?.checked_add(Duration::from_nanos(fraction.into()))
}

/// Works on a file that is open for reading, if it is ours.
pub(super) fn set_modified(file: &File, time: SystemTime) -> std::io::Result<()> {
    file.set_times(FileTimes::new().set_modified(time))
}
