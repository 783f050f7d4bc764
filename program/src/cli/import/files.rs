//! [`Source`] and [`Files`]: what is imported, once it is known what is at its path.

use std::fs::File;

use super::left_out::LeftOut;
use memdir::path::{MemoryPath, is_hidden};
use memdir::store::{Entry, Store, StoreError};

/// What is imported.
pub(super) enum Source {
    /// An archive of `memdir export`, not yet checked.
    Archive(File),
    Files(Files),
}

/// Files, as a store that is only read.
pub(crate) struct Files {
    pub(super) store: Box<dyn Store>,
    /// The directory of `store` that becomes the one of the memory.
    pub(super) base: MemoryPath,
    /// What is known to be no file that could be imported.
    pub(super) left_out: Vec<LeftOut>,
    /// Whether hidden files are part of it in any case.
    pub(super) with_hidden: bool,
    /// Whether it is one file, or what was an archive: not a tree in which an unpacked archive could be.
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

    /// Those of an archive, whose hidden files are part of the memory.
    pub(crate) fn of_archive(store: Box<dyn Store>) -> Self {
        Self { with_hidden: true, is_known: true, ..Self::new(store) }
    }

    pub(super) fn with(store: Box<dyn Store>, left_out: Vec<LeftOut>) -> Self {
        Self { left_out, ..Self::new(store) }
    }

    /// A directory with a memory in the layout of the SDKs' tools holds the files in its directory `memories`. Nothing else is
    /// in it that could be imported, but perhaps memdir's own history.
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
