//! `memdir watch`: a line for each change, whichever process makes it.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::common::remembering::{Scene, scenes};
use memdir::Memory;
use serde_json::{Value, json};

/// A file that is written to find out whether the watch has begun.
const BEGIN: &str = "/memories/w/begin";

const LONG: Duration = Duration::from_secs(60);

struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    fn start(scene: &Scene, memory: &Memory) -> Self {
        let mut child = scene
            .command(&["watch", scene.store, "/memories/w", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        for number in 0.. {
            memory.write(BEGIN, &"x".repeat(number), None).unwrap();
            if lines.recv_timeout(Duration::from_millis(200)).is_ok() {
                break;
            }
            assert!(number < 300, "it does not begin");
        }
        Self { child, lines }
    }

    fn next(&mut self) -> Value {
        loop {
            let line = self.lines.recv_timeout(LONG).unwrap();
            let change: Value = serde_json::from_str(&line).unwrap();
            if change["path"] != BEGIN {
                return change;
            }
        }
    }

    /// The operation, the path and the actor of the next change.
    fn change(&mut self) -> (Value, Value, Value) {
        let next = self.next();
        assert_eq!(next["type"], "change");
        assert!(next["time"].as_str().unwrap().ends_with('Z'), "{next}");
        (next["operation"].clone(), next["path"].clone(), next["actor"].clone())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn with_a_history_it_says_what_was_done_by_whom() {
    for scene in scenes().into_iter().skip(2) {
        let memory = scene.memory().acting_as("ann");
        memory.create("/memories/w/a.md", "one\n").unwrap();
        let mut watching = Watching::start(&scene, &memory);
        memory.create("/memories/other.md", "not watched\n").unwrap();
        memory.str_replace("/memories/w/a.md", "one", "other").unwrap();
        assert_eq!(watching.change(), (json!("modified"), json!("/memories/w/a.md"), json!("ann")));
        memory.acting_as("bob").rename("/memories/w/a.md", "/memories/w/b.md").unwrap();
        let renamed = watching.next();
        assert_eq!((&renamed["operation"], &renamed["actor"]), (&json!("renamed"), &json!("bob")));
        assert_eq!(
            (&renamed["path"], &renamed["old_path"]),
            (&json!("/memories/w/b.md"), &json!("/memories/w/a.md"))
        );
        memory.delete("/memories/w").unwrap();
        assert_eq!(watching.change(), (json!("deleted"), json!("/memories/w/b.md"), json!("ann")));
        // Without a history.
        let plain = scene.memory_at(scene.store, false);
        plain.create("/memories/w/new.md", "new\n").unwrap();
        assert_eq!(watching.change(), (json!("written"), json!("/memories/w/new.md"), json!(null)));
    }
}

#[test]
fn without_a_history_it_says_what_is_changed() {
    for scene in scenes().into_iter().skip(2) {
        let memory = scene.memory_at(scene.store, false);
        memory.create("/memories/a.md", "one\n").unwrap();
        let mut watching = Watching::start(&scene, &memory);
        memory.create("/memories/w/a.md", "one\n").unwrap();
        assert_eq!(watching.change(), (json!("written"), json!("/memories/w/a.md"), json!(null)));
        memory.delete("/memories/w/a.md").unwrap();
        assert_eq!(watching.change(), (json!("deleted"), json!("/memories/w/a.md"), json!(null)));
    }
}

#[test]
fn it_ends_when_nobody_reads_it_any_more() {
    let scene = &scenes()[0];
    let memory = scene.memory();
    memory.create("/memories/w/a.md", "one\n").unwrap();
    let mut child = scene
        .command(&["watch", scene.store])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    for number in 0.. {
        memory.write("/memories/w/a.md", &number.to_string(), None).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        if child.try_wait().unwrap().is_some() {
            break;
        }
        assert!(number < 300, "it goes on");
    }
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
}

/// As an unprivileged user, because root can read an inaccessible directory.
#[test]
fn it_goes_on_after_the_store_has_failed() {
    use std::os::unix::fs::PermissionsExt;

    let scene = scenes().into_iter().find(|scene| !scene.store.contains(":")).unwrap();
    let memory = scene.memory();
    let files = scene.place.path().join("m/memories/w");
    let mut watching = Watching::start(&scene, &memory);
    let set = |mode| std::fs::set_permissions(&files, std::fs::Permissions::from_mode(mode));
    set(0o000).unwrap();
    if std::fs::read_dir(&files).is_ok() {
        set(0o700).unwrap();
        return;
    }
    let said = BufReader::new(watching.child.stderr.take().unwrap()).lines().next().unwrap();
    assert!(said.unwrap().ends_with("the watch goes on when the store can be read again"));
    set(0o700).unwrap();
    memory.create("/memories/w/new.md", "x").unwrap();
    assert_eq!(watching.next()["path"], "/memories/w/new.md");
}
