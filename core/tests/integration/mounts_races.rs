//! Renaming from one mounted store into another while others edit, rename, and are killed.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::common;
use crate::common::store_helpers::{Tree, appending, at, mounted, plant, put, race, tree};
use memdir::store::{InProcess, LocalDirectory, Mount, Mounts, Node, SqliteDatabase, open_mounts};
use memdir::{Durability, MemoryOptions, Store, StoreError};

#[test]
fn no_acknowledged_edit_is_lost_while_a_file_moves() {
    let place = tempfile::tempdir().unwrap();
    let stores: [(Arc<dyn Store>, Arc<dyn Store>); 2] = [
        (Arc::new(InProcess::new()), Arc::new(InProcess::new())),
        (
            Arc::new(LocalDirectory::open(place.path(), Durability::Relaxed).unwrap()),
            Arc::new(SqliteDatabase::open(place.path().join("a.db"), Durability::Relaxed).unwrap()),
        ),
    ];
    for (root, other) in stores {
        let mounts = mounted(root, other);
        put(&mounts, "/memories/dir/a", b"");
        let places = [at("/memories/dir/a"), at("/memories/other/dir/a")];
        let directories = [at("/memories/dir"), at("/memories/other/dir")];
        let (done, acknowledged) = (AtomicBool::new(false), AtomicUsize::new(0));
        // The number of moves, in total and as known to each writer.
        let (moved, known) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 3]);
        thread::scope(|scope| {
            for known in &known {
                let (done, acknowledged, moved) = (&done, &acknowledged, &moved);
                let (mounts, places) = (&mounts, &places);
                scope.spawn(move || {
                    while !done.load(Ordering::SeqCst) {
                        let now = moved.load(Ordering::SeqCst);
                        known.store(now, Ordering::SeqCst);
                        let path = &places[now % 2];
                        let appended = mounts.update(path, &mut appending("+"));
                        match appended {
                            Ok(()) => {
                                acknowledged.fetch_add(1, Ordering::Relaxed);
                            }
                            // It is being moved.
                            Err(StoreError::NotFound) => {}
                            Err(error) => {
                                done.store(true, Ordering::SeqCst);
                                panic!("{error}");
                            }
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                });
            }
            for round in 0..100_000 {
                let enough = acknowledged.load(Ordering::Relaxed) > 100;
                if round % 4 == 0 && enough || done.load(Ordering::SeqCst) {
                    break;
                }
                // A directory and a file in turn, there and back.
                let ends = if round % 4 < 2 { &directories } else { &places };
                let (from, to) = (round % 2, (round + 1) % 2);
                let mut refused = 0;
                while let Err(error) = mounts.rename(&ends[from], &ends[to]) {
                    // Then all is as before, and a retry is possible.
                    refused += 1;
                    if refused == 100 || !error.to_string().contains("changed each time") {
                        done.store(true, Ordering::Relaxed);
                        panic!("round {round}: {error}");
                    }
                }
                // From here on no writer uses the old path, so the file can be moved back. A file
                // that is edited at both paths at once stays at both.
                moved.store(round + 1, Ordering::SeqCst);
                let behind = |known: &AtomicUsize| known.load(Ordering::SeqCst) <= round;
                while known.iter().any(behind) && !done.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                if ends == &places {
                    mounts.delete(&directories[from]).unwrap();
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        let kept = mounts.read(&places[0]).unwrap().len();
        assert_eq!(kept, acknowledged.into_inner());
        assert!(kept > 0);
        assert_eq!(
            tree(&mounts, "/memories").into_keys().collect::<Vec<_>>(),
            ["/memories/dir", "/memories/dir/a", "/memories/other"]
        );
    }
}

#[test]
fn of_renames_at_once_one_wins() {
    for round in 0..20 {
        let mounts = mounted(Arc::new(InProcess::new()), Arc::new(InProcess::new()));
        let one_wins = |rename: &(dyn Fn(usize) -> Result<(), StoreError> + Sync)| {
            let winners = race(|racer| match rename(racer) {
                Ok(()) => true,
                Err(StoreError::NotFound | StoreError::AlreadyExists) => false,
                Err(error) => panic!("{error}"),
            });
            assert_eq!(winners, 1, "round {round}");
        };
        for racer in 0..8 {
            put(&mounts, &format!("/memories/{racer}/x"), b"");
        }
        // Eight to one path.
        one_wins(&|racer| {
            mounts.rename(&at(&format!("/memories/{racer}")), &at("/memories/other/to"))
        });
        assert_eq!(tree(&mounts, "/memories").values().flatten().count(), 8);
        // One to eight paths.
        one_wins(&|racer| {
            mounts.rename(&at("/memories/other/to"), &at(&format!("/memories/new/{racer}")))
        });
        assert_eq!(tree(&mounts, "/memories").values().flatten().count(), 8);
        assert_eq!(tree(&mounts, "/memories/other"), Tree::new());
    }
}

fn directories(place: &Path) -> Mounts {
    let path = |name| place.join(name);
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    let mounts =
        [Mount::new("/memories", path("root")), Mount::new("/memories/other", path("other"))];
    open_mounts(mounts, &options).unwrap()
}

#[test]
fn a_kill_leaves_one_whole_copy_in_its_place() {
    if let Some(place) = std::env::var_os("MEMDIR_TEST_MOVER") {
        let mounts = directories(Path::new(&place));
        let ends = [at("/memories/tree"), at("/memories/other/tree")];
        loop {
            for (from, to) in [(&ends[0], &ends[1]), (&ends[1], &ends[0])] {
                // If the previous process was killed between the two steps, both exist.
                match mounts.rename(from, to) {
                    Ok(()) | Err(StoreError::NotFound) => {}
                    Err(StoreError::AlreadyExists) => mounts.delete(from).unwrap(),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    let place = tempfile::tempdir().unwrap();
    let job = place.path().to_str().unwrap();
    let mounts = directories(place.path());
    plant(&mounts);
    let whole = tree(&mounts, "/memories/tree");
    let mut kills_in_the_middle = 0;
    // The start time of a process depends on the machine: later rounds give it longer.
    for round in 0..500 {
        if round >= 25 && kills_in_the_middle > 0 {
            break;
        }
        let test = here!("a_kill_leaves_one_whole_copy_in_its_place");
        let mut mover = common::process(test, &[("MEMDIR_TEST_MOVER", job)]);
        thread::sleep(Duration::from_millis(20 + round * 37 % (25 + round * 2)));
        mover.kill().unwrap();
        mover.wait().unwrap();

        let kept = |top: &str| {
            mounts.list(&at(top)).is_ok().then(|| -> Tree {
                let held = tree(&mounts, top);
                held.into_iter()
                    .map(|(path, held)| (path.replacen("/other", "", 1), held))
                    .collect()
            })
        };
        let copies = [kept("/memories/tree"), kept("/memories/other/tree")];
        assert!(copies.iter().any(Option::is_some), "round {round}: nothing is left");
        for copy in copies.iter().flatten() {
            assert_eq!(*copy, whole, "round {round}");
        }
        let aside = tree(&mounts, "/memories").into_keys().any(|path| path.contains("-moving-"));
        kills_in_the_middle += usize::from(aside || copies.iter().all(Option::is_some));
        // A view shows the tree, once or twice, and no temporary files.
        let Node::Directory(shown) = mounts.open(&at("/memories"), 9).unwrap() else { panic!() };
        assert!(shown.iter().all(|entry| !entry.path.as_str().contains("moving")));
    }
    assert!(kills_in_the_middle > 0);
}
