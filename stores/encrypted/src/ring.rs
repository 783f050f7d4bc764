//! [`Ring`]: the keys of a store. They are random, generated when the store is created, and sealed in its
//! record under the given key. So during a rotation both the old and the new key can open the store.

use memdir_store::StoreError;
use zeroize::Zeroizing;

use super::names::{self, Names};
use super::seal::{self, KEY, Key};

/// The identity of a store. It prevents a file of one store from being accepted in another.
pub(super) type StoreId = [u8; 16];

/// A generation of the master key. Each file contains its generation.
pub(super) type Generation = u32;

/// The keys of a store.
#[derive(Clone)]
pub(super) struct Ring {
    pub(super) store: StoreId,
    /// The master key for writing.
    pub(super) current: (Generation, Key),
    /// The previous master key, for decryption only.
    older: Option<(Generation, Key)>,
    /// The key of names, if names are encrypted.
    pub(super) names: Option<Names>,
}

impl Ring {
    /// The keys of a new store.
    pub(super) fn new(encrypt_names: bool) -> Result<Self, StoreError> {
        let names = if encrypt_names { Some(Names::new(seal::random()?)) } else { None };
        let current = (1, seal::random()?);
        Ok(Self { store: *seal::random()?, current, older: None, names })
    }

    /// The same ring with a new master key. [`rekey`](mod@super::rekey) explains why the previous one stays.
    pub(super) fn advanced(&self) -> Result<Self, StoreError> {
        let current = (self.current.0.saturating_add(1), seal::random()?);
        Ok(Self { current, older: Some(self.current.clone()), ..self.clone() })
    }

    pub(super) fn master(&self, generation: Generation) -> Option<&Key> {
        let mut masters = [Some(&self.current), self.older.as_ref()].into_iter().flatten();
        masters.find(|(of, _)| *of == generation).map(|(_, key)| key)
    }

    /// Seals the ring under the given key, for the record.
    pub(super) fn seal(&self, key: &Key) -> Result<Vec<u8>, StoreError> {
        let mut text = Zeroizing::new(Vec::with_capacity(1 + names::KEY + 2 * MASTER));
        text.push(u8::from(self.names.is_some()));
        text.extend_from_slice(self.names.as_ref().map_or(&[0; names::KEY], |names| names.key()));
        for (generation, master) in std::iter::once(&self.current).chain(&self.older) {
            text.extend_from_slice(&generation.to_be_bytes());
            text.extend_from_slice(&**master);
        }
        seal::seal(key, &context(&self.store), &text)
    }

    /// Opens a ring that [`seal`](Ring::seal) sealed; `None` if the key differs.
    pub(super) fn open(store: StoreId, key: &Key, sealed: &[u8]) -> Option<Self> {
        let text = seal::open(key, &context(&store), sealed)?;
        let (flag, rest) = text.split_first()?;
        let (names, rest) = rest.split_first_chunk::<{ names::KEY }>()?;
        let (current, rest) = rest.split_first_chunk::<MASTER>()?;
        let names = (*flag == 1).then(|| Names::new(Zeroizing::new(*names)));
        let older = rest.first_chunk::<MASTER>().and_then(master);
        Some(Self { store, current: master(current)?, older, names })
    }
}

/// The size of a generation and its key.
const MASTER: usize = size_of::<Generation>() + KEY;

fn master(bytes: &[u8; MASTER]) -> Option<(Generation, Key)> {
    let (generation, key) = bytes.split_first_chunk()?;
    Some((Generation::from_be_bytes(*generation), Zeroizing::new(*key.first_chunk()?)))
}

fn context(store: &StoreId) -> Vec<u8> {
    [&b"memdir keys of a store"[..], store].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_comes_back_from_its_seal() {
        let key = seal::random().unwrap();
        for encrypt_names in [false, true] {
            let ring = Ring::new(encrypt_names).unwrap().advanced().unwrap();
            let sealed = ring.seal(&key).unwrap();
            let again = Ring::open(ring.store, &key, &sealed).unwrap();
            assert_eq!((&again.current, &again.older), (&ring.current, &ring.older));
            assert_eq!((again.current.0, again.older.is_some()), (2, true));
            assert_eq!(again.names.map(|names| *names.key()), ring.names.map(|names| *names.key()));
            assert!(Ring::open([0; 16], &key, &sealed).is_none());
            assert!(Ring::open(ring.store, &seal::random().unwrap(), &sealed).is_none());
        }
    }

    #[test]
    fn a_rotation_keeps_one_older_master_key() {
        let first = Ring::new(false).unwrap();
        let third = first.advanced().unwrap().advanced().unwrap();
        assert!(third.master(1).is_none() && third.master(2).is_some());
        assert_eq!(third.current.0, 3);
    }
}
