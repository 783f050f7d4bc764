//! `memdir copy` copies the history as well, into any store, or reports why it cannot.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::common::remembering::{Scene, all, scenes};
use memdir::Memory;
use memdir::history::UndoOptions;
use serde_json::json;

const OTHERS: [&str; 3] = ["./n", "dir:n", "sqlite:n.db"];

fn change(memory: &Memory) {
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.acting_as("ann").str_replace("/memories/a.md", "one", "two").unwrap();
    memory.create("/memories/d/b.md", &"b\n".repeat(100)).unwrap();
    memory.rename("/memories/d", "/memories/e").unwrap();
    memory.delete("/memories/a.md").unwrap();
    memory.create("/memories/c.md", "a secret\n").unwrap();
    let secret = all(memory)[0].id;
    memory.str_replace("/memories/c.md", "secret", "pen").unwrap();
    memory.redact(secret, "no longer").unwrap();
}

fn log(scene: &Scene, store: &str) -> String {
    scene.well(&["log", store, "-p", "--json"])
}

#[test]
fn a_copy_has_the_same_history() {
    for to in OTHERS {
        for scene in scenes() {
            change(&scene.memory());
            let dry = scene.well(&["copy", scene.store, to, "--dry-run"]);
            let says =
                "2 files (206B) and 8 changes of the history would be copied, 0 there already\n";
            assert!(dry.ends_with(says), "{dry}");
            let copy = ["copy", scene.store, to];
            assert_eq!(scene.well(&copy), "", "{} {to}", scene.store);
            assert_eq!(log(&scene, to), log(&scene, scene.store), "{} {to}", scene.store);
            let tree = |store| scene.well(&["tree", store, "--all", "--json"]);
            assert_eq!(tree(to), tree(scene.store), "{} {to}", scene.store);
            let checked = scene.well(&["check", to]);
            assert!(checked.ends_with(" 8 versions: no problems\n"), "{checked}");
            let again = json!({
                "type": "summary", "files": 0, "bytes": 0, "equal": 2, "directories": 0,
                "left_out": 0, "dry_run": false, "changes": 0,
            });
            assert_eq!(scene.json(&copy), [again]);

            // Later changes are copied, too.
            scene.memory().str_replace("/memories/c.md", "pen", "hat").unwrap();
            scene.well(&["copy", scene.store, to, "--overwrite"]);
            assert_eq!(log(&scene, to), log(&scene, scene.store), "{} {to}", scene.store);
            // And it is a complete history.
            let memory = scene.memory_at(to, true);
            memory.undo(all(&memory)[0].change, UndoOptions::default()).unwrap();
            assert_eq!(memory.read("/memories/c.md").unwrap(), "a pen\n");
        }
    }
}

#[test]
fn a_destination_with_a_history_of_its_own_is_refused() {
    for scene in scenes() {
        change(&scene.memory());
        let to = "sqlite:n.db";
        scene.memory_at(to, true).create("/memories/own.md", "own\n").unwrap();
        let before = log(&scene, to);
        let copy = ["copy", scene.store, to];
        let stderr = "memdir: nothing was copied, as the destination has a history of its own: \
             --without-history copies the files alone\n";
        for more in [&[][..], &["--dry-run"], &["--overwrite"]] {
            let refused = scene.run(&[&copy[..], more].concat());
            assert_eq!(refused, (1, String::new(), stderr.to_owned()));
        }
        assert!(!scene.well(&["tree", to]).contains("c.md"));
        assert_eq!(scene.well(&[&copy[..], &["--without-history"]].concat()), "");
        assert!(scene.well(&["tree", to]).contains("c.md"));
        assert_eq!(log(&scene, to), before);

        // A new copy has no history then, and gets one later.
        let to = "./later";
        scene.well(&["copy", scene.store, to, "--without-history"]);
        assert_eq!(scene.run(&["log", to]).0, 1);
        scene.well(&["copy", scene.store, to]);
        assert_eq!(log(&scene, to), log(&scene, scene.store));
    }
}

#[test]
fn a_source_without_a_history_leaves_that_of_the_destination() {
    for scene in scenes() {
        scene.memory_at(scene.store, false).create("/memories/a.md", "one\n").unwrap();
        scene.memory_at("./n", true).create("/memories/own.md", "own\n").unwrap();
        let before = log(&scene, "./n");
        scene.well(&["copy", scene.store, "./n"]);
        assert_eq!(log(&scene, "./n"), before);
        assert_eq!(scene.well(&["show", "./n", "/memories/a.md"]), "one\n");
    }
}

#[test]
fn a_damaged_history_is_not_copied() {
    let scene = scenes().remove(0);
    change(&scene.memory());
    // A redaction begins another segment, so all of this is in the first one.
    let mut segments = fs::read_dir(scene.place.path().join("m/history/log")).unwrap();
    let path = segments.next().unwrap().unwrap().path();
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(9).position(|window| window == b"\"created\"").unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let (code, stdout, stderr) = scene.run(&["copy", "m", "sqlite:n.db"]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("the history is damaged"), "{stderr}");
    assert!(!scene.place.path().join("n.db").exists());
    scene.well(&["copy", "m", "sqlite:n.db", "--without-history"]);
}

/// A copy that is killed again and again is completed by the next one, and its history is complete.
#[test]
fn a_copy_of_a_history_that_is_killed_is_finished_by_the_next() {
    // Into a log, a table, and hidden files.
    for scene in [scenes().remove(0), scenes().remove(3)] {
        let memory = scene.memory();
        memory.create("/memories/a.md", "0\n").unwrap();
        for number in 1..120 {
            let (old, new) = (format!("{}\n", number - 1), format!("{number}\n"));
            memory.str_replace("/memories/a.md", &old, &new.repeat(1 + number % 7)).unwrap();
            memory.write_again("/memories/a.md", &new);
        }
        let expected = log(&scene, "m");
        for to in ["n", "sqlite:n.db"] {
            let mut killed = 0;
            for delay in (3..700).step_by(87) {
                let mut child =
                    scene.command(&["copy", "m", to]).stderr(Stdio::null()).spawn().unwrap();
                std::thread::sleep(Duration::from_millis(delay));
                if child.try_wait().unwrap().is_some_and(|status| status.success()) {
                    break;
                }
                child.kill().unwrap();
                child.wait().unwrap();
                killed += 1;
            }
            assert!(killed > 0, "{to}: no copy was killed");
            assert_eq!(scene.well(&["copy", "m", to]), "");
            assert!(log(&scene, to) == expected, "{to}");
            let (code, stdout, _) = scene.run(&["check", to]);
            assert_eq!(code, 0, "{stdout}");
        }
    }
}

trait WriteAgain {
    fn write_again(&self, path: &str, content: &str);
}

impl WriteAgain for Memory {
    fn write_again(&self, path: &str, content: &str) {
        let path = memdir::MemoryPath::parse(path).unwrap();
        let existing = memdir::OnExisting::Overwrite;
        self.store().write(&path, content.as_bytes(), existing).unwrap();
    }
}
