//! [`Known`]: the state of the record when the store last read it. Also reads, creates and changes the record.

use std::sync::{Arc, PoisonError};

use memdir_store::error::{ConfigError, Error};
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::{Context, InContext, Mutation, Splice, Store, StoreError};

use super::Encrypted;
use super::key::KeyDeriver;
use super::record::Record;
use super::renames::Rename;
use super::ring::Ring;

/// Changes a record. It gets the key ring and the renames in the record.
type RecordChange<'c> = dyn FnMut(&mut Record, &Ring, Vec<Rename>) -> Result<(), StoreError> + 'c;

/// The record when it was last read.
pub(super) struct Known {
    bytes: Vec<u8>,
    pub(super) ring: Ring,
    pub(super) renames: Vec<Rename>,
}

impl Encrypted {
    /// Reads the record for the first time, or creates it.
    pub(super) fn first(&self, context: &Context) -> Result<Arc<Known>, Error> {
        let inner = InContext::new(&*self.inner, context);
        let bytes = match inner.read(&self.record) {
            Err(StoreError::NotFound) => {
                make(&inner, &self.record, &self.deriver, self.encrypt_names)?
            }
            read => read.map_err(Error::Store)?,
        };
        let Some(known) = Known::read(bytes, &self.deriver).map_err(Error::Store)? else {
            return Err(ConfigError::from(
                "the store is encrypted under another key or passphrase",
            )
            .about("encryption_key")
            .into());
        };
        if self.encrypt_names && known.ring.names.is_none() {
            return Err(ConfigError::from(
                "the store's names are not encrypted, and stay so: copy its files into ",
            )
            .and("a new one")
            .about("encrypt_names")
            .into());
        }
        let known = self.set_known(known);
        self.finish_abandoned(&known);
        Ok(known)
    }

    fn set_known(&self, known: Known) -> Arc<Known> {
        let known = Arc::new(known);
        let mut place = self.known.write().unwrap_or_else(PoisonError::into_inner);
        *place = Some(Arc::clone(&known));
        known
    }

    /// The cached record.
    pub(super) fn known(&self) -> Result<Arc<Known>, StoreError> {
        self.known_in(&Context::new())
    }

    /// As [`known`](Self::known), for a call that can be cancelled while the record is read for the first time.
    pub(super) fn known_in(&self, context: &Context) -> Result<Arc<Known>, StoreError> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        match known {
            Some(known) => Ok(known),
            None => self.first(context).map_err(|error| match error {
                Error::Store(error) => error.unchanged(),
                other => StoreError::failed("opening the encrypted store", other).unchanged(),
            }),
        }
    }

    /// Reads the current record; `None` if it has not changed since it was last read.
    fn read_record(&self, context: &Context, known: &Known) -> Result<Option<Known>, StoreError> {
        let bytes = self.inner.read_in(context, &self.record).map_err(without_record)?;
        if known.bytes == bytes {
            return Ok(None);
        }
        let new = Known::read(bytes, &self.deriver)?.ok_or_else(key_changed)?;
        if new.ring.store != known.ring.store {
            return Err(StoreError::failed(
                "reading the store's record",
                "it belongs to another store",
            ));
        }
        Ok(Some(new))
    }

    /// Reads the current record and caches it. An error means that nothing was changed.
    pub(super) fn reload(&self, context: &Context) -> Result<Arc<Known>, StoreError> {
        let known = self.known_in(context)?;
        let new = self.read_record(context, &known).map_err(StoreError::unchanged)?;
        Ok(new.map_or(known, |new| self.set_known(new)))
    }

    /// Changes the record atomically: no other writer can change it in between.
    pub(super) fn change(
        &self,
        context: &Context,
        change: &mut RecordChange<'_>,
    ) -> Result<(), StoreError> {
        let mut done = Ok(());
        let mut changed = |bytes: &[u8]| {
            let mut record = Record::parse(bytes)?;
            let (_, ring) = record.open(&self.deriver)?.ok_or_else(key_changed)?;
            let renames = record.renames(&ring)?;
            change(&mut record, &ring, renames)?;
            Ok(Splice { range: 0..bytes.len(), text: record.to_bytes()? })
        };
        let mut edit = |bytes: &[u8]| match changed(bytes) {
            Ok(splice) => {
                done = Ok(());
                Some(splice)
            }
            Err(error) => {
                done = Err(error);
                None
            }
        };
        let update = Mutation::Update { path: &self.record, edit: &mut edit };
        let updated = self.inner.mutate(context, update);
        updated.map_err(without_record)?;
        done
    }
}

/// Creates the record of a new store and returns it. If another process was faster, returns the record of that process.
fn make(
    inner: &dyn Store,
    path: &MemoryPath,
    deriver: &KeyDeriver,
    encrypt_names: bool,
) -> Result<Vec<u8>, Error> {
    if !inner.list(&MemoryPath::root()).map_err(Error::Store)?.is_empty() {
        // Another process may have created the store and written files since the record was missing.
        return inner.read(path).map_err(|error| match error {
            StoreError::NotFound => ConfigError::from(
                "the store holds files that are not encrypted: a key is for a new, ",
            )
            .and("empty store, into which files can be copied")
            .about("encryption_key")
            .into(),
            other => Error::Store(other),
        });
    }
    let made = || {
        let bytes = Record::new(deriver, &Ring::new(encrypt_names)?)?.to_bytes()?;
        match inner.write(path, &bytes, OnExisting::Error) {
            Ok(()) => Ok(bytes),
            Err(StoreError::AlreadyExists) => inner.read(path),
            Err(error) => Err(error),
        }
    };
    made().map_err(Error::Store)
}

impl Known {
    /// `None` if the record is for other keys.
    fn read(bytes: Vec<u8>, deriver: &KeyDeriver) -> Result<Option<Self>, StoreError> {
        let record = Record::parse(&bytes)?;
        let Some((_, ring)) = record.open(deriver)? else { return Ok(None) };
        let renames = record.renames(&ring)?;
        Ok(Some(Self { bytes, ring, renames }))
    }
}

fn key_changed() -> StoreError {
    StoreError::failed(
        "reading the store's record",
        "the store's key was changed: open it anew with the new one",
    )
}

fn without_record(error: StoreError) -> StoreError {
    match error {
        StoreError::NotFound | StoreError::IsADirectory => {
            StoreError::failed("reading the store's record", "it is gone")
        }
        other => other,
    }
}
