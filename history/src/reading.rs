//! [`HistorySnapshot`]: the history at one moment, for a caller that reads much of it.
//!
//! A caller that reads version after version, such as a log with diffs, an export or a check, needs contents that are close to
//! those it has just read. So the snapshot caches the contents that it computed last, and each version costs one splice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use memdir_store::HistoryId;
use memdir_store::path::MemoryPath;
use memdir_store::{Cancellation, Context, Durability, Operation, Store};

use super::diff::unified;
use super::error::HistoryError;
use super::reader::HistoryReader;
use super::record::{ContentId, Digest};
use super::recorder::Recorder;
use super::snapshot::Snapshot;
use super::timeline::FileState;
use super::version::Version;

/// The maximum total size of the cached contents, in bytes.
pub(super) const KEPT: usize = 64 << 20;

/// The history of a memory at one moment, from `Memory::history_snapshot`, for a caller that reads much of it, such as a log with
/// diffs or an export. It caches up to 64 MiB of the contents that it computed last, so reading the next version of a file costs
/// little.
pub struct HistorySnapshot<'r> {
    pub(super) reader: &'r HistoryReader,
    pub(super) snapshot: Arc<Snapshot>,
    cancellation: Cancellation,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    contents: HashMap<Digest, Arc<Vec<u8>>>,
    bytes: usize,
}

impl HistoryReader {
    /// A snapshot of the history, for a caller that reads much of it.
    ///
    /// # Errors
    /// [`HistoryError::Store`] if the history cannot be read.
    pub fn history_snapshot(&self, context: &Context) -> Result<HistorySnapshot<'_>, HistoryError> {
        let (snapshot, cancellation) = (self.snapshot(context)?, context.cancellation().clone());
        Ok(HistorySnapshot { reader: self, snapshot, cancellation, kept: Mutex::default() })
    }
}

impl HistorySnapshot<'_> {
    /// Reads from the snapshot end when the call that made it is cancelled.
    pub(super) fn context(&self) -> Context {
        Context::new().cancelled_by(&self.cancellation)
    }

    pub(super) fn content(&self, wanted: ContentId) -> Result<Arc<Vec<u8>>, HistoryError> {
        if let Some(content) = self.kept(wanted.sha256) {
            return Ok(content);
        }
        let (snapshot, context) = (&*self.snapshot, &self.context());
        let journal = &*self.reader.journal;
        let read =
            snapshot.contents.read(context, &snapshot.records, journal, wanted, &mut |digest| {
                if let Some(content) = self.kept(digest) {
                    return Some(content.to_vec());
                }
                let content =
                    self.reader.found_content(context, snapshot.timeline.holder(digest)?)?;
                (Digest::of(&content) == digest).then_some(content)
            });
        let content = match read {
            Ok(content) => content,
            // Another process may have rewritten the journal meanwhile.
            Err(_) => self.reader.content(context, snapshot, wanted)?,
        };
        let content = Arc::new(content);
        self.keep(wanted.sha256, &content);
        Ok(content)
    }

    fn kept(&self, digest: Digest) -> Option<Arc<Vec<u8>>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.contents.get(&digest).cloned()
    }

    fn keep(&self, digest: Digest, content: &Arc<Vec<u8>>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.bytes + content.len() > KEPT {
            *kept = Kept::default();
        }
        if content.len() <= KEPT && kept.contents.insert(digest, Arc::clone(content)).is_none() {
            kept.bytes += content.len();
        }
    }
}

impl HistoryReader {
    /// The current content of a file, if it can be read.
    fn found_content(&self, context: &Context, path: &MemoryPath) -> Option<Vec<u8>> {
        self.store.read_in(context, path).ok()
    }
}

/// Whether a store has a history, no matter which program recorded it. A history whose versions were all removed counts. Pass a store
/// that `open_store` returned: `Memory::store` of a memory with a history does not show where the history is kept.
///
/// ```
/// let store = memdir::open_store("memory:", &memdir::MemoryOptions::default())?;
/// assert!(!memdir::history::has_history(&store)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`HistoryError::Store`].
pub fn has_history(store: &Arc<dyn Store>) -> Result<bool, HistoryError> {
    let recorder = Recorder::untrimmed(Arc::clone(store), Durability::Full);
    Ok(!recorder.reader().history_snapshot(&Context::new())?.is_empty())
}

/// A version, for a caller that iterates over all of them.
pub struct ListedVersion {
    /// The version.
    pub version: Version,
    /// The file that this is a version of. All versions of a file have the same number.
    pub file: usize,
    /// Whether a sync made the version by merging that of the other memory with the one before.
    pub is_merged: bool,
    pub(super) number: usize,
}

impl HistorySnapshot<'_> {
    /// The versions of everything that is or was at the path and below it, newest first.
    pub fn listed(&self, path: &MemoryPath) -> impl Iterator<Item = ListedVersion> {
        let timeline = &self.snapshot.timeline;
        let numbers = (0..timeline.moments.len()).rev();
        let wanted = numbers.filter(|number| self.snapshot.concerns(*number, path));
        wanted.map(|number| {
            let (version, moment) = (timeline.version(number), &timeline.moments[number]);
            let is_merged = moment.partner().is_some_and(|partner| partner.is_merged);
            ListedVersion { version, file: moment.file, is_merged, number }
        })
    }

    /// The version that was redacted by a version with the operation `redacted`; `None` for any other version.
    #[must_use]
    pub fn redacted_by(&self, id: HistoryId) -> Option<HistoryId> {
        let timeline = &self.snapshot.timeline;
        let moment = &timeline.moments[timeline.find(id)?];
        if moment.operation != Operation::Redacted {
            return None;
        }
        let number = moment.id.number().checked_sub(1)?;
        moment.header.redacts.get(number).copied()
    }

    /// The content after a version; `None` if the history no longer has it, or if the version is a deletion.
    pub fn left_by(&self, listed: &ListedVersion) -> Result<Option<Arc<Vec<u8>>>, HistoryError> {
        match self.content_of(listed.number) {
            Ok(content) => Ok(Some(content)),
            Err(HistoryError::NoContent(_) | HistoryError::Redacted(_) | HistoryError::Damaged) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The content after a version.
    pub(super) fn content_of(&self, number: usize) -> Result<Arc<Vec<u8>>, HistoryError> {
        match &self.snapshot.timeline.moments[number].state {
            FileState::Content(content) if self.snapshot.timeline.redaction(*content).is_none() => {
                self.content(*content)
            }
            _ => self.reader.content_of(&self.context(), &self.snapshot, number).map(Arc::new),
        }
    }
}

impl HistorySnapshot<'_> {
    /// Whether there never was a history. A history whose versions were all removed is not empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshot.records.is_empty() && self.snapshot.damaged.is_empty()
    }

    /// The number of versions.
    pub fn versions(&self) -> usize {
        self.snapshot.timeline.moments.len()
    }
}

impl HistorySnapshot<'_> {
    /// The change that made a version, as a unified diff of its file. The same as `Memory::diff` of this version alone.
    ///
    /// # Errors
    /// As `Memory::diff`.
    pub fn diff(&self, id: HistoryId) -> Result<String, HistoryError> {
        let timeline = &self.snapshot.timeline;
        let number = timeline.find(id).ok_or_else(|| HistoryError::Unknown(id.to_string()))?;
        let (old_path, old) = self.side(timeline.moments[number].earlier)?;
        let (path, new) = self.side(Some(number))?;
        Ok(unified(old_path, &old, path, &new))
    }

    fn side(
        &self,
        number: Option<usize>,
    ) -> Result<(Option<&MemoryPath>, Arc<Vec<u8>>), HistoryError> {
        let Some(number) = number else { return Ok((None, Arc::default())) };
        let moment = &self.snapshot.timeline.moments[number];
        match moment.state {
            FileState::Gone => Ok((None, Arc::default())),
            _ => Ok((Some(&moment.path), self.content_of(number)?)),
        }
    }
}
