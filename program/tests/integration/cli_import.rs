//! `memdir import` of existing notes: a directory or a text file. `cli_import_tar` tests tar files.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use crate::common::import::{files, notes, of_type, tar};
use crate::common::program::{NO_MEMORY, lines, memdir, run, said, well};
use memdir::history::{HistoryQuery, Operation};
use memdir::{Memory, MemoryOptions};
use serde_json::json;

const ALL: [&str; 4] = [
    "/memories/drinks/tea.md",
    "/memories/drinks/été.txt",
    "/memories/CLAUDE.md",
    "/memories/empty.md",
];

#[test]
fn a_directory_is_previewed_imported_and_imported_again() {
    for store in ["m", "dir:m", "sqlite:m.db"] {
        let place = notes();
        let place = place.path();
        let preview = well(place, &["import", "notes", store, "--dry-run"]);
        assert_eq!(preview.matches("created").count(), 4, "{preview}");
        assert!(preview.ends_with("4 files (29B) would be imported, 0 unchanged, 0 left out\n"));
        assert_eq!(run(place, &["tree", store]).0, 3, "a preview made something");

        let done = well(place, &["import", "notes", store]);
        assert_eq!(done.replace("would be ", ""), preview.replace("would be ", ""));
        let mut there = files(place, store);
        there.sort();
        let mut expected = ALL.map(str::to_owned).to_vec();
        expected.sort();
        assert_eq!(there, expected, "{store}");
        assert_eq!(well(place, &["show", store, "/memories/drinks/tea.md"]), "green\n");

        let again = lines(&well(place, &["import", "notes", store, "--json"]));
        let kinds: Vec<_> =
            of_type(&again, "file").iter().map(|it| it["operation"].clone()).collect();
        assert_eq!(kinds, vec![json!("unchanged"); 4], "{store}");
        let summary = of_type(&again, "summary")[0];
        assert_eq!((&summary["files"], &summary["equal"]), (&json!(0), &json!(4)));
    }
}

#[test]
fn a_single_file_goes_into_the_memory_or_into_a_directory_of_it() {
    for (name, to) in
        [("CLAUDE.md", None), ("AGENTS.md", Some("/memories/rules")), (".rules", None)]
    {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("text"), "Be brief.\n").unwrap();
        // A file given by name is read through a link, because many a CLAUDE.md is a link.
        symlink("text", place.path().join(name)).unwrap();
        let mut arguments = vec!["import", name, "m"];
        arguments.extend(to.iter().flat_map(|to| ["--to", to]));
        well(place.path(), &arguments);
        let path = format!("{}/{name}", to.unwrap_or("/memories"));
        assert_eq!(well(place.path(), &["show", "m", &path]), "Be brief.\n");
        let refused = run(place.path(), &["import", name, "m", "--to", "/elsewhere"]);
        assert_eq!((refused.0, refused.2.contains("--to is wrong")), (2, true), "{refused:?}");
    }
}

#[test]
fn another_content_is_a_conflict_unless_it_is_to_be_overwritten() {
    let place = notes();
    let place = place.path();
    let memory = Memory::open(place.join("m").to_str().unwrap(), MemoryOptions::default()).unwrap();
    memory.create("/memories/CLAUDE.md", "the agent's own\n").unwrap();
    memory.create("/memories/drinks", "a file\n").unwrap();
    let (code, stdout, stderr) = run(place, &["import", "notes", "m"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    let says = [
        "memdir: /memories/drinks/tea.md: the memory has a file where a directory is needed\n",
        "memdir: /memories/CLAUDE.md: the memory has another content there\n",
        "memdir: nothing was imported, as 3 paths are in the way: rename them first, with `memdir mv`\n",
    ];
    assert!(says.iter().all(|sentence| stderr.contains(sentence)), "{stderr}");
    memory.delete("/memories/drinks").unwrap();
    let (code, stdout, stderr) = run(place, &["import", "notes", "m", "--json"]);
    let said = "nothing was imported, as 1 path is in the way: --overwrite would replace it\n";
    assert_eq!((code, stderr.contains(said)), (1, true), "{stderr}");
    let conflict =
        json!({"type": "refused", "path": "/memories/CLAUDE.md", "there": "another-content"});
    let summary = json!({
        "type": "summary", "files": 0, "bytes": 0, "equal": 0, "left_out": 0, "refused": 1, "dry_run": false,
        "change": null,
    });
    assert_eq!(lines(&stdout), [conflict, summary]);
    let (code, stdout, stderr) = run(place, &["import", "notes", "m", "--json", "--dry-run"]);
    let said = said.replace("was imported", "would be imported");
    assert_eq!((code, stderr.contains(&said)), (1, true), "{stderr}");
    let objects = lines(&stdout);
    assert_eq!(
        (of_type(&objects, "file").len(), of_type(&objects, "summary").len()),
        (3, 1),
        "{stdout}"
    );
    assert_eq!(files(place, "m"), ["/memories/CLAUDE.md"]);
    let preview = well(place, &["import", "notes", "m", "--overwrite", "-n"]);
    assert!(preview.contains("overwritten") && preview.contains("4 files"), "{preview}");
    assert_eq!(memory.read("/memories/CLAUDE.md").unwrap(), "the agent's own\n");
    well(place, &["import", "notes", "m", "--overwrite"]);
    assert_eq!(memory.read("/memories/CLAUDE.md").unwrap(), "# Rules\nBe brief.\n");
}

#[test]
fn what_cannot_be_imported_is_named_and_the_rest_is_imported() {
    let place = notes();
    let place = place.path();
    let notes = place.join("notes");
    fs::write(place.join("secret"), "outside\n").unwrap();
    symlink("../secret", notes.join("link.md")).unwrap();
    symlink("..", notes.join("drinks/up")).unwrap();
    let _socket = UnixListener::bind(notes.join("socket")).unwrap();
    fs::write(notes.join("picture.png"), b"\x89PNG\r\n\xff").unwrap();
    fs::write(notes.join("nul.md"), "a\0b").unwrap();
    File::create(notes.join("huge.md")).unwrap().set_len(1 << 40).unwrap();
    fs::write(notes.join(OsStr::from_bytes(b"no\xfftext.md")), "x").unwrap();
    fs::write(notes.join("back\\slash.md"), "x").unwrap();
    fs::write(notes.join(".memdir-encryption"), "{\"format\":\"memdir-encryption\"}").unwrap();
    for hidden in [".git/config", "node_modules/a.md", ".obsidian"] {
        fs::create_dir_all(notes.join(hidden).parent().unwrap()).unwrap();
        fs::write(notes.join(hidden), "x").unwrap();
    }
    symlink("/etc", notes.join(".git/link")).unwrap();
    let (code, stdout, stderr) = run(place, &["import", "notes", "m", "--json"]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    let objects = lines(&stdout);
    let mut left: Vec<(&str, &str)> = of_type(&objects, "left-out")
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["kind"].as_str().unwrap()))
        .collect();
    left.sort_unstable();
    assert_eq!(
        left,
        [
            (".git", "hidden"),
            (".memdir-encryption", "reserved"),
            (".obsidian", "hidden"),
            ("back\\\\slash.md", "bad-name"),
            ("drinks/up", "link"),
            ("huge.md", "too-large"),
            ("link.md", "link"),
            ("no\\xfftext.md", "bad-name"),
            ("node_modules", "hidden"),
            ("nul.md", "not-text"),
            ("picture.png", "not-text"),
            ("socket", "special-file"),
        ]
    );
    assert_eq!(files(place, "m").len(), 4);
    assert_eq!(run(place, &["check", "m"]).0, 0);
    // In the text output as well.
    let (_, _, stderr) = run(place, &["import", "notes", "m"]);
    assert!(
        stderr.contains("memdir: left out: link.md is a symbolic link, which is never followed\n")
    );
    assert!(stderr.contains("memdir: left out: .git is hidden: --all imports it\n"), "{stderr}");
    // Hidden files are not reported as missing, and can be imported.
    for odd in
        ["link.md", "drinks/up", "socket", "picture.png", "nul.md", "huge.md", "back\\slash.md"]
    {
        fs::remove_file(notes.join(odd)).unwrap();
    }
    fs::remove_file(notes.join(OsStr::from_bytes(b"no\xfftext.md"))).unwrap();
    fs::remove_file(notes.join(".memdir-encryption")).unwrap();
    let (code, _, stderr) = run(place, &["import", "notes", "m"]);
    assert_eq!((code, stderr.matches("is hidden").count()), (0, 3), "{stderr}");
    let (code, _, stderr) = run(place, &["import", "notes", "m", "--all"]);
    assert!(code == 0 && stderr.is_empty(), "{stderr}");
    let all = files(place, "m");
    assert!(all.contains(&"/memories/.git/config".to_owned()) && all.len() == 7, "{all:?}");
}

#[test]
fn the_policies_that_are_given_hold_also_for_the_preview() {
    let place = notes();
    let place = place.path();
    fs::write(place.join("notes/db.md"), "url: postgres://app:t7Kq-9zLw2@db/app\n").unwrap();
    let left = |arguments: &[&str]| {
        let arguments = [&["import", "notes", "m", "--json", "-n"], arguments].concat();
        let (_, stdout, _) = run(place, &arguments);
        let objects = lines(&stdout);
        let paths = |kind: &str| {
            let found = of_type(&objects, kind).into_iter();
            found.map(|it| it["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        (
            paths("file").len(),
            paths("left-out"),
            of_type(&objects, "file").iter().any(|it| it["redacted"] == true),
        )
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(left(&[]), (5, names(&[]), false));
    assert_eq!(left(&["--max-file-bytes", "6"]), (3, names(&["CLAUDE.md", "db.md"]), false));
    assert_eq!(left(&["--max-files", "2"]).0, 2);
    assert_eq!(left(&["--max-total-bytes", "11"]).0, 3);
    assert_eq!(left(&["--sensitive-text", "reject"]), (4, names(&["db.md"]), false));
    assert_eq!(left(&["--sensitive-text", "redact"]), (5, names(&[]), true));
    assert_eq!(left(&["--read-only-paths", "/memories/drinks"]).1.len(), 2);
    assert_eq!(left(&["--writable-paths", "/memories/drinks"]).0, 2);
    assert!(!place.join("m").exists());

    let redacting = ["import", "notes", "m", "--sensitive-text", "redact"];
    let done = well(place, &redacting);
    assert!(done.contains("/memories/db.md  (sensitive text is redacted)"), "{done}");
    assert!(!well(place, &["show", "m", "/memories/db.md"]).contains("t7Kq"));
    // The existing files equal those that would be written.
    assert!(well(place, &redacting).contains("0 files (0B) imported, 5 unchanged"));
    // When all files together exceed a limit, the command does what it announced.
    let limited = ["import", "notes", "n", "--max-files", "2", "--json"];
    let (code, stdout, _) = run(place, &limited);
    assert_eq!((code, of_type(&lines(&stdout), "file").len(), files(place, "n").len()), (1, 2, 2));
}

#[test]
fn the_history_says_that_it_was_an_import_and_can_take_it_back() {
    let place = notes();
    let place = place.path();
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(place.join("m").to_str().unwrap(), options).unwrap();
    memory.create("/memories/empty.md", "not yet\n").unwrap();
    let done = well(place, &["import", "notes", "m", "--overwrite", "--as", "Ann"]);
    let mut query = HistoryQuery::default();
    query.actor = Some("Ann".to_owned());
    let versions = memory.history(&query).unwrap();
    assert_eq!(versions.len(), 4);
    assert!(versions.iter().all(|version| version.operation == Operation::Imported));
    assert!(versions.iter().all(|version| version.change == versions[0].change), "one change");
    let change = versions[0].change.to_string();
    assert!(done.ends_with(&format!(", as change {change}\n")), "{done}");
    assert!(well(place, &["log", "m"]).contains("imported"));
    well(place, &["undo", "m", &change]);
    assert_eq!(files(place, "m"), ["/memories/empty.md"]);
    assert_eq!(memory.read("/memories/empty.md").unwrap(), "not yet\n");
    assert!(well(place, &["check", "m"]).ends_with("no problems\n"));
    // With --history it begins one.
    well(place, &["import", "notes", "n", "--history"]);
    assert_eq!(well(place, &["log", "n"]).matches("imported").count(), 4);
}

#[test]
fn a_memory_in_the_layout_of_the_sdks_is_one_again() {
    let place = notes();
    let place = place.path();
    well(place, &["import", "notes", "m", "--history"]);
    let (code, _, stderr) = run(place, &["import", "m", "n"]);
    assert!(code == 0 && stderr.contains("history is a history, which `memdir copy`"), "{stderr}");
    assert_eq!(files(place, "n"), files(place, "m"));
    if tar(place, &["-cf", "m.tar", "-C", "m", "memories"]) {
        well(place, &["import", "m.tar", "o"]);
        assert_eq!(files(place, "o"), files(place, "m"));
    }
}

#[test]
fn a_directory_is_not_imported_into_a_store_within_it() {
    let place = notes();
    let place = place.path();
    let before = fs::read_dir(place.join("notes")).unwrap().count();
    for (from, to) in [
        (".", "m"),
        ("notes", "dir:notes"),
        ("notes/drinks", "dir:notes"),
        ("notes", "sqlite:notes/m.db"),
    ] {
        let (code, stdout, stderr) = run(place, &["import", from, to]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{from} {to}: {stderr}");
        assert!(stderr.contains("one of them is within the other"), "{stderr}");
    }
    assert_eq!(fs::read_dir(place.join("notes")).unwrap().count(), before);
    let (code, _, stderr) = run(place, &["import", "nothing", "m"]);
    assert!(code == 3 && stderr.starts_with("memdir: nothing cannot be read: "), "{stderr}");
    assert!(!place.join("m").exists());
}

#[test]
fn without_policies_a_line_says_so() {
    let place = notes();
    let mut command = memdir(place.path());
    command.args(["import", "notes", "m"]).env_remove("MEMDIR_QUIET");
    let (code, _, stderr) = said(&command.output().unwrap());
    assert!(code == 0 && stderr.starts_with("memdir: no policies are in force"), "{stderr}");
}

#[test]
fn a_source_and_a_store_that_are_the_same_are_refused_however_they_are_spelled() {
    let place = notes();
    let place = place.path();
    symlink("notes", place.join("link")).unwrap();
    symlink("notes/new.db", place.join("dangling.db")).unwrap();
    let absolute = place.join("notes").to_str().unwrap().to_owned();
    let stores = [
        "dir:notes",
        "dir:./missing/../notes",
        "dir:a/b/../../notes/.",
        "dir:link",
        "dir:link/new/below",
        "dir:.",
        "dir:notes/../missing/..",
        "./missing/../notes",
        "sqlite:notes/a.db",
        "sqlite:missing/../notes/a.db",
        "sqlite:dangling.db",
        &format!("dir:{absolute}"),
    ];
    let before = fs::read_dir(place).unwrap().count();
    for store in stores {
        for source in ["notes", "link", "./notes/../link/."] {
            let (code, stdout, stderr) = run(place, &["import", source, store]);
            let is_said = stderr.contains("one of them is within the other");
            assert!(code == 2 && stdout.is_empty() && is_said, "{source} {store} {stderr}");
        }
    }
    assert_eq!(fs::read_dir(place.join("notes")).unwrap().count(), 3);
    assert_eq!(fs::read_dir(place).unwrap().count(), before);
    well(place, &["import", "notes", "dir:missing/../other"]);
}

#[test]
fn a_read_only_memory_takes_no_import_and_its_plan_says_so() {
    let place = notes();
    let place = place.path();
    well(place, &["import", "notes/CLAUDE.md", "there"]);
    for store in ["there", "missing"] {
        for more in [&[][..], &["--dry-run"], &["--json", "-n"]] {
            let (code, stdout, stderr) =
                run(place, &[&["import", "notes", store, "--read-only"], more].concat());
            let said =
                "memdir: nothing was imported, as --read-only forbids every change: leave it out\n";
            assert_eq!((code, stdout.as_str(), stderr.as_str()), (1, "", said), "{store} {more:?}");
        }
    }
    for store in ["missing", "dir:missing", "sqlite:missing.db"] {
        let put = ["put", store, "/memories/a.md", "notes/CLAUDE.md", "--read-only"];
        let (code, _, stderr) = run(place, &put);
        let said = format!("memdir: there is no memory at {store}{NO_MEMORY}\n");
        assert_eq!((code, stderr), (3, said));
    }
    // A directory of files is not a memory in the SDKs' layout.
    let (code, _, stderr) = run(place, &["check", "notes"]);
    let said = "memdir: there is no memory at notes: \"dir:notes\" opens the files of that very directory\n";
    assert_eq!((code, stderr.as_str()), (3, said));
    let (mut read_only, notes) = (MemoryOptions::default(), place.join("notes"));
    read_only.read_only = true;
    let failed = Memory::open(notes.to_str().unwrap(), read_only).unwrap_err().to_string();
    assert!(failed.contains("there is no memory at") && failed.contains("\"dir:"), "{failed}");
}

#[test]
fn what_is_no_text_that_is_missed_is_named_without_an_error() {
    let place = notes();
    let place = place.path();
    fs::create_dir_all(place.join("notes/nothing/below")).unwrap();
    let (code, stdout, stderr) = run(place, &["import", "notes", "m"]);
    assert_eq!(
        (code, stderr.as_str()),
        (0, "memdir: left out: nothing/below is an empty directory\n")
    );
    assert!(stdout.contains("1 left out"), "{stdout}");
    // A memory with a history in the SDKs' layout.
    fs::create_dir_all(place.join("sdk/history")).unwrap();
    fs::create_dir_all(place.join("sdk/memories")).unwrap();
    fs::write(place.join("sdk/history/0"), "x").unwrap();
    fs::write(place.join("sdk/memories/a.md"), "x").unwrap();
    let (code, _, stderr) = run(place, &["import", "sdk", "n"]);
    assert!(code == 0 && stderr.contains("left out: history is a history"), "{stderr}");
    if tar(place, &["-cf", "n.tar", "-C", "notes", "."]) {
        let (code, _, stderr) = run(place, &["import", "n.tar", "o"]);
        assert_eq!(
            (code, stderr.as_str()),
            (0, "memdir: left out: nothing/below is an empty directory\n")
        );
    }
}

#[test]
fn a_path_of_a_file_is_no_directory_to_import_into() {
    let place = notes();
    let place = place.path();
    let (code, _, stderr) =
        run(place, &["import", "notes/CLAUDE.md", "m", "--to", "/memories/notes.MD"]);
    assert!(
        code == 2 && stderr.contains("`memdir put` writes a file at /memories/notes.MD"),
        "{stderr}"
    );
    assert!(!place.join("m").exists());
    well(place, &["import", "notes/CLAUDE.md", "m", "--to", "/memories/v1.0"]);
    well(place, &["import", "notes", "m", "--to", "/memories/notes.md"]);
    let (_, _, stderr) =
        run(place, &["import", "notes", "n", "--max-total-bytes", "1", "--to", "/memories/x"]);
    assert!(
        stderr.contains("was not imported, because") && !stderr.contains("was not changed"),
        "{stderr}"
    );
}
