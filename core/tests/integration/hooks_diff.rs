//! The diff for a hook: it matches the command's effect, and leaves no trace.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::common::approving::{Approving, Counting, SixMethods};
use crate::common::effort;
use crate::common::folding_store::FoldingStore;
use crate::common::store_helpers::{Tree, at, put, tree};
use memdir::history::HistoryQuery;
use memdir::policy::StaleGuard;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::{InProcess, Mounts, ReadOnly};
use memdir::text::unified_diff;
use memdir::{Error, ErrorKind, HookDecision, Memory, MemoryOptions, OnExisting, Outcome, Store};
use serde_json::{Value, json};

/// The diff of one command, and the reply of the command.
fn shown(memory: &Memory, input: &Value) -> (Result<String, Error>, memdir::Reply) {
    let diff = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&diff);
    let hooks = Approving::new(move |_, call| {
        let shown = call.diff();
        let passed_on = shown.as_ref().map(|_| HookDecision::Allow);
        let decision = passed_on.map_err(|error| error.to_string().into());
        *keep.lock().unwrap() = Some(shown);
        decision
    });
    let reply = hooks.of(memory).execute_value(input);
    let diff = diff.lock().unwrap().take();
    // The hook is not called, because the command is refused in any case.
    let refused = || Err(Error::Refused(reply.refused().unwrap()));
    (diff.unwrap_or_else(refused), reply)
}

fn memory(options: impl FnOnce(&mut MemoryOptions)) -> Memory {
    memory_on(Arc::new(InProcess::new()), options)
}

fn memory_on(store: Arc<dyn Store>, set: impl FnOnce(&mut MemoryOptions)) -> Memory {
    let mut options = MemoryOptions::default();
    set(&mut options);
    Memory::with_store(store, options)
}

#[test]
fn a_diff_of_each_command_has_its_form() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    for (path, content) in [
        ("/memories/tea.md", &b"green\nblack\n"[..]),
        ("/memories/old.md", b"one\ntwo"),
        ("/memories/picture.png", b"\x89PNG\xff"),
        ("/memories/d/a.md", b"12"),
        ("/memories/d/.hidden/b.md", b""),
    ] {
        put(&*store, path, content);
    }
    put(&*store, "/memories/d/empty/x", b"");
    store.delete(&at("/memories/d/empty/x")).unwrap();
    let memory = memory_on(store, |options| options.on_existing = OnExisting::Overwrite);
    for (input, expected) in [
        (json!({"command": "view", "path": "/memories/tea.md"}), ""),
        (json!({"command": "view", "path": "/memories"}), ""),
        (
            json!({"command": "create", "path": "/memories/new/file.md", "file_text": "x"}),
            "--- /dev/null\n+++ /memories/new/file.md\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n",
        ),
        (
            json!({"command": "create", "path": "/memories/empty.md", "file_text": ""}),
            "--- /dev/null\n+++ /memories/empty.md\n",
        ),
        (json!({"command": "create", "path": "/memories/empty.md", "file_text": ""}), ""),
        (
            json!({"command": "create", "path": "/memories/tea.md", "file_text": "white\nblack\n"}),
            "--- /memories/tea.md\n+++ /memories/tea.md\n@@ -1,2 +1,2 @@\n-green\n+white\n black\n",
        ),
        (
            json!({"command": "create", "path": "/memories/picture.png", "file_text": "no"}),
            "Binary files /memories/picture.png (5 bytes) and /memories/picture.png (2 bytes) differ\n",
        ),
        (
            json!({"command": "str_replace", "path": "/memories/tea.md", "old_str": "black"}),
            "--- /memories/tea.md\n+++ /memories/tea.md\n@@ -1,2 +1,2 @@\n white\n-black\n+\n",
        ),
        (
            json!({"command": "str_replace", "path": "/memories/tea.md", "old_str": "white", "new_str": "white"}),
            "",
        ),
        (
            json!({"command": "insert", "path": "/memories/tea.md", "insert_line": 0, "insert_text": "first"}),
            "--- /memories/tea.md\n+++ /memories/tea.md\n@@ -1,2 +1,3 @@\n+first\n white\n \n",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/tea.md", "new_path": "/memories/e/tea.md"}),
            "rename from /memories/tea.md\nrename to /memories/e/tea.md\n",
        ),
        (
            json!({"command": "delete", "path": "/memories/old.md"}),
            "--- /memories/old.md\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-one\n-two\n\\ No newline at end of file\n",
        ),
        (
            json!({"command": "delete", "path": "/memories/d"}),
            "delete directory /memories/d\ndelete directory /memories/d/.hidden\n\
             delete /memories/d/.hidden/b.md (0 bytes)\ndelete /memories/d/a.md (2 bytes)\n\
             delete directory /memories/d/empty\n",
        ),
    ] {
        let (diff, reply) = shown(&memory, &input);
        assert_eq!(diff.unwrap(), expected, "{input}");
        assert!(!reply.is_error, "{input} {}", reply.content);
    }
}

#[test]
fn what_is_no_text_or_too_large_has_a_line_with_its_size() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    // The smallest file that is too large to edit is one byte larger than the limit.
    let edited = 16 * 1024 * 1024 + 1024;
    put(&*store, "/memories/edited", vec![b'x'; edited]);
    for name in ["large", "other"] {
        put(&*store, &format!("/memories/{name}"), vec![b'x'; edited + 1]);
    }
    put(&*store, "/memories/picture", b"\xff\xfe");
    let memory = memory_on(store, |options| options.on_existing = OnExisting::Overwrite);
    let delete = |name: &str| json!({"command": "delete", "path": format!("/memories/{name}")});
    let (diff, reply) = shown(&memory, &delete("picture"));
    assert_eq!(diff.unwrap(), "Binary files /memories/picture (2 bytes) and /dev/null differ\n");
    assert!(!reply.is_error);
    let (diff, reply) = shown(&memory, &delete("edited"));
    assert!(diff.unwrap().starts_with("--- /memories/edited\n") && !reply.is_error);
    let (diff, reply) = shown(&memory, &delete("large"));
    assert_eq!(diff.unwrap(), format!("delete /memories/large ({} bytes)\n", edited + 1));
    assert!(!reply.is_error);
    let create = json!({"command": "create", "path": "/memories/other", "file_text": "x\n"});
    let (diff, reply) = shown(&memory, &create);
    let new = "--- /dev/null\n+++ /memories/other\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(diff.unwrap(), format!("overwrite /memories/other ({} bytes)\n{new}", edited + 1));
    assert!(!reply.is_error);
    assert_eq!(tree(&**memory.store(), "/memories").len(), 1);
}

#[test]
fn a_refused_diff_refuses_the_call_in_the_same_words() {
    let store = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/team"), Arc::new(InProcess::new()))
        .unwrap();
    let handbook = InProcess::new();
    put(&handbook, "/memories/a", b"rules");
    let store: Arc<dyn Store> =
        Arc::new(store.mount(at("/memories/handbook"), Arc::new(ReadOnly::new(handbook))).unwrap());
    for path in ["/memories/a", "/memories/d/b", "/memories/.h/c"] {
        put(&*store, path, b"one\n");
    }
    put(&*store, "/memories/picture", b"\xff");
    let memory = memory_on(Arc::clone(&store), |options| {
        options.max_file_bytes = Some(100);
        options.sensitive_text = SensitiveText::Reject;
        options.read_only_paths = vec!["/memories/.h/c".parse().unwrap()];
    });
    let secret = "password: q7Lw4Xt9Rb1Vc6Ny";
    let before = tree(&*store, "/memories");
    for (input, kind) in [
        (json!({"command": "create", "path": "/memories/a", "file_text": ""}), "exists"),
        (json!({"command": "create", "path": "/memories/d", "file_text": ""}), "exists"),
        (
            json!({"command": "create", "path": "/memories/a/b/c", "file_text": ""}),
            "not_a_directory",
        ),
        (
            json!({"command": "create", "path": "/memories/handbook/b", "file_text": ""}),
            "read_only",
        ),
        (json!({"command": "create", "path": "/memories/team", "file_text": ""}), "exists"),
        (json!({"command": "str_replace", "path": "/memories/none", "old_str": "x"}), "not_found"),
        (json!({"command": "str_replace", "path": "/memories/d", "old_str": "x"}), "not_found"),
        (json!({"command": "str_replace", "path": "/memories/a", "old_str": "x"}), "no_match"),
        (
            json!({"command": "str_replace", "path": "/memories/picture", "old_str": "x"}),
            "not_text",
        ),
        (
            json!({"command": "str_replace", "path": "/memories/handbook/a", "old_str": "rules"}),
            "read_only",
        ),
        (
            json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": secret}),
            "sensitive",
        ),
        (
            json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x".repeat(100)}),
            "too_large",
        ),
        (
            json!({"command": "insert", "path": "/memories/a", "insert_line": 7, "insert_text": ""}),
            "invalid",
        ),
        (json!({"command": "delete", "path": "/memories/none"}), "not_found"),
        (json!({"command": "delete", "path": "/memories/a/b"}), "not_found"),
        (json!({"command": "delete", "path": "/memories"}), "fixed"),
        (json!({"command": "delete", "path": "/memories/team"}), "fixed"),
        (json!({"command": "delete", "path": "/memories/.h"}), "read_only"),
        (json!({"command": "delete", "path": "/memories/handbook/a"}), "read_only"),
        (
            json!({"command": "rename", "old_path": "/memories/none", "new_path": "/memories/b"}),
            "not_found",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/d"}),
            "exists",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/a"}),
            "exists",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/d/e"}),
            "invalid",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/d", "new_path": "/memories/a/e"}),
            "not_a_directory",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/team", "new_path": "/memories/e"}),
            "fixed",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/.h", "new_path": "/memories/h"}),
            "read_only",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/handbook/a", "new_path": "/memories/h"}),
            "read_only",
        ),
        (
            json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/handbook/h"}),
            "read_only",
        ),
    ] {
        let usual = memory.execute_value(&input);
        let (diff, reply) = shown(&memory, &input);
        assert_eq!(diff.unwrap_err().to_string(), usual.content.to_string(), "{input}");
        assert_eq!(reply.content, usual.content, "{input}");
        assert_eq!(
            (reply.kind, reply.kind.map(ErrorKind::as_str)),
            (usual.kind, Some(kind)),
            "{input}"
        );
        assert!(reply.cause.is_none());
    }
    assert_eq!(tree(&*store, "/memories"), before);
}

#[test]
fn a_memory_that_is_read_only_refuses_every_diff() {
    let store = InProcess::new();
    put(&store, "/memories/a", b"one\n");
    let memory = memory_on(Arc::new(store), |options| options.read_only = true);
    for path in ["/memories/a", "/memories/none", "/memories/a/b"] {
        for input in [
            json!({"command": "create", "path": path, "file_text": ""}),
            json!({"command": "str_replace", "path": path, "old_str": "one"}),
            json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": ""}),
            json!({"command": "delete", "path": path}),
            json!({"command": "rename", "old_path": path, "new_path": "/memories/b"}),
            json!({"command": "rename", "old_path": path, "new_path": path}),
        ] {
            let usual = memory.execute_value(&input);
            let (diff, reply) = shown(&memory, &input);
            assert_eq!(reply.kind, Some(ErrorKind::ReadOnly), "{input}");
            assert_eq!((&reply.content, reply.kind), (&usual.content, usual.kind), "{input}");
            assert_eq!(diff.unwrap_err().to_string(), usual.content.to_string(), "{input}");
        }
    }
}

#[test]
fn a_hook_that_fails_of_itself_is_a_failure_and_one_that_was_refused_a_refusal() {
    let memory = memory(|_| {});
    let failing = Approving::new(|_, call| {
        drop(call.diff());
        Err("no route to rules.internal".into())
    });
    for (create, outcome) in [(true, Outcome::Refused), (false, Outcome::Failed)] {
        let done = if create {
            memory.create("/memories/a", "").unwrap();
            failing.of(&memory).create("/memories/a", "")
        } else {
            failing.of(&memory).delete("/memories/a")
        };
        assert_eq!(matches!(done, Err(Error::Refused(_))), create, "{done:?}");
        assert_eq!(failing.last().outcome, outcome);
    }
    assert!(memory.exists("/memories/a").unwrap());
}

#[test]
fn a_hook_cannot_allow_what_was_refused_when_it_was_shown() {
    let memory = memory(|_| {});
    let inner = memory.clone();
    let hooks = Approving::new(move |_, call| {
        let refused = call.diff().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
        inner.create("/memories/a", "one")?;
        Ok(HookDecision::Allow)
    });
    let refused = hooks.of(&memory).str_replace("/memories/a", "one", "two").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
}

#[test]
fn a_diff_that_fails_as_the_store_does_is_tried_again() {
    let memory = memory_on(Arc::new(crate::common::failing::UNREACHABLE), |_| {});
    let hooks = Approving::new(|_, call| {
        for _ in 0..2 {
            assert!(matches!(call.diff(), Err(Error::Store(_))));
        }
        Err("no diff".into())
    });
    let done = hooks.of(&memory).delete("/memories/a");
    assert!(matches!(done, Err(Error::Hook(_))), "{done:?}");
}

#[test]
fn a_diff_has_the_text_as_it_will_be_stored() {
    let memory = memory(|options| options.sensitive_text = SensitiveText::Redact);
    memory.create("/memories/a", "password: \nend\n").unwrap();
    // Only with the text before it this is a password.
    let replace = json!({
        "command": "str_replace", "path": "/memories/a",
        "old_str": "password: ", "new_str": "password: q7Lw4Xt9Rb1Vc6Ny",
    });
    let (diff, reply) = shown(&memory, &replace);
    let diff = diff.unwrap();
    assert!(diff.contains("+password: [REDACTED:") && !diff.contains("q7Lw"), "{diff}");
    assert!(reply.content.to_string().contains("Sensitive text was not written"));
    let split = json!({
        "command": "insert", "path": "/memories/a", "insert_line": 2, "insert_text": "q7Lw4Xt9Rb1Vc6Ny",
    });
    let (diff, _) = shown(&memory, &split);
    let old = "password: [REDACTED:password-assignment]\nend\n";
    let new = memory.read("/memories/a").unwrap();
    let name = "/memories/a";
    assert_eq!(diff.unwrap(), unified_diff(name, old.as_bytes(), name, new.as_bytes()));
}

/// A stream of pseudorandom numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit).unwrap()
    }

    fn of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len() as u64)]
    }

    fn command(&mut self) -> Value {
        const PATHS: [&str; 9] = [
            "/memories/a",
            "/memories/b",
            "/memories/d",
            "/memories/d/a",
            "/memories/d/e/a",
            "/memories/.h/a",
            "/memories/mounted/a",
            "/memories/mounted/d/b",
            "/memories/kept/a",
        ];
        const TEXTS: [&str; 8] = [
            "",
            "x",
            "x\n",
            "one\ntwo\nthree\n",
            "password: q7Lw4Xt9Rb1Vc6Ny\n",
            "é\r\n\nmany lines of a text that is somewhat long\n",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
            "password: ",
        ];
        let path = self.of(&PATHS);
        match self.below(9) {
            0 | 1 => json!({"command": "create", "path": path, "file_text": self.of(&TEXTS)}),
            2 | 3 => json!({
                "command": "str_replace", "path": path,
                "old_str": self.of(&["x", "two", "\n", "é", "REDACTED", "many lines of a text that is"]),
                "new_str": self.of(&TEXTS),
            }),
            4 | 5 => json!({
                "command": "insert", "path": path,
                "insert_line": self.below(4), "insert_text": self.of(&TEXTS),
            }),
            6 => json!({"command": "delete", "path": path}),
            7 => json!({"command": "rename", "old_path": path, "new_path": self.of(&PATHS)}),
            _ => json!({"command": "view", "path": path}),
        }
    }
}

/// The diff from one tree to the other.
fn difference(input: &Value, before: &Tree, after: &Tree) -> String {
    let path = |field: &str| input[field].as_str().unwrap().to_owned();
    let content = |tree: &Tree, path: &str| tree.get(path).cloned().flatten();
    if input["command"] == "rename" {
        return format!("rename from {}\nrename to {}\n", path("old_path"), path("new_path"));
    }
    let path = path("path");
    if input["command"] == "view" {
        return String::new();
    }
    if input["command"] == "delete" && before[&path].is_none() {
        let gone = before.iter().filter(|(at, _)| !after.contains_key(*at));
        // A directory comes before its content, which the order of the path bytes alone does not
        // ensure.
        let mut gone: Vec<_> =
            gone.map(|(at, content)| (at.replace('/', "\0"), at, content)).collect();
        gone.sort();
        return gone
            .into_iter()
            .map(|(_, at, content)| match content {
                Some(content) => format!("delete {at} ({} bytes)\n", content.len()),
                None => format!("delete directory {at}\n"),
            })
            .collect();
    }
    let (old, new) = (content(before, &path), content(after, &path));
    let name = |content: &Option<Vec<u8>>| if content.is_some() { &*path } else { "/dev/null" };
    let bytes = |content: &Option<Vec<u8>>| content.clone().unwrap_or_default();
    unified_diff(name(&old), &bytes(&old), name(&new), &bytes(&new))
}

on_every_store!(a_diff_is_what_is_then_stored);
fn a_diff_is_what_is_then_stored(store: Arc<dyn Store>) {
    put(&*store, "/memories/kept/a", b"stays\n");
    for (turn, existing) in [OnExisting::Error, OnExisting::Overwrite].into_iter().enumerate() {
        let memory = memory_on(Arc::clone(&store), |options| {
            options.on_existing = existing;
            options.sensitive_text = SensitiveText::Redact;
            options.max_file_bytes = Some(120);
            options.max_total_bytes = Some(400);
            options.max_files = Some(6);
            options.stale_guard = StaleGuard::On;
            options.read_only_paths = vec!["/memories/kept".parse().unwrap()];
        });
        let mut numbers = Numbers(effort::seed() + turn as u64);
        let mut kinds = BTreeSet::new();
        for _ in 0..effort::times(60) {
            let input = numbers.command();
            let before = tree(&*store, "/memories");
            let (diff, reply) = shown(&memory, &input);
            let after = tree(&*store, "/memories");
            match diff {
                Ok(diff) => {
                    // A failed view still has an empty diff.
                    if input["command"] != "view" {
                        assert!(!reply.is_error, "{input} {}\n{diff}", reply.content);
                    }
                    assert_eq!(diff, difference(&input, &before, &after), "{input}");
                    kinds.insert(input["command"].to_string());
                }
                Err(refused) => {
                    assert_eq!(after, before, "{input}");
                    assert!(reply.is_error && reply.cause.is_none(), "{input}");
                    assert_eq!(reply.content.to_string(), refused.to_string(), "{input}");
                    // It is the same as the command's own reply.
                    let usual = memory.execute_value(&input);
                    assert_eq!((usual.content, usual.kind), (reply.content, reply.kind), "{input}");
                    kinds.insert(refused.kind().to_string());
                }
            }
        }
        assert!(kinds.len() > 8, "{kinds:?}");
    }
}

on_every_store!(a_diff_leaves_no_trace);
fn a_diff_leaves_no_trace(store: Arc<dyn Store>) {
    let content = "one\n".repeat(10);
    put(&*store, "/memories/a", &content);
    put(&*store, "/memories/d/b", b"two\n");
    let counting = Arc::new(Counting(Arc::clone(&store), AtomicUsize::new(0)));
    let memory = memory_on(Arc::<Counting>::clone(&counting), |options| {
        options.max_total_bytes = Some(64);
        options.max_files = Some(3);
        options.stale_guard = StaleGuard::Strict;
        options.history = true;
        options.record_access = true;
        options.expire_after = Some(Duration::from_secs(1_000_000));
    });
    // `expire_after` and the history read the tree once.
    memory.view("/memories", None).unwrap();
    let told = Arc::new(AtomicUsize::new(0));
    let by = Arc::clone(&told);
    let _subscription = memory.observe(move |_| {
        by.fetch_add(1, Ordering::SeqCst);
    });
    let accessed = |path: &str| store.accessed(&at(path)).unwrap();
    let (used, changes) = (accessed("/memories/a"), counting.1.load(Ordering::SeqCst));
    let before = tree(&*store, "/memories");
    let hooks = Approving::new(|_, call| {
        drop(call.diff());
        Ok(HookDecision::Deny("No.".into()))
    });
    let asking = hooks.of(&memory);
    for _ in 0..5 {
        // The last bytes and the last file that the limits allow.
        asking.create("/memories/c", &"x".repeat(20)).unwrap_err();
        asking.str_replace("/memories/a", "one", "two").unwrap_err();
        asking.insert("/memories/a", 0, "two").unwrap_err();
        asking.rename("/memories/d", "/memories/e").unwrap_err();
        asking.delete("/memories/a").unwrap_err();
        asking.delete("/memories/d").unwrap_err();
        asking.view("/memories/a", None).unwrap_err();
    }
    assert_eq!(hooks.times_asked(), 35);
    assert_eq!((counting.1.load(Ordering::SeqCst), told.load(Ordering::SeqCst)), (changes, 0));
    assert_eq!((tree(&*store, "/memories"), accessed("/memories/a")), (before, used));
    assert!(memory.history(&HistoryQuery::default()).unwrap().is_empty());
    // A diff does not count as a view.
    let stale = memory.insert("/memories/a", 0, "two").unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::Stale, "{stale}");
    memory.create("/memories/c", &"x".repeat(20)).unwrap();
    let full = memory.create("/memories/f", "").unwrap_err();
    assert_eq!(full.kind(), ErrorKind::Full, "{full}");
}

#[cfg(any(unix, windows))]
#[test]
fn a_bare_directory_is_previewed_as_well() {
    let place = tempfile::tempdir().unwrap();
    let address = format!("dir:{}", place.path().display());
    a_diff_is_what_is_then_stored(memdir::open_store(&address, &MemoryOptions::default()).unwrap());
}

#[test]
fn a_store_that_ignores_case_renames_by_case_alone() {
    let memory = memory_on(Arc::new(FoldingStore::like_windows()), |_| {});
    memory.create("/memories/a", "").unwrap();
    let rename = json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/A"});
    let usual = memory.execute_value(&rename);
    memory.rename("/memories/A", "/memories/b").unwrap();
    memory.rename("/memories/b", "/memories/a").unwrap();
    let (diff, reply) = shown(&memory, &rename);
    assert_eq!(reply.content, usual.content);
    assert_eq!(diff.is_ok(), !usual.is_error);
    let create = json!({"command": "create", "path": "/memories/A", "file_text": ""});
    assert_eq!(shown(&memory, &create).0.unwrap_err().kind(), ErrorKind::Exists);
}

#[test]
fn a_store_of_six_methods_is_previewed_as_well() {
    a_diff_is_what_is_then_stored(Arc::new(SixMethods::default()));
}
