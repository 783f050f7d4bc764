//! `memdir sync --watch`, `--all` and `memdir.toml`: memories that stay equal, outages, signals, and wrong configurations.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::output::Output;
use crate::common::program::{memdir, run, said};

const LONG: Duration = Duration::from_secs(60);

fn put(place: &Path, file: &str, text: &str) {
    let path = place.join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // A watch must not find the file while it is empty.
    let part = place.join("part");
    fs::write(&part, text).unwrap();
    fs::rename(part, path).unwrap();
}

fn read(place: &Path, file: &str) -> Option<String> {
    fs::read_to_string(place.join(file)).ok()
}

fn wait_for(what: &str, mut is_done: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !is_done() {
        assert!(Instant::now() < until, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A process that keeps memories in sync. It is ended with the test.
struct Keeping {
    child: Process,
    stdout: Output,
    stderr: Output,
}

struct Process(Child);

impl Keeping {
    fn start(place: &Path, arguments: &[&str]) -> Self {
        let mut command = memdir(place);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = Process(command.spawn().unwrap());
        let stdout = Output::of(child.0.stdout.take().unwrap());
        let stderr = Output::of(child.0.stderr.take().unwrap());
        Self { child, stdout, stderr }
    }

    /// Sends the signal, and returns the exit code and both outputs.
    fn end(mut self, name: &str) -> (i32, String, String) {
        let id = self.child.0.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
        let code = self.child.0.wait().unwrap().code().unwrap();
        // It is only written if the last sync takes long.
        let ending =
            "memdir: the sync ends after the file under way: a second Ctrl-C ends it at once\n";
        (code, self.stdout.end(), self.stderr.end().replace(ending, ""))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_watch_takes_changes_in_both_directions_until_a_signal() {
    for signal in ["-INT", "-TERM"] {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        put(place, "one/memories/a.md", "a\n");
        let keeping = Keeping::start(place, &["sync", "one", "two", "--watch"]);
        let is_there = |file: &str, text: &str| read(place, file).as_deref() == Some(text);
        wait_for("the first sync", || is_there("two/memories/a.md", "a\n"));
        put(place, "two/memories/b.md", "b\n");
        wait_for("a new file", || is_there("one/memories/b.md", "b\n"));
        put(place, "one/memories/a.md", "a longer text\n");
        wait_for("an edit", || is_there("two/memories/a.md", "a longer text\n"));
        fs::remove_file(place.join("two/memories/b.md")).unwrap();
        wait_for("a deletion", || !place.join("one/memories/b.md").exists());
        let (code, stdout, stderr) = keeping.end(signal);
        assert_eq!((code, stderr.as_str()), (0, ""));
        assert_eq!(
            stdout,
            "created   -> /memories/a.md\ncreated   <- /memories/b.md\n\
             replaced  -> /memories/a.md\ndeleted   <- /memories/b.md\n"
        );
        // Nothing is left to do.
        assert_eq!(run(place, &["sync", "one", "two"]), (0, String::new(), String::new()));
    }
}

#[test]
fn a_watch_waits_for_a_memory_that_is_away_and_creates_no_other() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one/memories/a.md", "a\n");
    run(place, &["copy", "one", "sqlite:two.db"]);
    let keeping = Keeping::start(place, &["sync", "one", "sqlite:two.db", "--watch", "--json"]);
    // A directory that goes away during a sync may be created again. A sync is over when its changes are reported.
    put(place, "one/memories/begun.md", "x\n");
    wait_for("a sync", || keeping.stdout.now().contains("begun.md"));
    thread::sleep(Duration::from_secs(2));
    // The drive of the directory is removed.
    fs::rename(place.join("one"), place.join("away")).unwrap();
    let is_away = "; the sync tries again until the store can be reached\n";
    wait_for("the outage", || keeping.stderr.now().contains(is_away));
    assert!(!place.join("one").exists());
    put(place, "away/memories/b.md", "b\n");
    fs::rename(place.join("away"), place.join("one")).unwrap();
    wait_for("the sync after the outage", || {
        run(place, &["show", "sqlite:two.db", "/memories/b.md"]).1 == "b\n"
    });
    wait_for("the end of the outage", || keeping.stderr.now().contains("the sync continues\n"));
    let (code, _, stderr) = keeping.end("-INT");
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(
        (stderr.matches(is_away).count(), stderr.matches("the sync continues\n").count()),
        (1, 1),
        "{stderr}"
    );
}

#[test]
fn a_watch_waits_if_too_much_would_be_deleted_at_once_or_bit_by_bit() {
    for at_once in [true, false] {
        let place = tempfile::tempdir().unwrap();
        let place = place.path();
        let name = |number: usize| match number {
            0..12 => format!("memories/old/{number}.md"),
            _ => format!("memories/{number}.md"),
        };
        for number in 0..20 {
            put(place, &format!("one/{}", name(number)), "x\n");
        }
        run(place, &["sync", "one", "two"]);
        let keeping = Keeping::start(place, &["sync", "one", "two", "--watch"]);
        put(place, "one/memories/begun.md", "x\n");
        wait_for("the first sync", || place.join("two/memories/begun.md").exists());
        let is_refused = || keeping.stderr.now().starts_with("memdir: nothing was changed, as ");
        if at_once {
            fs::rename(place.join("one/memories/old"), place.join("old")).unwrap();
        } else {
            for number in 0..12 {
                fs::remove_file(place.join("one").join(name(number))).unwrap();
                let is_gone = || !place.join("two").join(name(number)).exists();
                wait_for("a deletion", || is_gone() || is_refused());
            }
        }
        wait_for("the refusal", is_refused);
        let left = (0..20).filter(|number| place.join("two").join(name(*number)).exists()).count();
        assert!(if at_once { left == 20 } else { (12..20).contains(&left) }, "{left}");
        for number in 0..12 {
            put(place, &format!("one/{}", name(number)), "x\n");
        }
        put(place, "one/memories/last.md", "x\n");
        wait_for("the sync after the files came back", || {
            place.join("two/memories/last.md").exists()
        });
        let goes_on = "memdir: the sync continues\n";
        wait_for("a sentence", || keeping.stderr.now().ends_with(goes_on));
        let (code, _, stderr) = keeping.end("-INT");
        assert_eq!(code, 0, "{stderr}");
        assert!(stderr.ends_with(goes_on), "{stderr}");
    }
}

#[test]
fn every_pair_of_the_configuration_is_synced_wherever_the_program_is_started() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    put(place, "one/memories/a.md", "a\n");
    put(place, "one/memories/private/b.md", "b\n");
    put(
        place,
        "memdir.toml",
        r#"
        [[sync]]
        name = "database"
        a = "./one"
        b = "sqlite:two.db"
        exclude = ["/memories/private"]

        [[sync]]
        a = "./one"
        b = { address = "env:THREE", name = "server", encryption_key = "env:KEY", options = { max_file_bytes = 10 } }
        one_way = true
        "#,
    );
    put(place, "below/deeper/x", "");
    let all = |more: &[&str]| {
        let mut command = memdir(&place.join("below/deeper"));
        command
            .args([&["sync", "--all"], more].concat())
            .env("THREE", "./three")
            .env("KEY", "phrase");
        said(&command.output().unwrap())
    };
    let (code, stdout, stderr) = all(&["--dry-run"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(
        stdout,
        "created   -> /memories/a.md  (database)\n\
         database: 1 change would be made, 0 files the same already\n\
         created   -> /memories/a.md  (2)\ncreated   -> /memories/private/b.md  (2)\n\
         2: 2 changes would be made, 0 files the same already\n"
    );
    assert_eq!(all(&[]).0, 0);
    assert_eq!(run(place, &["show", "sqlite:two.db", "/memories/a.md"]).1, "a\n");
    assert_eq!(run(place, &["show", "sqlite:two.db", "/memories/private/b.md"]).0, 1);
    // It is encrypted, and its option holds.
    assert!(!fs::read(place.join("three/memories/a.md")).unwrap().starts_with(b"a\n"));
    put(place, "one/memories/a.md", "a longer text\n");
    let (code, stdout, stderr) = all(&["--json"]);
    assert_eq!(code, 1);
    assert_eq!(stderr, "");
    let objects: Vec<serde_json::Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |number: usize| {
        let object: &serde_json::Value = &objects[number];
        (object["type"].as_str().unwrap(), object["sync"].as_str().unwrap())
    };
    assert_eq!(
        [of(0), of(1), of(2), of(3)],
        [("change", "database"), ("summary", "database"), ("left-out", "2"), ("summary", "2")]
    );
    // A pair that fails does not keep the others from their sync.
    fs::remove_file(place.join("two.db")).unwrap();
    fs::create_dir(place.join("two.db")).unwrap();
    let (code, _, stderr) = all(&[]);
    assert_eq!(code, 3);
    assert!(
        stderr.contains("memdir: database: ") && stderr.contains("memdir: 2: left out: "),
        "{stderr}"
    );
}

#[test]
fn a_configuration_that_is_wrong_is_explained_without_its_secrets() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let sync = |text: &str| format!("[[sync]]\n{text}\n");
    for (text, sentence) in [
        (String::new(), "memdir.toml: it has no table [[sync]]"),
        (sync("a = \"./one\""), "memdir.toml: line 1: missing field `b`"),
        (sync("a = 5\nb = \"./two\""), "[[sync]] number 1: a must be an address, or a table: "),
        (sync("a = \"./one\"\nb = \"./two\"\nwatch = true"), "line 4: unknown field `watch`"),
        (sync("a = \"./one\"\nb = \"./two\nc = \"hunter2\""), "memdir.toml: line 3: "),
        (sync("a = \"./one\"\nb = \"./one\""), "both memories are the same"),
        (
            sync("a = \"./one\"\nb = \"postgres://me:hunter2@localhost/db\""),
            "b: the address contains a secret: put it into an environment variable, and write \"env:NAME\"",
        ),
        (
            sync("a = \"./one\"\nb = { address = \"./two\", encryption_key = \"hunter2\" }"),
            "b: encryption_key must name an environment variable, as in \"env:TEAM_KEY\"",
        ),
        (
            sync(
                "a = \"./one\"\nb = { address = \"./two\", encryption_key = \"env:MEMDIR_NOT_SET\" }",
            ),
            "the environment variable \"MEMDIR_NOT_SET\" is not set: set it to the key of the store",
        ),
        (
            sync("a = \"./one\"\nb = { address = \"./two\", options = { max_flies = 1 } }"),
            "b: there is no option max_flies; did you mean max_files?",
        ),
        (
            "sync = [\"postgres://u:hunter2@h/db\", \"./two\"]".to_owned(),
            "line 1: invalid type, expected a table [[sync]]",
        ),
        (
            sync("a = \"./one\"\nb = \"./two\"\n\"postgres://u:hunter2@h/db\" = 1"),
            "line 4: unknown field, expected",
        ),
        (
            sync("a = \"./one\"\nb = { address = \"./two\", options = \"hunter2\" }"),
            "b must be an address, or a table: invalid type, expected a map",
        ),
        (
            sync("name = \"postgres://u:hunter2@h/db\"\na = \"./one\"\nb = \"./two\""),
            "name must be a text of 1 to 64 bytes",
        ),
        (sync("a = \"./one\"\nb = \"./two\"\non_conflict = \"mine\""), "on_conflict must be"),
        (sync("a = \"./one\"\nb = \"./two\"\nevery = \"5\""), "every: use a number of seconds"),
        (sync("a = \"./one\"\nb = \"./two\"\nexclude = [\"notes\"]"), "notes"),
        (
            sync("name = \"x\"\na = \"./one\"\nb = \"./two\"")
                + &sync("name = \"x\"\na = \"./one\"\nb = \"./three\""),
            "two tables [[sync]] have the name \"x\"",
        ),
    ] {
        put(place, "memdir.toml", &text);
        let (code, stdout, stderr) = run(place, &["sync", "--all"]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{text}: {stderr}");
        assert!(stderr.contains(sentence), "{text}: {stderr}");
        assert!(!stderr.contains("hunter2"), "{stderr}");
        assert!(!place.join("two").exists());
    }
    put(place, "memdir.toml", &sync("a = \"./one\"\nb = \"./two\""));
    let mut command = memdir(place);
    command.args(["sync", "--all"]).env("MEMDIR_B_ENCRYPTION_KEY", "hunter2");
    let (code, _, stderr) = said(&command.output().unwrap());
    assert_eq!((code, stderr.contains("MEMDIR_B_ENCRYPTION_KEY")), (2, true), "{stderr}");
    fs::remove_file(place.join("memdir.toml")).unwrap();
    let (code, _, stderr) = run(place, &["sync", "--all"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("there is no memdir.toml in this directory or above it"), "{stderr}");
    let (code, _, stderr) = run(place, &["sync", "--all", "--config", "other.toml"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("other.toml cannot be read"), "{stderr}");
    assert_eq!(run(place, &["sync", "--all", "one", "two"]).0, 2);
    assert_eq!(run(place, &["sync", "one"]).0, 2);
}
