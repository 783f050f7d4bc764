//! The files in a tar file of another program.
//!
//! Nothing is unpacked: contents are read directly from the tar file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use tar::EntryType;

use super::files::{Files, Source};
use super::left_out::LeftOut;
use crate::cli::archive::at;
use crate::cli::fixed_files::FixedFiles;
use memdir::path::MemoryPath;
use memdir::store::{Entry, ProblemKind, StoreError};

const BLOCK: u64 = 512;

/// Why a tar file cannot be read.
pub(super) enum Unreadable {
    Io(io::Error),
    Damaged(String),
}

/// The contents of a tar file.
#[derive(Default)]
struct TarContents {
    /// The position and the size of each file's content. The last file of a name counts, as when it is unpacked.
    files: BTreeMap<MemoryPath, (u64, u64)>,
    /// Its directories. Some may be empty.
    directories: Vec<MemoryPath>,
    left_out: Vec<LeftOut>,
    /// `has_parts`: it has a part that only archives of memdir have. `has_others`: it has files that no archive has.
    has_parts: bool,
    has_others: bool,
    /// `has_manifest`: it has the manifest of an archive. `has_memories`: it has files of a memory.
    has_manifest: bool,
    has_memories: bool,
}

pub(super) fn open(file: File) -> Result<Source, Unreadable> {
    let found = scan(&file)?;
    // An archive with additional files is an archive, too. The reader of archives will reject it.
    if found.has_parts && (!found.has_others || (found.has_manifest && found.has_memories)) {
        return Ok(Source::Archive(file));
    }
    if found.files.is_empty() && found.left_out.is_empty() {
        return Err(Unreadable::Damaged("there are no files in it".to_owned()));
    }
    let places = found.files;
    let files = places.iter().map(|(path, (_, size))| Entry::file(path.clone(), *size));
    let directories = found.directories.into_iter().map(Entry::directory);
    let entries: Vec<Entry> = files.chain(directories).collect();
    let file = Mutex::new(file);
    let read = move |path: &MemoryPath| {
        let (start, size) = *places.get(path).ok_or(StoreError::NotFound)?;
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        at(&file, start, size).map_err(|error| StoreError::failed("reading the tar file", error))
    };
    let store = FixedFiles::new(entries, Box::new(read));
    if let Some(path) = store.contradiction() {
        let name = path.relative();
        return Err(Unreadable::Damaged(format!("{name} is both a file and a directory")));
    }
    let files = Files::with(Box::new(store), found.left_out).beneath_memories();
    files.map(Source::Files).map_err(|error| Unreadable::Damaged(error.to_string()))
}

/// Reads all headers.
fn scan(mut file: &File) -> Result<TarContents, Unreadable> {
    file.seek(SeekFrom::Start(0)).map_err(Unreadable::Io)?;
    let damaged = |error: io::Error| match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            Unreadable::Damaged(format!("this is no tar file, or is damaged: {error}"))
        }
        _ => Unreadable::Io(error),
    };
    let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 16, file));
    let (mut found, mut end) = (TarContents::default(), 0);
    for entry in archive.entries().map_err(damaged)? {
        let mut entry = entry.map_err(damaged)?;
        // These records contain names. The iterator of the entries skips records that it cannot read.
        if let Some(records) = entry.pax_extensions().map_err(damaged)? {
            for record in records {
                record.map_err(damaged)?;
            }
        }
        let (start, size) = (entry.raw_file_position(), entry.size());
        end = start.saturating_add(size).next_multiple_of(BLOCK);
        let kind = entry.header().entry_type();
        let bytes = entry.path_bytes().into_owned();
        // A hard link is another name of an earlier file.
        let other_name = entry.link_name_bytes().filter(|_| kind.is_hard_link());
        let linked = other_name.and_then(|name| found.place_of(&name));
        match linked {
            Some(place) => found.add(&bytes, EntryType::Regular, place),
            None => found.add(&bytes, kind, (start, size)),
        }
    }
    // After the last file there is a block of zeros. A tar file that was cut off between two files lacks it. An archive of memdir
    // that was cut off lacks its manifest.
    let mut last = Vec::new();
    file.seek(SeekFrom::Start(end)).map_err(Unreadable::Io)?;
    file.take(BLOCK).read_to_end(&mut last).map_err(Unreadable::Io)?;
    if last.len() as u64 != BLOCK || last.iter().any(|byte| *byte != 0) {
        return Err(Unreadable::Damaged("this is no tar file, or its end is missing".to_owned()));
    }
    Ok(found)
}

/// The name in a tar file without a leading `./` and without trailing slashes.
fn trimmed(mut name: &str) -> &str {
    while let Some(rest) = name.strip_prefix("./") {
        name = rest;
    }
    name.trim_end_matches('/')
}

impl TarContents {
    /// The position of an earlier file's content.
    fn place_of(&self, name: &[u8]) -> Option<(u64, u64)> {
        let path = path(trimmed(str::from_utf8(name).ok()?))?;
        self.files.get(&path).copied()
    }

    fn add(&mut self, bytes: &[u8], kind: EntryType, place: (u64, u64)) {
        if kind.is_pax_global_extensions() {
            return;
        }
        let shown = String::from_utf8_lossy(bytes);
        let name = trimmed(&shown);
        if kind.is_dir() && matches!(name, "" | ".") {
            return;
        }
        let is_part = is_part(name);
        self.has_parts |= is_part;
        let is_memory = name == "memories" || name.starts_with("memories/");
        self.has_others |= !is_part && !is_memory;
        self.has_manifest |= name == "manifest.jsonl";
        self.has_memories |= is_memory;
        let path = str::from_utf8(bytes).ok().and_then(|_| path(name));
        let problem = match (kind, path) {
            (EntryType::Symlink | EntryType::Link, _) => ProblemKind::Link,
            (EntryType::Directory, Some(path)) => {
                self.directories.push(path);
                return;
            }
            // A directory without a valid path needs no entry, because its files are listed themselves.
            (EntryType::Directory, None) => return,
            (EntryType::Regular | EntryType::Continuous, Some(path)) => {
                if self.files.insert(path, place).is_some() {
                    self.left_out.push(LeftOut::replaced(name));
                }
                return;
            }
            (EntryType::Regular | EntryType::Continuous, None) => ProblemKind::BadName,
            _ => ProblemKind::SpecialFile,
        };
        let bare = bytes.strip_prefix(b"./").unwrap_or(bytes);
        self.left_out.push(LeftOut::of_bytes(bare.strip_suffix(b"/").unwrap_or(bare), problem));
    }
}

/// Whether this name beside `memories` exists only in archives of memdir.
fn is_part(name: &str) -> bool {
    let record = name.strip_prefix("history/");
    name == "manifest.jsonl"
        || record
            .is_some_and(|record| record.len() == 6 && record.bytes().all(|c| c.is_ascii_digit()))
}

/// The path of a file; `None` for a name that leads outside, or that is not allowed in a memory.
fn path(name: &str) -> Option<MemoryPath> {
    if name.is_empty() || name.starts_with('/') {
        return None;
    }
    MemoryPath::parse(&format!("/memories/{name}")).ok().filter(|path| !path.is_root())
}
