//! An approval holds for the diff that was shown: a command whose diff is outdated changes nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::common::approving::{Approving, SixMethods};
use crate::common::effort;
use crate::common::store_helpers::{at, put, tree};
use memdir::command::Decoded;
use memdir::history::HistoryQuery;
use memdir::policy::sensitive::SensitiveText;
use memdir::store::{InProcess, Splice};
use memdir::{ErrorKind, HookDecision, Memory, MemoryOptions, OnExisting, Outcome, Reply, Store};
use serde_json::{Value, json};

type Change<'c> = &'c dyn Fn(&dyn Store);

fn memory_on(store: &Arc<dyn Store>, set: impl FnOnce(&mut MemoryOptions)) -> Memory {
    let mut options = MemoryOptions::default();
    set(&mut options);
    Memory::with_store(Arc::clone(store), options)
}

/// The reply to a command that is allowed after its diff was shown and another writer has made a change.
fn approved(
    memory: &Memory,
    input: &Value,
    decision: HookDecision,
    change: Change<'_>,
) -> (Reply, Outcome) {
    let call = memory.begin(Decoded::of_json(input));
    memory.hook_call(&call).unwrap().diff().unwrap();
    change(&**memory.store());
    let (reply, event) = memory.finish(call, Ok(decision));
    (reply, event.unwrap().outcome)
}

/// Creates a file and a directory in each of the two stores. Nothing is at `/memories/new` yet.
fn plant(store: &dyn Store) {
    for (path, content) in [
        ("/memories/file", "one\ntwo\n"),
        ("/memories/mounted/file", "one\ntwo\n"),
        ("/memories/d/a", "one\n"),
        ("/memories/d/.h/b", "two\n"),
        ("/memories/mounted/d/a", "one\n"),
        ("/memories/mounted/d/.h/b", "two\n"),
    ] {
        put(store, path, content);
    }
}

fn clear(store: &dyn Store) {
    store.clear().unwrap();
}

fn set(store: &dyn Store, path: &str, content: &str) {
    store.write(&at(path), content.as_bytes(), OnExisting::Overwrite).unwrap();
}

on_every_store!(what_changed_since_it_was_shown_is_refused);
fn what_changed_since_it_was_shown_is_refused(store: Arc<dyn Store>) {
    changes_are_refused(&store, 5);
}

/// Tries one in `of` pairs of a command and a change, and all of them with more effort.
fn changes_are_refused(store: &Arc<dyn Store>, of: usize) {
    let mut number = 0;
    for directory in ["/memories", "/memories/mounted"] {
        let path = |name: &str| format!("{directory}/{name}");
        let (file, new, d) = (path("file"), path("new"), path("d"));
        let edits = [
            json!({"command": "create", "path": file, "file_text": "new\n"}),
            json!({"command": "str_replace", "path": file, "old_str": "one", "new_str": "1"}),
            json!({"command": "insert", "path": file, "insert_line": 1, "insert_text": "between"}),
            json!({"command": "delete", "path": file}),
        ];
        let of_files: [Change<'_>; 4] = [
            &|store| set(store, &file, "one\nTWO\n"),
            &|store| set(store, &file, "one\ntwo\nthree\n"),
            &|store| store.delete(&at(&file)).unwrap(),
            &|store| {
                store.delete(&at(&file)).unwrap();
                put(store, &format!("{file}/below"), "");
            },
        ];
        let create = [json!({"command": "create", "path": new, "file_text": "new\n"})];
        let of_nothing: [Change<'_>; 3] =
            [&|store| put(store, &new, "other"), &|store| put(store, &new, "new\n"), &|store| {
                put(store, &format!("{new}/below"), "");
            }];
        let delete = [json!({"command": "delete", "path": d})];
        let of_directories: [Change<'_>; 6] = [
            &|store| put(store, &format!("{d}/c"), ""),
            &|store| put(store, &format!("{d}/e/.c"), ""),
            &|store| set(store, &format!("{d}/.h/b"), "TWO\nlonger\n"),
            &|store| set(store, &format!("{d}/.h/b"), "TWO\n"),
            &|store| store.delete(&at(&format!("{d}/a"))).unwrap(),
            &|store| store.delete(&at(&d)).unwrap(),
        ];
        for (commands, changes) in
            [(&edits[..], &of_files[..]), (&create, &of_nothing), (&delete, &of_directories)]
        {
            for (input, change) in
                commands.iter().flat_map(|input| changes.iter().map(move |change| (input, change)))
            {
                for history in [false, true] {
                    number += 1;
                    if !effort::is_turn(number, of) {
                        continue;
                    }
                    clear(&**store);
                    plant(&**store);
                    let memory = memory_on(store, |options| {
                        options.on_existing = OnExisting::Overwrite;
                        options.history = history;
                    });
                    let beneath = Arc::clone(store);
                    let left = Mutex::new(None);
                    let (reply, outcome) = approved(&memory, input, HookDecision::Allow, &|_| {
                        change(&*beneath);
                        *left.lock().unwrap() = Some(tree(&*beneath, "/memories"));
                    });
                    assert_eq!(reply.kind, Some(ErrorKind::Changed), "{input} {}", reply.content);
                    assert_eq!(outcome, Outcome::Refused);
                    assert!(reply.cause.is_none());
                    let says = format!("because {} was changed", input["path"].as_str().unwrap());
                    assert!(reply.content.to_string().contains(&says), "{}", reply.content);
                    let left = left.into_inner().unwrap();
                    // A history in the store itself is hidden from the memory.
                    if !history {
                        assert_eq!(Some(tree(&**store, "/memories")), left, "{input}");
                    } else {
                        assert_eq!(
                            Some(tree(&**memory.store(), "/memories")),
                            left.map(|mut left| {
                                left.retain(|path, _| !path.contains("/.memdir-history"));
                                left
                            }),
                            "{input}"
                        );
                        let versions = memory.history(&HistoryQuery::default()).unwrap();
                        assert!(versions.is_empty(), "{versions:?}");
                    }
                }
            }
        }
    }
}

on_every_store!(what_is_as_it_was_shown_is_carried_out);
fn what_is_as_it_was_shown_is_carried_out(store: Arc<dyn Store>) {
    let inputs = [
        json!({"command": "view", "path": "/memories/file"}),
        json!({"command": "create", "path": "/memories/new", "file_text": "new\n"}),
        json!({"command": "create", "path": "/memories/new", "file_text": "newer\n"}),
        json!({"command": "create", "path": "/memories/new", "file_text": "newer\n"}),
        json!({"command": "str_replace", "path": "/memories/file", "old_str": "one", "new_str": "1"}),
        json!({"command": "insert", "path": "/memories/file", "insert_line": 1, "insert_text": "between"}),
        json!({"command": "rename", "old_path": "/memories/file", "new_path": "/memories/mounted/e/file"}),
        json!({"command": "rename", "old_path": "/memories/new", "new_path": "/memories/d/new"}),
        json!({"command": "delete", "path": "/memories/mounted/e/file"}),
        json!({"command": "delete", "path": "/memories/d"}),
    ];
    let mut results = Vec::new();
    for pinned in [true, false] {
        clear(&*store);
        plant(&*store);
        let memory = memory_on(&store, |options| {
            options.on_existing = OnExisting::Overwrite;
            options.history = true;
            options.record_access = true;
        });
        let told = Arc::new(Mutex::new(Vec::new()));
        let by = Arc::clone(&told);
        let subscription = memory.observe(move |change| {
            by.lock().unwrap().push(format!("{change:?}"));
        });
        let mut replies = Vec::new();
        for input in &inputs {
            let reply = if pinned {
                let looks = |_: &dyn Store| {
                    // The hook views the file that it decides about, which is recorded as an access.
                    let _ = memory.view("/memories/d/a", None);
                };
                let (reply, outcome) = approved(&memory, input, HookDecision::Allow, &looks);
                assert_eq!(outcome, Outcome::Ok, "{input} {}", reply.content);
                reply
            } else {
                memory.execute_value(input)
            };
            assert!(!reply.is_error, "{input} {}", reply.content);
            replies.push(reply.content);
        }
        drop(subscription);
        let versions = memory.history(&HistoryQuery::default()).unwrap();
        let changes: Vec<_> = versions.iter().map(|version| version.change).collect();
        let versions: Vec<_> = versions
            .iter()
            .map(|version| {
                let number = changes.iter().position(|change| *change == version.change);
                (
                    version.operation,
                    version.path.clone(),
                    version.old_path.clone(),
                    version.size,
                    number,
                )
            })
            .collect();
        memory.erase(false).unwrap();
        let told = std::mem::take(&mut *told.lock().unwrap());
        results.push((replies, versions, told));
    }
    let [pinned, usual] = &results[..] else { panic!() };
    assert_eq!(pinned, usual);
}

#[test]
fn the_same_content_in_another_file_is_what_was_shown() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/a", "one\n");
    let memory = memory_on(&store, |_| {});
    let again = |store: &dyn Store| {
        store.delete(&at("/memories/a")).unwrap();
        put(store, "/memories/a", "one\n");
    };
    for input in [
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": ""}),
        json!({"command": "delete", "path": "/memories/a"}),
    ] {
        set(&*store, "/memories/a", "one\n");
        let (reply, _) = approved(&memory, &input, HookDecision::Allow, &again);
        assert!(!reply.is_error, "{}", reply.content);
    }
}

#[test]
fn a_text_of_the_hook_is_written_into_what_was_shown_alone() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/a", "one\n");
    let memory = memory_on(&store, |options| options.on_existing = OnExisting::Overwrite);
    let other = || HookDecision::Replace("three".into());
    let changes = |store: &dyn Store| set(store, "/memories/a", "one\ntwo\n");
    for input in [
        json!({"command": "create", "path": "/memories/a", "file_text": "x"}),
        json!({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "x"}),
        json!({"command": "str_replace", "path": "/memories/a", "old_str": "one", "new_str": "x"}),
    ] {
        set(&*store, "/memories/a", "one\n");
        let (reply, _) = approved(&memory, &input, other(), &changes);
        assert_eq!(reply.kind, Some(ErrorKind::Changed));
        assert_eq!(memory.read("/memories/a").unwrap(), "one\ntwo\n");
        set(&*store, "/memories/a", "one\n");
        let (reply, _) = approved(&memory, &input, other(), &|_| {});
        assert!(!reply.is_error && memory.read("/memories/a").unwrap().starts_with("three"));
    }
}

#[test]
fn a_text_of_the_hook_may_mend_what_was_refused() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/a", "one\n");
    let memory = memory_on(&store, |options| options.sensitive_text = SensitiveText::Reject);
    let changed = Arc::new(AtomicUsize::new(0));
    let (by, beneath) = (Arc::clone(&changed), Arc::clone(&store));
    let hooks = Approving::new(move |_, call| {
        assert_eq!(call.diff().unwrap_err().kind(), ErrorKind::Sensitive);
        if by.fetch_add(1, Ordering::SeqCst) > 0 {
            beneath.update(&at("/memories/a"), &mut |old| {
                Some(Splice { range: old.len()..old.len(), text: b"two\n".to_vec() })
            })?;
        }
        Ok(HookDecision::Replace("password: see the vault".into()))
    });
    let mended = hooks.of(&memory);
    let secret = "password: q7Lw4Xt9Rb1Vc6Ny";
    mended.insert("/memories/a", 0, secret).unwrap();
    let refused = mended.insert("/memories/a", 0, secret).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Changed, "{refused}");
    assert_eq!(memory.read("/memories/a").unwrap(), "password: see the vault\none\ntwo\n");
}

#[test]
fn what_is_too_large_to_be_shown_is_pinned_as_it_is_listed() {
    let stores: [Arc<dyn Store>; 2] = [Arc::new(InProcess::new()), Arc::new(SixMethods::default())];
    let large = "x".repeat(16 * 1024 * 1024 + 1025);
    let other = large.replace('x', "y");
    for store in stores {
        let memory = memory_on(&store, |options| options.on_existing = OnExisting::Overwrite);
        for input in [
            json!({"command": "create", "path": "/memories/a", "file_text": "new"}),
            json!({"command": "delete", "path": "/memories/a"}),
        ] {
            for (content, kind) in [(&other, Some(ErrorKind::Changed)), (&large, None)] {
                set(&*store, "/memories/a", &large);
                let changes = |store: &dyn Store| {
                    if *content != large {
                        set(store, "/memories/a", content);
                    }
                };
                let (reply, _) = approved(&memory, &input, HookDecision::Allow, &changes);
                assert_eq!(reply.kind, kind, "{input} {}", reply.content);
            }
        }
    }
}

on_every_store!(every_change_is_one_that_was_approved);
fn every_change_is_one_that_was_approved(store: Arc<dyn Store>) {
    const THREADS: usize = 4;
    let memory = &memory_on(&store, |options| {
        options.on_existing = OnExisting::Overwrite;
        options.history = true;
    });
    let approved = &Mutex::new(HashMap::new());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let (mut turn, mut own) = (0, 0);
                while own < effort::times(3) {
                    turn += 1;
                    let path = ["/memories/a", "/memories/mounted/a"][turn % 2];
                    let text = format!("{thread} {turn}\n");
                    let input = match (thread + turn) % 5 {
                        0 => json!({"command": "delete", "path": path}),
                        1 => json!({"command": "create", "path": path, "file_text": text}),
                        2 => json!({
                            "command": "str_replace", "path": path, "old_str": "1\n", "new_str": text,
                        }),
                        _ => json!({
                            "command": "insert", "path": path, "insert_line": 0, "insert_text": text,
                        }),
                    };
                    let call = memory.begin(Decoded::of_json(&input));
                    let diff = memory.hook_call(&call).unwrap().diff();
                    thread::yield_now();
                    let (reply, event) = memory.finish(call, Ok(HookDecision::Allow));
                    match (event.unwrap().change, diff) {
                        (Some(change), Ok(diff)) => {
                            assert!(!reply.is_error, "{}", reply.content);
                            own += 1;
                            approved.lock().unwrap().insert(change, diff);
                        }
                        (Some(_), Err(refused)) => panic!("{input} although {refused}"),
                        (None, _) => {
                            assert!(reply.is_error && reply.cause.is_none(), "{}", reply.content);
                        }
                    }
                }
            });
        }
    });
    let approved = approved.lock().unwrap();
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    assert_eq!(versions.len(), approved.len());
    for version in &versions {
        assert_eq!(memory.diff(version.id, None).unwrap(), approved[&version.change]);
    }
    assert_eq!(approved.len(), THREADS * effort::times(3));
}

#[test]
fn every_change_of_everything_shown_is_refused() {
    changes_are_refused(&(Arc::new(InProcess::new()) as Arc<dyn Store>), 1);
}

#[cfg(any(unix, windows))]
#[test]
fn a_bare_directory_is_pinned_as_well() {
    let place = tempfile::tempdir().unwrap();
    let address = format!("dir:{}", place.path().display());
    changes_are_refused(&memdir::open_store(&address, &MemoryOptions::default()).unwrap(), 1);
}

#[test]
fn a_store_of_six_methods_is_pinned_as_well() {
    changes_are_refused(&(Arc::new(SixMethods::default()) as Arc<dyn Store>), 1);
}

#[test]
fn the_same_text_again_is_no_way_around_a_refusal() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    for mode in [SensitiveText::Off, SensitiveText::Redact] {
        let memory = memory_on(&store, |options| options.sensitive_text = mode);
        let beneath = Arc::clone(&store);
        let hooks = Approving::new(move |command, call| {
            assert_eq!(call.diff().unwrap_err().kind(), ErrorKind::NotFound);
            set(&*beneath, "/memories/a", "");
            Ok(HookDecision::Replace(command.text().unwrap().1.to_owned()))
        });
        let text = "password: q7Lw4Xt9Rb1Vc6Ny";
        let refused = hooks.of(&memory).insert("/memories/a", 0, text).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound, "{refused}");
        assert_eq!(memory.read("/memories/a").unwrap(), "");
        store.delete(&at("/memories/a")).unwrap();
    }
}

#[test]
fn a_rename_depends_on_no_content() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/a", "one\n");
    let memory = memory_on(&store, |_| {});
    let rename = json!({"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"});
    let edits = |store: &dyn Store| set(store, "/memories/a", "two\n");
    let (reply, _) = approved(&memory, &rename, HookDecision::Allow, &edits);
    assert!(!reply.is_error && memory.read("/memories/b").unwrap() == "two\n");
}
