//! `memdir log --format git-fast-import`, imported by the real git. The tests need git on the machine.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::remembering::{Scene, all, scenes};
use memdir::history::{Operation, Version};
use memdir::{Memory, MemoryPath, OnExisting};

fn git(repository: &Path, arguments: &[&str], stdin: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command.arg("-C").arg(repository).args(["-c", "core.quotePath=false"]).args(arguments);
    // Independent of the user's git configuration.
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", repository);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().ok()?;
    let mut to = child.stdin.take().unwrap();
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || to.write_all(stdin));
        child.wait_with_output().unwrap()
    });
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "git {arguments:?}: {stderr}");
    Some(ended.stdout)
}

fn text(repository: &Path, arguments: &[&str]) -> String {
    String::from_utf8(git(repository, arguments, b"").unwrap()).unwrap()
}

/// A repository with the history; `None` without git.
fn imported(scene: &Scene, into: &str) -> Option<std::path::PathBuf> {
    let repository = scene.place.path().join(into);
    std::fs::create_dir_all(&repository).unwrap();
    if !repository.join("HEAD").exists()
        && git(&repository, &["init", "--bare", "--initial-branch=main", "."], b"").is_none()
    {
        eprintln!("==> LEFT OUT: the stream for git, because git is not installed");
        return None;
    }
    let stream = scene.well_bytes(&["log", scene.store, "--format", "git-fast-import"]);
    git(&repository, &["fast-import", "--quiet"], &stream);
    let fsck = text(&repository, &["fsck", "--strict", "--full"]);
    assert_eq!(fsck, "");
    Some(repository)
}

/// All kinds of changes, with all kinds of names.
fn change_much(memory: &Memory) {
    let ann = memory.acting_as("ann <ann@example.com>\n");
    ann.create("/memories/a.md", "one\n").unwrap();
    ann.str_replace("/memories/a.md", "one", "two").unwrap();
    ann.create("/memories/no end", "no line end").unwrap();
    ann.create("/memories/empty", "").unwrap();
    for name in [
        "é \"quoted\" 日本",
        " space ",
        ".git",
        ".gitmodules",
        "git~1",
        "x.git",
        "*?[",
        "-n",
        "D a",
    ] {
        ann.create(&format!("/memories/names/{name}"), &format!("{name}\n")).unwrap();
    }
    let path = MemoryPath::parse("/memories/bytes").unwrap();
    let every_byte: Vec<u8> = (0..=u8::MAX).collect::<Vec<_>>().repeat(300);
    memory.store().write(&path, &every_byte, OnExisting::Error).unwrap();
    memory.rename("/memories/a.md", "/memories/b/c/d.md").unwrap();
    memory.rename("/memories/names", "/memories/b/names").unwrap();
    memory.insert("/memories/b/c/d.md", 1, "three\n").unwrap();
    memory.delete("/memories/b/c").unwrap();
    // A file at the path of a former directory.
    memory.create("/memories/b/c", "file\n").unwrap();
    let deletion = all(memory)
        .iter()
        .find(|version| version.path.as_str() == "/memories/b/c/d.md")
        .unwrap()
        .id;
    memory.delete("/memories/b/c").unwrap();
    memory.restore(deletion, false).unwrap();
}

/// The path in the repository.
fn in_git(path: &MemoryPath) -> String {
    let names = path.names().map(|name| match name {
        ".git" | ".gitmodules" => name.replacen('.', "%2E", 1),
        "git~1" => "%67it~1".to_owned(),
        name => name.to_owned(),
    });
    std::iter::once("memories".to_owned()).chain(names).collect::<Vec<_>>().join("/")
}

#[test]
fn every_version_is_in_the_commit_of_its_change() {
    for scene in scenes() {
        let memory = scene.memory();
        change_much(&memory);
        let Some(repository) = imported(&scene, "repository") else { return };
        let log =
            text(&repository, &["log", "--reverse", "--format=%H %at <%an> <%ae> %s", "main"]);
        let commits: Vec<&str> = log.lines().collect();
        let mut versions = all(&memory);
        versions.reverse();
        let changes: Vec<&[Version]> = versions.chunk_by(|a, b| a.change == b.change).collect();
        assert_eq!(commits.len(), changes.len());
        for (commit, change) in commits.iter().zip(&changes) {
            let (hash, rest) = commit.split_once(' ').unwrap();
            let time = change[0].time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
            let author = change[0].actor.as_ref().map_or("unknown", |_| "ann ann@example.com");
            assert!(rest.starts_with(&format!("{time} <{author}> <> ")), "{commit}");
            if let [one] = change {
                let moved =
                    one.old_path.as_ref().map(|old| format!("{old} to ")).unwrap_or_default();
                assert!(
                    rest.ends_with(format!("{} {moved}{}", one.operation, one.path).trim_end()),
                    "{commit}"
                );
            } else {
                assert!(rest.contains(&format!(" {} {} files", change[0].operation, change.len())));
            }
            for version in *change {
                let path = in_git(&version.path);
                if version.operation == Operation::Deleted {
                    let listed = text(&repository, &["ls-tree", "-r", "--name-only", hash]);
                    assert!(!listed.lines().any(|line| line == path), "{path}");
                } else {
                    let shown =
                        git(&repository, &["show", &format!("{hash}:{path}")], b"").unwrap();
                    assert!(shown == memory.read_version(version.id).unwrap(), "{path}");
                }
                if let Some(old_path) = &version.old_path {
                    let listed = text(&repository, &["ls-tree", "-r", "--name-only", hash]);
                    assert!(!listed.lines().any(|line| line == in_git(old_path)), "{path}");
                }
            }
        }
        // The last commit contains exactly the current files.
        let mut now = Vec::new();
        memory.store().files(&mut |entry| now.push(in_git(&entry.path))).unwrap();
        now.sort();
        let listed = text(&repository, &["ls-tree", "-r", "-z", "--name-only", "main"]);
        let mut listed: Vec<&str> = listed.split_terminator('\0').collect();
        listed.sort_unstable();
        assert_eq!(listed, now);

        // A later import adds the new versions.
        memory.create("/memories/new.md", "new\n").unwrap();
        let tip = text(&repository, &["rev-parse", "main"]);
        imported(&scene, "repository").unwrap();
        assert_eq!(text(&repository, &["rev-parse", "main^"]), tip);
    }
}

#[test]
fn a_content_that_is_redacted_is_a_text_that_says_so() {
    for scene in scenes() {
        let memory = scene.memory();
        memory.create("/memories/a.md", "a secret\n").unwrap();
        memory.str_replace("/memories/a.md", "secret", "pen").unwrap();
        let first = all(&memory)[1].id;
        memory.redact(first, "held a password").unwrap();
        let Some(repository) = imported(&scene, "repository") else { return };
        let show = |what: &str| text(&repository, &["show", what]);
        assert_eq!(
            show("main^:memories/a.md"),
            "[memdir: the content was redacted: held a password]\n"
        );
        assert_eq!(show("main:memories/a.md"), "a pen\n");
        assert_eq!(text(&repository, &["rev-list", "--count", "main"]), "2\n");
        assert!(!text(&repository, &["log", "-p", "main"]).contains("secret"));
    }
}

#[test]
fn a_stream_that_is_cut_off_is_noticed() {
    let scene = scenes().remove(0);
    change_much(&scene.memory());
    let Some(repository) = imported(&scene, "repository") else { return };
    let stream = scene.well_bytes(&["log", scene.store, "--format", "git-fast-import"]);
    let cut = stream.len() - b"done\n".len();
    let fresh = scene.place.path().join("fresh");
    std::fs::create_dir(&fresh).unwrap();
    git(&fresh, &["init", "--bare", "."], b"").unwrap();
    let mut import = Command::new("git");
    import.arg("-C").arg(&fresh).args(["fast-import", "--quiet"]).stdin(Stdio::piped());
    let mut child = import.stderr(Stdio::null()).spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(&stream[..cut]);
    assert!(!child.wait().unwrap().success());
    drop(repository);
}
