//! `memdir import`: imports files into a memory.
//!
//! An archive of `memdir export` is imported unchanged, with its history ([`archive`]). Everything else is
//! imported as text files: those of a directory, of a tar file, or one file ([`source`]). They are written like any other
//! change by a person: under the policies given as flags, and recorded as one change if the memory has a history.

mod files;
mod left_out;
mod plan;
mod source;
mod tar_file;

use std::path::Path;

use super::arguments::ImportArguments;
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::{Ended, Failure, archive, history};
use memdir::MemoryOptions;
use memdir::path::MemoryPath;

use files::{Files, Source};

pub(super) fn run(wanted: &ImportArguments, output: &mut Output) -> Result<Ended, Failure> {
    let options = history::untrimmed(wanted.flags.on(MemoryOptions::default())?);
    let mut argument = stores::only(&wanted.store, options)?;
    argument.encrypt_names(wanted.flags.is_given("encrypt_names"), stores::KEY)?;
    let to = directory(&wanted.to)?;
    match source::open(&wanted.source, &argument)? {
        Source::Archive(file) if !is_changed_on_the_way(wanted) => {
            archive::import(file, wanted, &argument, output)
        }
        Source::Archive(file) if wanted.without_history => {
            let files = archive::files(file, &wanted.source, &argument)?;
            let files = Files::of_archive(Box::new(files));
            plan::import(files, &to, wanted, &argument, output)
        }
        Source::Archive(_) => Err(Failure::Usage(
            "an archive is imported as it is, with its history: --to, --as, --history and policies need \
             --without-history"
                .to_owned(),
        )),
        Source::Files(files) => {
            if files.is_known {
                refuse_file_as_directory(&to, &wanted.source)?;
            }
            plan::import(files, &to, wanted, &argument, output)
        }
    }
}

/// The directory of the memory that the files go into.
fn directory(given: &str) -> Result<MemoryPath, Failure> {
    let path = MemoryPath::parse(given)
        .map_err(|error| Failure::Usage(format!("--to is wrong: {error}")))?;
    if path.is_reserved() {
        let wrong = "--to is wrong: names that start with .memdir- are memdir's own";
        return Err(Failure::Usage(wrong.to_owned()));
    }
    Ok(path)
}

/// Refuses a `--to` with the extension of the only file, because it was probably meant as the path of the file.
fn refuse_file_as_directory(to: &MemoryPath, file: &Path) -> Result<(), Failure> {
    let ending = |name: &str| Path::new(name).extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let of_file = file.file_name().and_then(|name| name.to_str()).and_then(ending);
    if of_file.is_none() || to.name().and_then(ending) != of_file {
        return Ok(());
    }
    let above = to.parent().unwrap_or_else(MemoryPath::root);
    Err(Failure::Usage(format!(
        "nothing was imported: --to is the directory that the file goes into, such as {above}; `memdir put` writes a file at {to}"
    )))
}

/// Whether the flags ask for more than an unchanged import of an archive.
fn is_changed_on_the_way(wanted: &ImportArguments) -> bool {
    let flags = &wanted.flags;
    wanted.to != "/memories"
        || wanted.by.name != "memdir"
        || flags.have_policies()
        || flags.is_given("history")
}

/// Refuses to import a directory that contains the store or is inside it.
fn refuse_overlap(argument: &StoreArgument, directory: &Path) -> Result<(), Failure> {
    if argument.overlaps_directory(directory) {
        return Err(Failure::Usage(
            "nothing was imported: the directory and the store are the same, or one of them is within the other: name a directory outside of the store".to_owned(),
        ));
    }
    Ok(())
}
