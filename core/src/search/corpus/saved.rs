//! A [`Corpus`] as bytes.
//!
//! ```text
//! magic, digest of the settings, checksum and length of the files, files, index
//! a file: 0 or 1 for left out, length of its path, path, length of its fingerprint, fingerprint
//! ```
//! Numbers have eight bytes. A file without a trusted fingerprint has an empty one, and is read again. The index has a checksum of its own. All of
//! it is a cache: if anything is not as it should be, it is built again from the files.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memdir_search::Index;
use memdir_store::StoreInfo;

use super::{Corpus, FileState, name, path_of};
use crate::options::MemoryOptions;
use crate::reader::Reader;
use crate::store::Fingerprint;
use crate::trust::Seen;

const MAGIC: &[u8; 16] = b"memdir-search-1\n";

/// A digest of all that the texts, the index and the trust in fingerprints depend on, except the files. It may be another one with each
/// version of Rust. Then the index is built again.
pub(super) fn settings(info: &StoreInfo, options: &MemoryOptions) -> u64 {
    let mut hasher = DefaultHasher::new();
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    info.fingerprints.hash(&mut hasher);
    format!("{:?}", options.search_language).hash(&mut hasher);
    options.search_max_bytes.hash(&mut hasher);
    options.sensitive_on_view.hash(&mut hasher);
    if options.sensitive_on_view {
        options.max_edited_bytes().hash(&mut hasher);
        for rule in &options.sensitive_rules {
            (rule.id(), rule.pattern()).hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

impl Corpus {
    pub(super) fn saved(&self) -> Vec<u8> {
        let mut files = Vec::new();
        for (path, state) in &self.files {
            let trusted = state.seen.trusted();
            // A file that did not fit and may have changed is nothing to know.
            if state.left_out_at.is_some() && trusted.is_none() {
                continue;
            }
            files.push(u8::from(state.left_out_at.is_some()));
            for part in [name(path).as_bytes(), trusted.map_or(&[][..], Fingerprint::as_bytes)] {
                files.extend_from_slice(&(part.len() as u64).to_le_bytes());
                files.extend_from_slice(part);
            }
        }
        let mut bytes = MAGIC.to_vec();
        for number in [self.settings, checksum(&files), files.len() as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.append(&mut files);
        bytes.append(&mut self.index.to_bytes());
        bytes
    }

    /// This empty index, with what was saved. `None` if it was saved with other settings, or is damaged.
    pub(super) fn with_saved(mut self, bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader { rest: bytes };
        if reader.take(MAGIC.len())? != MAGIC || reader.number()? != self.settings {
            return None;
        }
        let sum = reader.number()?;
        let files = reader.slice()?;
        if checksum(files) != sum {
            return None;
        }
        self.index = Index::from_bytes(reader.rest, self.index.options().clone()).ok()?;
        let memory = self.index.memory();
        let (mut files, mut held) = (Reader { rest: files }, 0);
        while !files.rest.is_empty() {
            let is_left_out = files.take(1)? == [1];
            let path = path_of(str::from_utf8(files.slice()?).ok()?)?;
            let fingerprint = files.slice()?;
            let known = self.index.get(name(&path));
            if known.is_some() == is_left_out {
                return None;
            }
            held += usize::from(!is_left_out);
            let seen = Seen::kept((!fingerprint.is_empty()).then(|| Fingerprint::new(fingerprint)));
            let state = FileState {
                is_kept: seen.is_trusted(),
                seen,
                modified: known.and_then(|(modified, _)| modified),
                round: 0,
                left_out_at: is_left_out.then_some(memory),
                bytes: known.map_or(0, |(_, text)| text.len()),
            };
            if self.files.insert(path, state).is_some() {
                return None;
            }
        }
        (held == self.index.len()).then_some(self)
    }
}
