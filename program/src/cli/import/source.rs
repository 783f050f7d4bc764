//! Opens the source of an import, depending on its kind.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::files::{Files, Source};
use super::left_out::LeftOut;
use super::{refuse_overlap, tar_file};
use crate::cli::Failure;
use crate::cli::archive::{at, shown};
use crate::cli::fixed_files::FixedFiles;
use crate::cli::stores::StoreArgument;
use memdir::path::{MemoryPath, is_hidden};
use memdir::store::{Entry, LocalDirectory, Store, StoreError};

pub(super) fn open(path: &Path, argument: &StoreArgument) -> Result<Source, Failure> {
    let shown = shown(path);
    let failed = |error: io::Error| Failure::Store(format!("{shown} cannot be read: {error}"));
    let metadata = fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        refuse_overlap(argument, path)?;
        return directory(path).map_err(|error| Failure::Store(format!("{shown}: {error}")));
    }
    if !metadata.is_file() {
        return Err(Failure::Refused(format!(
            "{shown} is neither a file nor a directory: import a directory, a text file or a tar file"
        )));
    }
    let mut file = File::open(path).map_err(failed)?;
    let mut head = Vec::new();
    (&mut file).take(512).read_to_end(&mut head).map_err(failed)?;
    if let Some(kind) = compression(&head) {
        let advice = format!("{shown} is compressed ({kind}): decompress it first");
        return Err(Failure::Refused(advice));
    }
    let is_named_so = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("tar"));
    if is_named_so || head.get(257..262) == Some(b"ustar") {
        let opened = tar_file::open(file);
        return opened.map_err(|problem| match problem {
            tar_file::Unreadable::Io(error) => failed(error),
            tar_file::Unreadable::Damaged(what) => Failure::Refused(format!("{shown}: {what}")),
        });
    }
    single(path, file, metadata.len()).ok_or_else(|| {
        Failure::Refused(format!(
            "{shown} has a name that no path of a memory can have: rename it first"
        ))
    })
}

/// The program that compressed a file, by its first bytes.
fn compression(head: &[u8]) -> Option<&'static str> {
    let kinds: [(&[u8], &str); 5] = [
        (b"\x1f\x8b", "gzip"),
        (b"PK\x03\x04", "zip"),
        (b"\xfd7zXZ\0", "xz"),
        (b"BZh", "bzip2"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
    ];
    kinds.into_iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, kind)| kind)
}

/// The files below a directory. The store that reads them follows no links, and never leaves the directory.
fn directory(path: &Path) -> Result<Source, StoreError> {
    let store = LocalDirectory::open_read_only(path)?;
    let mut left_out = Vec::new();
    store.inspect(&mut |problem| {
        let is_below_hidden = problem.path.split('/').any(is_hidden);
        if problem.kind.is_beside() && !is_below_hidden {
            left_out.push(LeftOut::of_problem(&problem));
        }
    })?;
    Files::with(Box::new(store), left_out).beneath_memories().map(Source::Files)
}

/// One file; `None` if its name is not allowed in a memory.
fn single(path: &Path, file: File, size: u64) -> Option<Source> {
    let name = path.file_name()?.to_str()?;
    let path = MemoryPath::root().join(name).ok().filter(|path| !path.is_reserved())?;
    let file = Mutex::new(file);
    let read = move |_: &MemoryPath| {
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        at(&file, 0, size).map_err(|error| StoreError::failed("reading the file", error))
    };
    let entries = [Entry::file(path, size)];
    let store = Box::new(FixedFiles::new(entries, Box::new(read)));
    // The user named the file explicitly.
    Some(Source::Files(Files { with_hidden: true, is_known: true, ..Files::new(store) }))
}
