//! The commands of `memdir` that search, count and change files: on each kind of store, with and without a history.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use crate::common::program;
use crate::common::program::said;
use crate::common::remembering::{Scene, all, scenes};
use memdir::MemoryPath;
use serde_json::json;

/// Runs it with a text as standard input.
fn piped(scene: &Scene, arguments: &[&str], text: &[u8]) -> (i32, String, String) {
    let mut child = scene
        .command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(text);
    said(&child.wait_with_output().unwrap())
}

fn done(stdout: &str) -> (i32, String, String) {
    (0, stdout.to_owned(), String::new())
}

/// A memory with a history, and texts to search for.
fn notes(scene: &Scene) {
    let memory = scene.memory().acting_as("ann");
    memory.create("/memories/a.md", "one\ntwo tea\nthree\nfour\nfive tea\nsix\n").unwrap();
    memory.create("/memories/d/tea.md", "Tea pot\r\n").unwrap();
    memory.create("/memories/.hidden/tea.md", "tea\n").unwrap();
}

#[test]
fn grep_finds_names_and_lines() {
    for scene in scenes() {
        notes(&scene);
        let grep =
            |arguments: &[&str]| scene.run(&[&["grep", scene.store][..], arguments].concat());
        let found = "/memories/a.md:2:two tea\n/memories/a.md:5:five tea\n/memories/d/tea.md\n";
        assert_eq!(grep(&["tea"]), done(found));
        assert_eq!(
            grep(&["TEA", "-i", "/memories/d"]),
            done("/memories/d/tea.md\n/memories/d/tea.md:1:Tea pot\n")
        );
        assert_eq!(grep(&["t[w-y]o"]), done("/memories/a.md:2:two tea\n"));
        assert_eq!(grep(&["t[w-y]o", "-F"]), (1, String::new(), String::new()));
        assert_eq!(grep(&["tea", "-l"]), done("/memories/a.md\n/memories/d/tea.md\n"));
        assert_eq!(grep(&["tea", "-n", "1"]), done("/memories/a.md:2:two tea\n"));
        assert_eq!(grep(&["tea", "-l", "-n", "1"]), done("/memories/a.md\n"));
        let (code, stdout, stderr) = grep(&["("]);
        assert_eq!((code, stdout.as_str()), (2, ""));
        assert!(stderr.starts_with("memdir: PATTERN is wrong: "), "{stderr}");
        let (code, _, stderr) = grep(&["x", "/memories/none"]);
        assert_eq!(code, 2, "{stderr}");
        assert_eq!(
            scene.json(&["grep", scene.store, "-i", "tea", "/memories/d"]),
            [
                json!({"type": "name", "path": "/memories/d/tea.md"}),
                json!({"type": "line", "path": "/memories/d/tea.md", "line": 1, "text": "Tea pot"}),
            ]
        );
    }
}

#[test]
fn search_prints_the_best_files_with_their_passages() {
    for scene in scenes() {
        notes(&scene);
        let search =
            |arguments: &[&str]| scene.run(&[&["search", scene.store][..], arguments].concat());
        let pot = "/memories/d/tea.md\n1:Tea pot\n";
        assert_eq!(search(&["pots"]), done(pot));
        assert_eq!(search(&["tea", "pot", "-n", "1"]), done(pot));
        assert_eq!(search(&["tea", "--path", "/memories/d"]), done(pot));
        assert_eq!(search(&["tea -five"]), done(pot));
        let (code, both, _) = search(&["tea"]);
        assert_eq!(code, 0);
        assert!(both.contains("\n\n/memories/") && both.contains("\n2:two tea\n"), "{both}");
        assert_eq!(search(&["coffee"]), (1, String::new(), String::new()));
        let (code, _, stderr) = search(&["tea", "--path", "/memories/none"]);
        assert_eq!(code, 2, "{stderr}");
        let similar = search(&["tea", "--path", "/memories/d/tee.md"]).2;
        assert!(similar.contains("did you mean /memories/d/tea.md?"), "{similar}");
        assert_eq!(search(&[]).0, 2);
        // As in every language. grep does the same.
        assert_eq!(search(&["tea", "-n", "0"]), (1, String::new(), String::new()));
        let grep = ["grep", scene.store, "tea", "-n", "0"];
        assert_eq!(scene.run(&grep), (1, String::new(), String::new()));
        assert_eq!(search(&["tea", "-n", "-1"]).0, 2);
        let json = scene.json(&["search", scene.store, "pot"]);
        assert_eq!(
            (json.len(), &json[0]["type"], &json[0]["path"]),
            (1, &json!("hit"), &json!("/memories/d/tea.md"))
        );
        let passage = &json[0]["passages"][0];
        assert_eq!((&passage["text"], &passage["first_line"]), (&json!("Tea pot"), &json!(1)));
        assert_eq!(passage["matches"], json!([{"start": 4, "end": 7}]));
    }
}

#[test]
fn grep_prints_the_lines_around_a_match_once() {
    for scene in scenes() {
        notes(&scene);
        let grep =
            |arguments: &[&str]| scene.well(&[&["grep", scene.store][..], arguments].concat());
        let a = |lines: &[&str]| -> String {
            lines
                .iter()
                .map(|line| match *line {
                    "--" => "--\n".to_owned(),
                    line => format!("/memories/a.md{line}\n"),
                })
                .collect()
        };
        assert_eq!(
            grep(&["tea|pot", "-C1"]),
            a(&["-1-one", ":2:two tea", "-3-three", "-4-four", ":5:five tea", "-6-six"])
                + "/memories/d/tea.md\n--\n/memories/d/tea.md:1:Tea pot\n"
        );
        assert_eq!(
            grep(&["-B1", "two|six", "/memories/a.md"]),
            a(&["-1-one", ":2:two tea", "--", "-5-five tea", ":6:six"])
        );
        assert_eq!(grep(&["-A", "9", "-n1", "five"]), a(&[":5:five tea", "-6-six"]));
        let json = scene.json(&["grep", scene.store, "-B1", "six"]);
        assert_eq!(
            json[0],
            json!({"type": "context", "path": "/memories/a.md", "line": 5, "text": "five tea"})
        );
    }
}

#[test]
fn grep_searches_the_history() {
    for scene in scenes() {
        notes(&scene);
        let memory = scene.memory();
        memory.str_replace("/memories/a.md", "two tea", "two").unwrap();
        memory.delete("/memories/d").unwrap();
        let old = |path: &str| {
            let version =
                all(&memory).into_iter().rev().find(|version| version.path.as_str() == path);
            version.unwrap().id
        };
        let (a, d) = (old("/memories/a.md"), old("/memories/d/tea.md"));
        let found = scene.well(&["grep", scene.store, "two tea|Tea pot", "--history"]);
        assert_eq!(
            found,
            format!("{d}:/memories/d/tea.md:1:Tea pot\n{a}:/memories/a.md:2:two tea\n")
        );
        let listed = scene.well(&["grep", scene.store, "-i", "tea", "--history", "-l"]);
        assert_eq!(listed, "/memories/a.md\n/memories/d/tea.md\n");
        // A deleted file has a history.
        let gone = scene.json(&["grep", scene.store, "pot", "/memories/d/tea.md", "--history"]);
        assert_eq!((&gone[0]["type"], &gone[0]["line"]), (&json!("past-line"), &json!(1)));
        let plain = scene.memory_at("other", false);
        plain.create("/memories/a", "x").unwrap();
        let (code, _, stderr) = scene.run(&["grep", "other", "x", "--history"]);
        assert_eq!(code, 2);
        assert!(stderr.contains("other has no history"), "{stderr}");
    }
}

#[test]
fn put_writes_what_it_is_given() {
    for scene in scenes() {
        let put = |arguments: &[&str], text: &str| {
            piped(&scene, &[&["put", scene.store][..], arguments].concat(), text.as_bytes())
        };
        assert_eq!(put(&["/memories/n/a.md"], "one\r\ntwo"), done("created   /memories/n/a.md\n"));
        assert_eq!(scene.well(&["show", scene.store, "/memories/n/a.md"]), "one\r\ntwo");
        // No history was kept, and none is begun.
        assert!(!scene.run(&["log", scene.store]).2.is_empty());
        let file = |name: &str, text: &str| fs::write(scene.place.path().join(name), text).unwrap();
        file("new", "three\n");
        file("old", "one\r\ntwo");
        let replace = ["/memories/n/a.md", "new", "--if-unchanged", "old"];
        assert_eq!(put(&replace, ""), done("modified  /memories/n/a.md\n"));
        let (code, stdout, stderr) = put(&replace, "");
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.contains("does not hold what it was expected to hold"), "{stderr}");
        let (code, _, stderr) = put(&["/memories/n/a.md", "--create"], "x");
        assert_eq!(
            (code, stderr.as_str()),
            (1, "memdir: File /memories/n/a.md already exists: leave out --create to replace it\n")
        );
        let (code, _, stderr) = piped(&scene, &["put", scene.store, "/memories/b"], b"\xff");
        assert_eq!(code, 1);
        assert!(stderr.contains("standard input is not text (UTF-8)"), "{stderr}");
        let (code, _, stderr) = put(&["/memories/b", "none"], "");
        assert!(code == 2 && stderr.starts_with("memdir: none cannot be read: "), "{stderr}");
        let (code, _, stderr) = put(&["/memories/n"], "x");
        assert!(code == 1 && stderr.contains("directory"), "{stderr}");
        let json = put(&["/memories/c", "--json"], "");
        let created = json!({"type": "file", "operation": "created", "path": "/memories/c", "old_path": null});
        assert_eq!(program::lines(&json.1), [created]);
        assert_eq!(scene.well(&["show", scene.store, "/memories/n/a.md"]), "three\n");
    }
}

#[test]
fn what_is_changed_is_recorded_and_can_be_undone() {
    for scene in scenes() {
        notes(&scene);
        assert_eq!(
            piped(&scene, &["put", scene.store, "/memories/a.md", "--as", "cron"], b"x").0,
            0
        );
        scene.well(&["mv", scene.store, "/memories/a.md", "/memories/d"]);
        scene.well(&["rm", scene.store, "/memories/d/a.md"]);
        let log = scene.json(&["log", scene.store, "-n3"]);
        let done: Vec<_> =
            log.iter().map(|version| (&version["operation"], &version["actor"])).collect();
        assert_eq!(
            done,
            [
                (&json!("deleted"), &json!("memdir")),
                (&json!("renamed"), &json!("memdir")),
                (&json!("overwritten"), &json!("cron")),
            ]
        );
        scene.well(&["undo", scene.store, log[0]["change"].as_str().unwrap()]);
        assert_eq!(scene.well(&["show", scene.store, "/memories/d/a.md"]), "x");
        // With the flag, a history is begun.
        assert_eq!(piped(&scene, &["put", "new", "/memories/a", "--history"], b"x").0, 0);
        assert_eq!(scene.json(&["log", "new"]).len(), 1);
    }
}

#[test]
fn policies_hold_if_they_are_given_and_a_line_says_when_none_is() {
    for scene in scenes() {
        notes(&scene);
        let put = |arguments: &[&str], text: &[u8]| {
            piped(
                &scene,
                &[&["put", scene.store, "/memories/p/a.md"][..], arguments].concat(),
                text,
            )
        };
        let refused = |arguments: &[&str], says: &str| {
            let (code, stdout, stderr) =
                put(arguments, b"token ghp_0123456789abcdefghijABCDEFGHIJ012345");
            assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
            assert!(stderr.contains(says), "{stderr}");
        };
        refused(&["--max-files", "3"], "3 files at most");
        refused(&["--max-file-bytes", "5"], "5 bytes at most");
        refused(&["--read-only-paths", "/memories/p"], "/memories/p");
        refused(&["--read-only"], "read-only");
        let mut redacted = scene.command(&["put", scene.store, "/memories/r", "token"]);
        fs::write(
            scene.place.path().join("token"),
            "token ghp_0123456789abcdefghijABCDEFGHIJ012345",
        )
        .unwrap();
        redacted.args(["--sensitive-text", "redact"]).env_remove("MEMDIR_QUIET");
        let (code, _, stderr) = said(&redacted.output().unwrap());
        assert_eq!(
            (code, stderr.as_str()),
            (0, "memdir: sensitive text in /memories/r was redacted\n")
        );
        let (code, _, stderr) = put(&["--max-files", "many"], b"");
        assert!(
            code == 2 && stderr.contains("'--max-files <NUMBER>': use a whole number"),
            "{stderr}"
        );
        for (command, says) in [
            (&["rm", scene.store, "/memories/a.md"][..], true),
            (&["rm", scene.store, "/memories/d", "-r", "--max-files", "9"], false),
            (&["put", scene.store, "/memories/a.md", "--json"], false),
        ] {
            let output = scene.command(command).env_remove("MEMDIR_QUIET").output().unwrap();
            let (code, _, stderr) = said(&output);
            assert_eq!(code, 0, "{stderr}");
            assert_eq!(stderr.starts_with("memdir: no policies are in force"), says, "{stderr}");
        }
    }
}

#[test]
fn mv_moves_into_a_directory_and_overwrites_nothing() {
    for scene in scenes() {
        notes(&scene);
        let mv = |from: &str, to: &str| scene.run(&["mv", scene.store, from, to]);
        let moved = "renamed   /memories/d/a.md from /memories/a.md\n";
        assert_eq!(mv("/memories/a.md", "/memories/d/"), done(moved));
        assert_eq!(
            mv("/memories/d", "/memories/e/f"),
            done("renamed   /memories/e/f from /memories/d\n")
        );
        assert_eq!(mv("/memories/e/f/a.md", "/memories").0, 0);
        let (code, stdout, stderr) = mv("/memories/a.md", "/memories/e/f/tea.md");
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.contains("already exists"), "{stderr}");
        assert_eq!(mv("/memories/none", "/memories/x").0, 1);
        assert_eq!(mv("/memories/a.md", "/memories/a.md").0, 1);
    }
}

#[test]
fn rm_deletes_what_it_is_told_or_nothing() {
    for scene in scenes() {
        notes(&scene);
        let rm = |arguments: &[&str]| scene.run(&[&["rm", scene.store][..], arguments].concat());
        for (paths, says) in [
            (
                &["/memories/a.md", "/memories/none"][..],
                "nothing was deleted: /memories/none: not found",
            ),
            (&["/memories/a.md", "/memories/d"], "-r deletes it"),
            (&["/memories/a.md", "-r", "/memories"], "is the memory itself"),
        ] {
            let (code, stdout, stderr) = rm(paths);
            assert_eq!((code, stdout.as_str()), (1, ""));
            assert!(stderr.contains(says), "{stderr}");
        }
        let all =
            ["-r", "/memories/a.md", "/memories/d/tea.md", "/memories/d", "/memories/.hidden"];
        let listed = "deleted   /memories/.hidden (1 file)\ndeleted   /memories/a.md\ndeleted   /memories/d (1 file)\n";
        let dry = format!("{listed}3 files would be deleted\n");
        assert_eq!(rm(&[&all[..], &["-n"]].concat()), done(&dry));
        let json = program::lines(&rm(&[&all[..], &["-n", "--json"]].concat()).1);
        assert_eq!(json.last().unwrap(), &json!({"type": "summary", "files": 3, "dry_run": true}));
        assert_eq!(rm(&all), done(listed));
        assert_eq!(scene.json(&["tree", scene.store, "--all"]).last().unwrap()["files"], 0);
    }
}

#[test]
fn stats_are_figures_and_limits() {
    for scene in scenes() {
        notes(&scene);
        let shown =
            scene.well(&["stats", scene.store, "--max-files", "10", "--max-total-bytes=2048"]);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(
            lines[..4],
            [
                "files        3 / 10",
                "directories  2",
                "bytes        49B / 2.0K",
                "largest      36B  /memories/a.md"
            ]
        );
        assert!(shown.contains("\nhistory      3 versions, "), "{shown}");
        let json = scene.json(&["stats", scene.store, "--max-files", "10"]);
        assert_eq!(
            (&json[0]["files"], &json[0]["max_files"], &json[0]["max_total_bytes"]),
            (&json!(3), &json!(10), &json!(null))
        );
        assert_eq!(json[0]["largest"], json!({"path": "/memories/a.md", "bytes": 36}));
        assert_eq!(json[0]["history"]["versions"], 3);
    }
}

#[test]
fn expire_deletes_what_was_not_used() {
    for scene in scenes() {
        notes(&scene);
        let memory = scene.memory();
        let long_ago = SystemTime::now() - Duration::from_secs(100 * 24 * 3600);
        for path in ["/memories/a.md", "/memories/d/tea.md"] {
            let path = MemoryPath::parse(path).unwrap();
            memory.store().set_modified(&path, long_ago).unwrap();
        }
        let expire =
            |arguments: &[&str]| scene.run(&[&["expire", scene.store][..], arguments].concat());
        let a = "    36B  100d  /memories/a.md\n";
        let after = ["--after", "12w", "--never", "/memories/d"];
        let dry = expire(&[&after[..], &["--dry-run"]].concat());
        if dry.2.contains("needs a store that keeps") {
            continue;
        }
        assert_eq!(dry, done(&format!("{a}1 file (36B) would be deleted\n")));
        assert_eq!(expire(&after), done(&format!("{a}1 file (36B) deleted\n")));
        assert_eq!(all(&memory)[0].operation.as_str(), "expired");
        assert_eq!(expire(&["--after", "101d"]), done("0 files (0B) deleted\n"));
        // The store may not record accesses.
        let note = |says: bool| {
            let command = ["expire", scene.store, "--after", "99d", "-n", "--max-files", "9"];
            let ended = scene.command(&command).env_remove("MEMDIR_QUIET").output().unwrap();
            assert_eq!(said(&ended).2.contains("no view of any file is recorded"), says);
        };
        note(true);
        let used = MemoryPath::parse("/memories/.hidden/tea.md").unwrap();
        memory.store().record_access(&used, long_ago).unwrap();
        note(false);
        let json = program::lines(&expire(&["--after", "99d", "-n", "--json"]).1);
        assert_eq!(
            (&json[0]["path"], &json[1]["files"]),
            (&json!("/memories/d/tea.md"), &json!(1))
        );
        for wrong in
            [&["--after", "0d"][..], &["--after", "soon"], &["--after", "1d", "--never", "x"], &[]]
        {
            assert_eq!(expire(wrong).0, 2, "{wrong:?}");
        }
    }
}

#[test]
fn a_line_around_a_match_is_cut_as_the_match_is() {
    let place = tempfile::tempdir().unwrap();
    let text = format!("{0}\ntea {0}\n{0}\n", "x".repeat(100_000));
    std::fs::write(place.path().join("long"), text).unwrap();
    crate::common::program::well(place.path(), &["put", "m", "/memories/long", "long"]);
    let found = crate::common::program::well(place.path(), &["grep", "m", "tea", "-C", "1"]);
    assert_eq!(found.lines().count(), 3);
    assert!(found.lines().all(|line| line.ends_with('…') && line.chars().count() < 400), "{found}");
}
