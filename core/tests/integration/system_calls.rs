//! The system calls of each command and operation on a local directory are those that `docs/reference/performance.md` lists, with a
//! reason for each. So a further call needs a change of that page. `strace` prints the calls.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::print_stderr, reason = "what is left out is said")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use memdir::store::{Context, LocalDirectory, Mutation};
use memdir::{Durability, Memory, MemoryOptions, MemoryPath, OnExisting, Store};

/// System calls on names in this directory, which does not exist, mark the beginning and the end of a case.
const MARK: &str = "/memdir-system-calls";

/// Calls about memory and threads, whose number depends on the allocator, and the check of a descriptor that the standard library
/// makes before it closes it in a build with debug assertions.
const LEFT_OUT: &[&str] =
    &["brk", "fcntl", "futex", "madvise", "mmap", "mprotect", "mremap", "munmap"];

type Case = (&'static str, fn(&Memory, &LocalDirectory));

/// Each begins with `a.md` and `d/{b.md,e/c.md}`, and with an open memory that has run commands before.
const CASES: &[Case] = &[
    ("view a file", |memory, _| drop(memory.view("/memories/a.md", None).unwrap())),
    ("view a file below", |memory, _| drop(memory.view("/memories/d/e/c.md", None).unwrap())),
    ("view a directory", |memory, _| drop(memory.view("/memories/d", None).unwrap())),
    ("view, without waiting", |_, store| drop(store.open_nowait(&path("a.md"), 0))),
    ("create", |memory, _| drop(memory.create("/memories/new.md", "x").unwrap())),
    ("create below", |memory, _| drop(memory.create("/memories/d/new.md", "x").unwrap())),
    ("create a directory too", |memory, _| drop(memory.create("/memories/n/new.md", "x").unwrap())),
    ("overwrite", |_, store| {
        store.write(&path("a.md"), b"x", OnExisting::Overwrite).unwrap();
    }),
    ("str_replace", |memory, _| drop(memory.str_replace("/memories/a.md", "a", "b").unwrap())),
    ("str_replace below", |memory, _| {
        drop(memory.str_replace("/memories/d/b.md", "b", "c").unwrap());
    }),
    ("insert", |memory, _| drop(memory.insert("/memories/a.md", 0, "x").unwrap())),
    ("rename", |memory, _| drop(memory.rename("/memories/a.md", "/memories/new.md").unwrap())),
    ("rename elsewhere", |memory, _| {
        drop(memory.rename("/memories/a.md", "/memories/d/new.md").unwrap());
    }),
    ("delete a file", |memory, _| drop(memory.delete("/memories/a.md").unwrap())),
    ("delete a directory", |memory, _| drop(memory.delete("/memories/d").unwrap())),
    ("read", |_, store| drop(store.read(&path("a.md")).unwrap())),
    ("list", |_, store| drop(store.list(&path("d")).unwrap())),
    ("modified", |_, store| assert!(store.modified(&path("a.md")).unwrap().is_some())),
    ("record an access", |_, store| {
        let (path, time) = (path("a.md"), std::time::SystemTime::now());
        store.mutate(&Context::new(), Mutation::RecordAccess { path: &path, time }).unwrap();
    }),
    ("delete on a condition", |_, store| {
        assert!(store.delete_if(&path("a.md"), &mut |_| true).unwrap());
    }),
];

fn path(relative: &str) -> MemoryPath {
    MemoryPath::root().join(relative).unwrap()
}

/// Not a real test: the traced process.
#[test]
fn traced() {
    let Some(base) = std::env::var_os("MEMDIR_TRACED_CALLS") else { return };
    let (base, root) = (Path::new(&base), Path::new(&base).join("memories"));
    let memory = Memory::open(base.to_str().unwrap(), MemoryOptions::default()).unwrap();
    let store = LocalDirectory::open(base, Durability::Full).unwrap();
    memory.create("/memories/before.md", "x").unwrap();
    memory.view("/memories/before.md", None).unwrap();
    store.open(&path("before.md"), 0).map(drop).unwrap();
    for (name, case) in CASES {
        fs::remove_dir_all(&root).unwrap();
        fs::create_dir_all(root.join("d/e")).unwrap();
        for file in ["a.md", "d/b.md", "d/e/c.md"] {
            fs::write(root.join(file), &file[file.len() - 4..=file.len() - 4]).unwrap();
        }
        let mark = |when: &str| fs::symlink_metadata(format!("{MARK}/{when}/{name}"));
        let _ = mark("begin");
        case(&memory, &store);
        let _ = mark("end");
    }
}

/// The calls of each case, in order, as the page writes them.
fn traced_calls(place: &Path) -> Option<BTreeMap<String, Vec<String>>> {
    let (log, base) = (place.join("trace"), place.join("memory"));
    let traced = Command::new("strace")
        .args(["-f", "-y", "-qq", "-s", "500", "-e", "signal=none", "-o"])
        .arg(&log)
        .arg(std::env::current_exe().unwrap())
        .args([here!("traced"), "--exact"])
        .env("MEMDIR_TRACED_CALLS", &base)
        .stdout(Stdio::null())
        .status();
    let Ok(status) = traced else {
        eprintln!("==> LEFT OUT: the list of system calls, because strace is not installed");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have it");
        return None;
    };
    assert!(status.success());
    let trace = fs::read_to_string(&log).unwrap();
    let is_unsupported = |line: &str| line.contains("openat2(") && line.contains("= -1 ENOSYS");
    if trace.lines().any(is_unsupported) {
        eprintln!("==> LEFT OUT: the list of system calls, because this system has no openat2");
        return None;
    }
    let root = base.join("memories");
    let mut cases = BTreeMap::new();
    // The thread of the current case, and its calls.
    let mut current: Option<(&str, Vec<String>)> = None;
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        if call.contains(&format!("{MARK}/begin")) {
            current = Some((thread, Vec::new()));
        } else if let Some(at) = call.find(&format!("{MARK}/end/")) {
            let name = call[at + MARK.len() + 5..].split('"').next().unwrap();
            cases.insert(name.to_owned(), current.take().unwrap().1);
        } else if let Some((of, calls)) = &mut current
            && *of == thread
            && let Some(call) = as_written(call, root.to_str().unwrap())
            // A search for leftovers, which looks for 126 numbered names.
            && (call != "`stat others`" || calls.last() != Some(&call))
        {
            calls.push(call);
        }
    }
    Some(cases)
}

/// The call as the page writes it: a verb, and the entry that it is about.
fn as_written(line: &str, root: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    if LEFT_OUT.contains(&name) {
        return None;
    }
    let verb = match name {
        "openat" | "openat2" if rest.contains("O_CREAT") => "create",
        "open" | "openat" | "openat2" => "open",
        "newfstatat" | "fstat" | "statx" | "stat" | "lstat" => "stat",
        "renameat" | "renameat2" => "rename",
        "unlinkat" => "remove",
        "mkdirat" => "make",
        "getdents64" => "list",
        "pread64" | "preadv2" | "read" => "read",
        "fgetxattr" => "read attribute of",
        "fsetxattr" => "set attribute of",
        "fsync" | "fdatasync" => "flush",
        "flock" if rest.contains("LOCK_UN") => "unlock",
        "flock" => "lock",
        other => other,
    };
    // The first argument is an open file, or the directory in which the second one is.
    let arguments = rest.rsplit_once(" = ").map_or(rest, |(arguments, _)| arguments);
    let (first, more) = arguments.split_once(", ").unwrap_or((arguments, ""));
    let open = first.split_once('<').and_then(|(_, path)| path.split('>').next());
    let named = more.strip_prefix('"').or(first.strip_prefix('"'));
    let named = named.and_then(|named| named.split('"').next());
    let takes_name = !matches!(verb, "read" | "write" | "set attribute of" | "read attribute of");
    let path = match (open, named.filter(|_| takes_name)) {
        (_, Some(named)) if named.starts_with('/') => named.to_owned(),
        (Some(open), Some(named)) => {
            format!("{open}/{named}").trim_end_matches(['/', '.']).to_owned()
        }
        (Some(open), None) => open.to_owned(),
        _ => return Some(format!("`{verb}`")),
    };
    let entry = path.strip_prefix(root).unwrap_or(&path).trim_matches('/');
    let entry = if entry.is_empty() { "root" } else { entry };
    let entry =
        entry.replace(".memdir-staged%2F", "staged").replace(".memdir-deleted%2F", "deleted");
    let is_numbered = ["staged", "deleted"].iter().any(|kind| {
        entry.strip_prefix(kind).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    Some(format!("`{verb} {}`", if is_numbered { "others" } else { &entry }))
}

/// The rows of a table of the page: the first cell, and the last one.
fn rows<'p>(page: &'p str, title: &str) -> Vec<(&'p str, &'p str)> {
    let (_, section) = page.split_once(&format!("\n### {title}\n")).unwrap();
    let section = section.split("\n#").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.contains("---"));
    rows.skip(1)
        .map(|row| {
            let mut cells = row.trim_matches('|').split('|').map(str::trim);
            (cells.next().unwrap(), cells.next_back().unwrap())
        })
        .collect()
}

#[test]
fn the_system_calls_of_each_command_are_those_of_the_page() {
    // Not on the disk, because a file system in memory has all that the calls need.
    let shm = Path::new("/dev/shm");
    let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
    let place = place.unwrap();
    let Some(traced) = traced_calls(&place.path().canonicalize().unwrap()) else { return };
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/performance.md");
    let page = fs::read_to_string(page).unwrap();
    let mut wrong = String::new();
    let committed: BTreeMap<_, _> = rows(&page, "Each command").into_iter().collect();
    let (mut made, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for (name, _) in CASES {
        let calls = &traced[*name];
        counts.insert(*name, calls.len());
        made.extend(
            calls.iter().map(|call| call.trim_matches('`').split(' ').next().unwrap().to_owned()),
        );
        let listed = committed.get(name).copied().unwrap_or_default().replace("**", "");
        if listed != calls.join(", ") {
            wrong += &format!("| {name} | {} | {} |\n", calls.len(), calls.join(", "));
        }
    }
    assert_eq!(wrong, "", "these rows of docs/reference/performance.md are not true:\n{wrong}");
    assert_eq!(
        committed.len(),
        CASES.len(),
        "the page lists a command that this test does not run"
    );
    let section = page.split("\n## System calls\n").nth(1).unwrap();
    for row in section.split("\n### Reasons\n").next().unwrap().lines() {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        if let Some(count) = cells.next().and_then(|name| counts.get(name)) {
            assert_eq!(cells.next(), Some(count.to_string().as_str()), "{row}");
        }
    }
    // Every kind of call has its reason.
    let reasons: Vec<_> = rows(&page, "Reasons");
    for verb in made {
        let has_reason = |(call, reason): &(&str, &str)| {
            call.trim_matches('`').split_whitespace().next() == Some(&verb) && !reason.is_empty()
        };
        assert!(reasons.iter().any(has_reason), "the page gives no reason for `{verb}`");
    }
}
