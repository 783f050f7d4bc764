//! [`RedactionPlan`]: the data that a redaction removes from the records of a journal, and the replacements.
//!
//! It is applied to one record after another. Applying it twice changes nothing more, so a process can continue the redaction of
//! another process.

use std::collections::{BTreeMap, HashMap};

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use serde::{Deserialize, Serialize};

use super::record::{ContentId, Digest, Header, Record, Redaction};

/// The contents that can only be computed from splices of removed contents.
pub(super) type Wholes = HashMap<Digest, Vec<u8>>;

/// The paths that change, and their replacements.
pub(super) type NewNames = BTreeMap<MemoryPath, MemoryPath>;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RedactionPlan {
    /// The contents to remove, by their SHA-256.
    pub(super) contents: BTreeMap<Digest, Redaction>,
    /// The names to remove. In a tree of mounts: the names of each store, in its own paths.
    pub(super) names: Vec<NewNames>,
    /// The record that names the redacted versions. It has no contents.
    pub(super) note: Option<Header>,
    /// How far the journal was loaded when the plan was made.
    #[serde(skip)]
    pub(super) loaded_end: Option<u64>,
    /// The versions whose contents are redacted.
    #[serde(skip)]
    pub(super) versions: Vec<(HistoryId, Digest)>,
}

impl RedactionPlan {
    pub(super) fn has(&self, content: ContentId) -> bool {
        self.contents.contains_key(&content.sha256)
    }

    fn new_name(&self, path: &MemoryPath) -> Option<&MemoryPath> {
        self.names.iter().find_map(|names| names.get(path))
    }

    /// The record that names the redacted versions.
    pub(super) fn note(&self) -> Option<Record> {
        let header = self.note.clone()?;
        Some(Record { header, contents: Vec::new() })
    }

    /// Whether a record with this header contains something that the plan removes.
    pub(super) fn concerns(&self, header: &Header) -> bool {
        let mut paths = header.rows.iter().flat_map(|row| row.old_path.iter().chain([&row.path]));
        header.contents().any(|content| self.has(content))
            || paths.any(|path| self.new_name(path).is_some())
    }

    /// Adds to a record the contents that its splices lead to.
    pub(super) fn with_wholes(&self, mut record: Record, wholes: &Wholes) -> Record {
        let contents: Vec<ContentId> = record.header.contents().collect();
        if contents.iter().any(|content| self.has(*content)) {
            for content in contents {
                if let Some(whole) = wholes.get(&content.sha256) {
                    record.keep(content, whole);
                }
            }
        }
        record
    }

    /// Applies the plan to a record. The record must already have the contents that only its splices lead to.
    pub(super) fn apply(&self, mut record: Record) -> Record {
        let contents: Vec<ContentId> = record.header.contents().collect();
        let redactions: Vec<&Redaction> =
            contents.iter().filter_map(|content| self.contents.get(&content.sha256)).collect();
        if !redactions.is_empty() {
            record = record.with_only(|digest| !self.contents.contains_key(&digest));
        }
        for redaction in redactions {
            if !record.header.redactions.contains(redaction) {
                record.header.redactions.push(redaction.clone());
            }
        }
        for row in &mut record.header.rows {
            for content in [&mut row.before, &mut row.after].into_iter().flatten() {
                if let Some(redaction) = self.contents.get(&content.sha256) {
                    *content = ContentId { sha256: redaction.mark, size: 0 };
                }
            }
            for path in row.old_path.iter_mut().chain([&mut row.path]) {
                if let Some(new) = self.new_name(path) {
                    *path = new.clone();
                }
            }
        }
        record
    }
}
