//! `memdir sync`: what it prints, its exit codes, and memories that do not exist yet.
#![cfg(all(unix, feature = "sqlite"))]

use std::fs;
use std::path::Path;

use crate::common::program;
use memdir::history::HistoryQuery;
use memdir::{Memory, MemoryOptions};

/// Runs the program, and returns its exit code and both outputs.
fn run(place: &Path, arguments: &[&str]) -> (i32, String, String) {
    program::run(place, arguments)
}

fn put(place: &Path, memory: &str, file: &str, text: &str) {
    let path = place.join(memory).join("memories").join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn read(place: &Path, memory: &str, file: &str) -> String {
    fs::read_to_string(place.join(memory).join("memories").join(file)).unwrap()
}

fn files(place: &Path, memory: &str) -> Vec<String> {
    let (code, stdout, stderr) = run(place, &["tree", memory, "--json"]);
    assert_eq!(code, 0, "{stderr}");
    let lines = stdout.lines().filter_map(|line| {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        entry["size"].is_number().then(|| entry["path"].as_str().unwrap().to_owned())
    });
    lines.collect()
}

#[test]
fn two_memories_become_equal_and_a_missing_one_is_created() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one", "notes.md", "a\nb\nc\n");
    put(place, "one", "list.md", "1\n");
    let (code, stdout, stderr) = run(place, &["sync", "one", "sqlite:two.db"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(stdout, "created   -> /memories/list.md\ncreated   -> /memories/notes.md\n");
    assert_eq!(files(place, "sqlite:two.db").len(), 2);
    // Changes of both sides, named the other way round.
    put(place, "one", "notes.md", "A\nb\nc\n");
    run(place, &["rm", "sqlite:two.db", "/memories/list.md", "--yes"]);
    let (code, ..) = run(place, &["put", "sqlite:two.db", "/memories/new.md", "--text", "new\n"]);
    assert!(code <= 2);
    let (code, stdout, stderr) = run(place, &["sync", "sqlite:two.db", "one"]);
    assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
    assert!(stdout.contains("replaced  <- /memories/notes.md\n"), "{stdout}");
    let again = run(place, &["sync", "one", "sqlite:two.db"]);
    assert_eq!(again, (0, String::new(), String::new()));
}

#[test]
fn a_dry_run_prints_the_same_lines_and_changes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one", "a.md", "a\n");
    let (code, stdout, _) = run(place, &["sync", "one", "two", "--dry-run"]);
    assert_eq!(code, 0);
    assert_eq!(
        stdout,
        "created   -> /memories/a.md\n1 change would be made, 0 files the same already\n"
    );
    assert!(!place.join("two").exists());
    assert!(!place.join("one/memories/.memdir-sync").exists());
}

#[test]
fn a_conflict_keeps_both_contents_and_is_an_exit_code() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one", "tea.md", "green\n");
    run(place, &["sync", "one", "two"]);
    put(place, "one", "tea.md", "black\n");
    put(place, "two", "tea.md", "white\n");
    let (code, _, stderr) = run(place, &["sync", "one", "two"]);
    assert_eq!(code, 1);
    let start = "memdir: conflict: /memories/tea.md was changed in both, and the other content is in \
                 /memories/tea (conflict from two ";
    assert!(stderr.starts_with(start), "{stderr}");
    assert_eq!(files(place, "one"), files(place, "two"));
    assert_eq!((read(place, "one", "tea.md"), files(place, "one").len()), ("black\n".into(), 2));
    // JSON has the same facts.
    put(place, "one", "tea.md", "one\n");
    put(place, "two", "tea.md", "two\n");
    let (code, stdout, stderr) = run(place, &["sync", "one", "two", "--json"]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    let objects: Vec<serde_json::Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = objects.iter().map(|object| object["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["change", "change", "change", "conflict", "summary"]);
    assert_eq!(
        (&objects[3]["path"], &objects[3]["side"]),
        (&"/memories/tea.md".into(), &"b".into())
    );
    assert_eq!((&objects[4]["conflicts"], &objects[4]["has_baseline"]), (&1.into(), &true.into()));
    // The option decides.
    put(place, "one", "tea.md", "1\n");
    put(place, "two", "tea.md", "2\n");
    let (code, ..) = run(place, &["sync", "one", "two", "--on-conflict", "b"]);
    assert_eq!((code, read(place, "one", "tea.md")), (0, "2\n".into()));
}

#[test]
fn too_many_deletions_stop_a_sync() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    for number in 0..20 {
        put(place, "one", &format!("{number}.md"), "x\n");
    }
    run(place, &["sync", "one", "two"]);
    for number in 0..10 {
        fs::remove_file(place.join(format!("one/memories/{number}.md"))).unwrap();
    }
    let (code, stdout, stderr) = run(place, &["sync", "one", "two"]);
    assert_eq!((code, stdout.as_str()), (4, ""));
    let sentence = "memdir: nothing was changed, as 10 of the 20 files of two would be deleted: they are gone from \
                    the other memory. --dry-run --delete lists them, and --delete deletes them\n";
    assert_eq!(stderr, sentence);
    assert_eq!(files(place, "two").len(), 20);
    let (code, stdout, _) = run(place, &["sync", "one", "two", "--delete"]);
    assert_eq!((code, stdout.lines().count()), (0, 10));
}

#[test]
fn options_leave_files_as_they_are() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one", "private/a.md", "a\n");
    put(place, "one", "large.md", &"x\n".repeat(100));
    put(place, "one", "b.md", "b\n");
    put(place, "two", "own.md", "own\n");
    let (code, stdout, stderr) = run(
        place,
        &[
            "sync",
            "one",
            "two",
            "--one-way",
            "--exclude",
            "/memories/private",
            "--max-file-bytes",
            "50",
        ],
    );
    assert_eq!((code, stdout.as_str()), (1, "created   -> /memories/b.md\n"));
    assert_eq!(
        stderr,
        "memdir: left out: /memories/large.md: the file is larger than the sync allows\n\
         memdir: left out: /memories/own.md: the memory has a change of its own, and the sync goes one way\n"
    );
}

#[test]
fn wrong_memories_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one", "a.md", "a\n");
    let (code, _, stderr) = run(place, &["sync", "one", "one"]);
    assert_eq!(code, 2, "{stderr}");
    let (code, _, stderr) = run(place, &["sync", "none", "nothing"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("there is no memory at none"), "{stderr}");
    assert!(!place.join("none").exists() && !place.join("nothing").exists());
    let (code, ..) = run(place, &["sync", "none", "one", "--one-way"]);
    assert_eq!(code, 3);
}

#[test]
fn redactions_are_taken_over_on_request() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let recorded = |address: &str| {
        let mut options = MemoryOptions::default();
        options.history = true;
        Memory::open(address, options).unwrap()
    };
    let one = recorded(place.join("one").to_str().unwrap());
    let two = recorded(&format!("sqlite:{}", place.join("two.db").display()));
    let done = |arguments: &[&str]| {
        let (code, stdout, stderr) = run(place, arguments);
        assert_eq!(code, 0, "{arguments:?}: {stdout}{stderr}");
        (stdout, stderr)
    };
    let redact = |text: &str| {
        done(&["redact", "one", "--text", text, "--reason", "a password", "--yes"]);
    };
    one.write("/memories/db.md", "password: hunter2\n", None).unwrap();
    two.write("/memories/tea.md", "green\n", None).unwrap();
    done(&["sync", "one", "sqlite:two.db"]);
    one.write("/memories/db.md", "in the vault\n", None).unwrap();
    redact("hunter2");
    let (stdout, stderr) = done(&["sync", "one", "sqlite:two.db"]);
    assert_eq!(stdout, "replaced  -> /memories/db.md\n");
    let counted = "1 version is redacted in one history only: --redactions takes that over";
    assert_eq!(stderr, format!("memdir: {counted}\n"));
    let (stdout, stderr) = done(&["sync", "one", "sqlite:two.db", "--redactions"]);
    assert!(stdout.starts_with("redacted  -> /memories/db.md, version "), "{stdout}");
    assert_eq!(stderr, "");
    let of_two = two.history(&HistoryQuery::default()).unwrap();
    assert!(of_two.iter().any(|version| version.redacted.as_deref() == Some("a password")));
    assert_eq!(done(&["sync", "one", "sqlite:two.db", "--redactions"]).0, "");
    // A content that a file has now is kept, and the exit code says so.
    one.write("/memories/a.md", "secret\n", None).unwrap();
    done(&["sync", "one", "sqlite:two.db"]);
    one.write("/memories/a.md", "open\n", None).unwrap();
    redact("secret");
    two.write("/memories/b.md", "secret\n", None).unwrap();
    let arguments = ["sync", "one", "sqlite:two.db", "--redactions", "--one-way", "--json"];
    let (code, stdout, stderr) = run(place, &arguments);
    assert_eq!(code, 1, "{stdout}{stderr}");
    assert!(stdout.contains("\"details\":\"/memories/b.md has this content now\""), "{stdout}");
    // A memory without a history.
    let (code, _, stderr) = run(place, &["sync", "one", "sqlite:new.db", "--redactions"]);
    let sentence = "no redactions are taken over, because sqlite:new.db has no history";
    assert_eq!((code, stderr), (1, format!("memdir: {sentence}\n")));
}
