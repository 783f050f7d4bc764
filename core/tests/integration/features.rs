//! Heavy dependencies are compiled only with their feature.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::process::Command;

/// The names of all crates in the dependency tree with the given features.
fn crates(features: &str) -> Vec<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--package", "memdir", "--edges", "normal,build", "--prefix", "none"])
        .args(["--format", "{p}", "--locked", "--offline"])
        .args(["--no-default-features", "--features", features])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).unwrap();
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn without_its_feature_nothing_of_it_is_compiled() {
    const OBJECTS: [&str; 4] = ["object_store", "reqwest", "hyper", "quick-xml"];
    const POSTGRES: [&str; 3] = ["tokio-postgres", "deadpool", "postgres-protocol"];
    const BOTH: [&str; 3] = ["tokio", "rustls", "aws-lc-rs"];
    const SQLITE: [&str; 2] = ["rusqlite", "libsqlite3-sys"];
    const SEARCH: [&str; 2] = ["memdir-search", "frostem"];
    const TRACING: [&str; 2] = ["tracing", "tracing-core"];
    for (features, there, absent) in [
        ("", vec![], [&OBJECTS[..], &POSTGRES, &BOTH, &SQLITE, &SEARCH, &TRACING].concat()),
        ("search", SEARCH.to_vec(), [&OBJECTS[..], &POSTGRES, &BOTH, &SQLITE].concat()),
        ("testing", vec![], [&OBJECTS[..], &POSTGRES, &BOTH, &SQLITE].concat()),
        ("sqlite", SQLITE.to_vec(), [&OBJECTS[..], &POSTGRES, &BOTH, &TRACING].concat()),
        ("tracing", TRACING.to_vec(), [&OBJECTS[..], &POSTGRES, &BOTH, &SQLITE].concat()),
        (
            "encryption,fast-regex",
            vec![],
            [&OBJECTS[..], &POSTGRES, &BOTH, &SQLITE, &SEARCH].concat(),
        ),
        ("postgres", [&POSTGRES[..], &BOTH].concat(), [&OBJECTS[..], &SQLITE].concat()),
        ("object-storage", [&OBJECTS[..], &BOTH].concat(), [&POSTGRES[..], &SQLITE].concat()),
    ] {
        let crates = crates(features);
        for name in there {
            assert!(crates.iter().any(|found| found == name), "{features:?} is without {name}");
        }
        for name in absent {
            assert!(!crates.iter().any(|found| found == name), "{features:?} brings {name}");
        }
    }
}
