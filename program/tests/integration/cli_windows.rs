//! Addresses on Windows, which are paths with drives. Wine passes this, too.
#![cfg(all(windows, feature = "sqlite"))]

use std::fs;
use std::process::Command;

use memdir::{Memory, MemoryOptions};

/// The output of the program.
fn run(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_memdir")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn addresses_are_paths_with_drives() {
    let place = tempfile::tempdir().unwrap();
    let plain = place.path().to_str().unwrap().trim_start_matches(r"\\?\").to_owned();
    let open = |address: &str| Memory::open(address, MemoryOptions::default()).unwrap();
    open(&plain).create("/memories/a", "a").unwrap();
    open(&format!(r"sqlite:{plain}\a.db")).create("/memories/b", "b").unwrap();
    let slashes = plain.replace('\\', "/");
    let verbatim = format!(r"\\?\{plain}");
    for base in [&plain, &slashes, &verbatim] {
        let shown = run(&["show", base, "/memories/a"]);
        assert!(shown.trim_end().ends_with('a'), "{base}: {shown}");
        let listed = run(&["tree", &format!("dir:{base}")]);
        assert!(listed.contains("a.db"), "{base}: {listed}");
    }
    let to = format!(r"{plain}\copy");
    run(&["copy", &format!("sqlite:{slashes}/a.db"), &to]);
    assert_eq!(fs::read(format!(r"{to}\memories\b")).unwrap(), b"b");
}
