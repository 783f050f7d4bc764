//! "Did you mean": the paths and addresses that resemble the given ones, for error messages.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::Path;

use memdir::path::MemoryPath;
use memdir::store::Store;
use memdir::text::most_similar;

/// The maximum number of files that are compared. Listing more would take long for an error message.
const MOST_FILES: usize = 20_000;

/// The end of a sentence about a path that does not exist.
pub(super) fn path_hint(store: &dyn Store, path: &MemoryPath) -> Option<String> {
    let meant = existing_path(store, path)?;
    Some(format!(": did you mean {meant}?"))
}

/// An existing path with a similar name in any directory, or with the same name in another one.
fn existing_path(store: &dyn Store, path: &MemoryPath) -> Option<String> {
    let mut known = Vec::new();
    store
        .files(&mut |file| {
            if known.len() < MOST_FILES && !file.path.is_reserved() {
                known.push(file.path);
            }
        })
        .ok()?;
    let mut directories = HashSet::new();
    for file in &known {
        let mut above = file.parent();
        while let Some(directory) = above.filter(|directory| !directories.contains(directory)) {
            above = directory.parent();
            directories.insert(directory);
        }
    }
    known.extend(directories.into_iter().filter(|directory| !directory.is_root()));
    let same_name = || {
        let mut same = known.iter().filter(|other| other.name() == path.name());
        // Two of them are ambiguous.
        same.next().filter(|_| same.next().is_none())
    };
    // All paths begin alike, so compare what follows.
    let rest = |path: &MemoryPath| path.as_str().trim_start_matches("/memories/").to_owned();
    let rests: Vec<String> = known.iter().map(rest).collect();
    let similar = most_similar(rests.iter().map(String::as_str), &rest(path))
        .map(|rest| format!("/memories/{rest}"));
    similar.or_else(|| same_name().map(ToString::to_string))
}

/// The end of a sentence about a path that does not begin with `/memories`. The path may be an address, so it is repeated only if
/// no address has such characters.
pub(super) fn whole_path_hint(given: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_' | ' ');
    if given == "/memories" || given.starts_with("/memories/") || !given.chars().all(is_plain) {
        return None;
    }
    let inner = given.trim_start_matches("./").trim_start_matches('/');
    let inner = inner.strip_prefix("memories/").unwrap_or(inner);
    let meant = MemoryPath::parse(&format!("/memories/{inner}")).ok()?;
    (!meant.is_root()).then(|| format!(": did you mean {meant}?"))
}

/// The address that is probably meant by one at which there is no memory. It is on this machine.
pub(super) fn address_hint(address: &str) -> Option<String> {
    let (scheme, path) = split(address)?;
    let similar = || {
        let neighbour = neighbour(Path::new(path), scheme == "sqlite:")?;
        Some(format!(": did you mean {scheme}{neighbour}?"))
    };
    scheme_hint(address).or_else(similar)
}

/// The address with another scheme, if a database is addressed as a directory or a directory as a database.
pub(super) fn scheme_hint(address: &str) -> Option<String> {
    let (scheme, path) = split(address)?;
    let file = Path::new(path);
    let meant = match scheme {
        "sqlite:" if file.is_dir() && (file.is_absolute() || path.starts_with('.')) => {
            path.to_owned()
        }
        "sqlite:" if file.is_dir() => format!("./{path}"),
        "" | "dir:" if is_database(file) => format!("sqlite:{path}"),
        _ => return None,
    };
    Some(format!(": did you mean {meant}?"))
}

/// The scheme and the path of an address on this machine.
fn split(address: &str) -> Option<(&str, &str)> {
    match address.split_once(':') {
        Some(("dir", path)) => Some(("dir:", path)),
        Some(("sqlite", path)) => Some(("sqlite:", path)),
        Some(_) => None,
        None => Some(("", address)),
    }
}

/// A database, or a directory with a memory, whose name is similar to the last one of the path.
fn neighbour(path: &Path, is_file: bool) -> Option<String> {
    let (name, above) = (path.file_name()?.to_str()?, path.parent()?);
    let listed = if above == Path::new("") { Path::new(".") } else { above };
    let is_memory = |found: &Path| match is_file {
        true => is_database(found),
        false => found.join("memories").is_dir(),
    };
    let names: Vec<String> = fs::read_dir(listed)
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name() != OsStr::new(name) && is_memory(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    let similar = most_similar(names.iter().map(String::as_str), name)?;
    let start = path.to_str()?.strip_suffix(name)?;
    Some(format!("{start}{similar}"))
}

/// Whether this is a file of SQLite.
fn is_database(path: &Path) -> bool {
    let mut head = [0; 15];
    fs::File::open(path).is_ok_and(|mut file| {
        file.metadata().is_ok_and(|metadata| metadata.is_file())
            && file.read_exact(&mut head).is_ok()
            && head == *b"SQLite format 3"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir::store::{InProcess, OnExisting};

    #[test]
    fn a_similar_path_is_suggested() {
        let store = InProcess::new();
        for path in ["/memories/notes.md", "/memories/team/plan.md", "/memories/old/log/a.md"] {
            let path = MemoryPath::parse(path).unwrap();
            store.write(&path, b"x", OnExisting::Error).unwrap();
        }
        for (given, meant) in [
            ("/memories/note.md", Some("/memories/notes.md")),
            ("/memories/team/plans.md", Some("/memories/team/plan.md")),
            ("/memories/plan.md", Some("/memories/team/plan.md")),
            ("/memories/archive/notes.md", Some("/memories/notes.md")),
            ("/memories/teams", Some("/memories/team")),
            ("/memories/old/logs", Some("/memories/old/log")),
            ("/memories/something-else", None),
        ] {
            let path = MemoryPath::parse(given).unwrap();
            assert_eq!(existing_path(&store, &path).as_deref(), meant, "{given}");
        }
    }

    #[test]
    fn a_path_without_its_beginning_is_completed_unless_it_may_be_an_address() {
        for (given, meant) in [
            ("notes.md", Some("/memories/notes.md")),
            ("./memories/a/b.md", Some("/memories/a/b.md")),
            ("/notes.md", Some("/memories/notes.md")),
            ("sqlite:a.db", None),
            ("me:secret@host", None),
            ("/memories/../x", None),
            ("", None),
        ] {
            let hint = meant.map(|meant| format!(": did you mean {meant}?"));
            assert_eq!(whole_path_hint(given), hint, "{given}");
        }
    }
}
