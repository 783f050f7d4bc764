//! [`Snapshot`]: the history as it is at one moment, with the files that it is about.

use std::collections::HashMap;
use std::sync::Mutex;

use memdir_store::path::{Folding, MemoryPath};

use super::contents::Contents;
use super::journal::Stored;
use super::record::Digest;
use super::timeline::Timeline;

pub(super) struct Snapshot {
    pub(super) records: Vec<Stored>,
    pub(super) timeline: Timeline,
    pub(super) folding: Folding,
    pub(super) contents: Contents,
    /// The files that have a content now, as far as the history knows.
    pub(super) holders: HashMap<Digest, MemoryPath>,
    /// What is damaged, in a few words each.
    pub(super) damaged: Vec<String>,
    /// The content that was computed last: who reads one version often reads its neighbour next.
    pub(super) last: Mutex<Option<(Digest, Vec<u8>)>>,
}

/// How far a journal was loaded.
pub(super) type Extent = (u64, usize, usize, usize);
