//! Writes an archive, one file at a time.

use std::fs::File;
use std::io::{BufWriter, Write};

use tar::{Builder, EntryType, Header};

use super::ArchiveError;
use super::manifest::{self, Part, digest};
use memdir::history::HistoryRecords;
use memdir::path::MemoryPath;
use memdir::store::Times;
use memdir::store::{EntryKind, Problem, Store, StoreError, micros};

/// The approximate size of a part with records, in bytes.
const PIECE: usize = 8 << 20;

/// The result of an export.
#[derive(Default)]
pub(super) struct Written {
    pub(super) files: u64,
    pub(super) bytes: u64,
    /// The number of empty directories.
    pub(super) directories: u64,
    /// The number of records of the history.
    pub(super) changes: u64,
    /// Entries that are not part of the memory, such as links.
    pub(super) left_out: Vec<Problem>,
}

pub(super) fn write(
    store: &dyn Store,
    carried: Option<&HistoryRecords>,
    to: &mut File,
) -> Result<Written, ArchiveError> {
    let mut written = Written::default();
    let left_out = &mut written.left_out;
    store
        .inspect(&mut |problem| {
            if problem.kind.is_beside() {
                left_out.push(problem);
            }
        })
        .map_err(|error| failed(&MemoryPath::root(), &error))?;
    let mut archive = Writer {
        store,
        archive: Builder::new(BufWriter::with_capacity(1 << 20, to)),
        parts: Vec::new(),
        written,
    };
    archive.directory(&MemoryPath::root())?;
    if let Some(carried) = carried {
        archive.history(carried)?;
    }
    let manifest = manifest::written(&archive.parts);
    archive.add(manifest::NAME, EntryType::Regular, &manifest, 0)?;
    archive.archive.into_inner()?.flush()?;
    Ok(archive.written)
}

fn failed(path: &MemoryPath, error: &StoreError) -> ArchiveError {
    ArchiveError::Store(format!("reading {path}: {error}").into())
}

struct Writer<'w> {
    store: &'w dyn Store,
    archive: Builder<BufWriter<&'w mut File>>,
    parts: Vec<Part>,
    written: Written,
}

impl Writer<'_> {
    fn directory(&mut self, path: &MemoryPath) -> Result<(), ArchiveError> {
        let mut entries = match self.store.list(path) {
            // The directory was removed just now.
            Err(StoreError::NotFound | StoreError::NotADirectory) if !path.is_root() => {
                return Ok(());
            }
            listed => listed.map_err(|error| failed(path, &error))?,
        };
        entries.retain(|entry| {
            let problem = Problem::of_reserved_name(entry);
            let is_kept = problem.is_none();
            self.written.left_out.extend(problem);
            is_kept
        });
        if entries.is_empty() {
            self.written.directories += u64::from(!path.is_root());
            let name = format!("{}/", name(path));
            self.part(&name, EntryType::Directory, &[], Times::default())?;
        }
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        for entry in entries {
            match entry.kind {
                EntryKind::Directory => self.directory(&entry.path)?,
                EntryKind::File(_) => self.file(&entry.path)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &MemoryPath) -> Result<(), ArchiveError> {
        let read = Times::of(self.store, path)
            .and_then(|times| self.store.read(path).map(|content| (times, content)));
        let (times, content) = match read {
            // The file was removed just now.
            Err(StoreError::NotFound | StoreError::IsADirectory) => return Ok(()),
            read => read.map_err(|error| failed(path, &error))?,
        };
        self.written.files += 1;
        self.written.bytes += content.len() as u64;
        self.part(name(path), EntryType::Regular, &content, times)
    }

    fn history(&mut self, carried: &HistoryRecords) -> Result<(), ArchiveError> {
        let (mut piece, mut pieces) = (Vec::new(), 0);
        for number in 0..carried.len() {
            let read = carried.read(number);
            piece.extend(read.map_err(|error| ArchiveError::Store(Box::new(error)))?);
            self.written.changes += 1;
            if piece.len() >= PIECE || number + 1 == carried.len() {
                pieces += 1;
                let name = format!("history/{pieces:06}");
                self.part(&name, EntryType::Regular, &piece, Times::default())?;
                piece.clear();
            }
        }
        Ok(())
    }

    fn part(
        &mut self,
        name: &str,
        kind: EntryType,
        content: &[u8],
        times: Times,
    ) -> Result<(), ArchiveError> {
        let (modified, accessed) = (times.modified.map(micros::of), times.accessed.map(micros::of));
        let seconds = modified.unwrap_or(0).max(0) / 1_000_000;
        self.add(name, kind, content, seconds.unsigned_abs())?;
        let (name, size, sha256) = (name.to_owned(), content.len() as u64, digest(content));
        self.parts.push(Part { name, size, sha256, modified, accessed });
        Ok(())
    }

    fn add(
        &mut self,
        name: &str,
        kind: EntryType,
        content: &[u8],
        seconds: u64,
    ) -> Result<(), ArchiveError> {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_mode(if kind.is_dir() { 0o700 } else { 0o600 });
        header.set_mtime(seconds);
        Ok(self.archive.append_data(&mut header, name, content)?)
    }
}

/// The name in the archive.
fn name(path: &MemoryPath) -> &str {
    path.as_str().trim_start_matches('/')
}
