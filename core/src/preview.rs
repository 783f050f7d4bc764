//! Computes the change that a command would make, by running its own handler: [`Preview`] is a layer that
//! records the change instead of making it. So a diff is exact, with every policy applied.

use std::fmt::Write as _;
use std::io::Read as _;
use std::sync::{Mutex, PoisonError};

use memdir_store::Error;
use memdir_store::path::{Folding, MemoryPath};

use crate::command::{Command, ValidCommand};
use crate::handlers;
use crate::pin::{ContentPin, EntriesPin, Pin};
use crate::policies::Policies;
use crate::store::{
    Condition, Context, Edit, EntryKind, InContext, Layer, Mutation, Node, OnExisting, Store,
    StoreError,
};
use crate::text::unified_diff;
use crate::unit_of_work::UnitOfWork;

/// The name that a diff shows for a file that does not exist.
const NOTHING: &str = "/dev/null";

/// The result of a preview.
pub(crate) struct Previewed {
    /// The diff, or the error of the command.
    pub(crate) diff: Result<String, Error>,
    /// The state that was shown. `None` if nothing was read, or only names.
    pub(crate) pin: Option<Pin>,
}

/// Executes a command without changing anything.
pub(crate) fn preview(
    store: &std::sync::Arc<dyn Store>,
    policies: &Policies,
    context: Context,
    command: &ValidCommand<'_>,
) -> Previewed {
    if let Command::View { .. } = command {
        return Previewed { diff: Ok(String::new()), pin: None };
    }
    preview_of(store, policies, context, |work| handlers::execute(work, command).map(drop))
}

/// Executes a function without changing anything.
pub(crate) fn preview_of(
    store: &std::sync::Arc<dyn Store>,
    policies: &Policies,
    context: Context,
    execute: impl FnOnce(&UnitOfWork<'_>) -> Result<(), Error>,
) -> Previewed {
    let preview = Preview {
        store: &**store,
        max_bytes: policies.options.max_edited_bytes().unwrap_or(u64::MAX),
        records_access: policies.expiry.records_access(),
        plan: Mutex::default(),
    };
    let work = UnitOfWork::through(store, &preview, policies, context);
    let done = execute(&work);
    drop(work);
    let Plan { diff, pin } = preview.plan.into_inner().unwrap_or_else(PoisonError::into_inner);
    match (diff, done) {
        (Some(diff), _) => Previewed { diff: Ok(diff), pin },
        (None, Err(error)) => Previewed { diff: Err(error), pin },
        // No handler succeeds without a change. If one did, its approval would allow no change.
        (None, Ok(())) => Previewed { diff: Ok(String::new()), pin: Some(Pin::Nothing) },
    }
}

/// A store that records the change. Then it stops the handler with the error of a store that has changed
/// nothing, so the policies keep their state.
struct Preview<'s> {
    store: &'s dyn Store,
    /// Larger files are not read.
    max_bytes: u64,
    records_access: bool,
    plan: Mutex<Plan>,
}

#[derive(Default)]
struct Plan {
    diff: Option<String>,
    pin: Option<Pin>,
}

/// The entry at a path.
enum Current {
    Nothing,
    File(Vec<u8>),
    /// A file that is not read, with its size.
    TooLarge(u64),
    Directory,
}

impl Preview<'_> {
    fn is_read_only(&self, path: &MemoryPath) -> bool {
        let is_read_only = |number: usize| {
            let Some(mounts) = self.store.mounts() else { return false };
            mounts.stores().get(number).is_some_and(|(_, store)| store.info().is_read_only)
        };
        self.store.info().is_read_only || self.owner(path).is_some_and(is_read_only)
    }

    /// Returns the number of the mounted store that contains a path.
    fn owner(&self, path: &MemoryPath) -> Option<usize> {
        let holds = |at: &MemoryPath| at == path || at.is_above(path);
        let mounts = self.store.mounts()?.numbered();
        // The mounts are sorted, so the last match is the most specific one.
        mounts.iter().rev().find(|(at, _)| holds(at)).map(|(_, number)| *number)
    }

    /// Returns whether a store is mounted at the path or below it.
    fn is_mount_point(&self, path: &MemoryPath) -> bool {
        let is_fixed = |(at, _): &(MemoryPath, usize)| at == path || path.is_above(at);
        self.store.mounts().is_some_and(|mounts| mounts.numbered().iter().any(is_fixed))
    }

    fn pin(&self, pin: Pin) {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).pin = Some(pin);
    }

    /// Ends every change: records its diff, and returns the error that stops the handler.
    fn stop(&self, diff: String) -> Result<bool, StoreError> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).diff = Some(diff);
        Err(StoreError::Cancelled)
    }

    fn current(&self, store: &dyn Store, path: &MemoryPath) -> Result<Current, StoreError> {
        let (size, file) = match store.open(path, 0) {
            Err(StoreError::NotFound | StoreError::NotADirectory) => return Ok(Current::Nothing),
            Err(error) => return Err(error),
            Ok(Node::Directory(_)) => return Ok(Current::Directory),
            Ok(Node::File(size, file)) => (size, file),
        };
        if size > self.max_bytes {
            return Ok(Current::TooLarge(size));
        }
        let mut content = Vec::new();
        file.take(self.max_bytes.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| StoreError::failed("reading a file", error))?;
        // Some stores know a file's size only after reading it.
        let size = content.len() as u64;
        Ok(if size > self.max_bytes { Current::TooLarge(size) } else { Current::File(content) })
    }

    fn write(
        &self,
        store: &dyn Store,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<bool, StoreError> {
        if self.is_read_only(path) {
            return Err(StoreError::ReadOnly);
        }
        if existing == OnExisting::Error {
            match store.open(path, 0) {
                Ok(_) => return Err(StoreError::AlreadyExists),
                Err(StoreError::NotFound | StoreError::NotADirectory) => {}
                Err(error) => return Err(error),
            }
        } else {
            match self.current(store, path)? {
                Current::Nothing => {}
                Current::Directory => return Err(StoreError::AlreadyExists),
                Current::File(old) => {
                    self.pin(Pin::Content(ContentPin::of(&old)));
                    return self.stop(diff(Some((path, &old)), Some((path, content))));
                }
                Current::TooLarge(size) => {
                    self.pin(Pin::Entries(EntriesPin::of(store, path, self.records_access)?));
                    let old = format!("overwrite {path} ({size} bytes)\n");
                    return self.stop(old + &diff(None, Some((path, content))));
                }
            }
        }
        check_parent(store, path)?;
        self.pin(Pin::Absent);
        self.stop(diff(None, Some((path, content))))
    }

    fn update(
        &self,
        store: &dyn Store,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<bool, StoreError> {
        if self.is_read_only(path) {
            return Err(StoreError::ReadOnly);
        }
        let old = match self.current(store, path)? {
            Current::Nothing => {
                self.pin(Pin::Absent);
                return Err(StoreError::NotFound);
            }
            Current::Directory => return Err(StoreError::IsADirectory),
            Current::TooLarge(size) => return Err(StoreError::TooLarge { size }),
            Current::File(old) => old,
        };
        self.pin(Pin::Content(ContentPin::of(&old)));
        let Some(splice) = edit(&old) else { return Ok(true) };
        let new = splice.try_apply(&old)?;
        self.stop(diff(Some((path, &old)), Some((path, &new))))
    }

    fn delete(&self, store: &dyn Store, path: &MemoryPath) -> Result<bool, StoreError> {
        if self.is_mount_point(path) {
            return Err(StoreError::MountPoint);
        }
        if self.is_read_only(path) {
            return Err(StoreError::ReadOnly);
        }
        match self.current(store, path)? {
            Current::Nothing => Err(StoreError::NotFound),
            Current::File(old) => {
                self.pin(Pin::Content(ContentPin::of(&old)));
                self.stop(diff(Some((path, &old)), None))
            }
            Current::TooLarge(_) | Current::Directory => {
                let pin = EntriesPin::of(store, path, self.records_access)?;
                let diff = deleted_entries(path, &pin);
                self.pin(Pin::Entries(pin));
                self.stop(diff)
            }
        }
    }

    /// Makes a change if the file has a content that meets the condition.
    fn only_if(
        &self,
        store: &dyn Store,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
        change: impl FnOnce() -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        match store.read(path)? {
            content if condition(&content) => change(),
            _ => Ok(false),
        }
    }

    fn rename(
        &self,
        store: &dyn Store,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<bool, StoreError> {
        if self.is_mount_point(from) {
            return Err(StoreError::MountPoint.about_source());
        }
        // A read-only store refuses before any other check. Between two stores the paths are checked first.
        let is_within_one = self.owner(from) == self.owner(to);
        if is_within_one && self.is_read_only(from) {
            return Err(StoreError::ReadOnly.about_source());
        }
        let is_directory = match store.open(from, 0) {
            Ok(node) => matches!(node, Node::Directory(_)),
            Err(StoreError::NotADirectory) => return Err(StoreError::NotFound),
            Err(error) => return Err(error.about_source()),
        };
        let changes_only_case =
            from != to && Folding::new(store.info().folds_case).are_same(from, to);
        match store.open(to, 0) {
            Ok(_) if !changes_only_case => return Err(StoreError::AlreadyExists),
            Ok(_) | Err(StoreError::NotFound | StoreError::NotADirectory) => {}
            Err(error) => return Err(error),
        }
        if self.is_read_only(from) {
            return Err(StoreError::ReadOnly.about_source());
        }
        if self.is_read_only(to) {
            return Err(StoreError::ReadOnly);
        }
        if is_directory && from.is_above(to) {
            return Err(StoreError::IntoItself);
        }
        check_parent(store, to)?;
        if is_directory {
            let below = EntriesPin::of(store, from, false)?;
            if below.entries().any(|entry| entry.path.moved(from, to).is_err()) {
                return Err(StoreError::NameTooLong);
            }
        }
        self.stop(format!("rename from {from}\nrename to {to}\n"))
    }
}

impl Layer for Preview<'_> {
    fn inner(&self) -> &dyn Store {
        self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        // Not every store checks whether the call is cancelled.
        context.check()?;
        let store = InContext::new(self.store, context);
        let stopped = match mutation {
            Mutation::Write { path, content, existing } => {
                self.write(&store, path, content, existing)
            }
            Mutation::Update { path, edit } => self.update(&store, path, edit),
            Mutation::Delete { path } => self.delete(&store, path),
            Mutation::DeleteIf { path, condition } => {
                self.only_if(&store, path, condition, || self.delete(&store, path))
            }
            Mutation::Rename { from, to } => self.rename(&store, from, to),
            Mutation::RenameIf { from, to, condition } => {
                self.only_if(&store, from, condition, || self.rename(&store, from, to))
            }
            // No command and no sync makes another kind of change.
            _ => Err(StoreError::ReadOnly),
        };
        // A failed read has changed nothing.
        stopped.map_err(StoreError::unchanged)
    }
}

/// Checks that the existing parents of the path are directories.
fn check_parent(store: &dyn Store, path: &MemoryPath) -> Result<(), StoreError> {
    let mut above = path.parent();
    while let Some(directory) = above {
        match store.open(&directory, 0) {
            Ok(Node::Directory(_)) => return Ok(()),
            Ok(Node::File(..)) => return Err(StoreError::NotADirectory),
            Err(StoreError::NotFound | StoreError::NotADirectory) => above = directory.parent(),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One side of a diff: a file and its content, or `None` if there is no file.
type Side<'a> = Option<(&'a MemoryPath, &'a [u8])>;

fn diff(old: Side<'_>, new: Side<'_>) -> String {
    let name = |side: Side<'_>| side.map_or(NOTHING, |(path, _)| path.as_str()).to_owned();
    let content = |side: Side<'_>| side.map_or(&b""[..], |(_, content)| content).to_owned();
    let is_text = |side: Side<'_>| side.is_none_or(|(_, content)| str::from_utf8(content).is_ok());
    if is_text(old) && is_text(new) {
        return unified_diff(&name(old), &content(old), &name(new), &content(new));
    }
    let sized = |side: Side<'_>| match side {
        Some((path, content)) => format!("{path} ({} bytes)", content.len()),
        None => NOTHING.to_owned(),
    };
    format!("Binary files {} and {} differ\n", sized(old), sized(new))
}

/// Returns a line for each deleted entry.
fn deleted_entries(path: &MemoryPath, pin: &EntriesPin) -> String {
    let mut diff = String::new();
    if pin.entries().next().is_none_or(|entry| entry.path != *path) {
        let _ = writeln!(diff, "delete directory {path}");
    }
    for entry in pin.entries() {
        let _ = match entry.kind {
            EntryKind::File(size) => writeln!(diff, "delete {} ({size} bytes)", entry.path),
            EntryKind::Directory => writeln!(diff, "delete directory {}", entry.path),
        };
    }
    diff
}
