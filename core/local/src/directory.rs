//! [`LocalDirectory`], and how it is opened. Everything else has one implementation for each system: `unix` and `windows`.
//! Each implements [`Store`](memdir_store::Store), and these three functions: `make_root`, `check_root` and
//! `remove_leftovers`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use memdir_store::settings::{Durability, LOCK_TIMEOUT};
use memdir_store::{Location, StoreError};

/// A store in a directory on this machine.
///
/// With [`open`](LocalDirectory::open) the files are in its `memories` directory, the layout of the
/// SDKs' own tools. With [`open_bare`](LocalDirectory::open_bare) they are in the directory itself.
///
/// Links are never followed, and special files are never opened. Names that no [`MemoryPath`](memdir_store::MemoryPath) can
/// contain are not listed or changed. An edit keeps a file's mode and owner, and on Windows its access rights and
/// attributes. It replaces the file, so hard links keep the old content.
#[derive(Debug)]
pub struct LocalDirectory {
    /// The tree's root: absolute, with links resolved when it was opened.
    pub(super) root: PathBuf,
    pub(super) location: Location,
    pub(super) durability: Durability,
    /// How long a writer waits for others; `None` for no limit.
    pub(super) lock_timeout: Option<Duration>,
    /// The limit for reading a file into memory to edit it, in bytes; `None` for no limit except memory.
    pub(super) max_file_bytes: Option<u64>,
    /// Whether the store never changes anything, not even to create a missing root.
    pub(super) read_only: bool,
    /// The file system of the tree, if files can be read from it without waiting.
    #[cfg(target_os = "linux")]
    pub(super) nowait: std::sync::OnceLock<crate::read::FileSystem>,
    /// Whether the system has refused to replace a file that another process has open.
    #[cfg(windows)]
    pub(super) refuses_open_files: std::sync::atomic::AtomicBool,
}

impl LocalDirectory {
    /// Opens the tree in the directory `memories` of `base`, and creates missing directories (on Unix with mode 0700,
    /// whatever the umask).
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the directory cannot be created or opened.
    pub fn open(base: impl AsRef<Path>, durability: Durability) -> Result<Self, StoreError> {
        Self::open_bare(base.as_ref().join("memories"), durability)
    }

    /// Opens the tree in `directory` itself, and creates missing directories (on Unix with mode 0700, whatever the umask).
    ///
    /// ```
    /// # let place = tempfile::tempdir().unwrap();
    /// # let docs = place.path();
    /// use memdir::store::LocalDirectory;
    /// use memdir::{Durability, MemoryPath, Store};
    ///
    /// std::fs::write(docs.join("style.md"), "Be brief.\n").unwrap();
    /// let store = LocalDirectory::open_bare(docs, Durability::Full).unwrap();
    /// let path = MemoryPath::parse("/memories/style.md").unwrap();
    /// assert_eq!(store.read(&path).unwrap(), b"Be brief.\n");
    /// ```
    ///
    /// # Errors
    /// [`StoreError::Failed`] if the directory cannot be created or opened.
    pub fn open_bare(
        directory: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let directory = directory.as_ref();
        let failed = |error| StoreError::failed(format!("opening {}", directory.display()), error);
        Self::make_root(directory).map_err(failed)?;
        // Links above the tree are resolved once, here. No link is followed later.
        let root = directory.canonicalize().map_err(failed)?;
        let store = Self::new(root, durability, false);
        store.remove_leftovers()?;
        Ok(store)
    }

    fn new(root: PathBuf, durability: Durability, read_only: bool) -> Self {
        Self {
            location: Location::file(&root),
            root,
            durability,
            lock_timeout: Some(LOCK_TIMEOUT),
            max_file_bytes: None,
            read_only,
            #[cfg(target_os = "linux")]
            nowait: std::sync::OnceLock::new(),
            #[cfg(windows)]
            refuses_open_files: std::sync::atomic::AtomicBool::new(false),
        }
    }

    /// The same store with another `MemoryOptions::lock_timeout`. The default is 10 seconds.
    #[must_use]
    pub fn with_lock_timeout(self, lock_timeout: Option<Duration>) -> Self {
        Self { lock_timeout, ..self }
    }

    /// The same store with a limit for edits: editing a file of more bytes fails with [`StoreError::TooLarge`]. By default
    /// only the available memory limits it.
    #[must_use]
    pub fn with_max_file_bytes(self, max_file_bytes: Option<u64>) -> Self {
        Self { max_file_bytes, ..self }
    }

    /// Opens the tree in the directory `memories` of `base` if it exists. Creates nothing, and removes no leftovers.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if it cannot be opened.
    pub fn find(
        base: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Option<Self>, StoreError> {
        Self::find_bare(base.as_ref().join("memories"), durability)
    }

    /// Opens the tree in `directory` itself if it exists. Creates nothing, and removes no leftovers.
    ///
    /// # Errors
    /// [`StoreError::Failed`] if it cannot be opened.
    pub fn find_bare(
        directory: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Option<Self>, StoreError> {
        Self::existing(directory.as_ref(), durability, false)
    }

    /// Opens the tree in `directory` itself, read-only: nothing is created, locked or removed, and every change is refused
    /// with [`StoreError::ReadOnly`].
    ///
    /// # Errors
    /// [`StoreError::Failed`] if it does not exist, is not a directory, or cannot be opened.
    pub fn open_read_only(directory: impl AsRef<Path>) -> Result<Self, StoreError> {
        let directory = directory.as_ref();
        Self::existing(directory, Durability::Relaxed, true)?.ok_or_else(|| {
            let missing = std::io::Error::from(std::io::ErrorKind::NotFound);
            StoreError::failed(format!("opening {}", directory.display()), missing)
        })
    }

    /// Opens the tree in `directory` itself if it exists: as [`find_bare`](Self::find_bare), or with `read_only` as
    /// [`open_read_only`](Self::open_read_only).
    ///
    /// # Errors
    /// [`StoreError::Failed`] if it cannot be opened.
    pub fn existing(
        directory: &Path,
        durability: Durability,
        read_only: bool,
    ) -> Result<Option<Self>, StoreError> {
        let root = match directory.canonicalize() {
            Ok(root) => root,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let operation = format!("opening {}", directory.display());
                return Err(StoreError::failed(operation, error));
            }
        };
        let store = Self::new(root, durability, read_only);
        store.check_root()?;
        Ok(Some(store))
    }

    /// The directory that contains the files, as an absolute path.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }
}
