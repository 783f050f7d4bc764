//! [`Vectors`] as bytes.
//!
//! ```text
//! magic, SHA-256 of the rest, length of the name, name, dimensions, vectors
//! a vector: SHA-256 of its text, its parts
//! ```
//! Numbers have eight bytes. Only the vectors of current passages are saved, so a removed text leaves nothing. If anything is not as it should
//! be, the vectors are made again.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{MOST_DIMENSIONS, Vector, Vectors, scale};
use crate::reader::Reader;

const MAGIC: &[u8; 17] = b"memdir-vectors-1\n";

impl Vectors {
    /// Whether there are many vectors that no other process has. Making them may cost money, so fewer are worth a write than of files.
    pub(in super::super) fn is_worth_keeping(&self) -> bool {
        let total = self.known.len();
        // An index beside which they do not fit does not have their passages.
        if self.full_at.is_some() {
            return false;
        }
        self.unsaved >= 1_000 || self.unsaved >= 16 && self.unsaved.saturating_mul(10) >= total
    }

    /// Called after the vectors were saved, or could not be: the next attempt comes when as much has changed again.
    pub(in super::super) fn were_kept(&mut self) {
        self.unsaved = 0;
    }

    pub(in super::super) fn saved(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend_from_slice(&(self.name.len() as u64).to_le_bytes());
        body.extend_from_slice(self.name.as_bytes());
        body.extend_from_slice(&(self.dimensions as u64).to_le_bytes());
        for digest in self.used() {
            if let Some(vector) = self.known.get(&digest) {
                body.extend_from_slice(&digest);
                body.extend(vector.parts.iter().map(|part| part.to_le_bytes()[0]));
            }
        }
        [&MAGIC[..], &Sha256::digest(&body), &body].concat()
    }

    /// The vectors that were saved. `None` if they are of another embedder, or damaged.
    pub(in super::super) fn from_saved(name: Arc<str>, bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes };
        if reader.take(MAGIC.len())? != MAGIC {
            return None;
        }
        let sum = reader.take(32)?;
        if *Sha256::digest(reader.rest) != *sum || reader.slice()? != name.as_bytes() {
            return None;
        }
        let mut vectors = Self::new(name);
        vectors.dimensions = usize::try_from(reader.number()?).ok()?;
        if vectors.dimensions > MOST_DIMENSIONS {
            return None;
        }
        while !reader.rest.is_empty() {
            let digest = reader.take(32)?.try_into().ok()?;
            let parts = reader.take(vectors.dimensions)?;
            let parts: Box<[i8]> = parts.iter().map(|part| i8::from_le_bytes([*part])).collect();
            let scale = if parts.iter().all(|part| *part == 0) { 0.0 } else { scale(&parts) };
            vectors.known.insert(digest, Arc::new(Vector { parts, scale }));
        }
        Some(vectors)
    }
}

#[cfg(test)]
mod tests {
    use memdir_search::{Index, Options};

    use super::*;

    fn filled() -> Vectors {
        let mut index = Index::new(Options::default());
        for path in ["a", "b", "c"] {
            assert!(index.put(path, path.repeat(3), None).is_ok());
        }
        let mut vectors = Vectors::new("model 1".into());
        let digests: Vec<_> =
            vectors.update(&index, usize::MAX).iter().map(|(digest, _)| *digest).collect();
        let numbers = [vec![1.0, -0.5], vec![0.0, 0.0], vec![-3.0, 2.0]];
        let checked = vectors.checked(3, &numbers).unwrap();
        vectors.add(digests.into_iter().zip(checked));
        vectors
    }

    #[test]
    fn saved_vectors_are_the_same() {
        let vectors = filled();
        let bytes = vectors.saved();
        let loaded = Vectors::from_saved("model 1".into(), &bytes).unwrap();
        assert_eq!((loaded.dimensions, &loaded.known), (2, &vectors.known));
        assert!(Vectors::from_saved("model 2".into(), &bytes).is_none());
        let empty = Vectors::new("none".into());
        assert!(Vectors::from_saved("none".into(), &empty.saved()).is_some());
    }

    #[test]
    fn damaged_bytes_are_not_loaded() {
        let bytes = filled().saved();
        for at in 0..bytes.len() {
            assert!(Vectors::from_saved("model 1".into(), &bytes[..at]).is_none());
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert!(Vectors::from_saved("model 1".into(), &damaged).is_none());
        }
        // A valid sum with a length that does not exist.
        let body = u64::MAX.to_le_bytes();
        let damaged = [&MAGIC[..], &Sha256::digest(body), &body].concat();
        assert!(Vectors::from_saved("model 1".into(), &damaged).is_none());
    }
}
