//! [`RecordForm`]: how the header and the contents of a record are stored, either as plain bytes or encrypted.

use std::borrow::Cow;
use std::sync::Arc;

use memdir_store::{Sealing, Store, StoreError};

use super::packed::Packed;
use super::record::{Damaged, Header, Record};

#[derive(Clone)]
pub(super) enum RecordForm {
    /// The header is JSON.
    Plain,
    /// As plain, but sealed by this store. Header and contents are sealed separately, so the contents are read only if needed.
    Sealed(Arc<dyn Store>),
}

impl RecordForm {
    pub(super) fn pack<'r>(&self, record: &'r Record) -> Result<Packed<'r>, StoreError> {
        // Serializing a struct of strings and numbers to JSON cannot fail.
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

    /// Decodes a header; `None` if the bytes are damaged or not in this form.
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

    /// Decodes a record.
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

/// Binds the contents to their header.
fn purpose(header: &Header) -> Vec<u8> {
    format!("contents of {}", header.id).into_bytes()
}

fn sealing(store: &dyn Store) -> Result<&dyn Sealing, StoreError> {
    store
        .sealing()
        .ok_or_else(|| StoreError::failed("encrypting the history", "the store has no key"))
}

impl Record {
    /// The record in plain form.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        RecordForm::Plain.pack(self).map(|packed| packed.to_bytes()).unwrap_or_default()
    }

    /// Decodes a record in plain form.
    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Damaged> {
        let packed = Packed::from_bytes(bytes)?;
        RecordForm::Plain.record(packed).map_err(|_| Damaged)
    }
}
