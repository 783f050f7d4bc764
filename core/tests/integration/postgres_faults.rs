//! Fault matrix on a real PostgreSQL server: each request of each command, or its answer, is lost once.
//! After each fault the tree is either unchanged or complete, and the message says correctly which.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(all(unix, feature = "postgres"))]

use std::collections::BTreeMap;

use crate::common::effort::is_turn;
use crate::common::postgres::server;
use crate::common::proxy::{Loss, Proxy};
use memdir::history::{HistoryError, HistoryQuery};
use memdir::store::walk_files;
use memdir::{Memory, MemoryOptions, OnExisting};

type Tree = BTreeMap<String, Vec<u8>>;

/// Each starts with a tree that has `a.md` and `d/{b.md,e/c.md}`.
const COMMANDS: &[&str] = &[
    r#"{"command":"view","path":"/memories/a.md"}"#,
    r#"{"command":"view","path":"/memories"}"#,
    r#"{"command":"create","path":"/memories/x/new.md","file_text":"x"}"#,
    r#"{"command":"create","path":"/memories/a.md","file_text":"anew"}"#,
    r#"{"command":"str_replace","path":"/memories/d/b.md","old_str":"b","new_str":"B"}"#,
    r#"{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"x"}"#,
    r#"{"command":"delete","path":"/memories/a.md"}"#,
    r#"{"command":"delete","path":"/memories/d"}"#,
    r#"{"command":"rename","old_path":"/memories/a.md","new_path":"/memories/n/a.md"}"#,
    r#"{"command":"rename","old_path":"/memories/d","new_path":"/memories/n/d"}"#,
];

fn tree(memory: &Memory) -> Tree {
    let mut paths = Vec::new();
    walk_files(&**memory.store(), &mut |entry| paths.push(entry.path)).unwrap();
    let content = |path| memory.store().read(path).unwrap();
    paths.iter().map(|path| (path.to_string(), content(path))).collect()
}

/// A memory with the initial tree, which bypasses the proxy.
fn prepared(address: &str, options: &MemoryOptions) -> Memory {
    let memory = Memory::open(address, options.clone()).unwrap();
    for (file, text) in [("a.md", "a\n"), ("d/b.md", "b\n"), ("d/e/c.md", "c\n")] {
        memory.create(&format!("/memories/{file}"), text).unwrap();
    }
    memory
}

/// Reads each version's content, and returns the number of versions: one for each change that was made.
fn versions(memory: &Memory) -> usize {
    if !memory.options().history {
        return 0;
    }
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    for version in &versions {
        match memory.read_version(version.id) {
            Ok(_) | Err(HistoryError::NoContent(_)) => {}
            Err(error) => panic!("{version:?}: {error:?}"),
        }
    }
    versions.len()
}

#[test]
fn a_request_that_is_lost_once_changes_nothing_about_the_truth_of_a_reply() {
    lose_each_request(false);
}

#[test]
fn a_request_that_is_lost_once_makes_no_version_of_what_was_not_done() {
    lose_each_request(true);
}

fn lose_each_request(history: bool) {
    let Some(server) = server() else { return };
    let real: u16 =
        server.base().rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
    let proxy = Proxy::before(real);
    let mut options = MemoryOptions::default();
    options.on_existing = OnExisting::Overwrite;
    options.history = history;
    let whole = if history { "recorded-whole" } else { "whole" };
    let (mut lost, mut turn) = (0, 0);
    for (command, input) in COMMANDS.iter().enumerate() {
        let after = {
            let near = prepared(&server.address(&format!("{whole}-{command}")), &options);
            let overwriting =
                Memory::open(&server.address(&format!("{whole}-{command}")), options.clone());
            assert!(!overwriting.unwrap().execute(input).is_error, "{input}");
            tree(&near)
        };
        for loss in [Loss::Request, Loss::Answer] {
            turn += 1;
            for requests in 0.. {
                if !is_turn(turn + requests, 3) {
                    continue;
                }
                let address =
                    server.address(&format!("{whole}-lost-{command}-{loss:?}-{requests}"));
                let near = prepared(&address, &options);
                let (before, recorded) = (tree(&near), versions(&near));
                let far = address.replacen(&format!(":{real}/"), &format!(":{}/", proxy.port), 1);
                let far = Memory::open(&far, options.clone()).unwrap();
                // Opens the connection first.
                far.view("/memories", None).unwrap();
                let losses = proxy.losses();
                proxy.lose_after(requests, loss);
                let reply = far.execute(input);
                proxy.lose_after(usize::MAX, Loss::Nothing);
                let now = tree(&near);
                let said = reply.content.to_string();
                assert!(now == before || now == after, "{input} {loss:?} {requests}: {now:?}");
                let unknown = said.contains("may or may not");
                let is_true = if reply.is_error { now == before || unknown } else { now == after };
                assert!(is_true, "{input} {loss:?} {requests}: {said}");
                if history {
                    let near = Memory::open(&address, options.clone()).unwrap();
                    assert_eq!(
                        now == before,
                        versions(&near) == recorded,
                        "{input} {loss:?} {requests}"
                    );
                }
                far.view("/memories", None).unwrap();
                if proxy.losses() == losses {
                    break;
                }
                lost += 1;
            }
        }
    }
    assert!(4 * lost >= 2 * 2 * COMMANDS.len() - 4, "only {lost} were lost");
}
