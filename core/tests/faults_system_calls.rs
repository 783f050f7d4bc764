//! Fault matrix for system calls: every system call of every command on a local directory and on an SQLite database fails
//! once, with each likely error. After each fault the tree is either unchanged or complete, the message says correctly which,
//! and nothing is left over.
//!
//! In addition, a process that makes several changes to a memory with a history is killed before each of its system calls. The
//! next process finds each change that was made, once, and no other.
//!
//! `strace` makes the calls fail, in a separate process. This is a program without a test harness because that process
//! must make its calls on its main thread. By default every third call fails with one error; with more `MEMDIR_EFFORT`
//! all of them fail, with several errors.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test, which is a program"
)]

#[cfg(target_os = "linux")]
use memdir_test_support::effort;
#[cfg(target_os = "linux")]
#[path = "integration/common/on_disk.rs"]
mod on_disk;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("==> LEFT OUT: faults of system calls, because strace is of Linux");
}

#[cfg(target_os = "linux")]
fn main() {
    if std::env::var_os("FAULTS_JOB").is_some() {
        linux::job();
    } else if is_wanted() {
        linux::drive();
    }
}

/// Whether this test was requested by name, or no name was given, as in a test harness.
#[cfg(target_os = "linux")]
fn is_wanted() -> bool {
    let mut names =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).peekable();
    names.peek().is_none() || names.any(|name| "faults_system_calls".contains(&name))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Stdio};

    use super::effort::{is_turn, times};
    use super::on_disk::on_disk;
    use memdir::history::{HistoryError, HistoryQuery};
    use memdir::store::walk_files;
    use memdir::{EncryptionKey, Memory, MemoryOptions, MemoryPath, OnExisting, StoreError};

    /// Errors that a command may encounter.
    const ERRORS: &[&str] =
        &["EIO", "EMFILE", "ENOSPC", "EACCES", "EPERM", "EDQUOT", "EINTR", "ELOOP", "ENOMEM"];

    /// Each starts with a tree that has `a.md` and `d/{b.md,e/c.md}` and nothing else.
    const COMMANDS: &[(&str, &str)] = &[
        ("view a file", r#"{"command":"view","path":"/memories/a.md"}"#),
        ("view a directory", r#"{"command":"view","path":"/memories"}"#),
        ("create", r#"{"command":"create","path":"/memories/new.md","file_text":"x"}"#),
        ("create deep", r#"{"command":"create","path":"/memories/x/y/new.md","file_text":"x"}"#),
        ("overwrite", r#"{"command":"create","path":"/memories/a.md","file_text":"anew"}"#),
        (
            "str_replace",
            r#"{"command":"str_replace","path":"/memories/d/b.md","old_str":"b","new_str":"B"}"#,
        ),
        (
            "insert",
            r#"{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"x"}"#,
        ),
        ("delete a file", r#"{"command":"delete","path":"/memories/a.md"}"#),
        ("delete a directory", r#"{"command":"delete","path":"/memories/d"}"#),
        (
            "rename a file",
            r#"{"command":"rename","old_path":"/memories/a.md","new_path":"/memories/n/a.md"}"#,
        ),
        (
            "rename a directory",
            r#"{"command":"rename","old_path":"/memories/d","new_path":"/memories/n/much/deeper"}"#,
        ),
        ("clear", "clear"),
        ("delete on a condition", DELETE_IF),
        ("rename on a condition", RENAME_IF),
    ];

    /// Not a command: a deletion and a move of `a.md` on the condition that it has its content.
    const DELETE_IF: &str = "delete if";
    const RENAME_IF: &str = "rename if";

    /// Prefix of the address of a memory with a history.
    const RECORDED: &str = "recorded:";

    /// Prefix after that for an encrypted memory.
    const ENCRYPTED: &str = "encrypted:";

    /// The job of a process that is killed in the middle, on the prepared tree.
    const SCRIPT: &str = "script";
    const STEPS: &[&str] = &[
        r#"{"command":"create","path":"/memories/new.md","file_text":"x\n"}"#,
        r#"{"command":"insert","path":"/memories/a.md","insert_line":0,"insert_text":"one"}"#,
        r#"{"command":"delete","path":"/memories/d/b.md"}"#,
        r#"{"command":"rename","old_path":"/memories/d","new_path":"/memories/n/d"}"#,
        r#"{"command":"str_replace","path":"/memories/a.md","old_str":"one","new_str":"two"}"#,
    ];

    /// Removes everything permanently.
    const ERASE: &str = "erase";

    /// Writes a secret, overwrites it, and removes it from the history.
    const REDACT: &str = "redact";
    const SECRET: &str = "the secret is 7391-hazelnut-4420\n";
    const SECRET_FILE: &str = "/memories/s.md";

    /// A version: the operation, the path, the old path, and the content of the file after it.
    type Told = (String, String, Option<String>, Option<String>);

    /// The versions after the tree was prepared and `steps` steps were done.
    fn versions_after(steps: usize) -> Vec<Told> {
        let all: [(&str, &str, Option<&str>, Option<&str>); 8] = [
            ("created", "a.md", None, Some("a\n")),
            ("created", "d/b.md", None, Some("b\n")),
            ("created", "d/e/c.md", None, Some("c\n")),
            ("created", "new.md", None, Some("x\n")),
            ("modified", "a.md", None, Some("one\na\n")),
            ("deleted", "d/b.md", None, None),
            ("renamed", "n/d/e/c.md", Some("d/e/c.md"), Some("c\n")),
            ("modified", "a.md", None, Some("two\na\n")),
        ];
        let at = |path: &str| format!("/memories/{path}");
        let whole = |version: &(&str, &str, Option<&str>, Option<&str>)| {
            let (done, path, old, content) = version;
            ((*done).to_owned(), at(path), old.map(at), content.map(str::to_owned))
        };
        all[..3 + steps].iter().map(whole).collect()
    }

    /// The files that result from these versions.
    fn files_after(versions: &[Told]) -> Tree {
        let mut files = Tree::new();
        for (_, path, old_path, content) in versions {
            files.remove(old_path.as_ref().unwrap_or(path));
            if let Some(content) = content {
                files.insert(path.clone(), content.clone());
            }
        }
        files
    }

    /// System calls on these paths, which do not exist, mark the beginning and the end of the command.
    const BEGIN: &str = "/memdir-faults-begin";
    const END: &str = "/memdir-faults-end";
    /// Calls that cannot fail without ending the process.
    const LEFT_ALONE: &[&str] =
        &["exit_group", "geteuid", "munmap", "mremap", "brk", "mmap", "mprotect", "madvise"];

    /// The kind of memory that is prepared for each command.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Kind {
        Directory,
        /// With a history.
        Recorded,
        Sqlite,
    }

    impl Kind {
        fn address(self, base: &Path) -> String {
            match self {
                Self::Directory => base.display().to_string(),
                Self::Recorded => format!("{RECORDED}{}", base.display()),
                Self::Sqlite => format!("sqlite:{}", base.join("agent.db").display()),
            }
        }

        fn prepare(self, base: &Path) {
            let _ = fs::remove_dir_all(base);
            fs::create_dir_all(base).unwrap();
            // Copying a database is faster than creating it.
            let template = base.with_extension("template");
            if self == Self::Sqlite && template.exists() {
                fs::copy(&template, base.join("agent.db")).unwrap();
                return;
            }
            let memory = memory(&self.address(base));
            for (file, text) in [("a.md", "a\n"), ("d/b.md", "b\n"), ("d/e/c.md", "c\n")] {
                memory.create(&format!("/memories/{file}"), text).unwrap();
            }
            drop(memory);
            if self == Self::Sqlite {
                fs::copy(base.join("agent.db"), template).unwrap();
            }
        }

        /// Every file with its content. For a local directory also every directory, without temporary files.
        fn tree(self, base: &Path) -> Tree {
            if self != Self::Sqlite {
                let root = base.join("memories");
                let paths = on_disk(&root).into_iter().filter(|path| !path.contains(".memdir-"));
                let content = |path: &String| fs::read_to_string(root.join(path));
                return paths
                    .map(|path| (path.clone(), content(&path).unwrap_or_default()))
                    .collect();
            }
            let memory = memory(&self.address(base));
            let mut paths = Vec::new();
            walk_files(&**memory.store(), &mut |entry| paths.push(entry.path)).unwrap();
            let content = |path| String::from_utf8(memory.store().read(path).unwrap()).unwrap();
            paths.iter().map(|path| (path.to_string(), content(path))).collect()
        }
    }

    type Tree = BTreeMap<String, String>;

    fn memory(base: &str) -> Memory {
        let mut options = MemoryOptions::default();
        options.on_existing = OnExisting::Overwrite;
        let address = base.strip_prefix(RECORDED).unwrap_or(base);
        options.history = address != base;
        let plain = address.strip_prefix(ENCRYPTED).unwrap_or(address);
        if plain != address {
            options.encryption_key = Some(EncryptionKey::from_bytes([7; 32]));
        }
        Memory::open(plain, options).unwrap()
    }

    /// The problem with the history, if there is one. Each version must be readable, the current versions must match
    /// the files, and there must be a version of each change that was made, and of no other.
    fn history(kind: Kind, base: &Path, now: &Tree, before: &Tree) -> Option<String> {
        if kind != Kind::Recorded {
            return None;
        }
        let memory = memory(&kind.address(base));
        let versions = match memory.history(&HistoryQuery::default()) {
            Ok(versions) => versions,
            Err(error) => return Some(format!("no history: {error}")),
        };
        // The preparation created three files.
        let Some(made) = versions.len().checked_sub(3) else {
            return Some(format!("lost: {versions:?}"));
        };
        if (now == before) != (made == 0) {
            return Some(format!("{made} versions: {versions:?}"));
        }
        versions.iter().find_map(|version| {
            let path = version.path.as_str();
            match memory.read_version(version.id) {
                Err(HistoryError::NoContent(_)) => None,
                Err(error) => Some(format!("version {version:?}: {error}")),
                Ok(content) if version.is_current => {
                    let file = memory.read(path).map(String::into_bytes).ok();
                    (file.as_ref() != Some(&content)).then(|| format!("{path} is another"))
                }
                Ok(_) => None,
            }
        })
    }

    /// The result of a change in the words of a reply.
    fn in_words(changed: Result<bool, StoreError>) -> (String, bool) {
        let error = match changed {
            Ok(changed) => return (changed.to_string(), false),
            Err(StoreError::Source(error)) => *error,
            Err(error) => error,
        };
        let unknown = if error.may_have_changed() { "may or may not be done: " } else { "" };
        (format!("{unknown}{error}"), true)
    }

    /// The job of the process in which a call fails.
    pub(super) fn job() {
        let input = std::env::var("FAULTS_JOB").unwrap();
        let memory = memory(&std::env::var("FAULTS_BASE").unwrap());
        let answer = std::env::var("FAULTS_ANSWER").unwrap();
        let _ = fs::symlink_metadata(BEGIN);
        let [from, to] =
            ["/memories/a.md", "/memories/n/a.md"].map(|path| MemoryPath::parse(path).unwrap());
        let mut is_as_prepared = |content: &[u8]| content == b"a\n";
        let said = match input.as_str() {
            // The output contains what was acknowledged.
            SCRIPT => {
                for (number, step) in STEPS.iter().enumerate() {
                    let reply = memory.execute(step);
                    assert!(!reply.is_error, "{step}: {}", reply.content);
                    let aside = format!("{answer}.aside");
                    fs::write(&aside, format!("false\n{}", number + 1)).unwrap();
                    fs::rename(&aside, &answer).unwrap();
                }
                return drop(fs::symlink_metadata(END));
            }
            ERASE => {
                memory.erase(false).unwrap();
                ("1".to_owned(), false)
            }
            REDACT => {
                memory.create(SECRET_FILE, SECRET).unwrap();
                memory.write(SECRET_FILE, "not any more\n", None).unwrap();
                let versions = memory.history(&HistoryQuery::default()).unwrap();
                memory.redact(versions[1].id, "not for the record").unwrap();
                ("1".to_owned(), false)
            }
            "clear" => match memory.clear() {
                Ok(said) => (said, false),
                Err(error) => (memdir::Reply::from(Err(error)).content.to_string(), true),
            },
            DELETE_IF => in_words(memory.store().delete_if(&from, &mut is_as_prepared)),
            RENAME_IF => in_words(memory.store().rename_if(&from, &to, &mut is_as_prepared)),
            command => {
                let reply = memory.execute(command);
                (reply.content.to_string(), reply.is_error)
            }
        };
        let _ = fs::symlink_metadata(END);
        fs::write(answer, format!("{}\n{}", said.1, said.0)).unwrap();
    }

    /// Runs a command in a process under strace. Returns the answer and the output of strace.
    fn run(
        kind: Kind,
        base: &Path,
        input: &str,
        fault: Option<&str>,
    ) -> (Option<(String, bool)>, String) {
        run_at(&kind.address(base), base, input, fault)
    }

    fn run_at(
        address: &str,
        base: &Path,
        input: &str,
        fault: Option<&str>,
    ) -> (Option<(String, bool)>, String) {
        let (answer, log) = (base.with_extension("answer"), base.with_extension("log"));
        let _ = fs::remove_file(&answer);
        let mut strace = Command::new("strace");
        strace.args(["-qq", "-e", "signal=none", "-o"]).arg(&log);
        if let Some(fault) = fault {
            let call = fault.split(':').next().unwrap();
            strace.args(["-e", &format!("trace={call}"), "-e", &format!("inject={fault}")]);
        }
        strace
            .arg(std::env::current_exe().unwrap())
            .env("FAULTS_JOB", input)
            .env("FAULTS_BASE", address)
            .env("FAULTS_ANSWER", &answer)
            .env("RUST_BACKTRACE", "0")
            .stdout(Stdio::null());
        // strace ends in the same way as the process.
        let is_killed = fault.is_some_and(|fault| fault.contains("signal="));
        assert!(strace.status().unwrap().code().is_some() || is_killed, "{input} {fault:?}");
        let answer = fs::read_to_string(&answer).ok().map(|answer| {
            let (is_error, said) = answer.split_once('\n').unwrap();
            (said.to_owned(), is_error == "true")
        });
        (answer, fs::read_to_string(&log).unwrap())
    }

    /// The calls between the marks: for each kind, the number before and the number in between.
    fn calls(log: &str) -> BTreeMap<String, (usize, usize)> {
        let mut calls = BTreeMap::new();
        let (mut within, mut over) = (false, false);
        for line in log.lines() {
            let Some((name, rest)) = line.split_once('(') else { continue };
            if rest.contains(BEGIN) || rest.contains(END) {
                over = within;
                within = true;
            }
            let count: &mut (usize, usize) = calls.entry(name.to_owned()).or_default();
            if !over {
                if within && !rest.contains(BEGIN) { count.1 += 1 } else { count.0 += 1 }
            }
        }
        calls.retain(|name, (_, within)| *within > 0 && !LEFT_ALONE.contains(&name.as_str()));
        calls
    }

    pub(super) fn drive() {
        if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
            eprintln!("==> LEFT OUT: faults of system calls, because strace is not installed");
            assert!(std::env::var("CI").as_deref() != Ok("true"), "CI has to have it");
            return;
        }
        std::thread::scope(|scope| {
            for kind in [Kind::Directory, Kind::Recorded, Kind::Sqlite] {
                scope.spawn(move || every_call_of_every_command(kind));
            }
            for (what, address) in [
                ("directory", "recorded:{}"),
                ("encrypted directory", "recorded:encrypted:{}"),
                ("SQLite", "recorded:sqlite:{}/agent.db"),
            ] {
                scope.spawn(move || {
                    killed_before_every_call(what, address, SCRIPT, after_kill);
                    killed_before_every_call(what, address, ERASE, after_killed_erasure);
                    killed_before_every_call(what, address, REDACT, after_killed_redaction);
                });
            }
        });
    }

    fn every_call_of_every_command(kind: Kind) {
        // In memory where possible: the tests do not need thousands of disk flushes.
        let shm = Path::new("/dev/shm");
        let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
        let place = place.unwrap();
        let base = place.path().join("base");
        let (mut turn, mut tried, mut findings) = (0, 0, String::new());
        for (what, input) in COMMANDS {
            kind.prepare(&base);
            let before = kind.tree(&base);
            let (answer, log) = run(kind, &base, input, None);
            assert!(matches!(answer, Some((_, false))), "{what}: {answer:?}");
            let after = kind.tree(&base);
            for (call, (earlier, here)) in calls(&log) {
                for number in 0..here {
                    turn += 1;
                    // Few commands flush after they moved something out of sight.
                    let is_flush = ["fsync", "fdatasync"].contains(&call.as_str())
                        && ["delete a directory", "clear"].contains(what);
                    if !is_turn(turn, 3) && !is_flush {
                        continue;
                    }
                    let errors = ERRORS.iter().cycle().skip(tried);
                    // Inaccessible entries are left out of listings, as if they did not exist.
                    let is_closed = |error: &str| {
                        kind == Kind::Recorded
                            && call == "newfstatat"
                            && ["EACCES", "EPERM", "ELOOP"].contains(&error)
                    };
                    let errors = errors.filter(|error| !is_closed(error));
                    for error in errors.take(times(1).min(ERRORS.len())) {
                        tried += 1;
                        kind.prepare(&base);
                        let fault = format!("{call}:error={error}:when={}", earlier + number + 1);
                        let (answer, _) = run(kind, &base, input, Some(&fault));
                        let now = kind.tree(&base);
                        let found = finding(answer.as_ref(), &now, &before, &after);
                        // After a failed flush every other call still works, so the command itself cleans up.
                        let at_once = on_disk(&base)
                            .into_iter()
                            .find(|path| is_flush && path.contains(".memdir-"))
                            .map(|left| format!("left {left} until the next command"));
                        let found = found.or(at_once);
                        // The next process finds no leftovers.
                        drop(memory(&kind.address(&base)));
                        let left =
                            on_disk(&base).into_iter().find(|path| path.contains(".memdir-"));
                        let left = left.map(|left| format!("left {left}"));
                        let found = found.or(left);
                        if let Some(problem) = found.or_else(|| history(kind, &base, &now, &before))
                        {
                            let _ = writeln!(findings, "{what}: {fault}: {problem}");
                        }
                    }
                }
            }
        }
        println!("faults: {kind:?}: {tried} calls failed, {} findings", findings.lines().count());
        assert!(tried > 50 && findings.is_empty(), "{findings}");
    }

    /// `address` contains `{}` instead of a directory. `after` returns the problem after a kill, if there is one; its arguments are the
    /// address and the number of acknowledged steps.
    fn killed_before_every_call(
        what: &str,
        address: &str,
        input: &str,
        after: fn(&str, usize) -> Option<String>,
    ) {
        let shm = Path::new("/dev/shm");
        let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() };
        let place = place.unwrap();
        let base = place.path().join("base");
        let address = address.replace("{}", base.to_str().unwrap());
        let prepare = || {
            let _ = fs::remove_dir_all(&base);
            fs::create_dir_all(&base).unwrap();
            let memory = memory(&address);
            for (file, text) in [("a.md", "a\n"), ("d/b.md", "b\n"), ("d/e/c.md", "c\n")] {
                memory.create(&format!("/memories/{file}"), text).unwrap();
            }
        };
        prepare();
        let (answer, log) = run_at(&address, &base, input, None);
        let all = if input == SCRIPT { STEPS.len() } else { 1 };
        assert_eq!(answer, Some((all.to_string(), false)), "{what}");
        let (mut turn, mut killed, mut findings) = (0, 0, String::new());
        for (call, (earlier, here)) in calls(&log) {
            for number in 0..here {
                turn += 1;
                if !is_turn(turn, 12) {
                    continue;
                }
                prepare();
                let fault = format!("{call}:signal=KILL:when={}", earlier + number + 1);
                let (answer, _) = run_at(&address, &base, input, Some(&fault));
                let acknowledged = answer.map_or(0, |(steps, _)| steps.parse().unwrap_or(0));
                killed += 1;
                if let Some(problem) = after(&address, acknowledged) {
                    let _ = writeln!(findings, "{fault}, {acknowledged} acknowledged: {problem}");
                }
            }
        }
        println!("kills: {what}, {input}: {killed}, {} findings", findings.lines().count());
        assert!(killed > 5 && findings.is_empty(), "{what}, {input}:\n{findings}");
    }

    /// The problem after a process was killed during an erasure, if there is one.
    fn after_killed_erasure(address: &str, acknowledged: usize) -> Option<String> {
        let memory = memory(address);
        let (files, versions) = (paths(&memory), memory.history(&HistoryQuery::default()).unwrap());
        if acknowledged > 0 && !(files.is_empty() && versions.is_empty()) {
            return Some(format!("left are {files:?}, {} versions", versions.len()));
        }
        // The files are removed first, so no file is without its history.
        let is_told = |path: &String| {
            versions.iter().any(|version| version.is_current && version.path.as_str() == path)
        };
        if let Some(path) = files.iter().find(|path| !is_told(path)) {
            return Some(format!("{path} has no history any more"));
        }
        memory.erase(false).unwrap();
        let left = memory.history(&HistoryQuery::default()).unwrap();
        let is_nothing_left = paths(&memory).is_empty() && left.is_empty();
        (!is_nothing_left).then(|| format!("a second erasure leaves {left:?}"))
    }

    /// The problem after a process was killed during a redaction, if there is one.
    fn after_killed_redaction(address: &str, acknowledged: usize) -> Option<String> {
        let memory = memory(address);
        let query = || memory.history(&HistoryQuery::default()).unwrap();
        let created = |version: &memdir::history::Version| {
            version.path.as_str() == SECRET_FILE && version.operation.as_str() == "created"
        };
        let Some(secret) = query().into_iter().find(created) else {
            return memory.read(SECRET_FILE).is_ok().then(|| "it has no version".to_owned());
        };
        if secret.is_current {
            return None;
        }
        match (memory.read_version(secret.id), acknowledged) {
            (Ok(content), 0) if content == SECRET.as_bytes() => {}
            (Err(HistoryError::Redacted(_)), _) => {}
            (read, _) => return Some(format!("{read:?}")),
        }
        memory.redact(secret.id, "again").unwrap();
        let read = memory.read_version(secret.id);
        if !matches!(read, Err(HistoryError::Redacted(_))) {
            return Some(format!("after a second redaction: {read:?}"));
        }
        for version in query() {
            let is_secret = version.redacted.is_some() || version.operation.as_str() == "redacted";
            if !is_secret && let Err(error) = memory.read_version(version.id) {
                return Some(format!("{version:?}: {error}"));
            }
        }
        let mut problems = Vec::new();
        memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        drop(memory);
        let directory = address.rsplit_once(':').map_or(address, |(_, directory)| directory);
        let directory = directory.strip_suffix("/agent.db").unwrap_or(directory);
        problems.extend(with_secret(Path::new(directory)));
        (!problems.is_empty()).then(|| format!("{problems:?}"))
    }

    fn paths(memory: &Memory) -> Vec<String> {
        let mut paths = Vec::new();
        walk_files(&**memory.store(), &mut |entry| paths.push(entry.path.to_string())).unwrap();
        paths
    }

    /// The files below a directory that contain a part of the secret.
    fn with_secret(directory: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(with_secret(&path));
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            if SECRET.as_bytes().windows(8).any(|part| bytes.windows(8).any(|there| there == part))
            {
                found.push(format!("{} has the secret", path.display()));
            }
        }
        found
    }

    /// The problem after a process was killed that had acknowledged `steps` steps, if there is one.
    fn after_kill(address: &str, acknowledged: usize) -> Option<String> {
        let memory = memory(address);
        let files = |memory: &Memory| {
            let mut paths = Vec::new();
            walk_files(&**memory.store(), &mut |entry| paths.push(entry.path)).unwrap();
            let read = |path: &MemoryPath| memory.read(path.as_str()).unwrap();
            paths.iter().map(|path| (path.to_string(), read(path))).collect::<Tree>()
        };
        let found = files(&memory);
        // Only the next step may or may not have been made.
        let steps = (acknowledged..=STEPS.len().min(acknowledged + 1))
            .find(|steps| files_after(&versions_after(*steps)) == found);
        let Some(steps) = steps else { return Some(format!("the files are {found:?}")) };
        let mut expected = versions_after(steps);
        if let Some(problem) = told_otherwise(&memory, &expected) {
            return Some(problem);
        }
        // The memory stays usable, also for a later process.
        let whole = |done: &str, path: &str, content: &str| {
            (done.to_owned(), format!("/memories/{path}"), None, Some(content.to_owned()))
        };
        let before = found["/memories/a.md"].clone();
        memory.insert("/memories/a.md", 0, "later").unwrap();
        expected.push(whole("modified", "a.md", &format!("later\n{before}")));
        memory.create("/memories/later.md", "later\n").unwrap();
        expected.push(whole("created", "later.md", "later\n"));
        let next = self::memory(address);
        let problem =
            [&memory, &next].into_iter().find_map(|memory| told_otherwise(memory, &expected));
        if files(&next) != files_after(&expected) {
            return Some(format!("later the files are {:?}", files(&next)));
        }
        let mut problems = Vec::new();
        next.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        problem.or_else(|| (!problems.is_empty()).then(|| format!("{problems:?}")))
    }

    /// The history that a memory reports, if it differs from the expected one.
    fn told_otherwise(memory: &Memory, expected: &[Told]) -> Option<String> {
        let versions = match memory.history(&HistoryQuery::default()) {
            Ok(versions) => versions,
            Err(error) => return Some(format!("no history: {error}")),
        };
        let content = |version: &memdir::history::Version| {
            let read = memory.read_version(version.id).ok();
            read.filter(|_| version.operation.as_str() != "deleted")
                .map(|content| String::from_utf8(content).unwrap())
        };
        let told: Vec<Told> = versions
            .iter()
            .rev()
            .map(|version| {
                let old_path = version.old_path.as_ref().map(ToString::to_string);
                (
                    version.operation.to_string(),
                    version.path.to_string(),
                    old_path,
                    content(version),
                )
            })
            .collect();
        let current = versions.iter().filter(|version| version.is_current);
        let current: Tree = current
            .map(|version| (version.path.to_string(), content(version).unwrap_or_default()))
            .collect();
        if told != expected {
            return Some(format!("the history tells {told:?}"));
        }
        (current != files_after(expected)).then(|| format!("current is {current:?}"))
    }

    /// The problem after a fault, if there is one.
    fn finding(
        answer: Option<&(String, bool)>,
        now: &Tree,
        before: &Tree,
        after: &Tree,
    ) -> Option<String> {
        let Some((said, is_error)) = answer else { return Some("no answer".to_owned()) };
        if now != before && now != after {
            return Some(format!("the tree is neither: {said}: {now:?}"));
        }
        let unknown = said.contains("may or may not");
        let untrue = match is_error {
            false => now != after,
            true => now != before && !unknown,
        };
        untrue.then(|| format!("untrue: {said}"))
    }
}
