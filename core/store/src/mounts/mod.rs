//! [`Mounts`]: several stores in one tree.
//!
//! - [`Mounts`] is a store. The longest mount point above a path decides which store the path belongs
//!   to. All results have the paths of the whole tree.
//! - `listing` combines the entries of a directory with the mount points in it.
//! - `moving` moves files and directories from one store into another.

use crate::Sealing;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::mount_table::Wrap;
use super::notes::Notes;
use super::{
    BatchError, Condition, Context, Entry, FileToDelete, FileToWrite, MountTable, Mutation, Node,
    Problem, Store, StoreError, StoreInfo, Times, methods_by_mutate, reads_in_context,
};
use crate::error::Error;
use crate::path::{Folding, MemoryPath, ROOT};

mod listing;
mod moving;
mod snapshot;
mod taking;

use moving::End;

/// Several stores in one tree: one at the root, and each other one at its own directory, the mount point.
///
/// - **The longest mount point decides** which store a path belongs to. Each store has its own paths:
///   with a store mounted at `/memories/team`, `/memories/team/a` is its `/memories/a`. A mount point
///   may be below another.
/// - **A mount point always exists**, and so does every directory above it. Anything that the surrounding store has at the
///   same path is hidden. These directories can be neither deleted nor moved ([`StoreError::MountPoint`]).
/// - **If the surrounding store ignores case, so does the mount point's name**: `/memories/TEAM` is the same as
///   `/memories/team`.
/// - **A broken store affects only its own listing**: in a listing of a directory above it, its mount point is an empty
///   directory.
/// - **A rename within one store** is done by that store. A rename from one store into another copies, compares the copy
///   with the original, and deletes the original. A file that is edited meanwhile is copied again. After any failure, one
///   complete copy exists at its path.
/// - [`clear`](Store::clear) clears all stores except read-only ones.
///
/// ```
/// use std::sync::Arc;
/// use memdir::store::{InProcess, Mounts, ReadOnly};
/// use memdir::{Memory, MemoryPath, MemoryOptions};
///
/// let at = |path| MemoryPath::parse(path).unwrap();
/// let stores = Mounts::new(Arc::new(InProcess::new()))
///     .mount(at("/memories/team"), Arc::new(InProcess::new()))?
///     .mount(at("/memories/handbook"), Arc::new(ReadOnly::new(InProcess::new())))?;
/// let memory = Memory::with_store(Arc::new(stores), MemoryOptions::default());
/// memory.create("/memories/team/plan.md", "1. Begin.\n")?;
/// assert!(memory.view("/memories", None)?.ends_with(
///     "\n4.0K\t/memories\n4.0K\t/memories/handbook\n4.0K\t/memories/team\n10B\t/memories/team/plan.md"
/// ));
/// # Ok::<(), memdir::Error>(())
/// ```
pub struct Mounts {
    root: Mounted,
    /// All others, sorted by mount point.
    below: Vec<Mounted>,
    /// Whether any of the stores ignores case.
    folds_case: bool,
}

/// A store, and the directory of the whole tree where it is mounted.
struct Mounted {
    at: MemoryPath,
    store: Arc<dyn Store>,
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only the mount points: a store's address may contain a password.
        f.debug_list().entries(self.all().map(|mounted| &mounted.at)).finish()
    }
}

impl Mounted {
    /// Converts a path at or below the mount point into a path of the store.
    fn inside(&self, path: &MemoryPath) -> Result<MemoryPath, StoreError> {
        path.moved(&self.at, &MemoryPath::root()).map_err(|_| StoreError::NameTooLong)
    }

    /// Converts a path of the store into a path of the whole tree; `None` if that path would be invalid.
    fn outside(&self, path: &MemoryPath) -> Option<MemoryPath> {
        path.moved(&MemoryPath::root(), &self.at).ok()
    }
}

impl Mounts {
    /// A tree with `root` at its root and no other store.
    #[must_use]
    pub fn new(root: Arc<dyn Store>) -> Self {
        let folds_case = root.info().folds_case;
        let root = Mounted { at: MemoryPath::root(), store: root };
        Self { root, below: Vec::new(), folds_case }
    }

    /// The same tree with `store` mounted at `at`.
    ///
    /// # Errors
    /// [`Error::Config`] if a store is already mounted there (the root always is), or if `at` is too deep to contain
    /// anything.
    pub fn mount(mut self, at: MemoryPath, store: Arc<dyn Store>) -> Result<Self, Error> {
        let spelled = self.spelled(&at).into_owned();
        let at = if spelled == at { at } else { spelled };
        if self.all().any(|mounted| mounted.at == at) {
            return Err(Error::config(format!("two stores are to be mounted at {at}")));
        }
        if at.join("a").is_err() {
            return Err(Error::config(format!("no store can be mounted at {at}: it is too deep")));
        }
        let place = self.below.partition_point(|mounted| mounted.at < at);
        self.folds_case |= store.info().folds_case;
        self.below.insert(place, Mounted { at, store });
        Ok(self)
    }

    /// The path with mount points and the directories above them spelled as they were mounted. A store that ignores case
    /// accepts every spelling.
    fn spelled<'p>(&self, path: &'p MemoryPath) -> Cow<'p, MemoryPath> {
        if self.below.is_empty() || !self.folds_case {
            return Cow::Borrowed(path);
        }
        let mut fixed = MemoryPath::root();
        for name in path.names() {
            let Ok(asked) = fixed.join(name) else { return Cow::Borrowed(path) };
            let folding = Folding::new(self.owner(&fixed).store.info().folds_case);
            let level = asked.names().count();
            // A mount point or a directory above one, on this level.
            let mut there = self.below.iter().filter_map(|mounted| {
                let mut names = mounted.at.names();
                let above = names
                    .by_ref()
                    .take(level)
                    .try_fold(MemoryPath::root(), |at, name| at.join(name));
                above.ok().filter(|above| above.names().count() == level)
            });
            let Some(found) = there.find(|found| folding.are_same(found, &asked)) else { break };
            fixed = found;
        }
        path.moved(&first_levels(path, fixed.names().count()), &fixed)
            .map_or(Cow::Borrowed(path), Cow::Owned)
    }

    /// Every mount point with its store: root first, the others sorted by path.
    pub fn mounted(&self) -> impl Iterator<Item = (&MemoryPath, &Arc<dyn Store>)> {
        self.all().map(|mounted| (&mounted.at, &mounted.store))
    }

    fn all(&self) -> impl Iterator<Item = &Mounted> {
        std::iter::once(&self.root).chain(&self.below)
    }

    /// The store that a path belongs to.
    fn owner(&self, path: &MemoryPath) -> &Mounted {
        let holds = |mounted: &&Mounted| mounted.at == *path || mounted.at.is_above(path);
        // In this order a mount point comes after all mount points above it.
        self.below.iter().rev().find(holds).unwrap_or(&self.root)
    }

    /// The store that a path belongs to, and the path within that store.
    fn within(&self, path: &MemoryPath) -> Result<(&dyn Store, MemoryPath), StoreError> {
        let owner = self.owner(path);
        Ok((&*owner.store, owner.inside(path)?))
    }

    /// As [`within`](Self::within), but returns the error `fixed` for a directory that always exists.
    fn unless_fixed(
        &self,
        path: &MemoryPath,
        fixed: StoreError,
    ) -> Result<(&dyn Store, MemoryPath), StoreError> {
        if self.is_fixed(path) { Err(fixed) } else { self.within(path) }
    }

    /// The store of the first of some files, and the paths in it of that file and of those after it in the same store.
    fn first_in_one_store(
        &self,
        files: &[&MemoryPath],
    ) -> Result<(&dyn Store, Vec<MemoryPath>), StoreError> {
        let place =
            |path: &MemoryPath| self.unless_fixed(&self.spelled(path), StoreError::IsADirectory);
        let mut all = files.iter().map(|path| place(path));
        let (store, first) = all.next().ok_or(StoreError::NotFound)??;
        let others = all.map_while(Result::ok);
        let others = others.take_while(|(other, _)| std::ptr::addr_eq(*other, store));
        Ok((store, std::iter::once(first).chain(others.map(|(_, path)| path)).collect()))
    }

    /// Whether a path is a mount point or above one, so it always exists.
    fn is_fixed(&self, path: &MemoryPath) -> bool {
        self.below.iter().any(|mounted| mounted.at == *path) || self.is_above_a_mount(path)
    }

    fn is_above_a_mount(&self, path: &MemoryPath) -> bool {
        self.below.iter().any(|mounted| path.is_above(&mounted.at))
    }

    /// One end of a rename.
    fn end<'m>(&'m self, path: &'m MemoryPath) -> Result<End<'m>, StoreError> {
        let (store, inside) = self.within(path)?;
        Ok(End { store, inside, path, fixed: self.is_fixed(path) })
    }

    fn rename_in(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: Option<&mut Condition<'_>>,
    ) -> Result<bool, StoreError> {
        let (from, to) = (&*self.spelled(from), &*self.spelled(to));
        let (source, destination) = (self.end(from)?, self.end(to)?);
        if source.fixed {
            let is_conditional = condition.is_some();
            let problem =
                if is_conditional { StoreError::IsADirectory } else { StoreError::MountPoint };
            return Err(StoreError::Source(Box::new(problem)));
        }
        if destination.fixed {
            if let Some(condition) = condition
                && moving::accepted_content(context, &source, condition)?.is_none()
            {
                return Ok(false);
            }
            let checked = moving::check(context, &source, &destination);
            return checked.map(|_| true).map_err(StoreError::unchanged);
        }
        // One store may be mounted twice, so compare the stores and not the mount points.
        if std::ptr::addr_eq(source.store, destination.store) {
            let (from, to) = (&source.inside, &destination.inside);
            if let Some(condition) = condition {
                let rename = Mutation::RenameIf { from, to, condition };
                return source.store.mutate(context, rename);
            }
            moving::check_paths_below(context, &source, &destination)?;
            return source.store.mutate(context, Mutation::Rename { from, to });
        }
        moving::rename(context, &source, &destination, condition)
    }

    fn clear_each(&self, context: &Context) -> Result<(), StoreError> {
        let mut writable =
            self.all().filter(|mounted| !mounted.store.info().is_read_only).peekable();
        if writable.peek().is_none() {
            return Err(StoreError::ReadOnly);
        }
        // Every store is cleared, even if another one fails.
        let mut results: Vec<_> =
            writable.map(|mounted| mounted.store.mutate(context, Mutation::Clear)).collect();
        let others_changed = results.iter().any(Result::is_ok);
        results.retain(Result::is_err);
        // If several failed, "nothing was changed" in the first error is true only for its own store.
        let others_changed = others_changed || results.len() > 1;
        let first = results.into_iter().next().unwrap_or(Ok(true));
        first.map(drop).map_err(|error| if others_changed { error.after_changes() } else { error })
    }
}

/// The ancestor of the path with this many levels.
fn first_levels(path: &MemoryPath, levels: usize) -> MemoryPath {
    let mut above = path.clone();
    while above.names().count() > levels
        && let Some(parent) = above.parent()
    {
        above = parent;
    }
    above
}

/// Rewrites the entries of the directory `spelled` to the path that the caller used.
fn as_asked(entries: Vec<Entry>, spelled: &MemoryPath, asked: &MemoryPath) -> Vec<Entry> {
    if spelled == asked {
        return entries;
    }
    let moved =
        |entry: Entry| Some(Entry { path: entry.path.moved(spelled, asked).ok()?, ..entry });
    entries.into_iter().filter_map(moved).collect()
}

// All methods are implemented here, including those with a default.
#[deny(clippy::missing_trait_methods)]
impl MountTable for Mounts {
    fn numbered(&self) -> Vec<(MemoryPath, usize)> {
        let mut seen: Vec<&Arc<dyn Store>> = Vec::new();
        let numbered = self.all().map(|mounted| {
            let is_same = |other: &&Arc<dyn Store>| {
                std::ptr::addr_eq(Arc::as_ptr(other), Arc::as_ptr(&mounted.store))
            };
            let number = seen.iter().position(is_same).unwrap_or_else(|| {
                seen.push(&mounted.store);
                seen.len() - 1
            });
            (mounted.at.clone(), number)
        });
        numbered.collect()
    }

    fn stores(&self) -> Vec<(MemoryPath, Arc<dyn Store>)> {
        let mut stores = Vec::new();
        for (mounted, (at, number)) in self.all().zip(self.numbered()) {
            if number == stores.len() {
                stores.push((at, Arc::clone(&mounted.store)));
            }
        }
        stores
    }

    fn with_each(&self, wrap: &mut Wrap<'_>) -> Arc<dyn Store> {
        let mut wrapped: Vec<Arc<dyn Store>> = Vec::new();
        let mut numbered = self.numbered().into_iter();
        let mut with = |mounted: &Mounted| {
            let number = numbered.next().map_or(0, |(_, number)| number);
            if number == wrapped.len() {
                wrapped.push(wrap(&mounted.store));
            }
            Mounted { at: mounted.at.clone(), store: Arc::clone(&wrapped[number]) }
        };
        let root = with(&self.root);
        let below = self.below.iter().map(with).collect();
        Arc::new(Self { root, below, folds_case: self.folds_case })
    }
}

impl Store for Mounts {
    methods_by_mutate!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        match mutation {
            Mutation::Write { path, content, existing } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::AlreadyExists)?;
                store.mutate(context, Mutation::Write { path, content, existing })
            }
            Mutation::WriteUnique { path, content } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::AlreadyExists)?;
                store.mutate(context, Mutation::WriteUnique { path, content })
            }
            Mutation::Update { path, edit } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
                store.mutate(context, Mutation::Update { path, edit })
            }
            Mutation::Delete { path } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::MountPoint)?;
                store.mutate(context, Mutation::Delete { path })
            }
            Mutation::DeleteUnused { path, since } => {
                let path = &*self.spelled(path);
                if self.is_fixed(path) {
                    return Ok(false);
                }
                let (store, path) = &self.within(path)?;
                store.mutate(context, Mutation::DeleteUnused { path, since })
            }
            Mutation::DeleteIf { path, condition } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
                store.mutate(context, Mutation::DeleteIf { path, condition })
            }
            Mutation::Rename { from, to } => self.rename_in(context, from, to, None),
            Mutation::RenameIf { from, to, condition } => {
                self.rename_in(context, from, to, Some(condition))
            }
            Mutation::Clear => self.clear_each(context).map(|()| true),
            Mutation::MakeDirectory { path } => {
                let path = &*self.spelled(path);
                if self.is_fixed(path) {
                    return Ok(true);
                }
                let (store, path) = &self.within(path)?;
                store.mutate(context, Mutation::MakeDirectory { path })
            }
            Mutation::RemoveDirectory { path } => {
                let path = &*self.spelled(path);
                if self.is_fixed(path) {
                    return Ok(false);
                }
                let (store, path) = &self.within(path)?;
                store.mutate(context, Mutation::RemoveDirectory { path })
            }
            Mutation::SetModified { path, time } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
                store.mutate(context, Mutation::SetModified { path, time })
            }
            Mutation::RecordAccess { path, time } => {
                let (store, path) =
                    &self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
                store.mutate(context, Mutation::RecordAccess { path, time })
            }
        }
    }

    /// Files in one of the stores stay together.
    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let mut written = 0;
        while let Some(first) = files.get(written) {
            let failed = |error| BatchError { written, error };
            let place = |file: &FileToWrite<'_>| {
                self.unless_fixed(&self.spelled(file.path), StoreError::AlreadyExists)
            };
            let (store, path) = place(first).map_err(failed)?;
            let mut paths = vec![path];
            for file in &files[written + 1..] {
                match place(file) {
                    Ok((other, path)) if std::ptr::addr_eq(other, store) => paths.push(path),
                    _ => break,
                }
            }
            let inside = files[written..].iter().zip(&paths);
            let inside: Vec<_> = inside.map(|(file, path)| FileToWrite { path, ..*file }).collect();
            store.write_batch(context, &inside).map_err(|failed| BatchError {
                written: written + failed.written,
                error: failed.error,
            })?;
            written += inside.len();
        }
        Ok(())
    }

    /// Files in one of the stores stay together.
    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        let mut rest = files;
        while let Some((first, others)) = rest.split_first() {
            if self.is_fixed(&self.spelled(first.path)) {
                visit(false);
                rest = others;
                continue;
            }
            let paths: Vec<&MemoryPath> = rest.iter().map(|file| file.path).collect();
            let (store, inside) = self.first_in_one_store(&paths)?;
            let (some, others) = rest.split_at(inside.len());
            let some: Vec<_> = some
                .iter()
                .zip(&inside)
                .map(|(file, path)| FileToDelete { path, note: file.note })
                .collect();
            store.delete_unused_batch(context, &some, since, visit)?;
            rest = others;
        }
        Ok(())
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        let mut rest = paths;
        while !rest.is_empty() {
            let (store, inside) = self.first_in_one_store(rest)?;
            store.read_batch(context, &inside.iter().collect::<Vec<_>>(), visit)?;
            rest = &rest[inside.len()..];
        }
        Ok(())
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        let (mut times, mut rest) = (Vec::new(), paths);
        while !rest.is_empty() {
            let (store, inside) = self.first_in_one_store(rest)?;
            times.extend(store.read_times(context, &inside.iter().collect::<Vec<_>>())?);
            rest = &rest[inside.len()..];
        }
        Ok(times)
    }

    /// Read-only if all stores are read-only. Access times are tracked, and conditions are atomic, if that is true for all
    /// writable stores: a move between two stores uses only their renames. The least reliable fingerprints count. The files
    /// are in several places, so there is no single directory.
    fn info(&self) -> StoreInfo {
        let all: Vec<StoreInfo> = self.all().map(|mounted| mounted.store.info()).collect();
        let is_read_only = all.iter().all(|info| info.is_read_only);
        let writable = || all.iter().filter(|info| !info.is_read_only);
        StoreInfo {
            directory: None,
            is_read_only,
            folds_case: self.folds_case,
            tracks_access: !is_read_only && writable().all(|info| info.tracks_access),
            edits_apart: false,
            fingerprints: all.iter().map(|info| info.fingerprints).min().unwrap_or_default(),
            conditions_are_atomic: writable().all(|info| info.conditions_are_atomic),
            locations: all.into_iter().flat_map(|info| info.locations).collect(),
        }
    }

    reads_in_context!();

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let (store, inside) = self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
        store.read_in(context, &inside)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let spelled = self.spelled(path);
        Ok(as_asked(self.listed(context, &spelled)?, &spelled, path))
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        let spelled = self.spelled(path);
        Ok(match self.opened(context, &spelled, depth)? {
            Node::Directory(entries) => Node::Directory(as_asked(entries, &spelled, path)),
            file => file,
        })
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.all_files(context, visit)
    }

    /// Answers for a file, or for a directory that contains no mount point.
    fn open_nowait(&self, path: &MemoryPath, depth: usize) -> Option<Result<Node<'_>, StoreError>> {
        let owner = self.owner(path);
        if self.folds_case || self.is_above_a_mount(path) {
            return None;
        }
        match owner.store.open_nowait(&owner.inside(path).ok()?, depth)? {
            Ok(Node::Directory(entries)) => {
                Some(Ok(Node::Directory(self.shown(owner, entries).collect())))
            }
            Ok(file) => Some(Ok(file)),
            Err(_) => None,
        }
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let (store, inside) = self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
        store.modified(&inside)
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let (store, inside) = self.unless_fixed(&self.spelled(path), StoreError::IsADirectory)?;
        store.accessed(&inside)
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        self.unused_in_each(&files, since)
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        self.root.store.inspect(report)?;
        for mounted in &self.below {
            // A failure of this store is reported when its files are read. The other stores are still inspected.
            let _ = mounted.store.inspect(&mut |mut problem| {
                if let Some(below) = problem.path.strip_prefix(ROOT) {
                    problem.path = format!("{}{below}", mounted.at);
                }
                report(problem);
            });
        }
        Ok(())
    }

    /// Combines the revisions of all stores, if each has one. In listings from above, an unreachable store is an empty
    /// directory. So its revision is then different from when it is reachable.
    fn revision(&self) -> Result<Option<String>, StoreError> {
        let mut all = Vec::new();
        for mounted in self.all() {
            match mounted.store.revision() {
                Ok(None) => return Ok(None),
                Ok(Some(revision)) => all.push(format!("{}:{revision}", revision.len())),
                Err(_) if mounted.at != self.root.at => all.push("away".to_owned()),
                Err(error) => return Err(error),
            }
        }
        Ok(Some(all.join(" ")))
    }

    fn notes(&self) -> Option<&dyn Notes> {
        None
    }

    fn sealing(&self) -> Option<&dyn Sealing> {
        None
    }

    fn mounts(&self) -> Option<&dyn MountTable> {
        Some(self)
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        self.within(&self.spelled(path)).is_ok_and(|(store, inside)| store.can_keep(&inside))
    }
}
