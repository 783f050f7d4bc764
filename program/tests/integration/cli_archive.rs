//! `memdir export` and `memdir import`: a memory with its history survives the way through one file unchanged.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::program::lines;
use crate::common::remembering::{Scene, all, scenes};
use memdir::{MemoryOptions, MemoryPath, OnExisting};
use serde_json::json;

const OTHERS: [&str; 3] = ["./n", "dir:n", "sqlite:n.db"];

/// Something of every kind: bytes, long and unusual names, hidden and empty entries, and a redaction.
fn fill(scene: &Scene) {
    let memory = scene.memory();
    let long = format!("/memories/{}/{}", "d".repeat(80), "é".repeat(90));
    for (path, content) in [
        ("/memories/notes/été \"1\".md", "été\n"),
        ("/memories/.hidden/key", "k"),
        ("/memories/empty file", ""),
        ("/memories/manifest.jsonl", "{}\n"),
        (long.as_str(), "long\n"),
    ] {
        memory.create(path, content).unwrap();
    }
    let path = |path: &str| MemoryPath::parse(path).unwrap();
    let every_byte: Vec<u8> = (0..=u8::MAX).collect::<Vec<_>>().repeat(200);
    memory.store().write(&path("/memories/bytes"), &every_byte, OnExisting::Error).unwrap();
    memory.store().make_directory(&path("/memories/empty/directory")).unwrap();
    memory.acting_as("ann").create("/memories/c.md", "a secret\n").unwrap();
    let secret = all(&memory)[0].id;
    memory.str_replace("/memories/c.md", "secret", "pen").unwrap();
    memory.redact(secret, "no longer").unwrap();
    memory.rename("/memories/notes", "/memories/old").unwrap();
}

/// The complete content of a store, with its times.
fn whole(scene: &Scene, store: &str) -> String {
    let tree = scene.well(&["tree", store, "--all", "--json"]);
    let log = scene.well(&["log", store, "-p", "--json"]);
    let now = scene.well_bytes(&["show", store, "/memories/bytes"]);
    assert_eq!(now.len(), 51_200);
    format!("{tree}{log}")
}

#[test]
fn what_is_imported_is_what_was_exported() {
    for (scene, to) in scenes().into_iter().zip(OTHERS.into_iter().cycle()) {
        fill(&scene);
        let before = whole(&scene, scene.store);
        assert_eq!(scene.well(&["export", scene.store, "m.tar"]), "");
        let file = scene.place.path().join("m.tar");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

        let dry = scene.json(&["import", "m.tar", to, "--dry-run"]);
        let summary = dry.last().unwrap();
        assert_eq!((&summary["files"], &summary["changes"]), (&json!(7), &json!(10)));
        assert_eq!(scene.run(&["tree", to]).0, 3, "a dry run made something");
        assert_eq!(scene.well(&["import", "m.tar", to]), "", "{} {to}", scene.store);
        assert!(whole(&scene, to) == before, "{} {to}", scene.store);
        assert!(scene.well(&["check", to]).ends_with("10 versions: no problems\n"));
        let again = &scene.json(&["import", "m.tar", to])[0];
        assert_eq!(
            (&again["files"], &again["equal"], &again["changes"]),
            (&json!(0), &json!(7), &json!(0))
        );

        // Another export of the same memory has the same bytes, and so has that of a copy in another kind of store.
        scene.well(&["copy", scene.store, "sqlite:copy.db"]);
        scene.well(&["copy", scene.store, "./copy"]);
        for other in [to, "sqlite:copy.db", "./copy"] {
            scene.well(&["export", other, "n.tar"]);
            let other_file = fs::read(scene.place.path().join("n.tar")).unwrap();
            assert!(fs::read(&file).unwrap() == other_file, "{} {other}", scene.store);
            fs::remove_file(scene.place.path().join("n.tar")).unwrap();
        }
    }
}

/// A history that was trimmed is still marked as incomplete after the import.
#[test]
fn a_history_that_was_trimmed_stays_one() {
    for (scene, to) in scenes().into_iter().zip(OTHERS.into_iter().cycle()) {
        fill(&scene);
        for number in 0..20 {
            scene.memory().create(&format!("/memories/{number}"), "x").unwrap();
            scene.memory().delete(&format!("/memories/{number}")).unwrap();
        }
        let mut options = MemoryOptions::default();
        options.history = true;
        options.history_max_versions = Some(1);
        assert!(scene.memory_with(scene.store, options).trim_history().unwrap() > 0);
        scene.well(&["export", scene.store, "m.tar"]);
        scene.well(&["import", "m.tar", to]);
        scene.well(&["copy", scene.store, "./copy"]);
        for other in [to, "./copy"] {
            assert!(whole(&scene, other) == whole(&scene, scene.store), "{} {to}", scene.store);
            let (code, _, stderr) = scene.run(&["tree", other, "--at", "1h"]);
            assert!(code == 1 && stderr.contains("removed from the history"), "{stderr}");
        }
    }
}

#[test]
fn other_programs_can_list_and_unpack_it() {
    let scene = scenes().remove(0);
    fill(&scene);
    scene.well(&["export", "m", "m.tar"]);
    let tar = |arguments: &[&str]| {
        Command::new("tar")
            .args(arguments)
            .env("LC_ALL", "C.UTF-8")
            .current_dir(scene.place.path())
            .output()
            .ok()
    };
    let Some(listed) = tar(&["tf", "m.tar"]) else {
        eprintln!("==> LEFT OUT: another program on the archive, because tar is not installed");
        return;
    };
    let listed = String::from_utf8(listed.stdout).unwrap();
    let names: Vec<&str> = listed.lines().collect();
    assert!(names.contains(&"memories/c.md") && names.contains(&"memories/empty/directory/"));
    assert!(names.ends_with(&["history/000001", "manifest.jsonl"]), "{listed}");
    fs::create_dir(scene.place.path().join("unpacked")).unwrap();
    assert!(tar(&["xf", "m.tar", "-C", "unpacked"]).unwrap().status.success());
    let tree = |store: &str| {
        let tree = lines(&scene.well(&["tree", store, "--all", "--json"]));
        // Its times are in whole seconds.
        tree.iter().map(|entry| format!("{} {}", entry["path"], entry["size"])).collect::<Vec<_>>()
    };
    assert_eq!(tree("unpacked"), tree("m"));
}

#[test]
fn an_export_replaces_a_file_only_if_it_is_to() {
    for scene in scenes() {
        fill(&scene);
        let file = scene.place.path().join("m.tar");
        fs::write(&file, "mine").unwrap();
        let (code, stdout, stderr) = scene.run(&["export", scene.store, "m.tar"]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert_eq!(
            stderr,
            "memdir: nothing was exported, as m.tar is there: --overwrite would replace it\n"
        );
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        let summary = &scene.json(&["export", scene.store, "m.tar", "--overwrite"])[0];
        let expected = json!({
            "type": "summary", "files": 7, "bytes": 51_221, "directories": 1, "changes": 10,
            "left_out": 0,
        });
        assert_eq!(*summary, expected);
        let summary = &scene.json(&["export", scene.store, "n.tar", "--without-history"])[0];
        assert_eq!((&summary["files"], &summary["changes"]), (&json!(7), &json!(0)));
        scene.well(&["import", "n.tar", "./n"]);
        assert_eq!(scene.run(&["log", "./n"]).0, 1);
        let (code, _, stderr) = scene.run(&["export", scene.store, "none/m.tar"]);
        assert!(code == 3 && stderr.starts_with("memdir: none/m.tar: "), "{stderr}");
        let within = if scene.store.starts_with("./") { "m/memories/m.tar" } else { "m/m.tar" };
        if !scene.store.starts_with("sqlite") {
            let (code, _, stderr) = scene.run(&["export", scene.store, within]);
            assert!(code == 2 && stderr.contains("is within the store"), "{stderr}");
        }
        let (code, _, stderr) = scene.run(&["export", "./none", "o.tar"]);
        assert!(
            code == 3 && stderr.starts_with("memdir: there is no memory at ./none: "),
            "{stderr}"
        );
        assert!(!scene.place.path().join("o.tar").exists());
    }
}

#[test]
fn what_is_in_the_way_of_an_import_is_named() {
    for scene in scenes() {
        fill(&scene);
        scene.well(&["export", scene.store, "m.tar"]);
        scene.memory_at("./n", false).create("/memories/c.md", "other\n").unwrap();
        let (code, stdout, stderr) = scene.run(&["import", "m.tar", "./n"]);
        assert_eq!((code, stdout.as_str()), (1, ""));
        assert_eq!(
            stderr,
            "memdir: /memories/c.md: the destination has another content there\n\
             memdir: nothing was copied, as 1 path is in the way: --overwrite would replace it\n"
        );
        assert!(!scene.well(&["tree", "./n"]).contains("bytes"));
        scene.well(&["import", "m.tar", "./n", "--overwrite"]);
        assert!(whole(&scene, "./n") == whole(&scene, scene.store));

        let own = scene.memory_at("sqlite:own.db", true);
        own.create("/memories/own.md", "own\n").unwrap();
        let (code, _, stderr) = scene.run(&["import", "m.tar", "sqlite:own.db"]);
        assert!(code == 1 && stderr.contains("has a history of its own"), "{stderr}");
        scene.well(&["import", "m.tar", "sqlite:own.db", "--without-history"]);
        assert_eq!(all(&own).len(), 1);
        assert_eq!(scene.well(&["show", "sqlite:own.db", "/memories/c.md"]), "a pen\n");
    }
}

#[test]
fn an_archive_that_is_not_whole_is_refused_before_anything_is_made() {
    let scene = scenes().remove(0);
    let memory = scene.memory();
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.create("/memories/bytes", &"x".repeat(51_200)).unwrap();
    memory.str_replace("/memories/a.md", "one", "two").unwrap();
    scene.well(&["export", "m", "m.tar"]);
    let before = whole(&scene, "m");
    let good = fs::read(scene.place.path().join("m.tar")).unwrap();
    let bad = scene.place.path().join("bad.tar");
    let refused = |what: &str| {
        let (code, stdout, stderr) = scene.run(&["import", "bad.tar", "n"]);
        let is_refused = code == 1 && stdout.is_empty() && stderr.starts_with("memdir: bad.tar: ");
        assert!(is_refused || code == 0, "{what}: {code} {stderr}");
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        let made = scene.place.path().join("n");
        assert_eq!(made.exists(), code == 0, "{what}");
        if code == 0 {
            // The changed byte has no meaning.
            assert!(whole(&scene, "n") == before, "{what}");
            fs::remove_dir_all(made).unwrap();
        }
        code == 1
    };
    let mut noticed = 0;
    let places: Vec<usize> =
        (0..1024).step_by(53).chain((1024..good.len()).step_by(6007)).collect();
    for at in &places {
        let mut damaged = good.clone();
        damaged[*at] ^= 1;
        fs::write(&bad, damaged).unwrap();
        noticed += usize::from(refused(&format!("byte {at}")));
    }
    assert!(noticed * 10 > places.len() * 7, "{noticed} of {}", places.len());
    let parts = good.chunks(512).rposition(|block| block.iter().any(|byte| *byte != 0)).unwrap();
    for len in (0..=parts * 512).step_by(good.len() / 20).chain([0, 1, 511, 512, parts * 512]) {
        fs::write(&bad, &good[..len]).unwrap();
        assert!(refused(&format!("cut at {len}")), "cut at {len}");
    }
    fs::write(&bad, "no archive at all\n".repeat(100)).unwrap();
    assert!(refused("no archive"));
    let (code, _, stderr) = scene.run(&["import", "none.tar", "n"]);
    assert!(code == 3 && stderr.starts_with("memdir: none.tar cannot be read: "), "{stderr}");
}

/// A process that is killed in the middle leaves no archive, and the next import completes an interrupted one.
#[test]
fn who_is_killed_leaves_nothing_half() {
    let scene = scenes().remove(0);
    let memory = scene.memory();
    for number in 0..150 {
        memory
            .create(&format!("/memories/d{}/f{number}", number % 7), &"x\n".repeat(number * 20))
            .unwrap();
    }
    memory.create("/memories/bytes", &"x".repeat(51_200)).unwrap();
    let before = whole(&scene, "m");
    let file = scene.place.path().join("m.tar");
    let mut killed = 0;
    for delay in (0..400).step_by(27) {
        let mut child =
            scene.command(&["export", "m", "m.tar"]).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(delay));
        if child.try_wait().unwrap().is_some_and(|status| status.success()) {
            break;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        killed += 1;
        if file.exists() {
            // It was killed at the very end, after the file had its name.
            fs::remove_file(&file).unwrap();
        }
    }
    assert!(killed > 0, "no export was killed");
    // A leftover of a killed process, or a file of another program, is never written to.
    let part = scene.place.path().join("m.tar.part");
    let _ = fs::remove_file(&part);
    fs::write(scene.place.path().join("other"), "other").unwrap();
    std::os::unix::fs::symlink("other", &part).unwrap();
    scene.well(&["export", "m", "m.tar", "--overwrite"]);
    assert!(!part.exists());
    assert_eq!(fs::read(scene.place.path().join("other")).unwrap(), b"other");
    for to in ["n", "sqlite:n.db"] {
        killed = 0;
        for delay in (3..600).step_by(51) {
            let mut child =
                scene.command(&["import", "m.tar", to]).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(delay));
            if child.try_wait().unwrap().is_some_and(|status| status.success()) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        assert!(killed > 0, "{to}: no import was killed");
        scene.well(&["import", "m.tar", to]);
        assert!(whole(&scene, to) == before, "{to}");
        assert!(scene.well(&["check", to]).ends_with("151 versions: no problems\n"));
    }
}
