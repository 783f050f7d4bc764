//! Opens and lists paths: derives directories and files from the keys of objects.

use std::collections::BTreeMap;

use futures_util::stream::{self, StreamExt, TryStreamExt};
use memdir_store::path::MemoryPath;
use memdir_store::{
    Entry, EntryKind, Fingerprint, HISTORY, Namespace, Problem, ProblemKind, Scope, StoreError,
    is_own_file,
};
use object_store::path::Path as Key;

use super::address;
use super::client::{AT_A_TIME, Body, Client, FoundObject, How, Item};
use super::error::ObjectError;

impl Client {
    /// The file at `path`; `None` if it does not exist.
    pub(super) async fn open(
        &self,
        path: &MemoryPath,
        how: How,
    ) -> Result<Option<(FoundObject, Body)>, ObjectError> {
        match self.key(path) {
            Ok(key) if !path.is_root() => self.get(&key, how).await,
            _ => Ok(None),
        }
    }

    /// The whole content of the file at `path`.
    pub(super) async fn whole_file(&self, path: &MemoryPath) -> Result<Vec<u8>, ObjectError> {
        match self.open(path, How::Whole(None)).await? {
            Some((_, Body::Whole(content))) => Ok(content),
            _ => Err(self.no_file(path).await?.into()),
        }
    }

    /// The error if `path` is not a file.
    pub(super) async fn no_file(&self, path: &MemoryPath) -> Result<StoreError, ObjectError> {
        let is_directory = match self.key(path) {
            _ if path.is_root() => true,
            Ok(key) => self.is_directory(&key).await?,
            Err(_) => false,
        };
        Ok(if is_directory { StoreError::IsADirectory } else { StoreError::NotFound })
    }

    /// The entries of a directory, one level deep.
    pub(super) async fn entries(&self, path: &MemoryPath) -> Result<Vec<Entry>, ObjectError> {
        let key = self.key(path).map_err(|_| StoreError::NotFound)?;
        let (files, directories) = self.within(&key).await?;
        if files.is_empty() && directories.is_empty() && !path.is_root() {
            let is_file = self.file(&key).await?.is_some();
            let condition = if is_file { StoreError::NotADirectory } else { StoreError::NotFound };
            return Err(condition.into());
        }
        let mut found = Entries::default();
        for name in directories {
            if let Ok(directory) = path.join(&name) {
                found.directory(directory);
            }
        }
        for file in files.into_iter().filter(|file| !file.gone) {
            if let Ok(at) = path.join(&file.rest) {
                found.file(at, &file);
            }
        }
        // Commands cannot reach reserved names, so they have no accesses.
        if path.is_reserved() {
            return Ok(found.all());
        }
        self.with_accesses(path, found.all()).await
    }

    /// The entries below a directory that `scope` includes.
    pub(super) async fn entries_below(
        &self,
        path: &MemoryPath,
        scope: Scope,
    ) -> Result<Vec<Entry>, ObjectError> {
        let key = self.key(path).map_err(|_| StoreError::NotFound)?;
        let items = self.shown_below(&key, scope).await?;
        if items.is_empty() && !path.is_root() {
            return Err(StoreError::NotFound.into());
        }
        Ok(Self::entries_of(path, &items, scope))
    }

    /// The entries that result from the objects below a directory.
    pub(super) fn entries_of(path: &MemoryPath, items: &[Item], scope: Scope) -> Vec<Entry> {
        let mut found = Entries::default();
        for item in items {
            found.enter(path, item, scope);
        }
        found.all()
    }

    /// The namespaces below a prefix with their sizes, sorted by name.
    pub(super) async fn namespaces(&self, prefix: &Key) -> Result<Vec<Namespace>, ObjectError> {
        let (_, names) = self.within(prefix).await?;
        let mut sizes = Vec::new();
        for (name, own) in names.iter().filter_map(|name| address::namespace_at(prefix, name)) {
            sizes.push(self.namespace(name, own));
        }
        let sizes = stream::iter(sizes).buffer_unordered(AT_A_TIME);
        let mut namespaces: Vec<_> = sizes.try_collect().await?;
        namespaces.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(namespaces)
    }

    /// The size of the memory of a namespace, whose prefix is `own`.
    pub(super) async fn namespace(&self, name: String, own: Key) -> Result<Namespace, ObjectError> {
        let (root, items) = (MemoryPath::root(), self.below(&own).await?);
        let mut namespace = Namespace::new(name);
        for entry in Self::entries_of(&root, &items, Scope::EVERYTHING) {
            let EntryKind::File(size) = entry.kind else { continue };
            if is_own_file(&entry.path) {
                continue;
            }
            if entry.path.names().next() == Some(HISTORY) {
                namespace.history_bytes += size;
            } else {
                namespace.files += 1;
                namespace.bytes += size;
            }
        }
        Ok(namespace)
    }

    /// Reports leftovers of interrupted commands, and names that no path can contain.
    pub(super) async fn problems(&self) -> Result<Vec<Problem>, ObjectError> {
        let root = MemoryPath::root();
        let mut problems = Vec::new();
        let items = self.below(&self.key(&root)?).await?;
        for item in items.into_iter().filter(|item| item.notes().is_none()) {
            let names = item.marks().unwrap_or(&item.rest);
            let mut names = names.split('/').filter(|name| !name.is_empty());
            let path = names.try_fold(root.clone(), |directory, name| directory.join(name));
            let Ok(path) = path else {
                let name = item.rest.as_bytes();
                problems.push(Problem::with_entry(ProblemKind::BadName, &root, name));
                continue;
            };
            let what = match item.marks() {
                Some(_) if item.size > 0 => "a rename that is going on or was broken off",
                None if item.gone => "an object that a rename has not removed yet",
                _ => continue,
            };
            problems.push(Problem::new(ProblemKind::LeftOver, &path, what));
        }
        Ok(problems)
    }
}

/// Entries sorted by path.
#[derive(Default)]
struct Entries(BTreeMap<MemoryPath, Entry>);

impl Entries {
    fn file(&mut self, path: MemoryPath, item: &Item) {
        let fingerprint = item.tag.as_ref().map(|tag| Fingerprint::new(tag.as_bytes()));
        let entry = Entry::file(path.clone(), item.size)
            .modified_at(Some(item.stored))
            .with_fingerprint(fingerprint);
        self.0.entry(path).or_insert(entry);
    }

    /// Adds a directory. Some programs put an empty object at a directory's own path, which is replaced.
    fn directory(&mut self, path: MemoryPath) {
        let there = self.0.entry(path.clone()).or_insert_with(|| Entry::directory(path));
        if there.kind == EntryKind::File(0) {
            *there = Entry::directory(there.path.clone());
        }
    }

    /// Adds the entries that `item`, below `directory`, implies: itself and the directories above it.
    fn enter(&mut self, directory: &MemoryPath, item: &Item, scope: Scope) {
        let (names, is_file) = match item.marks() {
            Some(marked) => (marked, false),
            None if item.gone => (item.rest.rsplit_once('/').map_or("", |(above, _)| above), false),
            None => (&*item.rest, true),
        };
        let mut at = directory.clone();
        let mut names = names.split('/').filter(|name| !name.is_empty()).peekable();
        for _ in 0..scope.depth {
            let Some(name) = names.next() else { return };
            let Ok(path) = at.join(name) else { return };
            if !scope.shows(name) {
                return;
            }
            if is_file && names.peek().is_none() {
                return self.file(path, item);
            }
            self.directory(path.clone());
            at = path;
        }
    }

    /// All entries except those below a file, which other programs created and which are unreachable.
    fn all(self) -> Vec<Entry> {
        let mut all: Vec<Entry> = Vec::new();
        let mut file: Option<MemoryPath> = None;
        for (path, entry) in self.0 {
            if file.as_ref().is_some_and(|file| file.is_above(&path)) {
                continue;
            }
            if entry.kind != EntryKind::Directory {
                file = Some(path);
            }
            all.push(entry);
        }
        all
    }
}
