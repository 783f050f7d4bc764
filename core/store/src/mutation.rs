//! [`Mutation`]: a change of a store, as a value.

use std::time::SystemTime;

use super::{Condition, Edit, OnExisting, Store, StoreError};
use crate::path::MemoryPath;

/// A change of a store, as a value that passes all layers through one method ([`Store::mutate`]). Each variant has the meaning
/// of the method of the same name.
///
/// A layer decides about each kind of change, so a new kind requires a new major version.
pub enum Mutation<'m> {
    /// [`Store::write`].
    Write {
        /// The file.
        path: &'m MemoryPath,
        /// Its whole content.
        content: &'m [u8],
        /// The behaviour if the file exists.
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
        /// Decides how the file changes.
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
        /// The file is deleted if it was not used at this time or later.
        since: SystemTime,
    },
    /// [`Store::delete_if`].
    DeleteIf {
        /// The file.
        path: &'m MemoryPath,
        /// Decides by the content whether the file is deleted.
        condition: &'m mut Condition<'m>,
    },
    /// [`Store::rename`].
    Rename {
        /// The file or directory.
        from: &'m MemoryPath,
        /// The new path.
        to: &'m MemoryPath,
    },
    /// [`Store::rename_if`].
    RenameIf {
        /// The file.
        from: &'m MemoryPath,
        /// The new path.
        to: &'m MemoryPath,
        /// Decides by the content whether the file is moved.
        condition: &'m mut Condition<'m>,
    },
    /// [`Store::clear`].
    Clear,
    /// [`Store::make_directory`].
    MakeDirectory {
        /// The directory.
        path: &'m MemoryPath,
    },
    /// [`Store::remove_directory`].
    RemoveDirectory {
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
    /// Makes the change with the store's method of the same name. This is the default of [`Store::mutate`].
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
            Self::DeleteIf { path, condition } => return store.delete_if(path, condition),
            Self::Rename { from, to } => store.rename(from, to),
            Self::RenameIf { from, to, condition } => return store.rename_if(from, to, condition),
            Self::Clear => store.clear(),
            Self::MakeDirectory { path } => store.make_directory(path),
            Self::RemoveDirectory { path } => return store.remove_directory(path),
            Self::SetModified { path, time } => store.set_modified(path, time),
            Self::RecordAccess { path, time } => store.record_access(path, time),
        };
        done.map(|()| true)
    }
}

/// Implements the changing methods of [`Store`] for a store that makes every change in [`Store::mutate`].
///
/// Use it within `impl Store for …`. The methods pass an empty context, unless the macro gets a method that creates one.
#[macro_export]
macro_rules! methods_by_mutate {
    () => {
        $crate::methods_by_mutate!((|_: &Self| $crate::Context::new()));
    };
    ($context:expr) => {
        fn write(
            &self,
            path: &$crate::path::MemoryPath,
            content: &[u8],
            existing: $crate::OnExisting,
        ) -> Result<(), $crate::StoreError> {
            let write = $crate::Mutation::Write { path, content, existing };
            $crate::Store::mutate(self, &$context(self), write).map(drop)
        }

        fn write_unique(
            &self,
            path: &$crate::path::MemoryPath,
            content: &[u8],
        ) -> Result<(), $crate::StoreError> {
            let write = $crate::Mutation::WriteUnique { path, content };
            $crate::Store::mutate(self, &$context(self), write).map(drop)
        }

        fn update(
            &self,
            path: &$crate::path::MemoryPath,
            edit: &mut $crate::Edit<'_>,
        ) -> Result<(), $crate::StoreError> {
            let update = $crate::Mutation::Update { path, edit };
            $crate::Store::mutate(self, &$context(self), update).map(drop)
        }

        fn delete(&self, path: &$crate::path::MemoryPath) -> Result<(), $crate::StoreError> {
            let delete = $crate::Mutation::Delete { path };
            $crate::Store::mutate(self, &$context(self), delete).map(drop)
        }

        fn delete_unused(
            &self,
            path: &$crate::path::MemoryPath,
            since: std::time::SystemTime,
        ) -> Result<bool, $crate::StoreError> {
            let delete = $crate::Mutation::DeleteUnused { path, since };
            $crate::Store::mutate(self, &$context(self), delete)
        }

        fn rename(
            &self,
            from: &$crate::path::MemoryPath,
            to: &$crate::path::MemoryPath,
        ) -> Result<(), $crate::StoreError> {
            let rename = $crate::Mutation::Rename { from, to };
            $crate::Store::mutate(self, &$context(self), rename).map(drop)
        }

        fn delete_if(
            &self,
            path: &$crate::path::MemoryPath,
            condition: &mut $crate::Condition<'_>,
        ) -> Result<bool, $crate::StoreError> {
            let delete = $crate::Mutation::DeleteIf { path, condition };
            $crate::Store::mutate(self, &$context(self), delete)
        }

        fn rename_if(
            &self,
            from: &$crate::path::MemoryPath,
            to: &$crate::path::MemoryPath,
            condition: &mut $crate::Condition<'_>,
        ) -> Result<bool, $crate::StoreError> {
            let rename = $crate::Mutation::RenameIf { from, to, condition };
            $crate::Store::mutate(self, &$context(self), rename)
        }

        fn clear(&self) -> Result<(), $crate::StoreError> {
            let clear = $crate::Mutation::Clear;
            $crate::Store::mutate(self, &$context(self), clear).map(drop)
        }

        fn make_directory(
            &self,
            path: &$crate::path::MemoryPath,
        ) -> Result<(), $crate::StoreError> {
            let make = $crate::Mutation::MakeDirectory { path };
            $crate::Store::mutate(self, &$context(self), make).map(drop)
        }

        fn remove_directory(
            &self,
            path: &$crate::path::MemoryPath,
        ) -> Result<bool, $crate::StoreError> {
            let remove = $crate::Mutation::RemoveDirectory { path };
            $crate::Store::mutate(self, &$context(self), remove)
        }

        fn set_modified(
            &self,
            path: &$crate::path::MemoryPath,
            time: std::time::SystemTime,
        ) -> Result<(), $crate::StoreError> {
            let set = $crate::Mutation::SetModified { path, time };
            $crate::Store::mutate(self, &$context(self), set).map(drop)
        }

        fn record_access(
            &self,
            path: &$crate::path::MemoryPath,
            time: std::time::SystemTime,
        ) -> Result<(), $crate::StoreError> {
            let record = $crate::Mutation::RecordAccess { path, time };
            $crate::Store::mutate(self, &$context(self), record).map(drop)
        }
    };
}

/// Implements the methods of [`Store`] that read and may wait, for a store that implements their variants with a
/// [`Context`](crate::Context).
///
/// Use it within `impl Store for …`.
#[macro_export]
macro_rules! reads_in_context {
    () => {
        fn read(&self, path: &$crate::path::MemoryPath) -> Result<Vec<u8>, $crate::StoreError> {
            $crate::Store::read_in(self, &$crate::Context::new(), path)
        }

        fn list(
            &self,
            path: &$crate::path::MemoryPath,
        ) -> Result<Vec<$crate::Entry>, $crate::StoreError> {
            $crate::Store::list_in(self, &$crate::Context::new(), path)
        }

        fn open(
            &self,
            path: &$crate::path::MemoryPath,
            depth: usize,
        ) -> Result<$crate::Node<'_>, $crate::StoreError> {
            $crate::Store::open_in(self, &$crate::Context::new(), path, depth)
        }

        fn files(&self, visit: &mut dyn FnMut($crate::Entry)) -> Result<(), $crate::StoreError> {
            $crate::Store::files_in(self, &$crate::Context::new(), visit)
        }
    };
}
