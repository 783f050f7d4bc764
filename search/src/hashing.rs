//! The hasher of the tables whose keys come from texts.
//!
//! Most of the time of an index is spent on words, so their hash must be fast. An attacker may write a text of words with the same hash, so
//! the hash has a key from the randomness of the system. No answer depends on the order of a table.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use foldhash::SharedSeed;
use foldhash::fast::{FoldHasher, SeedableRandomState};

/// A table by words.
pub(crate) type WordMap<K, V> = HashMap<K, V, WordHasher>;

/// A set of words.
pub(crate) type WordSet<K> = HashSet<K, WordHasher>;

/// A hash with a random key.
#[derive(Debug, Clone)]
pub(crate) struct WordHasher(SeedableRandomState);

impl Default for WordHasher {
    fn default() -> Self {
        let key = RandomState::new().hash_one(());
        Self(SeedableRandomState::with_seed(key, SharedSeed::global_random()))
    }
}

impl BuildHasher for WordHasher {
    type Hasher = FoldHasher<'static>;

    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}
