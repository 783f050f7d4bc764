//! Queries about the past of a memory.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use memdir_bindings_shared::history::export;
use memdir_bindings_shared::{grep_query, redaction_query};

use crate::border::{MemdirText, MemdirTime};
use crate::error::MemdirError;
use crate::files::{count, path_or_root};
use crate::memory::Memory;
use crate::results::{BlamedLine, HistoryMatch, PastFile, RedactedText};

#[uniffi::export]
impl Memory {
    /// Permanently removes every content that contains a text from the history, as `redact` does, in all versions of all
    /// files. The text is matched anywhere in the content; a regular expression is matched in each line. With `dryRun` it
    /// only returns what it would remove, and the current files that have the text. The text is also removed from names,
    /// unless a current file or directory has that name; names of actors stay. The call reads every content in the history.
    ///
    /// Throws `History` if current files have the text, or the memory has no history or is read-only; `Config` if the
    /// query is empty or the regular expression is wrong; `Store` if the store is broken.
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
        let query = redaction_query(&query, regex, ignore_case)?;
        Ok(self.core.redact_text(&query, &reason, dry_run)?.into())
    }

    /// The first `limit` matches in names and lines that the history has and the current files no longer have: newest
    /// first, each with the newest version that has it. `path` limits the search to one path and everything below it,
    /// whether it still exists or not; null is `/memories`. The query is that of `grep`. With `sensitive_on_view` it
    /// searches the texts as a view would show them.
    ///
    /// Throws `History` if the memory has no history, or the path is not valid; `Config` if the regular expression is
    /// wrong; `Store` if the store is broken.
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

    /// Completes the id of a version or a change from a part of it: its beginning or its end, at least 6 digits. Dashes and
    /// the case of letters do not matter.
    ///
    /// Throws `History` if several ids match, no id matches, the text cannot be part of an id, or the memory has no
    /// history; `Store` if the store is broken.
    pub fn resolve_id(&self, part: MemdirText) -> Result<String, MemdirError> {
        let part = part.option("part")?;
        Ok(self.core.resolve_id(&part)?.to_string())
    }

    /// The whole history as a stream for `git fast-import`: one commit for each change, with its actor as the author, on
    /// the branch `main`. The same history always gives the same commits. A content that was removed from the history is
    /// replaced by a text that says so.
    ///
    /// Throws `History` if the memory has no history, `Store` if the store is broken.
    pub fn export_history(&self) -> Result<Vec<u8>, MemdirError> {
        Ok(export(&self.core)?)
    }

    /// The files that existed at a time, sorted by path. A file that was not changed since recording began is included with
    /// its current content, if it was last written before that time.
    ///
    /// Throws `History` if the history does not reach back to that time, or the memory has no history; `Store` if the store
    /// is broken.
    pub fn files_at(&self, at: MemdirTime) -> Result<Vec<PastFile>, MemdirError> {
        let at = at.argument("at")?;
        let files = self.core.files_at(at)?;
        Ok(files.into_iter().map(PastFile::from).collect())
    }

    /// The content of a file at a time; null if there was no file.
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

    /// For each line of a file's current content, the version that added it, its actor and its time. If a line was removed
    /// and added again, the later version counts. Renaming the file does not change the result.
    ///
    /// Throws `History` if there is no file, it is not UTF-8, or the memory has no history; `Store` if the store is broken.
    pub fn blame(&self, path: MemdirText) -> Result<Vec<BlamedLine>, MemdirError> {
        let path = path.option("path")?;
        let lines = self.core.blame(&path)?;
        Ok(lines.into_iter().map(BlamedLine::from).collect())
    }
}
