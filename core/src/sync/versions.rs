//! [`Versions`]: what syncs know of the files of one memory.
//!
//! Two memories that are synced with a third one, and with each other, must not take an old content that comes back for a new one. So each file
//! has the set of the changes that its content includes. A version that includes the last changes of another one replaces it; otherwise both
//! are merged.
//!
//! No program has to note its changes: a sync finds that a file has another content than at the last sync of this memory with anyone, and makes
//! that a change with an id. A deleted file keeps its changes. The ids are random and not counted, because a memory that was restored from a
//! backup, or copied, would count the same numbers again.
//!
//! Only the last ids of a file are kept. A version whose last change is older than those of another one seems to be a change of its own. Then
//! both are merged with the contents of the baseline, so nothing is lost.
//!
//! ```text
//! magic, SHA-256 of the rest, files
//! a file: path, 0 unknown, 1 there or 2 gone, digest, size, fingerprint, the last changes, those before
//! ```

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use memdir_store::path::MemoryPath;
use memdir_store::{Fingerprint, HistoryId};
use sha2::{Digest as _, Sha256};

use super::baseline::{Digest, path_of, push, sealed, unsealed};
use super::clock::{Clock, SessionId, ids};
use crate::store::StoreError;

const MAGIC: &[u8; 18] = b"memdir-versions-2\n";

/// The content of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    File(Digest, u64),
    Gone,
    /// Two syncs at the same time have seen different contents.
    Unknown,
}

/// The last version of a file that a sync has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) content: Content,
    /// If it is proof of the content.
    pub(super) fingerprint: Option<Fingerprint>,
    pub(super) clock: Clock,
}

impl Version {
    pub(super) fn digest(&self) -> Option<Digest> {
        match self.content {
            Content::File(digest, _) => Some(digest),
            Content::Gone | Content::Unknown => None,
        }
    }

    pub(super) fn is_gone(&self) -> bool {
        self.content == Content::Gone
    }
}

/// The versions of the files of one memory.
#[derive(Debug, Clone)]
pub(super) struct Versions {
    pub(super) session: SessionId,
    /// Shared with a copy until one of both changes.
    pub(super) files: Arc<BTreeMap<MemoryPath, Version>>,
}

/// The session says nothing about the files.
impl PartialEq for Versions {
    fn eq(&self, other: &Self) -> bool {
        self.files == other.files
    }
}

impl Eq for Versions {}

impl Versions {
    /// The versions of these files, in a new session.
    pub(super) fn new(files: BTreeMap<MemoryPath, Version>) -> Result<Self, StoreError> {
        let id = HistoryId::new()?;
        let digest = Sha256::digest(id.to_string());
        let mut session = SessionId::default();
        session.copy_from_slice(&digest[..16]);
        Ok(Self { session, files: Arc::new(files) })
    }

    pub(super) fn files_mut(&mut self) -> &mut BTreeMap<MemoryPath, Version> {
        Arc::make_mut(&mut self.files)
    }

    /// Enters the content that a file has now. It is a change if it is another content than at the last sync.
    pub(super) fn observe(&mut self, path: &MemoryPath, content: Content) {
        let known = self.files.get(path);
        if known.is_some_and(|version| version.content == content) {
            return;
        }
        let clock = known.map_or_else(Clock::default, |version| version.clock.clone());
        let clock = clock.next(&self.session, path);
        self.files_mut().insert(path.clone(), Version { content, fingerprint: None, clock });
    }

    /// Adds what another sync has saved meanwhile. Both are about the same files, one after the other: so the content that is there now
    /// includes the changes of both.
    pub(super) fn add(&mut self, others: BTreeMap<MemoryPath, Version>) {
        let files = self.files_mut();
        for (path, other) in others {
            let Some(version) = files.get_mut(&path) else {
                files.insert(path, other);
                continue;
            };
            version.clock = version.clock.joined(&other.clock);
            if version.content != other.content {
                (version.content, version.fingerprint) = (Content::Unknown, None);
            }
        }
    }

    /// Adds what is known of the same memory elsewhere. The newer version of a file counts.
    pub(super) fn learn(&mut self, others: BTreeMap<MemoryPath, Version>) {
        let files = self.files_mut();
        for (path, other) in others {
            let Some(version) = files.get_mut(&path) else {
                files.insert(path, other);
                continue;
            };
            match version.clock.compare(&other.clock) {
                Some(Ordering::Greater | Ordering::Equal) => {}
                Some(Ordering::Less) => *version = other,
                None => {
                    version.clock = version.clock.joined(&other.clock);
                    if version.content != other.content {
                        (version.content, version.fingerprint) = (Content::Unknown, None);
                    }
                }
            }
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (path, version) in &*self.files {
            push(&mut body, path.relative().as_bytes());
            let (kind, digest, size) = match version.content {
                Content::Unknown => (0, Digest::default(), 0),
                Content::File(digest, size) => (1, digest, size),
                Content::Gone => (2, Digest::default(), 0),
            };
            body.push(kind);
            body.extend_from_slice(&digest);
            body.extend_from_slice(&size.to_le_bytes());
            push(&mut body, version.fingerprint.as_ref().map_or(&[], Fingerprint::as_bytes));
            push(&mut body, version.clock.last.as_flattened());
            push(&mut body, version.clock.before.as_flattened());
        }
        sealed(MAGIC, &body)
    }

    /// The files in saved bytes; `None` if these are damaged.
    pub(super) fn files_of(bytes: &[u8]) -> Option<BTreeMap<MemoryPath, Version>> {
        let mut reader = unsealed(MAGIC, bytes)?;
        // They are sorted, so a map of all is made faster than one file after the other.
        let mut files = Vec::new();
        while !reader.rest.is_empty() {
            let path = path_of(reader.slice()?)?;
            let kind = reader.take(1)?;
            let (digest, size) = (reader.take(32)?.try_into().ok()?, reader.number()?);
            let content = match kind {
                [0] => Content::Unknown,
                [1] => Content::File(digest, size),
                [2] => Content::Gone,
                _ => return None,
            };
            let fingerprint = reader.slice()?;
            let fingerprint = (!fingerprint.is_empty()).then(|| Fingerprint::new(fingerprint));
            let clock = Clock { last: ids(reader.slice()?)?, before: ids(reader.slice()?)? };
            files.push((path, Version { content, fingerprint, clock }));
        }
        Some(files.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> MemoryPath {
        MemoryPath::parse(path).unwrap()
    }

    #[test]
    fn only_another_content_is_a_change() {
        let (a, mut versions) = (path("/memories/a"), empty());
        let clock = |versions: &Versions| versions.files[&path("/memories/a")].clock.clone();
        versions.observe(&a, Content::File([1; 32], 1));
        let first = clock(&versions);
        versions.observe(&a, Content::File([1; 32], 1));
        assert_eq!(clock(&versions), first);
        for content in [Content::File([2; 32], 1), Content::Gone, Content::File([1; 32], 1)] {
            let before = clock(&versions);
            versions.observe(&a, content);
            assert_eq!(clock(&versions).compare(&before), Some(Ordering::Greater));
        }
    }

    fn empty() -> Versions {
        Versions::new(BTreeMap::new()).unwrap()
    }

    fn filled() -> Versions {
        let mut versions = empty();
        for (name, content) in
            [("/memories/a", Content::File([1; 32], 7)), ("/memories/b/ü", Content::Gone)]
        {
            versions.observe(&path(name), Content::Unknown);
            versions.observe(&path(name), content);
        }
        let version = versions.files_mut().get_mut(&path("/memories/a")).unwrap();
        version.fingerprint = Some(Fingerprint::new([5; 3]));
        versions
    }

    #[test]
    fn saved_versions_are_the_same() {
        for versions in [empty(), filled()] {
            assert_eq!(Versions::files_of(&versions.to_bytes()).as_ref(), Some(&*versions.files));
        }
    }

    #[test]
    fn damaged_bytes_are_no_versions() {
        let bytes = filled().to_bytes();
        for at in 0..bytes.len() {
            assert_eq!(Versions::files_of(&bytes[..at]), None);
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(Versions::files_of(&damaged), None);
        }
    }

    #[test]
    fn what_two_syncs_saw_is_put_together() {
        let mut one = filled();
        let mut other = Versions::new((*one.files).clone()).unwrap();
        one.observe(&path("/memories/a"), Content::Gone);
        other.observe(&path("/memories/a"), Content::File([3; 32], 1));
        other.observe(&path("/memories/c"), Content::Gone);
        let clocks =
            [&one, &other].map(|versions| versions.files[&path("/memories/a")].clock.clone());
        one.add((*other.files).clone());
        let a = &one.files[&path("/memories/a")];
        assert_eq!((a.content, &a.clock), (Content::Unknown, &clocks[0].joined(&clocks[1])));
        assert!(one.files.contains_key(&path("/memories/c")));
    }
}
