//! A key in a file, which the first call creates. Concurrent calls of several processes all get the same key, because a
//! second key would make the first one's memory unreadable.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use memdir_store::error::{ConfigError, Error};
use memdir_store::local_path::expand_home;
use zeroize::Zeroizing;

use super::seal::{KEY, Key, random};

/// The limit of attempts while the file is created and removed concurrently.
const ATTEMPTS: usize = 16;

/// The key in the file at `path`. Creates the file if it does not exist.
pub(super) fn key_in(path: &Path) -> Result<Key, Error> {
    if path.as_os_str().is_empty() {
        return Err(ConfigError::of_option("path").and(" must not be empty").into());
    }
    let path = expand_home(path)?;
    for _ in 0..ATTEMPTS {
        match read(&path) {
            Err(Failed::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(failed) => return Err(failed.at(&path, "read")),
            Ok(key) => {
                // The creator of the file may not have flushed the directory yet, and the key is used from now on.
                flush_directory(&path);
                return Ok(key);
            }
        }
        let key = random().map_err(Error::Store)?;
        match make(&path, &key) {
            Ok(()) => return Ok(key),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(Failed::Io(error).at(&path, "made")),
        }
    }
    let is_gone = "something is at the path that leads to no file, such as a broken link";
    Err(Failed::Other(is_gone.to_owned()).at(&path, "read"))
}

/// Why the key could not be read.
enum Failed {
    Io(io::Error),
    Other(String),
}

impl Failed {
    fn at(self, path: &Path, done: &str) -> Error {
        let path = path.display();
        let sentence = match self {
            Self::Io(error) => format!("the key file \"{path}\" cannot be {done}: {error}"),
            Self::Other(problem) => format!("the key file \"{path}\" cannot be {done}: {problem}"),
        };
        ConfigError::from(sentence).about("path").into()
    }
}

fn read(path: &Path) -> Result<Key, Failed> {
    // A pipe would wait for a writer, and a device such as /dev/urandom returns another key each time.
    if !fs::metadata(path).map_err(Failed::Io)?.is_file() {
        return Err(Failed::Other("it is not a file".to_owned()));
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY + 1));
    let mut file = File::open(path).map_err(Failed::Io)?.take(KEY as u64 + 1);
    file.read_to_end(&mut bytes).map_err(Failed::Io)?;
    match <[u8; KEY]>::try_from(&**bytes) {
        Ok(key) => Ok(Zeroizing::new(key)),
        Err(_) => {
            let got = match bytes.len() {
                more if more > KEY => "more".to_owned(),
                fewer => fewer.to_string(),
            };
            Err(Failed::Other(format!("it must have {KEY} bytes, and has {got}")))
        }
    }
}

/// Creates the file with its whole content. Fails if it exists.
fn make(path: &Path, key: &Key) -> io::Result<()> {
    let staged = Staged(beside(path)?);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&staged.0)?;
    file.write_all(&**key)?;
    file.sync_all()?;
    drop(file);
    place(&staged.0, path)?;
    flush_directory(path);
    Ok(())
}

/// A unique name in the same directory.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let number = random::<8>().map_err(io::Error::other)?;
    let mut name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_owned();
    name.push(format!(".{:016x}.new", u64::from_le_bytes(*number)));
    Ok(path.with_file_name(name))
}

/// A temporary file, which is removed on drop if it still exists.
struct Staged(PathBuf);

impl Drop for Staged {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Renames the file to a name that must be free. Unlike the rename of a store, this has no fallback for file systems without
/// links, which would need a lock.
fn place(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system supports it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            result => return Ok(result?),
        }
    }
    fs::hard_link(from, to)
}

/// Flushes the directory if possible. The system may deny opening it; in that case the file existed before.
fn flush_directory(path: &Path) {
    #[cfg(unix)]
    {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let _ = File::open(parent.unwrap_or(Path::new("."))).and_then(|parent| parent.sync_all());
    }
    #[cfg(not(unix))]
    let _ = path;
}
