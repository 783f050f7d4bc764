//! The check of the layers (`tests/layers`) detects an import of a higher layer, and a cycle, and names them.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;
use std::process::Command;

/// Code that is added to a file, and the resulting error.
struct Added {
    file: &'static str,
    code: &'static str,
    wrong: &'static str,
}

const ADDED: [Added; 7] = [
    Added {
        file: "core/src/text/size.rs",
        code: "use crate::{memory::Memory, path::MemoryPath};",
        wrong: "imports crate::memory::Memory, which is in a higher layer",
    },
    // By another name, without a `use`.
    Added {
        file: "core/src/store/fork.rs",
        code: "fn wrong(_: crate::MemoryOptions) {}",
        wrong: "imports crate::MemoryOptions, which is in a higher layer",
    },
    Added {
        file: "core/store/src/node.rs",
        code: "use super::walk::Scope;",
        wrong: "imports super::walk::Scope, which imports from it, in a circle",
    },
    // Within one module.
    Added {
        file: "sensitive-text/src/steps.rs",
        code: "use super::scan::find;",
        wrong: "imports super::scan::find, which imports from it, in a circle",
    },
    Added {
        file: "bindings-python/src/time.rs",
        code: "use crate::entry::entries;",
        wrong: "imports crate::entry::entries, which imports from it, in a circle",
    },
    // Not an import of the code.
    Added {
        file: "core/src/text/find.rs",
        code: "// use crate::memory::Memory;\n#[cfg(test)]\nuse crate::memory::Memory;",
        wrong: "",
    },
    Added {
        file: "core/src/text/find.rs",
        code: "#[cfg(test)]\nmod more_tests {\n    use crate::memory::Memory;\n}",
        wrong: "",
    },
];

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in from.read_dir().unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// The output of the check for a tree.
fn checked(root: &Path) -> String {
    let check = concat!(env!("CARGO_MANIFEST_DIR"), "/layers");
    let output = Command::new("python3").arg(check).arg(root).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn an_import_that_leads_up_or_in_a_circle_is_found_and_named() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("==> LEFT OUT: the check of the layers, because python3 is not installed");
        return;
    }
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    assert_eq!(checked(root), "");
    for Added { file, code, wrong } in ADDED {
        let place = tempfile::tempdir().unwrap();
        for each in ["core/src", "core/store/src", "bindings-python/src", "sensitive-text/src"] {
            copy(&root.join(each), &place.path().join(each));
        }
        let changed = place.path().join(file);
        let text = std::fs::read_to_string(&changed).unwrap_or_default();
        std::fs::write(&changed, format!("{text}\n{code}\n")).unwrap();
        let said = checked(place.path());
        if wrong.is_empty() {
            assert_eq!(said, "", "{code}");
        } else {
            let line = text.lines().count() + 2;
            let expected = format!("{}:{line}: {wrong}", changed.display());
            assert!(said.lines().any(|said| said == expected), "{expected}\n{said}");
        }
    }
}
