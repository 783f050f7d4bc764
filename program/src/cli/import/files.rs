//! [`Source`] and [`Files`]: the files to import, after the kind of the source is known.

use std::fs::File;

use super::left_out::LeftOut;
use memdir::path::{MemoryPath, is_hidden};
use memdir::store::{Entry, Store, StoreError};

/// The source of an import.
pub(super) enum Source {
    /// An archive of `memdir export`, not yet checked.
    Archive(File),
    Files(Files),
}

/// Files as a read-only store.
pub(crate) struct Files {
    pub(super) store: Box<dyn Store>,
    /// The directory of `store` that becomes the directory in the memory.
    pub(super) base: MemoryPath,
    /// Entries that are known not to be importable files.
    pub(super) left_out: Vec<LeftOut>,
    /// Whether hidden files are included in any case.
    pub(super) with_hidden: bool,
    /// Whether the source is a single file or an archive, so it cannot contain an unpacked archive.
    pub(super) is_known: bool,
}

impl Files {
    pub(super) fn new(store: Box<dyn Store>) -> Self {
        Self {
            store,
            base: MemoryPath::root(),
            left_out: Vec::new(),
            with_hidden: false,
            is_known: false,
        }
    }

    /// The files of an archive, whose hidden files are part of the memory.
    pub(crate) fn of_archive(store: Box<dyn Store>) -> Self {
        Self { with_hidden: true, is_known: true, ..Self::new(store) }
    }

    pub(super) fn with(store: Box<dyn Store>, left_out: Vec<LeftOut>) -> Self {
        Self { left_out, ..Self::new(store) }
    }

    /// Uses the directory `memories` as the base if this is a memory in the layout of the SDKs' tools. Such a directory contains no
    /// other files to import, but may contain memdir's own history.
    pub(super) fn beneath_memories(mut self) -> Result<Self, StoreError> {
        let mut entries = self.store.list(&self.base)?;
        entries.retain(|entry| entry.path.name().is_some_and(|name| !is_hidden(name)));
        let is_of_layout = |entry: &Entry| {
            !entry.is_file() && matches!(entry.path.name(), Some("memories" | "history"))
        };
        let memories = entries.iter().find(|entry| entry.path.name() == Some("memories"));
        if let Some(memories) = memories
            && entries.iter().all(is_of_layout)
        {
            self.base = memories.path.clone();
            if entries.len() > 1 {
                self.left_out.push(LeftOut::history());
            }
        }
        Ok(self)
    }
}
