//! The record of an encrypted store: a file with a reserved name at the root of the underlying store. It
//! has the store's keys, sealed under yours, and the renames in progress.
//!
//! ```json
//! {"format": "memdir-encryption", "version": 1, "store": "…",
//!  "keys": [{"derivation": "argon2id", "passphrase": "nfkc", "memory_kib": 65536, "passes": 3,
//!            "lanes": 4, "salt": "…", "sealed": "…"}],
//!  "renames": {"generation": 1, "sealed": "…"}}
//! ```
//!
//! There is one entry in `keys`, and during a change of the key there are two.

use data_encoding::HEXLOWER;
use serde_json::{Value, json};

use super::key::{Derivation, Opener};
use super::renames::{self, Rename};
use super::ring::{Generation, Ring, StoreId};
use super::seal;
use crate::path::MemoryPath;
use crate::store::StoreError;
use crate::store::encryption_record::{FORMAT, NAME};

const VERSION: u64 = 1;
/// The form of a passphrase that a key is derived from; records of the first stores say none.
const NFKC: &str = "nfkc";

/// What Argon2id is allowed to ask for: the larger recommendation of RFC 9106 has 2 GiB. The record
/// is not trusted before its seal is open.
const MOST_MEMORY_KIB: u64 = 2 * 1024 * 1024;
const MOST_PASSES: u64 = 16;
const MOST_LANES: u64 = 16;

/// The record's path in the store beneath.
pub(super) fn path() -> MemoryPath {
    // It is a plain name; in the place of the root every method would be refused.
    MemoryPath::root().join(NAME).unwrap_or_else(|_| MemoryPath::root())
}

/// Whether a name of the root is the record's, also on a file system that takes upper case for
/// lower, or skips characters that are not to be seen.
pub(super) fn is_reserved(name: &str) -> bool {
    name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase()).eq(NAME.chars())
}

#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) store: StoreId,
    pub(super) slots: Vec<Slot>,
    renames: Option<(Generation, Vec<u8>)>,
}

/// The ring under one of the developer's keys.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) derivation: Derivation,
    pub(super) sealed: Vec<u8>,
}

impl Slot {
    /// A slot for a key that has none yet.
    pub(super) fn new(opener: &Opener, ring: &Ring) -> Result<Self, StoreError> {
        let derivation = Derivation::new(opener.key())?;
        let mut slot = Self { derivation, sealed: Vec::new() };
        slot.fill(opener, ring)?;
        Ok(slot)
    }

    /// Puts another ring in.
    pub(super) fn fill(&mut self, opener: &Opener, ring: &Ring) -> Result<(), StoreError> {
        if let Some(key) = opener.derive(&self.derivation)? {
            self.sealed = ring.seal(&key)?;
        }
        Ok(())
    }

    pub(super) fn open(&self, opener: &Opener, store: StoreId) -> Result<Option<Ring>, StoreError> {
        let key = opener.derive(&self.derivation)?;
        Ok(key.and_then(|key| Ring::open(store, &key, &self.sealed)))
    }
}

impl Record {
    /// The record of a new store.
    pub(super) fn new(opener: &Opener, ring: &Ring) -> Result<Self, StoreError> {
        let slots = vec![Slot::new(opener, ring)?];
        Ok(Self { store: ring.store, slots, renames: None })
    }

    /// The ring, and the slot it was in; `None` if none of the slots is for this key.
    pub(super) fn open(&self, opener: &Opener) -> Result<Option<(usize, Ring)>, StoreError> {
        for (place, slot) in self.slots.iter().enumerate() {
            if let Some(ring) = slot.open(opener, self.store)? {
                return Ok(Some((place, ring)));
            }
        }
        Ok(None)
    }

    pub(super) fn renames(&self, ring: &Ring) -> Result<Vec<Rename>, StoreError> {
        let Some((generation, sealed)) = &self.renames else { return Ok(Vec::new()) };
        ring.master(*generation)
            .and_then(|master| seal::open(master, &context(&self.store), sealed))
            .and_then(|text| renames::from_text(&text))
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
            let text = renames::to_text(renames);
            Some((*generation, seal::seal(master, &context(&self.store), text.as_bytes())?))
        };
        Ok(())
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, StoreError> {
        let record: Value = serde_json::from_slice(bytes)
            .map_err(|_| damaged("it is not what memdir wrote there"))?;
        if text(&record, "format")? != FORMAT {
            return Err(damaged("it is not what memdir wrote there"));
        }
        if number(&record, "version")? != VERSION {
            return Err(damaged("it was written by a newer memdir: update memdir"));
        }
        let slots = record.get("keys").and_then(Value::as_array).ok_or_else(|| lacks("keys"))?;
        let renames = match record.get("renames") {
            None | Some(Value::Null) => None,
            Some(renames) => {
                let generation = narrow(number(renames, "generation")?, Generation::MAX.into())?;
                Some((generation, bytes_of(renames, "sealed")?))
            }
        };
        Ok(Self {
            store: array(&record, "store")?,
            slots: slots.iter().map(slot_from).collect::<Result<_, _>>()?,
            renames,
        })
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let slots: Vec<Value> = self.slots.iter().map(slot_to).collect();
        let renames = self.renames.as_ref().map(|(generation, sealed)| {
            json!({"generation": generation, "sealed": HEXLOWER.encode(sealed)})
        });
        let record = json!({
            "format": FORMAT,
            "version": VERSION,
            "store": HEXLOWER.encode(&self.store),
            "keys": slots,
            "renames": renames,
        });
        let mut bytes = record.to_string().into_bytes();
        bytes.push(b'\n');
        bytes
    }
}

fn context(store: &StoreId) -> Vec<u8> {
    [&b"memdir renames under way"[..], store].concat()
}

fn slot_to(slot: &Slot) -> Value {
    let sealed = HEXLOWER.encode(&slot.sealed);
    match &slot.derivation {
        Derivation::None => json!({"derivation": "none", "sealed": sealed}),
        Derivation::Argon2id { memory_kib, passes, lanes, salt, normalized } => json!({
            "derivation": "argon2id",
            "passphrase": if *normalized { Some(NFKC) } else { None },
            "memory_kib": memory_kib,
            "passes": passes,
            "lanes": lanes,
            "salt": HEXLOWER.encode(salt),
            "sealed": sealed,
        }),
    }
}

fn slot_from(slot: &Value) -> Result<Slot, StoreError> {
    let derivation = match text(slot, "derivation")? {
        "none" => Derivation::None,
        "argon2id" => Derivation::Argon2id {
            memory_kib: narrow(number(slot, "memory_kib")?, MOST_MEMORY_KIB)?,
            passes: narrow(number(slot, "passes")?, MOST_PASSES)?,
            lanes: narrow(number(slot, "lanes")?, MOST_LANES)?,
            salt: array(slot, "salt")?,
            normalized: match slot.get("passphrase") {
                None | Some(Value::Null) => false,
                Some(Value::String(form)) if form == NFKC => true,
                Some(_) => return Err(damaged("a passphrase is taken in an unknown form")),
            },
        },
        _ => return Err(damaged("a key is derived in an unknown way")),
    };
    Ok(Slot { derivation, sealed: bytes_of(slot, "sealed")? })
}

fn text<'v>(of: &'v Value, field: &str) -> Result<&'v str, StoreError> {
    of.get(field).and_then(Value::as_str).ok_or_else(|| lacks(field))
}

fn number(of: &Value, field: &str) -> Result<u64, StoreError> {
    of.get(field).and_then(Value::as_u64).ok_or_else(|| lacks(field))
}

fn narrow(number: u64, most: u64) -> Result<u32, StoreError> {
    u32::try_from(number)
        .ok()
        .filter(|_| number <= most)
        .ok_or_else(|| damaged("a number is larger than any that memdir writes"))
}

fn bytes_of(of: &Value, field: &str) -> Result<Vec<u8>, StoreError> {
    HEXLOWER.decode(text(of, field)?.as_bytes()).map_err(|_| lacks(field))
}

fn array<const N: usize>(of: &Value, field: &str) -> Result<[u8; N], StoreError> {
    bytes_of(of, field)?.try_into().map_err(|_| lacks(field))
}

fn lacks(field: &str) -> StoreError {
    damaged(format!("there is no proper \"{field}\" in it"))
}

fn damaged(problem: impl Into<String>) -> StoreError {
    StoreError::failed(format!("reading the store's record, {NAME}"), problem.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::encrypted::EncryptionKey;

    #[test]
    fn a_record_comes_back_from_its_bytes() {
        let ring = Ring::new(true).unwrap();
        let opener = Opener::new(&EncryptionKey::from_bytes([1; 32]));
        let mut record = Record::new(&opener, &ring).unwrap();
        let rename =
            Rename::new(7, &MemoryPath::root(), &MemoryPath::parse("/memories/a").unwrap());
        record.set_renames(&ring, std::slice::from_ref(&rename)).unwrap();
        for normalized in [false, true] {
            let (memory_kib, passes, lanes, salt) = (64, 1, 1, [3; 16]);
            let derivation = Derivation::Argon2id { memory_kib, passes, lanes, salt, normalized };
            record.slots.push(Slot { derivation, sealed: vec![1, 2] });
        }
        let again = Record::parse(&record.to_bytes()).unwrap();
        assert_eq!(again.to_bytes(), record.to_bytes());
        assert_eq!(again.slots[1].derivation, record.slots[1].derivation);
        assert_eq!(again.slots[2].derivation, record.slots[2].derivation);
        let (place, ring) = again.open(&opener).unwrap().unwrap();
        assert_eq!(place, 0);
        assert_eq!(again.renames(&ring).unwrap(), [rename]);
        let other = Opener::new(&EncryptionKey::from_bytes([2; 32]));
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
        let form = slot("65536").replace("\"lanes\"", "\"passphrase\": \"nfd\", \"lanes\"");
        assert!(Record::parse(form.as_bytes()).is_err());
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
