//! Reads an archive: first all of it to check it, then each file when it is copied.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::ArchiveError;
use super::manifest::{self, Part, digest};
use crate::cli::fixed_files::FixedFiles;
use memdir::history::{HistoryRecords, HistoryRecordsBuilder};
use memdir::path::MemoryPath;
use memdir::store::{Entry, StoreError, micros};

/// A complete archive.
pub(super) struct Archive {
    file: Arc<Mutex<File>>,
    entries: Vec<Entry>,
    /// The position of each file's content, and its entry in the manifest.
    places: BTreeMap<MemoryPath, (u64, Part)>,
    records: HistoryRecordsBuilder,
    /// The position and the length of each record.
    record_places: Vec<(u64, usize)>,
}

impl Archive {
    /// Reads and checks the whole archive.
    pub(super) fn open(file: File) -> Result<Self, ArchiveError> {
        let found = scan(&file)?;
        let Some(manifest) = found.get(manifest::NAME) else {
            let none = "this is no archive of memdir, or its end is missing: there is no manifest";
            return Err(ArchiveError::Damaged(none.to_owned()));
        };
        let mut parts = manifest::read(&at(&file, manifest.at, manifest.size)?)?;
        let file = Arc::new(Mutex::new(file));
        let mut archive = Self {
            file: Arc::clone(&file),
            entries: Vec::new(),
            places: BTreeMap::new(),
            records: HistoryRecordsBuilder::default(),
            record_places: Vec::new(),
        };
        let file = file.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, found) in found.iter().filter(|(name, _)| *name != manifest::NAME) {
            let damaged = |what: &str| ArchiveError::Damaged(format!("{name} {what}"));
            let part = parts.remove(name).ok_or_else(|| damaged("is not in the manifest"))?;
            if (found.size, &found.sha256) != (part.size, &part.sha256) {
                return Err(damaged("is damaged"));
            }
            if name.strip_prefix("history/").is_some_and(|_| !found.is_directory) {
                let bytes = at(&file, found.at, found.size)?;
                let places = archive.records.add(&bytes).ok_or_else(|| damaged("is damaged"))?;
                let place =
                    |range: std::ops::Range<usize>| (found.at + range.start as u64, range.len());
                archive.record_places.extend(places.into_iter().map(place));
                continue;
            }
            let path = path(name.strip_suffix('/').unwrap_or(name))
                .ok_or_else(|| damaged("has a name that no memory has"))?;
            if found.is_directory {
                archive.entries.push(Entry::directory(path));
                continue;
            }
            let time = |micros: Option<i64>| micros.and_then(micros::time);
            let entry = Entry::file(path.clone(), found.size);
            let entry = entry.modified_at(time(part.modified)).accessed_at(time(part.accessed));
            archive.entries.push(entry);
            archive.places.insert(path, (found.at, part));
        }
        drop(file);
        if let Some(name) = parts.keys().next() {
            return Err(ArchiveError::Damaged(format!("{name} is missing")));
        }
        Ok(archive)
    }

    /// The files as a store, and the history if there is one.
    pub(super) fn into_parts(self) -> Result<(FixedFiles, Option<HistoryRecords>), ArchiveError> {
        let (file, places) = (Arc::clone(&self.file), self.places);
        let read = move |path: &MemoryPath| {
            let (start, part) = places.get(path).ok_or(StoreError::NotFound)?;
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            let failed = |error| StoreError::failed("reading the archive", error);
            let content = at(&file, *start, part.size).map_err(failed)?;
            let changed = || failed(io::Error::other("it was changed meanwhile"));
            if digest(&content) == part.sha256 { Ok(content) } else { Err(changed()) }
        };
        let files = FixedFiles::new(self.entries, Box::new(read));
        if let Some(path) = files.contradiction() {
            return Err(ArchiveError::Damaged(format!("{path} is both a file and a directory")));
        }
        let (file, places) = (self.file, self.record_places);
        let is_empty = places.is_empty();
        let carried = self.records.finish(Box::new(move |number| {
            let (start, len) = *places.get(number).ok_or(StoreError::NotFound)?;
            let file = file.lock().unwrap_or_else(PoisonError::into_inner);
            at(&file, start, len as u64)
                .map_err(|error| StoreError::failed("reading the archive", error))
        }));
        let twice = || ArchiveError::Damaged("a record of the history is there twice".to_owned());
        Ok((files, Some(carried.ok_or_else(twice)?).filter(|_| !is_empty)))
    }
}

/// An entry of the archive.
struct ArchiveEntry {
    at: u64,
    size: u64,
    sha256: String,
    is_directory: bool,
}

/// Reads the whole file once.
fn scan(mut file: &File) -> Result<BTreeMap<String, ArchiveEntry>, ArchiveError> {
    file.seek(SeekFrom::Start(0))?;
    let mut archive = tar::Archive::new(BufReader::with_capacity(1 << 20, file));
    let mut found = BTreeMap::new();
    let none = |error: io::Error| match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            ArchiveError::Damaged(format!("this is no archive of memdir, or is damaged: {error}"))
        }
        _ => ArchiveError::Archive(error),
    };
    for entry in archive.entries().map_err(none)? {
        let mut entry = entry.map_err(none)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(ArchiveError::Damaged(format!("{name} is neither a file nor a directory")));
        }
        let (at, mut hash) = (entry.raw_file_position(), Sha256::new());
        let mut window = vec![0; 64 * 1024];
        let mut size = 0;
        loop {
            match entry.read(&mut window).map_err(none)? {
                0 => break,
                read => {
                    hash.update(&window[..read]);
                    size += read as u64;
                }
            }
        }
        if size != entry.size() {
            return Err(ArchiveError::Damaged(format!("{name} is cut off")));
        }
        let sha256 = manifest::text(hash.finalize().as_slice());
        let is_directory = kind.is_dir();
        if found.insert(name.clone(), ArchiveEntry { at, size, sha256, is_directory }).is_some() {
            return Err(ArchiveError::Damaged(format!("{name} is there twice")));
        }
    }
    Ok(found)
}

/// Some bytes of a file.
pub(in crate::cli) fn at(mut file: &File, start: u64, size: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(size).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == size { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The path in the memory, if the name is exactly its canonical form.
fn path(name: &str) -> Option<MemoryPath> {
    let text = format!("/{name}");
    MemoryPath::parse(&text).ok().filter(|path| path.as_str() == text)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    /// An archive whose parts have these names, with a matching manifest.
    fn archive(
        names: &[(&str, tar::EntryType)],
    ) -> Result<(FixedFiles, Option<HistoryRecords>), String> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut parts = Vec::new();
        let mut add = |name: &str, kind: tar::EntryType, content: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(content.len() as u64);
            // The crate itself would reject some of these names.
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            builder.append(&header, content).unwrap();
        };
        for (name, kind) in names {
            let content = if kind.is_file() { &b"content"[..] } else { b"" };
            add(name, *kind, content);
            let (name, size, sha256) = ((*name).to_owned(), content.len() as u64, digest(content));
            parts.push(Part { name, size, sha256, modified: None, accessed: None });
        }
        parts.dedup();
        add(manifest::NAME, tar::EntryType::Regular, &manifest::written(&parts));
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&builder.into_inner().unwrap()).unwrap();
        Archive::open(file).and_then(Archive::into_parts).map_err(|error| match error {
            ArchiveError::Damaged(what) => what,
            ArchiveError::Archive(error) => error.to_string(),
            ArchiveError::Store(error) => error.to_string(),
        })
    }

    #[test]
    fn names_outside_of_a_memory_and_special_files_are_refused() {
        use tar::EntryType;
        let file = EntryType::Regular;
        assert!(archive(&[("memories/a", file), ("memories/b/", EntryType::Directory)]).is_ok());
        for (names, says) in [
            (&[("memories/../x", file)][..], "has a name that no memory has"),
            (&[("/etc/passwd", file)], "has a name that no memory has"),
            (&[("memories//a", file)], "has a name that no memory has"),
            (&[("memories/./a", file)], "has a name that no memory has"),
            (&[("memories/a\\b", file)], "has a name that no memory has"),
            (&[("memories/a\u{1b}", file)], "has a name that no memory has"),
            (&[("other/a", file)], "has a name that no memory has"),
            (&[("memories", file)], "both a file and a directory"),
            (&[("history/000001", file)], "history/000001 is damaged"),
            (&[("memories/a", EntryType::Symlink)], "neither a file nor a directory"),
            (&[("memories/a", EntryType::Link)], "neither a file nor a directory"),
            (&[("memories/a", EntryType::Fifo)], "neither a file nor a directory"),
            (&[("memories/a", file), ("memories/a", file)], "is there twice"),
            (&[("memories/a", file), ("memories/a/b", file)], "both a file and a directory"),
        ] {
            let refused = archive(names).err();
            assert!(
                refused.as_ref().is_some_and(|said| said.contains(says)),
                "{names:?} {refused:?}"
            );
        }
    }

    /// The internal files of another store have a meaning in that store. In a plain store, the record of an encrypted one would make
    /// the store look encrypted.
    #[test]
    fn reserved_names_are_not_imported() {
        use std::sync::Arc;

        use memdir::copy::{Plan, Source};
        use memdir::store::{Durability, InProcess, OnExisting, Store};
        use tar::EntryType;

        let reserved = [
            "memories/.memdir-encryption",
            "memories/.memdir-history/1",
            "memories/.MEMDIR-x",
            "memories/d/.memdir-encryption",
        ];
        let names = reserved.iter().chain(&["memories/d/a.md"]);
        let names: Vec<_> = names.map(|name| (*name, EntryType::Regular)).collect();
        let (files, _) = archive(&names).unwrap();
        let to: Arc<dyn Store> = Arc::new(InProcess::new());
        let mut go_on = |_: memdir::copy::Progress<'_>| std::ops::ControlFlow::Continue(());
        let from = Source::of(Arc::new(files), None);
        let plan = Plan::compare(from, &to, OnExisting::Error, &mut go_on).unwrap();
        let copied = plan.carry_out(&to, Durability::Full, &mut go_on).unwrap();
        assert_eq!((copied.files, copied.left_out.len()), (1, reserved.len()));
        let mut paths = Vec::new();
        to.files(&mut |entry| paths.push(entry.path.to_string())).unwrap();
        assert_eq!(paths, ["/memories/d/a.md"]);
    }
}
