//! A store whose operations fail as on a failing disk or a lost connection: before they did anything,
//! halfway, or after they were done.
#![allow(dead_code, reason = "each test file uses its part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use memdir::store::{Context, Entry, InProcess, Layer, Mutation, Node, walk_files};
use memdir::{MemoryPath, OnExisting, Store, StoreError};

/// How far a failing operation gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done.
    Before,
    /// Half of the files are deleted or moved; a file that is moved then exists twice. Other operations are not
    /// done at all.
    Halfway,
    /// Everything is done.
    After,
}

impl Fault {
    pub(crate) const ALL: [Self; 3] = [Self::Before, Self::Halfway, Self::After];
}

/// Which operations fail, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum When {
    Never,
    One(usize),
    From(usize),
}

/// The error that the store reports.
pub(crate) type Say = fn() -> StoreError;

/// An error that leaves the outcome unknown.
pub(crate) fn answer_lost() -> StoreError {
    StoreError::failed("a test", "the answer was lost")
}

pub(crate) struct FaultyStore {
    /// For setting up and inspecting without faults.
    pub(crate) inner: Arc<dyn Store>,
    when: When,
    fault: Fault,
    say: Say,
    operations: AtomicUsize,
}

impl FaultyStore {
    pub(crate) fn new(when: When, fault: Fault, say: Say) -> Self {
        Self::over(Arc::new(InProcess::new()), when, fault, say)
    }

    pub(crate) fn over(inner: Arc<dyn Store>, when: When, fault: Fault, say: Say) -> Self {
        Self { inner, when, fault, say, operations: AtomicUsize::new(0) }
    }

    /// The number of operations so far.
    pub(crate) fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }

    fn run<T>(
        &self,
        operation: impl FnOnce() -> Result<T, StoreError>,
        half: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<T, StoreError> {
        let number = self.operations.fetch_add(1, Ordering::Relaxed);
        let fails = match self.when {
            When::Never => false,
            When::One(at) => number == at,
            When::From(at) => number >= at,
        };
        if !fails {
            return operation();
        }
        match self.fault {
            Fault::Before => {}
            Fault::Halfway => half()?,
            // An error about the state of the tree is the same as without the fault.
            Fault::After => drop(operation()?),
        }
        Err((self.say)())
    }

    fn whole<T>(&self, operation: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.run(operation, || Ok(()))
    }

    /// The first half of the files below a directory; `None` for a file.
    fn half_below(&self, directory: &MemoryPath) -> Result<Option<Vec<MemoryPath>>, StoreError> {
        match self.inner.list(directory) {
            Ok(_) => {}
            Err(StoreError::NotADirectory) => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut files = Vec::new();
        walk_files(&*self.inner, &mut |file| files.push(file.path))?;
        files.retain(|file| directory.is_above(file));
        files.sort();
        files.truncate(files.len().div_ceil(2));
        Ok(Some(files))
    }

    fn delete_half(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let files = self.half_below(path)?.unwrap_or_default();
        files.iter().try_for_each(|file| self.inner.delete(file))
    }

    fn rename_half(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        match self.inner.list(to) {
            Err(StoreError::NotFound) => {}
            _ => return self.inner.rename(from, to),
        }
        match self.half_below(from)? {
            Some(files) => files.iter().try_for_each(|file| {
                let moved = file.moved(from, to).map_err(|_| StoreError::NameTooLong)?;
                self.inner.rename(file, &moved)
            }),
            None => self.inner.write(to, &self.inner.read(from)?, OnExisting::Error),
        }
    }
}

impl Layer for FaultyStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let half: Box<dyn FnOnce() -> Result<(), StoreError> + '_> = match mutation {
            Mutation::WriteUnique { .. } => return self.inner.mutate(context, mutation),
            Mutation::Delete { path } => Box::new(move || self.delete_half(path)),
            Mutation::Rename { from, to } | Mutation::RenameIf { from, to, .. } => {
                Box::new(move || self.rename_half(from, to))
            }
            Mutation::Clear => Box::new(|| self.delete_half(&MemoryPath::root())),
            _ => Box::new(|| Ok(())),
        };
        self.run(|| self.inner.mutate(context, mutation), half)
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.whole(|| self.inner.read_in(context, path))
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.whole(|| self.inner.list_in(context, path))
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.whole(|| self.inner.open_in(context, path, depth))
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        self.whole(|| self.inner.files_in(context, visit))
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.whole(|| self.inner.modified(path))
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.whole(|| self.inner.accessed(path))
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        self.whole(|| self.inner.unused(files, since))
    }
}
