//! [`Place`]: the hidden directory in which one memory keeps what it knows of syncs.

use memdir_store::path::MemoryPath;
use memdir_store::{Cancellation, Context, HistoryId, Mutation, OnExisting, SYNC, Splice, Store};

use super::baseline::digest;
use super::both::SyncSide;
use super::error::SyncError;
use super::side::Side;
use crate::store::StoreError;

const IDENTITY: &str = "identity";

/// The hidden directory of one memory.
pub(super) struct Place<'s> {
    pub(super) side: SyncSide,
    store: &'s dyn Store,
    cancellation: Cancellation,
}

/// The origin of an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IdentityKind {
    /// The memory has a file with it.
    Own,
    /// It is the digest of the place of a memory that is only read.
    Place,
    /// It is made up for this sync, because nothing identifies the memory.
    Unknown,
}

pub(super) fn new_id(place: &Place<'_>) -> Result<String, SyncError> {
    match HistoryId::new() {
        Ok(id) => Ok(id.to_string()),
        Err(error) => Err(SyncError::of(place.side, &MemoryPath::root(), error)),
    }
}

impl<'s> Place<'s> {
    pub(super) fn new(side: &'s Side<'_>) -> Self {
        Self {
            side: side.side,
            store: side.store(),
            cancellation: side.context().cancellation().clone(),
        }
    }

    pub(super) fn context(&self) -> Context {
        Context::new().cancelled_by(&self.cancellation)
    }

    pub(super) fn path(name: &str) -> MemoryPath {
        let path = MemoryPath::root().join(SYNC).and_then(|directory| directory.join(name));
        path.unwrap_or_else(|_| MemoryPath::root())
    }

    pub(super) fn failed(&self, name: &str) -> impl Fn(StoreError) -> SyncError {
        let (side, path) = (self.side, Self::path(name));
        move |error| SyncError::of(side, &path, error)
    }

    /// The id of the memory. If there is none and none can be created, it is the digest of the memory's place, if it has a place.
    pub(super) fn identity(
        &self,
        creates: bool,
        must: bool,
    ) -> Result<(String, IdentityKind), SyncError> {
        let own = |id| (id, IdentityKind::Own);
        if let Some(id) = self.own_identity()? {
            return Ok(own(id));
        }
        if creates {
            let id = new_id(self)?;
            match self.write_new(IDENTITY, id.as_bytes()) {
                Ok(()) => return Ok(own(id)),
                // Another sync was faster, or the file is damaged.
                Err(SyncError::Store { error: StoreError::AlreadyExists, .. }) => {
                    return match self.own_identity()? {
                        Some(id) => Ok(own(id)),
                        None => Ok(own(self.new_identity("", true)?)),
                    };
                }
                Err(SyncError::Stopped) => return Err(SyncError::Stopped),
                Err(error) if must => return Err(error),
                // A memory that is only read may be on a read-only file system.
                Err(_) => {}
            }
        }
        let locations = self.store.info().locations;
        if locations.is_empty() {
            return Ok((new_id(self)?, IdentityKind::Unknown));
        }
        let digest = digest(format!("{locations:?}").as_bytes());
        let id = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Ok((id, IdentityKind::Place))
    }

    /// The id that the memory has in a file.
    pub(super) fn own_identity(&self) -> Result<Option<String>, SyncError> {
        Ok(self.read(IDENTITY)?.and_then(|bytes| valid_id(&bytes)))
    }

    /// Gives the memory another id than `old`.
    pub(super) fn new_identity(&self, old: &str, may_write: bool) -> Result<String, SyncError> {
        let id = new_id(self)?;
        if may_write {
            let edit = &mut |now: &[u8]| {
                let is_old = valid_id(now).is_none_or(|id| id == old);
                is_old.then(|| Splice { range: 0..now.len(), text: id.clone().into_bytes() })
            };
            self.update(IDENTITY, edit)?;
            // Another sync may have been faster.
            if let Some(id) = self.own_identity()? {
                return Ok(id);
            }
        }
        Ok(id)
    }

    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SyncError> {
        match self.store.read_in(&self.context(), &Self::path(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_failure() => Err(self.failed(name)(error)),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn list(&self) -> Result<Vec<String>, SyncError> {
        let directory = MemoryPath::root().join(SYNC).unwrap_or_else(|_| MemoryPath::root());
        match self.store.list_in(&self.context(), &directory) {
            Ok(entries) => {
                let names = entries.iter().filter_map(|entry| entry.path.name());
                Ok(names.map(str::to_owned).collect())
            }
            Err(error) if error.is_failure() => Err(SyncError::of(self.side, &directory, error)),
            Err(_) => Ok(Vec::new()),
        }
    }

    pub(super) fn write_new(&self, name: &str, content: &[u8]) -> Result<(), SyncError> {
        let path = Self::path(name);
        let write = Mutation::Write { path: &path, content, existing: OnExisting::Error };
        self.store.mutate(&self.context(), write).map(drop).map_err(self.failed(name))
    }

    pub(super) fn update(
        &self,
        name: &str,
        edit: &mut crate::store::Edit<'_>,
    ) -> Result<(), SyncError> {
        let path = Self::path(name);
        let update = Mutation::Update { path: &path, edit };
        self.store.mutate(&self.context(), update).map(drop).map_err(self.failed(name))
    }

    /// Fills a file that was claimed. Returns false if the claim is gone.
    pub(super) fn fill(&self, name: &str, bytes: &[u8]) -> Result<bool, SyncError> {
        let edit = &mut |now: &[u8]| Some(Splice { range: 0..now.len(), text: bytes.to_vec() });
        match self.update(name, edit) {
            Ok(()) => Ok(true),
            Err(SyncError::Store { error: StoreError::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Replaces the content of a file, if it is `old`; `None` means that there is no such file. Returns whether it did.
    pub(super) fn exchange(
        &self,
        name: &str,
        old: Option<&str>,
        new: &str,
    ) -> Result<bool, SyncError> {
        let Some(old) = old else {
            return match self.write_new(name, new.as_bytes()) {
                Err(SyncError::Store { error: StoreError::AlreadyExists, .. }) => Ok(false),
                written => written.map(|()| true),
            };
        };
        let mut is_done = false;
        let edit = &mut |now: &[u8]| {
            is_done = now == old.as_bytes();
            is_done.then(|| Splice { range: 0..now.len(), text: new.as_bytes().to_vec() })
        };
        match self.update(name, edit) {
            Ok(()) => Ok(is_done),
            Err(SyncError::Store { error: StoreError::NotFound, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    pub(super) fn remove(&self, name: &str) -> Result<(), SyncError> {
        let path = Self::path(name);
        match self.store.mutate(&self.context(), Mutation::Delete { path: &path }) {
            Ok(_) | Err(StoreError::NotFound) => Ok(()),
            Err(error) => Err(self.failed(name)(error)),
        }
    }
}

/// The id in a file; `None` if the file is damaged.
fn valid_id(bytes: &[u8]) -> Option<String> {
    let id: HistoryId = str::from_utf8(bytes).ok()?.parse().ok()?;
    Some(id.to_string())
}
