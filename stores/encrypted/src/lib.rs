//! [`Encrypted`]: encryption at rest, as a layer over any store.
//!
//! Users of memdir find it as `memdir::store::Encrypted` (feature `encryption`), and the examples use that name.
//!
//! The underlying store has the same tree. Its files are encrypted (`file`), its names are unchanged or encrypted
//! (`names`), and it has one more file, the record (`record`). If a file cannot be decrypted, it is read again with a
//! reloaded record before it counts as damaged: it may have just been moved (`renames`), or the key may have changed
//! (`rekey`).

use std::borrow::Cow;
use std::fmt;
use std::io::Read;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::SystemTime;

use memdir_store::access::if_a_file;
use memdir_store::error::Error;
use memdir_store::notes::Notes;
use memdir_store::path::MemoryPath;
use memdir_store::{
    BatchError, Condition, Context, Edit, Entry, EntryKind, FileToDelete, FileToWrite, InContext,
    MountTable, Mutation, Node, Problem, ProblemKind, Sealing, Splice, Store, StoreError,
    StoreInfo, Times, as_listed, clear_each, methods_by_mutate, reads_in_context,
};
use zeroize::Zeroizing;

use self::file::Unreadable;
use self::key::KeyDeriver;
use self::known::Known;
use self::names::Names;

mod file;
mod hex;
mod key;
#[cfg(any(unix, windows))]
mod key_file;
mod known;
mod moving;
mod names;
mod record;
mod rekey;
mod renames;
mod ring;
mod seal;
mod sealing;

pub use key::EncryptionKey;
pub use rekey::{RenewApart, rekey_with};

/// The limit of attempts to read a file while it is being moved.
const ATTEMPTS: usize = 16;

/// A store that encrypts its files and keeps them in an underlying store.
///
/// Every content is sealed with XChaCha20-Poly1305, and bound to its path and its store. If a bit was flipped, or a file
/// was truncated or swapped, reading fails with [`StoreError::Failed`]; such content is never returned. Names are
/// encrypted, too, if the store was created with that option. They may then have 143 bytes (hidden ones 142).
///
/// Operations are atomic if those of the underlying store are. A rename is a rename in the underlying store between two
/// changes of the record. Afterwards each moved file gets a new header. A crash at any moment leaves every file readable
/// at its path.
pub struct Encrypted {
    inner: Arc<dyn Store>,
    /// The path of the record in the underlying store.
    record: MemoryPath,
    deriver: KeyDeriver,
    encrypt_names: bool,
    /// Whether the underlying store ignores case; cached.
    inner_folds_case: OnceLock<bool>,
    /// `None` before the first call of a method.
    known: RwLock<Option<Arc<Known>>>,
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").finish_non_exhaustive()
    }
}

impl Encrypted {
    /// Opens the encrypted store in `inner`, or creates one if `inner` is empty. For a new store, `encrypt_names` decides
    /// whether names are encrypted; this cannot be changed later.
    ///
    /// # Errors
    /// [`Error::Config`] if the key is wrong, if `inner` contains plain files, or if `encrypt_names` is set for a store
    /// that was created without it. [`Error::Store`] if `inner` fails, or its record is damaged.
    pub fn open(
        inner: Arc<dyn Store>,
        key: &EncryptionKey,
        encrypt_names: bool,
    ) -> Result<Self, Error> {
        let store = Self::lazy(inner, key, encrypt_names);
        store.first(&Context::new())?;
        Ok(store)
    }

    /// As [`open`](Encrypted::open), but accesses `inner` only when a method is called. An error of `open` is then a
    /// [`StoreError::Failed`] of that method and of later calls.
    #[must_use]
    pub fn lazy(inner: Arc<dyn Store>, key: &EncryptionKey, encrypt_names: bool) -> Self {
        let (record, deriver) = (record::path(), KeyDeriver::new(key));
        let (inner_folds_case, known) = (OnceLock::new(), RwLock::new(None));
        Self { inner, record, deriver, encrypt_names, inner_folds_case, known }
    }

    fn inner_folds_case(&self) -> bool {
        *self.inner_folds_case.get_or_init(|| self.inner.info().folds_case)
    }

    /// Converts a path into a path of the underlying store.
    fn at(&self, path: &MemoryPath) -> Result<MemoryPath, StoreError> {
        match &self.known()?.ring.names {
            Some(names) => names.encrypt(path).map_err(|_| StoreError::NameTooLong),
            None if path.names().next().is_some_and(record::is_reserved) => {
                Err(StoreError::PermissionDenied)
            }
            None => Ok(path.clone()),
        }
    }

    /// As [`at`](Self::at), for a path that must exist: a name that is too long means "not found".
    fn at_existing(&self, path: &MemoryPath) -> Result<MemoryPath, StoreError> {
        match self.at(path) {
            Err(StoreError::NameTooLong) => Err(StoreError::NotFound),
            at => at,
        }
    }

    /// The path that a file is bound to. If the underlying store ignores case, this is the path in its listing. Encrypted
    /// names distinguish case.
    fn bound<'p>(
        &self,
        context: &Context,
        path: &'p MemoryPath,
    ) -> Result<Cow<'p, MemoryPath>, StoreError> {
        match self.known_in(context)?.ring.names {
            Some(_) => Ok(Cow::Borrowed(path)),
            None if self.inner_folds_case() => {
                as_listed(&InContext::new(&*self.inner, context), path).map(Cow::Owned)
            }
            None => Ok(Cow::Borrowed(path)),
        }
    }

    /// Decrypts the entry `found` of the underlying store, below `directory`. `None` if it was not written by this store.
    fn entry(known: &Known, directory: &MemoryPath, found: &Entry) -> Option<Entry> {
        let mut below = found.path.names().skip(directory.names().count());
        let path =
            below.try_fold(directory.clone(), |directory, name| match &known.ring.names {
                Some(names) => directory.join(&names.decrypt(name)?).ok(),
                None if directory.is_root() && record::is_reserved(name) => None,
                None => directory.join(name).ok(),
            })?;
        let kind = match found.kind {
            EntryKind::File(stored) => EntryKind::File(file::content_size(stored)),
            EntryKind::Directory => EntryKind::Directory,
        };
        Some(found.clone().at(path).of_kind(kind))
    }

    /// Reports names below `directory` of the underlying store that this store did not write.
    fn inspect_names(
        &self,
        known: &Known,
        directory: &MemoryPath,
        report: &mut dyn FnMut(Problem),
    ) -> Result<(), StoreError> {
        let found = match self.inner.list(directory) {
            // Deleted meanwhile, or unreadable; reading it reports the problem.
            Err(_) if !directory.is_root() => return Ok(()),
            found => found?,
        };
        // Reserved names are the record and a history beside the files.
        for Entry { path, kind, .. } in found.iter().filter(|found| !found.path.is_reserved()) {
            let ours = |names: &Names| path.name().and_then(|name| names.decrypt(name)).is_some();
            if !known.ring.names.as_ref().is_some_and(ours) {
                report(Problem::new(ProblemKind::BadName, path, "it does not decrypt"));
            } else if *kind == EntryKind::Directory {
                self.inspect_names(known, path, report)?;
            }
        }
        Ok(())
    }

    /// Decrypts `bytes`, which were read at `at` in the underlying store.
    fn content(
        &self,
        context: &Context,
        path: &MemoryPath,
        at: &MemoryPath,
        mut bytes: Vec<u8>,
    ) -> Result<Vec<u8>, StoreError> {
        let take = |mut content: Zeroizing<Vec<u8>>| std::mem::take(&mut *content);
        if let Ok(content) = file::open(&self.known()?.ring, path, &[], &bytes) {
            return Ok(take(content));
        }
        for _ in 0..ATTEMPTS {
            let known = self.reload(context)?;
            let origins = renames::origins(&known.renames, path);
            let problem = match file::open(&known.ring, path, &origins, &bytes) {
                Ok(content) => return Ok(take(content)),
                Err(problem) => problem,
            };
            // A rename may have completed between reading the file and the record.
            let again = self.inner.read_in(context, at)?;
            if again == bytes {
                return Err(unreadable(path, problem));
            }
            bytes = again;
        }
        Err(restless(path))
    }

    /// The path in the underlying store and the sealed content for a file. Reloads the key ring, so it never uses an old
    /// key after a rotation has begun.
    fn sealed(
        &self,
        context: &Context,
        path: &MemoryPath,
        content: &[u8],
    ) -> Result<(MemoryPath, Vec<u8>), StoreError> {
        let prepared = || {
            let path = &*self.bound(context, path)?;
            Ok((self.at(path)?, file::seal(&self.reload(context)?.ring, path, &[content])?))
        };
        prepared().map_err(StoreError::unchanged)
    }

    fn edit_sealed(
        &self,
        context: &Context,
        path: &MemoryPath,
        edit: &mut Edit<'_>,
    ) -> Result<(), StoreError> {
        let path = &*self.bound(context, path).map_err(StoreError::unchanged)?;
        let at = self.at_existing(path).map_err(StoreError::unchanged)?;
        let (mut known, mut origins) = (self.known().map_err(StoreError::unchanged)?, Vec::new());
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let mut edited = Edited::Done;
            let mut edit_sealed = |bytes: &[u8]| {
                edited = Edited::Done;
                let content = match file::open(&known.ring, path, &origins, bytes) {
                    Ok(content) => content,
                    Err(problem) => {
                        edited = Edited::Unreadable(problem, bytes.to_vec());
                        return None;
                    }
                };
                let splice = edit(&content)?;
                match file::seal(&known.ring, path, &splice.pieces(&content)) {
                    Ok(text) => Some(Splice { range: 0..bytes.len(), text }),
                    Err(error) => {
                        edited = Edited::Failed(error);
                        None
                    }
                }
            };
            let update = Mutation::Update { path: &at, edit: &mut edit_sealed };
            self.inner.mutate(context, update)?;
            // In the following cases the underlying store has written nothing.
            match edited {
                Edited::Done => return Ok(()),
                Edited::Failed(error) => return Err(error.unchanged()),
                Edited::Unreadable(problem, bytes) if before.as_ref() == Some(&bytes) => {
                    return Err(unreadable(path, problem).unchanged());
                }
                Edited::Unreadable(_, bytes) => before = Some(bytes),
            }
            known = self.reload(context).map_err(StoreError::unchanged)?;
            origins = renames::origins(&known.renames, path);
        }
        Err(restless(path).unchanged())
    }

    /// Makes a conditional change of the underlying store. `change` gets a condition that applies to the sealed content.
    pub(crate) fn change_if(
        &self,
        context: &Context,
        path: &MemoryPath,
        condition: &mut Condition<'_>,
        change: &mut dyn FnMut(&mut Condition<'_>) -> Result<bool, StoreError>,
    ) -> Result<bool, StoreError> {
        let (mut known, mut origins) = (self.known().map_err(StoreError::unchanged)?, Vec::new());
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let mut closed = None;
            let is_met =
                change(&mut |bytes| match file::open(&known.ring, path, &origins, bytes) {
                    Ok(content) => {
                        closed = None;
                        condition(&content)
                    }
                    Err(problem) => {
                        closed = Some((problem, bytes.to_vec()));
                        false
                    }
                })?;
            let Some((problem, bytes)) = closed else { return Ok(is_met) };
            if before.as_ref() == Some(&bytes) {
                return Err(unreadable(path, problem).unchanged());
            }
            before = Some(bytes);
            known = self.reload(context).map_err(StoreError::unchanged)?;
            origins = renames::origins(&known.renames, path);
        }
        Err(restless(path).unchanged())
    }

    fn rename_sealed(
        &self,
        context: &Context,
        from: &MemoryPath,
        to: &MemoryPath,
        condition: Option<&mut Condition<'_>>,
    ) -> Result<bool, StoreError> {
        let from = &*self.bound(context, from).map_err(StoreError::unchanged)?;
        // The destination's name is taken as given, because a rename may change only its case.
        let to = match (to.parent(), to.name()) {
            (Some(above), Some(name)) => {
                let above = self.bound(context, &above).map_err(StoreError::unchanged)?;
                &above.join(name).map_err(|_| StoreError::NameTooLong)?
            }
            _ => to,
        };
        self.move_bound(context, from, to, condition)
    }
}

fn unreadable(path: &MemoryPath, problem: Unreadable) -> StoreError {
    let operation = format!("decrypting {path}");
    match problem {
        Unreadable::Foreign | Unreadable::Broken => StoreError::damaged(operation, problem),
        // The file may be readable with another key or another version of memdir.
        Unreadable::Newer | Unreadable::UnknownKey => {
            StoreError::failed(operation, problem).unchanged()
        }
    }
}

fn restless(path: &MemoryPath) -> StoreError {
    StoreError::failed(format!("decrypting {path}"), "gave up: the file was moved at each attempt")
        .unchanged()
}

/// The result of an edit inside the underlying store's update.
enum Edited {
    Done,
    Unreadable(Unreadable, Vec<u8>),
    Failed(StoreError),
}

// All methods are implemented here, including those with a default.
#[deny(clippy::missing_trait_methods)]
impl Store for Encrypted {
    methods_by_mutate!();
    reads_in_context!();

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.known_in(context)?;
        match mutation {
            Mutation::Write { path, content, existing } => {
                let (path, content) = &self.sealed(context, path, content)?;
                self.inner.mutate(context, Mutation::Write { path, content, existing })
            }
            Mutation::WriteUnique { path, content } => {
                let (path, content) = &self.sealed(context, path, content)?;
                self.inner.mutate(context, Mutation::WriteUnique { path, content })
            }
            Mutation::Update { path, edit } => self.edit_sealed(context, path, edit).map(|()| true),
            Mutation::Delete { path } => {
                let path = &self.at_existing(path).map_err(StoreError::unchanged)?;
                self.inner.mutate(context, Mutation::Delete { path })
            }
            Mutation::DeleteUnused { path, since } => {
                let delete = |path: MemoryPath| {
                    let path = &path;
                    self.inner.mutate(context, Mutation::DeleteUnused { path, since })
                };
                if_a_file(self.at_existing(path).and_then(delete))
            }
            Mutation::DeleteIf { path, condition } => {
                let path = &*self.bound(context, path).map_err(StoreError::unchanged)?;
                let at = &self.at_existing(path).map_err(StoreError::unchanged)?;
                self.change_if(context, path, condition, &mut |condition| {
                    self.inner.mutate(context, Mutation::DeleteIf { path: at, condition })
                })
            }
            Mutation::Rename { from, to } => self.rename_sealed(context, from, to, None),
            Mutation::RenameIf { from, to, condition } => {
                self.rename_sealed(context, from, to, Some(condition))
            }
            // Everything except the record, including files that this store did not write.
            Mutation::Clear => {
                clear_each(&*self.inner, context, |path| *path != self.record).map(|()| true)
            }
            Mutation::MakeDirectory { path } => {
                let path = &self.at(path)?;
                self.inner.mutate(context, Mutation::MakeDirectory { path })
            }
            Mutation::RemoveDirectory { path } => {
                let path = &self.at_existing(path).map_err(StoreError::unchanged)?;
                self.inner.mutate(context, Mutation::RemoveDirectory { path })
            }
            Mutation::SetModified { path, time } => {
                let path = &self.at_existing(path)?;
                self.inner.mutate(context, Mutation::SetModified { path, time })
            }
            Mutation::RecordAccess { path, time } => {
                let path = &self.at_existing(path)?;
                self.inner.mutate(context, Mutation::RecordAccess { path, time })
            }
        }
    }

    fn write_batch(&self, context: &Context, files: &[FileToWrite<'_>]) -> Result<(), BatchError> {
        let seal = |(written, file): (usize, &FileToWrite<'_>)| {
            let sealed = self.sealed(context, file.path, file.content);
            sealed.map_err(|error| BatchError { written, error })
        };
        self.known_in(context).map_err(|error| BatchError { written: 0, error })?;
        let mut unsealed = None;
        let sealed = files.iter().enumerate().map(seal);
        let sealed = sealed.map_while(|sealed| sealed.map_err(|error| unsealed = Some(error)).ok());
        let sealed: Vec<_> = sealed.collect();
        let inside = files.iter().zip(&sealed);
        let inside: Vec<_> =
            inside.map(|(file, (path, content))| FileToWrite { path, content, ..*file }).collect();
        self.inner.write_batch(context, &inside)?;
        unsealed.map_or(Ok(()), Err)
    }

    fn delete_unused_batch(
        &self,
        context: &Context,
        files: &[FileToDelete<'_>],
        since: SystemTime,
        visit: &mut dyn FnMut(bool),
    ) -> Result<(), StoreError> {
        self.known_in(context)?;
        let at: Vec<_> = files.iter().map(|file| self.at_existing(file.path)).collect();
        let mut rest = 0;
        while rest < files.len() {
            let run: Vec<_> = files[rest..]
                .iter()
                .zip(&at[rest..])
                .map_while(|(file, at)| {
                    at.as_ref().ok().map(|path| FileToDelete { path, note: file.note })
                })
                .collect();
            self.inner.delete_unused_batch(context, &run, since, visit)?;
            rest += run.len();
            // No file can have this path.
            if rest < files.len() {
                visit(false);
                rest += 1;
            }
        }
        Ok(())
    }

    fn read_batch(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
        visit: &mut dyn FnMut(Vec<u8>),
    ) -> Result<(), StoreError> {
        let (mut found, mut missing) = (Vec::new(), None);
        for path in paths {
            let at = self.bound(context, path).and_then(|path| {
                let at = self.at_existing(&path)?;
                Ok((path, at))
            });
            match at {
                Ok(at) => found.push(at),
                Err(error) => {
                    missing = Some(error);
                    break;
                }
            }
        }
        let inside: Vec<&MemoryPath> = found.iter().map(|(_, at)| at).collect();
        let mut sealed = Vec::new();
        let read = self.inner.read_batch(context, &inside, &mut |bytes| sealed.push(bytes));
        for ((path, at), bytes) in found.iter().zip(sealed) {
            visit(self.content(context, path, at, bytes)?);
        }
        read?;
        missing.map_or(Ok(()), Err)
    }

    fn read_times(
        &self,
        context: &Context,
        paths: &[&MemoryPath],
    ) -> Result<Vec<Times>, StoreError> {
        let inside = paths.iter().map(|path| self.at_existing(path));
        let inside: Vec<MemoryPath> = inside.collect::<Result<_, _>>()?;
        self.inner.read_times(context, &inside.iter().collect::<Vec<_>>())
    }

    /// No directory, because the underlying store's directory contains encrypted files. Encrypted names distinguish case.
    /// Until the record has been read, `folds_case` is that of the underlying store.
    fn info(&self) -> StoreInfo {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner).clone();
        let info = self.inner.info();
        let folds_case = info.folds_case && known.is_none_or(|known| known.ring.names.is_none());
        StoreInfo { directory: None, folds_case, ..info }
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        let path = &*self.bound(context, path)?;
        let at = self.at_existing(path)?;
        let bytes = self.inner.read_in(context, &at)?;
        self.content(context, path, &at, bytes)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let (known, found) =
            (self.known_in(context)?, self.inner.list_in(context, &self.at_existing(path)?)?);
        Ok(found.iter().filter_map(|found| Self::entry(&known, path, found)).collect())
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.known_in(context)?;
        let at = self.at_existing(path)?;
        let bytes = match self.inner.open_in(context, &at, depth)? {
            Node::Directory(found) => {
                let known = self.known()?;
                let entries = found.iter().filter_map(|found| Self::entry(&known, path, found));
                return Ok(Node::Directory(entries.collect()));
            }
            Node::File(_, mut stream) => {
                let mut bytes = Vec::new();
                let read = stream.read_to_end(&mut bytes);
                read.map_err(|error| StoreError::failed(format!("reading {path}"), error))?;
                bytes
            }
        };
        Ok(Node::file(self.content(context, &*self.bound(context, path)?, &at, bytes)?))
    }

    /// Never answers: the keys may have to be read again, and decryption takes time.
    fn open_nowait(&self, _: &MemoryPath, _: usize) -> Option<Result<Node<'_>, StoreError>> {
        None
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let (known, root) = (self.known_in(context)?, MemoryPath::root());
        self.inner.files_in(context, &mut |found| {
            if let Some(file) = Self::entry(&known, &root, &found) {
                visit(file);
            }
        })
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.inner.modified(&self.at_existing(path)?)
    }

    fn accessed(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.inner.accessed(&self.at_existing(path)?)
    }

    fn unused(&self, files: Vec<Entry>, since: SystemTime) -> Result<Vec<Entry>, StoreError> {
        let beneath = |file: &Entry| Ok(file.clone().at(self.at(&file.path)?));
        let beneath: Vec<Entry> = files.iter().map(beneath).collect::<Result<_, StoreError>>()?;
        let known = self.known()?;
        let mut unused = Vec::new();
        for found in self.inner.unused(beneath, since)? {
            // The size already is the size of the content.
            let kind = found.kind;
            unused.extend(
                Self::entry(&known, &MemoryPath::root(), &found).map(|entry| entry.of_kind(kind)),
            );
        }
        Ok(unused)
    }

    fn revision(&self) -> Result<Option<String>, StoreError> {
        self.inner.revision()
    }

    fn notes(&self) -> Option<&dyn Notes> {
        None
    }

    fn sealing(&self) -> Option<&dyn Sealing> {
        Some(self)
    }

    fn mounts(&self) -> Option<&dyn MountTable> {
        None
    }

    fn can_keep(&self, path: &MemoryPath) -> bool {
        match self.at(path) {
            Ok(at) => self.inner.can_keep(&at),
            Err(StoreError::NameTooLong | StoreError::PermissionDenied) => false,
            // Other methods report the failure.
            Err(_) => true,
        }
    }

    /// The problems of the underlying store, with its paths, and its names that cannot be decrypted.
    fn inspect(&self, report: &mut dyn FnMut(Problem)) -> Result<(), StoreError> {
        let known = self.reload(&Context::new())?;
        self.inner.inspect(report)?;
        if known.ring.names.is_some() {
            self.inspect_names(&known, &MemoryPath::root(), report)?;
        }
        Ok(())
    }
}

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
