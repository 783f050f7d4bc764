//! Where stores keep what they hold, so that it shows when two of them are in each other's place.

use std::path::{Path, PathBuf};

use crate::path::MemoryPath;

/// Where a store keeps what it holds, as far as that can be compared: a directory or file of this machine, or a
/// prefix in some service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Empty for this machine's files.
    service: String,
    path: PathBuf,
    read_only: bool,
}

impl Location {
    /// A file or directory of this machine, whether it is there or not. What of it is there is found by whatever
    /// links lead to it.
    #[must_use]
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let resolved = absolute.ancestors().find_map(|above| {
            let below = absolute.strip_prefix(above).ok()?;
            Some(above.canonicalize().ok()?.join(below))
        });
        Self::new("", &resolved.unwrap_or(absolute))
    }

    /// The part of a service's space of names that begins with `prefix`, whose names are separated by slashes.
    /// Of two services the same name says that they are the same.
    #[must_use]
    pub fn in_service(service: impl Into<String>, prefix: &str) -> Self {
        Self::new(service, &Path::new("/").join(prefix))
    }

    fn new(service: impl Into<String>, path: &Path) -> Self {
        // In one way of writing it.
        let path = path.components().collect();
        Self { service: service.into(), path, read_only: false }
    }

    /// The same place, of a store that changes nothing there.
    #[must_use]
    pub(crate) fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Where a store that is here keeps what is at `path`.
    #[must_use]
    pub(crate) fn below(&self, path: &MemoryPath) -> Self {
        let mut below = self.clone();
        below.path.extend(path.names());
        below
    }

    /// Whether the other place is this one, or in it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.service == other.service && other.path.starts_with(&self.path)
    }
}

/// Whether something of one store is in the place of the other, or in it, so that copying `from` would change what
/// is copied, or copy what it has just written.
pub(crate) fn overlap(from: &[Location], to: &[Location]) -> bool {
    let written = || to.iter().filter(|to| !to.read_only);
    from.iter().any(|from| written().any(|to| from.holds(to) || to.holds(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_itself_and_what_is_in_it() {
        let at = |prefix| Location::in_service("s3://bucket", prefix);
        assert!(at("a").holds(&at("a/")) && at("a").holds(&at("a/b")) && at("").holds(&at("a")));
        assert!(!at("a").holds(&at("ab")) && !at("a/b").holds(&at("a")));
        assert!(!at("a").holds(&Location::in_service("s3://other", "a")));
        assert!(!at("a").holds(&Location::file("/a")));
        let path = MemoryPath::parse("/memories/b/c").unwrap();
        assert_eq!(at("a").below(&path), at("a/b/c"));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_is_found_by_every_way_that_leads_to_it_also_before_it_is_there() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, place.path().join("link")).unwrap();
        let file = |path: &str| Location::file(place.path().join(path));
        assert_eq!(file("real/new/a.db"), file("link/new/a.db"));
        assert!(file("link").holds(&file("real/new")) && !file("real/new").holds(&file("link")));
        assert_eq!(Location::file("a"), Location::file("./a"));
    }
}
