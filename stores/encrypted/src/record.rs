//! The record of an encrypted store: a file with a reserved name in the root of the underlying store. It
//! contains the store's keys, sealed under the given key, and the renames in progress.
//!
//! ```json
//! {"format": "memdir-encryption", "version": 1, "store": "…",
//!  "keys": [{"derivation": "argon2id", "passphrase": "nfkc", "memory_kib": 65536, "passes": 3,
//!            "lanes": 4, "salt": "…", "sealed": "…"}],
//!  "renames": {"generation": 1, "sealed": "…"}}
//! ```
//!
//! `keys` has one entry, and two during a change of the key.

use memdir_store::StoreError;
use memdir_store::encryption_record::{FORMAT, NAME};
use memdir_store::path::MemoryPath;
use serde::{Deserialize, Serialize};

use super::hex;
use super::key::{Derivation, KeyDeriver};
use super::renames::Rename;
use super::ring::{Generation, Ring, StoreId};
use super::seal;

const VERSION: u64 = 1;

/// The path of the record in the underlying store.
pub(super) fn path() -> MemoryPath {
    // The name is valid. With the root as a fallback, every method would be refused.
    MemoryPath::root().join(NAME).unwrap_or_else(|_| MemoryPath::root())
}

/// Whether a name in the root is the record's, also on a file system that ignores case or skips invisible
/// characters.
pub(super) fn is_reserved(name: &str) -> bool {
    name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase()).eq(NAME.chars())
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(rename = "keys")]
    pub(super) slots: Vec<Slot>,
    renames: Option<SealedRenames>,
    #[serde(with = "hex")]
    pub(super) store: StoreId,
}

/// The key ring, sealed under one of the given keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Slot {
    #[serde(flatten)]
    pub(super) derivation: Derivation,
    #[serde(with = "hex")]
    pub(super) sealed: Vec<u8>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SealedRenames {
    generation: Generation,
    #[serde(with = "hex")]
    sealed: Vec<u8>,
}

/// The part that determines whether this version can read the rest.
#[derive(Deserialize)]
struct Header {
    format: String,
    version: u64,
}

/// The whole file.
#[derive(Serialize)]
struct Written<'r> {
    format: &'static str,
    #[serde(flatten)]
    record: &'r Record,
    version: u64,
}

impl Slot {
    /// Creates a slot for a new key.
    pub(super) fn new(deriver: &KeyDeriver, ring: &Ring) -> Result<Self, StoreError> {
        let derivation = Derivation::new(deriver.key())?;
        let mut slot = Self { derivation, sealed: Vec::new() };
        slot.fill(deriver, ring)?;
        Ok(slot)
    }

    /// Replaces the ring in the slot.
    pub(super) fn fill(&mut self, deriver: &KeyDeriver, ring: &Ring) -> Result<(), StoreError> {
        if let Some(key) = deriver.derive(&self.derivation)? {
            self.sealed = ring.seal(&key)?;
        }
        Ok(())
    }

    pub(super) fn open(
        &self,
        deriver: &KeyDeriver,
        store: StoreId,
    ) -> Result<Option<Ring>, StoreError> {
        let key = deriver.derive(&self.derivation)?;
        Ok(key.and_then(|key| Ring::open(store, &key, &self.sealed)))
    }
}

impl Record {
    /// The record of a new store.
    pub(super) fn new(deriver: &KeyDeriver, ring: &Ring) -> Result<Self, StoreError> {
        let slots = vec![Slot::new(deriver, ring)?];
        Ok(Self { store: ring.store, slots, renames: None })
    }

    /// The ring and the index of its slot; `None` if no slot is for this key.
    pub(super) fn open(&self, deriver: &KeyDeriver) -> Result<Option<(usize, Ring)>, StoreError> {
        for (place, slot) in self.slots.iter().enumerate() {
            if let Some(ring) = slot.open(deriver, self.store)? {
                return Ok(Some((place, ring)));
            }
        }
        Ok(None)
    }

    pub(super) fn renames(&self, ring: &Ring) -> Result<Vec<Rename>, StoreError> {
        let Some(SealedRenames { generation, sealed }) = &self.renames else {
            return Ok(Vec::new());
        };
        ring.master(*generation)
            .and_then(|master| seal::open(master, &context(&self.store), sealed))
            .and_then(|text| serde_json::from_slice(&text).ok())
            .ok_or_else(|| damaged("the renames under way cannot be read"))
    }

    pub(super) fn set_renames(
        &mut self,
        ring: &Ring,
        renames: &[Rename],
    ) -> Result<(), StoreError> {
        let (generation, master) = &ring.current;
        self.renames = if renames.is_empty() {
            None
        } else {
            let text = serde_json::to_vec(renames).map_err(unwritable)?;
            let sealed = seal::seal(master, &context(&self.store), &text)?;
            Some(SealedRenames { generation: *generation, sealed })
        };
        Ok(())
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, StoreError> {
        let foreign = "it is not what memdir wrote there";
        let header: Header = serde_json::from_slice(bytes).map_err(|_| damaged(foreign))?;
        if header.format != FORMAT {
            return Err(damaged(foreign));
        }
        if header.version != VERSION {
            return Err(damaged("it was written by a newer memdir: update memdir"));
        }
        // The error may quote a part of the record, which may come from an attacker.
        let problem = |error: serde_json::Error| error.to_string().escape_debug().to_string();
        serde_json::from_slice(bytes)
            .map_err(|error| damaged(format!("{foreign}: {}", problem(error))))
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, StoreError> {
        let written = Written { format: FORMAT, record: self, version: VERSION };
        let mut bytes = serde_json::to_vec(&written).map_err(unwritable)?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

fn context(store: &StoreId) -> Vec<u8> {
    [&b"memdir renames under way"[..], store].concat()
}

fn unwritable(error: serde_json::Error) -> StoreError {
    StoreError::failed(format!("writing the store's record, {NAME}"), error)
}

fn damaged(problem: impl Into<String>) -> StoreError {
    StoreError::failed(format!("reading the store's record, {NAME}"), problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EncryptionKey;
    use crate::key::PassphraseForm;

    #[test]
    fn a_record_comes_back_from_its_bytes() {
        let ring = Ring::new(true).unwrap();
        let deriver = KeyDeriver::new(&EncryptionKey::from_bytes([1; 32]));
        let mut record = Record::new(&deriver, &ring).unwrap();
        let rename =
            Rename::new(7, &MemoryPath::root(), &MemoryPath::parse("/memories/a").unwrap());
        record.set_renames(&ring, std::slice::from_ref(&rename)).unwrap();
        for passphrase in [None, Some(PassphraseForm::Nfkc)] {
            let (memory_kib, passes, lanes, salt) = (64, 1, 1, [3; 16]);
            let derivation = Derivation::Argon2id { memory_kib, passes, lanes, salt, passphrase };
            record.slots.push(Slot { derivation, sealed: vec![1, 2] });
        }
        let bytes = record.to_bytes().unwrap();
        let again = Record::parse(&bytes).unwrap();
        assert_eq!(again.to_bytes().unwrap(), bytes);
        assert_eq!(again.slots[1].derivation, record.slots[1].derivation);
        assert_eq!(again.slots[2].derivation, record.slots[2].derivation);
        let (place, ring) = again.open(&deriver).unwrap().unwrap();
        assert_eq!(place, 0);
        assert_eq!(again.renames(&ring).unwrap(), [rename]);
        let other = KeyDeriver::new(&EncryptionKey::from_bytes([2; 32]));
        assert!(again.open(&other).unwrap().is_none());
    }

    #[test]
    fn what_is_no_record_is_refused_and_cannot_ask_for_all_memory() {
        let slot = |memory: &str| {
            format!(
                "{{\"format\": \"memdir-encryption\", \"version\": 1, \"store\": \"{0}\", \"keys\": \
                 [{{\"derivation\": \"argon2id\", \"memory_kib\": {memory}, \"passes\": 3, \
                 \"lanes\": 4, \"salt\": \"{0}\", \"sealed\": \"\"}}]}}",
                "00".repeat(16)
            )
        };
        assert!(Record::parse(slot("65536").as_bytes()).is_ok());
        for other in
            ["", "{}", "[]", "nonsense", &slot("4294967295"), &slot("4294967296"), &slot("-1")]
        {
            assert!(Record::parse(other.as_bytes()).is_err(), "{other}");
        }
        for field in
            ["keys", "store", "derivation", "memory_kib", "passes", "lanes", "salt", "sealed"]
        {
            let without = slot("65536").replace(&format!("\"{field}\""), "\"unknown\"");
            let error = Record::parse(without.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(field), "{field}: {error}");
        }
        let form = slot("65536").replace("\"lanes\"", "\"passphrase\": \"nfd\", \"lanes\"");
        assert!(Record::parse(form.as_bytes()).is_err());
        let forged = slot("1").replace("argon2id", "\\u001b[2J");
        let error = Record::parse(forged.as_bytes()).unwrap_err().to_string();
        assert!(!error.contains(char::is_control), "{error}");
        let newer = slot("1").replace("\"version\": 1", "\"version\": 2");
        let error = Record::parse(newer.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("newer memdir"), "{error}");
    }

    #[test]
    fn the_reserved_name_is_reserved_in_each_of_its_ways() {
        for name in [NAME, ".MEMDIR-encryption", ".memdir-\u{200c}encryption"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["memdir-encryption", ".memdir-encryption2", ".memdir"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
