//! A developer's own file operations on a memory: the same on every store, under the same policies.
#![cfg(feature = "sqlite")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::store_helpers::{at, put, refusal};
use memdir::command::Decoded;
use memdir::history::{HistoryQuery, UndoOptions};
use memdir::policy::StaleGuard;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::{EntryKind, InProcess};
use memdir::{Cancellation, ChangeKind, Error, GrepQuery, Memory, MemoryOptions, StoreError};

fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    set(&mut options);
    options
}

fn in_process(set: impl FnOnce(&mut MemoryOptions)) -> Memory {
    Memory::with_store(Arc::new(InProcess::new()), options(set))
}

/// A memory on each kind of store.
fn each_store(test: impl Fn(&Memory)) {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    test(&in_process(|_| ()));
    test(&Memory::open(&path("local"), options(|_| ())).unwrap());
    test(&Memory::open(&format!("sqlite:{}", path("a.db")), options(|_| ())).unwrap());
    let key = "correct horse battery staple".parse().unwrap();
    let encrypted = options(|options| options.encryption_key = Some(key));
    test(&Memory::open(&path("encrypted"), encrypted).unwrap());
}

fn refused<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    refusal(result.map(|done| format!("{done:?}")))
}

#[test]
fn files_are_written_and_read_as_they_are() {
    each_store(|memory| {
        for text in ["", "one\r\ntwo", "# Ä\n\n", "x\0y"] {
            memory.write("/memories/dir/a.md", text, None).unwrap();
            assert_eq!(memory.read("/memories/dir/a.md").unwrap(), text);
        }
        assert!(memory.exists("/memories").unwrap());
        assert!(memory.exists("/memories/dir").unwrap());
        assert!(memory.exists("/memories/dir/./a.md").unwrap());
        assert!(!memory.exists("/memories/dir/a.md/below").unwrap());
        assert!(!memory.exists("/memories/b").unwrap());
        assert_eq!(
            refused(memory.read("/memories/b")),
            "The path /memories/b does not exist. Please provide a valid path."
        );
        for wrong in [
            refused(memory.read("/memories/dir")),
            refused(memory.write("/memories/dir", "", None)),
            refused(memory.write("/memories", "", None)),
        ] {
            assert!(wrong.ends_with("is a directory, not a file"), "{wrong}");
        }
        assert!(
            refused(memory.write("/memories/dir/a.md/b", "", None)).contains("one of its parents")
        );
        assert!(refused(memory.exists("/memories/../etc")).contains("would escape"));
        put(&**memory.store(), "/memories/bytes", b"\xff");
        assert!(refused(memory.read("/memories/bytes")).contains("not valid UTF-8"));
    });
}

#[test]
fn a_file_that_was_changed_meanwhile_stays() {
    each_store(|memory| {
        let path = "/memories/a";
        memory.create(path, "one").unwrap();
        let old = memory.read(path).unwrap();
        memory.write(path, "two", Some(&old)).unwrap();
        let late = refused(memory.write(path, "three", Some(&old)));
        assert_eq!(
            late,
            "Error: The file /memories/a does not hold what it was expected to hold. Nothing was changed: read it \
             again before you write it."
        );
        assert_eq!(memory.read(path).unwrap(), "two");
        let gone = refused(memory.write("/memories/b", "", Some("")));
        assert!(gone.contains("does not exist"), "{gone}");
        assert!(!memory.exists("/memories/b").unwrap());
    });
}

#[test]
fn of_many_who_write_on_the_same_text_one_succeeds() {
    each_store(|memory| {
        let path = "/memories/count";
        memory.create(path, "0").unwrap();
        let conflicts = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        loop {
                            let old = memory.read(path).unwrap();
                            let new = (old.parse::<u32>().unwrap() + 1).to_string();
                            match memory.write(path, &new, Some(&old)) {
                                Ok(()) => break,
                                Err(Error::Refused(_)) => conflicts.fetch_add(1, Ordering::Relaxed),
                                Err(error) => panic!("{error}"),
                            };
                        }
                    }
                });
            }
        });
        assert_eq!(memory.read(path).unwrap(), "100");
    });
}

#[test]
fn the_policies_of_commands_hold_for_what_is_written() {
    let memory = in_process(|options| {
        options.read_only_paths = vec!["/memories/handbook".parse().unwrap()];
        options.max_file_bytes = Some(10);
        options.max_files = Some(2);
        options.sensitive_text = SensitiveText::Redact;
    });
    put(&**memory.store(), "/memories/handbook/a", "rules");
    for unchanged in [None, Some("rules")] {
        assert!(
            refused(memory.write("/memories/handbook/a", "", unchanged)).contains("is read-only")
        );
    }
    assert!(refused(memory.write("/memories/b", "12345678901", None)).contains("a file may hold"));
    memory.write("/memories/b", "1", None).unwrap();
    assert!(
        refused(memory.write("/memories/b", "12345678901", Some("1"))).contains("a file may hold")
    );
    assert!(refused(memory.write("/memories/c", "", None)).contains("the memory would hold"));
    memory.write("/memories/b", "2", None).unwrap();

    let memory = in_process(|options| options.sensitive_text = SensitiveText::Redact);
    let secret = format!("ghp_{}", "aB3dE5gH7j".repeat(4).split_at(36).0);
    memory.write("/memories/a", &format!("token {secret}\n"), None).unwrap();
    assert!(!memory.read("/memories/a").unwrap().contains(&secret));

    let memory = in_process(|options| options.read_only = true);
    assert!(refused(memory.write("/memories/a", "", None)).contains("read-only"));
}

#[test]
fn what_your_code_writes_the_model_has_not_seen() {
    for unchanged in [None, Some("one\n")] {
        let memory = in_process(|options| options.stale_guard = StaleGuard::On);
        memory.create("/memories/a", "one\n").unwrap();
        memory.write("/memories/a", "two\n", unchanged).unwrap();
        assert!(refusal(memory.insert("/memories/a", 1, "x")).contains("has changed since"));
        memory.view("/memories/a", None).unwrap();
        memory.insert("/memories/a", 1, "x").unwrap();
    }
}

#[test]
fn what_is_written_is_told_to_who_observes() {
    let memory = in_process(|_| ());
    let told = Arc::new(Mutex::new(Vec::new()));
    let listener = Arc::clone(&told);
    let subscription = memory.observe(move |change| {
        listener.lock().unwrap().push((change.kind, change.path.as_str().to_owned()));
    });
    memory.write("/memories/a", "one", None).unwrap();
    memory.write("/memories/a", "two", Some("one")).unwrap();
    let _ = memory.write("/memories/a", "three", Some("one")).unwrap_err();
    memory.read("/memories/a").unwrap();
    memory.create("/memories/init.md", "").unwrap();
    memory.bootstrap(&memdir::Project { about: "", features: &[], init: "" }).unwrap();
    drop(subscription);
    let paths = ["a", "a", "init.md", "progress.md", "features.md"];
    let written = paths.map(|name| (ChangeKind::Written, format!("/memories/{name}")));
    assert_eq!(*told.lock().unwrap(), written);
}

#[test]
fn what_is_cancelled_does_not_happen() {
    each_store(|memory| {
        memory.write("/memories/a", "one", None).unwrap();
        let cancellation = Cancellation::new();
        cancellation.cancel();
        let gone = memory.cancelled_by(&cancellation);
        for unchanged in [None, Some("one")] {
            let written = gone.write("/memories/a", "two", unchanged);
            assert!(matches!(written, Err(Error::Store(StoreError::Cancelled))));
        }
        let read = gone.read("/memories/a");
        assert!(matches!(read, Err(Error::Store(StoreError::Cancelled))));
        assert!(matches!(gone.index(9), Err(Error::Store(StoreError::Cancelled))));
        assert_eq!(memory.read("/memories/a").unwrap(), "one");
    });
}

#[test]
fn what_cancels_a_memory_cancels_those_that_are_made_of_it() {
    each_store(|memory| {
        memory.write("/memories/a", "one", None).unwrap();
        let (outer, inner) = (Cancellation::new(), Cancellation::new());
        let first = memory.cancelled_by(&outer);
        let (never, derived) =
            (first.cancelled_by(&Cancellation::never()), first.cancelled_by(&inner));
        let made = [never, first.acting_as("Ann"), first.session(), derived];
        let mut watch = first.watch("/memories", None).unwrap();
        let other = memory.cancelled_by(&outer).cancelled_by(&inner);
        let is_cancelled = |memory: &memdir::Memory| {
            matches!(memory.read("/memories/a"), Err(Error::Store(StoreError::Cancelled)))
        };
        inner.cancel();
        assert!(is_cancelled(&made[3]) && is_cancelled(&other));
        assert!(!made[..3].iter().any(is_cancelled) && !is_cancelled(&first));
        assert!(watch.changes(Duration::ZERO).unwrap().is_empty());
        outer.cancel();
        assert!(made.iter().all(is_cancelled) && is_cancelled(&first) && !is_cancelled(memory));
        let watched = watch.changes(Duration::MAX);
        assert!(matches!(watched, Err(Error::Store(StoreError::Cancelled))));
        let view = Decoded::parse(r#"{"command": "view", "path": "/memories/a"}"#);
        assert!(first.execute_nowait(view).is_err());
    });
}

#[test]
fn a_listing_has_the_depth_that_is_asked_for() {
    each_store(|memory| {
        for path in ["/memories/b", "/memories/a/b/c", "/memories/.hidden", "/memories/a/.x/y"] {
            memory.create(path, "12345").unwrap();
        }
        let paths = |path: &str, depth| -> Vec<String> {
            let entries = memory.list(path, depth).unwrap();
            entries.iter().map(|entry| entry.path.as_str().to_owned()).collect()
        };
        assert_eq!(paths("/memories", Some(1)), ["/memories/a", "/memories/b"]);
        assert_eq!(paths("/memories", Some(2)), ["/memories/a", "/memories/a/b", "/memories/b"]);
        assert_eq!(
            paths("/memories", None),
            ["/memories/a", "/memories/a/b", "/memories/a/b/c", "/memories/b"]
        );
        assert_eq!(paths("/memories/a", Some(1)), ["/memories/a/b"]);
        for all in [None, Some(usize::MAX)] {
            assert_eq!(paths("/memories/a", all), ["/memories/a/b", "/memories/a/b/c"]);
        }
        let file = &memory.list("/memories/b", Some(1)).unwrap()[0];
        assert_eq!((file.path.as_str(), file.kind), ("/memories/b", EntryKind::File(5)));
        assert!(file.modified.is_some());
        assert!(refused(memory.list("/memories/no", None)).contains("does not exist"));
    });
}

#[test]
fn names_and_lines_are_found_in_the_order_of_the_paths() {
    each_store(|memory| {
        memory.create("/memories/tea.md", "# Tea\ngreen tea\n").unwrap();
        memory.create("/memories/a/notes", "no\ntea time\n").unwrap();
        memory.create("/memories/teas/x", "").unwrap();
        memory.create("/memories/.tea", "tea").unwrap();
        put(&**memory.store(), "/memories/bytes", b"tea \xff");
        let grep = |query: &GrepQuery, path: &str, limit| -> Vec<(String, Option<u64>, String)> {
            let found = memory.grep(query, path, limit).unwrap();
            found.into_iter().map(|m| (m.path.as_str().to_owned(), m.line, m.text)).collect()
        };
        let found = |path: &str, line, text: &str| (path.to_owned(), line, text.to_owned());
        let all = [
            found("/memories/a/notes", Some(2), "tea time"),
            found("/memories/tea.md", None, "tea.md"),
            found("/memories/tea.md", Some(2), "green tea"),
            found("/memories/teas", None, "teas"),
        ];
        let tea = GrepQuery::text("tea");
        assert_eq!(grep(&tea, "/memories", 100), all);
        assert_eq!(grep(&tea, "/memories", 2), all[..2]);
        assert_eq!(grep(&tea, "/memories", 0), []);
        assert_eq!(grep(&tea, "/memories/tea.md", 9), all[1..3]);
        assert_eq!(grep(&tea, "/memories/a", 9), all[..1]);
        assert_eq!(grep(&tea.ignoring_case(), "/memories/tea.md", 9).len(), 3);
        let regex = GrepQuery::regex(r"^\w+ tea$").unwrap();
        assert_eq!(grep(&regex, "/memories", 9), [all[2].clone()]);
        assert!(refused(memory.grep(&regex, "/memories/no", 9)).contains("does not exist"));
    });
    assert!(matches!(GrepQuery::regex("("), Err(Error::Config(_))));
}

#[test]
fn what_views_hide_no_grep_and_no_index_shows() {
    let memory = in_process(|options| options.sensitive_on_view = true);
    let secret = format!("ghp_{}", "aB3dE5gH7j".repeat(4).split_at(36).0);
    memory.write("/memories/a", &format!("token {secret}\n"), None).unwrap();
    let grep = |text: &str| memory.grep(&GrepQuery::text(text), "/memories", 9).unwrap();
    assert!(grep(&secret).is_empty());
    let shown = &grep("token")[0].text;
    assert!(shown.contains("[REDACTED:") && !shown.contains(&secret), "{shown}");
    assert!(!memory.index(1000).unwrap().contains(&secret));
    // Your own code may need to write it back.
    assert!(memory.read("/memories/a").unwrap().contains(&secret));
}

#[test]
fn an_index_shows_no_part_of_what_views_hide() {
    let memory = in_process(|options| options.sensitive_on_view = true);
    let secret = format!("ghp_{}", "aB3dE5gH7j".repeat(4).split_at(36).0);
    // Around the end of the part that is otherwise read for an index.
    for blank in 980..1024 {
        memory.write("/memories/a", &format!("{}{secret}\n", "\n".repeat(blank)), None).unwrap();
        let index = memory.index(1000).unwrap();
        assert!(!index.contains("aB3d"), "{blank}: {index}");
    }
}

#[test]
fn a_file_that_is_too_large_to_be_looked_through_is_not_searched() {
    let memory = in_process(|options| {
        options.sensitive_on_view = true;
        options.max_file_bytes = Some(100);
    });
    // A little more than a command reads in order to edit a file.
    let large = 16 * 1024 * 1024 + 4096;
    put(&**memory.store(), "/memories/large", "tea\n".repeat(large / 4));
    put(&**memory.store(), "/memories/small", "tea");
    let found = memory.grep(&GrepQuery::text("tea"), "/memories", 9).unwrap();
    let paths: Vec<_> = found.iter().map(|found| found.path.as_str()).collect();
    assert_eq!(paths, ["/memories/small"]);
    let index = memory.index(1000).unwrap();
    let large = index.lines().find(|line| line.starts_with("/memories/large\t")).unwrap();
    assert!(!large.contains("tea"), "{large}");
}

#[test]
fn an_index_begins_with_what_is_pinned_and_what_is_new_and_says_what_it_leaves_out() {
    let memory =
        in_process(|options| options.never_expire = vec!["/memories/rules".parse().unwrap()]);
    let day = Duration::from_secs(24 * 60 * 60);
    for (age, path, text) in [
        (3, "/memories/rules/style.md", "\n\n# Style\n"),
        (2, "/memories/old.md", "an old note\nwith two lines"),
        (1, "/memories/new.md", "\u{1b}[2Ja\tb"),
        (0, "/memories/.hidden", "hidden"),
    ] {
        memory.create(path, text).unwrap();
        memory.store().set_modified(&at(path), SystemTime::now() - day * age).unwrap();
    }
    put(&**memory.store(), "/memories/new.bin", b"\xff");
    let whole = "/memories/rules/style.md\t10B\t# Style\n\
        /memories/new.bin\t1B\n\
        /memories/new.md\t7B\t [2Ja b\n\
        /memories/old.md\t26B\tan old note\n";
    assert_eq!(memory.index(1000).unwrap(), whole);
    assert_eq!(memory.index(whole.chars().count()).unwrap(), whole);
    for max_chars in 0..whole.chars().count() {
        let index = memory.index(max_chars).unwrap();
        assert!(index.chars().count() <= max_chars);
        if !index.is_empty() {
            assert!(index.ends_with("not listed here.]\n"), "{index}");
        }
    }
    assert_eq!(
        memory.index(75).unwrap(),
        "/memories/rules/style.md\t10B\t# Style\n[3 more files are not listed here.]\n"
    );
}

#[test]
fn a_project_is_laid_out_once_and_nothing_is_overwritten() {
    let project =
        memdir::Project { about: "Tea.\n", features: &["a\nlist", "a basket"], init: "make" };
    each_store(|memory| {
        memory.create("/memories/init.md", "mine").unwrap();
        let made = memory.bootstrap(&project).unwrap();
        let made: Vec<_> = made.iter().map(memdir::MemoryPath::as_str).collect();
        assert_eq!(made, ["/memories/progress.md", "/memories/features.md"]);
        assert!(
            memory
                .read("/memories/features.md")
                .unwrap()
                .ends_with("- [ ] a list\n- [ ] a basket\n")
        );
        assert!(memory.read("/memories/progress.md").unwrap().contains("\nTea.\n"));
        assert_eq!(memory.read("/memories/init.md").unwrap(), "mine");
        assert!(memory.bootstrap(&project).unwrap().is_empty());
    });
    let memory = in_process(|options| options.writable_paths = Some(Vec::new()));
    assert!(matches!(memory.bootstrap(&project), Err(Error::Refused(_))));
}

#[test]
fn views_that_are_forgotten_guard_on() {
    for guard in [StaleGuard::On, StaleGuard::Strict] {
        let memory = in_process(|options| options.stale_guard = guard);
        memory.create("/memories/a", "one\n").unwrap();
        memory.insert("/memories/a", 1, "two").unwrap();
        memory.forget_views();
        let refused = refusal(memory.insert("/memories/a", 1, "x"));
        assert!(refused.contains("may no longer be in this conversation"), "{refused}");
        memory.view("/memories/a", None).unwrap();
        memory.insert("/memories/a", 1, "x").unwrap();
    }
}

/// A restore or undo by the program keeps the model's views of other files, and the guard protects the files that it changed.
#[test]
fn views_of_files_that_were_not_changed_are_not_forgotten() {
    let memory = in_process(|options| {
        options.stale_guard = StaleGuard::Strict;
        options.history = true;
    });
    let another = memory.acting_as("another");
    let [changed, other, gone] = ["/memories/changed", "/memories/other", "/memories/gone"];
    for path in [changed, other, gone] {
        memory.create(path, "one\n").unwrap();
    }
    let edit = |path: &str| memory.insert(path, 1, "more");
    let latest = |path: &str| {
        let mut query = HistoryQuery::default();
        query.path = Some(path.to_owned());
        memory.history(&query).unwrap()[0].id
    };
    let nothing_to_do = SystemTime::now() + Duration::from_secs(60);
    memory.undo(latest(changed), crate::common::dry_run(true)).unwrap();
    memory.undo_since(nothing_to_do, None, UndoOptions::default()).unwrap();
    memory.restore_all(nothing_to_do, false).unwrap();
    memory.restore(latest(other), false).unwrap();
    let unknown = "0197f000-0000-7000-8000-000000000000".parse().unwrap();
    memory.restore(unknown, false).unwrap_err();
    for path in [changed, other] {
        edit(path).unwrap();
    }

    memory.undo(latest(changed), UndoOptions::default()).unwrap();
    assert!(refusal(edit(changed)).contains("has changed since"));
    edit(other).unwrap();

    memory.delete(gone).unwrap();
    another.restore(latest(gone), false).unwrap();
    edit(gone).unwrap_err();
    memory.view(gone, None).unwrap();
    edit(gone).unwrap();
    memory.rename(gone, "/memories/moved").unwrap();
    memory.undo(latest("/memories/moved"), UndoOptions::default()).unwrap();
    edit(gone).unwrap();
}
