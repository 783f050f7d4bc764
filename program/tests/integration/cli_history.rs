//! The program `memdir` on memories with a history: it lists changes, shows earlier contents, and undoes changes.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::io::Read;
use std::process::Stdio;

use crate::common::program;
use crate::common::remembering::{Scene, all, scenes};
use memdir::history::{HistoryErrorKind, HistoryId};
use memdir::{MemoryPath, OnExisting};
use serde_json::{Value, json};

/// A memory with five versions of two files, by two actors.
fn changed(scene: &Scene) {
    let (ann, bob) = (scene.memory().acting_as("ann"), scene.memory().acting_as("bob\u{1b}[31m"));
    ann.create("/memories/a.md", "one\n").unwrap();
    ann.str_replace("/memories/a.md", "one", "two").unwrap();
    bob.create("/memories/notes/b.md", "b\n").unwrap();
    bob.rename("/memories/a.md", "/memories/c.md").unwrap();
    ann.delete("/memories/notes").unwrap();
}

fn ids(scene: &Scene, arguments: &[&str]) -> Vec<String> {
    let log = scene.json(&[&["log", scene.store][..], arguments].concat());
    log.iter().map(|version| version["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn log_lists_the_versions_newest_first() {
    for scene in scenes() {
        changed(&scene);
        let log = scene.well(&["log", scene.store]);
        let shown: Vec<&str> = log.lines().map(|line| line[67..].trim_end()).collect();
        assert_eq!(
            shown,
            [
                "ann            deleted          -  /memories/notes/b.md",
                "bob\\u{1b}[31m  renamed         4B  /memories/c.md from /memories/a.md",
                "bob\\u{1b}[31m  created         2B  /memories/notes/b.md",
                "ann            modified        4B  /memories/a.md",
                "ann            created         4B  /memories/a.md",
            ],
            "{log}"
        );
        let versions = all(&scene.memory());
        for (line, version) in log.lines().zip(&versions) {
            assert!(line.starts_with(&format!("{}  20", version.id)), "{line}");
        }
        let json = scene.json(&["log", scene.store]);
        for (object, version) in json.iter().zip(&versions) {
            let mut expected = serde_json::to_value(version).unwrap();
            expected["type"] = json!("version");
            assert_eq!(*object, expected);
        }
        assert_eq!(json[1]["actor"], "bob\u{1b}[31m");
        assert!(json[0]["time"].as_str().unwrap().ends_with('Z'), "{}", json[0]);
        // Viewing recorded nothing.
        assert_eq!(all(&scene.memory()), versions);
    }
}

#[test]
fn blame_shows_which_version_brought_each_line() {
    for scene in scenes() {
        changed(&scene);
        let bob = scene.memory().acting_as("bob\u{1b}[31m");
        bob.insert("/memories/c.md", 1, "\u{1b}[31mthree\r\n").unwrap();
        let versions = all(&scene.memory());
        let (inserted, modified) = (&versions[0], &versions[4]);
        let shown = scene.well(&["blame", scene.store, "/memories/c.md"]);
        let lines: Vec<&str> = shown.lines().collect();
        let end = |id: HistoryId| id.to_string()[24..].to_owned();
        let time = |version: &memdir::history::Version| memdir::text::rfc3339(version.time);
        let expected = [
            format!(" {}  ann            {}  1  two", end(modified.id), time(modified)),
            format!(
                " {}  bob\\u{{1b}}[31m  {}  2  \u{1b}[31mthree",
                end(inserted.id),
                time(inserted)
            ),
        ];
        assert_eq!(lines, expected, "{shown}");
        // The end of the id is enough for the other commands.
        assert!(scene.well(&["diff", scene.store, &end(inserted.id)]).contains("three"));
        let json = scene.json(&["blame", scene.store, "/memories/c.md"]);
        let expected = json!({
            "type": "line", "line": 2, "text": "\u{1b}[31mthree\r", "version": inserted.id,
            "change": inserted.change, "operation": "modified", "actor": "bob\u{1b}[31m",
            "time": time(inserted), "may_be_older": false,
        });
        assert_eq!((json.len(), &json[1]), (2, &expected));

        // A change that was not recorded.
        let plain = scene.memory_at(scene.store, false);
        plain.insert("/memories/c.md", 0, "theirs\n").unwrap();
        let shown = scene.well(&["blame", scene.store, "/memories/c.md"]);
        let line = shown.lines().next().unwrap();
        assert!(line.starts_with("^------------  -  ") && line.ends_with("  1  theirs"), "{line}");
        for (path, sentence) in [
            ("/memories/other.md", "there is no file /memories/other.md"),
            ("/memories", "there is no file /memories"),
            ("notes", "PATH is wrong"),
        ] {
            let (code, _, stderr) = scene.run(&["blame", scene.store, path]);
            assert!((code == 1 || code == 2) && stderr.contains(sentence), "{path} {stderr}");
        }
    }
}

#[test]
fn undo_leaves_out_or_merges_what_was_changed_since() {
    for scene in scenes() {
        let [ann, ben] = ["ann", "ben"].map(|actor| scene.memory().acting_as(actor));
        ann.create("/memories/a.md", "1\n2\n3\n4\n5\n").unwrap();
        ann.create("/memories/b.md", "1\n").unwrap();
        let begun = memdir::text::rfc3339(all(&scene.memory())[0].time);
        ann.str_replace("/memories/a.md", "1", "one").unwrap();
        ann.str_replace("/memories/b.md", "1", "one").unwrap();
        ben.str_replace("/memories/a.md", "5", "five").unwrap();
        ben.str_replace("/memories/b.md", "one", "eins").unwrap();
        let versions = all(&scene.memory());
        let (later, change) = (&versions[0], versions[3].change.to_string());
        // Both files were created before that time.
        let since = ["undo", scene.store, "--since", &begun, "--actor", "ann"];
        let (code, _, stderr) = scene.run(&[&since[..], &["--merge"]].concat());
        assert!(code == 1 && stderr.contains("/memories/b.md: changed since by ben"), "{stderr}");
        assert!(!stderr.contains("/memories/a.md"), "{stderr}");

        let merge = ["undo", scene.store, &change, "--merge"];
        let dry = scene.well(&[&merge[..], &["-n"]].concat());
        assert!(dry.starts_with("merged    /memories/a.md\n--- /memories/a.md\n"), "{dry}");
        assert!(dry.contains("\n-one\n+1\n 2\n"), "{dry}");
        assert!(dry.ends_with("\n1 file would be changed\n") && !dry.contains("-five"), "{dry}");
        assert!(scene.well(&["show", scene.store, "/memories/a.md"]).starts_with("one\n"));
        let json = scene.json(&[&merge[..], &["-n"]].concat());
        assert_eq!(json[0]["merged"], "1\n2\n3\n4\nfive\n");

        let both = [&since[..], &["--merge", "--skip-conflicts"]].concat();
        let json = scene.json(&[&both[..], &["-n"]].concat());
        let skipped = json!({
            "type": "skipped", "path": "/memories/b.md", "change": later.change, "actor": "ben",
            "time": memdir::text::rfc3339(later.time),
        });
        assert_eq!(json[1], skipped);
        assert_eq!((&json[2]["files"], &json[2]["skipped"]), (&json!(1), &json!(1)));
        let done = scene.well(&both);
        assert!(done.contains("\nskipped   /memories/b.md: changed since by ben at "), "{done}");
        assert!(done.contains("\n1 file changed, 1 skipped, as change "), "{done}");
        let text = scene.well(&["show", scene.store, "/memories/a.md"]);
        assert_eq!(text, "1\n2\n3\n4\nfive\n");
        assert_eq!(scene.well(&["show", scene.store, "/memories/b.md"]), "eins\n");
    }
}

#[test]
fn log_is_narrowed_by_path_actor_time_number_and_place() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        assert_eq!(ids(&scene, &["/memories/notes"]), [&every[0][..], &every[2]]);
        assert_eq!(ids(&scene, &["/memories/c.md"]), [&every[1][..], &every[3], &every[4]]);
        assert_eq!(ids(&scene, &["--actor", "ann"]), [&every[0][..], &every[3], &every[4]]);
        assert_eq!(ids(&scene, &["-n", "2"]), every[..2]);
        assert_eq!(ids(&scene, &["-n", "2", "--before", &every[1]]), every[2..4]);
        assert_eq!(ids(&scene, &["--since", "1h"]), every);
        assert_eq!(ids(&scene, &["--since", "0s"]), [""; 0]);
        // A printed time is exactly that of its version.
        let log = scene.json(&["log", scene.store]);
        let time = log[2]["time"].as_str().unwrap();
        assert_eq!(ids(&scene, &["--since", time]), every[..3]);
    }
}

#[test]
fn a_time_without_a_zone_is_in_the_zone_of_this_computer() {
    let scene = scenes().remove(0);
    changed(&scene);
    let log = scene.json(&["log", scene.store]);
    let time = log[2]["time"].as_str().unwrap();
    let (micros, zone) = time.split_at(time.len() - 1);
    assert_eq!(zone, "Z");
    let counted = |time: &str, zone: &str| {
        let mut command = scene.command(&["log", scene.store, "--since", time]);
        let (code, stdout, stderr) = program::said(&command.env("TZ", zone).output().unwrap());
        assert_eq!(code, 0, "{stderr}");
        stdout.lines().count()
    };
    // Clocks there are a day ahead of UTC, or behind. In another zone the same text is in the future, or long ago.
    assert_eq!(counted(micros, "UTC0"), 3);
    assert_eq!(counted(micros, "<-23>+23"), 0);
    assert_eq!(counted(micros, "<+23>-23"), 5);
    for zone in ["UTC0", "<-23>+23", "<+23>-23"] {
        assert_eq!(counted(time, zone), 3, "{zone}");
        assert_eq!(counted("yesterday", zone), 5, "{zone}");
    }
    // An unknown zone is an error where it matters.
    assert_eq!((counted(time, "Nonsense"), counted("-2h", "Nonsense")), (3, 5));
    let mut command = scene.command(&["log", scene.store, "--since", "yesterday"]);
    let (code, _, stderr) = program::said(&command.env("TZ", "Nonsense").output().unwrap());
    assert!(code == 2 && stderr.contains("TZ names no time zone"), "{stderr}");
}

#[test]
fn a_value_that_begins_with_a_hyphen_is_taken_for_a_value() {
    let scene = scenes().remove(0);
    changed(&scene);
    for arguments in [
        &["log", scene.store, "--since", "-2x"][..],
        &["log", scene.store, "--limit", "-1"],
        &["tree", scene.store, "--depth", "-1"],
        &["tree", scene.store, "--at", "-x"],
        &["grep", scene.store, "x", "-C", "-1"],
        &["stats", scene.store, "--max-files", "-1"],
        &["expire", scene.store, "--after", "-1"],
        &["undo", scene.store, "--since", "-1"],
        &["put", scene.store, "/memories/x", "--max-files", "-1"],
        &["put", scene.store, "/memories/x", "--lock-timeout", "-1s"],
    ] {
        let (code, _, stderr) = scene.run(arguments);
        assert!(code == 2 && !stderr.contains("unexpected argument"), "{arguments:?} {stderr}");
    }
    assert_eq!(scene.well(&["log", scene.store, "--since", "-1h"]).lines().count(), 5);
}

#[test]
fn log_and_diff_show_what_each_change_did() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        let log = scene.well(&["log", scene.store, "-p", "--actor", "ann"]);
        let diff = "--- /memories/a.md\n+++ /memories/a.md\n@@ -1 +1 @@\n-one\n+two\n";
        assert!(log.contains(&format!("/memories/a.md\n{diff}\n")), "{log}");
        assert!(log.contains("--- /memories/notes/b.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"));
        assert_eq!(scene.well(&["diff", scene.store, &every[3]]), diff);
        let other = "--- /memories/a.md\n+++ /memories/c.md\n@@ -1 +1 @@\n-one\n+two\n";
        assert_eq!(scene.well(&["diff", scene.store, &every[4], &every[1]]), other);
        let json = scene.json(&["diff", scene.store, &every[3]]);
        let expected = json!({"type": "diff", "id": every[3], "other": null, "diff": diff});
        assert_eq!(json, [expected]);
        let json = scene.json(&["log", scene.store, "-p"]);
        assert_eq!(json[3]["diff"], diff);
        assert_eq!(scene.well(&["show", scene.store, "--version", &every[4]]), "one\n");
        let json = scene.json(&["show", scene.store, "--version", &every[4]]);
        let expected = json!({"type": "version", "id": every[4], "size": 4, "content": "one\n"});
        assert_eq!(json, [expected]);
        let (code, stdout, stderr) = scene.run(&["show", scene.store, "--version", &every[0]]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.contains("it is the deletion of the file"), "{stderr}");
    }
}

#[test]
fn an_id_may_be_shortened_to_what_no_other_has() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        let version = &every[4];
        let show = |id: &str| scene.run(&["show", scene.store, "--version", id]);
        let well = (0, "one\n".to_owned(), String::new());
        let digits = version.replace('-', "");
        for id in [
            version.clone(),
            version.to_uppercase(),
            digits.clone(),
            digits[16..].to_owned(),
            version[24..].to_owned(),
            // The id of the change, which made only this version.
            digits[..26].to_owned(),
            format!("{}000000", &digits[..26]),
        ] {
            assert_eq!(show(&id), well, "{id}");
        }
        let (code, stdout, stderr) = show(&digits[..6]);
        assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
        assert!(stderr.contains(&format!("memdir: {version}\n")), "{stderr}");
        assert!(stderr.ends_with("stands for each of these ids: give more digits\n"), "{stderr}");
        for (id, code, says) in [
            (&digits[27..], 2, "at least 6 digits"),
            ("yesterday", 2, "ID is wrong"),
            (&format!("{digits}0"), 2, "ID is wrong"),
            ("", 2, "ID is wrong"),
            ("0123456789abcdef", 1, "no version or change 0123456789abcdef"),
        ] {
            let (found, _, stderr) = show(id);
            assert!(found == code && stderr.contains(says), "{id}: {found} {stderr}");
        }
        // All versions of a change, by the id of the change.
        let memory = scene.memory();
        memory.create("/memories/d/1", "1").unwrap();
        memory.create("/memories/d/2", "2").unwrap();
        memory.delete("/memories/d").unwrap();
        let change = all(&memory)[0].change.to_string();
        assert_eq!(scene.well(&["diff", scene.store, &change]).matches("+++ /dev/null").count(), 2);
        let (code, _, stderr) = scene.run(&["show", scene.store, "--version", &change]);
        assert!(code == 1 && stderr.contains("this change made 2 versions"), "{stderr}");
    }
}

#[test]
fn restore_brings_back_a_version_but_not_over_later_changes() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        let restored = scene.well(&["restore", scene.store, &every[0], "--as", "carla"]);
        let change: HistoryId = restored.trim_end().rsplit(' ').next().unwrap().parse().unwrap();
        assert_eq!(
            restored,
            format!("created   /memories/notes/b.md\n1 file changed, as change {change}\n")
        );
        let newest = scene.json(&["log", scene.store, "-n1"]).remove(0);
        assert_eq!(newest["actor"], "carla");
        assert_eq!(newest["operation"], "restored");
        assert_eq!(scene.well(&["show", scene.store, "/memories/notes/b.md"]), "b\n");

        let older = ["restore", scene.store, &every[4]];
        // The newest change of the file.
        let versions = all(&scene.memory());
        let later = versions.iter().find(|version| version.path.as_str() == "/memories/c.md");
        let (change, time) = (later.unwrap().change, memdir::text::rfc3339(later.unwrap().time));
        let stderr = format!(
            "memdir: /memories/c.md: changed since by bob\\u{{1b}}[31m at {time}, as change {change}\n\
             memdir: nothing was changed, as 1 path was changed since: --overwrite replaces what is there\n"
        );
        assert_eq!(scene.run(&older), (1, String::new(), stderr));
        let (code, stdout, _) = scene.run(&[&older[..], &["--json"]].concat());
        let conflict = json!({
            "type": "conflict", "path": "/memories/c.md", "change": change, "actor": "bob\u{1b}[31m",
            "time": time,
        });
        assert_eq!((code, program::lines(&stdout)), (1, vec![conflict]));
        let json = scene.json(&[&older[..], &["--overwrite"]].concat());
        let file = json!({
            "type": "file", "operation": "modified", "path": "/memories/c.md", "old_path": null,
        });
        assert_eq!(json[0], file);
        assert_eq!((&json[1]["files"], &json[1]["dry_run"]), (&json!(1), &json!(false)));
        assert_eq!(scene.well(&["show", scene.store, "/memories/c.md"]), "one\n");
        assert_eq!(scene.json(&["log", scene.store, "-n1"])[0]["actor"], "memdir");
        assert_eq!(scene.well(&[&older[..], &["--overwrite"]].concat()), "nothing to change\n");
    }
}

#[test]
fn undo_takes_back_a_change_or_all_since_a_time() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        let before = scene.well(&["show", scene.store, "/memories/c.md"]);
        let undo = ["undo", scene.store, &every[1]];
        let dry = scene.well(&[&undo[..], &["--dry-run"]].concat());
        assert_eq!(dry, "renamed   /memories/a.md from /memories/c.md\n1 file would be changed\n");
        assert_eq!(scene.well(&["show", scene.store, "/memories/c.md"]), before);
        let later = &all(&scene.memory())[1];
        let (change, time) = (later.change, memdir::text::rfc3339(later.time));
        let stderr = format!(
            "memdir: /memories/c.md: changed since by bob\\u{{1b}}[31m at {time}, as change {change}\n\
             memdir: nothing was changed, as 1 path was changed since: --skip-conflicts undoes the rest, --merge keeps later \
             changes of other lines\n"
        );
        let refused = scene.run(&["undo", scene.store, &every[3]]);
        assert_eq!(refused, (1, String::new(), stderr));
        assert!(scene.well(&undo).starts_with("renamed   /memories/a.md from /memories/c.md\n"));
        assert_eq!(scene.well(&["show", scene.store, "/memories/a.md"]), "two\n");

        let since = ["undo", scene.store, "--since", "1h"];
        let dry = scene.json(&[&since[..], &["--actor", "nobody", "-n"]].concat());
        let summary = json!({
            "type": "summary", "change": null, "files": 0, "skipped": 0, "dry_run": true,
        });
        assert_eq!(dry, [summary]);
        assert!(scene.well(&since).starts_with("deleted   /memories/a.md\n1 file changed"));
        assert!(scene.well(&["tree", scene.store]).contains(", 0 files,"));
    }
}

#[test]
fn restore_all_and_tree_and_show_know_what_was_there() {
    for scene in scenes() {
        // It has not changed since the history began.
        let plain = scene.memory_at(scene.store, false);
        plain.create("/memories/old.md", "old\n").unwrap();
        changed(&scene);
        let log = scene.json(&["log", scene.store]);
        let at = log[2]["time"].as_str().unwrap();
        let tree = |arguments: &[&str]| {
            let tree = scene.well(&[&["tree", scene.store][..], arguments].concat());
            // The ages depend on the duration of the test.
            let line = |line: &str| match line.split_once("s  ") {
                Some((age, name)) => format!("{}  {name}\n", &age[..7]),
                None => format!("{line}\n"),
            };
            tree.lines().map(line).collect::<String>()
        };
        assert_eq!(
            tree(&["--at", at]),
            "               /memories
     4B  ├── a.md
               ├── notes
     2B  │   └── b.md
     4B  └── old.md

2 directories, 3 files, 10B\n"
        );
        let json = scene.json(&["tree", scene.store, "--at", at]);
        assert_eq!((&json[1]["path"], &json[1]["size"]), (&json!("/memories/a.md"), &json!(4)));
        let show = |path: &str, at: &str| scene.run(&["show", scene.store, path, "--at", at]);
        assert_eq!(show("/memories/a.md", at).1, "two\n");
        assert_eq!(show("/memories/old.md", at).1, "old\n");
        assert_eq!(show("/memories/a.md", log[4]["time"].as_str().unwrap()).1, "one\n");
        let (code, stdout, stderr) = show("/memories/a.md", "0s");
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.starts_with("memdir: /memories/a.md: not found at 20"), "{stderr}");
        let (code, stdout, _) = scene.run(&["tree", scene.store, "/memories/none", "--at", at]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(scene.well(&["tree", scene.store, "--at", "1d"]).contains(" 0 files,"));

        let all = ["restore", scene.store, "--all", "--at", at];
        let dry = scene.well(&[&all[..], &["--dry-run"]].concat());
        let would =
            "renamed   /memories/a.md from /memories/c.md\ncreated   /memories/notes/b.md\n";
        assert_eq!(dry, format!("{would}2 files would be changed\n"));
        assert!(scene.well(&all).starts_with(would));
        assert_eq!(tree(&[]), tree(&["--at", at]));
    }
}

#[test]
fn redact_removes_a_content_for_good() {
    for scene in scenes() {
        changed(&scene);
        let every = ids(&scene, &[]);
        let redact =
            ["redact", scene.store, &every[4], "--reason", "a \u{1b}secret", "--as", "dpo"];
        let redacted = scene.well(&redact);
        assert!(redacted.starts_with("redacted, as change 0"), "{redacted}");
        assert_eq!(scene.well(&redact), "nothing was left to redact\n");
        let (code, _, stderr) = scene.run(&["show", scene.store, "--version", &every[4]]);
        assert_eq!(
            (code, stderr.as_str()),
            (1, "memdir: the content was redacted: a \\u{1b}secret\n")
        );
        let log = scene.well(&["log", scene.store, "-p"]);
        assert!(log.contains("(redacted: a \\u{1b}secret)\nredacted: a \\u{1b}secret\n"), "{log}");
        // The line of the redaction names its version.
        let about = format!(" version {}", every[4]);
        assert!(log.lines().next().unwrap().contains(&about), "{log}");
        let newest = scene.json(&["log", scene.store, "-n1"]).remove(0);
        assert_eq!((&newest["operation"], &newest["actor"]), (&json!("redacted"), &json!("dpo")));
        assert_eq!(newest["redacts"], json!(every[4]));
        let (code, _, stderr) =
            scene.run(&["redact", scene.store, &every[1], "--reason", "no longer"]);
        assert_eq!(code, 1);
        assert!(stderr.contains("/memories/c.md has this content now"), "{stderr}");
    }
}

#[test]
fn check_reads_the_history_too() {
    for scene in scenes() {
        changed(&scene);
        let checked = scene.well(&["check", scene.store]);
        assert_eq!(checked, "1 directory and 1 file read, 4B, 5 versions: no problems\n");
        assert_eq!(scene.json(&["check", scene.store])[0]["versions"], 5);
    }
    // A byte of a content that only the history has.
    let scene = scenes().remove(0);
    changed(&scene);
    let log = scene.place.path().join("m/history/active");
    let mut bytes = fs::read(&log).unwrap();
    let at = bytes.windows(6).rposition(|window| window == b"onetwo").unwrap();
    bytes[at] ^= 1;
    fs::write(&log, bytes).unwrap();
    let (code, stdout, stderr) = scene.run(&["check", scene.store]);
    assert_eq!((code, stderr.as_str()), (1, ""), "{stdout}");

    assert!(stdout.contains("the history: "), "{stdout}");
}

#[test]
fn the_files_of_a_journal_are_no_files_of_the_memory() {
    for scene in scenes() {
        changed(&scene);
        for arguments in
            [&["tree", scene.store, "--all"][..], &["tree", scene.store, "-a", "--json"]]
        {
            assert!(!scene.well(arguments).contains(".memdir-history"), "{}", scene.store);
        }
        let (code, _, stderr) =
            scene.run(&["tree", scene.store, "/memories/.memdir-history", "--all"]);
        assert_eq!(code, 1, "{stderr}");
    }
}

#[test]
fn without_a_history_it_is_said_so() {
    for scene in scenes() {
        scene.memory_at(scene.store, false).create("/memories/a.md", "one\n").unwrap();
        let id = "01990a3c-7c00-7123-8456-789abc000001";
        for arguments in [
            &["log", scene.store][..],
            &["diff", scene.store, id],
            &["show", scene.store, "--version", id],
            &["show", scene.store, "/memories/a.md", "--at", "1h"],
            &["tree", scene.store, "--at", "1h"],
            &["restore", scene.store, id],
            &["undo", scene.store, "--since", "1h"],
            &["redact", scene.store, id, "--reason", "none"],
            &["log", scene.store, "--format", "git-fast-import"],
        ] {
            let (code, stdout, stderr) = scene.run(arguments);
            assert_eq!((code, stdout.as_str()), (1, ""), "{arguments:?}");
            let expected = format!("memdir: {} has no history: ", scene.store);
            assert!(stderr.starts_with(&expected), "{arguments:?} {stderr}");
        }
        assert_eq!(
            scene.well(&["check", scene.store]),
            "1 directory and 1 file read, 4B: no problems\n"
        );
        assert!(!scene.place.path().join("m/history").exists());
    }
}

#[test]
fn wrong_arguments_are_explained() {
    let scene = scenes().remove(0);
    changed(&scene);
    for (arguments, says) in [
        (&["log", "m", "--since", "soon"][..], "how long ago"),
        (&["log", "m", "--since", "25:00"], "a time such as 14:30, yesterday 9:00"),
        (&["log", "m", "notes"], "PATH is wrong"),
        (&["log", "m", "-p", "--format", "git-fast-import"], "cannot be used with"),
        (&["restore", "m"], "<ID|--all>"),
        (&["restore", "m", "--all"], "--at <TIME>"),
        (&["restore", "m", "0123456789", "--all", "--at", "1h"], "cannot be used with"),
        (&["undo", "m"], "<CHANGE|--since <TIME>>"),
        (&["undo", "m", "--actor", "ann"], "required"),
        (&["redact", "m", "0123456789"], "--reason <TEXT>"),
        (&["redact", "m", "0123456789", "--reason", ""], "--reason <TEXT>"),
        (&["show", "m"], "<PATH>"),
        (&["show", "m", "/memories/a.md", "--version", "0123456789"], "cannot be used with"),
        (&["diff", "m", "redis://me:hunter2@h"], "ID is wrong"),
        (&["log", "m", "--since", "redis://me:hunter2@h"], "how long ago"),
    ] {
        let (code, stdout, stderr) = scene.run(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(says) && !stderr.contains("hunter2"), "{arguments:?}: {stderr}");
    }
    for command in ["log", "diff", "restore", "undo", "redact", "show", "tree", "check", "copy"] {
        let help = scene.well(&[command, "--help"]);
        assert!(help.contains("Example"), "{help}");
        let long = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(long, None);
    }
}

#[test]
fn what_somebody_else_did_is_a_version_too() {
    for scene in scenes() {
        changed(&scene);
        let plain = scene.memory_at(scene.store, false);
        let path = MemoryPath::parse("/memories/c.md").unwrap();
        plain.store().write(&path, b"else\n", OnExisting::Overwrite).unwrap();
        scene.memory().str_replace("/memories/c.md", "else", "more").unwrap();
        let log = scene.json(&["log", scene.store, "-n2"]);
        let operations: Vec<&Value> = log.iter().map(|version| &version["operation"]).collect();
        assert_eq!(operations, ["modified", "external"]);
        let id = log[1]["id"].as_str().unwrap();
        assert_eq!(scene.well(&["show", scene.store, "--version", id]), "else\n");
    }
}

#[test]
fn who_stops_reading_ends_it_quietly() {
    let scene = scenes().remove(0);
    scene.memory().create("/memories/a.md", &"a line\n".repeat(1 << 20)).unwrap();
    let id = ids(&scene, &[]).remove(0);
    for arguments in [
        &["log", "m", "-p"][..],
        &["log", "m", "-p", "--json"],
        &["log", "m", "--format", "git-fast-import"],
        &["diff", "m", &id],
        &["show", "m", "--version", &id],
        &["show", "m", "/memories/a.md", "--at", "0s"],
    ] {
        let mut command = scene.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 100]).unwrap();
        let ended = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*stderr), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn erase_removes_the_files_and_the_history_if_it_is_told_to() {
    for scene in scenes() {
        changed(&scene);
        // It cannot ask for confirmation here.
        let (code, stdout, stderr) = scene.run(&["erase", scene.store]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.contains("1 file (4B) and 5 versions ("), "{stderr}");
        assert!(stderr.ends_with("--yes removes that for good\n"), "{stderr}");
        let counted = scene.well(&["erase", scene.store, "--dry-run"]);
        assert!(counted.ends_with(") would be erased\n"), "{counted}");
        assert_eq!(all(&scene.memory()).len(), 5);

        let told = scene.json(&["erase", scene.store, "--yes"]);
        assert_eq!(told.len(), 1);
        assert_eq!((&told[0]["type"], &told[0]["dry_run"]), (&json!("summary"), &json!(false)));
        let counts = ["files", "bytes", "versions"].map(|name| told[0][name].as_u64().unwrap());
        assert_eq!(counts, [1, 4, 5]);
        assert_eq!(all(&scene.memory()), []);
        assert_eq!(scene.run(&["log", scene.store]).0, 1);
        let nothing = scene.well(&["erase", scene.store, "--yes"]);
        assert_eq!(nothing, "0 files (0B) and 0 versions (0B) erased\n");
    }
}

#[test]
fn redact_with_a_text_names_the_versions_and_redacts_them_if_it_is_told_to() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create("/memories/a.md", "key: hunter2\n").unwrap();
        memory.insert("/memories/a.md", 0, "first\n").unwrap();
        let redact =
            ["redact", scene.store, "--text", "HUNTER2", "--ignore-case", "--reason", "a key"];
        let (code, stdout, stderr) = scene.run(&redact);
        let named: Vec<&str> =
            stdout.lines().map(|line| line.split_once("  ").unwrap().1).collect();
        assert_eq!((code, &named[..]), (1, &["/memories/a.md", "/memories/a.md"][..]));
        assert!(stderr.contains("/memories/a.md: has the text now"), "{stderr}");
        memory.delete("/memories/a.md").unwrap();

        let told = scene.well(&redact);
        assert!(told.ends_with("\n2 versions would be redacted: --yes does it\n"), "{told}");
        let versions = all(&memory);
        let told = scene.json(&[&redact[..], &["--yes"]].concat());
        let kinds: Vec<&Value> = told.iter().map(|object| &object["type"]).collect();
        assert_eq!(kinds, ["version", "version", "summary"]);
        assert_eq!((&told[2]["versions"], &told[2]["dry_run"]), (&json!(2), &json!(false)));
        assert_eq!(told[2]["change"], all(&memory)[0].change.to_string());
        assert_eq!(told[0]["id"], versions[1].id.to_string());
        let again = scene.memory();
        for version in &versions[1..] {
            assert_eq!(
                again.read_version(version.id).unwrap_err().kind(),
                Some(HistoryErrorKind::Redacted)
            );
        }
        assert_eq!(scene.well(&[&redact[..], &["--yes"]].concat()), "nothing was left to redact\n");

        memory.create("/memories/acme/deal.md", "one\n").unwrap();
        memory.delete("/memories/acme").unwrap();
        memory.create("/memories/b-acme.md", "two\n").unwrap();
        let redact = ["redact", scene.store, "--text", "acme", "--reason", "a client"];
        let (code, stdout, stderr) = scene.run(&redact);
        let expected = "name  /memories/acme/deal.md\n0 versions and 1 name would be redacted: --yes does it\n";
        assert_eq!((code, stdout.as_str()), (0, expected));
        assert!(
            stderr.contains("/memories/b-acme.md: is there now, so it keeps its name"),
            "{stderr}"
        );
        let told = scene.json(&[&redact[..], &["--yes"]].concat());
        let kinds: Vec<&Value> = told.iter().map(|object| &object["type"]).collect();
        assert_eq!(kinds, ["name", "kept-name", "summary"]);
        assert_eq!(
            (&told[0]["path"], &told[1]["path"]),
            (&json!("/memories/acme/deal.md"), &json!("/memories/b-acme.md"))
        );
        assert_eq!((&told[2]["names"], &told[2]["versions"]), (&json!(1), &json!(0)));
        assert!(!scene.well(&["log", scene.store]).contains("acme/"));
        let (code, stdout, _) = scene.run(&[&redact[..], &["--yes"]].concat());
        assert_eq!((code, stdout.as_str()), (0, "nothing was left to redact\n"));
        for wrong in
            [&["--yes"][..], &["--text", "a", "0123456"], &["0123456", "--regex"], &["--text", ""]]
        {
            let given = [&["redact", scene.store, "--reason", "x"], wrong].concat();
            assert_eq!(scene.run(&given).0, 2, "{wrong:?}");
        }
    }
}
