//! What the history of a memory knows of times before: the types of the methods, and the methods.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::time::SystemTime;

use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::history::export;

use crate::border::{MemdirText, MemdirTime};
use crate::error::MemdirError;
use crate::expiry::number;
use crate::files::{count, path_or_root};
use crate::history::{HistoryOperation, Version};
use crate::memory::Memory;

/// A place where `grep_history` found something that is not there any more.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct HistoryMatch {
    /// The newest version that has it.
    pub version: Version,
    /// The number of the line in that version, counted from 1; null if the name was found.
    pub line: Option<i64>,
    /// The line, or the name. A long line is cut around the match, with `…` where something is left
    /// out.
    pub text: String,
}

/// A file as it was at a time.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct PastFile {
    /// Where it was.
    pub path: String,
    /// Its size in bytes; null if its content is redacted, or nobody has read it since it was moved.
    pub size: Option<i64>,
    /// When it was last changed before that time, if that is known.
    pub modified: Option<SystemTime>,
    /// The id of its version; null for a file that was not changed since the history is kept.
    pub version: Option<String>,
}

/// A line of a file, and the version that brought it.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// The number of the line, counted from 1.
    pub line: i64,
    /// The line without its line feed. A carriage return before that is a part of the text.
    pub text: String,
    /// The id of the version that brought the line. Null if the history does not know of it: another program changed the
    /// file since its last version, or it has no version.
    pub version: Option<String>,
    /// The id of the change that made this version.
    pub change: Option<String>,
    /// What this change did: external if another program brought the line.
    pub operation: Option<HistoryOperation>,
    /// Who made this change, as the memory was told.
    pub actor: Option<String>,
    /// When. Of an external version, when it was noticed.
    pub time: Option<SystemTime>,
    /// Whether the line may be older than this version: another program brought it, or earlier versions were removed for
    /// their age, redacted or damaged.
    pub may_be_older: bool,
}

/// What `Memory.redactText` removed from the history, or would remove.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct RedactedText {
    /// The id of the change; null if there was nothing to do, or with `dryRun`.
    pub change: Option<String>,
    /// The versions whose contents have the text, newest first, as they were before.
    pub versions: Vec<Version>,
    /// The paths of the files that have it now, with `dryRun`; otherwise that is an error.
    pub current: Vec<String>,
    /// The paths that have the text, as they were before, sorted: `redacted-` and random digits stand in the place of the
    /// names.
    pub names: Vec<String>,
    /// The paths that have the text in a name now, sorted: they stay.
    pub kept_names: Vec<String>,
}

impl From<memdir::history::RedactedText> for RedactedText {
    fn from(redacted: memdir::history::RedactedText) -> Self {
        Self {
            change: redacted.change.as_ref().map(ToString::to_string),
            versions: redacted.versions.into_iter().map(Version::from).collect(),
            current: redacted.current.iter().map(ToString::to_string).collect(),
            names: redacted.names.iter().map(ToString::to_string).collect(),
            kept_names: redacted.kept_names.iter().map(ToString::to_string).collect(),
        }
    }
}

#[uniffi::export]
impl Memory {
    /// Removes every content with a text from the history for good, as `redact` does, in whatever version of whatever file:
    /// a text anywhere in the content, a regular expression in a line. With `dryRun` it only returns what it would do, and
    /// which files have the text now. The text goes from names as well, unless a file or directory has them now; names of
    /// actors stay. It computes every content.
    ///
    /// Throws `History` if files have the text now, or the memory has no history or is read-only; `Config` if the regular
    /// expression is wrong; `Store` if the store is broken.
    #[uniffi::method(default(regex = false, ignore_case = false, dry_run = false))]
    pub fn redact_text(
        &self,
        query: MemdirText,
        reason: MemdirText,
        regex: bool,
        ignore_case: bool,
        dry_run: bool,
    ) -> Result<RedactedText, MemdirError> {
        let (query, reason) = (query.option("query")?, reason.option("reason")?);
        let query = grep_query(&query, regex, ignore_case)?;
        Ok(self.core.redact_text(&query, &reason, dry_run)?.into())
    }

    /// The first `limit` names and lines that are in the history, and that the files do not have any more: newest first,
    /// each with the newest version that has it. `path` is what is or was there, and below it; null is `/memories`. The
    /// query is that of `grep`. With `sensitive_on_view` the texts are searched as a view would show them.
    ///
    /// Throws `History` if the memory has no history, or the path is none; `Config` if the regular expression is wrong;
    /// `Store` if the store is broken.
    #[uniffi::method(default(regex = false, ignore_case = false, path = None, limit = 100))]
    pub fn grep_history(
        &self,
        query: MemdirText,
        regex: bool,
        ignore_case: bool,
        path: Option<MemdirText>,
        limit: i64,
    ) -> Result<Vec<HistoryMatch>, MemdirError> {
        let query = query.option("query")?;
        let path = path_or_root(path)?;
        let limit = count("limit", limit)?;
        let query = grep_query(&query, regex, ignore_case)?;
        let found = self.core.grep_history(&query, &path, limit)?;
        Ok(found.into_iter().map(HistoryMatch::from).collect())
    }

    /// The whole id of the version or of the change that a person means by a part of it: its beginning or its end, at least
    /// 6 digits. Dashes and the case of letters do not matter.
    ///
    /// Throws `History` if several have this part, none has it, it is no part of an id, or the memory has no history; `Store`
    /// if the store is broken.
    pub fn resolve_id(&self, part: MemdirText) -> Result<String, MemdirError> {
        let part = part.option("part")?;
        Ok(self.core.resolve_id(&part)?.to_string())
    }

    /// The history as a stream for `git fast-import`, as a whole: a commit for each change, with its actor as the author, on the
    /// branch `main`. The same history always gives the same commits. A content that was removed from the history is replaced by
    /// a text that says so.
    ///
    /// Throws `History` if the memory has no history, `Store` if the store is broken.
    pub fn export_history(&self) -> Result<Vec<u8>, MemdirError> {
        Ok(export(&self.core)?)
    }

    /// The files that there were at a time, in the order of their paths. A file that nobody changed since the history is
    /// kept is among them as it is now, if it was last written before that time.
    ///
    /// Throws `History` if the history does not reach back so far, or the memory has none; `Store` if the store is broken.
    pub fn files_at(&self, at: MemdirTime) -> Result<Vec<PastFile>, MemdirError> {
        let at = at.argument("at")?;
        let files = self.core.files_at(at)?;
        Ok(files.into_iter().map(PastFile::from).collect())
    }

    /// What a file held at a time; null if there was no file.
    ///
    /// Throws as `files_at` and `read_version`.
    pub fn read_at(
        &self,
        path: MemdirText,
        at: MemdirTime,
    ) -> Result<Option<Vec<u8>>, MemdirError> {
        let (path, at) = (path.option("path")?, at.argument("at")?);
        Ok(self.core.read_at(&path, at)?)
    }

    /// For each line of a file as it is now, the version that brought it, its actor and its time. A line that was removed and
    /// brought back is of the version that brought it back. It stays what it is when its file is renamed.
    ///
    /// Throws `History` if no file is there, it is not UTF-8, or the memory has no history; `Store` if the store is broken.
    pub fn blame(&self, path: MemdirText) -> Result<Vec<BlamedLine>, MemdirError> {
        let path = path.option("path")?;
        let lines = self.core.blame(&path)?;
        Ok(lines.into_iter().map(BlamedLine::from).collect())
    }
}

impl From<memdir::HistoryMatch> for HistoryMatch {
    fn from(found: memdir::HistoryMatch) -> Self {
        let line = found.line.map(number);
        Self { version: found.version.into(), line, text: found.text }
    }
}

impl From<memdir::history::PastFile> for PastFile {
    fn from(file: memdir::history::PastFile) -> Self {
        Self {
            path: file.path.to_string(),
            size: file.size.map(number),
            modified: file.modified,
            version: file.version.as_ref().map(ToString::to_string),
        }
    }
}

impl From<memdir::history::BlamedLine> for BlamedLine {
    fn from(line: memdir::history::BlamedLine) -> Self {
        Self {
            line: number(line.line),
            text: line.text,
            version: line.version.as_ref().map(ToString::to_string),
            change: line.change.as_ref().map(ToString::to_string),
            operation: line.operation.map(HistoryOperation::from),
            actor: line.actor,
            time: line.time,
            may_be_older: line.may_be_older,
        }
    }
}
