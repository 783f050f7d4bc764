//! [`LogWriter`]: the log of a local directory, open to be appended to.
//!
//! Writers hold a lock shared while they append and make their change, so several can at once; a rewrite holds it alone.
//! On Unix it is a lock of the log itself. Windows keeps everybody from the bytes of a locked file, so there it is that of
//! a file beside it.

use std::fs::{File, OpenOptions};
use std::io::{Error, ErrorKind, Seek, Write};
use std::path::Path;

use memdir_store::Durability;

/// The log, open and locked.
#[derive(Debug)]
pub(super) struct LogWriter {
    log: File,
    /// On Windows what is locked.
    _lock: Option<File>,
}

impl LogWriter {
    /// Opens the log in `directory`, which is made if it is missing, together with others.
    pub(super) fn shared(directory: &Path, durability: Durability) -> Result<Self, Error> {
        Self::locked(directory, durability, File::lock_shared)
    }

    /// As [`shared`](Self::shared), alone.
    pub(super) fn alone(directory: &Path, durability: Durability) -> Result<Self, Error> {
        Self::locked(directory, durability, File::lock)
    }

    fn locked(
        directory: &Path,
        durability: Durability,
        lock: fn(&File) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let path = directory.join("log");
        if cfg!(windows) {
            let beside = open(&directory.join("lock"), directory, durability)?;
            lock(&beside)?;
            let log = open(&path, directory, durability)?;
            return Ok(Self { log, _lock: Some(beside) });
        }
        loop {
            let log = open(&path, directory, durability)?;
            lock(&log)?;
            // A rewrite may have put another file in its place meanwhile.
            if is_at(&log, &path)? {
                return Ok(Self { log, _lock: None });
            }
        }
    }

    /// Appends with one write, and returns where.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u64, Error> {
        let mut log = &self.log;
        log.write_all(bytes)?;
        Ok(log.stream_position()?.saturating_sub(bytes.len() as u64))
    }

    pub(super) fn flush(&self) -> Result<(), Error> {
        self.log.sync_data()
    }
}

/// Whether the file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> Result<bool, Error> {
    use std::os::unix::fs::MetadataExt;

    let (open, there) = match (file.metadata(), path.metadata()) {
        (Ok(open), Ok(there)) => (open, there),
        (_, Err(error)) if error.kind() == ErrorKind::NotFound => return Ok(false),
        (Err(error), _) | (_, Err(error)) => return Err(error),
    };
    Ok((open.dev(), open.ino()) == (there.dev(), there.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> Result<bool, Error> {
    Ok(true)
}

/// Opens a file of the journal for appending, and makes it and its directory if they are missing.
fn open(path: &Path, directory: &Path, durability: Durability) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.append(true).read(true);
    match private(&mut options).open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        opened => return opened,
    }
    match make_directory(directory) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        made => {
            if made.is_ok()
                && let Some(above) = directory.parent()
            {
                flush_directory(above, durability)?;
            }
        }
    }
    let file = private(options.create(true)).open(path)?;
    flush_directory(directory, durability)?;
    Ok(file)
}

/// Flushes a directory, so a loss of power does not take the name of a new file.
pub(super) fn flush_directory(directory: &Path, durability: Durability) -> Result<(), Error> {
    if cfg!(unix) && durability == Durability::Full {
        File::open(directory)?.sync_all()?;
    }
    Ok(())
}

/// Readable by its owner only, as the files are.
pub(super) fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

fn make_directory(directory: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        std::fs::DirBuilder::new().mode(0o700).create(directory)
    }
    #[cfg(not(unix))]
    std::fs::create_dir(directory)
}
