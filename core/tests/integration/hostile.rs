//! Hostile paths, links and files, in a separate place and without privileges.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::common::{memory, on_disk, without_power};
use memdir::Memory;

fn refusal(result: Result<String, memdir::Error>) -> String {
    match result {
        Err(memdir::Error::Refused(refused)) => refused.into_sentence(),
        other => panic!("should be refused: {other:?}"),
    }
}

/// A memory with `file` and `dir/inner`. Outside it are a file and a directory that must not
/// change.
fn with_outside(place: &Path) -> (Memory, std::path::PathBuf) {
    let base = place.join("base");
    let memory = memory(&base);
    memory.create("/memories/file", "content\n").unwrap();
    memory.create("/memories/dir/inner", "content\n").unwrap();
    fs::create_dir(place.join("outside")).unwrap();
    fs::write(place.join("outside/secret"), "secret\n").unwrap();
    (memory, base.join("memories"))
}

#[test]
fn links_are_never_followed() {
    without_power(here!("links_are_never_followed"), |place| {
        let (memory, root) = with_outside(place);
        symlink(place.join("outside/secret"), root.join("leaf")).unwrap();
        symlink("../../outside", root.join("away")).unwrap();
        symlink("dir", root.join("inside")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        let before = on_disk(place);

        for link in ["leaf", "away", "away/secret", "inside", "inside/inner", "dangling", "loop/x"]
        {
            let path = format!("/memories/{link}");
            let sentence = format!("Path {path} would escape /memories directory via symlink");
            assert_eq!(refusal(memory.view(&path, None)), sentence);
            assert_eq!(refusal(memory.create(&path, "x")), sentence);
            assert_eq!(refusal(memory.str_replace(&path, "secret", "x")), sentence);
            assert_eq!(refusal(memory.insert(&path, 0, "x")), sentence);
            if link.contains('/') {
                assert_eq!(refusal(memory.delete(&path)), sentence);
                assert_eq!(refusal(memory.rename(&path, "/memories/new/place")), sentence);
                assert_eq!(refusal(memory.rename("/memories/file", &path)), sentence);
            } else {
                let below = format!("{path}/new/file");
                let sentence = format!("Path {below} would escape /memories directory via symlink");
                assert_eq!(refusal(memory.create(&below, "x")), sentence);
                assert_eq!(refusal(memory.rename("/memories/file", &below)), sentence);
            }
        }
        assert_eq!(
            refusal(memory.rename("/memories/file", "/memories/leaf")),
            "Error: The destination /memories/leaf already exists"
        );
        assert_eq!(on_disk(place), before);
        assert_eq!(fs::read_to_string(place.join("outside/secret")).unwrap(), "secret\n");

        let listing = memory.view("/memories", None).unwrap();
        for link in ["leaf", "away", "inside", "dangling", "loop", "secret"] {
            assert!(!listing.contains(&format!("/memories/{link}")), "{listing}");
        }
    });
}

#[test]
fn deleting_and_renaming_act_on_the_link_itself() {
    without_power(here!("deleting_and_renaming_act_on_the_link_itself"), |place| {
        let (memory, root) = with_outside(place);
        symlink("../../outside", root.join("dir/away")).unwrap();
        symlink("../outside", root.join("link")).unwrap();

        memory.rename("/memories/link", "/memories/moved").unwrap();
        assert_eq!(fs::read_link(root.join("moved")).unwrap(), Path::new("../outside"));
        memory.delete("/memories/moved").unwrap();
        memory.delete("/memories/dir").unwrap();
        assert_eq!(on_disk(&root), ["file"]);
        assert_eq!(on_disk(&place.join("outside")), ["secret"]);

        symlink(place.join("outside"), root.join("again")).unwrap();
        memory.clear().unwrap();
        assert_eq!(on_disk(&root), [""; 0]);
        assert_eq!(on_disk(&place.join("outside")), ["secret"]);
    });
}

#[test]
fn special_files_are_answered_at_once_and_never_opened() {
    without_power(here!("special_files_are_answered_at_once_and_never_opened"), |place| {
        let (memory, root) = with_outside(place);
        let fifo = root.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();

        // A process that opened the FIFO for reading would unblock this writer.
        let waiting = fifo.clone();
        let writer = std::thread::spawn(move || fs::OpenOptions::new().write(true).open(waiting));

        for name in ["fifo", "socket"] {
            let path = format!("/memories/{name}");
            let sentence =
                format!("Error: {path} is neither a file nor a directory and cannot be opened");
            assert_eq!(refusal(memory.view(&path, None)), sentence);
            assert_eq!(refusal(memory.str_replace(&path, "a", "b")), sentence);
            assert_eq!(refusal(memory.insert(&path, 0, "b")), sentence);
            assert_eq!(
                refusal(memory.create(&path, "x")),
                format!("Error: File {path} already exists")
            );
        }
        let listing = memory.view("/memories", None).unwrap();
        assert!(!listing.contains("fifo") && !listing.contains("socket"), "{listing}");
        assert!(!writer.is_finished(), "the FIFO was opened");
        drop(fs::File::open(&fifo).unwrap());
        writer.join().unwrap().unwrap();

        memory.rename("/memories/fifo", "/memories/pipe").unwrap();
        memory.delete("/memories/pipe").unwrap();
        assert!(!root.join("fifo").exists() && !root.join("pipe").exists());
    });
}

#[test]
fn names_made_by_others_cannot_forge_a_listing() {
    without_power(here!("names_made_by_others_cannot_forge_a_listing"), |place| {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let (memory, root) = with_outside(place);
        for name in [&b"x\n4.0K\tforged"[..], b"\xff\xfe", b"a\\b", b"%2e%2e", b"tab\t"] {
            fs::write(root.join(OsStr::from_bytes(name)), "x").unwrap();
        }
        assert_eq!(
            memory.view("/memories", None).unwrap(),
            "Here're the files and directories up to 2 levels deep in /memories, excluding hidden \
             items and node_modules:\n4.0K\t/memories\n4.0K\t/memories/dir\n8B\t/memories/dir/inner\
             \n8B\t/memories/file"
        );
    });
}

#[test]
fn what_may_not_be_read_is_left_out_or_refused() {
    without_power(here!("what_may_not_be_read_is_left_out_or_refused"), |place| {
        let (memory, root) = with_outside(place);
        memory.create("/memories/shut/inner", "x").unwrap();
        fs::set_permissions(root.join("shut"), PermissionsExt::from_mode(0o000)).unwrap();
        fs::set_permissions(root.join("file"), PermissionsExt::from_mode(0o000)).unwrap();
        let listing = memory.view("/memories", None).unwrap();
        assert!(listing.contains("4.0K\t/memories/shut\n") || listing.ends_with("/memories/shut"));
        assert!(!listing.contains("shut/inner"), "{listing}");
        for path in ["/memories/shut", "/memories/shut/inner", "/memories/file"] {
            assert_eq!(
                refusal(memory.view(path, None)),
                format!(
                    "Error: Permission denied: the memory store does not allow this for {path}"
                )
            );
        }
        fs::set_permissions(root.join("dir"), PermissionsExt::from_mode(0o500)).unwrap();
        assert!(refusal(memory.create("/memories/dir/new", "x")).contains("Permission denied"));
        assert!(refusal(memory.delete("/memories/dir/inner")).contains("Permission denied"));
        // Our own directory is removed with its content, whatever its mode.
        memory.delete("/memories/dir").unwrap();
        assert!(!root.join("dir").exists());
        fs::set_permissions(root.join("shut"), PermissionsExt::from_mode(0o700)).unwrap();
    });
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_swapped_for_a_link_in_mid_command_leads_nowhere() {
    without_power(here!("a_directory_swapped_for_a_link_in_mid_command_leads_nowhere"), |place| {
        use std::sync::atomic::{AtomicBool, Ordering};

        let (memory, root) = with_outside(place);
        fs::write(place.join("outside/inner"), "secret\n").unwrap();
        symlink("../../outside", root.join("link")).unwrap();
        let stop = AtomicBool::new(false);
        let (mut seen, mut refused) = (0, 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // `dir` alternates between a directory and a link out of the tree, without a gap.
                use rustix::fs::{CWD, RenameFlags, renameat_with};
                while !stop.load(Ordering::Relaxed) {
                    let (dir, link) = (root.join("dir"), root.join("link"));
                    renameat_with(CWD, &dir, CWD, &link, RenameFlags::EXCHANGE).unwrap();
                }
            });
            for round in 0..500 {
                let views = [
                    memory.view("/memories/dir/inner", None),
                    memory.view("/memories/dir", None),
                    memory.view("/memories", None),
                ];
                seen += usize::from(views[0].is_ok());
                refused += usize::from(views[0].is_err());
                for view in views.into_iter().flatten() {
                    assert!(!view.contains("secret"), "{view}");
                }
                let _ = memory.insert("/memories/dir/inner", 0, "edited");
                let _ = memory.create(&format!("/memories/dir/new{round}"), "made");
                let _ = memory.rename(&format!("/memories/dir/new{round}"), "/memories/dir/last");
                let _ = memory.delete("/memories/dir/last");
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert!(seen > 0 && refused > 0, "it was never swapped in time: {seen}, {refused}");
        assert_eq!(on_disk(&place.join("outside")), ["inner", "secret"]);
        assert_eq!(fs::read_to_string(place.join("outside/inner")).unwrap(), "secret\n");
        assert_eq!(fs::read_to_string(place.join("outside/secret")).unwrap(), "secret\n");
    });
}

#[test]
fn no_reply_names_a_path_of_the_host() {
    without_power(here!("no_reply_names_a_path_of_the_host"), |place| {
        let (memory, root) = with_outside(place);
        // The root cannot be opened at all: the store itself is broken.
        fs::set_permissions(&root, PermissionsExt::from_mode(0o000)).unwrap();
        for input in [
            r#"{"command":"view","path":"/memories"}"#,
            r#"{"command":"view","path":"/memories/file"}"#,
            r#"{"command":"create","path":"/memories/x","file_text":""}"#,
            r#"{"command":"str_replace","path":"/memories/file","old_str":"a","new_str":"b"}"#,
            r#"{"command":"insert","path":"/memories/file","insert_line":0,"insert_text":"b"}"#,
            r#"{"command":"delete","path":"/memories/file"}"#,
            r#"{"command":"rename","old_path":"/memories/file","new_path":"/memories/g"}"#,
        ] {
            let reply = memory.execute(input);
            assert!(reply.is_error, "{input}");
            assert!(
                !reply.content.as_text().unwrap_or_default().contains(place.to_str().unwrap()),
                "{reply:?}"
            );
        }
        fs::set_permissions(&root, PermissionsExt::from_mode(0o700)).unwrap();
    });
}
