//! What the history of a memory knows of times before: the types of the methods, and the methods.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use memdir_bindings_shared::grep_query;
use memdir_bindings_shared::history::export;

use crate::border::{MemdirText, MemdirTime};
use crate::error::MemdirError;
use crate::files::{count, path_or_root};
use crate::memory::Memory;
use crate::results::{BlamedLine, HistoryMatch, PastFile, RedactedText};

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
