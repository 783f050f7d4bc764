//! [`Location`]: where a store keeps its data, to find out whether two stores overlap.

use std::path::{Path, PathBuf};

use crate::path::MemoryPath;

/// Where a store keeps its data: a directory or file on this machine, or a prefix in a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Empty for this machine's files.
    service: String,
    path: PathBuf,
    read_only: bool,
}

impl Location {
    /// A file or directory on this machine, which need not exist. Links in the existing part of its path are
    /// resolved.
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

    /// The names in a service that begin with `prefix`; slashes separate their components. Two locations are
    /// in the same service if they have the same `service`.
    #[must_use]
    pub fn in_service(service: impl Into<String>, prefix: &str) -> Self {
        Self::new(service, &Path::new("/").join(prefix))
    }

    fn new(service: impl Into<String>, path: &Path) -> Self {
        // In one way of writing it.
        let path = path.components().collect();
        Self { service: service.into(), path, read_only: false }
    }

    /// Whether it is on this machine, where a look costs nothing.
    #[must_use]
    pub(crate) fn is_nearby(&self) -> bool {
        self.service.is_empty() || self.service.starts_with("memory:")
    }

    /// The same location of a store that changes nothing there.
    #[must_use]
    pub(crate) fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// The location of `path` in a store at this location.
    #[must_use]
    pub(crate) fn below(&self, path: &MemoryPath) -> Self {
        let mut below = self.clone();
        below.path.extend(path.names());
        below
    }

    /// Whether the other location is this one, or within it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.service == other.service && other.path.starts_with(&self.path)
    }
}

/// Whether one store's data is within the other's. To copy `from` would then change the source, or copy what
/// it has just written.
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
