//! Requests. Each is retried after a temporary failure, unless a second attempt could do harm.
//!
//! The client library's own retries are disabled. With them, an unmet condition could not be distinguished
//! from one that fails because the first attempt succeeded and its answer was lost.

use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::{join, join_all};
use futures_util::stream::{self, Stream};
use futures_util::{StreamExt, TryStreamExt};
use memdir_store::StoreError;
use memdir_store::edit::reserve;
use memdir_store::path::MemoryPath;
use object_store::path::Path as Key;
use object_store::{
    GetOptions, GetResult, ObjectMeta, ObjectStore, PutMode, PutOptions, PutPayload, UpdateVersion,
};

use super::command::ChangeCommand;
use super::error::{ObjectError, RetryBackoff, is_no_condition};
use super::stamp::{Id, Stamp};

/// The object that makes an empty directory exist. No path can contain this name, because it decodes to a
/// slash. It is empty, unless the directory is being moved.
pub(super) const MARKER: &str = ".memdir-directory%2F";

/// The limit that S3, Google and Azure all support for an object's name, in bytes.
pub(super) const MAX_KEY_BYTES: usize = 1024;

/// The size of the mark that replaces a moved file. A listing contains no metadata, so an object of exactly
/// this size must be read to know whether it is a mark.
pub(super) const GONE_BYTES: usize = 4001;

/// A file up to this size is read at once; a larger one as a stream.
const AT_ONCE: u64 = 256 * 1024;

/// The number of concurrent requests of one command.
pub(super) const AT_A_TIME: usize = 8;

pub(super) struct Client {
    pub(super) store: Arc<dyn ObjectStore>,
    /// The key of `/memories`, without a trailing slash; may be empty.
    prefix: Key,
    /// Whether a listing is in the order of the keys, and can begin behind one.
    pub(super) lists_in_order: bool,
}

/// The metadata of an object.
#[derive(Debug, Clone)]
pub(super) struct FoundObject {
    pub(super) version: UpdateVersion,
    pub(super) stamp: Stamp,
    pub(super) size: u64,
    stored: SystemTime,
}

impl FoundObject {
    /// The time of the last write, in microseconds since 1970.
    pub(super) fn modified(&self) -> i64 {
        self.stamp.modified.unwrap_or_else(|| memdir_store::micros::of(self.stored))
    }

    /// The version as text.
    pub(super) fn tag(&self) -> String {
        let version = &self.version;
        version.e_tag.as_ref().or(version.version.as_ref()).cloned().unwrap_or_default()
    }

    fn of(meta: &ObjectMeta, attributes: &object_store::Attributes) -> Self {
        Self {
            version: UpdateVersion { e_tag: meta.e_tag.clone(), version: meta.version.clone() },
            stamp: Stamp::of(attributes),
            size: meta.size,
            stored: meta.last_modified.into(),
        }
    }
}

/// A file's content as a stream of pieces.
pub(super) type Pieces = Pin<Box<dyn Stream<Item = object_store::Result<Vec<u8>>> + Send>>;

/// How to read an object's content.
#[derive(Debug, Clone, Copy)]
pub(super) enum How {
    /// As a whole, if it does not exceed this number of bytes.
    Whole(Option<u64>),
    /// As a stream if it is large.
    Streamed,
}

pub(super) enum Body {
    Whole(Vec<u8>),
    Pieces(Pieces),
}

/// The result of one attempt to write.
pub(super) enum Put {
    Done(UpdateVersion),
    /// The condition is not met, and nothing was written.
    Conflict,
    /// No answer: the object may have been written, or may still be written.
    Unknown(ObjectError),
}

/// An object below a directory.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) key: Key,
    /// Its name relative to the listed directory.
    pub(super) rest: String,
    pub(super) size: u64,
    pub(super) stored: SystemTime,
    /// The version of the object.
    pub(super) tag: Option<String>,
    /// Whether it is the mark of a moved file.
    pub(super) gone: bool,
}

impl Item {
    /// Whether it has the size of a mark.
    pub(super) fn may_be_gone(&self) -> bool {
        self.size == GONE_BYTES as u64
    }

    /// The directory that this is the marker of, relative to the listed directory.
    pub(super) fn marks(&self) -> Option<&str> {
        let above = self.rest.strip_suffix(MARKER)?;
        if above.is_empty() { Some(above) } else { above.strip_suffix('/') }
    }
}

impl Client {
    pub(super) fn new(store: Arc<dyn ObjectStore>, prefix: Key, lists_in_order: bool) -> Self {
        Self { store, prefix, lists_in_order }
    }

    /// The key of a file or directory.
    ///
    /// # Errors
    /// [`StoreError::NameTooLong`] if the key, or that of a marker below it, exceeds the limit.
    pub(super) fn key(&self, path: &MemoryPath) -> Result<Key, StoreError> {
        key_below(&self.prefix, path)
    }

    /// The metadata of an object, including the mark of a moved file.
    pub(super) async fn head(&self, key: &Key) -> Result<Option<FoundObject>, ObjectError> {
        let mut backoff = RetryBackoff::new();
        loop {
            let options = GetOptions { head: true, ..GetOptions::default() };
            match self.store.get_opts(key, options).await {
                Ok(got) => return Ok(Some(FoundObject::of(&got.meta, &got.attributes))),
                Err(error) => match missing(error) {
                    None => return Ok(None),
                    Some(error) => backoff.after(error).await?,
                },
            }
        }
    }

    /// The metadata of a file.
    pub(super) async fn file(&self, key: &Key) -> Result<Option<FoundObject>, ObjectError> {
        Ok(self.head(key).await?.filter(|found| !found.stamp.moved))
    }

    /// A file and its content.
    pub(super) async fn get(
        &self,
        key: &Key,
        how: How,
    ) -> Result<Option<(FoundObject, Body)>, ObjectError> {
        let mut backoff = RetryBackoff::new();
        loop {
            let got = match self.store.get_opts(key, GetOptions::default()).await {
                Ok(got) => got,
                Err(error) => match missing(error) {
                    None => return Ok(None),
                    Some(error) => {
                        backoff.after(error).await?;
                        continue;
                    }
                },
            };
            let found = FoundObject::of(&got.meta, &got.attributes);
            if found.stamp.moved {
                return Ok(None);
            }
            match body(got, found.size, how).await {
                Ok(body) => return Ok(Some((found, body))),
                Err(error) => backoff.after(error).await?,
            }
        }
    }

    /// A file and its whole content.
    pub(super) async fn read(
        &self,
        key: &Key,
    ) -> Result<Option<(FoundObject, Vec<u8>)>, ObjectError> {
        Ok(match self.get(key, How::Whole(None)).await? {
            Some((found, Body::Whole(content))) => Some((found, content)),
            _ => None,
        })
    }

    /// Makes one attempt to write.
    pub(super) async fn put(
        &self,
        key: &Key,
        content: PutPayload,
        stamp: &Stamp,
        mode: PutMode,
    ) -> Result<Put, ObjectError> {
        use object_store::Error as E;

        let options = PutOptions { mode, attributes: stamp.attributes(), ..PutOptions::default() };
        let change = ChangeCommand::begin()?;
        match self.store.put_opts(key, content, options).await {
            Ok(put) => Ok(Put::Done(put.into())),
            Err(
                error @ (E::AlreadyExists { .. } | E::Precondition { .. } | E::NotModified { .. }),
            ) if !is_no_condition(&error) => {
                change.refused();
                Ok(Put::Conflict)
            }
            Err(error) => match ObjectError::from(error) {
                error @ ObjectError::Passing(_) => Ok(Put::Unknown(error)),
                error => {
                    change.refused();
                    Err(error)
                }
            },
        }
    }

    /// Makes one attempt to delete; a missing object counts as deleted.
    pub(super) async fn try_to_delete(&self, keys: Vec<Key>) -> Result<(), ObjectError> {
        let keys = stream::iter(keys.into_iter().map(Ok)).boxed();
        // Of several objects, some may be deleted whatever the answer is.
        let _ = ChangeCommand::begin()?;
        let mut deleted = self.store.delete_stream(keys);
        while let Some(answer) = deleted.next().await {
            if let Err(error) = answer
                && let Some(error) = missing(error)
            {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Deletes objects that no other command can have written again meanwhile.
    pub(super) async fn delete(&self, keys: Vec<Key>) -> Result<(), ObjectError> {
        let mut backoff = RetryBackoff::new();
        loop {
            match self.try_to_delete(keys.clone()).await {
                Ok(()) => return Ok(()),
                Err(error) => backoff.after(error).await?,
            }
        }
    }

    /// Creates a directory by writing its marker.
    pub(super) async fn mark(&self, directory: &Key) -> Result<(), ObjectError> {
        let (marker, id) = (below(directory, MARKER)?, Id::new()?);
        let mut backoff = RetryBackoff::new();
        loop {
            match self.put(&marker, PutPayload::new(), &Stamp::new(id), PutMode::Create).await? {
                Put::Done(_) | Put::Conflict => return Ok(()),
                Put::Unknown(error) => backoff.after(error).await?,
            }
        }
    }

    /// Creates the directory of `path` before an entry in it is removed, so it stays.
    pub(super) async fn mark_parent(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        match path.parent().filter(|parent| !parent.is_root()) {
            Some(parent) => self.mark(&self.key(&parent)?).await,
            None => Ok(()),
        }
    }

    /// All objects below a directory, of any kind.
    pub(super) async fn all_below(&self, directory: &Key) -> Result<Vec<Item>, ObjectError> {
        let mut backoff = RetryBackoff::new();
        loop {
            let listed = self.store.list(Some(directory)).try_collect::<Vec<_>>().await;
            match listed {
                Ok(listed) => return Ok(items(directory, listed)),
                Err(error) => backoff.after(error.into()).await?,
            }
        }
    }

    /// All objects below a directory, with marks of moved files identified.
    pub(super) async fn below(&self, directory: &Key) -> Result<Vec<Item>, ObjectError> {
        let all = self.all_below(directory).await?;
        self.with_the_gone(all).await
    }

    /// The objects in a directory, and the names of its subdirectories.
    pub(super) async fn within(
        &self,
        directory: &Key,
    ) -> Result<(Vec<Item>, Vec<String>), ObjectError> {
        let mut backoff = RetryBackoff::new();
        let listed = loop {
            match self.store.list_with_delimiter(Some(directory)).await {
                Ok(listed) => break listed,
                Err(error) => backoff.after(error.into()).await?,
            }
        };
        let directories = listed.common_prefixes.iter();
        let directories = directories.filter_map(|key| rest(directory, key)).collect();
        let files = self.with_the_gone(items(directory, listed.objects)).await?;
        Ok((files, directories))
    }

    pub(super) async fn with_the_gone(&self, items: Vec<Item>) -> Result<Vec<Item>, ObjectError> {
        let items = stream::iter(items.into_iter().map(|mut item| async move {
            if item.may_be_gone() {
                item.gone = self.file(&item.key).await?.is_none();
            }
            Ok::<_, ObjectError>(item)
        }));
        items.buffered(AT_A_TIME).try_collect().await
    }

    /// Whether any object is below the directory. One request, whatever the number of objects.
    pub(super) async fn is_directory(&self, directory: &Key) -> Result<bool, ObjectError> {
        Ok(!self.first_below(directory, 1).await?.is_empty())
    }

    /// At most this number of objects below the directory. One request, whatever the number of objects.
    pub(super) async fn first_below(
        &self,
        directory: &Key,
        most: usize,
    ) -> Result<Vec<Item>, ObjectError> {
        let mut backoff = RetryBackoff::new();
        loop {
            let below = self.store.list(Some(directory));
            let is_below = |meta: &ObjectMeta| rest(directory, &meta.location).is_some();
            let below = below.try_filter(|meta| std::future::ready(is_below(meta)));
            match below.take(most).try_collect().await {
                Ok(first) => return Ok(items(directory, first)),
                Err(error) => backoff.after(error.into()).await?,
            }
        }
    }

    /// Checks that a file or directory may be created at `path`: its parents are not files, and nothing is
    /// below it.
    ///
    /// # Errors
    /// [`StoreError::NotADirectory`], [`StoreError::AlreadyExists`].
    pub(super) async fn check_place(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        let key = self.key(path)?;
        let (below, parents) = join(self.is_directory(&key), self.check_parents(path)).await;
        parents?;
        if below? { Err(StoreError::AlreadyExists.into()) } else { Ok(()) }
    }

    pub(super) async fn check_parents(&self, path: &MemoryPath) -> Result<(), ObjectError> {
        let mut parents = Vec::new();
        let mut above = path.parent();
        while let Some(parent) = above.filter(|parent| !parent.is_root()) {
            parents.push(self.key(&parent)?);
            above = parent.parent();
        }
        for parent in join_all(parents.iter().map(|parent| self.file(parent))).await {
            if parent?.is_some() {
                return Err(StoreError::NotADirectory.into());
            }
        }
        Ok(())
    }
}

async fn body(got: GetResult, size: u64, how: How) -> Result<Body, ObjectError> {
    match how {
        How::Streamed if size > AT_ONCE => {
            return Ok(Body::Pieces(Box::pin(got.into_stream().map_ok(|piece| piece.to_vec()))));
        }
        How::Whole(Some(most)) if size > most => return Err(StoreError::TooLarge { size }.into()),
        How::Whole(_) | How::Streamed => {}
    }
    let mut content = Vec::new();
    reserve(&mut content, usize::try_from(size).unwrap_or(usize::MAX))?;
    let mut pieces = got.into_stream();
    while let Some(piece) = pieces.try_next().await? {
        reserve(&mut content, piece.len())?;
        content.extend_from_slice(&piece);
    }
    Ok(Body::Whole(content))
}

/// The error, unless it is just "not found".
fn missing(error: object_store::Error) -> Option<ObjectError> {
    let nothing = matches!(error, object_store::Error::NotFound { .. });
    match ObjectError::from(error) {
        // A missing bucket is not just a missing object.
        ObjectError::Broken(why) if nothing && why.contains("bucket") => {
            Some(ObjectError::Broken(why))
        }
        _ if nothing => None,
        error => Some(error),
    }
}

/// The key of a path in a store at `prefix`.
///
/// # Errors
/// [`StoreError::NameTooLong`] if the key, or that of a marker below it, exceeds the limit.
pub(super) fn key_below(prefix: &Key, path: &MemoryPath) -> Result<Key, StoreError> {
    let key = below(prefix, path.relative())?;
    if key.as_ref().len() + 1 + MARKER.len() > MAX_KEY_BYTES {
        return Err(StoreError::NameTooLong);
    }
    Ok(key)
}

pub(super) fn below(directory: &Key, rest: &str) -> Result<Key, StoreError> {
    let separator = if directory.as_ref().is_empty() || rest.is_empty() { "" } else { "/" };
    Key::parse(format!("{directory}{separator}{rest}"))
        .map_err(|_| StoreError::failed("naming an object", "the name cannot be an object's"))
}

/// The part of a key below a directory; `None` for the directory itself, which other programs represent by an
/// object with a trailing slash.
pub(super) fn rest(directory: &Key, key: &Key) -> Option<String> {
    let rest = key.as_ref().strip_prefix(directory.as_ref())?;
    let rest = if directory.as_ref().is_empty() { rest } else { rest.strip_prefix('/')? };
    (!rest.is_empty()).then(|| rest.to_owned())
}

pub(super) fn items(directory: &Key, listed: Vec<ObjectMeta>) -> Vec<Item> {
    let item = |meta: ObjectMeta| {
        let rest = rest(directory, &meta.location)?;
        let stored = meta.last_modified.into();
        let tag = meta.e_tag.or(meta.version);
        Some(Item { key: meta.location, rest, size: meta.size, stored, tag, gone: false })
    };
    listed.into_iter().filter_map(item).collect()
}
