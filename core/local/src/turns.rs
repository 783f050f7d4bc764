//! The order in which the threads of a process change a local directory, and the resources that each may hold while it waits.
//!
//! A change that writes content acquires, in this order: the turn at the file, a turn to stage, a staged name, the lock of the tree.
//! A thread that waits for one of them holds only earlier ones, so there is no deadlock.
//!
//! - **The turn at the file** is for edits that lost a race: of a hundred concurrent edits one succeeds, and without turns the other
//!   99 would all start again at once. The first attempt takes no turn. So an edit whose callback blocks does not stop other
//!   threads, unless the number of blocked edits reaches the limit of staging threads.
//! - **A turn to stage** leaves names for other processes: a directory has 64 for all.

use std::convert::Infallible;
use std::ffi::OsString;
use std::hash::Hash;
use std::path::PathBuf;

use memdir_store::group_commit::{EditLimits, GroupCommit, LOCKED_PATIENCE};
use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::turns::{Turn, Turns};
use memdir_store::{Context, Durability, Edit, StoreError};

use crate::directory::LocalDirectory;

/// The number of threads of a process that stage content in a tree at the same time, so their flushes coincide.
const STAGING: usize = 16;

static AT_FILES: PerProcess<Turns<(PathBuf, String)>> = PerProcess::new();
static TO_STAGE: PerProcess<Turns<PathBuf>> = PerProcess::new();

/// A file, and the settings with which it is written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct EditKey {
    /// As one string, whose comparison is faster than that of a path.
    root: OsString,
    path: MemoryPath,
    durability: Durability,
    max_file_bytes: Option<u64>,
    read_only: bool,
}

/// A turn, or `None` for a read-only store.
pub(crate) struct OwnTurn<K: Hash + Eq + Clone + 'static>(Option<Turn<'static, K>>);

impl<K: Hash + Eq + Clone> OwnTurn<K> {
    /// Whether the thread had to wait for others.
    pub(crate) fn has_waited(&self) -> bool {
        self.0.as_ref().is_some_and(Turn::has_waited)
    }

    pub(crate) fn succeeded(&mut self) {
        if let Some(turn) = &mut self.0 {
            turn.succeeded();
        }
    }
}

impl LocalDirectory {
    /// Edits a file, in one write with other edits of it that wait.
    pub(crate) fn edit_with_others(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        static EDITS: PerProcess<GroupCommit<EditKey>> = PerProcess::new();
        let Ok(edits) = EDITS.get(|| Ok::<_, Infallible>(GroupCommit::default()));
        let limits = EditLimits {
            lock_timeout: self.lock_timeout,
            max_file_bytes: self.max_file_bytes,
            patience: LOCKED_PATIENCE,
        };
        let key = EditKey {
            root: self.root.as_os_str().to_owned(),
            path: path.clone(),
            durability: self.durability,
            max_file_bytes: self.max_file_bytes,
            read_only: self.read_only,
        };
        edits.edit(key, limits, context, edit, &mut |edit| self.edit_file(context, path, edit))
    }

    /// Waits for the turn at a file, if another thread of this process has it.
    pub(crate) fn turn_if_busy(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<Option<OwnTurn<(PathBuf, String)>>, StoreError> {
        let Ok(turns) = AT_FILES.get(|| Ok::<_, Infallible>(Turns::new(1)));
        let is_busy = turns.is_busy(&(self.root.clone(), path.as_str().to_owned()));
        is_busy.then(|| self.turn_at(context, path)).transpose()
    }

    /// Waits for the turn at a file.
    pub(crate) fn turn_at(
        &self,
        context: &Context,
        path: &MemoryPath,
    ) -> Result<OwnTurn<(PathBuf, String)>, StoreError> {
        self.turn(context, &AT_FILES, 1, || (self.root.clone(), path.as_str().to_owned()))
    }

    /// Waits until less than the limit of other threads of this process stage content.
    pub(crate) fn turn_to_stage(&self, context: &Context) -> Result<OwnTurn<PathBuf>, StoreError> {
        self.turn(context, &TO_STAGE, STAGING, || self.root.clone())
    }

    fn turn<K: Hash + Eq + Clone>(
        &self,
        context: &Context,
        of: &'static PerProcess<Turns<K>>,
        at_once: usize,
        key: impl FnOnce() -> K,
    ) -> Result<OwnTurn<K>, StoreError> {
        if self.read_only {
            return Ok(OwnTurn(None));
        }
        let Ok(turns) = of.get(|| Ok::<_, Infallible>(Turns::new(at_once)));
        let turn = turns.take(key(), self.lock_timeout, context.cancellation())?;
        Ok(OwnTurn(Some(turn)))
    }
}
