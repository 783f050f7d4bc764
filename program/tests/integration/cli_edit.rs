//! `memdir edit`: the file for the editor, the result, and that nothing is lost or overwritten.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::common::program::said;
use crate::common::remembering::{Scene, all, scenes};

const A: &str = "/memories/a.md";

/// Edits a file with a shell command, in which `$1` is the draft.
fn edit(scene: &Scene, path: &str, script: &str, arguments: &[&str]) -> (i32, String, String) {
    let editor = scene.place.path().join("editor");
    fs::write(&editor, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&editor, fs::Permissions::from_mode(0o755)).unwrap();
    let temporary = scene.place.path().join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = scene.command(&[&["edit", scene.store, path][..], arguments].concat());
    command.env("TMPDIR", temporary).env_remove("VISUAL").env("EDITOR", editor);
    said(&command.output().unwrap())
}

/// The remaining drafts.
fn drafts(scene: &Scene) -> Vec<PathBuf> {
    let listed = fs::read_dir(scene.place.path().join("tmp")).unwrap();
    listed.map(|entry| entry.unwrap().path()).collect()
}

fn done(stdout: &str) -> (i32, String, String) {
    (0, stdout.to_owned(), String::new())
}

#[test]
fn the_draft_is_private_and_what_the_editor_leaves_is_written() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create(A, "one\r\ntwo").unwrap();
        let look = "stat -c '%a %n' \"$1\" \"$(dirname \"$1\")\" > seen; cat \"$1\" >> seen; printf three >> \"$1\"";
        assert_eq!(edit(&scene, A, look, &["--as", "ann"]), done("modified  /memories/a.md\n"));
        let seen = fs::read_to_string(scene.place.path().join("seen")).unwrap();
        let lines: Vec<&str> = seen.split('\n').collect();
        assert!(lines[0].starts_with("600 ") && lines[0].ends_with("a.md"), "{seen}");
        assert!(lines[1].starts_with("700 "), "{seen}");
        assert_eq!(lines[2..], ["one\r", "two"]);
        assert_eq!(memory.read(A).unwrap(), "one\r\ntwothree");
        assert_eq!(all(&memory)[0].actor.as_deref(), Some("ann"));
        // Files without a final newline stay so, although the editor appends one.
        edit(&scene, A, "printf 'x\\n' > \"$1\"; touch \"$1~\"", &[]);
        assert_eq!(memory.read(A).unwrap(), "x");
        edit(&scene, A, "printf 'x\\ny\\n\\n' > \"$1\"", &[]);
        assert_eq!(memory.read(A).unwrap(), "x\ny\n");
        assert!(drafts(&scene).is_empty());
    }
}

#[test]
fn an_unchanged_text_is_not_written_and_a_new_file_is_made() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create(A, "one").unwrap();
        assert_eq!(edit(&scene, A, "true", &[]), done("unchanged  /memories/a.md\n"));
        assert_eq!(edit(&scene, A, "echo >> \"$1\"", &[]), done("unchanged  /memories/a.md\n"));
        assert_eq!(edit(&scene, "/memories/n/b", "true", &[]), done("unchanged  /memories/n/b\n"));
        assert!(!memory.exists("/memories/n/b").unwrap());
        let new = edit(&scene, "/memories/n/b", "echo new > \"$1\"", &[]);
        assert_eq!(new, done("created   /memories/n/b\n"));
        assert_eq!(memory.read("/memories/n/b").unwrap(), "new\n");
        assert_eq!(all(&memory).len(), 2);
        let (code, _, stderr) = edit(&scene, "/memories/n", "true", &[]);
        assert!(code == 1 && stderr.contains("directory"), "{stderr}");
        assert!(drafts(&scene).is_empty());
    }
}

#[test]
fn what_somebody_else_wrote_is_not_overwritten_and_the_text_is_kept() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create(A, "one\n").unwrap();
        let (program, store) = (env!("CARGO_BIN_EXE_memdir"), scene.store);
        let other = |path: &str| {
            format!("echo theirs | {program} put {store} {path} >/dev/null; echo mine > \"$1\"")
        };
        for path in [A, "/memories/new.md"] {
            let (code, stdout, stderr) = edit(&scene, path, &other(path), &[]);
            assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
            assert!(
                stderr.contains("was changed meanwhile, and nothing was overwritten"),
                "{stderr}"
            );
            let (_, kept) = stderr.split_once("Your text is in ").unwrap();
            let (kept, _) = kept.split_once(". Compare").unwrap();
            assert_eq!(fs::read_to_string(kept).unwrap(), "mine\n");
            assert_eq!(memory.read(path).unwrap(), "theirs\n");
            // With the command that the message names.
            scene.well(&["put", store, path, kept]);
            assert_eq!(memory.read(path).unwrap(), "mine\n");
            fs::remove_dir_all(&drafts(&scene)[0]).unwrap();
        }
        // Another process has deleted it.
        let delete = format!("{program} rm {store} {A} >/dev/null; echo again > \"$1\"");
        let (code, _, stderr) = edit(&scene, A, &delete, &[]);
        assert!(code == 1 && stderr.contains("was changed meanwhile"), "{stderr}");
        assert!(!memory.exists(A).unwrap());
        assert_eq!(drafts(&scene).len(), 1);
    }
}

#[test]
fn whatever_fails_the_text_is_kept_if_there_is_one() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create(A, "one\n").unwrap();
        for (script, arguments, says, kept) in [
            ("echo mine > \"$1\"", &["--max-file-bytes", "4"][..], "4 bytes at most", true),
            ("echo mine > \"$1\"; exit 3", &[], "the editor ended with", true),
            ("printf '\\377' > \"$1\"", &[], "is not UTF-8 any more", true),
            ("exit 1", &[], "the editor ended with", false),
        ] {
            let (code, stdout, stderr) = edit(&scene, A, script, arguments);
            assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
            assert!(stderr.contains(says), "{stderr}");
            assert_eq!(memory.read(A).unwrap(), "one\n");
            assert_eq!(drafts(&scene).len(), usize::from(kept), "{script}");
            for draft in drafts(&scene) {
                assert!(stderr.contains(draft.to_str().unwrap()), "{stderr}");
                fs::remove_dir_all(draft).unwrap();
            }
        }
        let mut command = scene.command(&["edit", scene.store, A]);
        command.env_remove("VISUAL").env("EDITOR", "no-such-editor --wait");
        let (code, _, stderr) = said(&command.output().unwrap());
        assert!(
            code == 2 && stderr.contains("the editor no-such-editor --wait cannot be started"),
            "{stderr}"
        );
    }
}
