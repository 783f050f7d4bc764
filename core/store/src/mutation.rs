//! [`Mutation`]: a change of a store, as a value.

use std::time::SystemTime;

use super::{Edit, OnExisting, Store, StoreError};
use crate::path::MemoryPath;

/// A change of a store, as a value that goes through all layers by one method ([`Store::mutate`]). Each is what the method
/// of the same name documents.
#[non_exhaustive]
pub enum Mutation<'m> {
    /// [`Store::write`].
    Write {
        /// The file.
        path: &'m MemoryPath,
        /// Its whole content.
        content: &'m [u8],
        /// What happens if there is one.
        existing: OnExisting,
    },
    /// [`Store::write_unique`].
    WriteUnique {
        /// The file.
        path: &'m MemoryPath,
        /// Its whole content.
        content: &'m [u8],
    },
    /// [`Store::update`].
    Update {
        /// The file.
        path: &'m MemoryPath,
        /// Decides how it changes.
        edit: &'m mut Edit<'m>,
    },
    /// [`Store::delete`].
    Delete {
        /// The file or directory.
        path: &'m MemoryPath,
    },
    /// [`Store::delete_unused`].
    DeleteUnused {
        /// The file.
        path: &'m MemoryPath,
        /// It is deleted if it was not used then or later.
        since: SystemTime,
    },
    /// [`Store::rename`].
    Rename {
        /// The file or directory.
        from: &'m MemoryPath,
        /// Where it goes.
        to: &'m MemoryPath,
    },
    /// [`Store::clear`].
    Clear,
    /// [`Store::make_directory`].
    MakeDirectory {
        /// The directory.
        path: &'m MemoryPath,
    },
    /// [`Store::set_modified`].
    SetModified {
        /// The file.
        path: &'m MemoryPath,
        /// When it was last written.
        time: SystemTime,
    },
    /// [`Store::record_access`].
    RecordAccess {
        /// The file.
        path: &'m MemoryPath,
        /// When it was accessed.
        time: SystemTime,
    },
}

impl Mutation<'_> {
    /// Makes the change by the store's method of the same name. This is the default of [`Store::mutate`].
    ///
    /// # Errors
    /// As that method.
    pub fn apply_to<S: Store + ?Sized>(self, store: &S) -> Result<bool, StoreError> {
        let done = match self {
            Self::Write { path, content, existing } => store.write(path, content, existing),
            Self::WriteUnique { path, content } => store.write_unique(path, content),
            Self::Update { path, edit } => store.update(path, edit),
            Self::Delete { path } => store.delete(path),
            Self::DeleteUnused { path, since } => return store.delete_unused(path, since),
            Self::Rename { from, to } => store.rename(from, to),
            Self::Clear => store.clear(),
            Self::MakeDirectory { path } => store.make_directory(path),
            Self::SetModified { path, time } => store.set_modified(path, time),
            Self::RecordAccess { path, time } => store.record_access(path, time),
        };
        done.map(|()| true)
    }
}

/// The methods of [`Store`] that change something, for a store that makes every change by [`Store::mutate`].
macro_rules! methods_by_mutate {
    () => {
        fn write(
            &self,
            path: &$crate::path::MemoryPath,
            content: &[u8],
            existing: $crate::store::OnExisting,
        ) -> Result<(), $crate::store::StoreError> {
            let write = $crate::store::Mutation::Write { path, content, existing };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), write).map(drop)
        }

        fn write_unique(
            &self,
            path: &$crate::path::MemoryPath,
            content: &[u8],
        ) -> Result<(), $crate::store::StoreError> {
            let write = $crate::store::Mutation::WriteUnique { path, content };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), write).map(drop)
        }

        fn update(
            &self,
            path: &$crate::path::MemoryPath,
            edit: &mut $crate::store::Edit<'_>,
        ) -> Result<(), $crate::store::StoreError> {
            let update = $crate::store::Mutation::Update { path, edit };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), update).map(drop)
        }

        fn delete(&self, path: &$crate::path::MemoryPath) -> Result<(), $crate::store::StoreError> {
            let delete = $crate::store::Mutation::Delete { path };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), delete).map(drop)
        }

        fn delete_unused(
            &self,
            path: &$crate::path::MemoryPath,
            since: std::time::SystemTime,
        ) -> Result<bool, $crate::store::StoreError> {
            let delete = $crate::store::Mutation::DeleteUnused { path, since };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), delete)
        }

        fn rename(
            &self,
            from: &$crate::path::MemoryPath,
            to: &$crate::path::MemoryPath,
        ) -> Result<(), $crate::store::StoreError> {
            let rename = $crate::store::Mutation::Rename { from, to };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), rename).map(drop)
        }

        fn clear(&self) -> Result<(), $crate::store::StoreError> {
            let clear = $crate::store::Mutation::Clear;
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), clear).map(drop)
        }

        fn make_directory(
            &self,
            path: &$crate::path::MemoryPath,
        ) -> Result<(), $crate::store::StoreError> {
            let make = $crate::store::Mutation::MakeDirectory { path };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), make).map(drop)
        }

        fn set_modified(
            &self,
            path: &$crate::path::MemoryPath,
            time: std::time::SystemTime,
        ) -> Result<(), $crate::store::StoreError> {
            let set = $crate::store::Mutation::SetModified { path, time };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), set).map(drop)
        }

        fn record_access(
            &self,
            path: &$crate::path::MemoryPath,
            time: std::time::SystemTime,
        ) -> Result<(), $crate::store::StoreError> {
            let record = $crate::store::Mutation::RecordAccess { path, time };
            $crate::store::Store::mutate(self, &$crate::store::Context::new(), record).map(drop)
        }
    };
}

pub(crate) use methods_by_mutate;
