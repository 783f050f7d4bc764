//! [`StoreInfo`]: the properties and capabilities of a store.

use std::path::PathBuf;

use super::{Fingerprints, Location};

/// The description of a store, as one value, so a store over another one cannot omit an answer.
///
/// The default fits most stores. Set only the fields that differ:
///
/// ```
/// use memdir::store::StoreInfo;
///
/// let info = StoreInfo { folds_case: true, ..StoreInfo::default() };
/// assert!(!info.is_read_only);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreInfo {
    /// The directory on this machine that contains the files, if there is one.
    pub directory: Option<PathBuf>,
    /// Where the store keeps its data, in a form that can be compared with other stores. This prevents copying or moving data
    /// into itself. Empty if the store cannot tell.
    pub locations: Vec<Location>,
    /// Whether every change is refused with [`StoreError::ReadOnly`](crate::StoreError::ReadOnly).
    pub is_read_only: bool,
    /// Whether two spellings of a name are equal if they differ only in case or in Unicode composition, as in file systems of
    /// macOS and Windows. A memory then treats them as equal, too: path patterns match every spelling, and a file viewed by
    /// one spelling counts as viewed by all.
    pub folds_case: bool,
    /// Whether the store tracks access times. If so, it implements [`record_access`](crate::Store::record_access) and
    /// [`delete_unused`](crate::Store::delete_unused), and its listings contain the times. `Memory::expire` needs such a
    /// store.
    pub tracks_access: bool,
    /// Whether [`update`](crate::Store::update) calls its edit without holding a lock or a transaction, so the edit may write
    /// another file of this store. A store with a history then needs one read less.
    pub edits_apart: bool,
    /// How reliable the [`fingerprint`](crate::Entry::fingerprint)s in the listings are. Unless they are absent, every file
    /// that [`list`](crate::Store::list), [`open`](crate::Store::open) or [`files`](crate::Store::files) returns has one.
    pub fingerprints: Fingerprints,
    /// Whether [`delete_if`](crate::Store::delete_if) and [`rename_if`](crate::Store::rename_if) exclude other writers, as
    /// [`update`](crate::Store::update) does. If not, a change that another writer makes after the condition was called may
    /// be lost, because the defaults of these methods read the file first.
    pub conditions_are_atomic: bool,
}
