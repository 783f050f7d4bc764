//! [`Baseline`]: what both memories last agreed on, and its form in bytes.
//!
//! ```text
//! magic, SHA-256 of the rest, number of files of texts, those, files
//! a file of texts: its name, the bytes of its texts
//! a file: path, the changes that both had, and for each side: digest, size, number of its file of texts (from 1) or 0
//! ```
//! Numbers have eight bytes. If anything is not as it should be, there is no baseline, and a sync deletes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use memdir_store::path::MemoryPath;
use sha2::{Digest as _, Sha256};

use super::both::{Both, SyncSide};
use super::clock::{ChangeId, ids};
use crate::reader::Reader;

const MAGIC: &[u8; 14] = b"memdir-sync-2\n";

/// The SHA-256 of a content.
pub(super) type Digest = [u8; 32];

pub(super) fn digest(content: &[u8]) -> Digest {
    Sha256::digest(content).into()
}

/// The contents on which both memories last agreed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Baseline {
    /// Shared with a copy until one of both changes.
    pub(super) files: Arc<BTreeMap<MemoryPath, Agreed>>,
    pub(super) text_files: Vec<TextFile>,
}

/// The two contents of a file that were made equal. They differ only if a policy has redacted one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Agreed {
    pub(super) digests: Both<Digest>,
    pub(super) sizes: Both<u64>,
    /// Where the contents are kept: positions in [`Baseline::text_files`].
    pub(super) texts: Both<Option<usize>>,
    /// The changes that both included. If both have others in common now, they have agreed since, through a third memory or a sync that was
    /// killed.
    pub(super) known: Vec<ChangeId>,
}

impl Agreed {
    pub(super) fn new(digests: Both<Digest>, sizes: Both<u64>) -> Self {
        Self { digests, sizes, texts: Both::default(), known: Vec::new() }
    }

    pub(super) fn is_equal(&self) -> bool {
        self.digests.a == self.digests.b
    }
}

/// A kept file that holds contents of the baseline, for merges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextFile {
    pub(super) name: String,
    /// The bytes of all contents in it, also of those that are no longer needed.
    pub(super) bytes: u64,
}

impl Baseline {
    pub(super) fn files_mut(&mut self) -> &mut BTreeMap<MemoryPath, Agreed> {
        Arc::make_mut(&mut self.files)
    }

    /// `holder` is the memory that keeps it. Its side comes first, because another sync may name the two memories in the other order.
    pub(super) fn to_bytes(&self, holder: SyncSide) -> Vec<u8> {
        let mut body = Vec::new();
        push_number(&mut body, self.text_files.len());
        for file in &self.text_files {
            push(&mut body, file.name.as_bytes());
            body.extend_from_slice(&file.bytes.to_le_bytes());
        }
        for (path, agreed) in &*self.files {
            push(&mut body, path.relative().as_bytes());
            push(&mut body, agreed.known.as_flattened());
            for side in [holder, holder.other()] {
                body.extend_from_slice(&agreed.digests[side]);
                body.extend_from_slice(&agreed.sizes[side].to_le_bytes());
                push_number(&mut body, agreed.texts[side].map_or(0, |text| text + 1));
            }
        }
        sealed(MAGIC, &body)
    }

    /// What `holder` has kept.
    pub(super) fn from_bytes(bytes: &[u8], holder: SyncSide) -> Option<Self> {
        let mut reader = unsealed(MAGIC, bytes)?;
        let mut baseline = Self::default();
        for _ in 0..reader.number()? {
            let name = str::from_utf8(reader.slice()?).ok()?.to_owned();
            baseline.text_files.push(TextFile { name, bytes: reader.number()? });
        }
        // They are sorted, so a map of all is made faster than one file after the other.
        let mut files = Vec::new();
        while !reader.rest.is_empty() {
            let path = path_of(reader.slice()?)?;
            let mut agreed = Agreed::new(Both::default(), Both::default());
            agreed.known = ids(reader.slice()?)?;
            for side in [holder, holder.other()] {
                agreed.digests[side] = reader.take(32)?.try_into().ok()?;
                agreed.sizes[side] = reader.number()?;
                let text = usize::try_from(reader.number()?).ok()?.checked_sub(1);
                if text.is_some_and(|text| text >= baseline.text_files.len()) {
                    return None;
                }
                agreed.texts[side] = text;
            }
            files.push((path, agreed));
        }
        baseline.files = Arc::new(files.into_iter().collect());
        Some(baseline)
    }

    /// Drops the files of texts that no file of the baseline needs.
    pub(super) fn drop_unused_texts(&mut self) {
        let mut is_used = vec![false; self.text_files.len()];
        for agreed in self.files.values() {
            for text in SyncSide::ALL.into_iter().filter_map(|side| agreed.texts[side]) {
                is_used[text] = true;
            }
        }
        if !is_used.contains(&false) {
            return;
        }
        let mut moved = Vec::new();
        let mut kept = 0;
        for used in &is_used {
            moved.push(kept);
            kept += usize::from(*used);
        }
        let mut used = is_used.iter();
        self.text_files.retain(|_| used.next().is_some_and(|used| *used));
        for agreed in self.files_mut().values_mut() {
            for side in SyncSide::ALL {
                agreed.texts[side] = agreed.texts[side].map(|text| moved[text]);
            }
        }
    }
}

/// Bytes with a magic text and a checksum before them.
pub(super) fn sealed(magic: &[u8], body: &[u8]) -> Vec<u8> {
    [magic, &digest(body), body].concat()
}

/// The bytes that were sealed. `None` if they are others, or damaged.
pub(super) fn unsealed<'b>(magic: &[u8], bytes: &'b [u8]) -> Option<Reader<'b>> {
    let mut reader = Reader { rest: bytes };
    let is_ours = reader.take(magic.len())? == magic;
    let sum = reader.take(32)?;
    (is_ours && digest(reader.rest) == sum).then_some(reader)
}

/// The path that was saved as its relative part.
pub(super) fn path_of(relative: &[u8]) -> Option<MemoryPath> {
    let names = str::from_utf8(relative).ok()?.split('/');
    names.into_iter().try_fold(MemoryPath::root(), |at, name| at.join(name)).ok()
}

pub(super) fn push_number(bytes: &mut Vec<u8>, number: usize) {
    bytes.extend_from_slice(&(number as u64).to_le_bytes());
}

pub(super) fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    push_number(bytes, part.len());
    bytes.extend_from_slice(part);
}

#[cfg(test)]
mod tests {
    use super::SyncSide::{A, B};
    use super::*;

    fn path(path: &str) -> MemoryPath {
        MemoryPath::parse(path).unwrap()
    }

    fn filled() -> Baseline {
        let agreed = |number: u8, texts| Agreed {
            known: vec![[number; 8]; usize::from(number % 3)],
            digests: Both { a: [number; 32], b: [number + 1; 32] },
            sizes: Both { a: 1, b: u64::from(number) },
            texts,
        };
        let file = |name: &str, bytes| TextFile { name: name.to_owned(), bytes };
        Baseline {
            files: Arc::new(BTreeMap::from([
                (path("/memories/a"), agreed(1, Both { a: Some(2), b: None })),
                (path("/memories/b/ü ñ.md"), agreed(3, Both { a: Some(0), b: Some(2) })),
            ])),
            text_files: vec![file("one", 10), file("two", 0), file("three", 7)],
        }
    }

    #[test]
    fn a_saved_baseline_is_the_same() {
        for baseline in [Baseline::default(), filled()] {
            assert_eq!(Baseline::from_bytes(&baseline.to_bytes(A), A), Some(baseline));
        }
    }

    #[test]
    fn a_sync_in_the_other_order_has_the_other_sides() {
        let other = Baseline::from_bytes(&filled().to_bytes(A), B).unwrap();
        for (path, agreed) in &*filled().files {
            let swapped = &other.files[path];
            assert_eq!(swapped.digests, Both { a: agreed.digests.b, b: agreed.digests.a });
            assert_eq!(swapped.sizes, Both { a: agreed.sizes.b, b: agreed.sizes.a });
            assert_eq!(swapped.texts, Both { a: agreed.texts.b, b: agreed.texts.a });
        }
    }

    #[test]
    fn damaged_bytes_are_no_baseline() {
        let bytes = filled().to_bytes(A);
        for at in 0..bytes.len() {
            assert_eq!(Baseline::from_bytes(&bytes[..at], A), None);
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Baseline::from_bytes(&damaged, A), None);
        }
        // A valid sum over a number of files of texts that are not there.
        let body = u64::MAX.to_le_bytes();
        let bytes = sealed(MAGIC, &body);
        assert_eq!(Baseline::from_bytes(&bytes, A), None);
    }

    #[test]
    fn unused_texts_are_dropped() {
        let mut baseline = filled();
        baseline.drop_unused_texts();
        let names: Vec<&str> = baseline.text_files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, ["one", "three"]);
        assert_eq!(baseline.files[&path("/memories/a")].texts, Both { a: Some(1), b: None });
        assert_eq!(
            baseline.files[&path("/memories/b/ü ñ.md")].texts,
            Both { a: Some(0), b: Some(1) }
        );
    }
}
