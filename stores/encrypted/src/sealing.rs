//! Seals the records of a history, which the underlying store keeps separately from the files.
//!
//! ```text
//! "MDR" version  generation   the bytes, sealed
//! 3     1        4            24 + size + 16
//! ```
//! The bytes are sealed under the master key of the generation, with the store and their purpose as context.

use std::sync::Arc;

use memdir_store::{Context, Sealing, Store, StoreError};

use super::Encrypted;
use super::ring::{Generation, Ring};
use super::seal;

const MAGIC: &[u8; 3] = b"MDR";
const VERSION: u8 = 1;
const START: usize = 8;

impl Sealing for Encrypted {
    fn beneath(&self) -> &Arc<dyn Store> {
        &self.inner
    }

    fn seal(&self, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
        seal_record(&self.known()?.ring, purpose, bytes)
    }

    fn unseal(&self, purpose: &[u8], sealed: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        if let Some(bytes) = open_record(&self.known()?.ring, purpose, sealed) {
            return Ok(Some(bytes));
        }
        // The key may have been changed meanwhile.
        Ok(open_record(&self.reload(&Context::new())?.ring, purpose, sealed))
    }
}

fn seal_record(ring: &Ring, purpose: &[u8], bytes: &[u8]) -> Result<Vec<u8>, StoreError> {
    let (generation, master) = &ring.current;
    let mut sealed = Vec::with_capacity(START + bytes.len() + seal::OVERHEAD);
    sealed.extend_from_slice(MAGIC);
    sealed.push(VERSION);
    sealed.extend_from_slice(&generation.to_be_bytes());
    seal::append(&mut sealed, master, &context(ring, *generation, purpose), &[bytes])?;
    Ok(sealed)
}

fn open_record(ring: &Ring, purpose: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (start, sealed) = sealed.split_first_chunk::<START>()?;
    let [m, d, r, version, generation @ ..] = *start;
    if ([m, d, r], version) != (*MAGIC, VERSION) {
        return None;
    }
    let generation = Generation::from_be_bytes(generation);
    let master = ring.master(generation)?;
    let mut text = seal::open(master, &context(ring, generation, purpose), sealed)?;
    Some(std::mem::take(&mut *text))
}

/// All parts except the last have a fixed size, so different contexts have different bytes.
fn context(ring: &Ring, generation: Generation, purpose: &[u8]) -> Vec<u8> {
    let generation = generation.to_be_bytes();
    [&b"memdir record of a history"[..], &[VERSION], &ring.store, &generation, purpose].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_opens_for_its_purpose_and_its_store_alone() {
        let ring = Ring::new(false).unwrap();
        let sealed = seal_record(&ring, b"header", b"text").unwrap();
        assert_eq!(open_record(&ring, b"header", &sealed).as_deref(), Some(&b"text"[..]));
        assert_eq!(open_record(&ring, b"contents", &sealed), None);
        let mut other = ring.clone();
        other.store = [0; 16];
        assert_eq!(open_record(&other, b"header", &sealed), None);
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(open_record(&ring, b"header", &damaged), None, "byte {at}");
            assert_eq!(open_record(&ring, b"header", &sealed[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn a_record_opens_under_the_key_before() {
        let ring = Ring::new(false).unwrap();
        let sealed = seal_record(&ring, b"header", b"text").unwrap();
        let newer = ring.advanced().unwrap();
        assert!(open_record(&newer, b"header", &sealed).is_some());
        assert!(open_record(&newer.advanced().unwrap(), b"header", &sealed).is_none());
    }
}
