//! [`Step`]: one change to one file that brings back an earlier state. Also makes the steps of a list.

use std::collections::{BTreeMap, BTreeSet};

use memdir_store::HistoryId;
use memdir_store::Operation;
use memdir_store::access::Times;
use memdir_store::batch::batches;
use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, FileToWrite, Mutation, OnExisting, Splice, StoreError};
use serde::Serialize;

use super::conflict::Conflict;
use super::error::HistoryError;
use super::obstacles::Obstacles;
use super::record::{ContentId, Digest};
use super::recorder::Recorder;
use super::settle::PathState;
use super::snapshot::Snapshot;

/// A change that was made, or would be made, to bring a file back to an earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RestoredFile {
    /// The operation: `created`, `modified`, `renamed` or `deleted`.
    pub operation: Operation,
    /// The path.
    pub path: MemoryPath,
    /// The path before the change, if it was a rename; otherwise `None`.
    pub old_path: Option<MemoryPath>,
    /// The new text of the file, if it was merged with later changes; otherwise `None`.
    pub merged: Option<String>,
}

/// The result of `restore`, `undo` and `restore_all`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Restored {
    /// The id of the resulting change, which can be undone itself. `None` if there was nothing to do, or with `dry_run`.
    pub change: Option<HistoryId>,
    /// The files, sorted by path.
    pub files: Vec<RestoredFile>,
    /// The files that `skip_conflicts` skipped, with the reasons, sorted by path.
    pub skipped: Vec<Conflict>,
}

/// One step. `found` is the content of the file before the step.
#[derive(Debug)]
pub(super) enum Step {
    Delete {
        path: MemoryPath,
        found: PathState,
    },
    Rename {
        from: MemoryPath,
        to: MemoryPath,
    },
    /// `merged` is the new content, if the history does not have it.
    Edit {
        path: MemoryPath,
        found: PathState,
        content: ContentId,
        merged: Option<String>,
    },
    Create {
        path: MemoryPath,
        content: ContentId,
    },
}

impl Step {
    fn shown(&self) -> RestoredFile {
        let (operation, path, old_path, merged) = match self {
            Self::Delete { path, .. } => (Operation::Deleted, path, None, None),
            Self::Rename { from, to } => (Operation::Renamed, to, Some(from.clone()), None),
            Self::Edit { path, merged, .. } => (Operation::Modified, path, None, merged.clone()),
            Self::Create { path, .. } => (Operation::Created, path, None, None),
        };
        RestoredFile { operation, path: path.clone(), old_path, merged }
    }

    /// The content of the history that the file gets.
    fn content(&self) -> Option<ContentId> {
        match self {
            Self::Edit { merged: None, content, .. } | Self::Create { content, .. } => {
                Some(*content)
            }
            _ => None,
        }
    }

    /// The order of the steps: deletions make room, then files move, then contents are written.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Delete { .. } => 0,
            Self::Rename { .. } => 1,
            Self::Edit { .. } => 2,
            Self::Create { .. } => 3,
        }
    }
}

impl Restored {
    /// The present path of one of the [`files`](Self::files) of a dry run, before its renames.
    #[must_use]
    pub fn path_before<'r>(&'r self, file: &'r RestoredFile) -> &'r MemoryPath {
        let renamed = self.files.iter().filter(|other| other.path == file.path);
        renamed.filter_map(|other| other.old_path.as_ref()).next().unwrap_or(&file.path)
    }
}

impl Recorder {
    pub(super) fn apply(
        &self,
        context: &Context,
        snapshot: &Snapshot,
        steps: &[Step],
        dry_run: bool,
    ) -> Result<Restored, HistoryError> {
        let mut files: Vec<RestoredFile> = steps.iter().map(Step::shown).collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        if dry_run || steps.is_empty() {
            return Ok(Restored { change: None, files, skipped: Vec::new() });
        }
        // Read all contents before the first step.
        let of_history: Vec<ContentId> = steps.iter().filter_map(Step::content).collect();
        let mut of_history = self.reader.all_contents(context, snapshot, &of_history)?.into_iter();
        let content = |step: &Step| match (step, step.content()) {
            (Step::Edit { merged: Some(text), .. }, _) => text.clone().into_bytes(),
            (_, Some(_)) => of_history.next().unwrap_or_default(),
            (_, None) => Vec::new(),
        };
        let contents: Vec<Vec<u8>> = steps.iter().map(content).collect();
        let make = || {
            let (mut renames, mut creations) = (Vec::new(), Vec::new());
            for (step, content) in steps.iter().zip(&contents) {
                match step {
                    Step::Rename { from, to } => renames.push((from, to)),
                    // They are the last steps.
                    Step::Create { path, .. } => creations.push(FileToWrite {
                        path,
                        content,
                        times: Times::default(),
                        existing: OnExisting::Error,
                        note: None,
                    }),
                    step => {
                        self.rename_all(context, &mut renames)?;
                        self.take(context, step, content)?;
                    }
                }
            }
            self.rename_all(context, &mut renames)?;
            self.create_all(context, &creations)
        };
        match (make(), context.change()) {
            (Ok(()), change) => Ok(Restored { change, files, skipped: Vec::new() }),
            (Err(Stop::Changed(path)), None) => {
                Err(HistoryError::conflict([Conflict::changed(path)]))
            }
            (Err(Stop::Obstructed(path)), None) => {
                Err(HistoryError::conflict([Conflict::in_the_way(path)]))
            }
            (Err(Stop::Store(error)), None) => Err(error.into()),
            (Err(stop), Some(change)) => {
                let source = match stop {
                    Stop::Store(error) => error,
                    Stop::Changed(path) => {
                        StoreError::failed(format!("restoring {path}"), "it was changed meanwhile")
                    }
                    Stop::Obstructed(path) => {
                        StoreError::failed("restoring a file", format!("{path} is in the way"))
                    }
                };
                Err(HistoryError::Partly { change, source })
            }
        }
    }

    /// Renames the files, each as soon as its new path is free.
    fn rename_all(
        &self,
        context: &Context,
        renames: &mut Vec<(&MemoryPath, &MemoryPath)>,
    ) -> Result<(), Stop> {
        let folding = Folding::new(self.store.info().folds_case);
        while !renames.is_empty() {
            let waiting = renames.len();
            let (mut later, mut stopped) = (Vec::new(), None);
            for (from, to) in renames.drain(..) {
                match self.recording().mutate(context, Mutation::Rename { from, to }) {
                    Ok(_) => {}
                    Err(error @ (StoreError::AlreadyExists | StoreError::NotADirectory)) => {
                        stopped = Some((to, error));
                        later.push((from, to));
                    }
                    Err(error) => return Err(self.stopped(from, error)),
                }
            }
            // Each remaining file is at or above another one's new path. Move one of them out of the way.
            if later.len() == waiting
                && let Some((to, error)) = stopped
            {
                let is_in_the_way = |from: &MemoryPath| {
                    let from = folding.key(from);
                    let mut places = later.iter().map(|(_, to)| folding.key(to));
                    places.any(|to| from == to || from.is_above(&to))
                };
                let Some(aside) = later.iter().position(|(from, _)| is_in_the_way(from)) else {
                    return Err(self.stopped(to, error));
                };
                let (from, to) = later.remove(aside);
                let content =
                    self.recording().read(from).map_err(|error| self.stopped(from, error))?;
                self.make(context, from, Mutation::Delete { path: from })?;
                *renames = later;
                self.rename_all(context, renames)?;
                let (content, existing) = (&content, OnExisting::Error);
                return self.make(context, to, Mutation::Write { path: to, content, existing });
            }
            *renames = later;
        }
        Ok(())
    }

    /// Creates the files, many of them together. A file that another program has created meanwhile stays as it is.
    fn create_all(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), Stop> {
        for batch in batches(files) {
            self.recording().write_batch(context, batch).map_err(|failed| {
                let path = batch.get(failed.written).map_or(batch[0].path, |file| file.path);
                self.stopped(path, failed.error)
            })?;
        }
        Ok(())
    }

    /// Makes a change at `path`.
    fn make(
        &self,
        context: &Context,
        path: &MemoryPath,
        mutation: Mutation<'_>,
    ) -> Result<(), Stop> {
        let made = self.recording().mutate(context, mutation);
        made.map(drop).map_err(|error| self.stopped(path, error))
    }

    fn take(&self, context: &Context, step: &Step, content: &[u8]) -> Result<(), Stop> {
        match step {
            Step::Delete { path, found } => {
                let mut is_same = |now: &[u8]| PathState::File(Digest::of(now)) == *found;
                let delete = Mutation::DeleteIf { path, condition: &mut is_same };
                match self.recording().mutate(context, delete) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(Stop::Changed(path.clone())),
                    Err(error) => Err(self.stopped(path, error)),
                }
            }
            Step::Edit { path, found, .. } => {
                let mut is_changed = false;
                let mut replace = |old: &[u8]| {
                    is_changed = PathState::File(Digest::of(old)) != *found;
                    (!is_changed).then(|| Splice { range: 0..old.len(), text: content.to_vec() })
                };
                self.make(context, path, Mutation::Update { path, edit: &mut replace })?;
                if is_changed { Err(Stop::Changed(path.clone())) } else { Ok(()) }
            }
            // These are made together, elsewhere.
            Step::Create { .. } | Step::Rename { .. } => Ok(()),
        }
    }

    /// Why a step at `path` was not made. If the tree is not as it was when the steps were checked, another program changed it
    /// meanwhile.
    fn stopped(&self, path: &MemoryPath, error: StoreError) -> Stop {
        match error {
            StoreError::NotADirectory | StoreError::Symlink => {
                let folding = Folding::new(self.store.info().folds_case);
                let obstacle =
                    Obstacles::new(self, folding, std::iter::empty()).obstacle_above(path);
                Stop::Obstructed(obstacle.ok().flatten().unwrap_or_else(|| path.clone()))
            }
            StoreError::AlreadyExists
            | StoreError::NotFound
            | StoreError::IsADirectory
            | StoreError::IntoItself
            | StoreError::SpecialFile => Stop::Changed(path.clone()),
            StoreError::Source(source) => self.stopped(path, *source),
            error => Stop::Store(error),
        }
    }
}

/// The same steps, except that a file that is deleted and created again at the same path is edited instead. If its content is the
/// same, there is no step.
pub(super) fn without_detours(steps: Vec<Step>) -> Vec<Step> {
    let mut deleted: BTreeMap<MemoryPath, PathState> = BTreeMap::new();
    for step in &steps {
        if let Step::Delete { path, found } = step {
            deleted.insert(path.clone(), *found);
        }
    }
    let mut made = BTreeSet::new();
    let mut direct = Vec::new();
    for step in steps {
        match step {
            Step::Create { path, content } if deleted.contains_key(&path) => {
                let found = deleted.get(&path).copied().unwrap_or(PathState::Nothing);
                made.insert(path.clone());
                if found != PathState::File(content.sha256) {
                    direct.push(Step::Edit { path, found, content, merged: None });
                }
            }
            step => direct.push(step),
        }
    }
    direct.retain(|step| !matches!(step, Step::Delete { path, .. } if made.contains(path)));
    direct
}

/// Why a step was not made.
enum Stop {
    /// The file has changed since the steps were checked.
    Changed(MemoryPath),
    /// Something is in the way at this path.
    Obstructed(MemoryPath),
    Store(StoreError),
}
