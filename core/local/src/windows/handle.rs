//! Files and directories beneath an open directory: operations that std offers only for paths, implemented with
//! handles.
//!
//! The kernel resolves a path in one step, relative to a handle and with `OBJ_DONT_REPARSE`, so no symbolic link,
//! junction, mount point or other reparse point is ever followed. This is the only file of the store with unsafe
//! code. It consists of system calls whose buffers outlive the call.
#![allow(unsafe_code, reason = "std and the safe crates offer these calls by path only")]

use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::mem::{offset_of, size_of, zeroed};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::null;

use memdir_store::Fingerprint;
use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DELETE_ON_CLOSE, FILE_DIRECTORY_FILE, FILE_DISPOSITION_DELETE,
    FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE, FILE_DISPOSITION_INFORMATION_EX,
    FILE_DISPOSITION_POSIX_SEMANTICS, FILE_ID_BOTH_DIR_INFORMATION, FILE_NON_DIRECTORY_FILE,
    FILE_OPEN, FILE_OPEN_IF, FILE_OPEN_REPARSE_POINT, FILE_RENAME_IGNORE_READONLY_ATTRIBUTE,
    FILE_RENAME_INFORMATION, FILE_RENAME_POSIX_SEMANTICS, FILE_SYNCHRONOUS_IO_NONALERT,
    FileDispositionInformation, FileDispositionInformationEx, FileIdBothDirectoryInformation,
    FileRenameInformation, FileRenameInformationEx, NtCreateFile, NtQueryDirectoryFile,
    NtSetInformationFile,
};
use windows_sys::Win32::Foundation::{
    HANDLE, NTSTATUS, OBJ_CASE_INSENSITIVE, OBJ_DONT_REPARSE, STATUS_INVALID_INFO_CLASS,
    STATUS_INVALID_PARAMETER, STATUS_NO_MORE_FILES, STATUS_NO_SUCH_FILE, STATUS_NOT_IMPLEMENTED,
    STATUS_NOT_SUPPORTED, STATUS_SUCCESS, UNICODE_STRING,
};
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, SetKernelObjectSecurity,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, DELETE, FILE_ADD_FILE, FILE_ATTRIBUTE_DIRECTORY,
    FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_REPARSE_POINT, FILE_GENERIC_READ, FILE_GENERIC_WRITE,
    FILE_LIST_DIRECTORY, FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ,
    FILE_SHARE_WRITE, FILE_TRAVERSE, FILE_WRITE_ATTRIBUTES, GetFileInformationByHandle,
    SYNCHRONIZE, WRITE_DAC,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

/// The status of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(pub(super) NTSTATUS);

/// The purpose of a handle, which decides its access rights.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// To read a file's content and attributes, or a directory's entries.
    Read,
    /// To set a file's times, and to read it.
    SetTimes,
    /// To write a new file, and to rename it into place.
    Stage,
    /// As `Stage`, and to copy the access rights of another file.
    StageWithRights,
    /// To remove a file that no process has open.
    TakeOver,
    /// To set the time of an empty file.
    Note,
    /// To move or delete a file or directory.
    Move,
    /// To create or traverse a directory.
    Directory,
    /// To flush a directory after a change.
    Flush,
    /// To lock out other writers. The file is removed when its last handle is closed, even if its process is killed.
    Lock,
}

/// Whether the entry must exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Existing {
    Open,
    Create,
    OpenOrCreate,
}

/// Opens or creates `relative`, whose names are separated by backslashes, beneath `root`. If the last name is a
/// reparse point, the reparse point itself is opened. Its attributes show this.
pub(super) fn open(
    root: &File,
    relative: &[u16],
    purpose: Purpose,
    existing: Existing,
) -> Result<File, Status> {
    open_with(root, relative, purpose, existing, FILE_ATTRIBUTE_NORMAL)
}

/// As [`open`], with these attributes for a new file.
pub(super) fn open_with(
    root: &File,
    relative: &[u16],
    purpose: Purpose,
    existing: Existing,
    attributes: u32,
) -> Result<File, Status> {
    let (access, kind) = match purpose {
        Purpose::Read => (FILE_GENERIC_READ, 0),
        Purpose::SetTimes => (FILE_GENERIC_READ | FILE_WRITE_ATTRIBUTES, 0),
        Purpose::Stage => {
            (FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES | DELETE, FILE_NON_DIRECTORY_FILE)
        }
        Purpose::StageWithRights => (
            FILE_GENERIC_WRITE | FILE_READ_ATTRIBUTES | DELETE | WRITE_DAC,
            FILE_NON_DIRECTORY_FILE,
        ),
        Purpose::TakeOver => (DELETE | SYNCHRONIZE, FILE_NON_DIRECTORY_FILE),
        Purpose::Note => (
            FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES | DELETE | SYNCHRONIZE,
            FILE_NON_DIRECTORY_FILE,
        ),
        Purpose::Move => (DELETE | FILE_READ_ATTRIBUTES | SYNCHRONIZE, 0),
        Purpose::Directory => (
            FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | SYNCHRONIZE,
            FILE_DIRECTORY_FILE,
        ),
        Purpose::Flush => (FILE_ADD_FILE | SYNCHRONIZE, FILE_DIRECTORY_FILE),
        Purpose::Lock => (
            FILE_GENERIC_READ | FILE_GENERIC_WRITE | DELETE,
            FILE_NON_DIRECTORY_FILE | FILE_DELETE_ON_CLOSE,
        ),
    };
    let share = match purpose {
        // Refused while any process has the file open, so an opened file is a leftover.
        Purpose::TakeOver => 0,
        // Other handles never exclude access: readers must be able to open a file that is being replaced.
        _ => FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
    };
    let disposition = match existing {
        Existing::Open => FILE_OPEN,
        Existing::Create => FILE_CREATE,
        Existing::OpenOrCreate => FILE_OPEN_IF,
    };
    let bytes = u16::try_from(size_of_val(relative)).map_err(|_| Status(NAME_TOO_LONG))?;
    let name = UNICODE_STRING {
        Length: bytes,
        MaximumLength: bytes,
        Buffer: relative.as_ptr().cast_mut(),
    };
    let object = OBJECT_ATTRIBUTES {
        Length: size::<OBJECT_ATTRIBUTES>(),
        RootDirectory: raw(root),
        ObjectName: &raw const name,
        Attributes: OBJ_CASE_INSENSITIVE | OBJ_DONT_REPARSE,
        SecurityDescriptor: null(),
        SecurityQualityOfService: null(),
    };
    let mut handle: HANDLE = std::ptr::null_mut();
    let options = kind | FILE_OPEN_REPARSE_POINT | FILE_SYNCHRONOUS_IO_NONALERT;
    // SAFETY: every pointer refers to a local value, and the call does not write to the name.
    let status = unsafe {
        let mut result: IO_STATUS_BLOCK = zeroed();
        NtCreateFile(
            &raw mut handle,
            access,
            &raw const object,
            &raw mut result,
            null(),
            attributes,
            share,
            disposition,
            options,
            null(),
            0,
        )
    };
    checked(status)?;
    // SAFETY: the call has succeeded, so the handle is open and has no other owner.
    Ok(File::from(unsafe { OwnedHandle::from_raw_handle(handle) }))
}

/// Renames `file` to `name` in the directory `parent`. An existing file is replaced if `replace` is set; processes
/// that have it open keep its content.
pub(super) fn rename(
    file: &File,
    parent: &File,
    name: &[u16],
    replace: bool,
) -> Result<(), Status> {
    const NAME: usize = offset_of!(FILE_RENAME_INFORMATION, FileName);
    let bytes = size_of_val(name);
    // At least as large as the structure, as the kernel requires, and aligned like it.
    let whole = (NAME + bytes).max(size_of::<FILE_RENAME_INFORMATION>());
    let mut buffer = vec![0_u64; whole.div_ceil(8)];
    let information = buffer.as_mut_ptr().cast::<FILE_RENAME_INFORMATION>();
    let request = |flags: u32| {
        // SAFETY: the buffer is zeroed, aligned, and has room for the structure and the name after it.
        unsafe {
            (*information).Anonymous.Flags = flags;
            (*information).RootDirectory = raw(parent);
            (*information).FileNameLength = u32::try_from(bytes).unwrap_or(u32::MAX);
            std::ptr::copy_nonoverlapping(
                name.as_ptr(),
                information.cast::<u8>().add(NAME).cast::<u16>(),
                name.len(),
            );
        }
        (information.cast::<c_void>().cast_const(), u32::try_from(whole).unwrap_or(u32::MAX))
    };
    let replacing = u32::from(replace);
    // As on Unix, the right to change the directory is enough to replace a file.
    let flags = FILE_RENAME_POSIX_SEMANTICS | FILE_RENAME_IGNORE_READONLY_ATTRIBUTE;
    let (pointer, length) = request(replacing | flags);
    match set(file, pointer, length, FileRenameInformationEx) {
        Err(status) if status.is_unknown() => {
            let (pointer, length) = request(replacing);
            set(file, pointer, length, FileRenameInformation)
        }
        result => result,
    }
}

/// Deletes `file`: its name is free immediately, and processes that have it open keep its content.
pub(super) fn delete(file: &File) -> Result<(), Status> {
    let flags = FILE_DISPOSITION_INFORMATION_EX {
        Flags: FILE_DISPOSITION_DELETE
            | FILE_DISPOSITION_POSIX_SEMANTICS
            | FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE,
    };
    let pointer = (&raw const flags).cast::<c_void>();
    match set(
        file,
        pointer,
        size::<FILE_DISPOSITION_INFORMATION_EX>(),
        FileDispositionInformationEx,
    ) {
        Err(status) if status.is_unknown() => {
            // Without POSIX semantics, the file is deleted when its last handle is closed.
            let delete = 1_u8;
            set(file, (&raw const delete).cast::<c_void>(), 1, FileDispositionInformation)
        }
        result => result,
    }
}

/// The access control list of a file.
#[derive(PartialEq, Eq)]
pub(super) struct Rights(Vec<u64>);

impl Rights {
    /// The rights of a file; `None` if they cannot be read.
    pub(super) fn of(file: &File) -> Option<Self> {
        let mut descriptor = vec![0_u64; 64];
        for _ in 0..2 {
            let mut length = 0;
            let room = u32::try_from(size_of_val(&*descriptor)).unwrap_or(u32::MAX);
            // SAFETY: the buffer is ours, aligned for the structure, and has the given length.
            let read = unsafe {
                GetKernelObjectSecurity(
                    raw(file),
                    DACL_SECURITY_INFORMATION,
                    descriptor.as_mut_ptr().cast(),
                    room,
                    &raw mut length,
                )
            };
            if read != 0 {
                return Some(Self(descriptor));
            }
            descriptor = vec![0; (length as usize).div_ceil(size_of::<u64>())];
        }
        None
    }

    /// Sets these rights on another file, if that is allowed.
    pub(super) fn give(&self, file: &File) {
        let descriptor = self.0.as_ptr().cast_mut().cast();
        // SAFETY: the kernel has written a whole descriptor into the buffer, and this call only reads it.
        unsafe { SetKernelObjectSecurity(raw(file), DACL_SECURITY_INFORMATION, descriptor) };
    }
}

/// Identifies a file or directory among all existing ones: its volume and its file number.
pub(super) fn id(file: &File) -> io::Result<(u32, u64)> {
    // SAFETY: the structure is ours, and contains only numbers.
    let information = unsafe {
        let mut information: BY_HANDLE_FILE_INFORMATION = zeroed();
        if GetFileInformationByHandle(raw(file), &raw mut information) == 0 {
            return Err(io::Error::last_os_error());
        }
        information
    };
    let number = u64::from(information.nFileIndexHigh) << 32 | u64::from(information.nFileIndexLow);
    Ok((information.dwVolumeSerialNumber, number))
}

/// An entry of a directory.
#[derive(Debug)]
pub(super) struct DirectoryEntry {
    pub(super) name: Vec<u16>,
    /// The file number, the second part of [`id`].
    pub(super) id: u64,
    attributes: u32,
    pub(super) size: u64,
    /// The last write, in units of 100 nanoseconds since 1601.
    pub(super) written: u64,
    /// The last change of anything about the file, in the same units. 0 if the file system does not keep it.
    pub(super) changed: u64,
}

impl DirectoryEntry {
    pub(super) fn is_directory(&self) -> bool {
        self.attributes & FILE_ATTRIBUTE_DIRECTORY != 0
    }

    /// The fingerprint of a file's content. Not every file system supports each of these numbers.
    pub(super) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of_numbers(&[self.id, self.size, self.written, self.changed])
    }

    /// Whether it is a link, a junction, or any other reparse point.
    pub(super) fn is_link(&self) -> bool {
        self.attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0
    }
}

/// The entries of an open directory, without `.` and `..`.
pub(super) fn entries(directory: &File) -> Result<Vec<DirectoryEntry>, Status> {
    query(directory, None)
}

/// The entry that the kernel finds for a name. Its own name may differ in case, or be the long form of a short one.
pub(super) fn entry(directory: &File, name: &[u16]) -> Result<Option<DirectoryEntry>, Status> {
    // The kernel reuses the pattern of a handle's first query, so each query needs a new handle.
    let directory = open(directory, &[], Purpose::Directory, Existing::Open)?;
    Ok(query(&directory, Some(name))?.into_iter().next())
}

fn query(directory: &File, name: Option<&[u16]>) -> Result<Vec<DirectoryEntry>, Status> {
    let pattern = match name {
        None => None,
        Some(name) => {
            let bytes = u16::try_from(size_of_val(name)).map_err(|_| Status(NAME_TOO_LONG))?;
            let buffer = name.as_ptr().cast_mut();
            Some(UNICODE_STRING { Length: bytes, MaximumLength: bytes, Buffer: buffer })
        }
    };
    let pattern = pattern.as_ref().map_or(null(), std::ptr::from_ref);
    const NAME: usize = offset_of!(FILE_ID_BOTH_DIR_INFORMATION, FileName);
    let mut found = Vec::new();
    let mut buffer = vec![0_u64; 8 * 1024];
    let mut first = true;
    loop {
        // SAFETY: the buffer is ours, aligned for the structure, and has the given length. The pattern is a local
        // value, and the call does not write to it.
        let status = unsafe {
            let mut result: IO_STATUS_BLOCK = zeroed();
            NtQueryDirectoryFile(
                raw(directory),
                std::ptr::null_mut(),
                None,
                null(),
                &raw mut result,
                buffer.as_mut_ptr().cast(),
                u32::try_from(size_of_val(&*buffer)).unwrap_or(u32::MAX),
                FileIdBothDirectoryInformation,
                false,
                pattern,
                first,
            )
        };
        first = false;
        match status {
            STATUS_NO_MORE_FILES | STATUS_NO_SUCH_FILE => return Ok(found),
            status => checked(status)?,
        }
        let bytes = buffer.as_ptr().cast::<u8>();
        let mut at = 0;
        loop {
            // SAFETY: the kernel has written one entry at each of these offsets. Each is aligned to eight bytes and
            // followed by its name, all within the buffer.
            let (entry, name) = unsafe {
                let entry = &*bytes.add(at).cast::<FILE_ID_BOTH_DIR_INFORMATION>();
                let length = entry.FileNameLength as usize / size_of::<u16>();
                (entry, std::slice::from_raw_parts(bytes.add(at + NAME).cast::<u16>(), length))
            };
            if !matches!(name, [DOT] | [DOT, DOT]) {
                found.push(DirectoryEntry {
                    name: name.to_vec(),
                    id: u64::from_ne_bytes(entry.FileId.to_ne_bytes()),
                    attributes: entry.FileAttributes,
                    size: u64::try_from(entry.EndOfFile).unwrap_or(0),
                    written: u64::try_from(entry.LastWriteTime).unwrap_or(0),
                    changed: u64::try_from(entry.ChangeTime).unwrap_or(0),
                });
            }
            match entry.NextEntryOffset {
                0 => break,
                next => at += next as usize,
            }
        }
    }
}

const DOT: u16 = b'.' as u16;
const NAME_TOO_LONG: NTSTATUS = windows_sys::Win32::Foundation::STATUS_NAME_TOO_LONG;

impl Status {
    /// Whether this system does not support the call.
    fn is_unknown(self) -> bool {
        matches!(
            self.0,
            STATUS_INVALID_INFO_CLASS
                | STATUS_INVALID_PARAMETER
                | STATUS_NOT_IMPLEMENTED
                | STATUS_NOT_SUPPORTED
        )
    }
}

fn set(file: &File, information: *const c_void, length: u32, class: i32) -> Result<(), Status> {
    // SAFETY: the callers pass a structure of this class with the given length.
    let status = unsafe {
        let mut result: IO_STATUS_BLOCK = zeroed();
        NtSetInformationFile(raw(file), &raw mut result, information, length, class)
    };
    checked(status)
}

fn checked(status: NTSTATUS) -> Result<(), Status> {
    if status == STATUS_SUCCESS { Ok(()) } else { Err(Status(status)) }
}

fn raw(file: &File) -> HANDLE {
    file.as_raw_handle()
}

fn size<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}
