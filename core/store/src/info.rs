//! [`StoreInfo`]: what a store says about itself.

use std::path::PathBuf;

use super::{Fingerprints, Location};

/// What a store says about itself, as one value, so a store over another one cannot forget an answer.
///
/// The default is what nearly every store of one's own can say. A store names what differs:
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
    /// Where the store keeps its data, in a form that can be compared with other stores. It prevents that data is copied
    /// or moved into itself. Empty if the store cannot tell.
    pub locations: Vec<Location>,
    /// Whether every change is refused with [`StoreError::ReadOnly`](crate::StoreError::ReadOnly).
    pub is_read_only: bool,
    /// Whether the store takes spellings of a name for the same that differ in case or in how letters are composed, as
    /// file systems of macOS and Windows do. A memory then does so, too: patterns of paths
    /// match every spelling, and what was viewed by one spelling was viewed by
    /// all.
    pub folds_case: bool,
    /// Whether the store keeps times of access: it then implements
    /// [`record_access`](crate::Store::record_access) and [`delete_unused`](crate::Store::delete_unused), and its
    /// listings have the times. `Memory::expire` needs such a store.
    pub tracks_access: bool,
    /// Whether [`update`](crate::Store::update) calls its edit while the store holds neither a lock nor a transaction, so
    /// the edit may write another file of this store. A store that keeps a history then needs one read less.
    pub edits_apart: bool,
    /// What the [`fingerprint`](crate::Entry::fingerprint)s in its listings are worth. Unless they are absent, each file that
    /// [`list`](crate::Store::list), [`open`](crate::Store::open) or [`files`](crate::Store::files) lists has one.
    pub fingerprints: Fingerprints,
    /// Whether [`delete_if`](crate::Store::delete_if) and [`rename_if`](crate::Store::rename_if) keep other writers apart, as
    /// [`update`](crate::Store::update) does. If not, a change that another writer makes after the condition was asked may be
    /// lost: the defaults of these methods read the file first.
    pub conditions_are_atomic: bool,
}
