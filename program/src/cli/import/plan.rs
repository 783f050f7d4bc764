//! Plans an import, prints the plan, and carries it out.

use std::sync::Arc;

use serde_json::json;

use super::files::Files;
use super::left_out::LeftOut;
use crate::cli::arguments::ImportArguments;
use crate::cli::changing::{NO_POLICIES, note};
use crate::cli::output::{Output, count, in_the_way};
use crate::cli::stores::StoreArgument;
use crate::cli::style::Style;
use crate::cli::{Ended, Failure, archive, history, say};
use memdir::history::HistoryId;
use memdir::import::{
    Fate, Import, ImportError, ImportedFile, InTheWay, MAX_BATCH_BYTES, MAX_BATCH_FILES,
};
use memdir::path::{MemoryPath, is_hidden};
use memdir::store::{Entry, EntryKind, OnExisting, Problem, Store, StoreError};
use memdir::text::human_size;
use memdir::{Error, Memory};

/// A file to import.
struct Planned {
    /// Its path in the source.
    from: MemoryPath,
    /// Its path in the memory.
    to: MemoryPath,
    bytes: u64,
    fate: Fate,
    is_redacted: bool,
}

impl Planned {
    fn is_written(&self) -> bool {
        matches!(self.fate, Fate::Created | Fate::Overwritten)
    }

    fn tell(&self, output: &mut Output) -> Result<(), Failure> {
        let (operation, style) = match self.fate {
            Fate::Created => ("created", Style::Added),
            Fate::Overwritten => ("overwritten", Style::Plain),
            _ => ("unchanged", Style::Dim),
        };
        let path = self.to.as_str();
        if output.json {
            return output.object(&json!({
                "type": "file", "operation": operation, "path": path, "size": self.bytes,
                "redacted": self.is_redacted,
            }));
        }
        let note = if self.is_redacted { "  (sensitive text is redacted)" } else { "" };
        let rest = format!("  {:>7}  {path}{note}", human_size(self.bytes));
        output.pieces(&[(style, &format!("{operation:<11}")), (Style::Plain, &rest)])
    }
}

/// An entry that is in the way of a file.
struct Conflict {
    path: MemoryPath,
    in_the_way: InTheWay,
}

impl Conflict {
    fn tell(&self, output: &mut Output) -> Result<(), Failure> {
        let path = self.path.as_str();
        if output.json {
            return output.object(
                &json!({"type": "refused", "path": path, "there": self.in_the_way.as_str()}),
            );
        }
        say(&format!("{path}: {}", self.in_the_way));
        Ok(())
    }
}

/// Imports text files.
pub(super) fn import(
    files: Files,
    to: &MemoryPath,
    wanted: &ImportArguments,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    if argument.options().read_only {
        let refused = "nothing was imported, as --read-only forbids every change: leave it out";
        return Err(Failure::Refused(refused.to_owned()));
    }
    // A missing store is created only if there is something to write.
    let found = argument.find()?;
    let planning = match &found {
        Some(found) => memory(Arc::clone(found), wanted, argument)?,
        None => memory(argument.stand_in()?, wanted, argument)?,
    };
    if !wanted.flags.have_policies() {
        note(output, NO_POLICIES);
    }
    let Files { store, base, left_out, with_hidden, is_known } = files;
    let mut plan = Plan {
        store: &*store,
        base: &base,
        to,
        left_out,
        planned: Vec::new(),
        conflicts: Vec::new(),
        takes_archives: is_known || wanted.without_history,
    };
    let existing = if wanted.overwrite { OnExisting::Overwrite } else { OnExisting::Error };
    plan.make(&planning, existing, wanted.all || with_hidden, argument)?;
    for left_out in &plan.left_out {
        left_out.tell(output)?;
    }
    for conflict in &plan.conflicts {
        conflict.tell(output)?;
    }
    let is_refused = !plan.conflicts.is_empty();
    if wanted.dry_run {
        for planned in &plan.planned {
            planned.tell(output)?;
        }
    }
    if is_refused {
        let only_contents =
            plan.conflicts.iter().all(|one| one.in_the_way == InTheWay::AnotherContent);
        let number = plan.conflicts.len() as u64;
        if output.json {
            plan.summary(None, wanted.dry_run, output)?;
        }
        output.flush()?;
        let what = if wanted.dry_run { "would be imported" } else { "was imported" };
        say(&in_the_way(what, number, only_contents));
        return Ok(Ended::WithProblems);
    }
    let is_complete = !plan.left_out.iter().any(LeftOut::is_missed);
    let mut change = None;
    if !wanted.dry_run && plan.planned.iter().any(Planned::is_written) {
        // The plan is complete, so the memory that it was made with is no longer needed.
        drop(planning);
        let memory = match found {
            Some(found) => memory(found, wanted, argument)?,
            None => memory(argument.open()?, wanted, argument)?,
        };
        change = plan.carry_out(&memory, argument, output)?;
    } else if !wanted.dry_run {
        for planned in &plan.planned {
            planned.tell(output)?;
        }
    }
    plan.summary(change, wanted.dry_run, output)?;
    Ok(if is_complete { Ended::Well } else { Ended::WithProblems })
}

fn memory(
    store: Arc<dyn Store>,
    wanted: &ImportArguments,
    argument: &StoreArgument,
) -> Result<Memory, Failure> {
    let memory = history::with_history_if_any(store, argument, argument.options().clone())?;
    let memory = memory.validated().map_err(|error| argument.error(&error))?;
    Ok(memory.acting_as(&wanted.by.name))
}

/// The plan of an import.
struct Plan<'p> {
    store: &'p dyn Store,
    base: &'p MemoryPath,
    to: &'p MemoryPath,
    left_out: Vec<LeftOut>,
    planned: Vec<Planned>,
    conflicts: Vec<Conflict>,
    /// Whether the files of an unpacked archive are imported like any others, without the history.
    takes_archives: bool,
}

impl Plan<'_> {
    fn make(
        &mut self,
        memory: &Memory,
        existing: OnExisting,
        all: bool,
        argument: &StoreArgument,
    ) -> Result<(), Failure> {
        let mut found = Vec::new();
        self.collect(self.base, all, &mut found)?;
        let limit = memory.options().max_file_bytes.unwrap_or(u64::MAX);
        let mut plan = memory.plan_import(existing);
        for (from, size) in found {
            let at = self.name(&from).to_owned();
            if size > limit {
                self.left_out.push(LeftOut::too_large(&at, size, limit));
                continue;
            }
            let Some(to) = self.target(&from) else {
                let kind = memdir::store::ProblemKind::BadName;
                self.left_out.push(LeftOut::of_kind(&at, kind));
                continue;
            };
            let text = match self.text(&from) {
                Ok(Some(text)) => text,
                Ok(None) => {
                    self.left_out.push(LeftOut::not_text(&at));
                    continue;
                }
                Err(error) => {
                    self.left_out.push(LeftOut::unreadable(&at, &error));
                    continue;
                }
            };
            let bytes = text.len() as u64;
            let added = plan.add(&to, &text).map_err(|error| argument.error(&error))?;
            match added.fate {
                Fate::Refused(why) => self.left_out.push(LeftOut::refused(&at, &why)),
                Fate::Conflict(in_the_way) => {
                    self.conflicts.push(Conflict { path: to, in_the_way });
                }
                fate => {
                    let is_redacted = added.is_redacted;
                    self.planned.push(Planned { from, to, bytes, fate, is_redacted });
                }
            }
        }
        Ok(())
    }

    /// The files below a directory of the source, sorted by path.
    fn collect(
        &mut self,
        directory: &MemoryPath,
        all: bool,
        found: &mut Vec<(MemoryPath, u64)>,
    ) -> Result<(), Failure> {
        let mut entries = match self.store.list(directory) {
            // The directory is not readable, or was removed just now.
            Err(error) if directory != self.base => {
                self.left_out.push(LeftOut::unreadable(self.name(directory), &error));
                return Ok(());
            }
            listed => listed
                .map_err(|error| Failure::Store(format!("the source cannot be read: {error}")))?,
        };
        if !self.takes_archives && self.is_unpacked_archive(&entries) {
            let name = self.name(directory);
            let (at, name) = if name.is_empty() { ("", "") } else { (" in ", name) };
            return Err(Failure::Refused(format!(
                "nothing was imported: the files{at}{name} are those of an archive of `memdir export` that was unpacked, and \
                 their history would be lost. Import the archive itself, or give --without-history",
            )));
        }
        if entries.is_empty() && directory != self.base {
            self.left_out.push(LeftOut::empty(self.name(directory)));
        }
        entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        for entry in entries {
            if let Some(left_out) = self.left_out_of(&entry, all) {
                self.left_out.push(left_out);
                continue;
            }
            match entry.kind {
                EntryKind::Directory => self.collect(&entry.path, all, found)?,
                EntryKind::File(size) => found.push((entry.path, size)),
            }
        }
        Ok(())
    }

    /// Whether these are the parts of an unpacked archive.
    fn is_unpacked_archive(&self, entries: &[Entry]) -> bool {
        let manifest = entries
            .iter()
            .find(|entry| entry.is_file() && entry.path.name() == Some(archive::MANIFEST));
        manifest.is_some_and(|manifest| {
            self.store.read(&manifest.path).is_ok_and(|bytes| archive::is_manifest(&bytes))
        })
    }

    fn left_out_of(&self, entry: &Entry, all: bool) -> Option<LeftOut> {
        let at = self.name(&entry.path);
        if let Some(problem) = Problem::of_reserved_name(entry) {
            return Some(LeftOut::of_kind(at, problem.kind));
        }
        let is_hidden = entry.path.name().is_some_and(is_hidden);
        (is_hidden && !all).then(|| LeftOut::hidden(at))
    }

    /// The name in the source.
    fn name<'n>(&self, path: &'n MemoryPath) -> &'n str {
        path.as_str().strip_prefix(self.base.as_str()).unwrap_or_default().trim_start_matches('/')
    }

    /// The path in the memory of a file of the source; `None` if it would be too long or too deep.
    fn target(&self, from: &MemoryPath) -> Option<MemoryPath> {
        from.moved(self.base, self.to).ok()
    }

    /// The text of a file; `None` if it is not text.
    fn text(&self, path: &MemoryPath) -> Result<Option<String>, StoreError> {
        let text = String::from_utf8(self.store.read(path)?).ok();
        Ok(text.filter(|text| !text.contains('\0')))
    }

    /// Writes the files as one change, in batches. Each file is printed when it is written, so the output is correct even if the import
    /// ends early.
    fn carry_out(
        &self,
        memory: &Memory,
        argument: &StoreArgument,
        output: &mut Output,
    ) -> Result<Option<HistoryId>, Failure> {
        let mut written = 0;
        let (done, change) = memory.import(|importing| {
            let mut batch = Batch::default();
            for planned in &self.planned {
                let text = planned.is_written().then(|| self.text_to_write(planned)).transpose();
                let is_at_end = match &text {
                    Ok(text) => !batch.has_room(text.as_ref()),
                    Err(_) => true,
                };
                if is_at_end {
                    batch.write(importing, &mut written, argument, output)?;
                }
                batch.add(planned, text?);
            }
            batch.write(importing, &mut written, argument, output)
        });
        let Err(failure) = done else { return Ok(change) };
        output.flush()?;
        let all = self.planned.iter().filter(|planned| planned.is_written()).count();
        say(&format!("{written} of {all} files were imported; the same command imports the rest"));
        Err(failure)
    }

    fn text_to_write(&self, planned: &Planned) -> Result<String, Failure> {
        let name = || self.name(&planned.from);
        match self.text(&planned.from) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(Failure::Refused(format!(
                "{} changed meanwhile, and is not text any more",
                name()
            ))),
            Err(error) => Err(Failure::Store(format!("reading {}: {error}", name()))),
        }
    }

    fn summary(
        &self,
        change: Option<HistoryId>,
        dry_run: bool,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let written = || self.planned.iter().filter(|planned| planned.is_written());
        let (files, bytes): (u64, u64) =
            (written().count() as u64, written().map(|file| file.bytes).sum());
        let equal = self.planned.len() as u64 - files;
        let left_out = self.left_out.len() as u64;
        if output.json {
            let refused = self.conflicts.len();
            // If something is in the way, nothing is imported.
            let (files, bytes) = if refused > 0 { (0, 0) } else { (files, bytes) };
            return output.object(&json!({
                "type": "summary", "files": files, "bytes": bytes, "equal": equal, "left_out": left_out,
                "refused": refused, "dry_run": dry_run, "change": change.map(|id| id.to_string()),
            }));
        }
        let verb = if dry_run { "would be imported" } else { "imported" };
        let files = count(files, "file", "files");
        let change = change.map(|id| format!(", as change {id}")).unwrap_or_default();
        let size = human_size(bytes);
        output.line(&format!(
            "{files} ({size}) {verb}, {equal} unchanged, {left_out} left out{change}"
        ))
    }
}

/// The next files of the plan. A file that stays as it is has no text.
#[derive(Default)]
struct Batch<'p> {
    files: Vec<(&'p Planned, Option<String>)>,
    bytes: usize,
}

impl<'p> Batch<'p> {
    /// Whether a file can be added. An empty batch has room for any file.
    fn has_room(&self, text: Option<&String>) -> bool {
        let bytes = self.bytes.saturating_add(text.map_or(0, String::len));
        let is_within = self.files.len() < MAX_BATCH_FILES && bytes as u64 <= MAX_BATCH_BYTES;
        self.files.is_empty() || is_within
    }

    fn add(&mut self, planned: &'p Planned, text: Option<String>) {
        self.bytes += text.as_ref().map_or(0, String::len);
        self.files.push((planned, text));
    }

    /// Writes the files, counts those that were written, prints them, and empties the batch.
    fn write(
        &mut self,
        importing: &Import<'_>,
        written: &mut usize,
        argument: &StoreArgument,
        output: &mut Output,
    ) -> Result<(), Failure> {
        self.bytes = 0;
        let files = std::mem::take(&mut self.files);
        let to_write = files.iter().filter_map(|(planned, text)| {
            let existing = match planned.fate {
                Fate::Overwritten => OnExisting::Overwrite,
                _ => OnExisting::Error,
            };
            Some(ImportedFile { path: &planned.to, text: text.as_ref()?, existing })
        });
        let to_write: Vec<_> = to_write.collect();
        let done = importing.write_batch(&to_write);
        let mut left = done.as_ref().map_or_else(|failed| failed.written, |()| to_write.len());
        for (planned, text) in &files {
            if text.is_some() {
                if left == 0 {
                    break;
                }
                left -= 1;
                *written += 1;
            }
            planned.tell(output)?;
        }
        let Err(ImportError { written, error }) = done else { return Ok(()) };
        let failure = argument.error(&error);
        Err(match (failure, to_write.get(written)) {
            (Failure::Refused(why), Some(file)) if matches!(error, Error::Refused(_)) => {
                Failure::Refused(format!("{}: {why}", file.path))
            }
            (failure, _) => failure,
        })
    }
}
