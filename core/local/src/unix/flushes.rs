//! Flushes a whole file system with one call, on Linux, where that is as good as a flush of each file.

use memdir_store::StoreError;
use rustix::fd::AsFd;

/// With fewer files than this, a flush of each file is cheaper. `syncfs` also flushes the data of other programs.
#[cfg(target_os = "linux")]
const ENOUGH: usize = 16;

/// Whether [`flush_together`] should flush this number of files on the file system of `directory`.
///
/// `syncfs` reports errors of writing since Linux 5.8. Network file systems, those in user space and overlays may report success
/// although data is not on a disk, so they are excluded.
#[cfg(target_os = "linux")]
pub(super) fn can_flush_together(directory: impl AsFd, files: usize) -> bool {
    use super::nowait::is_on_one_disk;
    use std::sync::OnceLock;

    static REPORTS_ERRORS: OnceLock<bool> = OnceLock::new();
    let reports_errors = || {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        is_at_least(&release, (5, 8))
    };
    files >= ENOUGH && *REPORTS_ERRORS.get_or_init(reports_errors) && is_on_one_disk(directory)
}

/// Whether the release of a kernel, such as `6.1.0-13-amd64`, is at least this version.
#[cfg(target_os = "linux")]
fn is_at_least(release: &str, version: (u32, u32)) -> bool {
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor) >= version,
        _ => false,
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn can_flush_together(_: impl AsFd, _: usize) -> bool {
    false
}

/// Writes everything on the file system to its disk.
#[cfg(target_os = "linux")]
pub(super) fn flush_together(directory: impl AsFd) -> Result<(), StoreError> {
    rustix::fs::syncfs(directory).map_err(|errno| {
        StoreError::failed("flushing the file system", std::io::Error::from(errno))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn flush_together(_: impl AsFd) -> Result<(), StoreError> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_a_kernel_is_read_from_its_release() {
        for (release, expected) in [
            ("5.8.0", true),
            ("5.10.0-1-amd64", true),
            ("6.1", true),
            ("10.0.0", true),
            ("5.7.19", false),
            ("4.19.0", false),
            ("5", false),
            ("5.x", false),
            ("", false),
            ("linux", false),
            ("99999999999.1", false),
        ] {
            assert_eq!(is_at_least(release, (5, 8)), expected, "{release}");
        }
    }
}
