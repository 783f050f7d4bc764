//! [`KeptFiles`]: the journal of any store, one hidden file for each record in the store itself.
//!
//! The files are in a directory with a reserved name at the root, which the [`Recorder`](super::Recorder) hides from
//! everybody else. So an encrypted store encrypts its history as well, and a store of six methods has one.

use std::sync::Arc;

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, Mutation, OnExisting, Store, StoreError};

use super::journal::{Appended, Journal, Loaded, Locked, Pen, Place, Rewrite, Stored};
use super::record::{Damaged, PREFIX, Prefix, Record};

/// The reserved name.
pub(super) use memdir_store::HISTORY as NAME;

/// Whether a name of the root is the reserved one, also on a file system that takes upper case for lower, or skips
/// characters that are not to be seen.
pub(super) fn is_reserved(name: &str) -> bool {
    name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase()).eq(NAME.chars())
}

/// The directory of the records.
pub(super) fn directory() -> MemoryPath {
    // It is a plain name.
    MemoryPath::root().join(NAME).unwrap_or_else(|_| MemoryPath::root())
}

pub(super) struct KeptFiles {
    store: Arc<dyn Store>,
    /// Whether the store calls an edit while it holds no lock.
    is_apart: bool,
}

impl KeptFiles {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        let is_apart = store.info().edits_apart;
        Self { store, is_apart }
    }

    fn path(id: HistoryId) -> Result<MemoryPath, StoreError> {
        directory().join(&id.to_string()).map_err(|_| StoreError::NameTooLong)
    }

    fn remove(&self, id: HistoryId) -> Result<(), StoreError> {
        match self.store.delete(&Self::path(id)?) {
            Err(StoreError::NotFound) => Ok(()),
            deleted => deleted,
        }
    }

    fn record(&self, context: &Context, path: &MemoryPath) -> Result<Record, StoreError> {
        Record::from_bytes(&self.store.read_in(context, path)?).map_err(damaged)
    }
}

fn damaged(error: Damaged) -> StoreError {
    StoreError::failed("reading the history", error).unchanged()
}

impl Journal for KeptFiles {
    fn append(&self, context: &Context, pen: Pen, record: &Record) -> Result<Appended, StoreError> {
        let bytes = record.to_bytes();
        let path = Self::path(record.header.id)?;
        let write = Mutation::WriteUnique { path: &path, content: &bytes };
        self.store.mutate(&context.separate(), write)?;
        Ok(Appended { len: bytes.len() as u64, is_next: true, pen, at: None })
    }

    /// Not by a file more: the next record says it.
    fn confirm(&self, _: HistoryId, _: Appended) -> bool {
        false
    }

    /// Also if the call is cancelled.
    fn withdraw(&self, _: &Context, id: HistoryId, appended: Appended) -> Result<Pen, StoreError> {
        self.remove(id).map(|()| appended.pen)
    }

    fn load(&self, context: &Context, loaded: &mut Loaded) -> Result<(), StoreError> {
        let listed = match self.store.list_in(context, &directory()) {
            Err(StoreError::NotFound) => Vec::new(),
            listed => listed?,
        };
        let name = |path: &MemoryPath| path.name().and_then(|name| name.parse::<HistoryId>().ok());
        let mut there: Vec<_> =
            listed.iter().filter_map(|entry| Some((name(&entry.path)?, &entry.path))).collect();
        there.sort();
        // Records that others withdrew, or removed for their age.
        let gone =
            |stored: &Stored| there.binary_search_by_key(&stored.header.id, |(id, _)| *id).is_err();
        let kept = loaded.records.len();
        loaded.records.retain(|stored| !gone(stored));
        if loaded.records.len() < kept {
            loaded.generation += 1;
        }
        let known: std::collections::HashSet<HistoryId> =
            loaded.records.iter().map(|stored| stored.header.id).collect();
        for (id, path) in there.into_iter().filter(|(id, _)| !known.contains(id)) {
            let bytes = match self.store.read_in(context, path) {
                Err(StoreError::NotFound) => continue,
                Err(StoreError::Cancelled) => return Err(StoreError::Cancelled),
                Err(error) if error.is_failure() => {
                    loaded.damaged.push(format!("the record {id}"));
                    continue;
                }
                read => read?,
            };
            let header = Prefix::read(&bytes).and_then(|prefix| {
                prefix.header(bytes.get(PREFIX..PREFIX + prefix.header).unwrap_or_default())
            });
            match header {
                Ok(header) if header.id == id => {
                    loaded.add(header, Place::default(), bytes.len() as u64);
                }
                _ => loaded.damaged.push(format!("the record {id}")),
            }
        }
        loaded.records.sort_by_key(|a| a.header.id);
        Ok(())
    }

    fn read(&self, context: &Context, stored: &Stored) -> Result<Record, StoreError> {
        self.record(context, &Self::path(stored.header.id)?)
    }

    fn rewrite(
        &self,
        _: &Locked,
        rewrite: &mut Rewrite<'_>,
        note: Option<&Record>,
    ) -> Result<(), StoreError> {
        let mut loaded = Loaded::default();
        self.load(&Context::new(), &mut loaded)?;
        let concerned = loaded.records.iter().filter(|stored| (rewrite.concerns)(&stored.header));
        for stored in concerned {
            let path = Self::path(stored.header.id)?;
            let record = match self.record(&Context::new(), &path) {
                // Withdrawn meanwhile, or damaged: it cannot be read anyway.
                Err(_) => continue,
                Ok(record) => record,
            };
            match (rewrite.change)(record.clone())? {
                None => self.remove(stored.header.id)?,
                Some(new) if new == record => {}
                Some(new) => self.store.write(&path, &new.to_bytes(), OnExisting::Overwrite)?,
            }
        }
        note.map_or(Ok(()), |note| self.append_alone(note))
    }

    /// The records are among the files. A store that clears file by file may be killed in the middle, or leave records that were
    /// appended meanwhile.
    fn erase(
        &self,
        _: &Context,
        remove_files: &mut dyn FnMut() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        remove_files()
    }

    fn is_apart(&self) -> bool {
        self.is_apart
    }

    fn is_cheap_to_follow(&self) -> bool {
        false
    }
}
