//! Writes and reads many files, and deletes unused ones, with many requests at once.
//!
//! Each file takes the steps of a single write (`files.rs`): a check of its place, a write on a condition, and a second check. A
//! group of files takes each step together, and a directory above several of them is checked once.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use futures_util::{StreamExt, TryStreamExt, stream};
use memdir_store::access::{Times, if_a_file};
use memdir_store::batch::unless_refused;
use memdir_store::path::MemoryPath;
use memdir_store::settings::OnExisting;
use memdir_store::{BatchError, Context, FileToDelete, FileToWrite, StoreError, micros};
use object_store::PutPayload;

use super::ObjectStorage;
use super::client::Client;
use super::error::ObjectError;
use super::files::Placed;
use super::stamp::{Id, Stamp};

/// The limit of concurrent requests, and of files in a group.
pub(super) const TOGETHER: usize = 64;

/// A file of a group.
struct NewFile {
    path: MemoryPath,
    content: PutPayload,
    times: Times,
    existing: OnExisting,
}

/// A request that checks the place of a file.
#[derive(Clone, Copy)]
enum Check {
    /// Whether the directory with this number, which is above some of the files, is a file.
    Above(usize),
    /// Whether anything is below the file with this number.
    Below(usize),
    /// Whether the file with this number exists.
    At(usize),
}

impl ObjectStorage {
    /// [`Store::write_batch`](memdir_store::Store::write_batch). A cancelled call ends after a group.
    pub(super) fn write_together(
        &self,
        context: &Context,
        files: &[FileToWrite<'_>],
    ) -> Result<(), BatchError> {
        let mut written = 0;
        while written < files.len() {
            let group: Vec<NewFile> = first_group(&files[written..]).iter().map(owned).collect();
            let (count, in_group) = (group.len(), Arc::new(AtomicUsize::new(0)));
            let counted = Arc::clone(&in_group);
            let done = self.run(context, "writing files", |client| async move {
                client.write_group(&group, &counted).await
            });
            done.map_err(|error| {
                let written = written + in_group.load(Ordering::Relaxed);
                BatchError { written, error }
            })?;
            written += count;
        }
        Ok(())
    }

    /// [`Store::delete_unused_batch`](memdir_store::Store::delete_unused_batch). A cancelled call ends after a group.
    pub(super) fn delete_unused_together(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        for group in files.chunks(TOGETHER) {
            let paths: Vec<MemoryPath> = group.iter().map(|file| file.path.clone()).collect();
            let operation = "deleting unused files";
            let deleted = self.run(context, operation, |client| async move {
                let client = &client;
                let delete = |path| async move { client.delete_unused(&path, since).await };
                let deleted = stream::iter(paths).map(delete).buffered(TOGETHER);
                Ok(deleted.collect::<Vec<_>>().await)
            })?;
            let deleted: Vec<_> = deleted
                .into_iter()
                .map(|deleted| {
                    let deleted = deleted.map_err(|error| error.during(operation));
                    unless_refused(if_a_file(deleted))
                })
                .collect();
            let is_changed = deleted.iter().any(|deleted| matches!(deleted, Ok(true)));
            for deleted in deleted {
                visit(deleted.map_err(|error| {
                    // Others of the group may be deleted.
                    if is_changed { error.after_changes() } else { error }
                })?);
            }
        }
        Ok(())
    }

    /// [`Store::read_batch`](memdir_store::Store::read_batch). As many files as requests are in memory at once.
    pub(super) fn read_together(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        for group in paths.chunks(TOGETHER) {
            let group: Vec<MemoryPath> = group.iter().copied().cloned().collect();
            let contents = self.run(context, "reading files", |client| async move {
                let client = &client;
                let read = |path| async move { client.whole_file(&path).await };
                let read = stream::iter(group).map(read).buffered(TOGETHER);
                Ok(read.collect::<Vec<_>>().await)
            })?;
            for content in contents {
                visit(content.map_err(|error| error.during("reading a file").unchanged())?);
            }
        }
        Ok(())
    }
}

impl ObjectStorage {
    /// [`Store::read_times`](memdir_store::Store::read_times).
    pub(super) fn times_together(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        let paths: Vec<MemoryPath> = paths.iter().copied().cloned().collect();
        self.run(context, "reading the times of files", |client| async move {
            let client = &client;
            let times = |path| async move { client.times(&path).await };
            stream::iter(paths).map(times).buffered(TOGETHER).try_collect().await
        })
    }
}

fn owned(file: &FileToWrite<'_>) -> NewFile {
    let content = PutPayload::from(file.content.to_vec());
    NewFile { path: file.path.clone(), content, times: file.times, existing: file.existing }
}

/// The first files, of which none has the path of another one, or is below it. The result of such files depends on their order.
fn first_group<'g, 'f>(files: &'g [FileToWrite<'f>]) -> &'g [FileToWrite<'f>] {
    let (mut paths, mut above) = (HashSet::new(), HashSet::new());
    let is_apart = |file: &&FileToWrite<'_>| {
        let own: Vec<MemoryPath> = parents(file.path).collect();
        if above.contains(file.path) || own.iter().any(|parent| paths.contains(parent)) {
            return false;
        }
        above.extend(own);
        paths.insert(file.path.clone())
    };
    let count = files.iter().take(TOGETHER).take_while(is_apart).count();
    &files[..count]
}

/// The directories above a path, except the root.
fn parents(path: &MemoryPath) -> impl Iterator<Item = MemoryPath> {
    let parent = |path: &MemoryPath| path.parent().filter(|parent| !parent.is_root());
    std::iter::successors(parent(path), move |path| parent(path))
}

impl Client {
    /// Writes the files of a group, and sets `written` to the number of files before the first one that was not written. If the
    /// places of all files are free, and another command then takes one, the files after it are written.
    async fn write_group(
        &self,
        files: &[NewFile],
        written: &AtomicUsize,
    ) -> Result<(), ObjectError> {
        let all: Vec<&NewFile> = files.iter().collect();
        let checked = self.check_places(&all, true).await;
        let fitting = checked.iter().take_while(|checked| checked.is_ok()).count();
        let placed: Vec<_> = stream::iter(0..fitting)
            .map(|number| async move { self.place_file(&files[number]).await })
            .buffered(TOGETHER)
            .collect()
            .await;
        let is_created = |number: &usize| matches!(&placed[*number], Ok((_, it)) if it.created);
        let created: Vec<usize> = (0..fitting).filter(is_created).collect();
        let to_confirm: Vec<&NewFile> = created.iter().map(|number| &files[*number]).collect();
        let confirmed = self.check_places(&to_confirm, false).await;
        let mut confirmed: BTreeMap<usize, _> = created.into_iter().zip(confirmed).collect();

        let mut results = Vec::new();
        for (number, placed) in placed.into_iter().enumerate() {
            let (id, placed) = match placed {
                Ok(placed) => placed,
                Err(error) => {
                    results.push(Err(error));
                    continue;
                }
            };
            let confirmed = confirmed.remove(&number).unwrap_or(Ok(()));
            if confirmed.is_err() {
                self.withdraw(&self.key(&files[number].path)?, placed.version, id).await?;
            }
            results.push(confirmed);
        }
        results.extend(checked.into_iter().skip(fitting));
        for result in results {
            result?;
            written.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    async fn place_file(&self, file: &NewFile) -> Result<(Id, Placed), ObjectError> {
        let (key, id) = (self.key(&file.path)?, Id::new()?);
        // First the access time, so the file never seems unused for longer than it is.
        if let Some(time) = file.times.accessed {
            self.put_note(&self.note(&file.path)?, time, Some(id)).await?;
        }
        let mut stamp = Stamp::new(id);
        if let Some(time) = file.times.modified {
            stamp.modified = Some(micros::of(time));
        }
        Ok((id, self.place(&key, &file.content, &stamp, id, file.existing).await?))
    }

    /// [`check_place`](Self::check_place) for each of the files, and whether it may be written, if `is_first` is true.
    async fn check_places(
        &self,
        files: &[&NewFile],
        is_first: bool,
    ) -> Vec<Result<(), ObjectError>> {
        let mut results = Vec::new();
        let mut above: BTreeMap<MemoryPath, Vec<usize>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            results.push(match self.key(&file.path) {
                _ if file.path.is_root() => Err(StoreError::AlreadyExists.into()),
                key => key.map(drop).map_err(ObjectError::from),
            });
            parents(&file.path).for_each(|path| above.entry(path).or_default().push(number));
        }
        let above: Vec<(MemoryPath, Vec<usize>)> = above.into_iter().collect();
        let mut checks: Vec<Check> = (0..above.len()).map(Check::Above).collect();
        for (number, file) in
            files.iter().enumerate().filter(|(number, _)| results[*number].is_ok())
        {
            checks.push(Check::Below(number));
            if is_first && file.existing == OnExisting::Error {
                checks.push(Check::At(number));
            }
        }
        let directories = &above;
        let found: Vec<_> = stream::iter(checks)
            .map(|check| async move { (check, self.is_taken(files, directories, check).await) })
            .buffer_unordered(TOGETHER)
            .collect()
            .await;
        for (check, found) in found {
            let mut failure = match found {
                Ok(false) => continue,
                Ok(true) => None,
                Err(error) => Some(error),
            };
            let (numbers, is_above) = match &check {
                Check::Above(directory) => (&above[*directory].1[..], true),
                Check::Below(number) | Check::At(number) => (std::slice::from_ref(number), false),
            };
            // If several files are affected, the batch ends with the error of the first.
            for number in numbers {
                let result = &mut results[*number];
                if result.is_ok() {
                    *result = Err(match failure.take() {
                        Some(error) => error,
                        None if is_above => StoreError::NotADirectory.into(),
                        None => StoreError::AlreadyExists.into(),
                    });
                }
            }
        }
        results
    }

    async fn is_taken(
        &self,
        files: &[&NewFile],
        directories: &[(MemoryPath, Vec<usize>)],
        check: Check,
    ) -> Result<bool, ObjectError> {
        match check {
            Check::Above(number) => {
                Ok(self.file(&self.key(&directories[number].0)?).await?.is_some())
            }
            Check::Below(number) => self.is_directory(&self.key(&files[number].path)?).await,
            Check::At(number) => Ok(self.file(&self.key(&files[number].path)?).await?.is_some()),
        }
    }
}
