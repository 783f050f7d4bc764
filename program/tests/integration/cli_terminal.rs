//! The program `memdir` on a terminal: its colours, and protection against hostile texts.
#![cfg(all(target_os = "linux", feature = "mcp", feature = "page", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::program::{memdir, well};
use crate::common::terminal;
use memdir::history::HistoryQuery;
use memdir::{Memory, MemoryOptions};

/// Sequences that a terminal must not get: they would clear the screen, set its title, and reverse the
/// direction of the text.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{9b}31m\u{202e}\u{2066}\r\u{8}end";

/// A name with as many of them as names may contain.
const NAME: &str = "/memories/\u{202e}dm.\u{2066}x";

fn on_terminal(mut command: Command, colors: bool) -> String {
    command.env("TERM", "xterm").env("COLUMNS", "1000").env_remove("NO_COLOR");
    if !colors {
        command.env("NO_COLOR", "1");
    }
    terminal::run(command)
}

/// The output on a terminal without our own colours.
fn without_colors(shown: &str) -> String {
    let mut rest = shown.to_owned();
    for parameters in ["0", "2", "31", "32", "33", "35", "36", "1;31"] {
        rest = rest.replace(&format!("\u{1b}[{parameters}m"), "");
    }
    rest
}

fn harmful(shown: &str) -> Option<char> {
    without_colors(shown).replace("\r\n", "\n").chars().find(|&c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

/// A memory with hostile names, contents, actors and reasons, and the ids of three of its versions.
fn hostile(place: &Path) -> [String; 3] {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(place.join("m").to_str().unwrap(), options).unwrap();
    let memory = memory.acting_as(HOSTILE);
    memory.create(NAME, &format!("{HOSTILE}\nold {HOSTILE}\n")).unwrap();
    memory.write(NAME, &format!("{HOSTILE}\nnew {HOSTILE}\n"), None).unwrap();
    memory.create("/memories/secret", "secret\n").unwrap();
    memory.write("/memories/secret", "gone\n", None).unwrap();
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    memory.redact(versions[1].id, HOSTILE).unwrap();
    fs::write(place.join("m/memories/bytes"), b"\xff\x1b[2J\xe2\x80").unwrap();
    fs::write(place.join("m/memories/bad\u{1b}[2Jname"), "").unwrap();
    [&versions[3], &versions[2], &versions[1]].map(|version| version.id.to_string())
}

#[test]
fn nothing_hostile_reaches_a_terminal_from_any_command() {
    let place = tempfile::tempdir().unwrap();
    let [first, second, redacted] = &hostile(place.path());
    let (turned, nowhere) = (format!("{NAME}2"), format!("sqlite:none/{HOSTILE}"));
    let editor = "sh -c 'printf \"\\033[2J\" >> \"$0\"; exit 1'";
    // Some uses of each command, including failing ones.
    let uses: &[&[&str]] = &[
        &["tree", "m"],
        &["tree", "m", "--all", "--at", "0s"],
        &["tree", "m", NAME],
        &["tree", HOSTILE],
        &["show", "m", NAME],
        &["show", "m", NAME, "--lines"],
        &["show", "m", NAME, "--at", "0s"],
        &["show", "m", "--version", second],
        &["show", "m", "/memories/bytes"],
        &["show", "m", &turned],
        &["search", "m", "old new"],
        &["search", "m", HOSTILE],
        &["grep", "m", "."],
        &["grep", "m", "new", "-C1"],
        &["grep", "m", "old|secret", "--history"],
        &["grep", "m", ".", "-l"],
        &["grep", "m", HOSTILE],
        &["stats", "m"],
        &["log", "m", "-p"],
        &["log", "m", "--actor", HOSTILE],
        &["blame", "m", HOSTILE],
        &["diff", "m", second],
        &["diff", "m", first, second],
        &["diff", "m", HOSTILE],
        &["restore", "m", first],
        &["restore", "m", redacted],
        &["restore", "m", "--all", "--at", "0s", "--dry-run"],
        &["undo", "m", first],
        &["undo", "m", "--since", "1h", "--actor", HOSTILE, "--dry-run"],
        &["redact", "m", first, "--reason", HOSTILE],
        &["redact", "m", "--text", HOSTILE, "--reason", HOSTILE],
        &["erase", HOSTILE, "--dry-run"],
        &["erase", "m", "--dry-run"],
        &["namespaces", HOSTILE],
        &["copy", "m", "m2", "--dry-run"],
        &["sync", "m", "m4", "--dry-run"],
        &["sync", "m4", HOSTILE],
        &["sync", "--all", "--config", HOSTILE],
        &["conflicts", "m", "--diff"],
        &["resolve", "m", HOSTILE, "--keep", "copy"],
        &["export", "m", "m"],
        &["import", "m/memories/bytes", "m3"],
        &["import", HOSTILE, "m3"],
        &["check", "m"],
        &["edit", "m", NAME],
        &["put", "m", NAME],
        &["put", "m", NAME, "--create"],
        &["put", "m", &turned, HOSTILE],
        &["put", "m", &turned, "m/memories/bytes"],
        &["mv", "m", NAME, "/memories/bytes"],
        &["mv", "m", &turned, NAME],
        &["rm", "m", NAME, "-n"],
        &["rm", "m", &turned],
        &["expire", "m", "--after", "1s", "-n"],
        &["watch", "m", "/memories/../x"],
        &["completions", HOSTILE],
        &["serve", "m", "--mount", HOSTILE],
        &["serve", &nowhere],
        &["mcp", "m", "--http=0.0.0.0:1"],
        &["mcp", "m", "--prefix", HOSTILE],
    ];
    std::thread::sleep(Duration::from_millis(1100));
    for arguments in uses {
        for json in [false, true] {
            // Progress bars move the cursor.
            let mut command = memdir(place.path());
            command.args(*arguments).env("EDITOR", editor).env_remove("VISUAL");
            if json {
                command.arg("--json");
            }
            let shown = on_terminal(command, true);
            let shown = match arguments[0] {
                "copy" | "sync" => shown.replace("\u{1b}[2K", "").replace('\r', ""),
                _ => shown,
            };
            assert_eq!(harmful(&shown), None, "{arguments:?} {shown:?}");
        }
    }
    let help = well(place.path(), &["--help"]);
    let (_, commands) = help.split_once("Read a memory:\n").unwrap();
    let (commands, _) = commands.split_once("Options:\n").unwrap();
    let lines = commands.lines().filter_map(|line| line.strip_prefix("  "));
    let commands: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
    let tried: BTreeSet<&str> = uses.iter().map(|arguments| arguments[0]).chain(["help"]).collect();
    assert_eq!(commands, tried, "a command that nobody has tried on a terminal");
}

#[test]
fn what_happens_is_watched_on_a_terminal() {
    let place = tempfile::tempdir().unwrap();
    hostile(place.path());
    let mut command = memdir(place.path());
    command.args(["watch", "m", "--every", "1s"]).env("TERM", "xterm").env_remove("NO_COLOR");
    let (mut child, output) = terminal::start(command);
    let until = Instant::now() + Duration::from_secs(60);
    let is_told = |shown: &str| shown.contains("overwritten") && shown.contains("\\u{202e}dm.");
    while !is_told(&output.now()) {
        assert!(Instant::now() < until, "{:?}", output.now());
        well(place.path(), &["put", "m", NAME, "--as", HOSTILE]);
        std::thread::sleep(Duration::from_millis(300));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let shown = output.end();
    assert_eq!(harmful(&shown), None, "{shown:?}");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let place = tempfile::tempdir().unwrap();
    let ids = hostile(place.path());
    for (arguments, colored) in [
        (&["grep", "m", "new"][..], "\u{1b}[1;31mnew\u{1b}[0m"),
        (&["search", "m", "gone"], "\u{1b}[1;31mgone\u{1b}[0m"),
        (&["grep", "m", "secret"], "\u{1b}[1;31msecret\u{1b}[0m"),
        (&["log", "m"], "\u{1b}[33moverwritten\u{1b}[0m"),
        (&["diff", "m", &ids[1]], "\u{1b}[31m-old "),
        (&["tree", "m"], "\u{1b}[2m"),
        (&["rm", "m", "/memories/secret", "-n"], "\u{1b}[31mdeleted \u{1b}[0m"),
    ] {
        let command = |program: &str| {
            let mut command = if program == "dumb" {
                let mut command = memdir(place.path());
                command.env("TERM", "dumb");
                command
            } else {
                memdir(place.path())
            };
            command.args(arguments);
            command
        };
        let shown = on_terminal(command(""), true);
        assert!(shown.contains(colored), "{arguments:?} {shown:?}");
        assert!(!on_terminal(command(""), false).contains('\u{1b}'), "{arguments:?}");
        assert!(!terminal::run(command("dumb")).contains('\u{1b}'), "{arguments:?}");
        // Output that is not for a terminal is unchanged.
        let piped = well(place.path(), arguments);
        assert!(!piped.contains("\u{1b}[1;31m") && !piped.contains("\u{1b}[2m"), "{piped:?}");
    }
}

#[test]
fn erase_asks_on_a_terminal() {
    use std::fs::File;
    use std::io::{Read, Write};

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let place = tempfile::tempdir().unwrap();
    let [..] = hostile(place.path());
    for (answer, code) in [("\n", 1), ("no\n", 1), ("maybe y\n", 1), ("y\n", 0), ("Yes\n", 0)] {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut command = memdir(place.path());
        command.args(["erase", "./m"]).stdin(theirs).stderr(std::process::Stdio::piped());
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        drop(command);
        let mut ours = File::from(ours);
        ours.write_all(answer.as_bytes()).unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{said}");
        assert!(said.contains("for good? [y/N] "), "{said}");
        assert_eq!(place.path().join("m/memories/secret").exists(), code == 1);
    }
}
