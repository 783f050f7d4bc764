//! `memdir export` and `memdir import`: a whole memory as one file.
//!
//! The file is a tar archive that every system can list and unpack:
//! ```text
//! memories/…        the files, and the empty directories
//! history/000001    the concatenated records of the history, in pieces of some megabytes
//! manifest.jsonl    a line for each of them, with size, SHA-256 and exact times
//! ```
//! An import reads and checks the whole archive before it changes anything.

mod manifest;
mod read;
mod write;

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use self::read::Archive;
pub(super) use self::read::at;
use super::arguments::{ExportArguments, ImportArguments};
use super::copy::{self, How};
use super::fixed_files::FixedFiles;
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::style::escaped;
use super::{Ended, Failure, say};
use memdir::MemoryOptions;
use memdir::copy::Source;
use memdir::history::{HistoryRecords, without_journal};
use memdir::store::{Location, redact_address};
use memdir::text::human_size;

pub(super) fn export(wanted: &ExportArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let raw = argument.readable()?;
    let shown = shown(&wanted.file);
    if wanted.file.exists() && !wanted.overwrite {
        let refused =
            format!("nothing was exported, as {shown} is there: --overwrite would replace it");
        return Err(Failure::Refused(refused));
    }
    let store = without_journal(Arc::clone(&raw));
    let location = Location::file(&wanted.file);
    if store.info().locations.iter().any(|of_store| of_store.holds(&location)) {
        return Err(Failure::Usage(format!(
            "nothing was exported, as {shown} is within the store: write the archive to another place"
        )));
    }
    let carried = if wanted.without_history { None } else { Some(copy::carried(raw, &argument)?) };
    let written = whole_file(&wanted.file, |file| write::write(&*store, carried.as_ref(), file));
    let written = written.map_err(|error| failure(error, &shown, &argument))?;
    for problem in &written.left_out {
        if output.json {
            output.object(&json!({
                "type": "left-out", "kind": problem.kind.as_str(), "path": problem.path,
            }))?;
        } else {
            say(&format!("left out: {problem}"));
        }
    }
    if output.json {
        output.object(&json!({
            "type": "summary",
            "files": written.files,
            "bytes": written.bytes,
            "directories": written.directories,
            "changes": written.changes,
            "left_out": written.left_out.len(),
        }))?;
    } else if io::stderr().is_terminal() {
        let (files, size) = (count(written.files, "file", "files"), human_size(written.bytes));
        let changes = count(written.changes, "change", "changes");
        say(&format!("{files} ({size}) and {changes} of the history exported"));
    }
    Ok(Ended::Well)
}

/// Imports an archive unchanged into a store.
pub(super) fn import(
    file: File,
    wanted: &ImportArguments,
    argument: &StoreArgument,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let (files, carried) = parts(file, &wanted.source, argument)?;
    let carried = carried.filter(|_| !wanted.without_history);
    let durability = argument.options().durability;
    let how = How { overwrite: wanted.overwrite, dry_run: wanted.dry_run, durability };
    copy::transfer(Source::of(Arc::new(files), carried), None, argument, how, output)
}

/// Only the files of an archive.
pub(super) fn files(
    file: File,
    path: &Path,
    argument: &StoreArgument,
) -> Result<FixedFiles, Failure> {
    parts(file, path, argument).map(|(files, _)| files)
}

fn parts(
    file: File,
    path: &Path,
    argument: &StoreArgument,
) -> Result<(FixedFiles, Option<HistoryRecords>), Failure> {
    let parts = Archive::open(file).and_then(Archive::into_parts);
    parts.map_err(|error| failure(error, &shown(path), argument))
}

/// The name of an archive's manifest.
pub(super) const MANIFEST: &str = manifest::NAME;

/// Whether these bytes start like the manifest of an archive.
pub(super) fn is_manifest(bytes: &[u8]) -> bool {
    manifest::is_one(bytes)
}

/// Why an archive was not written or read.
enum ArchiveError {
    /// The file of the archive cannot be written or read.
    Archive(io::Error),
    /// The store cannot be read.
    Store(Box<dyn std::error::Error>),
    /// The file is not an archive of memdir, or was changed.
    Damaged(String),
}

impl From<io::Error> for ArchiveError {
    fn from(error: io::Error) -> Self {
        Self::Archive(error)
    }
}

fn failure(error: ArchiveError, shown: &str, argument: &StoreArgument) -> Failure {
    match error {
        ArchiveError::Archive(error) => Failure::Store(format!("{shown}: {error}")),
        ArchiveError::Store(error) => argument.failed(&*error),
        ArchiveError::Damaged(what) => Failure::Refused(format!("{shown}: {}", escaped(&what))),
    }
}

/// The name of a file for a message. The user may have typed an address instead, so secrets are removed.
pub(super) fn shown(file: &Path) -> String {
    redact_address(&escaped(&file.to_string_lossy()))
}

/// Writes a file that gets its name only when it is complete. Until then its name ends with `.part`.
fn whole_file<T>(
    file: &Path,
    write: impl FnOnce(&mut File) -> Result<T, ArchiveError>,
) -> Result<T, ArchiveError> {
    let mut name = file.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = file.with_file_name(name);
    // Left by an export that was killed. An export that is still running holds a lock.
    if let Ok(there) = File::open(&part) {
        if matches!(there.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another export is writing it",
            )
            .into());
        }
        fs::remove_file(&part)?;
    }
    let mut options = OpenOptions::new();
    // Do not follow a link, and do not open an existing file.
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let mut opened = options.open(&part)?;
    // Some file systems do not support locks.
    let _ = opened.try_lock();
    let written = write(&mut opened).and_then(|written| {
        opened.flush()?;
        opened.sync_all()?;
        fs::rename(&part, file)?;
        Ok(written)
    });
    if written.is_err() {
        let _ = fs::remove_file(&part);
    } else if cfg!(unix)
        && let Some(directory) = file.parent()
    {
        let directory = if directory == Path::new("") { Path::new(".") } else { directory };
        File::open(directory)?.sync_all()?;
    }
    written
}
