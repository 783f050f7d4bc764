//! The program `memdir` as users run it: its output, its exit codes, and secrets that it never
//! prints.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::time::SystemTime;

use crate::common::program::{self, HOUR, lines, memdir, place, run, said, well, write};
use memdir::text::parse_rfc3339;
use serde_json::{Value, json};

#[test]
fn tree_shows_sizes_ages_and_names_the_same_for_every_store() {
    const VISIBLE: &str = "               \
               /memories
               ├── empty
               ├── notes
               │   ├── old
     6B   50d  │   │   └── été.md
   1.5K    3h  │   └── today.md
     5B    2y  └── zeta.md

4 directories, 3 files, 1.5K
";
    let place = place();
    for store in ["a", "./a", "sqlite:a.db", "env:STORE"] {
        let tree = |arguments: &[&str]| {
            let mut command = memdir(place.path());
            command.env("STORE", "sqlite:a.db").args(["tree", store]).args(arguments);
            let (code, stdout, stderr) = said(&command.output().unwrap());
            assert_eq!((code, stderr.as_str()), (0, ""), "{arguments:?}");
            stdout
        };
        assert_eq!(tree(&[]), VISIBLE, "{store}");
        let all = tree(&["--all"]);
        assert!(all.contains("     1B    1m  │   └── key\n"), "{all}");
        assert!(all.ends_with("\n\n5 directories, 4 files, 1.5K\n"), "{all}");
        assert_eq!(
            tree(&["/memories/notes", "--depth", "1"]),
            "               /memories/notes
               ├── old
   1.5K    3h  └── today.md

2 directories, 1 file, 1.5K\n"
        );
        assert_eq!(
            tree(&["/memories/zeta.md"]),
            "     5B    2y  /memories/zeta.md\n\n0 directories, 1 file, 5B\n"
        );
    }
}

#[test]
fn tree_as_json_has_exact_figures() {
    let place = place();
    for store in ["a", "sqlite:a.db"] {
        let mut found = lines(&well(place.path(), &["tree", store, "--json", "-d1"]));
        let file = found.iter_mut().find(|object| object["path"] == "/memories/zeta.md").unwrap();
        let modified = file["modified"].take();
        let modified = parse_rfc3339(modified.as_str().unwrap()).unwrap();
        let age = SystemTime::now().duration_since(modified);
        assert_eq!(age.unwrap().as_secs() / HOUR, 800 * 24);
        assert_eq!(
            found,
            [
                json!({"type": "directory", "path": "/memories"}),
                json!({"type": "directory", "path": "/memories/empty"}),
                json!({"type": "directory", "path": "/memories/notes"}),
                json!({"type": "file", "path": "/memories/zeta.md", "size": 5, "modified": null}),
                json!({"type": "summary", "directories": 3, "files": 1, "bytes": 5}),
            ]
        );
    }
}

#[test]
fn show_prints_the_bytes_and_nothing_else() {
    let place = place();
    let every_byte: Vec<u8> = (0..=u8::MAX).collect::<Vec<_>>().repeat(2000);
    fs::write(place.path().join("a/memories/bytes"), &every_byte).unwrap();
    well(place.path(), &["copy", "a", "sqlite:a.db"]);
    for store in ["a", "sqlite:a.db"] {
        let shown = memdir(place.path()).args(["show", store, "/memories/bytes"]).output().unwrap();
        assert!(shown.stdout == every_byte && shown.stderr.is_empty());
        assert_eq!(
            well(place.path(), &["show", store, "/memories/zeta.md", "--lines"]),
            "Here's the content of /memories/zeta.md with line numbers:\n     1\tlast\n"
        );
        let json = lines(&well(place.path(), &["show", "--json", store, "/memories/zeta.md"]));
        assert_eq!(json.len(), 1);
        assert_eq!((&json[0]["content"], &json[0]["size"]), (&json!("last\n"), &json!(5)));
        let json = lines(&well(place.path(), &["show", "--json", store, "/memories/bytes"]));
        assert_eq!((&json[0]["content"], &json[0]["size"]), (&Value::Null, &json!(512_000)));

        for (path, problem) in [
            (
                "/memories/none",
                "memdir: /memories/none: not found: `memdir tree` lists the files\n",
            ),
            (
                "/memories/notes",
                "memdir: /memories/notes: is a directory: `memdir tree` lists its files\n",
            ),
        ] {
            let refused = (1, String::new(), problem.to_owned());
            assert_eq!(run(place.path(), &["show", store, path]), refused);
            assert_eq!(run(place.path(), &["show", "--json", store, path]), refused);
        }
        let (code, stdout, stderr) = run(place.path(), &["show", store, "/memories/bytes", "-l"]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert!(stderr.contains("not valid UTF-8"), "{stderr}");
    }
}

#[test]
fn what_is_not_there_is_an_error_and_is_not_made() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("empty.db"), "").unwrap();
    fs::create_dir(place.path().join("other")).unwrap();
    for store in ["none", "other", "sqlite:none.db", "sqlite:empty.db"] {
        for arguments in [
            &["tree", store][..],
            &["check", store],
            &["show", store, "/memories/a"],
            &["copy", store, "to"],
            &["copy", store, "sqlite:to.db"],
        ] {
            let expected = format!("memdir: there is no memory at {store}{}\n", program::NO_MEMORY);
            assert_eq!(run(place.path(), arguments), (3, String::new(), expected));
        }
    }
    let mut names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["empty.db", "other"]);
    assert_eq!(fs::read(place.path().join("empty.db")).unwrap(), b"");
    assert_eq!(fs::read_dir(place.path().join("other")).unwrap().count(), 0);

    fs::write(place.path().join("text.db"), "no database at all\n".repeat(100)).unwrap();
    let (code, _, stderr) = run(place.path(), &["check", "sqlite:text.db"]);
    assert_eq!(code, 3);
    assert!(stderr.contains("not an SQLite database"), "{stderr}");
}

#[test]
fn copy_is_quiet_in_a_pipe_and_keeps_everything() {
    let place = place();
    let all = |store| well(place.path(), &["tree", "--all", "--json", store]);
    assert_eq!(all("a"), all("sqlite:a.db"));
    assert_eq!(well(place.path(), &["copy", "sqlite:a.db", "b"]), "");
    assert_eq!(all("b"), all("a"));
    assert_eq!(well(place.path(), &["copy", "b", "sqlite:c.db", "--durability=relaxed"]), "");
    assert_eq!(all("sqlite:c.db"), all("a"));
    let summary = lines(&well(place.path(), &["copy", "--json", "sqlite:c.db", "b"]));
    assert_eq!(
        summary,
        [json!({
            "type": "summary", "files": 0, "bytes": 0, "equal": 4, "directories": 0,
            "left_out": 0, "dry_run": false,
        })]
    );
}

#[test]
fn a_dry_run_says_what_would_be_copied_and_makes_nothing() {
    let place = place();
    let before = fs::read_dir(place.path()).unwrap().count();
    for to in ["new", "sqlite:new.db"] {
        assert_eq!(
            well(place.path(), &["copy", "a", to, "--dry-run"]),
            "     1B  /memories/.hidden/key
     6B  /memories/notes/old/été.md
   1.5K  /memories/notes/today.md
     5B  /memories/zeta.md
4 files (1.5K) would be copied, 0 there already\n"
        );
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), before);
    fs::remove_file(place.path().join("a/memories/notes/today.md")).unwrap();
    assert_eq!(
        lines(&well(place.path(), &["copy", "sqlite:a.db", "a", "-n", "--json"])),
        [
            json!({"type": "file", "path": "/memories/notes/today.md", "size": 1536}),
            json!({
                "type": "summary", "files": 1, "bytes": 1536, "equal": 3, "directories": 0,
                "left_out": 0, "dry_run": true,
            }),
        ]
    );
    assert!(!place.path().join("a/memories/notes/today.md").exists());
}

#[test]
fn what_is_in_the_way_is_refused_and_named_unless_it_is_to_be_overwritten() {
    let place = place();
    let root = place.path().join("a/memories");
    fs::write(root.join("zeta.md"), "other").unwrap();
    fs::write(root.join("new"), "new").unwrap();
    let before = well(place.path(), &["tree", "-a", "sqlite:a.db"]);
    let copy = ["copy", "a", "sqlite:a.db"];
    let stderr = "memdir: /memories/zeta.md: the destination has another content there\n\
         memdir: nothing was copied, as 1 path is in the way: --overwrite would replace it\n";
    assert_eq!(run(place.path(), &copy), (1, String::new(), stderr.to_owned()));
    let (code, stdout, _) = run(place.path(), &[&copy[..], &["--json"]].concat());
    let refused = json!({
        "type": "refused", "path": "/memories/zeta.md", "there": "another-content",
    });
    assert_eq!((code, lines(&stdout)), (1, vec![refused]));
    assert_eq!(well(place.path(), &["tree", "-a", "sqlite:a.db"]), before);

    assert_eq!(well(place.path(), &[&copy[..], &["--overwrite"]].concat()), "");
    assert_eq!(well(place.path(), &["show", "sqlite:a.db", "/memories/zeta.md"]), "other");

    // A file never replaces a directory.
    fs::remove_file(root.join("zeta.md")).unwrap();
    write(&root.join("zeta.md/below"), "x", 0);
    let (code, _, stderr) = run(place.path(), &[&copy[..], &["--overwrite"]].concat());
    assert_eq!(code, 1);
    assert!(stderr.starts_with("memdir: /memories/zeta.md: the destination has a file there\n"));
    assert!(!stderr.contains("--overwrite"));
    let (_, stdout, _) = run(place.path(), &[&copy[..], &["--overwrite", "--json"]].concat());
    let refused = json!({"type": "refused", "path": "/memories/zeta.md", "there": "file"});
    assert_eq!(lines(&stdout), [refused]);
    let (_, stdout, _) = run(place.path(), &["copy", "sqlite:a.db", "a", "--overwrite", "--json"]);
    let refused = json!({"type": "refused", "path": "/memories/zeta.md", "there": "directory"});
    assert_eq!(lines(&stdout), [refused]);
}

#[test]
fn check_reports_problems_and_counts_what_it_read() {
    let place = place();
    for store in ["a", "sqlite:a.db"] {
        let fine = "5 directories and 4 files read, 1.5K: no problems\n";
        assert_eq!(well(place.path(), &["check", store]), fine);
        let summary = json!({
            "type": "summary", "directories": 5, "files": 4, "bytes": 1548, "problems": 0,
        });
        assert_eq!(lines(&well(place.path(), &["check", "--json", store])), [summary]);
    }
    let root = place.path().join("a/memories");
    fs::write(root.join(".memdir-staged%2F"), "half").unwrap();
    fs::write(root.join("line\u{1b}[31m\n"), "").unwrap();
    assert_eq!(
        run(place.path(), &["check", "a"]),
        (
            1,
            "/memories/line\\u{1b}[31m\\n has a name that no path can hold\n\
             /memories/.memdir-staged%2F was left by a process that ended in the middle of a \
             command\n\
             5 directories and 4 files read, 1.5K: 2 problems\n"
                .to_owned(),
            String::new()
        )
    );
    assert!(root.join(".memdir-staged%2F").exists(), "looking at it changed it");
    let (code, stdout, _) = run(place.path(), &["check", "a", "--json"]);
    assert_eq!(code, 1);
    assert_eq!(
        lines(&stdout)[1],
        json!({
            "type": "problem", "kind": "left-over", "path": "/memories/.memdir-staged%2F",
            "details": "",
        })
    );
    // Entries that do not belong to the memory are not copied, and are reported.
    let (code, stdout, stderr) = run(place.path(), &["copy", "a", "b"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.starts_with("memdir: left out: /memories/line\\u{1b}"), "{stderr}");
}

#[test]
fn wrong_arguments_are_explained() {
    let place = place();
    for (arguments, expected) in [
        (&[][..], "Usage: memdir"),
        (&["tree"], "<STORE>"),
        (&["shw", "a", "/memories/a"], "a similar subcommand exists: 'show'"),
        (&["tree", "a", "--depth", "0"], "--depth <LEVELS>"),
        (&["tree", "a", "notes"], "PATH is wrong: the path does not start with /memories"),
        (&["show", "a", "/memories/../x"], "PATH is wrong: the path would escape /memories"),
        (&["show", "a", "/memories/zeta.md", "-l", "--json"], "cannot be used with"),
        (&["copy", "a", "b", "--durability", "none"], "[possible values: full, relaxed]"),
        (&["tree", ""], "the store address is empty"),
        (&["tree", "memory:"], "a new store in each process"),
        (&["copy", "a", "memory:"], "a new store in each process"),
        (&["tree", "redis://h/0"], "starts with \"redis:\""),
        (&["tree", "sqlite://a.db"], "too many slashes"),
        (&["tree", "env:MEMDIR_NOT_SET"], "\"MEMDIR_NOT_SET\" is not set"),
        (&["tree", "env:"], "\"\" is not set"),
    ] {
        let (code, stdout, stderr) = run(place.path(), arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    let no_text = OsStr::from_bytes(b"a\xff");
    let (code, _, stderr) =
        said(&memdir(place.path()).args([OsStr::new("tree"), no_text]).output().unwrap());
    assert_eq!(code, 2);
    assert!(stderr.contains("invalid UTF-8"), "{stderr}");
    let mut command = memdir(place.path());
    command.env("STORE", no_text).args(["tree", "env:STORE"]);
    let (code, _, stderr) = said(&command.output().unwrap());
    assert_eq!(
        (code, stderr.as_str()),
        (
            2,
            "memdir: the environment variable \"STORE\" is not UTF-8 text: set it to the address of the store\n"
        )
    );
}

#[test]
fn help_and_version_are_on_standard_output() {
    let place = tempfile::tempdir().unwrap();
    let version = concat!("memdir ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(well(place.path(), &["--version"]), version);
    let help = well(place.path(), &["--help"]);
    for word in ["tree", "show", "copy", "check", "env:NAME", "Exit codes:", "--json"] {
        assert!(help.contains(word), "{word}");
    }
    assert!(well(place.path(), &["copy", "--help"]).contains("--dry-run"));
    for command in [&["help"][..], &["help", "copy"], &["tree", "--help"], &["copy", "--help"]] {
        let long = well(place.path(), command).lines().any(|line| line.chars().count() > 100);
        assert!(!long, "{command:?}");
    }
}

/// Whatever is wrong with an address or its location, its password is not printed.
#[test]
fn no_secret_is_ever_printed() {
    let place = place();
    for address in [
        "postgres://me:hunter2@127.0.0.1:1/db?password=hunter2",
        "postgres://me:hun@hunter2@127.0.0.1:1/db",
        "postgres//me:hunter2@db",
        "sqlite://me:hunter2@db",
        "sqlite:no/such/password=hunter2/a.db",
        "no/such:hunter2@directory",
        "a/memories/zeta.md/me:hunter2@x",
        "redis://me:hunter2@h",
        "s3:me:hunter2@bucket",
        "env:postgres://me:hunter2@db",
        "--store=redis://me:hunter2@h",
        "-dredis://me:hunter2@h",
    ] {
        let option = format!("--depth={address}");
        let unknown = format!("--unknown={address}");
        for arguments in [
            &["tree", address][..],
            &["tree", "env:STORE"],
            &["tree", "a", address],
            &["tree", "a", "/memories", address],
            &["tree", "a", &option],
            &["tree", "a", &unknown],
            &["show", "a", address],
            &["show", address, "/memories/a", "--json"],
            &["check", address],
            &["check", "env:STORE", "--json"],
            &["copy", address, "b"],
            &["copy", "--durability", address, "a", "b"],
            &["copy", "env:STORE", "b", "--json"],
            &[address],
            &["help", address],
        ] {
            let mut command = memdir(place.path());
            // The test must not wait for remote stores.
            command.env("STORE", address).args(arguments);
            let (code, stdout, stderr) = said(&command.output().unwrap());
            assert_ne!(code, 0, "{arguments:?}");
            for text in [&stdout, &stderr] {
                assert!(!text.contains("hunter2"), "{arguments:?}: {text}");
            }
            assert!(!stderr.is_empty() && !stderr.contains("panicked"), "{stderr}");
        }
    }
}

#[test]
fn a_copy_into_itself_is_refused_before_anything_is_made() {
    let place = place();
    let place = place.path();
    let before = well(place, &["tree", "a", "--all"]);
    for (from, to) in [
        ("a", "dir:a/memories/new/below"),
        ("a", "sqlite:a/memories/new.db"),
        ("a", "./a"),
        ("dir:a/memories/notes", "a"),
        ("sqlite:a.db", "dir:."),
        ("sqlite:a.db", "sqlite:./a.db"),
    ] {
        for more in [&["--dry-run"][..], &[]] {
            let (code, stdout, stderr) = run(place, &[&["copy", from, to][..], more].concat());
            assert_eq!((code, stdout.as_str()), (2, ""), "{from} {to}: {stderr}");
            assert!(stderr.contains("one of them is within the other"), "{stderr}");
        }
    }
    assert_eq!(well(place, &["tree", "a", "--all"]), before);
}

#[test]
fn a_tilde_is_the_home_directory() {
    let place = place();
    let place = place.path();
    let home = tempfile::tempdir().unwrap();
    let at_home = |arguments: &[&str]| {
        said(&memdir(place).env("HOME", home.path()).args(arguments).output().unwrap())
    };
    let tree = well(place, &["tree", "a"]);
    for to in ["~/memory", "dir:~/notes", "sqlite:~/agent.db"] {
        assert_eq!(at_home(&["copy", "a", to]), (0, String::new(), String::new()), "{to}");
        assert_eq!(at_home(&["tree", to]).1, tree, "{to}");
    }
    for made in ["memory/memories/zeta.md", "notes/zeta.md", "agent.db"] {
        assert!(home.path().join(made).exists(), "{made}");
    }
    for to in ["~somebody/memory", "dir:~somebody", "sqlite:~somebody.db"] {
        let (code, _, stderr) = at_home(&["copy", "a", to]);
        assert!(code == 2 && stderr.contains("\"./~somebody"), "{to}: {stderr}");
    }
    assert_eq!(at_home(&["copy", "a", "./~"]).0, 0);
    let here = fs::read_dir(place).unwrap().flatten().map(|entry| entry.file_name());
    let tildes: Vec<_> = here.filter(|name| name.as_bytes().starts_with(b"~")).collect();
    assert_eq!(tildes, ["~"]);
}

#[test]
fn the_directory_of_the_files_is_not_taken_for_a_memory() {
    let place = place();
    let place = place.path();
    for arguments in [&["tree", "a/memories"][..], &["copy", "sqlite:a.db", "./a/memories"]] {
        let (code, stdout, stderr) = run(place, arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{stderr}");
        assert!(stderr.contains("a\", whose files") && stderr.contains("dir:"), "{stderr}");
    }
    assert!(!place.join("a/memories/memories").exists());
    assert_eq!(well(place, &["tree", "dir:a/memories"]), well(place, &["tree", "a"]));
}
