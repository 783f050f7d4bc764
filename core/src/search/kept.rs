//! [`Kept`]: the index, and the vectors of its passages, in hidden files of the store, for other processes.
//!
//! ```text
//! .memdir-search/ID            a saved index, or an empty file: the claim of a process that is about to save one
//! .memdir-search/ID.vectors    the same for vectors
//! ```
//! Vectors have a file of their own, so a process without an embedder does not remove them, and they outlive a version of the index.
//!
//! A process that saves its index first makes an empty file with a new id, its claim. Then it brings the index up to date, and replaces the
//! content of its claim. The store does that only if the claim is still there. So a process that removes a text for good removes the
//! directory afterwards: an older claim is gone then, and the process of a newer one does not find the text.
//!
//! The claim also lists the older files, which are removed after it. Two processes at the same moment may both leave an index, and the next
//! one removes both.

use memdir_store::path::MemoryPath;
use memdir_store::{
    Context, Entry, EntryKind, HistoryId, Mutation, OnExisting, SEARCH, Splice, Store as _,
};

use crate::store::InContext;

/// The place of the index in one store.
pub(crate) struct Kept<'s> {
    store: InContext<'s>,
    pub(super) is_read_only: bool,
}

/// A kind of kept file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Index,
    Vectors,
}

impl Part {
    /// The end of its files' names.
    fn ending(self) -> &'static str {
        match self {
            Self::Index => "",
            Self::Vectors => ".vectors",
        }
    }

    fn has(self, name: &str) -> bool {
        name.strip_suffix(self.ending()).is_some_and(|id| !id.contains('.'))
    }
}

/// The right to save a part.
pub(super) struct Claim {
    path: MemoryPath,
    /// The files that were there before it.
    older: Vec<MemoryPath>,
}

impl<'s> Kept<'s> {
    /// The place in the store beneath a history. It is only read if the memory is read-only.
    pub(crate) fn new(store: InContext<'s>, is_read_only: bool) -> Self {
        let is_read_only = is_read_only || store.info().is_read_only;
        Self { store, is_read_only }
    }

    /// The bytes of the newest index or vectors, if there are at most `most`. `None` also after a failure: the files are there, too.
    pub(super) fn newest(&self, part: Part, most: u64) -> Option<Vec<u8>> {
        let has_bytes = |entry: &Entry| matches!(entry.kind, EntryKind::File(1..));
        let newest =
            self.list(part)?.into_iter().filter(has_bytes).max_by(|a, b| a.path.cmp(&b.path))?;
        match newest.kind {
            EntryKind::File(size) if size <= most => self.store.read(&newest.path).ok(),
            _ => None,
        }
    }

    /// Makes a claim. `None` if the store cannot have one.
    pub(super) fn claim(&self, part: Part) -> Option<Claim> {
        let older = self.list(part).unwrap_or_default().into_iter().map(|entry| entry.path);
        let older = older.collect();
        let name = format!("{}{}", HistoryId::new().ok()?, part.ending());
        let path = directory()?.join(&name).ok()?;
        let write = Mutation::Write { path: &path, content: &[], existing: OnExisting::Error };
        self.store.mutate(&self.context(), write).ok()?;
        Some(Claim { path, older })
    }

    /// Saves the bytes, and removes the older ones. Without bytes, or if the store fails, it removes the claim. Does nothing if the
    /// claim was removed.
    pub(super) fn fill(&self, claim: Claim, bytes: Option<Vec<u8>>) {
        let Claim { path, older } = claim;
        let (mut bytes, mut is_filled) = (bytes, false);
        if bytes.is_some() {
            // The bytes are many, so they are not copied for a second attempt of the store.
            let edit = &mut |old: &[u8]| {
                is_filled = !old.is_empty() || bytes.is_some();
                Some(Splice { range: 0..old.len(), text: bytes.take()? })
            };
            let update = Mutation::Update { path: &path, edit };
            is_filled = self.store.mutate(&self.context(), update).is_ok() && is_filled;
        }
        let to_remove = if is_filled { older } else { vec![path] };
        for path in &to_remove {
            // Whatever is left is removed with the next index.
            let _ = self.store.mutate(&self.context(), Mutation::Delete { path });
        }
    }

    fn list(&self, part: Part) -> Option<Vec<Entry>> {
        let mut entries = self.store.list(&directory()?).ok()?;
        entries.retain(|entry| entry.path.name().is_some_and(|name| part.has(name)));
        Some(entries)
    }

    fn context(&self) -> Context {
        Context::new().cancelled_by(self.store.cancellation())
    }
}

fn directory() -> Option<MemoryPath> {
    MemoryPath::root().join(SEARCH).ok()
}
