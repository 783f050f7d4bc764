//! The program `memdir` on encrypted stores: keys come from the environment and are never passed
//! on.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;

use crate::common::program::{memdir, place, said, well};

const PHRASE: &str = "correct horse battery staple";

fn with(place: &Path, keys: &[(&str, &str)], arguments: &[&str]) -> (i32, String, String) {
    let output = memdir(place).envs(keys.iter().copied()).args(arguments).output().unwrap();
    let (code, stdout, stderr) = said(&output);
    for (_, key) in keys {
        assert!(key.is_empty() || !format!("{stdout}{stderr}").contains(key), "{arguments:?}");
    }
    (code, stdout, stderr)
}

#[test]
fn a_store_moves_into_an_encrypted_one_and_back() {
    let place = place();
    let place = place.path();
    let bytes = format!("hex:{}", "5a".repeat(32));
    for (to, key, names) in [("sqlite:e.db", PHRASE, true), ("./e", bytes.as_str(), false)] {
        let mut copy = vec!["copy", "a", to];
        copy.extend(names.then_some("--encrypt-names"));
        let keys = [("MEMDIR_TO_ENCRYPTION_KEY", key)];
        for _ in 0..2 {
            assert_eq!(with(place, &keys, &copy), (0, String::new(), String::new()), "{to}");
        }
        let only = [("MEMDIR_ENCRYPTION_KEY", key)];
        assert_eq!(with(place, &only, &["tree", to]).1, well(place, &["tree", "a"]), "{to}");
        let shown = with(place, &only, &["show", to, "/memories/zeta.md"]);
        assert_eq!(shown, (0, "last\n".to_owned(), String::new()), "{to}");
        assert_eq!(with(place, &only, &["check", to]).0, 0, "{to}");

        // Without its key, or with another one, it cannot be opened.
        let (code, stdout, stderr) = with(place, &[], &["tree", to]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{to}: {stderr}");
        let other = [("MEMDIR_ENCRYPTION_KEY", "another one")];
        let (code, stdout, stderr) = with(place, &other, &["tree", to]);
        assert_eq!((code, stdout.as_str()), (2, ""), "{to}: {stderr}");
        assert!(stderr.contains("another key"), "{stderr}");

        let back = format!("back-{names}");
        let keys = [("MEMDIR_FROM_ENCRYPTION_KEY", key)];
        assert_eq!(with(place, &keys, &["copy", to, &back]).0, 0, "{to}");
        assert_eq!(well(place, &["tree", &back, "--all"]), well(place, &["tree", "a", "--all"]));
    }
    let database = fs::read(place.join("e.db")).unwrap();
    for plain in [&b"last\n"[..], b"zeta", b"today"] {
        assert!(!database.windows(plain.len()).any(|bytes| bytes == plain));
    }
}

#[test]
fn a_key_that_is_wrong_or_misplaced_is_refused_before_anything_is_made() {
    let place = place();
    let place = place.path();
    for (keys, arguments, says) in [
        (("MEMDIR_ENCRYPTION_KEY", PHRASE), &["copy", "a", "new"][..], "MEMDIR_TO_ENCRYPTION_KEY"),
        (("MEMDIR_TO_ENCRYPTION_KEY", ""), &["copy", "a", "new"], "must not be empty"),
        (("MEMDIR_TO_ENCRYPTION_KEY", "hex:5a5b"), &["copy", "a", "new"], "64 hexadecimal digits"),
        (("MEMDIR_FROM_ENCRYPTION_KEY", PHRASE), &["copy", "a", "new"], "not encrypted"),
        (("MEMDIR_ENCRYPTION_KEY", PHRASE), &["tree", "a"], "not encrypted"),
        (("UNUSED", ""), &["copy", "a", "new", "--encrypt-names"], "MEMDIR_TO_ENCRYPTION_KEY"),
    ] {
        let (code, stdout, stderr) = with(place, &[keys], arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{keys:?}: {stderr}");
        assert!(stderr.contains(says), "{keys:?}: {stderr}");
        assert!(!place.join("new").exists(), "{keys:?}");
    }
}

#[test]
fn a_dry_run_knows_which_names_are_too_long_to_be_encrypted() {
    let place = place();
    let place = place.path();
    let long = format!("/memories/notes/{}", "n".repeat(200));
    fs::write(place.join(format!("a{long}")), "long").unwrap();
    let keys = [("MEMDIR_TO_ENCRYPTION_KEY", PHRASE)];
    for more in [&["--dry-run"][..], &[], &["--overwrite"]] {
        let arguments = [&["copy", "a", "new", "--encrypt-names"][..], more].concat();
        let (code, stdout, stderr) = with(place, &keys, &arguments);
        assert_eq!((code, stdout.as_str()), (1, ""), "{more:?}: {stderr}");
        let verb = if more == ["--dry-run"] { "would be" } else { "was" };
        assert!(stderr.contains(&format!("{long}: ")), "{stderr}");
        assert!(stderr.contains(&format!("nothing {verb} copied")), "{stderr}");
        assert!(!place.join("new").exists(), "{more:?}");
    }
    // With plain names there is room for it.
    assert_eq!(with(place, &keys, &["copy", "a", "new"]).0, 0);
}
