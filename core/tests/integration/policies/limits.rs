//! Limits of the whole tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use memdir::store::{EntryKind, InProcess, Mounts};
use memdir::{Error, ErrorKind, Memory, MemoryOptions, OnExisting, Store, StoreError};

use super::seams::Seams;
use crate::common::store_helpers::{self, at, put, refusal};

const THREADS: u64 = 8;

fn limited(store: Arc<dyn Store>, bytes: Option<u64>, files: Option<u64>) -> Memory {
    let mut options = MemoryOptions::default();
    options.max_total_bytes = bytes;
    options.max_files = files;
    Memory::with_store(store, options)
}

/// The total bytes and the number of all files.
fn held(store: &dyn Store) -> (u64, u64) {
    let (mut bytes, mut files) = (0, 0);
    store
        .files(&mut |file| {
            if let EntryKind::File(size) = file.kind {
                bytes += size;
                files += 1;
            }
        })
        .unwrap();
    (bytes, files)
}

fn is_full(result: &Result<String, Error>) -> bool {
    match result {
        Ok(_) => false,
        Err(error) if error.kind() == ErrorKind::Full => true,
        other => panic!("{other:?}"),
    }
}

/// The number of commands that are not refused for lack of space, where each thread makes `each`.
fn race(each: u64, command: impl Fn(u64, u64) -> Result<String, Error> + Sync) -> u64 {
    let done = store_helpers::race(|racer| {
        (0..each).filter(|number| !is_full(&command(racer as u64, *number))).count()
    });
    done as u64
}

/// The largest total bytes and number of files in the store at any moment while `work` was done.
fn most_held(store: &dyn Store, work: impl FnOnce()) -> (u64, u64) {
    let running = AtomicBool::new(true);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut most = (0, 0);
            while running.load(Ordering::Relaxed) {
                let (bytes, files) = held(store);
                most = (bytes.max(most.0), files.max(most.1));
            }
            most
        });
        work();
        running.store(false, Ordering::Relaxed);
        watcher.join().unwrap()
    })
}

/// A file may be missing because another thread deleted it, and there may be no space.
fn or_refused(done: Result<String, Error>) -> Result<String, Error> {
    match done {
        Err(Error::Refused(_)) => Ok(String::new()),
        done => done,
    }
}

fn max_files_holds_under_races(store: Arc<dyn Store>) {
    put(&*store, "/memories/.there/a", "a");
    let memory = limited(Arc::clone(&store), None, Some(12));
    let made = race(3, |racer, number| {
        let directory = if racer % 2 == 0 { "mounted" } else { "dir" };
        memory.create(&format!("/memories/{directory}/{racer}-{number}"), "")
    });
    assert_eq!((made, held(&*store).1), (11, 12));
    // The writer that freed the space can use it.
    memory.delete("/memories/.there").unwrap();
    memory.create("/memories/b", "").unwrap();
    assert!(is_full(&memory.create("/memories/c", "")));
}
on_every_store!(max_files_holds_under_races);

fn max_total_bytes_holds_under_races(store: Arc<dyn Store>) {
    for racer in 0..THREADS {
        put(&*store, &format!("/memories/{racer}"), "");
    }
    let memory = limited(Arc::clone(&store), Some(105), None);
    // Half of them edit separate files, half of them edit the same one.
    let path =
        |racer: u64| format!("/memories/{}", if racer.is_multiple_of(2) { 0 } else { racer });
    let edited = race(3, |racer, _| memory.insert(&path(racer), 0, "123456789"));
    assert_eq!((edited, held(&*store).0), (10, 100));
    memory.insert("/memories/0", 0, "1234").unwrap();
    assert!(is_full(&memory.insert("/memories/0", 0, "")));
    // A change that makes a file smaller is allowed, and the freed space can be used.
    memory.str_replace("/memories/0", "1234\n", "").unwrap();
    memory.create("/memories/new", "12345").unwrap();
    assert_eq!(held(&*store).0, 105);
}
on_every_store!(max_total_bytes_holds_under_races);

#[test]
fn no_mix_of_commands_oversteps_a_limit() {
    // Both use one state of the tree, so intermediate states count as well.
    let place = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}/agent.db", place.path().display());
    let database = memdir::open_store(&database, &MemoryOptions::default()).unwrap();
    for store in [Arc::new(InProcess::new()) as Arc<dyn Store>, database] {
        let memory = limited(Arc::clone(&store), Some(200), Some(12));
        let (bytes, files) = most_held(&*store, || {
            race(60, |racer, number| {
                let (own, moved) = (format!("/memories/{racer}"), format!("/memories/d/{racer}"));
                let text = "x".repeat(usize::try_from(number % 30).unwrap());
                or_refused(match number % 6 {
                    0 => memory.create(&own, &text),
                    1 => memory.insert(&own, 0, &text),
                    2 => memory.rename(&own, &moved),
                    3 => memory.insert(&moved, 0, &text),
                    4 => memory.create(&own, &text),
                    _ => memory.delete(if racer % 3 == 0 { "/memories/d" } else { &own }),
                })
            });
        });
        assert!(bytes <= 200 && files <= 12, "{bytes} bytes, {files} files");
        // The final accounting matches the store: all the remaining space can be used.
        let (bytes, files) = held(&*store);
        let rest = usize::try_from(200 - bytes).unwrap();
        memory.delete("/memories/0").unwrap_or_default();
        if files < 12 {
            memory.create("/memories/rest", &"x".repeat(rest)).unwrap();
        }
    }
}

/// A creation that will be refused waits in the store. Meanwhile the existing file is edited, and
/// another one is created.
#[test]
fn a_creation_in_the_way_of_an_edit_hides_nothing_of_what_the_file_holds() {
    let store = Arc::new(Seams::default());
    put(&*store, "/memories/p.md", "x".repeat(2000));
    let memory = limited(Arc::clone(&store) as _, Some(5000), None);
    let (editor, other) = (memory.clone(), memory.clone());
    let seams = Arc::clone(&store);
    store.before_writing(move || {
        let other = other.clone();
        seams.after_editing(move || {
            assert!(is_full(&other.create("/memories/r.md", &"x".repeat(4500))));
            Ok(())
        });
        editor.insert("/memories/p.md", 0, "x").unwrap();
        Ok(())
    });
    assert!(memory.create("/memories/p.md", "new").is_err());
    assert_eq!(held(&*store), (2002, 1));
}

#[test]
fn on_shared_paths_no_mix_of_creations_and_edits_oversteps_a_limit() {
    const PATHS: u64 = 3;
    let mut nearest = 0;
    let place = tempfile::tempdir().unwrap();
    for round in 0..6_u64 {
        let database = format!("sqlite:{}/{round}.db", place.path().display());
        let store = match round % 2 {
            0 => Arc::new(InProcess::new()) as Arc<dyn Store>,
            _ => memdir::open_store(&database, &MemoryOptions::default()).unwrap(),
        };
        let memory = limited(Arc::clone(&store), Some(5000), Some(4));
        let (most, files) = most_held(&*store, || {
            race(50, |racer, number| {
                // Without a pattern that the threads share.
                let random = (round * 1_000_003 + racer * 10_007 + number)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    >> 33;
                let path = format!("/memories/{}", random % PATHS);
                let text = "x".repeat(usize::try_from(random / 8 % 1500).unwrap());
                or_refused(match random / 4 % 8 {
                    0..=2 => memory.create(&path, &text),
                    3 => memory.create(&format!("/memories/own {racer}"), &text),
                    4 if racer == 0 => memory.delete(&path),
                    _ => memory.insert(&path, 0, &text),
                })
            });
        });
        let most = most.max(held(&*store).0);
        assert!(most <= 5000 && files <= 4, "round {round}: {most} bytes, {files} files");
        nearest = nearest.max(most);
    }
    assert!(nearest > 4000, "the limit was never near: {nearest}");
}

/// Memories without shared state, as in separate processes: the store enforces the limit.
#[test]
fn a_database_keeps_the_limits_for_all_that_write_to_it() {
    let place = tempfile::tempdir().unwrap();
    let mut addresses = vec![format!("sqlite:{}/agent.db", place.path().display())];
    addresses.extend(crate::common::postgres::server().map(crate::common::postgres::Server::fresh));
    for address in addresses {
        let open = || {
            let mut options = MemoryOptions::default();
            (options.max_total_bytes, options.max_files) = (Some(5000), Some(30));
            Memory::open(&address, options).unwrap()
        };
        let memories: Vec<Memory> = (0..THREADS).map(|_| open()).collect();
        memories[0].create("/memories/log", "").unwrap();
        race(12, |racer, number| {
            let memory = &memories[usize::try_from(racer).unwrap()];
            match number % 3 {
                0 => memory.insert("/memories/log", 0, &"x".repeat(99)),
                _ => memory.create(&format!("/memories/{racer} {number}"), &"x".repeat(150)),
            }
        });
        let (bytes, files) = held(&**memories[0].store());
        assert!(bytes <= 5000 && files <= 30, "{address}: {bytes} bytes in {files} files");
        assert!(bytes > 4000 || files == 30, "{address}: {bytes} bytes in {files} files");
        // A memory that believes that there is space gets the usual refusal.
        let unaware = open();
        unaware.view("/memories", None).unwrap();
        memories[1].delete("/memories/log").unwrap();
        let rest = usize::try_from(5000 - held(&**unaware.store()).0).unwrap();
        memories[1].create("/memories/log", &"x".repeat(rest)).unwrap();
        let error = unaware.store().write(&at("/memories/y"), b"y", OnExisting::Error).unwrap_err();
        assert!(matches!(error, StoreError::OverLimit { .. }), "{error}");
        let error = unaware.insert("/memories/log", 0, "y").unwrap_err().to_string();
        assert!(error.contains("would hold") && error.contains("largest"), "{error}");
        // A change that does not make it larger is allowed.
        unaware.str_replace("/memories/log", &"x".repeat(rest), "y").unwrap();
    }
}

#[test]
fn far_from_a_limit_the_tree_is_not_measured_for_each_command() {
    let store = Arc::new(Seams::default());
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, Some(1_000_000), Some(1000));
    let began = Instant::now();
    memory.create("/memories/a.md", "one\n").unwrap();
    for number in 0..200 {
        memory.insert("/memories/a.md", 0, "two").unwrap();
        memory.str_replace("/memories/a.md", "one", "one").unwrap();
        memory.create(&format!("/memories/d/{number}"), "three").unwrap();
        memory.rename(&format!("/memories/d/{number}"), &format!("/memories/e/{number}")).unwrap();
        memory.view("/memories", None).unwrap();
        memory.delete(&format!("/memories/e/{number}")).unwrap();
        memory.write("/memories/b.md", &number.to_string(), None).unwrap();
    }
    // Once at first, and then at most once per second.
    let walks = store.walks.load(Ordering::Relaxed) as u64;
    assert!((1..=began.elapsed().as_secs() + 1).contains(&walks), "{walks}");
}

#[test]
fn the_longer_a_measurement_takes_the_longer_it_is_used() {
    let store = Arc::new(Seams::default());
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, Some(1_000_000), None);
    store.before_walking(|| {
        thread::sleep(Duration::from_millis(400));
        Ok(())
    });
    for number in 0..5 {
        memory.create(&format!("/memories/{number}"), "").unwrap();
        thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(store.walks.load(Ordering::Relaxed), 1);
}

#[test]
fn what_was_deleted_frees_its_space_although_it_is_not_measured_at_once() {
    for store in [Arc::new(InProcess::new()) as Arc<dyn Store>, Arc::new(Seams::default())] {
        let memory = limited(store, Some(100), Some(10));
        for _ in 0..20 {
            memory.create("/memories/a", &"x".repeat(70)).unwrap();
            memory.delete("/memories/a").unwrap();
        }
        memory.create("/memories/a", &"x".repeat(100)).unwrap();
        assert!(is_full(&memory.create("/memories/b", "x")));
    }
}

#[test]
fn without_limits_nothing_is_measured() {
    let store = Arc::new(Seams::default());
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, None, None);
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.insert("/memories/a.md", 0, "two").unwrap();
    memory.view("/memories", None).unwrap();
    memory.delete("/memories/a.md").unwrap();
    assert_eq!(store.walks.load(Ordering::Relaxed), 0);
}

#[test]
fn a_write_that_fails_gives_its_room_back() {
    let store = Arc::new(Seams::default());
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, Some(10), Some(1));
    store.before_writing(|| Err(StoreError::failed("writing", "the disk is on fire")));
    assert!(matches!(memory.create("/memories/a", "0123456789"), Err(Error::Store(_))));
    store.before_writing(|| Err(StoreError::NameTooLong));
    refusal(memory.create("/memories/a", "0123456789"));
    memory.create("/memories/a", "0123456789").unwrap();
    assert!(is_full(&memory.create("/memories/b", "")));
}

#[test]
fn a_store_that_cannot_be_measured_refuses_what_grows_and_nothing_else() {
    let store = Arc::new(Seams::default());
    put(&*store, "/memories/a", "0123456789");
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, Some(10), None);
    let break_it = || store.before_walking(|| Err(StoreError::failed("listing", "out of reach")));
    break_it();
    assert!(matches!(memory.create("/memories/b", "b"), Err(Error::Store(_))));
    break_it();
    memory.str_replace("/memories/a", "0123456789", "01234").unwrap();
    break_it();
    assert!(!memory.view("/memories", None).unwrap().contains("[The memory"));
    memory.create("/memories/b", "b").unwrap();
    assert_eq!(held(&*store), (6, 2));
}

#[test]
fn a_store_that_calls_back_into_its_memory_waits_for_nothing() {
    let store = Arc::new(Seams::default());
    let memory = limited(Arc::clone(&store) as Arc<dyn Store>, Some(20), Some(3));
    let inner: Arc<OnceLock<Memory>> = Arc::new(OnceLock::new());
    inner.set(memory.clone()).unwrap();
    let called = Arc::clone(&inner);
    store.before_writing(move || {
        let memory = called.get().unwrap();
        memory.create("/memories/log", "inner").unwrap();
        // The space that the outer command is about to use is reserved.
        assert!(is_full(&memory.create("/memories/more", "0123456")));
        assert!(memory.view("/memories", None).is_ok());
        Ok(())
    });
    memory.create("/memories/a", "outer 6789").unwrap();
    let called = Arc::clone(&inner);
    store.before_walking(move || {
        called.get().unwrap().create("/memories/b", "walk").unwrap();
        Ok(())
    });
    // A write during the measurement counts once.
    assert!(is_full(&memory.create("/memories/c", "12")));
    assert_eq!(held(&*store), (19, 3));
}

#[test]
fn what_a_clone_writes_is_known_and_what_another_memory_writes_is_seen() {
    let store = Arc::new(InProcess::new()) as Arc<dyn Store>;
    let (one, other) =
        (limited(Arc::clone(&store), None, Some(3)), limited(Arc::clone(&store), None, Some(3)));
    one.create("/memories/1", "").unwrap();
    one.clone().create("/memories/2", "").unwrap();
    other.create("/memories/3", "").unwrap();
    for memory in [&one, &other, &one.clone()] {
        assert!(is_full(&memory.create("/memories/4", "")));
    }
    // The developer's own calls have no limit.
    put(&*store, "/memories/4", "");
    other.clear().unwrap();
    one.create("/memories/1", "").unwrap();
}

#[test]
fn a_mounted_store_that_is_out_of_reach_keeps_nobody_from_the_others() {
    let broken = Arc::new(Seams::default());
    put(&*broken, "/memories/x", "0123456789");
    let mounts = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/broken"), Arc::clone(&broken) as Arc<dyn Store>)
        .unwrap();
    let memory = limited(Arc::new(mounts), Some(11), None);
    broken.before_walking(|| Err(StoreError::failed("listing", "out of reach")));
    memory.create("/memories/a", "0123456789").unwrap();
    // It exists again, and counts.
    assert!(is_full(&memory.create("/memories/b", "0")));
    memory.delete("/memories/broken/x").unwrap();
    memory.create("/memories/b", "0").unwrap();
}
