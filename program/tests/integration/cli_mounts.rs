//! The command line on the single stores of a tree of mounts: changes made through a mount are in the history of its
//! store.
#![cfg(all(unix, feature = "sqlite"))]

use std::sync::Arc;

use crate::common::program;
use memdir::history::{HistoryQuery, Version};
use memdir::store::{Mount, open_mounts};
use memdir::{Memory, MemoryOptions};

fn versions(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

#[test]
fn the_command_line_finds_what_was_done_through_a_mount() {
    let place = tempfile::tempdir().unwrap();
    let mut options = MemoryOptions::default();
    options.history = true;
    let address = |name: &str| {
        let scheme = if name == "docs" { "dir:" } else { "" };
        format!("{scheme}{}", place.path().join(name).display())
    };
    let mounts = [("/memories", "memory"), ("/memories/docs", "docs")]
        .map(|(at, name)| Mount::new(at, address(name)));
    let tree = Memory::with_store(Arc::new(open_mounts(mounts, &options).unwrap()), options);
    tree.create("/memories/a.md", "one").unwrap();
    tree.create("/memories/docs/c.md", "two").unwrap();
    let run = |arguments: &[&str]| {
        let (code, stdout, stderr) = program::run(place.path(), arguments);
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
        (stdout, stderr)
    };
    let docs = address("docs");
    let (log, _) = run(&["log", &docs]);
    assert!(
        log.lines().count() == 1 && log.contains(" created ") && log.contains("/memories/c.md")
    );
    let (stats, _) = run(&["stats", &address("memory"), "--json"]);
    assert!(stats.contains("\"files\":1,"), "{stats}");
    assert!(stats.contains("\"versions\":1"), "{stats}");
    let copy = address("copy");
    let (_, said) = run(&["copy", &docs, &copy]);
    assert_eq!(said, "");
    assert_eq!(run(&["log", &copy]).0, log);
    let change = versions(&tree)[0].change.to_string();
    run(&["undo", &docs, &change]);
    let newest = &versions(&tree)[0];
    assert_eq!(
        (newest.operation.as_str(), newest.path.as_str()),
        ("restored", "/memories/docs/c.md")
    );
    run(&["check", &docs]);
    run(&["check", &address("memory")]);
}
