//! [`Location`]: where a store keeps its data, to detect that two stores overlap.

use std::path::{Component, Path, PathBuf};

use crate::path::MemoryPath;

/// The limit of consecutive dangling links that are followed.
const MAX_LINKS: u32 = 40;

/// Where a store keeps its data: a directory or file on this machine, or a prefix in a service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// Empty for files of this machine.
    service: String,
    path: PathBuf,
    read_only: bool,
}

impl Location {
    /// A file or directory on this machine, which need not exist. Links in its path are resolved, even if their target
    /// does not exist yet.
    #[must_use]
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::new("", &resolved(&absolute, MAX_LINKS))
    }

    /// The names in a service that begin with `prefix`; slashes separate their components. Two locations are in the same
    /// service if their `service` is equal.
    #[must_use]
    pub fn in_service(service: impl Into<String>, prefix: &str) -> Self {
        Self::new(service, &Path::new("/").join(prefix))
    }

    fn new(service: impl Into<String>, path: &Path) -> Self {
        // Normalize the path.
        let path = path.components().collect();
        Self { service: service.into(), path, read_only: false }
    }

    /// Whether the location is on this machine or in this process, so accessing it costs little.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.service.is_empty() || self.service.starts_with("memory:")
    }

    /// The same location, for a store that never writes there.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// The location of `path` in a store at this location.
    #[must_use]
    pub fn below(&self, path: &MemoryPath) -> Self {
        let mut below = self.clone();
        below.path.extend(path.names());
        below
    }

    /// Whether the other location is this one or inside it.
    #[must_use]
    pub fn holds(&self, other: &Self) -> bool {
        self.service == other.service
            && (other.path.starts_with(&self.path)
                || (self.service.is_empty() && is_above(&self.path, &other.path)))
    }
}

/// An absolute path without links and `..`. Missing components are assumed to become directories later.
fn resolved(path: &Path, links: u32) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in path.components() {
        match component {
            // The resolved part contains no link, so its lexical parent is correct.
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir => {}
            Component::Normal(name) => {
                resolved.push(name);
                if let Ok(real) = resolved.canonicalize() {
                    resolved = real;
                } else if links > 0
                    && let Ok(target) = resolved.read_link()
                {
                    // A database would be created at the target of such a link.
                    resolved.pop();
                    resolved = self::resolved(&resolved.join(target), links - 1);
                }
            }
            Component::Prefix(_) | Component::RootDir => resolved.push(component),
        }
    }
    resolved
}

/// Whether the first path is the second one or a directory above it under another name. A file system can ignore case,
/// and a directory can be mounted in two places.
#[cfg(unix)]
fn is_above(above: &Path, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let identity = |path: &Path| path.metadata().ok().map(|found| (found.dev(), found.ino()));
    identity(above)
        .is_some_and(|sought| path.ancestors().any(|path| identity(path) == Some(sought)))
}

/// On other systems a resolved path has one spelling.
#[cfg(not(unix))]
fn is_above(_: &Path, _: &Path) -> bool {
    false
}

/// Whether one store's data is inside the other's. Copying `from` would then change the source, or copy what was just
/// written.
pub fn overlap(from: &[Location], to: &[Location]) -> bool {
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

    #[cfg(unix)]
    #[test]
    fn a_parent_of_what_is_missing_and_a_link_to_what_is_missing_are_resolved() {
        use std::os::unix::fs::symlink;

        let place = tempfile::tempdir().unwrap();
        let real = place.path().join("real");
        std::fs::create_dir(&real).unwrap();
        symlink("real/new.db", place.path().join("to-new")).unwrap();
        symlink("loop-b", place.path().join("loop-a")).unwrap();
        symlink("loop-a", place.path().join("loop-b")).unwrap();
        let file = |path: &str| Location::file(place.path().join(path));
        for path in ["missing/../real", "a/b/../../real", "real/../real/.", "a/../b/../real"] {
            assert_eq!(file(path), file("real"), "{path}");
        }
        assert_eq!(file("to-new"), file("real/new.db"));
        assert_eq!(file("x/../to-new"), file("real/new.db"));
        assert_ne!(file("loop-a"), file("real"));
    }

    /// The link gives the directory a second name, like two spellings on a file system that ignores case.
    #[cfg(unix)]
    #[test]
    fn a_directory_is_the_same_by_another_name() {
        let place = tempfile::tempdir().unwrap();
        let (one, other) = (place.path().join("one"), place.path().join("other"));
        std::fs::create_dir(&one).unwrap();
        std::fs::write(&other, "").unwrap();
        assert!(is_above(&one, &one.join("below/it")) && !is_above(&other, &one));
        std::fs::remove_file(&other).unwrap();
        std::fs::write(one.join("a"), "").unwrap();
        std::fs::hard_link(one.join("a"), &other).unwrap();
        assert!(Location::file(&other).holds(&Location::file(one.join("a"))));
        assert!(!is_above(&place.path().join("missing"), &place.path().join("missing/a")));
    }
}
