//! Listings of several stores: the entries of the store itself, the directories above mount points, and the
//! entries of mounted stores.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::{Mounted, Mounts};
use crate::path::{MemoryPath, is_hidden};
use crate::{Context, Entry, Node, StoreError};

impl Mounts {
    /// [`Store::list_in`](crate::Store::list_in).
    pub(super) fn listed(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Vec<Entry>, StoreError> {
        let owner = self.owner(path);
        let listed = owner.store.list_in(context, &owner.inside(path)?);
        let mut entries: Vec<Entry> = match listed {
            Ok(entries) => self.shown(owner, entries).collect(),
            Err(error) => self.nothing_there(path, error)?,
        };
        entries.extend(self.fixed_below(path, 1).into_iter().map(Entry::directory));
        Ok(entries)
    }

    /// [`Store::open_in`](crate::Store::open_in).
    pub(super) fn opened(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        let owner = self.owner(path);
        let mut entries: Vec<Entry> =
            match owner.store.open_in(context, &owner.inside(path)?, depth) {
                Ok(Node::Directory(entries)) => self.shown(owner, entries).collect(),
                Ok(file) if !self.is_above_a_mount(path) => return Ok(file),
                // The directory that leads to a mount point hides the file.
                Ok(_) => Vec::new(),
                Err(error) => self.nothing_there(path, error)?,
            };
        let levels = path.names().count();
        let visible = |below: &MemoryPath| !below.names().skip(levels).any(is_hidden);
        let fixed = self.fixed_below(path, depth);
        entries.extend(fixed.into_iter().filter(visible).map(Entry::directory));
        for mounted in self.below.iter().filter(|mounted| path.is_above(&mounted.at)) {
            let left = depth.saturating_sub(mounted.at.names().count() - levels);
            if left == 0 || !visible(&mounted.at) {
                continue;
            }
            match mounted.store.open_in(context, &MemoryPath::root(), left) {
                Ok(Node::Directory(held)) => entries.extend(self.shown(mounted, held)),
                Err(StoreError::Cancelled) => return Err(StoreError::Cancelled),
                // An unreachable store is shown as an empty directory.
                _ => {}
            }
        }
        Ok(Node::Directory(entries))
    }

    /// [`Store::unused`](crate::Store::unused).
    pub(super) fn unused_in_each(
        &self,
        files: &[Entry],
        since: SystemTime,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut unused = Vec::new();
        for mounted in self.all().filter(|mounted| !mounted.store.info().is_read_only) {
            let owner = |file: &Entry| &self.owner(&self.spelled(&file.path)).at;
            let own = files.iter().filter(|file| *owner(file) == mounted.at);
            let own =
                own.map(|file| Ok(Entry { path: mounted.inside(&file.path)?, ..file.clone() }));
            let own: Vec<Entry> = own.collect::<Result<_, StoreError>>()?;
            let found = mounted.store.unused(own, since)?;
            unused.extend(self.shown(mounted, found));
        }
        Ok(unused)
    }

    /// [`Store::files_in`](crate::Store::files_in).
    pub(super) fn all_files(
        &self,
        context: &Context,
        visit: &mut dyn FnMut(Entry),
    ) -> Result<(), StoreError> {
        for mounted in self.all() {
            let shown = mounted.store.files_in(context, &mut |found| {
                if let Some(file) = self.as_shown(mounted, found) {
                    visit(file);
                }
            });
            // An unreachable store does not prevent the others from being listed.
            if mounted.at.is_root() || matches!(shown, Err(StoreError::Cancelled)) {
                shown?;
            }
        }
        Ok(())
    }

    /// The entries of one store as the whole tree shows them, without those hidden by mount points and the
    /// directories above them.
    pub(super) fn shown<'m>(
        &'m self,
        mounted: &'m Mounted,
        entries: Vec<Entry>,
    ) -> impl Iterator<Item = Entry> + 'm {
        entries.into_iter().filter_map(|entry| self.as_shown(mounted, entry))
    }

    fn as_shown(&self, mounted: &Mounted, mut entry: Entry) -> Option<Entry> {
        entry.path = mounted.outside(&entry.path)?;
        let path = self.spelled(&entry.path);
        let shows = self.owner(&path).at == mounted.at && !self.is_fixed(&path);
        drop(path);
        shows.then_some(entry)
    }

    /// The mount points below `path`, and the directories that lead there, `depth` levels deep.
    fn fixed_below(&self, path: &MemoryPath, depth: usize) -> BTreeSet<MemoryPath> {
        let deepest = path.names().count().saturating_add(depth);
        let mut fixed = BTreeSet::new();
        for mounted in &self.below {
            let mut directory = Some(mounted.at.clone());
            while let Some(below) = directory.filter(|directory| path.is_above(directory)) {
                directory = below.parent();
                if below.names().count() <= deepest {
                    fixed.insert(below);
                }
            }
        }
        fixed
    }

    /// The result for a directory above a mount point if its own store has no such directory. It exists
    /// anyway, so the condition is ignored. A failure of the store is returned, because otherwise its entries
    /// would seem to be gone.
    fn nothing_there(
        &self,
        path: &MemoryPath,
        error: StoreError,
    ) -> Result<Vec<Entry>, StoreError> {
        match error {
            broken if broken.is_failure() => Err(broken),
            _ if self.is_above_a_mount(path) => Ok(Vec::new()),
            condition => Err(condition),
        }
    }
}
