//! `memdir rm`: deletes files and directories.

use serde_json::json;

use super::changing::{Changing, Missing};
use super::file_arguments::RemoveArguments;
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::{Ended, Failure};
use memdir::path::MemoryPath;
use memdir::store::{Store, StoreError};

pub(super) fn run(wanted: &RemoveArguments, output: &mut Output) -> Result<Ended, Failure> {
    let paths: Result<Vec<MemoryPath>, Failure> =
        wanted.paths.iter().map(|path| stores::path(path)).collect();
    let RemoveArguments { store, flags, by, .. } = wanted;
    let changing = Changing::new(store, Missing::AnError, flags, by, output)?;
    let targets = targets(paths?, changing.visible(), wanted.recursive, &changing.argument)?;
    let mut deleted = 0;
    for target in &targets {
        let path = target.path.as_str();
        if !wanted.dry_run {
            changing.memory.delete(path).map_err(|error| changing.argument.error(&error))?;
        }
        deleted += target.files.unwrap_or(1);
        if output.json {
            let kind = if target.files.is_some() { "directory" } else { "file" };
            let mut object = json!({"type": kind, "operation": "deleted", "path": path});
            if let Some(files) = target.files {
                object["files"] = json!(files);
            }
            output.object(&object)?;
            continue;
        }
        let files = target.files.map(|files| format!(" ({})", count(files, "file", "files")));
        output.changed("deleted", &format!("{path}{}", files.unwrap_or_default()))?;
        // Print each deletion, even if the next one fails.
        output.flush()?;
    }
    if output.json {
        output.object(&json!({"type": "summary", "files": deleted, "dry_run": wanted.dry_run}))?;
    } else if wanted.dry_run {
        output.line(&format!("{} would be deleted", count(deleted, "file", "files")))?;
    }
    Ok(Ended::Well)
}

struct Target {
    path: MemoryPath,
    /// The number of files in it, if it is a directory.
    files: Option<u64>,
}

/// The paths to delete, without those inside a directory that is deleted anyway.
fn targets(
    mut paths: Vec<MemoryPath>,
    store: &dyn Store,
    recursive: bool,
    argument: &StoreArgument,
) -> Result<Vec<Target>, Failure> {
    // A directory sorts before its entries.
    paths.sort();
    paths.dedup();
    let mut targets: Vec<Target> = Vec::new();
    for path in paths {
        if path.is_root() {
            return Err(Failure::Refused(format!(
                "nothing was deleted, as {path} is the memory itself: name the files to delete, or use `memdir erase` for everything"
            )));
        }
        let is_directory = match store.modified(&path) {
            Ok(_) => false,
            Err(StoreError::IsADirectory) => true,
            Err(error) => return Err(nothing(argument.condition_in(store, &path, error))),
        };
        if is_directory && !recursive {
            return Err(Failure::Refused(format!(
                "nothing was deleted, as {path} is a directory: -r deletes it with everything in it"
            )));
        }
        if !targets.iter().any(|above| {
            above.files.is_some() && (above.path == path || above.path.is_above(&path))
        }) {
            targets.push(Target { path, files: is_directory.then_some(0) });
        }
    }
    if targets.iter().any(|target| target.files.is_some()) {
        let mut count = |path: &MemoryPath| {
            let within = |target: &&mut Target| target.path.is_above(path);
            if let Some(Target { files: Some(files), .. }) = targets.iter_mut().find(within) {
                *files += 1;
            }
        };
        let counted = store.files(&mut |file| count(&file.path));
        counted.map_err(|error| argument.condition(&MemoryPath::root(), error))?;
    }
    Ok(targets)
}

fn nothing(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(sentence) => Failure::Refused(format!("nothing was deleted: {sentence}")),
        failure => failure,
    }
}
