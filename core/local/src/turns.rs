//! In which order the threads of a process change a local directory, and what each may hold while it waits.
//!
//! The order, for every change that writes a content: first the turn at the file, then a turn to stage, then a staged name, then the
//! lock of the tree. Whoever waits for one of them holds only what comes before it, so nobody waits in a circle.
//!
//! - **The turn at the file** is for edits that others have overtaken: of a hundred at once one succeeds, and without turns the
//!   other 99 would begin again together. The first attempt needs none: an edit whose own function stands still stops no
//!   other thread, unless as many stand still as may stage.
//! - **A turn to stage** leaves names to other processes: a directory has 64 for all.

use std::convert::Infallible;
use std::hash::Hash;
use std::path::PathBuf;

use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::turns::{Turn, Turns};
use memdir_store::{Context, StoreError};

use crate::directory::LocalDirectory;

/// How many threads of a process stage a content in a tree at the same time: their flushes coincide.
const STAGING: usize = 16;

static AT_FILES: PerProcess<Turns<(PathBuf, String)>> = PerProcess::new();
static TO_STAGE: PerProcess<Turns<PathBuf>> = PerProcess::new();

/// A turn; none for a store that is only read.
pub(crate) struct OwnTurn<K: Hash + Eq + Clone + 'static>(Option<Turn<'static, K>>);

impl<K: Hash + Eq + Clone> OwnTurn<K> {
    /// Whether others went first.
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

    /// Waits until few other threads of this process have a staged content.
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
