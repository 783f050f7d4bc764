//! Paths on this machine: expands `~`, and rejects a base path that is the `memories` directory itself by mistake.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The name of the directory that contains the files in the SDKs' layout.
pub const FILES: &str = "memories";

/// Replaces `~` as the first component of the path with the home directory, as a shell does. For a directory named `~`, write `./~`.
///
/// # Errors
/// [`Error::Config`] if the home directory is unknown, or for `~name`, another user's home directory.
pub fn expand_home(path: &Path) -> Result<PathBuf, Error> {
    expand(path, home_directory)
}

fn expand(path: &Path, home: impl FnOnce() -> Option<PathBuf>) -> Result<PathBuf, Error> {
    let mut components = path.iter();
    let first = components.next().unwrap_or_default();
    if first == "~" {
        let home = home().ok_or_else(|| {
            Error::config(format!(
                "the home directory for \"{}\" is not known: set HOME to it, or write it out",
                path.display()
            ))
        })?;
        return Ok(home.join(components.as_path()));
    }
    if first.as_encoded_bytes().starts_with(b"~") {
        return Err(Error::config(format!(
            "\"{}\" is not expanded: write out the home directory that is meant, or \"./{}\" for a \
             file or directory of that name",
            first.display(),
            path.display()
        )));
    }
    Ok(path.to_owned())
}

fn home_directory() -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    std::env::var_os(variable).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Checks that `base` is not the files' directory of an existing memory by mistake. Otherwise an empty memory would be opened inside
/// the existing one.
///
/// # Errors
/// [`Error::Config`] with the path that was probably intended.
pub fn check_not_files(base: &Path) -> Result<(), Error> {
    if base.file_name() != Some(OsStr::new(FILES)) || base.join(FILES).exists() {
        return Ok(());
    }
    let seen = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
    let holds_files = fs::read_dir(base)
        .is_ok_and(|entries| entries.flatten().any(|entry| seen(&entry.file_name())));
    if !holds_files {
        return Ok(());
    }
    let shown = base.display();
    let around = match base.parent() {
        Some(around) if !around.as_os_str().is_empty() => around.display().to_string(),
        _ => ".".to_owned(),
    };
    Err(Error::config(format!(
        "\"{shown}\" holds the files of a memory, and not a memory of its own: open \"{around}\", whose files \
         are in its directory \"{FILES}\", or \"dir:{shown}\" for the files of that very directory (to begin \
         another memory there, make \"{}\" first)",
        base.join(FILES).display()
    )))
}

/// A hint for the error that this directory contains no memory: the end of the sentence, which says how to open the directory's own
/// files. `None` if the directory contains no files.
#[must_use]
pub fn own_files_hint(base: &Path) -> Option<String> {
    let seen = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
    let mut entries = fs::read_dir(base).ok()?.flatten();
    let holds_files = entries.any(|entry| seen(&entry.file_name()));
    let shown = base.display();
    holds_files.then(|| format!(": \"dir:{shown}\" opens the files of that very directory"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilde_is_the_home_directory_only_where_it_is_a_whole_first_component() {
        let expanded = |path: &str| expand(Path::new(path), || Some("/home/me".into()));
        for (path, expected) in [
            ("~", "/home/me"),
            ("~/", "/home/me"),
            ("~/memory", "/home/me/memory"),
            ("~//a/~/b", "/home/me/a/~/b"),
            ("./~", "./~"),
            ("./~/memory", "./~/memory"),
            ("a/~", "a/~"),
            ("/~", "/~"),
            ("a~b", "a~b"),
            ("", ""),
        ] {
            assert_eq!(expanded(path).unwrap(), Path::new(expected), "{path}");
        }
        for path in ["~root/memory", "~memory", "~~"] {
            let error = expanded(path).unwrap_err().to_string();
            assert!(error.contains("./~"), "{error}");
        }
        let error = expand(Path::new("~/memory"), || None).unwrap_err().to_string();
        assert!(error.contains("HOME"), "{error}");
        assert!(expand(Path::new("./memory"), || None).is_ok());
    }

    #[test]
    fn the_directory_of_a_memorys_files_is_not_taken_for_another_memory() {
        let place = tempfile::tempdir().unwrap();
        let files = place.path().join("memory/memories");
        // The directory does not exist, or is empty.
        check_not_files(&files).unwrap();
        fs::create_dir_all(&files).unwrap();
        check_not_files(&files).unwrap();
        fs::write(files.join(".hidden"), "").unwrap();
        check_not_files(&files).unwrap();
        fs::write(files.join("notes.md"), "").unwrap();
        let error = check_not_files(&files).unwrap_err().to_string();
        let meant = format!("open \"{}\"", place.path().join("memory").display());
        assert!(error.contains(&meant) && error.contains("\"dir:"), "{error}");
        check_not_files(&place.path().join("memory")).unwrap();
        fs::create_dir(files.join("memories")).unwrap();
        check_not_files(&files).unwrap();
    }
}
