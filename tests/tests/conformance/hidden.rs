//! Public items are documented: only the crate that bindings share may hide any.

#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::path::{Path, PathBuf};

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The directories of crates, except those of the bindings.
const CRATES: [&str; 5] = ["core", "history", "program", "sensitive-text", "stores"];

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() && !["node_modules", "target"].iter().any(|name| path.ends_with(name)) {
            sources(&path, found);
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn nothing_public_is_hidden_but_in_the_crate_that_bindings_share() {
    let mut found = Vec::new();
    for entry in fs::read_dir(PROJECT).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let is_crate = CRATES.contains(&name.as_str()) || name.starts_with("bindings-");
        if is_crate && name != "bindings-shared" {
            sources(&entry.path(), &mut found);
        }
    }
    assert!(found.iter().any(|file| file.ends_with("core/src/lib.rs")), "{found:?}");
    let is_hidden = |file: &&PathBuf| fs::read_to_string(file).unwrap().contains("doc(hidden)");
    let hidden: Vec<_> = found.iter().filter(is_hidden).collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}
