//! The local directory with refused operations or exhausted resources: a command makes its whole change, or none.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]
#![cfg(unix)]

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use crate::common;
use crate::common::{
    in_own_process, memory, memory_with, on_disk, without_power, without_power_in,
};
use memdir::{Durability, Error, Memory, MemoryOptions, MemoryPath};
use rustix::process::{Resource, Rlimit, setrlimit};

const ROOT: u32 = 0;

fn refusal(result: Result<String, Error>) -> String {
    match result {
        Err(Error::Refused(refused)) => refused.into_sentence(),
        other => panic!("should be refused: {other:?}"),
    }
}

#[test]
fn delete_of_a_directory_that_holds_what_is_not_ours_changes_nothing() {
    const ME: &str = here!("delete_of_a_directory_that_holds_what_is_not_ours_changes_nothing");
    let prepare = |place: &Path| {
        let root = place.join("memories");
        fs::create_dir_all(root.join("d/of-another/below")).unwrap();
        fs::create_dir_all(root.join("d/empty-of-another")).unwrap();
        for file in 0..20 {
            fs::write(root.join(format!("d/{file}.md")), "x").unwrap();
        }
        fs::write(root.join("d/of-another/file"), "x").unwrap();
        chown_all(&root);
        for theirs in ["d/of-another", "d/of-another/file", "d/empty-of-another"] {
            chown(root.join(theirs), Some(ROOT), Some(ROOT)).unwrap();
        }
    };
    without_power_in(ME, prepare, |place| {
        let memory = memory(place);
        let before = on_disk(place);
        let denied =
            "Error: Permission denied: the memory store does not allow this for /memories/d";
        assert_eq!(refusal(memory.delete("/memories/d")), denied);
        assert_eq!(on_disk(place), before);
        assert!(refusal(memory.delete("/memories/d/of-another")).contains("Permission denied"));
        memory.clear().unwrap_err();
        assert_eq!(on_disk(place), before);
        // An empty directory can be removed, regardless of its owner.
        memory.delete("/memories/d/empty-of-another").unwrap();
    });
}

#[test]
fn clear_that_is_stopped_half_way_puts_everything_back() {
    const ME: &str = here!("clear_that_is_stopped_half_way_puts_everything_back");
    let prepare = |place: &Path| {
        let root = place.join("memories");
        for name in ["a", "b", "c", "d", "theirs", "x", "y", "z"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("a/file"), "x").unwrap();
        fs::write(root.join("z/file"), "x").unwrap();
        chown_all(&root);
        // Empty, so there is no obstacle inside; but only a user with write permission can move it.
        chown(root.join("theirs"), Some(ROOT), Some(ROOT)).unwrap();
    };
    without_power_in(ME, prepare, |place| {
        let memory = memory(place);
        let before = on_disk(place);
        assert!(refusal(memory.clear()).contains("Permission denied"));
        assert_eq!(on_disk(place), before);
    });
}

/// Gives everything below to the unprivileged user.
fn chown_all(root: &Path) {
    for path in on_disk(root).iter().map(|path| root.join(path)).chain([root.to_owned()]) {
        chown(&path, Some(common::NOBODY), Some(common::NOBODY)).unwrap();
    }
}

#[test]
fn delete_of_a_directory_that_turns_out_to_be_closed_happens_as_a_whole() {
    const ME: &str = here!("delete_of_a_directory_that_turns_out_to_be_closed_happens_as_a_whole");
    let prepare = |place: &Path| {
        // Leftovers that an earlier deletion could not remove.
        let left = place.join("memories/.memdir-deleted%2F");
        fs::create_dir_all(left.join("theirs/below")).unwrap();
        fs::write(left.join("ours"), "x").unwrap();
        chown_all(&place.join("memories"));
        chown(left.join("theirs"), Some(ROOT), Some(ROOT)).unwrap();
    };
    without_power_in(ME, prepare, |place| {
        // The next writer clears as much of it as it can, and it blocks no command.
        let memory = memory(place);
        memory.create("/memories/d/a", "x").unwrap();
        let left = ".memdir-deleted%2F";
        let stuck = [left.to_owned(), format!("{left}/theirs"), format!("{left}/theirs/below")];
        assert_eq!(on_disk(&place.join("memories"))[..3], stuck);
        memory.delete("/memories/d").unwrap();
        assert_eq!(on_disk(&place.join("memories")), stuck);
        assert!(!memory.view("/memories", None).unwrap().contains("theirs"));
    });
}

/// Descriptors run out in a separate process, because the limit applies to the whole process.
#[test]
fn delete_of_a_deep_tree_takes_few_descriptors() {
    let prepare = |base: &Path| {
        let deep = format!("deep{}", "/level".repeat(40));
        fs::create_dir_all(base.join("memories").join(&deep)).unwrap();
        for (depth, _) in deep.match_indices('/').step_by(2) {
            fs::write(base.join("memories").join(&deep[..depth]).join("file"), "x").unwrap();
        }
    };
    in_own_process(here!("delete_of_a_deep_tree_takes_few_descriptors"), prepare, |base| {
        let memory = memory(base);
        let used = fs::read_dir("/dev/fd").unwrap().count() as u64;
        limit(Resource::Nofile, used + 16);
        memory.delete("/memories/deep").unwrap();
        assert_eq!(on_disk(&base.join("memories")), [""; 0]);
    });
}

fn limit(resource: Resource, limit: u64) {
    let maximum = rustix::process::getrlimit(resource).maximum;
    setrlimit(resource, Rlimit { current: Some(limit), maximum }).unwrap();
}

#[test]
fn delete_of_a_tree_that_is_deeper_than_any_stack() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

    let place = tempfile::tempdir().unwrap();
    let memory = memory_with(place.path(), Durability::Relaxed);
    memory.create("/memories/deep/file", "x").unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = openat(CWD, place.path().join("memories/deep"), flags, Mode::empty()).unwrap();
    for _ in 0..4_000 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", flags, Mode::empty()).unwrap();
    }
    drop(at);
    let deleting = std::thread::Builder::new().stack_size(256 * 1024).spawn(move || {
        assert!(memory.view("/memories", None).unwrap().contains("/memories/deep"));
        memory.rename("/memories/deep", "/memories/a-longer-name").unwrap();
        memory.delete("/memories/a-longer-name").unwrap();
    });
    deleting.unwrap().join().unwrap();
    assert_eq!(on_disk(&place.path().join("memories")), [""; 0]);
}

#[test]
fn create_without_descriptors_leaves_no_empty_directories() {
    const ME: &str = here!("create_without_descriptors_leaves_no_empty_directories");
    in_own_process(
        ME,
        |_| {},
        |base| {
            let root = base.join("memories");
            let memory = memory_with(base, Durability::Relaxed);
            let used = fs::read_dir("/dev/fd").unwrap().count() as u64;
            let mut outcomes = [0, 0];
            // One more descriptor each time, so the last one is used at every step once.
            for spare in 0..24 {
                limit(Resource::Nofile, used + spare);
                let path = format!("/memories/{spare}/b/c/d/e/f/file");
                let reply = memory.execute(&format!(
                    r#"{{"command": "create", "path": "{path}", "file_text": "x"}}"#
                ));
                limit(Resource::Nofile, used + 64);
                outcomes[usize::from(reply.is_error)] += 1;
                assert_eq!(root.join(spare.to_string()).exists(), !reply.is_error, "{spare}");
                assert!(
                    !reply.is_error
                        || reply
                            .content
                            .as_text()
                            .unwrap_or_default()
                            .contains("Nothing was changed")
                );
                let left =
                    on_disk(&root).into_iter().filter(|name| name.contains("memdir-")).count();
                assert_eq!(left, 0, "{spare}");
            }
            assert!(outcomes.iter().all(|times| *times > 0), "{outcomes:?}");
        },
    );
}

#[test]
fn a_listing_without_descriptors_leaves_nothing_out() {
    let prepare = |base: &Path| drop(memory(base).create("/memories/a/b", "x").unwrap());
    in_own_process(here!("a_listing_without_descriptors_leaves_nothing_out"), prepare, |base| {
        let memory = memory(base);
        let whole = memory.view("/memories", None).unwrap();
        let used = fs::read_dir("/dev/fd").unwrap().count() as u64;
        for spare in 0..8 {
            limit(Resource::Nofile, used + spare);
            let reply = memory.execute(r#"{"command": "view", "path": "/memories"}"#);
            limit(Resource::Nofile, used + 64);
            let content = reply.content.as_text().unwrap_or_default();
            assert!(content == whole || content.ends_with("Try again later."), "{content}");
        }
    });
}

#[test]
fn names_of_ours_that_somebody_else_made_are_in_nobodys_way() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("memories");
    fs::create_dir_all(&root).unwrap();
    let theirs = [".memdir-staged%2F", ".memdir-staged%2F1", ".memdir-deleted%2F"];
    let held: Vec<File> = theirs
        .iter()
        .map(|name| {
            fs::create_dir(root.join(name)).unwrap();
            let held = File::open(root.join(name)).unwrap();
            held.lock().unwrap();
            held
        })
        .collect();
    let memory = memory(place.path());
    memory.create("/memories/d/a", "x\n").unwrap();
    memory.insert("/memories/d/a", 0, "y").unwrap();
    memory.delete("/memories/d").unwrap();
    assert_eq!(on_disk(&root), [".memdir-deleted%2F", ".memdir-staged%2F", ".memdir-staged%2F1"]);
    drop(held);
}

/// A sparse file is larger than any memory, and uses no space on the disk.
#[test]
fn an_edit_of_a_file_that_is_too_large_is_refused_unread() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let mut without_limit = MemoryOptions::default();
    without_limit.max_file_bytes = None;
    let without_limit = Memory::open(place.path().to_str().unwrap(), without_limit).unwrap();
    let sparse = File::create(place.path().join("memories/sparse")).unwrap();
    sparse.set_len(1 << 40).unwrap();
    let sentence = "Error: The file /memories/sparse holds 1099511627776 bytes (1.0T), which is too \
                    large to be edited. It can be viewed, deleted or renamed.";
    for memory in [&memory, &without_limit] {
        assert_eq!(refusal(memory.insert("/memories/sparse", 0, "x")), sentence);
        assert_eq!(refusal(memory.str_replace("/memories/sparse", "x", "y")), sentence);
    }
    let mut looked_through = MemoryOptions::default();
    looked_through.sensitive_on_view = true;
    let looked_through = Memory::open(place.path().to_str().unwrap(), looked_through).unwrap();
    let refused = refusal(looked_through.view("/memories/sparse", Some((1, 1))));
    assert!(refused.contains("too large to be looked through"), "{refused}");
    sparse.set_len(17 << 20).unwrap();
    let refused = refusal(memory.insert("/memories/sparse", 0, "x"));
    assert!(refused.contains("too large to be edited"), "{refused}");
    without_limit.insert("/memories/sparse", 0, "x").unwrap();
}

#[test]
fn an_edit_without_memory_is_refused() {
    in_own_process(
        here!("an_edit_without_memory_is_refused"),
        |_| {},
        |base| {
            let mut options = MemoryOptions::default();
            options.max_file_bytes = None;
            let memory = Memory::open(base.to_str().unwrap(), options).unwrap();
            let file = File::create(base.join("memories/large")).unwrap();
            file.set_len(1 << 30).unwrap();
            limit(Resource::As, 600 << 20);
            assert!(refusal(memory.insert("/memories/large", 0, "x")).contains("too large"));
            memory.create("/memories/small", "x").unwrap();
        },
    );
}

#[test]
fn directories_are_usable_whatever_the_umask() {
    const ME: &str = here!("directories_are_usable_whatever_the_umask");
    without_power(ME, |place| {
        for bits in [0o000, 0o277, 0o400, 0o700, 0o777] {
            let base = place.join(format!("umask{bits:o}"));
            let before = rustix::process::umask(rustix::fs::Mode::from_raw_mode(bits));
            let memory = memory(&base.join("some/base"));
            memory.create("/memories/a/b/file", "x").unwrap();
            memory.insert("/memories/a/b/file", 0, "y").unwrap();
            memory.rename("/memories/a/b/file", "/memories/c/d/file").unwrap();
            let path = MemoryPath::parse("/memories/made/empty").unwrap();
            memory.store().make_directory(&path).unwrap();
            rustix::process::umask(before);
            for directory in ["", "/a", "/a/b", "/c", "/c/d", "/made", "/made/empty"] {
                let path = format!("{}/some/base/memories{directory}", base.display());
                let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
                assert_eq!(mode, 0o700, "{path}");
            }
        }
    });
}

/// As in a container whose image contains the memory.
#[cfg(target_os = "linux")]
#[test]
fn on_an_overlay_directories_are_deleted_and_files_moved() {
    const ME: &str = here!("on_an_overlay_directories_are_deleted_and_files_moved");
    if let Ok(base) = std::env::var("OVERLAY_JOB") {
        let memory = memory(Path::new(&base));
        assert_eq!(
            refusal(memory.rename("/memories/d", "/memories/e")),
            "Error: The directory /memories/d cannot be moved as a whole in this memory store: rename \
             the files in it one by one"
        );
        memory.rename("/memories/d/a", "/memories/e/a").unwrap();
        memory.insert("/memories/e/a", 0, "first").unwrap();
        memory.delete("/memories/d").unwrap();
        assert_eq!(on_disk(&Path::new(&base).join("memories")), ["e", "e/a"]);
        memory.create("/memories/d/new", "x").unwrap();
        memory.clear().unwrap();
        assert_eq!(on_disk(&Path::new(&base).join("memories")), [""; 0]);
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name).display().to_string();
    for directory in ["lower/memories/d/below", "upper", "work", "merged"] {
        fs::create_dir_all(place.path().join(directory)).unwrap();
    }
    for file in ["a", "b", "below/c"] {
        fs::write(place.path().join("lower/memories/d").join(file), "x\n").unwrap();
    }
    let options =
        format!("lowerdir={},upperdir={},workdir={}", at("lower"), at("upper"), at("work"));
    // In a separate namespace, so nothing stays mounted.
    let script = "mount -t overlay overlay -o \"$0,redirect_dir=off\" \"$1\" || exit 42; OVERLAY_JOB=$1 \"$2\" --exact \"$3\"";
    let status = std::process::Command::new("unshare")
        .args(["--mount", "sh", "-c", script, &options, &at("merged")])
        .arg(std::env::current_exe().unwrap())
        .arg(ME)
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .status();
    match status.map(|status| status.code()) {
        Ok(Some(0)) => {}
        // Not root, or overlays are not supported here.
        Ok(Some(1 | 42)) | Err(_) if rustix::process::geteuid().is_root() => {
            eprintln!("==> LEFT OUT: {ME}, because no overlay can be mounted here");
        }
        Ok(Some(_)) | Err(_) if !rustix::process::geteuid().is_root() => {
            eprintln!("==> LEFT OUT: {ME}, because only root can mount");
        }
        other => panic!("{other:?}"),
    }
}
