//! Changes the key of a store while it is in use.
//!
//! 1. Add a new master key to the record, sealed under the old and the new key.
//! 2. Encrypt every file again with the new master key.
//! 3. Remove the old key from the record.
//!
//! After a crash, both keys open the store, or after the last step only the new one. The same call then continues. The previous
//! master key stays on the key ring, only for decryption: a writer whose command ran during the whole change may still write a
//! file with it. The next rotation removes it.

use std::io::Read;
use std::sync::Arc;

use memdir_store::error::Error;
use memdir_store::path::MemoryPath;
use memdir_store::{Context, Entry, EntryKind, Node, Splice, Store, StoreError};

use super::Encrypted;
use super::file::{self, Unreadable};
use super::key::{EncryptionKey, KeyDeriver};
use super::record::{Record, Slot};
use super::ring::Generation;

/// Changes the key of the encrypted store in `inner`: encrypts every file again, and then removes `old`. Returns the number of
/// files that it encrypted. `renew_apart` encrypts data again that is stored outside the files.
///
/// The store can be in use meanwhile, with either key until the end. Programs that have it open with the old key get errors
/// from then on. If the change is interrupted, both keys open the store; call this again to continue. The key of encrypted
/// names stays the same.
///
/// # Errors
/// [`Error::Config`] if the store is not encrypted or neither key opens it, if both keys are the same, or if a change to a
/// third key is incomplete. [`Error::Store`] if `inner` fails, or a file is damaged: the error names its path, nothing is lost,
/// and the old key stays.
pub fn rekey_with(
    inner: &Arc<dyn Store>,
    old: &EncryptionKey,
    new: &EncryptionKey,
    renew_apart: &RenewApart<'_>,
) -> Result<u64, Error> {
    if old == new {
        return Err(Error::config("the new key is the same as the old one"));
    }
    let bytes = inner.read(&super::record::path()).map_err(|error| match error {
        StoreError::NotFound => Error::config("the store is not encrypted"),
        other => Error::Store(other),
    })?;
    let new_deriver = KeyDeriver::new(new);
    let begun = Record::parse(&bytes).and_then(|record| record.open(&new_deriver));
    let mut count = 0;
    if begun.map_err(Error::Store)?.is_none() {
        let store = Arc::new(Encrypted::open(Arc::clone(inner), old, false)?);
        let renewed: Arc<dyn Store> = Arc::<Encrypted>::clone(&store);
        // Files under the master key that is about to be removed.
        count += store.renew(&MemoryPath::root()).map_err(Error::Store)?;
        renew_apart(&renewed).map_err(Error::Store)?;
        store.begin(&new_deriver)?;
    }
    let store = Arc::new(Encrypted::open(Arc::clone(inner), new, false)?);
    let renewed: Arc<dyn Store> = Arc::<Encrypted>::clone(&store);
    let mut end = || {
        count += store.renew(&MemoryPath::root())?;
        renew_apart(&renewed)?;
        store.change(&Context::new(), &mut |record, ring, renames| {
            let mut slots = Vec::new();
            for slot in &record.slots {
                if slot.open(&store.deriver, record.store)?.is_some() {
                    slots.push(slot.clone());
                }
            }
            record.slots = slots;
            record.set_renames(ring, &renames)
        })?;
        // Files that were moved during the walk, or written by commands in progress.
        count += store.renew(&MemoryPath::root())?;
        Ok(count)
    };
    end().map_err(Error::Store)
}

/// Encrypts data again that this store has [sealed](memdir_store::Sealing) and that is not among its files, such as a history.
pub type RenewApart<'r> = dyn Fn(&Arc<dyn Store>) -> Result<(), StoreError> + 'r;

impl Encrypted {
    /// Adds a new master key to the record, sealed under the current key and under `new`.
    fn begin(&self, new: &KeyDeriver) -> Result<(), Error> {
        // Before the record is locked, because deriving a key from a passphrase takes time.
        let prepared =
            self.known().and_then(|known| Slot::new(new, &known.ring)).map_err(Error::Store)?;
        let mut another = false;
        let begun = self.change(&Context::new(), &mut |record, ring, renames| {
            another = false;
            for slot in &record.slots {
                if slot.open(new, record.store)?.is_some() {
                    // Another process makes the same change; both continue.
                    return Ok(());
                }
            }
            if record.slots.len() > 1 {
                another = true;
                return Ok(());
            }
            let ring = ring.advanced()?;
            let mut slots = vec![prepared.clone()];
            slots.append(&mut record.slots);
            for (slot, deriver) in slots.iter_mut().zip([new, &self.deriver]) {
                slot.fill(deriver, &ring)?;
            }
            record.slots = slots;
            record.set_renames(&ring, &renames)
        });
        begun.map_err(Error::Store)?;
        if another {
            return Err(Error::config(
                "the store's key is being changed to a third one: finish that first",
            ));
        }
        Ok(())
    }

    /// Encrypts every file below `directory` again that does not use the current master key.
    fn renew(&self, directory: &MemoryPath) -> Result<u64, StoreError> {
        let mut count = 0;
        let entries = match self.list(directory) {
            Err(StoreError::NotFound | StoreError::NotADirectory) => return Ok(0),
            entries => entries?,
        };
        for entry in entries {
            count += match entry.kind {
                EntryKind::Directory => self.renew(&entry.path)?,
                EntryKind::File(_) => match self.generation_at(&entry.path)? {
                    None => 0,
                    Some(Ok(generation)) if generation == self.known()?.ring.current.0 => 0,
                    // The history beside the files of a directory, which is sealed separately.
                    Some(Err(Unreadable::Foreign)) if entry.path.is_reserved() => 0,
                    Some(_) => self.renew_file(&entry)?,
                },
            };
        }
        Ok(count)
    }

    fn renew_file(&self, file: &Entry) -> Result<u64, StoreError> {
        // Writing the same content gives the file a new key.
        let same = &mut |_: &[u8]| Some(Splice { range: 0..0, text: Vec::new() });
        match self.update(&file.path, same) {
            Err(StoreError::NotFound | StoreError::IsADirectory) => Ok(0),
            updated => {
                updated?;
                self.keep_times(&file.path, file.into())?;
                Ok(1)
            }
        }
    }

    /// The generation of the master key in the file's header; `None` if the file does not exist.
    fn generation_at(
        &self,
        path: &MemoryPath,
    ) -> Result<Option<Result<Generation, Unreadable>>, StoreError> {
        let mut start = Vec::new();
        match self.inner.open(&self.at(path)?, 0) {
            Ok(Node::File(_, stream)) => {
                let read = stream.take(file::HEADER as u64).read_to_end(&mut start);
                read.map_err(|error| StoreError::failed(format!("reading {path}"), error))?;
            }
            Ok(Node::Directory(_)) | Err(StoreError::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        }
        Ok(Some(file::generation(&start)))
    }
}
