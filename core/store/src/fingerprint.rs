//! [`Fingerprint`]: identifies a file's content in a listing, so a reader can skip unchanged files.

use std::fmt;

/// A small value that differs when a file's content differs, as far as the store can tell without reading the file.
///
/// Compare two fingerprints of the same path from two listings of the same store. If they are equal, the content is the same,
/// with the certainty given in [`StoreInfo::fingerprints`](crate::StoreInfo::fingerprints). If they differ, read the file. A
/// fingerprint may differ although the content is the same, for example after the file was moved, its time was set, or an access
/// was recorded. Do not compare fingerprints across paths or stores. The bytes have no meaning of their own.
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
    /// A fingerprint of arbitrary bytes, such as an ETag. A few dozen bytes are enough.
    #[must_use]
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        Self(bytes.into())
    }

    /// A fingerprint of numbers that differ between two contents of a file, such as its size and times.
    #[must_use]
    pub fn of_numbers(numbers: &[u64]) -> Self {
        let mut bytes = Vec::with_capacity(size_of_val(numbers));
        numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        Self(bytes.into())
    }

    /// Its bytes, for storing and later comparison.
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

/// How reliable the [`Fingerprint`]s of a store are, in ascending order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fingerprints {
    /// Some files in a listing may have no fingerprint.
    #[default]
    Absent,
    /// Two different contents of a file may have the same fingerprint in rare cases, such as two edits of the same size within
    /// the granularity of the file system's clock.
    Likely,
    /// Two different contents of a file always have different fingerprints.
    Exact,
}
