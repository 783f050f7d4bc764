//! [`Fingerprint`]: what a listing tells of a file's content, so a reader need not read what has not changed.

use std::fmt;

/// A small value that differs when a file's content differs, as far as its store can tell without reading it.
///
/// Compare two fingerprints of one path of one store, from two listings. If they are equal, the content is the same, as surely as
/// [`StoreInfo::fingerprints`](crate::StoreInfo::fingerprints) says. If they differ, read the file: a store may give a file
/// another fingerprint although its content is the same, for example when the file was moved, its time was set, or an access was
/// recorded. Fingerprints say nothing across paths or stores, and the bytes have no meaning.
///
/// ```
/// use memdir::store::{InProcess, OnExisting, Store};
/// use memdir::MemoryPath;
///
/// let (store, path) = (InProcess::new(), MemoryPath::parse("/memories/a.md")?);
/// let fingerprint = || Ok::<_, memdir::StoreError>(store.list(&MemoryPath::root())?[0].fingerprint.clone());
/// store.write(&path, b"one", OnExisting::Error)?;
/// let before = fingerprint()?;
/// assert_eq!(before, fingerprint()?);
/// store.write(&path, b"two", OnExisting::Overwrite)?;
/// assert_ne!(before, fingerprint()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint(Box<[u8]>);

impl Fingerprint {
    /// A fingerprint of any bytes, such as those of an ETag. A few dozen are enough.
    #[must_use]
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// A fingerprint of numbers that tell two contents of a file apart, such as its size and times.
    #[must_use]
    pub fn of_numbers(numbers: &[u64]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        Self(bytes.into())
    }

    /// Its bytes, to be kept and compared later.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        f.debug_tuple("Fingerprint").field(&hex).finish()
    }
}

/// What the [`Fingerprint`]s of a store are worth; the greater, the more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fingerprints {
    /// Not every file in a listing has one.
    #[default]
    Absent,
    /// Two contents of a file may have the same one in rare cases, such as two edits of the same size within the granularity of
    /// the file system's clock.
    Likely,
    /// Two contents of a file have two.
    Exact,
}
