//! The in-process store keeps the contract, and the check detects stores that do not.
#![cfg(feature = "testing")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::{
    Condition, Context, Edit, Entry, EntryKind, Fingerprint, InProcess, Layer, MemoryPath,
    Mutation, Node, OnExisting, Store, StoreError, check_contract, contract,
};

#[test]
fn the_in_process_store_keeps_the_contract() {
    check_contract(&|| Arc::new(InProcess::new())).unwrap();
}

/// A correct store with one faulty method.
struct Faulty(InProcess, Fault);

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    RenameOverwrites,
    CreationOverwrites,
    UpdateIsTwoSteps,
    UpdateOfNothingIsFine,
    ListingIsDeep,
    DeleteForgetsTheDirectory,
    HiddenEntriesShow,
    ParentsStay,
    HiddenFilesAreOverlooked,
    AccessIsAChange,
    AccessIsForgotten,
    DeletesWhatIsUsed,
    LooksAndThenDeletes,
    FingerprintsAreForgotten,
    FingerprintsStay,
    ConditionsAreIgnored,
    MovesADirectoryOnACondition,
    ReadsAndThenDeletes,
    ReadsAndThenMoves,
    RemovesWhatHasHiddenEntries,
    LooksAndThenRemoves,
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.1 {
            Fault::ListingIsDeep => {
                let mut entries = self.0.list_in(context, path)?;
                for entry in entries.clone() {
                    entries.extend(self.0.list_in(context, &entry.path).unwrap_or_default());
                }
                Ok(entries)
            }
            _ => {
                let entries = self.0.list_in(context, path)?;
                Ok(entries.into_iter().map(|entry| self.fingerprinted(entry)).collect())
            }
        }
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        match (self.0.open_in(context, path, depth)?, self.1) {
            (Node::Directory(_), Fault::HiddenEntriesShow) => {
                Ok(Node::Directory(self.0.list_in(context, path)?))
            }
            (Node::Directory(entries), _) => Ok(Node::Directory(
                entries.into_iter().map(|entry| self.fingerprinted(entry)).collect(),
            )),
            (node, _) => Ok(node),
        }
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.0.files_in(context, &mut |file| {
            let hidden = file.path.names().any(|name| name.starts_with('.'));
            if self.1 != Fault::HiddenFilesAreOverlooked || !hidden {
                visit(self.fingerprinted(file));
            }
        })
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done = match mutation {
            Mutation::Write { path, content, existing } => self.write(path, content, existing),
            Mutation::Update { path, edit } => self.update(path, edit),
            Mutation::Delete { path } => self.delete(path),
            Mutation::DeleteUnused { path, since } => return self.delete_unused(path, since),
            Mutation::DeleteIf { path, condition } => return self.delete_if(path, condition),
            Mutation::Rename { from, to } => self.rename(from, to),
            Mutation::RenameIf { from, to, condition } => {
                return self.rename_if(from, to, condition);
            }
            Mutation::RecordAccess { path, time } => self.record_access(path, time),
            Mutation::RemoveDirectory { path } => return self.remove_directory(path),
            other => return self.0.mutate(context, other),
        };
        done.map(|()| true)
    }
}

impl Faulty {
    fn fingerprinted(&self, entry: Entry) -> Entry {
        let size = match entry.kind {
            EntryKind::File(size) => size,
            EntryKind::Directory => return entry,
        };
        match self.1 {
            Fault::FingerprintsAreForgotten => entry.with_fingerprint(None),
            // Fingerprints of a store that knows only sizes.
            Fault::FingerprintsStay => {
                entry.with_fingerprint(Some(Fingerprint::of_numbers(&[size])))
            }
            _ => entry,
        }
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        if self.1 == Fault::CreationOverwrites {
            return self.0.write(path, content, OnExisting::Overwrite);
        }
        self.0.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        match self.1 {
            Fault::UpdateIsTwoSteps => {
                let content = self.0.read(path)?;
                std::thread::sleep(std::time::Duration::from_millis(1));
                match edit(&content) {
                    None => Ok(()),
                    Some(splice) => {
                        self.0.write(path, &splice.apply(&content), OnExisting::Overwrite)
                    }
                }
            }
            Fault::UpdateOfNothingIsFine => match self.0.update(path, edit) {
                Err(StoreError::NotFound) => Ok(()),
                result => result,
            },
            Fault::LooksAndThenDeletes => {
                // The deletion checks the age first. An edit of an old file waits for that, however busy the machine is.
                let hour = std::time::Duration::from_secs(3600);
                let age = self.0.modified(path)?.and_then(|modified| modified.elapsed().ok());
                if age.is_some_and(|age| age > hour) {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                }
                self.0.update(path, edit)
            }
            _ => self.0.update(path, edit),
        }
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.0.delete(path)?;
        if self.1 == Fault::DeleteForgetsTheDirectory
            && let Some(parent) = path.parent().filter(|parent| !parent.is_root())
        {
            // Behaves like a store without real directories.
            self.0.delete(&parent)?;
        }
        Ok(())
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        let overwritten =
            self.1 == Fault::RenameOverwrites && from != to && self.0.read(from).is_ok();
        if overwritten && self.0.read(to).is_ok() {
            self.0.delete(to)?;
        }
        if self.1 == Fault::ParentsStay
            && let Some(parent) = to.parent().filter(|parent| self.0.list(parent).is_err())
        {
            self.0.write(&parent.join("x").unwrap(), b"", OnExisting::Error)?;
            self.0.delete(&parent.join("x").unwrap())?;
        }
        self.0.rename(from, to)?;
        if self.1 == Fault::AccessIsForgotten && self.0.read(to).is_ok() {
            self.0.record_access(to, SystemTime::UNIX_EPOCH)?;
        }
        Ok(())
    }

    fn delete_if(
        &self,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        match self.1 {
            Fault::ConditionsAreIgnored => self.0.delete_if(path, &mut |content| {
                condition(content);
                true
            }),
            Fault::ReadsAndThenDeletes => {
                let seen = self.0.read(path)?;
                let is_met = condition(&seen);
                if is_met {
                    self.wait_for_an_edit(path, &seen)?;
                    self.0.delete(path)?;
                }
                Ok(is_met)
            }
            _ => self.0.delete_if(path, condition),
        }
    }

    fn rename_if(
        &self,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        match self.1 {
            Fault::MovesADirectoryOnACondition if self.0.list(from).is_ok() => {
                self.0.rename(from, to).map(|()| true)
            }
            Fault::ReadsAndThenMoves if self.0.read(from).is_ok() => {
                let seen = self.0.read(from)?;
                let is_met = condition(&seen);
                if is_met {
                    self.wait_for_an_edit(from, &seen)?;
                    self.0.rename(from, to)?;
                }
                Ok(is_met)
            }
            _ => self.0.rename_if(from, to, condition),
        }
    }

    /// Waits until an edit changes the file. On a busy machine this takes time, so it gives up after a while. Files that are
    /// edited concurrently are empty at first; other files are not waited for.
    fn wait_for_an_edit(&self, path: &MemoryPath, seen: &[u8]) -> Result<(), StoreError> {
        let attempts = if seen.is_empty() { 800 } else { 0 };
        for _ in 0..attempts {
            if self.0.read(path)? != seen {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        Ok(())
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        if self.1 == Fault::AccessIsAChange {
            self.0.set_modified(path, time)?;
        }
        self.0.record_access(path, time)
    }

    fn remove_directory(&self, path: &MemoryPath) -> Result<bool, StoreError> {
        match (self.1, self.0.list(path)) {
            (Fault::RemovesWhatHasHiddenEntries, Ok(entries))
                if entries.iter().all(|entry| entry.path.name().unwrap().starts_with('.')) =>
            {
                self.0.delete(path).map(|()| true)
            }
            (Fault::LooksAndThenRemoves, Ok(entries)) if entries.is_empty() => {
                // Waits until another thread creates a file, which only happens in this directory.
                let attempts = if path.as_str() == "/memories/dir/below" { 800 } else { 0 };
                for _ in 0..attempts {
                    if !self.0.list(path).unwrap_or_default().is_empty() {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                self.0.delete(path).map(|()| true)
            }
            _ => self.0.remove_directory(path),
        }
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        match self.1 {
            Fault::DeletesWhatIsUsed if self.0.read(path).is_ok() => {
                self.0.delete(path).map(|()| true)
            }
            Fault::LooksAndThenDeletes if self.0.read(path).is_ok() => {
                let file = Entry::file(path.clone(), 0).modified_at(self.0.modified(path)?);
                let file = file.accessed_at(self.0.accessed(path)?);
                self.wait_for_an_edit(path, &self.0.read(path)?)?;
                let unused = !self.0.unused(vec![file], since)?.is_empty();
                Ok(unused && self.0.delete(path).is_ok())
            }
            _ => self.0.delete_unused(path, since),
        }
    }
}

/// A custom store that keeps all defaults.
struct Reading(InProcess);

impl Store for Reading {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.0.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.0.list(path)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.0.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.0.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.0.delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.0.rename(from, to)
    }
}

#[test]
fn a_store_with_the_defaults_decides_conditions_by_reading_and_says_so() {
    let store = Reading(InProcess::new());
    assert!(!store.info().conditions_are_atomic);
    check_contract(&|| Arc::new(Reading(InProcess::new()))).unwrap();
}

#[test]
fn the_check_notices_what_is_wrong() {
    let check = |fault| check_contract(&|| Arc::new(Faulty(InProcess::new(), fault)));
    check(Fault::None).unwrap();
    for (fault, rule) in [
        (Fault::RenameOverwrites, "renaming never overwrites and fails whole"),
        (Fault::CreationOverwrites, "creation is exclusive, overwriting replaces"),
        (Fault::UpdateIsTwoSteps, "concurrent updates all count"),
        (Fault::UpdateOfNothingIsFine, "an update changes what it was asked to"),
        (Fault::ListingIsDeep, "a listing is one level deep and complete"),
        (Fault::DeleteForgetsTheDirectory, "deleting takes what is below along, and nothing else"),
        (Fault::HiddenEntriesShow, "opening a directory shows visible entries as deep as asked"),
        (Fault::HiddenFilesAreOverlooked, "all files can be gone through, each once"),
        (Fault::AccessIsAChange, "a recorded access stays, and does not change the file"),
        (Fault::AccessIsForgotten, "a recorded access stays, and does not change the file"),
        (Fault::DeletesWhatIsUsed, "only what is unused is deleted as unused"),
        (Fault::LooksAndThenDeletes, "what is edited is not deleted as unused"),
        (Fault::FingerprintsAreForgotten, "a fingerprint stays, and differs when the content does"),
        (Fault::FingerprintsStay, "a fingerprint stays, and differs when the content does"),
        (Fault::ConditionsAreIgnored, "a condition decides whether a file is deleted"),
        (Fault::MovesADirectoryOnACondition, "a condition decides whether a file is moved"),
        (Fault::ReadsAndThenDeletes, "an edit that a condition has not seen is not lost"),
        (Fault::ReadsAndThenMoves, "an edit that a condition has not seen is not lost"),
        (Fault::RemovesWhatHasHiddenEntries, "a directory is removed only if it is empty"),
        (
            Fault::LooksAndThenRemoves,
            "a file that is created in a directory keeps it from being removed",
        ),
        (Fault::ParentsStay, "renaming never overwrites and fails whole"),
    ] {
        let violation = check(fault).expect_err(&format!("{fault:?}"));
        assert_eq!(violation.rule, rule, "{fault:?}: {violation}");
    }
}

#[test]
fn the_page_about_stores_names_every_rule_in_its_order() {
    let page = include_str!("../../../docs/stores/write-a-store.md");
    let (_, section) = page.split_once("## The rules of the check\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let numbered = section.lines().filter_map(|line| {
        let (number, rule) = line.split_once(". **")?;
        Some((number.parse::<usize>().ok()?, rule.split_once("**")?.0))
    });
    let rules = contract::rules().map(|rule| rule.name);
    assert_eq!(numbered.collect::<Vec<_>>(), (1..).zip(rules).collect::<Vec<_>>());
}
