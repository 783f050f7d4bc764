//! The local directory: its layout on disk, its modes, and the absence of leftovers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use crate::common::{NOBODY, memory, memory_with, on_disk, process};
use memdir::{Durability, Memory, MemoryOptions, OnExisting};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn the_layout_is_that_of_the_sdks_and_nothing_else_is_left() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(&place.path().join("new/base"));
    memory.create("/memories/a/b.md", "one\n").unwrap();
    memory.create("/memories/c.md", "two\n").unwrap();
    memory.str_replace("/memories/c.md", "two", "2").unwrap();
    memory.insert("/memories/c.md", 1, "three").unwrap();
    memory.rename("/memories/c.md", "/memories/d/c.md").unwrap();
    memory.create("/memories/gone/x", "").unwrap();
    memory.delete("/memories/gone").unwrap();
    for refused in [
        memory.create("/memories/c/d/e/f", &"x".repeat(17 << 20)),
        memory.create("/memories/a/b.md/below", ""),
        memory.rename("/memories/none", "/memories/x/y/z"),
        memory.rename("/memories/a", "/memories/a/x/y"),
        memory.str_replace("/memories/d/c.md", "none", "x"),
    ] {
        refused.unwrap_err();
    }
    assert_eq!(
        on_disk(place.path()),
        [
            "new",
            "new/base",
            "new/base/memories",
            "new/base/memories/a",
            "new/base/memories/a/b.md",
            "new/base/memories/d",
            "new/base/memories/d/c.md",
        ]
    );
    let text = fs::read_to_string(place.path().join("new/base/memories/d/c.md")).unwrap();
    assert_eq!(text, "2\nthree\n");
}

#[test]
fn an_existing_directory_is_taken_over_and_edits_keep_modes() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("memories");
    fs::create_dir(&root).unwrap();
    fs::set_permissions(&root, PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(root.join("old.sh"), "echo old\n").unwrap();
    fs::set_permissions(root.join("old.sh"), PermissionsExt::from_mode(0o754)).unwrap();

    let memory = memory(place.path());
    memory.str_replace("/memories/old.sh", "old", "new").unwrap();
    memory.insert("/memories/old.sh", 0, "#!/bin/sh").unwrap();
    assert_eq!(fs::read_to_string(root.join("old.sh")).unwrap(), "#!/bin/sh\necho new\n");
    assert_eq!(mode(&root.join("old.sh")), 0o754);
    assert_eq!(mode(&root), 0o755);

    let mut options = MemoryOptions::default();
    options.on_existing = OnExisting::Overwrite;
    let overwriting = Memory::open(place.path().to_str().unwrap(), options).unwrap();
    overwriting.create("/memories/old.sh", "anew").unwrap();
    assert_eq!(mode(&root.join("old.sh")), 0o754);
}

/// Runs under the umask of the job. The umask belongs to the whole process.
#[test]
fn new_files_and_directories_are_private_whatever_the_umask() {
    const ME: &str = here!("new_files_and_directories_are_private_whatever_the_umask");
    if let Ok(umask) = std::env::var("UMASK_JOB") {
        let place = tempfile::tempdir().unwrap();
        let bits = u32::from_str_radix(&umask, 8).unwrap();
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(bits));
        let base = place.path().join("some/base");
        let memory = memory(&base);
        memory.create("/memories/a/b/file", "x").unwrap();
        memory.insert("/memories/a/b/file", 0, "y").unwrap();
        memory.rename("/memories/a/b/file", "/memories/c/d/file").unwrap();
        for directory in
            ["", "memories", "memories/a", "memories/a/b", "memories/c", "memories/c/d"]
        {
            assert_eq!(mode(&base.join(directory)), 0o700, "{directory}");
        }
        assert_eq!(mode(&base.join("memories/c/d/file")), 0o600);
        return;
    }
    for umask in ["000", "022", "077", "277"] {
        assert!(process(ME, &[("UMASK_JOB", umask)]).wait().unwrap().success(), "umask {umask}");
    }
}

#[test]
fn a_root_that_is_removed_or_replaced_is_noticed() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("memories");
    let memory = memory(place.path());
    memory.create("/memories/a", "old\n").unwrap();

    fs::rename(&root, place.path().join("aside")).unwrap();
    assert!(!memory.view("/memories", None).unwrap().contains("/memories/a"));
    memory.create("/memories/a", "new\n").unwrap();
    assert_eq!(fs::read_to_string(root.join("a")).unwrap(), "new\n");
    assert_eq!(fs::read_to_string(place.path().join("aside/a")).unwrap(), "old\n");

    fs::remove_dir_all(&root).unwrap();
    memory.create("/memories/b", "again\n").unwrap();
    assert_eq!(on_disk(&root), ["b"]);

    // If the root is replaced by a link, the store is broken, and commands do not follow the link.
    fs::rename(&root, place.path().join("hidden")).unwrap();
    symlink(place.path().join("aside"), &root).unwrap();
    assert!(matches!(memory.view("/memories/a", None), Err(memdir::Error::Store(_))));
    assert!(matches!(memory.delete("/memories/a"), Err(memdir::Error::Store(_))));
    assert_eq!(on_disk(&place.path().join("aside")), ["a"]);
}

#[test]
fn a_base_that_is_a_link_is_the_developers_word() {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join("real")).unwrap();
    symlink("real", place.path().join("base")).unwrap();
    memory(&place.path().join("base")).create("/memories/a", "x").unwrap();
    assert_eq!(on_disk(&place.path().join("real")), ["memories", "memories/a"]);
}

#[test]
fn what_a_killed_process_left_is_invisible_and_goes_with_the_next_open() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("memories");
    let first = memory(place.path());
    first.create("/memories/a", "x").unwrap();
    let leave = || {
        fs::write(root.join(".memdir-staged%2F"), "half a con").unwrap();
        fs::create_dir_all(root.join(".memdir-deleted%2F/deep")).unwrap();
        fs::write(root.join(".memdir-deleted%2F/deep/file"), "deleted").unwrap();
    };
    leave();
    for path in ["/memories/.memdir-staged%2F", "/memories/.memdir-deleted%2F/deep/file"] {
        first.view(path, None).unwrap_err();
        first.delete(path).unwrap_err();
    }
    assert!(!first.view("/memories", None).unwrap().contains("memdir-"));

    // The leftovers do not block the next writers...
    first.insert("/memories/a", 0, "y").unwrap();
    first.create("/memories/dir/b", "x").unwrap();
    first.delete("/memories/dir").unwrap();
    assert_eq!(on_disk(&root), ["a"]);
    // ...nor the next open.
    leave();
    memory(place.path());
    assert_eq!(on_disk(&root), ["a"]);
}

#[test]
fn a_reader_of_the_old_content_reads_it_to_its_end() {
    use std::io::Read;

    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    let old = "old\n".repeat(100_000);
    memory.create("/memories/a", &old).unwrap();
    let path = memdir::MemoryPath::parse("/memories/a").unwrap();
    let Ok(memdir::store::Node::File(_, mut reader)) = memory.store().open(&path, 2) else {
        panic!("a file")
    };
    memory.insert("/memories/a", 0, "new").unwrap();
    memory.delete("/memories/a").unwrap();
    let mut read = String::new();
    reader.read_to_string(&mut read).unwrap();
    assert_eq!(read, old);
}

#[test]
fn hard_links_of_others_keep_their_content() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a", "x\n").unwrap();
    let other = place.path().join("other");
    fs::hard_link(place.path().join("memories/a"), &other).unwrap();
    memory.insert("/memories/a", 0, "y").unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "x\n");
    assert_eq!(fs::metadata(&other).unwrap().nlink(), 1);
}

#[test]
fn a_base_that_cannot_be_is_an_error_for_the_developer() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("file"), "").unwrap();
    let base = place.path().join("file");
    let error = Memory::open(base.to_str().unwrap(), MemoryOptions::default()).unwrap_err();
    assert!(matches!(error, memdir::Error::Store(_)), "{error}");
    assert!(Memory::open("", MemoryOptions::default()).is_err());
}

/// Root gives the file to another user; other users can give it to another of their groups.
#[test]
fn an_edit_keeps_the_files_owner_and_group() {
    use std::os::unix::fs::chown;

    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a", "x\n").unwrap();
    let path = place.path().join("memories/a");
    let owner = || fs::metadata(&path).map(|file| (file.uid(), file.gid())).unwrap();
    let made = owner();
    let given = if rustix::process::geteuid().is_root() {
        (NOBODY, NOBODY)
    } else {
        let groups = rustix::process::getgroups().unwrap();
        match groups.iter().find(|group| group.as_raw() != made.1) {
            Some(group) => (made.0, group.as_raw()),
            None => {
                eprintln!("==> LEFT OUT: the owner after an edit, because no second group is ours");
                return;
            }
        }
    };
    chown(&path, Some(given.0), Some(given.1)).unwrap();
    assert_eq!(owner(), given);
    memory.insert("/memories/a", 0, "y").unwrap();
    assert_eq!(owner(), given);
    // A newly created file is ours.
    memory.create("/memories/b", "x").unwrap();
    let new = fs::metadata(place.path().join("memories/b")).unwrap();
    assert_eq!((new.uid(), new.gid()), made);
}

/// A limit on the size of files simulates a full disk: the write stops halfway.
#[test]
fn a_full_disk_changes_nothing() {
    const ME: &str = here!("a_full_disk_changes_nothing");
    if let Ok(base) = std::env::var("FULL_DISK_JOB") {
        let base = Path::new(&base);
        let memory = memory(base);
        let large = "x".repeat(1 << 20);
        memory.create("/memories/a", "small\n").unwrap();
        let before = on_disk(base);
        for refused in [
            memory.create("/memories/new/dir/b", &large),
            memory.insert("/memories/a", 0, &large),
            memory.str_replace("/memories/a", "small", &large),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.starts_with("Error: The memory store is full."), "{error}");
        }
        assert_eq!(on_disk(base), before);
        assert_eq!(fs::read_to_string(base.join("memories/a")).unwrap(), "small\n");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    // The shell ignores the signal that would end the process, and sets the limit. The child
    // inherits both.
    let status = std::process::Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\" --nocapture"])
        .arg(std::env::current_exe().unwrap())
        .arg(ME)
        .env("FULL_DISK_JOB", place.path())
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}
