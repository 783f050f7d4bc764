//! `memdir tree`: lists the files of a store, now or at an earlier time.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;

use super::arguments::TreeArguments;
use super::fixed_files::FixedFiles;
use super::history;
use super::output::{Output, age, count, time};
use super::stores::{self, StoreArgument};
use super::style::Style;
use super::{Ended, Failure, say};
use memdir::MemoryOptions;
use memdir::history::without_journal;
use memdir::path::{Folding, MemoryPath, is_hidden};
use memdir::store::{Entry, EntryKind, Store, StoreError};
use memdir::text::human_size;

pub(super) fn run(wanted: &TreeArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let (store, unknown) = match wanted.at {
        None => (without_journal(argument.readable()?), HashSet::new()),
        Some(at) => past(at, &argument)?,
    };
    let mut drawing = Drawing {
        wanted,
        argument: &argument,
        store: &*store,
        unknown,
        now: wanted.at.unwrap_or_else(SystemTime::now),
        directories: 0,
        files: 0,
        bytes: 0,
        unreadable: false,
        output,
    };
    match store.list(&path) {
        Ok(entries) => {
            drawing.one(&Entry::directory(path), "")?;
            drawing.below(entries, 1, "")?;
        }
        Err(StoreError::NotADirectory) => {
            let above = path.parent().unwrap_or_else(MemoryPath::root);
            let listed = store.list(&above).map_err(|error| argument.condition(&above, error))?;
            let folding = Folding::new(store.info().folds_case);
            let file = listed.into_iter().find(|entry| folding.are_same(&entry.path, &path));
            let file = file.ok_or_else(|| argument.condition(&path, StoreError::NotFound))?;
            drawing.one(&file, "")?;
        }
        Err(error) => return Err(argument.condition_in(&*store, &path, error)),
    }
    drawing.summary()
}

/// The files at a time, and those with an unknown size.
fn past(
    at: SystemTime,
    argument: &StoreArgument,
) -> Result<(Arc<dyn Store>, HashSet<MemoryPath>), Failure> {
    let memory = history::reading_memory(argument)?;
    history::reading(&memory, argument)?;
    let files = memory.files_at(at).map_err(|error| history::failure(&error, argument))?;
    let unknown = files.iter().filter(|file| file.size.is_none());
    let unknown = unknown.map(|file| file.path.clone()).collect();
    let entries = files
        .into_iter()
        .map(|file| Entry::file(file.path, file.size.unwrap_or(0)).modified_at(file.modified));
    let unread = Box::new(|_: &MemoryPath| Err(StoreError::PermissionDenied));
    Ok((Arc::new(FixedFiles::new(entries, unread)), unknown))
}

struct Drawing<'d> {
    wanted: &'d TreeArguments,
    argument: &'d StoreArgument,
    store: &'d dyn Store,
    /// The files with an unknown size.
    unknown: HashSet<MemoryPath>,
    now: SystemTime,
    directories: u64,
    files: u64,
    bytes: u64,
    unreadable: bool,
    output: &'d mut Output,
}

impl Drawing<'_> {
    /// Prints one entry after its branches. The first entry has its whole path.
    fn one(&mut self, entry: &Entry, branches: &str) -> Result<(), Failure> {
        let name = match branches {
            "" => entry.path.as_str(),
            _ => entry.path.name().unwrap_or_default(),
        };
        let (kind, size) = match entry.kind {
            EntryKind::Directory => {
                self.directories += 1;
                ("directory", None)
            }
            EntryKind::File(size) => {
                self.files += 1;
                self.bytes += size;
                ("file", Some(size))
            }
        };
        match size {
            _ if self.output.json => {
                let mut object = json!({"type": kind, "path": entry.path.as_str()});
                if let Some(size) = size {
                    object["size"] = json!((!self.unknown.contains(&entry.path)).then_some(size));
                    object["modified"] = time(entry.modified);
                }
                self.output.object(&object)
            }
            None => self.output.line(&format!("{:15}{branches}{name}", "")),
            Some(size) => {
                let is_known = !self.unknown.contains(&entry.path);
                let size = if is_known { human_size(size) } else { "-".to_owned() };
                let age = age(self.now, entry.modified);
                let sizes = format!("{size:>7} {age:>5}  ");
                let name = format!("{branches}{name}");
                self.output.pieces(&[(Style::Dim, &sizes), (Style::Plain, &name)])
            }
        }
    }

    /// Prints the entries below a directory, down to the requested depth.
    fn below(
        &mut self,
        mut entries: Vec<Entry>,
        level: u32,
        branches: &str,
    ) -> Result<(), Failure> {
        entries.retain(|entry| self.wanted.all || !entry.path.name().is_some_and(is_hidden));
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let last = entries.len().saturating_sub(1);
        for (number, entry) in entries.iter().enumerate() {
            let (branch, trunk) =
                if number == last { ("└── ", "    ") } else { ("├── ", "│   ") };
            self.one(entry, &format!("{branches}{branch}"))?;
            let deeper = self.wanted.depth.is_none_or(|depth| level < depth);
            if entry.kind != EntryKind::Directory || !deeper {
                continue;
            }
            match self.store.list(&entry.path) {
                Ok(below) => self.below(below, level + 1, &format!("{branches}{trunk}"))?,
                // The entry was removed or replaced meanwhile.
                Err(StoreError::NotFound | StoreError::NotADirectory | StoreError::Symlink) => {}
                Err(error) if error.is_failure() => {
                    return Err(self.argument.condition(&entry.path, error));
                }
                Err(error) => {
                    self.unreadable = true;
                    say(&format!("{}: {error}", entry.path));
                }
            }
        }
        Ok(())
    }

    fn summary(self) -> Result<Ended, Failure> {
        let (directories, files, bytes) = (self.directories, self.files, self.bytes);
        if self.output.json {
            self.output.object(&json!({
                "type": "summary", "directories": directories, "files": files, "bytes": bytes,
            }))?;
        } else {
            self.output.line(&format!(
                "\n{}, {}, {}",
                count(directories, "directory", "directories"),
                count(files, "file", "files"),
                human_size(bytes),
            ))?;
        }
        Ok(if self.unreadable { Ended::WithProblems } else { Ended::Well })
    }
}
