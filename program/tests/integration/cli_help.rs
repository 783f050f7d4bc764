//! The help of the program `memdir`: its examples run, and its errors say what was probably meant.
#![cfg(all(unix, feature = "encryption", feature = "mcp", feature = "page", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use memdir::history::Version;
use memdir::{Memory, MemoryOptions};

use crate::common::import::tar;
use crate::common::program::{memdir, place, run, said, well};
use crate::common::remembering::all;

/// Examples that need a server, run until they are interrupted, or need another shell. A test beside `help.rs` parses their arguments.
const NOT_RUN: &[&str] = &[
    "memdir watch ",
    "memdir serve ",
    "memdir mcp ",
    "postgres://",
    "s3://",
    "memdir completions zsh ",
];

/// The ids in the examples: of an earlier version, of a later one of the same file, of the change that made that one, and of a deletion.
const IDS: [&str; 4] = ["63ab10000002", "4f1c90000002", "4f1c90000000", "d20f70000002"];

/// The commands in the help of the program.
fn commands(place: &Path) -> Vec<String> {
    let help = well(place, &["--help"]);
    let (_, listed) = help.split_once("Read a memory:").unwrap();
    let (listed, _) = listed.split_once("Options:").unwrap();
    let listed = listed.lines().filter_map(|line| line.strip_prefix("  "));
    let names = listed.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

fn examples(place: &Path, command: &str) -> Vec<String> {
    let help = well(place, &["help", command]);
    let (_, rest) = help.split_once("\nExamples:\n").unwrap();
    rest.lines().map_while(|line| line.strip_prefix("  ")).map(str::to_owned).collect()
}

/// A directory with everything that the examples name, and the real ids of its versions, in the order of [`IDS`].
fn seed(place: &Path) -> [String; 4] {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(place.join("memory").to_str().unwrap(), options).unwrap();
    let (ann, agent) = (memory.acting_as("Ann"), memory.acting_as("session 7"));
    let write = |memory: &Memory, path: &str, text: &str| memory.write(path, text, None).unwrap();
    write(&ann, "/memories/notes.md", "tea\npassword hunter2\nTODO: coffee\n");
    let first = all(&ann)[0].clone();
    write(&ann, "/memories/notes.md", "tea\nTODO: coffee\n");
    let second: Version = all(&ann)[0].clone();
    for name in
        ["draft.md", "todo.md", "old.md", "older.md", "archive/a.md", "notes/c.md", "team/plan.md"]
    {
        write(&agent, &format!("/memories/{name}"), "likes C++\n");
    }
    write(&ann, "/memories/gone.md", "gone\n");
    ann.delete("/memories/gone.md").unwrap();
    let deletion = all(&ann)[0].clone();
    for (name, text) in [
        ("handbook.md", "# Handbook\n"),
        ("CLAUDE.md", "# Rules\n"),
        ("notes/a.md", "a\n"),
        ("memdir.toml", "[[sync]]\na = \"./memory\"\nb = \"sqlite:synced.db\"\n"),
        ("key", "correct horse battery staple"),
        ("old", "tea\nTODO: coffee\n"),
        ("new", "tea\nTODO: tea\n"),
        ("bin/code", "#!/bin/sh\n[ \"$1\" = --wait ] && echo edited >> \"$2\"\n"),
    ] {
        fs::create_dir_all(place.join(name).parent().unwrap()).unwrap();
        fs::write(place.join(name), text).unwrap();
    }
    fs::set_permissions(place.join("bin/code"), fs::Permissions::from_mode(0o700)).unwrap();
    for directory in [".local/share/bash-completion/completions", ".config/fish/completions"] {
        fs::create_dir_all(place.join(directory)).unwrap();
    }
    well(place, &["copy", "./memory", "sqlite:agent.db"]);
    [
        first.id.to_string(),
        second.id.to_string(),
        second.change.to_string(),
        deletion.id.to_string(),
    ]
}

/// Runs a line in a shell, and checks that all of it succeeds.
fn run_in_shell(place: &Path, line: &str) {
    let program = Path::new(env!("CARGO_BIN_EXE_memdir")).parent().unwrap();
    let own = env::var("PATH").unwrap();
    let path = format!("{}:{}:{own}", place.join("bin").display(), program.display());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", line]).current_dir(place).env("PATH", path);
    command.env("HOME", place).env("EDITOR", "true").env_remove("VISUAL");
    command.env("MEMDIR_QUIET", "1").stdin(std::process::Stdio::null());
    let (code, _, stderr) = said(&command.output().unwrap());
    // In a pipe only the last program has a code.
    assert!(
        code == 0 && !stderr.contains("memdir: ") && !stderr.contains("error"),
        "{line}: {code} {stderr}"
    );
}

#[test]
fn every_example_in_the_help_runs() {
    let nowhere = tempfile::tempdir().unwrap();
    let has_git = Command::new("git").arg("--version").output().is_ok();
    let mut ran = 0;
    for command in commands(nowhere.path()) {
        let examples = examples(nowhere.path(), &command);
        assert!((2..=4).contains(&examples.len()), "{command}: {examples:?}");
        for example in examples {
            let needs_git = example.contains("| git ");
            if NOT_RUN.iter().any(|part| example.contains(part)) || (needs_git && !has_git) {
                continue;
            }
            let place = tempfile::tempdir().unwrap();
            let place = place.path();
            let ids = seed(place);
            if needs_git {
                run_in_shell(place, "git init --quiet repository");
            }
            if example.contains("import notes.tar") && !tar(place, &["cf", "notes.tar", "notes"]) {
                continue;
            }
            if command == "resolve" {
                let copy = "memory/memories/notes (conflict from laptop 2026-11-28 16.22.05).md";
                fs::write(place.join(copy), "tea\n").unwrap();
            }
            if example.contains("import memory.tar") {
                well(place, &["export", "./memory", "memory.tar"]);
            }
            let mut line = example.clone();
            for (shown, real) in IDS.iter().zip(&ids) {
                line = line.replace(shown, real);
            }
            // The seeded file did not exist two hours ago.
            line = line.replace(
                "show ./memory /memories/notes.md --at 2h",
                "show ./memory /memories/notes.md --at 0s",
            );
            run_in_shell(place, &line);
            ran += 1;
        }
    }
    assert!(ran > 40, "{ran}");
}

#[test]
fn short_help_is_shorter_than_long_help() {
    let place = tempfile::tempdir().unwrap();
    for command in commands(place.path()) {
        let short = well(place.path(), &[&command, "-h"]);
        let long = well(place.path(), &[&command, "--help"]);
        assert!(short.lines().count() <= long.lines().count(), "{command}");
        assert_eq!(well(place.path(), &["help", &command]), long);
    }
    let put = well(place.path(), &["put", "--help"]);
    for heading in [
        "Arguments:",
        "Options:",
        "Limits:",
        "Policies:",
        "History:",
        "Store:",
        "Encryption:",
        "Output:",
        "Examples:",
    ] {
        assert!(put.contains(&format!("\n{heading}\n")), "{heading}");
    }
    let short = well(place.path(), &["put", "-h"]);
    assert!(!short.contains("--max-files ") && short.contains("`memdir help put`"), "{short}");
    assert!(put.contains("- redact: [REDACTED:rule] is written instead of the text\n"), "{put}");
}

#[test]
fn an_error_says_what_was_probably_meant() {
    let place = place();
    fs::create_dir_all(place.path().join("memory/memories")).unwrap();
    for (arguments, code, says) in [
        (&["ls", "a"][..], 2, "a similar subcommand exists: 'tree'"),
        (&["stat", "a"], 2, "a similar subcommand exists: 'stats'"),
        (&["log", "a", "--sicne", "2h"], 2, "a similar argument exists: '--since'"),
        (&["log", "a", "--sicne", "2h"], 2, "See `memdir help log`."),
        (&["nonsense"], 2, "See `memdir --help`."),
        (
            &["put", "a", "/memories/x", "--sensitive-text", "redakt"],
            2,
            "a similar value exists: 'redact'",
        ),
        (&["put", "a", "/memories/x", "--max-files", "many"], 2, "use a whole number, or none"),
        (&["copy", "a", "b", "--durability", "ful"], 2, "a similar value exists: 'full'"),
        (&["show", "a", "/memories/zetta.md"], 1, "not found: did you mean /memories/zeta.md?"),
        (&["show", "a", "/memories/zetta.md", "-l"], 1, ": did you mean /memories/zeta.md?"),
        (&["show", "a", "/memories/today.md"], 1, "did you mean /memories/notes/today.md?"),
        (&["show", "a", "/memories/unknown"], 1, "not found: `memdir tree` lists the files"),
        (&["show", "a", "zeta.md"], 2, "start with /memories: did you mean /memories/zeta.md?"),
        (&["show", "/memories/zeta.md", "a"], 2, "the store comes before the path"),
        (&["tree", "a", "/memories/note"], 1, "did you mean /memories/notes?"),
        (&["rm", "a", "/memories/zetta.md"], 1, "did you mean /memories/zeta.md?"),
        (&["mv", "a", "/memories/zetta.md", "/memories/y"], 1, "did you mean /memories/zeta.md?"),
        (&["grep", "a", "x", "/memories/note"], 2, "did you mean /memories/notes?"),
        (&["tree", "./memroy"], 3, "there is no memory at ./memroy: did you mean ./memory?"),
        (&["tree", "sqlite:b.db"], 3, "did you mean sqlite:a.db?"),
        (&["tree", "a.db"], 3, "did you mean sqlite:a.db?"),
        (&["tree", "sqlite:a"], 3, "did you mean ./a?"),
        (&["tree", "nothing-like-it"], 3, "create a memory there with `memdir put`"),
        (&["log", "a"], 1, "`memdir put --history`"),
    ] {
        let (found, stdout, stderr) = run(place.path(), arguments);
        assert_eq!((found, stdout.as_str()), (code, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(says), "{arguments:?}: {stderr}");
    }
    let (code, _, stderr) =
        said(&memdir(place.path()).args(["tree", "env:MEMORY"]).output().unwrap());
    assert!(code == 2 && stderr.contains("set it to the address of the store"), "{stderr}");
}
