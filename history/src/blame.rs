//! `blame`: the version that added each line of a file.
//!
//! It walks the versions from the newest to the oldest. A splice shows which lines its change touched. If there is no splice, or if
//! another program changed the file, two whole contents are compared. The walk ends when each line has its version.

use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use memdir_store::{Context, HistoryId, Operation, StoreError};
use serde::Serialize;

use super::error::HistoryError;
use super::journal::OpenSegment;
use super::line_trace::LineTrace;
use super::reader::HistoryReader;
use super::record::{ContentId, Digest};
use super::snapshot::Snapshot;
use super::timeline::Moment;

/// A line of a file, and the version that added it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BlamedLine {
    /// The line number, starting at 1.
    pub line: u64,
    /// The line without its line feed. A carriage return before it is part of the text.
    pub text: String,
    /// The id of the version that added the line. `None` if the history does not know it: another program changed the file since its
    /// last version, or the file has no version.
    pub version: Option<HistoryId>,
    /// The id of the change that made this version.
    pub change: Option<HistoryId>,
    /// The operation of this change: `external` if another program added the line.
    pub operation: Option<Operation>,
    /// The actor of this change, as set on the memory that made it.
    pub actor: Option<String>,
    /// The time of this change. For an external version, the time when it was detected.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub time: Option<SystemTime>,
    /// Whether the line may be older than this version: another program added it, or earlier versions were removed for their
    /// age, redacted or damaged.
    pub may_be_older: bool,
}

/// The version that added a line, if it is known.
#[derive(Debug, Clone, Copy)]
struct Cause {
    number: Option<usize>,
    may_be_older: bool,
}

impl HistoryReader {
    /// For each line of the current content, the version that added it. A line that was removed and restored belongs to the version
    /// that restored it. A file that was created again after its deletion starts over.
    ///
    /// # Errors
    /// [`HistoryError::NoFile`] if there is no file; [`HistoryError::NotText`] if it is not UTF-8; [`HistoryError::Store`].
    pub fn blame(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Vec<BlamedLine>, HistoryError> {
        let (snapshot, content) = self.snapshot_and_content(context, path)?;
        let (lines, is_whole) = self.blame_in(context, &snapshot, path, &content)?;
        if is_whole {
            return Ok(lines);
        }
        // A record could not be read. Another process may have rewritten the journal since it was loaded. Then the records have
        // moved.
        self.index_in(context)?.reload(context, &*self.journal)?;
        let (snapshot, content) = self.snapshot_and_content(context, path)?;
        Ok(self.blame_in(context, &snapshot, path, &content)?.0)
    }

    /// The blame, and whether every record that it needs was read.
    fn blame_in(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        path: &MemoryPath,
        content: &[u8],
    ) -> Result<(Vec<BlamedLine>, bool), HistoryError> {
        let not_text = |_| HistoryError::NotText { path: path.clone() };
        let lines = std::str::from_utf8(content).map_err(not_text)?.split_inclusive('\n');
        let mut trace = LineTrace::new(content);
        let mut is_whole = true;
        if let Some(file) = snapshot.file_at(path) {
            let chain: Vec<usize> = snapshot.timeline.chain(file).collect();
            let open = OpenSegment::default();
            let mut walk = Walk { reader: self, context, snapshot, trace, is_whole, open };
            walk.through(&chain, ContentId::of(content))?;
            (trace, is_whole) = (walk.trace, walk.is_whole);
        }
        let blamed = lines.zip(trace.into_causes()).zip(1..).map(|((line, cause), number)| {
            let text = line.strip_suffix('\n').unwrap_or(line).to_owned();
            snapshot.blamed(number, text, cause)
        });
        Ok((blamed.collect(), is_whole))
    }

    /// The history and the content of a file at the same moment, provided that only memories with this history change the file.
    fn snapshot_and_content(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<(Arc<Snapshot>, Vec<u8>), HistoryError> {
        if self.is_hidden(path) {
            return Err(HistoryError::NoFile { path: path.clone() });
        }
        let mut latest_before = None;
        loop {
            context.check()?;
            let snapshot = self.snapshot(context)?;
            let content = match self.store.read_in(context, path) {
                Err(
                    StoreError::NotFound
                    | StoreError::IsADirectory
                    | StoreError::NotADirectory
                    | StoreError::Symlink
                    | StoreError::SpecialFile,
                ) => return Err(HistoryError::NoFile { path: path.clone() }),
                read => read?,
            };
            let timeline = &snapshot.timeline;
            let latest =
                snapshot.file_at(path).map(|file| &timeline.moments[timeline.latest[file]]);
            let recorded = latest.and_then(|latest| latest.state.content());
            let is_recorded = recorded.is_none_or(|recorded| recorded == ContentId::of(&content));
            let latest = Some(latest.map(|latest| latest.id));
            // Either nothing was recorded meanwhile, so another program changed the file, or the content is recorded.
            if is_recorded || latest == latest_before {
                return Ok((snapshot, content));
            }
            latest_before = latest;
        }
    }
}

impl Snapshot {
    /// The file at a path, as far as the history knows.
    pub(super) fn file_at(&self, path: &MemoryPath) -> Option<usize> {
        self.timeline.live.get(&*self.folding.key(path)).copied()
    }

    fn blamed(&self, line: u64, text: String, cause: Option<Cause>) -> BlamedLine {
        let may_be_older = cause.is_none_or(|cause| cause.may_be_older);
        let number = cause.and_then(|cause| cause.number);
        let moment = number.map(|number| &self.timeline.moments[number]);
        BlamedLine {
            line,
            text,
            version: moment.map(|moment| moment.id),
            change: moment.map(Moment::change),
            operation: moment.map(|moment| moment.operation),
            actor: moment.and_then(Moment::actor).map(str::to_owned),
            time: moment.map(|moment| moment.id.time()),
            may_be_older,
        }
    }
}

/// The walk back through the versions of a file.
struct Walk<'w> {
    reader: &'w HistoryReader,
    context: &'w Context,
    snapshot: &'w Snapshot,
    trace: LineTrace<Cause>,
    /// Whether every record that was needed was read.
    is_whole: bool,
    open: OpenSegment,
}

impl Walk<'_> {
    /// Goes from the current content back through the versions, newest first, until each line has its version.
    fn through(&mut self, chain: &[usize], found: ContentId) -> Result<(), HistoryError> {
        let moments = &self.snapshot.timeline.moments;
        let mut earlier = chain.iter().copied().peekable();
        // The version that added the lines that no earlier version has; `None` if it is not recorded.
        let latest = |number: &usize| moments[*number].state.content().is_none_or(|it| it == found);
        let mut version = earlier.next_if(latest);
        // The content that the trace has reached.
        let mut content = found;
        loop {
            self.context.check()?;
            // The content before the version, if the change is known only from it.
            let mut before = None;
            if let Some(moment) = version.map(|number| &moments[number]) {
                let cause = Cause { number: version, may_be_older: false };
                if moment.has_begun() {
                    self.trace.end(cause);
                } else if let Some(undone) = self.undo_splice(moment, cause)? {
                    content = undone;
                } else if moment.operation != Operation::External {
                    before = moment.before;
                }
            }
            if self.trace.is_complete() {
                return self.check(content);
            }
            let cause = |may_be_older| Cause { number: version, may_be_older };
            let next = loop {
                // Nothing earlier is known.
                let Some(number) = earlier.next() else {
                    self.trace.end(cause(true));
                    return self.check(content);
                };
                let left = moments[number].state.content();
                if left == Some(content) {
                    break number;
                }
                if let (Some(left), Some(text)) = (left, self.text(number)?) {
                    self.check(content)?;
                    self.trace.go_to(&text, cause(before != Some(left)));
                    content = left;
                    break number;
                }
            };
            version = Some(next);
        }
    }

    /// Undoes the splice of a version, if the history has it. Returns the content before it.
    fn undo_splice(
        &mut self,
        moment: &Moment,
        cause: Cause,
    ) -> Result<Option<ContentId>, HistoryError> {
        let row = &moment.header.rows[moment.row];
        // The row of an external version is the row of the change that detected it.
        let (Some(splice), Some(before), true) =
            (row.splice, row.before, moment.operation != Operation::External)
        else {
            return Ok(None);
        };
        let stored = &self.snapshot.records[moment.record];
        let record = match self.reader.journal.read_next(self.context, stored, &mut self.open) {
            Ok(record) => record,
            Err(StoreError::Cancelled) => return Err(StoreError::Cancelled.into()),
            // The content before it may be available in another way.
            Err(_) => {
                self.is_whole = false;
                return Ok(None);
            }
        };
        let Some((removed, inserted)) = record.splice(&splice) else { return Ok(None) };
        let at = usize::try_from(splice.at).map_err(|_| HistoryError::Damaged)?;
        let undone = self.trace.undo_splice(at, removed, inserted, cause);
        undone.map(|()| Some(before)).map_err(|_| HistoryError::Damaged)
    }

    /// The content after a version, if the history has it.
    fn text(&self, number: usize) -> Result<Option<Vec<u8>>, HistoryError> {
        match self.reader.content_of(self.context, self.snapshot, number) {
            Ok(text) => Ok(Some(text)),
            Err(HistoryError::NoContent(_) | HistoryError::Redacted(_) | HistoryError::Damaged) => {
                Ok(None)
            }
            Err(HistoryError::Store(error)) if error.is_damage() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Splices that do not fit together are a bug or a forgery.
    fn check(&self, content: ContentId) -> Result<(), HistoryError> {
        let is_it = Digest::of(&self.trace.text()) == content.sha256;
        if is_it { Ok(()) } else { Err(HistoryError::Damaged) }
    }
}
