//! [`RecordForm`]: how the header and the contents of a record are written: as they are, or encrypted.

use std::borrow::Cow;
use std::sync::Arc;

use memdir_store::{Sealing, Store, StoreError};

use super::packed::Packed;
use super::record::{Damaged, Header, Record};

#[derive(Clone)]
pub(super) enum RecordForm {
    /// The header is JSON.
    Plain,
    /// The same, sealed by this store. Header and contents are sealed apart, so the contents are read only if they are needed.
    Sealed(Arc<dyn Store>),
}

impl RecordForm {
    pub(super) fn pack<'r>(&self, record: &'r Record) -> Result<Packed<'r>, StoreError> {
        // A struct of texts and numbers always becomes JSON.
        let header = serde_json::to_vec(&record.header).unwrap_or_default();
        let contents = Cow::Borrowed(&record.contents[..]);
        Ok(match self {
            Self::Plain => Packed { header: Cow::Owned(header), contents },
            Self::Sealed(store) => {
                let sealing = sealing(&**store)?;
                let sealed = sealing.seal(&purpose(&record.header), &contents)?;
                Packed {
                    header: Cow::Owned(sealing.seal(HEADER, &header)?),
                    contents: Cow::Owned(sealed),
                }
            }
        })
    }

    /// The header in these bytes; `None` if they are damaged, or not in this form.
    pub(super) fn header(&self, bytes: &[u8]) -> Result<Option<Header>, StoreError> {
        let bytes = match self {
            Self::Plain => Cow::Borrowed(bytes),
            Self::Sealed(store) => match sealing(&**store)?.unseal(HEADER, bytes)? {
                Some(bytes) => Cow::Owned(bytes),
                None => return Ok(None),
            },
        };
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// The record in these bytes.
    pub(super) fn record(&self, packed: Packed<'_>) -> Result<Record, StoreError> {
        let damaged = || StoreError::damaged("reading the history", Damaged);
        let header = self.header(&packed.header)?.ok_or_else(damaged)?;
        let contents = match self {
            Self::Plain => packed.contents.into_owned(),
            Self::Sealed(store) => {
                let opened = sealing(&**store)?.unseal(&purpose(&header), &packed.contents)?;
                opened.ok_or_else(damaged)?
            }
        };
        Ok(Record { header, contents })
    }
}

const HEADER: &[u8] = b"header";

/// The contents belong to one header.
fn purpose(header: &Header) -> Vec<u8> {
    format!("contents of {}", header.id).into_bytes()
}

fn sealing(store: &dyn Store) -> Result<&dyn Sealing, StoreError> {
    store
        .sealing()
        .ok_or_else(|| StoreError::failed("encrypting the history", "the store has no key"))
}

impl Record {
    /// The record in its plain form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        RecordForm::Plain.pack(self).map(|packed| packed.to_bytes()).unwrap_or_default()
    }

    /// The record that `bytes` are in the plain form.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        let packed = Packed::from_bytes(bytes)?;
        RecordForm::Plain.record(packed).map_err(|_| Damaged)
    }
}
