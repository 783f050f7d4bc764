//! [`ObjectStorage`]: a store in S3 and compatible services, in Google Cloud Storage or in Azure Blob Storage.
//!
//! Each file is one object with a key of the prefix and the file's path, so other programs can read and copy it. Object storage
//! has neither directories nor transactions. It has conditional writes of single objects, on which this store is built.
//!
//! - **A directory** exists while anything is below it. Before a command removes something from a directory, it writes an empty
//!   object there, the marker (`client.rs`), so the directory stays.
//! - **An edit** reads, then writes on the condition that the object is unchanged. Otherwise it starts again. Creating a file
//!   has the condition that the key is free.
//! - **A lost answer** is resolved by the ids that an object carries (`stamp.rs`).
//! - **A file must have nothing below it.** This cannot be a condition on one object. The store checks it before and after
//!   writing, and undoes a write that violates it (`files.rs`).
//! - **Many files** are written with many requests at once (`batch.rs`).
//! - **Renames** are in `moving.rs`, and access times in `access.rs`.
//!
//! One guarantee has an exception, because S3's conditions compare contents. An edit can be applied twice if its answer is
//! lost, another edit restores the old content, and a third edit that had started before is written next.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir_store::access::if_a_file;
use memdir_store::error::Error;
use memdir_store::group_commit::{EditLimits, GroupCommit};
use memdir_store::path::MemoryPath;
use memdir_store::per_process::PerProcess;
use memdir_store::{
    BatchError, Context, Edit, Entry, FileToDelete, FileToWrite, Fingerprints, Location, Mutation,
    Namespace, Node, Problem, Scope, Store, StoreError, StoreInfo, Times, methods_by_mutate,
    micros, reads_in_context, runtime,
};
use object_store::PutMode;
use object_store::path::Path as Key;

use self::address::Service;
use self::client::{Body, Client, How, Put};
use self::error::{ConflictBackoff, ObjectError, RetryBackoff};
use self::stamp::Id;
use self::stream::Stream;

mod access;
mod address;
mod batch;
mod client;
mod command;
mod conditional;
mod error;
mod files;
mod listing;
mod moving;
mod skipping;
mod stamp;
mod stream;

/// How long the writer of a file waits for edits that join its own. A history writes a record for each.
const PATIENCE: Duration = Duration::from_secs(2);

/// A store that keeps each file as an object in a bucket.
///
/// Connections are opened on demand. A forked process opens its own.
pub struct ObjectStorage {
    service: Service,
    prefix: Key,
    client: PerProcess<Arc<Client>>,
    edits: PerProcess<GroupCommit<MemoryPath>>,
    max_file_bytes: Option<u64>,
}

impl fmt::Debug for ObjectStorage {
    /// Omits the settings of the service, which can contain keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStorage").finish_non_exhaustive()
    }
}

impl ObjectStorage {
    /// Opens the bucket and prefix of an address such as `s3://bucket/agents/42`, with the service's usual environment
    /// variables, and checks that it can be listed.
    ///
    /// # Errors
    /// [`Error::Config`] if the address or the environment is wrong; [`Error::Store`] if the bucket
    /// cannot be reached.
    pub fn open(address: &str) -> Result<Self, Error> {
        Self::open_namespace(address, None)
    }

    /// As [`open`](Self::open), for the memory of `namespace`, any text that is not empty. It becomes one name below the
    /// address's prefix. All bytes except `A-Z`, `a-z`, `0-9`, `-` and `_` are percent-encoded. Use this for a user's name: as
    /// a part of the address it could refer to another user's memory.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`Error::Config`] if the namespace is too long.
    pub fn open_namespace(address: &str, namespace: Option<&str>) -> Result<Self, Error> {
        let (service, prefix) = address::parse(address).map_err(Error::config)?;
        let prefix = match namespace {
            Some(text) => address::namespace(&prefix, text).map_err(Error::config)?,
            None => prefix,
        };
        let (client, edits) = (PerProcess::new(), PerProcess::new());
        let store = Self { service, prefix, client, edits, max_file_bytes: None };
        let looked =
            store.run(&Context::new(), "opening the object storage", |client| async move {
                let root = client.key(&MemoryPath::root())?;
                client.is_directory(&root).await
            });
        match looked {
            Ok(_) => Ok(store),
            Err(StoreError::PermissionDenied) => Err(Error::Store(StoreError::failed(
                "opening the object storage",
                "the credentials do not allow to list the bucket",
            ))),
            Err(error) => Err(Error::Store(error)),
        }
    }

    /// The same store with a limit for edits: editing a file of more bytes fails with [`StoreError::TooLarge`]. By default only
    /// the available memory limits it.
    #[must_use]
    pub fn with_max_file_bytes(self, max_file_bytes: Option<u64>) -> Self {
        Self { max_file_bytes, ..self }
    }

    /// The namespaces below the prefix of the address with their sizes, sorted by name. If this prefix itself contains a
    /// memory, its directories look like namespaces if their names are valid for one. This lists all objects.
    ///
    /// # Errors
    /// Only failures of the store.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        let prefix = self.prefix.clone();
        self.run(&Context::new(), "listing the namespaces", |client| async move {
            client.namespaces(&prefix).await
        })
    }

    fn client(&self) -> Result<Arc<Client>, StoreError> {
        let client = self.client.get(|| {
            let store = self.service.connect().map_err(|_| {
                let problem = "its settings do not fit together";
                StoreError::failed("opening the object storage", problem).unchanged()
            })?;
            Ok(Arc::new(Client::new(store, self.prefix.clone(), self.service.lists_in_order())))
        });
        client.cloned()
    }

    /// Runs the work on the runtime of remote stores, and waits for it.
    fn run<T, W>(
        &self,
        context: &Context,
        operation: &'static str,
        work: impl FnOnce(Arc<Client>) -> W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, ObjectError>> + Send + 'static,
    {
        self.run_on(context, operation, false, work)
    }

    /// As [`run`](Self::run), for the next step of a command that may already have changed something.
    fn run_on<T, W>(
        &self,
        context: &Context,
        operation: &'static str,
        has_changed: bool,
        work: impl FnOnce(Arc<Client>) -> W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, ObjectError>> + Send + 'static,
    {
        let work = work(self.client()?);
        let cancellation = context.cancellation().clone();
        runtime::run(command::carry_out(operation, cancellation, has_changed, work))
    }

    /// Edits a file, in one request with other edits of it that wait.
    fn edit(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let Ok(edits) = self.edits.get(|| Ok::<_, Infallible>(GroupCommit::default()));
        // Nothing is locked. A request that fails is repeated for a limited time, so waiting needs no limit.
        let limits = EditLimits {
            lock_timeout: None,
            max_file_bytes: self.max_file_bytes,
            patience: PATIENCE,
        };
        edits.edit(path.clone(), limits, context, edit, &mut |edit| {
            self.edit_alone(context, path, edit)
        })
    }

    fn edit_alone(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let operation = "editing a file";
        let id = Id::new().map_err(|error| error.during(operation).unchanged())?;
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        let how = How::Whole(self.max_file_bytes);
        // The base version of a write whose answer was lost.
        let mut doubtful = None;
        loop {
            let at = path.clone();
            let read = self.run_on(context, operation, doubtful.is_some(), |client| async move {
                match client.open(&at, how).await? {
                    Some((found, Body::Whole(content))) => Ok((found, content)),
                    _ => Err(client.no_file(&at).await?.into()),
                }
            });
            let (found, content) = read?;
            if found.stamp.has(id) {
                return Ok(());
            }
            if doubtful.flatten().is_some_and(|base| !found.stamp.has(base)) {
                return Err(StoreError::failed(
                    operation,
                    "an answer was lost, and so much was written since that it cannot be told \
                     whether the edit was done: look at the file",
                ));
            }
            let Some(splice) = edit(&content) else { return Ok(()) };
            let (content, stamp) = (splice.try_apply(&content)?, found.stamp.written(id));
            let (at, newest) = (path.clone(), found.stamp.newest());
            let put = self.run_on(context, operation, doubtful.is_some(), |client| async move {
                let key = client.key(&at)?;
                client.put(&key, content.into(), &stamp, PutMode::Update(found.version)).await
            })?;
            match put {
                Put::Done(_) => return Ok(()),
                Put::Conflict => {
                    conflicts =
                        self.run_on(context, operation, doubtful.is_some(), |_| async move {
                            conflicts.next().await?;
                            Ok(conflicts)
                        })?;
                }
                Put::Unknown(error) => {
                    doubtful = Some(newest);
                    backoff = self.run_on(context, operation, true, |_| async move {
                        backoff.after(error).await?;
                        Ok(backoff)
                    })?;
                }
            }
        }
    }
}

impl Store for ObjectStorage {
    methods_by_mutate!();
    reads_in_context!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let done =
            match mutation {
                Mutation::Write { path, content, existing } => {
                    let (path, content) = (path.clone(), content.to_vec());
                    self.run(context, "writing a file", |client| async move {
                        client.write(&path, content, existing).await
                    })
                }
                // In one request.
                Mutation::WriteUnique { path, content } => {
                    let (path, content) = (path.clone(), content.to_vec());
                    self.run(context, "writing a file", |client| async move {
                        client.write_unique(&path, content).await
                    })
                }
                Mutation::Update { path, edit } => self.edit(context, path, edit),
                Mutation::Delete { path } => {
                    let path = path.clone();
                    self.run(context, "deleting", |client| async move {
                        client.delete_path(&path).await
                    })
                }
                Mutation::DeleteUnused { path, since } => {
                    let path = path.clone();
                    return if_a_file(self.run(context, "deleting", |client| async move {
                        client.delete_unused(&path, since).await
                    }));
                }
                Mutation::DeleteIf { path, condition } => {
                    return self.delete_if_met(context, path, condition);
                }
                Mutation::RenameIf { from, to, condition } => {
                    return self.rename_if_met(context, from, to, condition);
                }
                Mutation::Rename { from, to } => {
                    let (from, to) = (from.clone(), to.clone());
                    self.run(context, "renaming", |client| async move {
                        client.rename(&from, &to).await
                    })
                }
                Mutation::Clear => self.run(context, "clearing the memory", |client| async move {
                    client.delete_below(&client.key(&MemoryPath::root())?).await
                }),
                Mutation::MakeDirectory { path } => {
                    let path = path.clone();
                    self.run(context, "making a directory", |client| async move {
                        client.make_directory(&path).await
                    })
                }
                Mutation::RemoveDirectory { path } => {
                    let path = path.clone();
                    return self.run(context, "removing a directory", |client| async move {
                        client.remove_directory(&path).await
                    });
                }
                Mutation::SetModified { path, time } => {
                    let (path, micros) = (path.clone(), micros::of(time));
                    self.run(context, "setting a file's time", |client| async move {
                        let key = client.key(&path).map_err(|_| StoreError::NotFound)?;
                        if !path.is_root() && client.set_modified(&key, micros).await? {
                            return Ok(());
                        }
                        Err(client.no_file(&path).await?.into())
                    })
                }
                Mutation::RecordAccess { path, time } => {
                    let path = path.clone();
                    let operation = "noting that a file was accessed";
                    self.run(context, operation, |client| async move {
                        client.record_access(&path, time).await
                    })
                }
            };
        done.map(|()| true)
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        self.write_together(context, files)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.delete_unused_together(context, files, since, visit)
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        self.read_together(context, paths, visit)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        self.times_together(context, paths)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo {
            locations: vec![Location::in_service(self.service.place(), self.prefix.as_ref())],
            tracks_access: true,
            // The edit is computed between a read and a conditional write.
            edits_apart: true,
            // The ETag, which every conditional write needs.
            fingerprints: Fingerprints::Exact,
            conditions_are_atomic: true,
            ..StoreInfo::default()
        }
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        client::key_below(&self.prefix, path).is_ok()
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let path = path.clone();
        self.run(context, "reading a file", |client| async move { client.whole_file(&path).await })
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let path = path.clone();
        self.run(
            context,
            "listing a directory",
            |client| async move { client.entries(&path).await },
        )
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        let path = path.clone();
        let opened = self.run(context, "opening a file", |client| async move {
            match client.open(&path, How::Streamed).await? {
                Some((found, body)) => Ok(Ok((found.size, body))),
                None => {
                    Ok(Err(client.entries_below(&path, Scope { hidden: false, depth }).await?))
                }
            }
        })?;
        Ok(match opened {
            Ok((_, Body::Whole(content))) => Node::file(content),
            Ok((size, Body::Pieces(pieces))) => {
                Node::File(size, Box::new(Stream::new(pieces, context.cancellation().clone())))
            }
            Err(entries) => Node::Directory(entries),
        })
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let found =
            self.run(context, "listing all files", |client| async move { client.files().await })?;
        found.into_iter().for_each(visit);
        Ok(())
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let path = path.clone();
        self.run(&Context::new(), "reading a file's time", |client| async move {
            let key = client.key(&path).map_err(|_| StoreError::NotFound)?;
            match if path.is_root() { None } else { client.file(&key).await? } {
                Some(found) => Ok(micros::time(found.modified())),
                None => Err(client.no_file(&path).await?.into()),
            }
        })
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let path = path.clone();
        self.run(&Context::new(), "reading a file's time", |client| async move {
            client.accessed(&path).await
        })
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        let operation = "looking for unused files";
        self.run(
            &Context::new(),
            operation,
            |client| async move { client.unused(files, since).await },
        )
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let problems = self
            .run(&Context::new(), "inspecting", |client| async move { client.problems().await })?;
        problems.into_iter().for_each(report);
        Ok(())
    }
}

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
