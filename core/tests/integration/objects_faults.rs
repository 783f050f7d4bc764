//! Object storage with faults at every request: errors, lost answers, and the end of the client.
//! Afterwards a command is either done or not done, and no acknowledged change is lost.
#![cfg(all(unix, feature = "object-storage"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::clouds::{BUCKET, Cloud, prefix};
use crate::common::effort::times;
use crate::common::faulty::{Fault, Plan, Proxy};
use crate::common::store_helpers;
use crate::common::store_helpers::{Tree, append, at};
use memdir::history::{HistoryQuery, Operation};
use memdir::store::{BatchError, Context, Effect, FileToWrite, InContext, ObjectStorage, Times};
use memdir::{
    Cancellation, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError,
};

fn tree(store: &dyn Store) -> Tree {
    store_helpers::tree(store, "/memories")
}

/// The initial state for every command. It is written directly to the server, which is faster.
fn prepare(cloud: &Cloud, prefix: &str) {
    for key in ["file", "dir/a", "dir/b", "dir/sub/c", "other/x"] {
        cloud.put(&format!("{prefix}/{key}"), &[], key.as_bytes());
    }
    // An empty directory, and one in a directory that will be moved.
    for directory in ["lone", "dir/empty"] {
        let key = format!("{prefix}/{directory}/.memdir-directory%2F");
        cloud.put(&key, &[], b"");
    }
}

/// A prefix with the initial state, and the store there.
fn prepared(cloud: &Cloud) -> (String, ObjectStorage) {
    let prefix = prefix();
    prepare(cloud, &prefix);
    let store = cloud.open(&prefix);
    (prefix, store)
}

type Command = (&'static str, fn(&dyn Store) -> Result<(), StoreError>);

const COMMANDS: &[Command] = &[
    ("create", |s| s.write(&at("/memories/new/deep/file"), b"new", OnExisting::Error)),
    ("create in the lone directory", |s| s.write(&at("/memories/lone/y"), b"y", OnExisting::Error)),
    ("overwrite", |s| s.write(&at("/memories/dir/a"), b"over", OnExisting::Overwrite)),
    ("edit", |s| append(s, "/memories/file", "+edit")),
    ("delete a file", |s| s.delete(&at("/memories/other/x"))),
    ("delete a directory", |s| s.delete(&at("/memories/dir"))),
    ("rename a file", |s| s.rename(&at("/memories/other/x"), &at("/memories/moved/x"))),
    ("rename a directory", |s| s.rename(&at("/memories/dir"), &at("/memories/to/dir"))),
    ("delete a file on a condition", |s| {
        s.delete_if(&at("/memories/other/x"), &mut |content| content == b"other/x").map(drop)
    }),
    ("rename a file on a condition", |s| {
        let (from, to) = (at("/memories/other/x"), at("/memories/moved/x"));
        s.rename_if(&from, &to, &mut |content| content == b"other/x").map(drop)
    }),
    ("read", |s| s.read(&at("/memories/dir/a")).map(drop)),
    ("list", |s| s.list(&at("/memories/dir")).map(drop)),
    ("open", |s| s.open(&at("/memories/dir"), 2).map(drop)),
    ("clear", |s| s.clear()),
];

/// Together these send every kind of request.
const OF_EACH_KIND: [&str; 4] = ["create", "edit", "delete a directory", "rename a file"];

/// A transient fault at any one request: the command still succeeds, once.
fn a_fault_that_passes_changes_nothing_about_any_command(cloud: &'static Cloud) {
    let commands =
        COMMANDS.iter().filter(|(name, _)| !cloud.is_azure() || OF_EACH_KIND.contains(name));
    thread::scope(|scope| {
        for (name, command) in commands {
            scope.spawn(move || {
                let proxy = Proxy::before(&cloud.server);
                let (prefix, store) = prepared(cloud);
                let faulty = cloud.open_at(&proxy.address, &prefix);
                command(&store).unwrap();
                let expected = tree(&store);
                let passes = times(1).min(Fault::PASSING.len());
                for pass in 0..passes {
                    let mut number = 0;
                    loop {
                        // Every fault at every request, in five passes.
                        let fault = Fault::PASSING[(number + 3 * pass) % 5];
                        store.clear().unwrap();
                        prepare(cloud, &prefix);
                        proxy.plan(Plan::One(number, fault));
                        let done = command(&faulty);
                        let requests = proxy.requests();
                        assert!(
                            done.is_ok(),
                            "{name}, {fault:?} at {number}: {done:?} {requests:#?}"
                        );
                        assert_eq!(tree(&store), expected, "{name}, {fault:?} at {number}");
                        number += 1;
                        if number >= requests.len() {
                            break;
                        }
                    }
                    assert!(number > 0);
                }
            });
        }
    });
}

/// Files that are written together: some are new, some are replaced, and more than one group of requests is needed for them.
fn batch(number: usize) -> (Vec<MemoryPath>, Vec<u8>) {
    let mut paths = vec![at("/memories/file"), at("/memories/dir/a")];
    paths.extend((0..number).map(|number| at(&format!("/memories/new/d{}/{number}", number % 3))));
    (paths, b"together".to_vec())
}

fn write_batch(store: &dyn Store, context: &Context, number: usize) -> Result<(), BatchError> {
    let (paths, content) = batch(number);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    let times = Times { modified: Some(time), accessed: Some(time) };
    let file = |path| {
        let existing = OnExisting::Overwrite;
        FileToWrite { path, content: &content, times, existing, note: None }
    };
    store.write_batch(context, &paths.iter().map(file).collect::<Vec<_>>())
}

fn a_fault_that_passes_changes_nothing_about_files_that_are_written_together(
    cloud: &'static Cloud,
) {
    const NEW: usize = 3;

    let proxy = Proxy::before(&cloud.server);
    let (prefix, store) = prepared(cloud);
    let faulty = cloud.open_at(&proxy.address, &prefix);
    write_batch(&store, &Context::new(), NEW).unwrap();
    let expected = tree(&store);
    for number in 0.. {
        store.clear().unwrap();
        prepare(cloud, &prefix);
        let fault = Fault::PASSING[number % 5];
        proxy.plan(Plan::One(number, fault));
        let done = write_batch(&faulty, &Context::new(), NEW);
        let requests = proxy.requests();
        assert!(done.is_ok(), "{fault:?} at {number}: {done:?} {requests:#?}");
        assert_eq!(tree(&store), expected, "{fault:?} at {number}");
        for path in batch(NEW).0 {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
            assert_eq!(store.modified(&path).unwrap(), Some(time), "{fault:?} at {number}");
            assert_eq!(store.accessed(&path).unwrap(), Some(time), "{fault:?} at {number}");
        }
        if number + 1 >= requests.len() {
            break;
        }
    }
}

/// A server that stops answering, and a caller that does not wait for it: the first files are written, and the number is right.
fn a_cancelled_call_ends_between_groups_of_files(cloud: &'static Cloud) {
    const NEW: usize = 130;

    let (prefix, store) = prepared(cloud);
    let before = tree(&store).len();
    let proxy = Proxy::before(&cloud.server);
    let faulty = cloud.open_at(&proxy.address, &prefix);
    proxy.plan(Plan::Nothing);
    write_batch(&faulty, &Context::new(), 62).unwrap();
    let of_first_group = proxy.requests().len();
    store.clear().unwrap();
    prepare(cloud, &prefix);
    for (silent, written) in [(0, 0), (of_first_group, 64)] {
        proxy.plan(Plan::From(silent, Fault::DoneButSilent));
        let cancellation = Cancellation::new();
        let done = thread::scope(|scope| {
            let called = scope
                .spawn(|| write_batch(&faulty, &Context::new().cancelled_by(&cancellation), NEW));
            while proxy.requests().len() <= silent {
                thread::yield_now();
            }
            cancellation.cancel();
            called.join().unwrap()
        });
        let failed = done.unwrap_err();
        assert!(matches!(failed.error, StoreError::Cancelled), "{failed:?}");
        assert_eq!(failed.written, written);
        let (paths, content) = batch(NEW);
        for (number, path) in paths.iter().enumerate() {
            let is_written = store.read(path).is_ok_and(|now| now == content);
            assert_eq!(is_written, number < written, "{path}");
        }
    }
    assert!(tree(&store).len() > before);
}

/// Others take a place between the check and the write: their file is kept, and the error is about the first such file.
fn files_that_others_create_meanwhile_are_kept(cloud: &'static Cloud) {
    const FILES: usize = 20;

    let prefix = prefix();
    let stores = [cloud.open(&prefix), cloud.open(&prefix)];
    let paths: Vec<_> = (0..FILES).map(|n| at(&format!("/memories/d{}/{n}", n % 3))).collect();
    let written = store_helpers::race(|racer| {
        let (content, mut own) = (format!("{racer}"), 0);
        let mut rest = &paths[..];
        while !rest.is_empty() {
            let file = |path| FileToWrite {
                path,
                content: content.as_bytes(),
                times: Times::default(),
                existing: OnExisting::Error,
                note: None,
            };
            let files: Vec<_> = rest.iter().map(file).collect();
            let done = stores[racer % 2].write_batch(&Context::new(), &files);
            let Err(failed) = done else { break };
            assert!(matches!(failed.error, StoreError::AlreadyExists), "{failed:?}");
            own += failed.written;
            rest = &rest[failed.written + 1..];
        }
        own
    });
    assert!(written <= FILES);
    for path in &paths {
        let content = stores[0].read(path).unwrap();
        assert_eq!(content.len(), 1, "{path}: {content:?}");
    }
}

/// With a history: the command is done once, and has one version.
fn a_fault_that_passes_makes_no_version_too_many(cloud: &'static Cloud) {
    let mut options = MemoryOptions::default();
    options.history = true;
    type Command = fn(&Memory) -> Result<String, Error>;
    let commands: [(&str, Command); 4] = [
        ("create", |memory| memory.create("/memories/new/file", "new")),
        ("edit", |memory| memory.insert("/memories/dir/a", 0, "more")),
        ("delete", |memory| memory.delete("/memories/dir")),
        ("rename", |memory| memory.rename("/memories/dir/a", "/memories/moved/a")),
    ];
    thread::scope(|scope| {
        for (name, command) in commands {
            let options = &options;
            scope.spawn(move || {
                let proxy = Proxy::before(&cloud.server);
                for number in 0.. {
                    let prefix = prefix();
                    let memory = Memory::open(
                        &cloud.address_at(&proxy.address, BUCKET, &prefix),
                        options.clone(),
                    );
                    let memory = memory.unwrap();
                    memory.create("/memories/dir/a", "a\n").unwrap();
                    memory.create("/memories/dir/b", "b\n").unwrap();
                    proxy.plan(Plan::One(number, Fault::PASSING[number % 5]));
                    let done = command(&memory);
                    let requests = proxy.requests();
                    proxy.plan(Plan::Nothing);
                    assert!(done.is_ok(), "{name}, {number}: {done:?} {requests:#?}");
                    let made = memory.history(&HistoryQuery::default()).unwrap();
                    let changes: BTreeSet<_> = made.iter().map(|version| version.change).collect();
                    assert_eq!(changes.len(), 3, "{name}, {number}: {made:?}");
                    for version in &made {
                        if version.operation != Operation::Deleted {
                            memory.read_version(version.id).unwrap();
                        }
                    }
                    if number >= requests.len() || number >= times(cloud.few(8, 4)) {
                        break;
                    }
                }
            });
        }
    });
}

/// The server is gone from some request on: the command returns an error, and a later one works again.
fn a_server_that_goes_away_is_an_error_and_comes_back(cloud: &'static Cloud) {
    let (prefix, store) = prepared(cloud);
    let before = tree(&store);
    let proxy = Proxy::before(&cloud.server);
    let faulty = cloud.open_at(&proxy.address, &prefix);
    for fault in [Fault::NotSent, Fault::Error500] {
        proxy.plan(Plan::From(1, fault));
        let done = append(&faulty, "/memories/file", "lost");
        assert!(matches!(done, Err(StoreError::Failed { .. })), "{done:?}");
        assert_eq!(tree(&store), before);
    }
    proxy.plan(Plan::Nothing);
    append(&faulty, "/memories/file", "+").unwrap();
    assert_eq!(store.read(&at("/memories/file")).unwrap(), b"file+");
}

/// A server that refuses everything from some request on: if the error says that nothing was changed,
/// this is true; and if no request could have changed anything, the error says so.
fn what_an_error_says_of_the_change_is_true(cloud: &'static Cloud) {
    let refused = Fault::Refused("400 Bad Request", "InvalidArgument");
    let mut known = [0, 0];
    for (name, command) in COMMANDS.iter().filter(|(name, _)| OF_EACH_KIND.contains(name)) {
        for number in 0.. {
            let (prefix, store) = prepared(cloud);
            let before = tree(&store);
            let proxy = Proxy::before(&cloud.server);
            let faulty = cloud.open_at(&proxy.address, &prefix);
            proxy.plan(Plan::From(number, refused));
            let effect = match command(&faulty) {
                Err(StoreError::Failed { effect, .. }) => effect,
                Err(condition) => panic!("{name}, {number}: {condition}"),
                Ok(()) => break,
            };
            let unchanged = effect == Effect::Unchanged;
            assert!(unchanged || number > 0, "{name}: nothing was asked for yet");
            assert!(!unchanged || tree(&store) == before, "{name}, {number}: it was changed");
            known[usize::from(unchanged)] += 1;
        }
    }
    assert!(known[0] > 0 && known[1] > 0, "{known:?}");
}

/// A call that is cancelled before anything is changed ends at once, even if it waits for a server
/// that does not answer. A later cancellation has no effect.
fn a_change_whose_caller_has_gone_does_not_happen(cloud: &'static Cloud) {
    let (prefix, store) = prepared(cloud);
    let before = tree(&store);
    let proxy = Proxy::before(&cloud.server);
    let faulty = cloud.open_at(&proxy.address, &prefix);
    let cancelled = |command: fn(&dyn Store) -> Result<(), StoreError>, plan, requests| {
        proxy.plan(plan);
        let cancellation = Cancellation::new();
        thread::scope(|scope| {
            let called = scope.spawn(|| {
                let context = Context::new().cancelled_by(&cancellation);
                command(&InContext::new(&faulty, &context))
            });
            while proxy.requests().len() < requests {
                thread::yield_now();
            }
            cancellation.cancel();
            called.join().unwrap()
        })
    };
    for (name, command) in COMMANDS {
        for fault in [Fault::DoneButSilent, Fault::Error500] {
            let done = cancelled(*command, Plan::From(0, fault), 1);
            assert!(matches!(done, Err(StoreError::Cancelled)), "{name} {fault:?}: {done:?}");
            assert_eq!(tree(&store), before, "{name}");
        }
    }
    let edit: fn(&dyn Store) -> _ = |s| append(s, "/memories/file", "+");
    let begun = cancelled(edit, Plan::One(1, Fault::DoneBut500), 2);
    assert!(begun.is_ok(), "{begun:?}");
    assert_eq!(store.read(&at("/memories/file")).unwrap(), b"file+");
}

/// Other writers change the object between a write whose answer is lost and the request that checks
/// whether it was done.
fn a_lost_answer_is_understood_also_when_others_wrote_since(cloud: &'static Cloud) {
    let prefix = prefix();
    let store = cloud.open(&prefix);
    let proxy = Proxy::before(&cloud.server);
    let faulty = cloud.open_at(&proxy.address, &prefix);
    for round in 0..5 {
        let path = format!("/memories/{round}");
        store.write(&at(&path), b"", OnExisting::Error).unwrap();
        proxy.plan(Plan::One(1, Fault::DoneBut500));
        thread::scope(|scope| {
            let edit = scope.spawn(|| append(&faulty, &path, "once"));
            // In the pause before the next attempt.
            while proxy.requests().len() < 2 {
                thread::yield_now();
            }
            for _ in 0..10 {
                append(&store, &path, "+").unwrap();
            }
            edit.join().unwrap().unwrap();
        });
        let content = String::from_utf8(store.read(&at(&path)).unwrap()).unwrap();
        assert_eq!(content.matches("once").count(), 1, "{content}");
        assert_eq!(content.matches('+').count(), 10, "{content}");
    }
}

/// Runs the command until its end, or until the client's end at the given request.
fn until_its_end(
    cloud: &Cloud,
    proxy: &Proxy,
    prefix: &str,
    plan: Plan,
    command: fn(&dyn Store) -> Result<(), StoreError>,
) -> Option<Result<(), StoreError>> {
    let store: Arc<ObjectStorage> = Arc::new(cloud.open_at(&proxy.address, prefix));
    proxy.plan(plan);
    let done = Arc::new(AtomicBool::new(false));
    let (worker, finished) = (Arc::clone(&store), Arc::clone(&done));
    let work = thread::spawn(move || {
        let result = command(&*worker);
        finished.store(true, Ordering::Release);
        result
    });
    if proxy.wait_for_halt(|| done.load(Ordering::Acquire)) {
        // It waits for an answer that does not come, and has no further effect.
        return None;
    }
    Some(work.join().unwrap())
}

/// The client ends at each request of the rename of a directory, before or after the server
/// executes it. Every file is at one of the two paths at least, and a retry of the rename completes it.
fn a_directory_rename_that_breaks_off_is_finished_by_the_same_rename(cloud: &'static Cloud) {
    let rename: fn(&dyn Store) -> _ = |s| s.rename(&at("/memories/dir"), &at("/memories/to/dir"));
    let whole = prefix();
    let store = cloud.open(&whole);
    prepare(cloud, &whole);
    let before = tree(&store);
    rename(&store).unwrap();
    let expected = tree(&store);
    assert!(!expected.contains_key("/memories/dir"));
    let mut ends = 0;
    for after in [false, true] {
        let mut number = 0;
        loop {
            let (prefix, store) = prepared(cloud);
            let proxy = Proxy::before(&cloud.server);
            if until_its_end(cloud, &proxy, &prefix, Plan::Halt(number, after), rename).is_some() {
                break;
            }
            let left = tree(&store);
            for (path, content) in before.iter().filter(|(_, content)| content.is_some()) {
                let moved = path.replace("/memories/dir", "/memories/to/dir");
                let there = [left.get(path), left.get(&moved)];
                assert!(there.contains(&Some(content)), "{number} {after}: {path} in {left:#?}");
            }
            let again = rename(&store);
            // The last request deletes the source. Then there is nothing left to rename.
            let complete = left == expected;
            assert!(again.is_ok() || complete, "{number} {after}: {again:?}");
            assert_eq!(tree(&store), expected, "{number} {after}");
            // No leftovers remain.
            let keys = cloud.keys(&prefix);
            assert!(!keys.iter().any(|key| key.starts_with("dir/")), "{keys:#?}");
            number += (cloud.few(4, 16) / times(1)).max(1);
            ends += 1;
        }
    }
    assert!(ends > cloud.few(10, 2), "{ends}");
}

/// The same for every other command: done, not done, or as its documentation says.
fn a_client_that_ends_leaves_whole_files(cloud: &'static Cloud) {
    for (name, command) in COMMANDS.iter().filter(|(name, _)| !name.contains("rename a dir")) {
        for after in [false, true] {
            let mut number = 0;
            loop {
                let (prefix, store) = prepared(cloud);
                let before = tree(&store);
                let proxy = Proxy::before(&cloud.server);
                let done =
                    until_its_end(cloud, &proxy, &prefix, Plan::Halt(number, after), *command);
                if done.is_some() {
                    break;
                }
                let left = tree(&store);
                for (path, content) in &left {
                    let whole = match before.get(path) {
                        Some(old) => content == old || content.as_deref() == Some(b"over"),
                        None => true,
                    };
                    let edited = content.as_deref() == Some(b"file+edit");
                    assert!(whole || edited, "{name} {number} {after}: {path} is {content:?}");
                }
                if name.starts_with("rename") {
                    let kept = left.values().flatten().any(|content| content == b"other/x");
                    assert!(kept, "{name} {number} {after}: {left:#?}");
                }
                // Any client can repeat the request.
                match command(&store) {
                    Ok(()) | Err(StoreError::NotFound | StoreError::AlreadyExists) => {}
                    Err(error) => panic!("{name} {number} {after}: {error}"),
                }
                append(&store, "/memories/lone/z", "").unwrap_err();
                number += (cloud.few(2, 4) / times(1)).max(1);
            }
        }
    }
}

/// An unfinished rename prevents another rename of its directory to a different path.
fn another_rename_of_a_directory_half_moved_is_refused(cloud: &'static Cloud) {
    let (prefix, store) = prepared(cloud);
    let proxy = Proxy::before(&cloud.server);
    let to = |to: &str| store.rename(&at("/memories/dir"), &at(to));
    let halted = until_its_end(cloud, &proxy, &prefix, Plan::Halt(20, true), |s| {
        s.rename(&at("/memories/dir"), &at("/memories/one"))
    });
    assert!(halted.is_none());
    let error = to("/memories/two").unwrap_err();
    assert!(error.to_string().contains("has not been finished"), "{error}");
    let over = store.rename(&at("/memories/other"), &at("/memories/one"));
    assert!(matches!(over, Err(StoreError::AlreadyExists)), "{over:?}");
    to("/memories/one").unwrap();
    assert!(matches!(to("/memories/two"), Err(StoreError::NotFound)));
}

/// A timeout is treated like a lost answer.
fn a_server_that_says_nothing_is_not_waited_for_long(cloud: &'static Cloud) {
    let (prefix, store) = prepared(cloud);
    let proxy = Proxy::before(&cloud.server);
    let address = format!("{}&timeout=1s", cloud.address_at(&proxy.address, BUCKET, &prefix));
    let faulty = ObjectStorage::open(&address).unwrap();
    proxy.plan(Plan::One(1, Fault::DoneButSilent));
    append(&faulty, "/memories/file", "+once").unwrap();
    assert_eq!(store.read(&at("/memories/file")).unwrap(), b"file+once");
}

/// An edit and a rename of the same file at once: the edit is in the file at its new path, or it
/// was refused.
fn an_edit_that_races_with_a_rename_is_kept_or_refused(cloud: &'static Cloud) {
    let prefix = prefix();
    let store = cloud.open(&prefix);
    let mut kept = 0;
    for round in 0..times(cloud.few(10, 4)) {
        let directory = round % 2 == 1;
        let (from, to) = (format!("/memories/from {round}"), format!("/memories/to {round}"));
        let name = if directory { "/file" } else { "" };
        store.write(&at(&format!("{from}{name}")), b"", OnExisting::Error).unwrap();
        let edits = thread::scope(|scope| {
            let editor = scope.spawn(|| {
                (0..30)
                    .take_while(|_| append(&store, &format!("{from}{name}"), "+").is_ok())
                    .count()
            });
            store.rename(&at(&from), &at(&to)).unwrap();
            editor.join().unwrap()
        });
        let content = store.read(&at(&format!("{to}{name}"))).unwrap();
        assert_eq!(content.len(), edits, "round {round}");
        kept += edits;
        assert!(matches!(store.read(&at(&from)), Err(StoreError::NotFound)));
    }
    assert!(kept > 0, "no edit came before a rename");
}

/// A file, and files below its path, created at once: never both.
fn a_file_and_a_directory_at_one_path_are_never_both_made(cloud: &'static Cloud) {
    let store = cloud.open(&prefix());
    let mut won = 0;
    for round in 0.. {
        // Both may lose a round, and on a slow server they usually do.
        if won > 0 && round >= times(cloud.few(15, 5)) {
            break;
        }
        assert!(round < 1_000, "neither ever wins");
        let file = at(&format!("/memories/{round}"));
        let below = at(&format!("/memories/{round}/below"));
        let [file_made, below_made] = thread::scope(|scope| {
            [&file, &below]
                .map(|path| scope.spawn(|| store.write(path, b"x", OnExisting::Error).is_ok()))
                .map(|writer| writer.join().unwrap())
        });
        assert!(!(file_made && below_made), "round {round}");
        assert_eq!(store.read(&file).is_ok(), file_made, "round {round}");
        assert_eq!(store.read(&below).is_ok(), below_made, "round {round}");
        won += u32::from(file_made || below_made);
    }
}

memdir_test_support::on_servers! {
    all:
        a_fault_that_passes_makes_no_version_too_many,
        a_fault_that_passes_changes_nothing_about_any_command,
        a_fault_that_passes_changes_nothing_about_files_that_are_written_together,
        a_cancelled_call_ends_between_groups_of_files,
        files_that_others_create_meanwhile_are_kept,
        a_server_that_goes_away_is_an_error_and_comes_back,
        what_an_error_says_of_the_change_is_true,
        a_change_whose_caller_has_gone_does_not_happen,
        a_lost_answer_is_understood_also_when_others_wrote_since,
        a_directory_rename_that_breaks_off_is_finished_by_the_same_rename,
        another_rename_of_a_directory_half_moved_is_refused,
        a_server_that_says_nothing_is_not_waited_for_long,
        an_edit_that_races_with_a_rename_is_kept_or_refused,
        a_file_and_a_directory_at_one_path_are_never_both_made;
    s3:
        a_client_that_ends_leaves_whole_files;
}
