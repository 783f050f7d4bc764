//! Converts an error of the kernel into a condition or failure of the store.

use std::io;

use memdir_store::StoreError;
use windows_sys::Win32::Foundation::{
    RtlNtStatusToDosError, STATUS_ACCESS_DENIED, STATUS_CANNOT_DELETE, STATUS_DELETE_PENDING,
    STATUS_DIRECTORY_NOT_EMPTY, STATUS_DISK_FULL, STATUS_FILE_IS_A_DIRECTORY,
    STATUS_MEDIA_WRITE_PROTECTED, STATUS_NAME_TOO_LONG, STATUS_NO_SUCH_FILE,
    STATUS_NOT_A_DIRECTORY, STATUS_NOT_SAME_DEVICE, STATUS_OBJECT_NAME_COLLISION,
    STATUS_OBJECT_NAME_INVALID, STATUS_OBJECT_NAME_NOT_FOUND, STATUS_OBJECT_PATH_NOT_FOUND,
    STATUS_QUOTA_EXCEEDED, STATUS_REPARSE_POINT_ENCOUNTERED, STATUS_SHARING_VIOLATION,
    STATUS_STOPPED_ON_SYMLINK,
};

use super::handle::Status;

pub(super) fn condition(operation: &'static str, status: Status) -> StoreError {
    match status.0 {
        STATUS_OBJECT_NAME_NOT_FOUND
        | STATUS_OBJECT_PATH_NOT_FOUND
        | STATUS_NO_SUCH_FILE
        // Another process has just deleted it.
        | STATUS_DELETE_PENDING => StoreError::NotFound,
        STATUS_OBJECT_NAME_COLLISION | STATUS_DIRECTORY_NOT_EMPTY => StoreError::AlreadyExists,
        STATUS_FILE_IS_A_DIRECTORY => StoreError::IsADirectory,
        STATUS_NOT_A_DIRECTORY => StoreError::NotADirectory,
        STATUS_REPARSE_POINT_ENCOUNTERED | STATUS_STOPPED_ON_SYMLINK => StoreError::Symlink,
        STATUS_NAME_TOO_LONG | STATUS_OBJECT_NAME_INVALID => StoreError::NameTooLong,
        STATUS_ACCESS_DENIED
        | STATUS_CANNOT_DELETE
        | STATUS_MEDIA_WRITE_PROTECTED
        | STATUS_NOT_SAME_DEVICE
        // Another program has it open without sharing it.
        | STATUS_SHARING_VIOLATION => StoreError::PermissionDenied,
        STATUS_DISK_FULL | STATUS_QUOTA_EXCEEDED => StoreError::Full,
        _ => StoreError::failed(operation, as_io(status)),
    }
}

#[allow(unsafe_code, reason = "std has no conversion of the kernel's codes")]
pub(super) fn as_io(status: Status) -> io::Error {
    // SAFETY: the call takes a number and returns one.
    let code = unsafe { RtlNtStatusToDosError(status.0) };
    io::Error::from_raw_os_error(i32::try_from(code).unwrap_or(i32::MAX))
}

/// Lets a status of the kernel be the cause of a failure.
impl From<Status> for std::io::Error {
    fn from(status: Status) -> Self {
        as_io(status)
    }
}
