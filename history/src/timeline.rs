//! [`Timeline`]: the versions of all files, computed from the records of a journal.
//!
//! It processes the records in order and tracks which file is at each path. A file keeps its identity from its creation to its
//! deletion, through every rename. If a record found another content than the previous one left, another program changed
//! the file. That is a version, too.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{HistoryId, Operation, Partner};

use super::journal::Stored;
use super::late_rows::{LateRows, RowNumber};
use super::record::{ContentId, Digest, Header, Redaction, Row};
use super::settle::{self, PathState};
use super::version::Version;

/// The number of version numbers for each row of a record: two, because another program may have changed the file before. Further
/// numbers after those of all rows are for files that a rename finds deleted at its new path.
const NUMBERS: usize = 2;

/// One version, and its source.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub(super) id: HistoryId,
    pub(super) header: Arc<Header>,
    /// The number of the record in the snapshot.
    pub(super) record: usize,
    /// The row of the record.
    pub(super) row: usize,
    pub(super) operation: Operation,
    pub(super) path: MemoryPath,
    pub(super) old_path: Option<MemoryPath>,
    /// The file that this is a version of.
    pub(super) file: usize,
    /// The previous version of that file, as a number in the timeline.
    pub(super) earlier: Option<usize>,
    /// The state of the file after this version.
    pub(super) state: FileState,
    /// The content that the change found, if it is recorded.
    pub(super) before: Option<ContentId>,
    /// Whether the versions before it were removed for their age.
    pub(super) is_trimmed: bool,
}

impl Moment {
    /// The change that made the version. Each change by another program is a change of its own.
    pub(super) fn change(&self) -> HistoryId {
        if self.operation == Operation::External { self.id } else { self.header.change }
    }

    /// The actor of the change, if known.
    pub(super) fn actor(&self) -> Option<&str> {
        let actor = self.header.actor.as_deref();
        actor.filter(|_| self.operation != Operation::External)
    }

    /// The other memory, if a sync made the change.
    pub(super) fn partner(&self) -> Option<&Partner> {
        let partner = self.header.partner.as_ref();
        partner.filter(|_| self.operation != Operation::External)
    }

    /// Whether the version created the file, so all of its lines are from this version.
    pub(super) fn has_begun(&self) -> bool {
        self.earlier.is_none()
            && self.operation != Operation::External
            && self.before.is_none()
            && self.old_path.is_none()
            && self.state.content().is_some()
    }
}

/// The state of a file after a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileState {
    /// The file exists with this content.
    Content(ContentId),
    /// The file exists, but its content was not read.
    Unread,
    /// The file does not exist.
    Gone,
}

impl FileState {
    pub(super) fn content(&self) -> Option<ContentId> {
        match self {
            Self::Content(content) => Some(*content),
            _ => None,
        }
    }

    pub(super) fn is_there(&self) -> bool {
        !matches!(self, Self::Gone)
    }
}

#[derive(Debug, Default)]
pub(super) struct Timeline {
    /// The versions, in the order of the journal.
    pub(super) moments: Vec<Moment>,
    /// The latest version of each file.
    pub(super) latest: Vec<usize>,
    /// The files that exist, by their paths as the store compares them.
    pub(super) live: BTreeMap<MemoryPath, usize>,
    /// The history before this record is incomplete.
    pub(super) trimmed: Option<HistoryId>,
    /// The contents that were removed, by the marks that replaced their digests.
    redactions: HashMap<Digest, Redaction>,
    /// The versions by their ids.
    numbers: HashMap<HistoryId, usize>,
    /// For each content, the files that have or had it. Consecutive versions of a file count once.
    holders: HashMap<Digest, Vec<usize>>,
}

impl Timeline {
    /// Adds the records from this number on. Some of them are `in_doubt`. No earlier record was.
    pub(super) fn extend(
        &mut self,
        records: &[Stored],
        from: usize,
        in_doubt: &HashSet<HistoryId>,
        folding: Folding,
        live: &mut dyn FnMut(&MemoryPath) -> PathState,
    ) {
        let records = &records[from..];
        let not_made = settle::not_made(records, in_doubt, folding, live);
        let kept = |(number, row): RowNumber| &records[number].header.rows[row];
        let was_made = |number| !not_made.contains(&number) && !kept(number).is_reserved();
        let late = LateRows::among(records, was_made, folding, live);
        for (number, stored) in records.iter().enumerate() {
            let record = from + number;
            for redaction in &stored.header.redactions {
                self.redactions.insert(redaction.mark, redaction.clone());
            }
            self.trimmed = self.trimmed.max(stored.header.trims);
            self.add_redaction(&stored.header, record);
            let rows = 0..stored.header.rows.len();
            let made = rows.map(|row| (number, row)).filter(|number| was_made(*number));
            for (number, row) in made.flat_map(|number| late.at(number)) {
                let header = &records[number].header;
                self.add(header, (from + number, row), kept((number, row)), folding);
            }
        }
    }

    fn add(
        &mut self,
        header: &Arc<Header>,
        (record, row): (usize, usize),
        kept: &Row,
        folding: Folding,
    ) {
        let key = |path: &MemoryPath| folding.key(path).into_owned();
        let from = kept.old_path.as_ref().unwrap_or(&kept.path);
        let before = self.live.get(&key(from)).copied();
        let known = before.and_then(|file| self.moments[self.latest[file]].state.content());
        let is_new = kept.old_path.is_none()
            && matches!(settle::ends(kept), (PathState::Nothing, PathState::File(_)));
        let external = |timeline: &mut Self, number, path: &MemoryPath, file, state| {
            timeline.push(
                file,
                Moment {
                    id: header.id.numbered(number),
                    header: Arc::clone(header),
                    record,
                    row,
                    operation: Operation::External,
                    path: path.clone(),
                    old_path: None,
                    file: 0,
                    earlier: None,
                    state,
                    before: None,
                    is_trimmed: false,
                },
            )
        };
        let number = row * NUMBERS + 1;
        let file = match (before, kept.before) {
            // The file existed, so another program must have deleted it.
            (Some(file), None) if is_new => {
                external(self, number, from, Some(file), FileState::Gone);
                self.live.remove(&key(from));
                None
            }
            (_, None) => before,
            (_, Some(found)) if known == Some(found) => before,
            // The versions in between were removed for their age.
            (before, Some(_)) if kept.is_trimmed => before,
            (_, Some(found)) => {
                Some(external(self, number, from, before, FileState::Content(found)))
            }
        };
        // A rename replaces nothing, so another program must have deleted the file that was there.
        if kept.old_path.is_some()
            && let Some(replaced) = self.live.get(&key(&kept.path)).copied()
            && Some(replaced) != file
        {
            let number = header.rows.len() * NUMBERS + row + 1;
            external(self, number, &kept.path, Some(replaced), FileState::Gone);
        }
        let state = match (settle::ends(kept).1, kept.after) {
            (PathState::Nothing, _) => FileState::Gone,
            (_, Some(content)) => FileState::Content(content),
            // The file moved with its content.
            (_, None) => match file {
                Some(file) => self.moments[self.latest[file]].state.clone(),
                None => FileState::Unread,
            },
        };
        let is_there = state.is_there();
        let file = self.push(
            file,
            Moment {
                id: header.id.numbered(row * NUMBERS + 2),
                header: Arc::clone(header),
                record,
                row,
                operation: kept.operation,
                path: kept.path.clone(),
                old_path: kept.old_path.clone(),
                file: 0,
                earlier: None,
                state,
                before: kept.before,
                is_trimmed: kept.is_trimmed,
            },
        );
        self.live.remove(&key(from));
        if is_there {
            self.live.insert(key(&kept.path), file);
        }
    }

    /// Adds the redaction of contents or names. It does not add a version to the file itself.
    fn add_redaction(&mut self, header: &Arc<Header>, record: usize) {
        for (number, id) in header.redacts.iter().enumerate() {
            let Some(redacted) = self.find(*id).map(|number| &self.moments[number]) else {
                continue;
            };
            self.insert(Moment {
                id: header.id.numbered(number + 1),
                header: Arc::clone(header),
                record,
                operation: Operation::Redacted,
                old_path: None,
                earlier: None,
                state: FileState::Gone,
                before: None,
                is_trimmed: false,
                ..redacted.clone()
            });
        }
    }

    /// The reason why a content was removed from the history, if it was.
    pub(super) fn redaction(&self, content: ContentId) -> Option<&Redaction> {
        self.redactions.get(&content.sha256)
    }

    /// The reason of a version that says that a content or a name was removed.
    pub(super) fn reason_of<'m>(&'m self, redaction: &'m Moment) -> Option<&'m str> {
        if let Some(reason) = &redaction.header.reason {
            return Some(reason);
        }
        let number = redaction.id.number().checked_sub(1)?;
        let redacted = self.find(*redaction.header.redacts.get(number)?)?;
        let removed = self.redaction(self.moments[redacted].state.content()?)?;
        Some(&removed.reason)
    }

    /// Adds a version to a file, or to a new file if there is none, and returns the file.
    fn push(&mut self, file: Option<usize>, moment: Moment) -> usize {
        let number = self.moments.len();
        let (file, earlier) = match file {
            Some(file) => (file, Some(std::mem::replace(&mut self.latest[file], number))),
            None => {
                self.latest.push(number);
                (self.latest.len() - 1, None)
            }
        };
        if let Some(content) = moment.state.content() {
            let holders = self.holders.entry(content.sha256).or_default();
            if holders.last() != Some(&file) {
                holders.push(file);
            }
        }
        self.insert(Moment { file, earlier, ..moment });
        file
    }

    fn insert(&mut self, moment: Moment) {
        self.numbers.insert(moment.id, self.moments.len());
        self.moments.push(moment);
    }

    /// The number of the version with this id.
    pub(super) fn find(&self, id: HistoryId) -> Option<usize> {
        self.numbers.get(&id).copied()
    }

    /// The path of a file that has this content now, as far as the history knows.
    pub(super) fn holder(&self, content: Digest) -> Option<&MemoryPath> {
        let files = self.holders.get(&content)?.iter().rev();
        let mut latest = files.map(|file| &self.moments[self.latest[*file]]);
        let has_it =
            |moment: &&Moment| moment.state.content().is_some_and(|held| held.sha256 == content);
        latest.find(has_it).map(|moment| &moment.path)
    }

    /// Whether a version is the latest of its file.
    pub(super) fn is_latest(&self, number: usize) -> bool {
        self.latest[self.moments[number].file] == number
    }

    /// The versions of a file, newest first.
    pub(super) fn chain(&self, file: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(self.latest[file]), |number| self.moments[*number].earlier)
    }

    /// The public form of a version.
    pub(super) fn version(&self, number: usize) -> Version {
        let moment = &self.moments[number];
        let held = moment.state.content();
        let redaction = held.and_then(|content| self.redaction(content));
        let content = held.filter(|_| redaction.is_none());
        Version {
            id: moment.id,
            change: moment.change(),
            operation: moment.operation,
            path: moment.path.clone(),
            old_path: moment.old_path.clone(),
            time: moment.id.time(),
            actor: moment.actor().map(str::to_owned),
            partner: moment.partner().map(|partner| partner.name.clone()),
            partner_version: moment.partner().and_then(|partner| partner.version),
            size: content.map(|content| content.size),
            sha256: content.map(|content| content.sha256.to_string()),
            is_current: moment.state.is_there() && self.is_latest(number),
            redacted: redaction.map(|redaction| redaction.reason.clone()),
        }
    }
}
