//! A store in object storage: S3 and what speaks its protocol, Google's, Azure's.
//!
//! A file is an object of its own, at the prefix and the file's path, so that other programs can
//! read and copy it. Object storage has neither directories nor transactions; it has conditional
//! writes of single objects, and everything here is made of those.
//!
//! - **A directory** is there while anything is below it. Whatever takes something out of a
//!   directory first puts an empty object there, its marker (`client.rs`), so that it stays.
//! - **An edit** reads, and writes on the condition that nothing was written since; otherwise it
//!   begins anew. Making a file has the condition that nothing is there.
//! - **A lost answer** is found out by the numbers that an object carries (`stamp.rs`).
//! - **That no file has anything below it** is no condition on one object. It is looked at before
//!   and once more after writing, and what should not have been is taken back (`files.rs`).
//! - **Renaming** is written down in `moving.rs`, and the times of accesses in `access.rs`.
//!
//! One thing is not exact: S3's condition compares contents. If a content comes back while an
//! edit's answer is lost, and another edit started before, the lost one can be done twice.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use object_store::PutMode;
use object_store::path::Path as Key;

use self::address::Service;
use self::client::{Body, Client, How, Put};
use self::error::{ConflictBackoff, ObjectError, RetryBackoff};
use self::stamp::Id;
use self::stream::Stream;
use super::access::if_a_file;
use super::per_process::PerProcess;
use super::{Edit, Entry, Location, Node, Problem, Scope, Store, StoreError, micros, runtime};
use crate::error::Error;
use crate::path::MemoryPath;
use crate::store::settings::OnExisting;

mod access;
mod address;
mod client;
mod command;
mod error;
mod files;
mod listing;
mod moving;
mod stamp;
mod stream;

/// Keeps each file as an object of a bucket.
///
/// Connections are opened when they are needed. A process that was forked opens its own.
pub struct ObjectStorage {
    service: Service,
    prefix: Key,
    client: PerProcess<Arc<Client>>,
    max_file_bytes: Option<u64>,
}

impl fmt::Debug for ObjectStorage {
    /// Without what the service is opened with, which can hold keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectStorage").finish_non_exhaustive()
    }
}

impl ObjectStorage {
    /// Opens the bucket and prefix of an address such as `s3://bucket/agents/42`, with what the
    /// service's usual environment variables say, and looks whether it can be listed.
    ///
    /// # Errors
    /// [`Error::Config`] if the address or the environment is wrong; [`Error::Store`] if the bucket
    /// cannot be reached.
    pub fn open(address: &str) -> Result<Self, Error> {
        Self::open_namespace(address, None)
    }

    /// As [`open`](Self::open), for the memory of `namespace`, any text that is not empty: it is one
    /// name below the address's prefix, in which all but `A-Z`, `a-z`, `0-9`, `-` and `_` is
    /// percent-encoded. For a name that comes from somebody else this is the way: put into an address,
    /// it could name another's.
    ///
    /// # Errors
    /// As [`open`](Self::open); [`Error::Config`] also where it is too long.
    pub fn open_namespace(address: &str, namespace: Option<&str>) -> Result<Self, Error> {
        let (service, prefix) = address::parse(address).map_err(Error::config)?;
        let prefix = match namespace {
            Some(text) => address::namespace(&prefix, text).map_err(Error::config)?,
            None => prefix,
        };
        let store = Self { service, prefix, client: PerProcess::new(), max_file_bytes: None };
        let looked = store.run("opening the object storage", |client| async move {
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

    /// The same store, which reads no more than that into memory to edit a file: a larger one is refused
    /// with [`StoreError::TooLarge`]. By default as much as there is memory for.
    #[must_use]
    pub fn with_max_file_bytes(self, max_file_bytes: Option<u64>) -> Self {
        Self { max_file_bytes, ..self }
    }

    fn client(&self) -> Result<Arc<Client>, StoreError> {
        let client = self.client.get(|| {
            let store = self.service.connect().map_err(|_| {
                let problem = "its settings do not fit together";
                StoreError::failed("opening the object storage", problem).unchanged()
            })?;
            Ok(Arc::new(Client::new(store, self.prefix.clone())))
        });
        client.cloned()
    }

    /// Does the work on the runtime of remote stores, and waits for it.
    fn run<T, W>(
        &self,
        operation: &'static str,
        work: impl FnOnce(Arc<Client>) -> W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, ObjectError>> + Send + 'static,
    {
        self.run_on(operation, false, work)
    }

    /// As [`run`](Self::run), for the next step of a command that may have changed something.
    fn run_on<T, W>(
        &self,
        operation: &'static str,
        has_changed: bool,
        work: impl FnOnce(Arc<Client>) -> W,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: Future<Output = Result<T, ObjectError>> + Send + 'static,
    {
        let work = work(self.client()?);
        runtime::run(command::carry_out(operation, has_changed, work))
    }
}

impl Store for ObjectStorage {
    fn locations(&self) -> Vec<Location> {
        vec![Location::in_service(self.service.place(), self.prefix.as_ref())]
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        client::key_below(&self.prefix, path).is_ok()
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let path = path.clone();
        self.run("reading a file", |client| async move {
            match client.open(&path, How::Whole(None)).await? {
                Some((_, Body::Whole(content))) => Ok(content),
                _ => Err(client.no_file(&path).await?.into()),
            }
        })
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let path = path.clone();
        self.run("listing a directory", |client| async move { client.entries(&path).await })
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        let path = path.clone();
        let opened = self.run("opening a file", |client| async move {
            match client.open(&path, How::Streamed).await? {
                Some((found, body)) => Ok(Ok((found.size, body))),
                None => {
                    Ok(Err(client.entries_below(&path, Scope { hidden: false, depth }).await?))
                }
            }
        })?;
        Ok(match opened {
            Ok((_, Body::Whole(content))) => Node::file(content),
            Ok((size, Body::Pieces(pieces))) => Node::File(size, Box::new(Stream::new(pieces))),
            Err(entries) => Node::Directory(entries),
        })
    }

    fn files(&self, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let found = self.run("listing all files", |client| async move { client.files().await })?;
        found.into_iter().for_each(visit);
        Ok(())
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let (path, content) = (path.clone(), content.to_vec());
        self.run(
            "writing a file",
            |client| async move { client.write(&path, content, existing).await },
        )
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        let operation = "editing a file";
        let id = Id::new().map_err(|error| error.during(operation).unchanged())?;
        let (mut backoff, mut conflicts) = (RetryBackoff::new(), ConflictBackoff::new());
        let how = How::Whole(self.max_file_bytes);
        // The version that a write without an answer was meant for.
        let mut doubtful = None;
        loop {
            let at = path.clone();
            let read = self.run_on(operation, doubtful.is_some(), |client| async move {
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
            let put = self.run_on(operation, doubtful.is_some(), |client| async move {
                let key = client.key(&at)?;
                client.put(&key, content.into(), &stamp, PutMode::Update(found.version)).await
            })?;
            match put {
                Put::Done(_) => return Ok(()),
                Put::Conflict => {
                    conflicts = self.run_on(operation, doubtful.is_some(), |_| async move {
                        conflicts.next().await?;
                        Ok(conflicts)
                    })?;
                }
                Put::Unknown(error) => {
                    doubtful = Some(newest);
                    backoff = self.run_on(operation, true, |_| async move {
                        backoff.after(error).await?;
                        Ok(backoff)
                    })?;
                }
            }
        }
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let path = path.clone();
        self.run("deleting", |client| async move { client.delete_path(&path).await })
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        let (from, to) = (from.clone(), to.clone());
        self.run("renaming", |client| async move { client.rename(&from, &to).await })
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let path = path.clone();
        self.run("reading a file's time", |client| async move {
            let key = client.key(&path).map_err(|_| StoreError::NotFound)?;
            match if path.is_root() { None } else { client.file(&key).await? } {
                Some(found) => Ok(micros::time(found.modified())),
                None => Err(client.no_file(&path).await?.into()),
            }
        })
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let (path, micros) = (path.clone(), micros::of(time));
        self.run("setting a file's time", |client| async move {
            let key = client.key(&path).map_err(|_| StoreError::NotFound)?;
            if !path.is_root() && client.set_modified(&key, micros).await? {
                return Ok(());
            }
            Err(client.no_file(&path).await?.into())
        })
    }

    fn tracks_access(&self) -> bool {
        true
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        let path = path.clone();
        self.run("reading a file's time", |client| async move { client.accessed(&path).await })
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let path = path.clone();
        let operation = "noting that a file was accessed";
        self.run(operation, |client| async move { client.record_access(&path, time).await })
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        let operation = "looking for unused files";
        self.run(operation, |client| async move { client.unused(files, since).await })
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let path = path.clone();
        if_a_file(
            self.run("deleting", |client| async move { client.delete_unused(&path, since).await }),
        )
    }

    fn make_directory(&self, path: &MemoryPath) -> Result<(), StoreError> {
        let path = path.clone();
        self.run("making a directory", |client| async move { client.make_directory(&path).await })
    }

    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let problems = self.run("inspecting", |client| async move { client.problems().await })?;
        problems.into_iter().for_each(report);
        Ok(())
    }

    fn clear(&self) -> Result<(), StoreError> {
        self.run("clearing the memory", |client| async move {
            client.delete_below(&client.key(&MemoryPath::root())?).await
        })
    }
}
