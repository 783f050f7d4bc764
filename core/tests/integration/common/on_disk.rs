//! The content of a directory, read without the store.
#![allow(dead_code, reason = "each test program uses its part")]

use std::path::{Path, PathBuf};

/// Every path below `base` on disk, including those that no command can reach, sorted.
pub(crate) fn on_disk(base: &Path) -> Vec<String> {
    fn collect(base: &Path, at: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            found.push(path.strip_prefix(base).unwrap().to_string_lossy().into_owned());
            if path.is_dir() && !path.is_symlink() {
                collect(base, &path, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(base, base, &mut found);
    found.sort();
    found
}
