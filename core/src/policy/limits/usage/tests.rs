//! Checks the total under all orders of concurrent writes, deletions and walks.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use super::*;
use crate::store::{Context, Entry, InProcess, Layer, OnExisting};

/// A store whose first walk is disturbed by a move, and whose later walks take some time.
struct SlowWalks {
    store: InProcess,
    walks: AtomicUsize,
    moves: AtomicUsize,
}

impl Layer for SlowWalks {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        if self.walks.fetch_add(1, Ordering::SeqCst) == 0 {
            while self.moves.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
        } else {
            thread::sleep(Duration::from_millis(20));
        }
        self.store.files_in(context, visit)
    }
}

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(&format!("/memories/{name}")).unwrap()
}

fn put(store: &InProcess, name: &str, content: &str) {
    store.write(&path(name), content.as_bytes(), OnExisting::Overwrite).unwrap();
}

fn note<'u>(usage: &'u Usage, name: &str, before: Option<u64>, after: u64) -> Noted<'u> {
    let change = SizeChange { before, after };
    usage.note::<()>(&path(name), change, None, true, |_| Ok(())).unwrap()
}

fn note_replacing<'u>(
    usage: &'u Usage,
    name: &str,
    looked: Moment,
    before: Option<u64>,
    after: u64,
) -> Noted<'u> {
    let change = SizeChange { before, after };
    usage.note::<()>(&path(name), change, Some(looked), true, |_| Ok(())).unwrap()
}

const fn held(bytes: u64, files: u64) -> Option<Held> {
    Some(Held { bytes, files })
}

#[test]
fn a_write_counts_once_whether_the_walk_saw_it_or_not() {
    for seen in [false, true] {
        let (usage, store) = (Usage::default(), InProcess::new());
        put(&store, "a", "1");
        put(&store, "b", "12345");
        let (grown, new) = (note(&usage, "a", Some(1), 4), note(&usage, "new", None, 2));
        let shrunk = note(&usage, "b", Some(5), 3);
        if seen {
            put(&store, "a", "1234");
            put(&store, "b", "123");
            put(&store, "new", "12");
        }
        let measured = usage.measure(&store).unwrap().held;
        let at_once = if seen { Held { bytes: 9, files: 3 } } else { Held { bytes: 6, files: 2 } };
        assert_eq!(measured, at_once);
        // A file that shrinks counts in full until the write has ended.
        assert_eq!(usage.recent(), held(11, 3));
        grown.done();
        shrunk.done();
        assert_eq!(usage.recent(), held(9, 3));
        new.undone();
        // If the walk saw the new file, it counts as a file of another process.
        assert_eq!(usage.recent(), if seen { held(9, 3) } else { held(7, 2) });
    }
}

#[test]
fn writes_that_end_during_a_walk_count_once() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "1");
    let (first, failed) = (note(&usage, "a", Some(1), 4), note(&usage, "f", None, 9));
    let walk = Measuring::begin(&usage);
    first.done();
    failed.undone();
    note(&usage, "a", Some(4), 6).done();
    let last = note(&usage, "a", Some(6), 5);
    // The result is the same for both contents that the walk may see.
    assert_eq!(walk.end(&[(path("a"), 4)]), (Held { bytes: 6, files: 1 }, true));
    assert_eq!(usage.recent(), held(6, 1));
    last.done();
    assert_eq!(usage.recent(), held(5, 1));
    assert!(usage.state().noted.is_empty());
}

/// As on a store that retries: the second attempt decides on the current content.
#[test]
fn a_write_that_has_to_be_decided_anew_does_not_hide_the_one_before_it() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "");
    usage.measure(&store).unwrap();
    let late = note(&usage, "a", Some(0), 10);
    note(&usage, "a", Some(0), 10).done();
    put(&store, "a", "0123456789");
    // Reads the file before that write, and decides after it.
    let later = note(&usage, "a", Some(0), 10);
    assert_eq!(usage.state().known.unwrap().held, Held { bytes: 10, files: 1 });
    for _ in 0..2 {
        assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 10, files: 1 });
    }
    late.undone();
    later.undone();
    let (second, third) = (note(&usage, "a", Some(10), 20), note(&usage, "a", Some(20), 30));
    put(&store, "a", &"x".repeat(30));
    // The last write ends first.
    third.done();
    assert_eq!(usage.recent(), held(30, 1));
    second.done();
    assert_eq!(usage.recent(), held(30, 1));
    assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 30, files: 1 });
    assert!(usage.state().noted.is_empty());
}

#[test]
fn a_file_of_somebody_else_in_the_way_of_a_creation_counts() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "12345");
    for after in [2, 9] {
        let creation = note(&usage, "a", None, after);
        usage.measure(&store).unwrap();
        // Not less than the current size, nor than the size after the writes in progress.
        assert_eq!(usage.recent(), held(after.max(5), 1));
        creation.undone();
        assert_eq!(usage.recent(), held(5, 1));
    }
}

/// A refused creation of an existing file used to hide the size of that file.
#[test]
fn an_edit_of_a_file_that_is_to_be_created_counts_in_full() {
    for measured in [0, 1, 2] {
        let (usage, store) = (Usage::default(), InProcess::new());
        put(&store, "p", &"x".repeat(2000));
        if measured < 2 {
            usage.measure(&store).unwrap();
        }
        let creation = note(&usage, "p", None, 100);
        let edit = note(&usage, "p", Some(2000), 2002);
        if measured > 0 {
            usage.measure(&store).unwrap();
        }
        let counted = usage.recent().unwrap();
        assert!(counted.bytes >= 2002, "{measured}: {counted:?}");
        edit.done();
        put(&store, "p", &"x".repeat(2002));
        creation.undone();
        assert!(usage.recent().unwrap().bytes >= 2002);
        usage.measure(&store).unwrap();
        assert_eq!(usage.recent(), held(2002, 1));
    }
}

/// The total is never less than the tree holds, and exact when no write is in progress, in any order of events.
#[test]
fn whatever_comes_first_no_less_counts_than_is_there() {
    struct Writer<'u> {
        name: &'static str,
        change: SizeChange,
        replaces: bool,
        noted: Noted<'u>,
        /// True if the store has made the change, `None` before the store was called.
        made: Option<bool>,
    }
    let names = ["a", "b"];
    for seed in 0..10_000_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let usage = Usage::default();
        let mut tree: BTreeMap<&str, u64> = BTreeMap::new();
        let mut writers: Vec<Writer<'_>> = Vec::new();
        let mut looks = Vec::new();
        let mut moving = None;
        let mut walk: Option<(Measuring<'_>, HashMap<&str, Option<u64>>)> = None;
        Measuring::begin(&usage).end(&[]);
        for _ in 0..30 {
            let name = names[usize::try_from(random(2)).unwrap()];
            let after = random(50);
            match random(9) {
                // A creation is noted before the store is called, an edit within the store.
                0 => writers.push(Writer {
                    name,
                    change: SizeChange { before: None, after },
                    replaces: false,
                    noted: note(&usage, name, None, after),
                    made: None,
                }),
                6 => looks.push((name, usage.moment(), tree.get(name).copied())),
                7 if !looks.is_empty() => {
                    let index = usize::try_from(random(looks.len() as u64)).unwrap();
                    let (name, looked, before) = looks.swap_remove(index);
                    writers.push(Writer {
                        name,
                        change: SizeChange { before, after },
                        replaces: true,
                        noted: note_replacing(&usage, name, looked, before, after),
                        made: None,
                    });
                }
                8 => {
                    moving = match moving.take() {
                        Some(_) => None,
                        None => {
                            let moving = usage.moving();
                            let moved = tree.remove(name);
                            let other = names[usize::from(name == names[0])];
                            if random(2) == 0 && !tree.contains_key(other) {
                                tree.extend(moved.map(|size| (other, size)));
                            }
                            Some(moving)
                        }
                    }
                }
                1 if tree.contains_key(name) => {
                    let before = tree.insert(name, after);
                    writers.push(Writer {
                        name,
                        change: SizeChange { before, after },
                        replaces: false,
                        noted: note(&usage, name, before, after),
                        made: Some(true),
                    });
                }
                2 => {
                    let waiting = writers.iter_mut().find(|writer| writer.made.is_none());
                    if let Some(creation) = waiting {
                        let is_made = creation.replaces || !tree.contains_key(creation.name);
                        creation.made = Some(is_made);
                        if is_made {
                            tree.insert(creation.name, creation.change.after);
                        }
                    }
                }
                3 if !writers.is_empty() => {
                    let index = usize::try_from(random(writers.len() as u64)).unwrap();
                    match writers[index].made {
                        Some(true) => writers.swap_remove(index).noted.done(),
                        Some(false) => writers.swap_remove(index).noted.undone(),
                        None => {}
                    }
                }
                4 => {
                    let (_, seen) =
                        walk.get_or_insert_with(|| (Measuring::begin(&usage), HashMap::new()));
                    seen.entry(name).or_insert_with(|| tree.get(name).copied());
                }
                _ => {
                    if walk.as_ref().is_some_and(|(_, seen)| seen.len() == names.len())
                        && let Some((measuring, seen)) = walk.take()
                    {
                        let seen = seen.into_iter().filter_map(|(name, s)| Some((path(name), s?)));
                        measuring.end(&seen.collect::<Vec<_>>());
                    }
                }
            }
            let there = Held { bytes: tree.values().sum(), files: tree.len() as u64 };
            let counted = usage.recent().unwrap();
            assert_eq!(counted.or_more(there), counted, "seed {seed}: {there:?}");
        }
        drop(walk);
        for writer in writers {
            if writer.made == Some(true) { writer.noted.done() } else { writer.noted.undone() }
        }
        drop(moving);
        let files: Vec<_> = tree.iter().map(|(name, size)| (path(name), *size)).collect();
        Measuring::begin(&usage).end(&files);
        let there = held(tree.values().sum(), tree.len() as u64);
        assert_eq!(usage.recent(), there, "seed {seed}");
        assert!(usage.state().noted.is_empty());
    }
}

#[test]
fn what_nobody_knows_the_end_of_counts_until_it_is_measured() {
    let (usage, store) = (Usage::default(), InProcess::new());
    usage.measure(&store).unwrap();
    drop(note(&usage, "a", None, 5));
    assert_eq!(usage.recent(), held(5, 1));
    usage.measure(&store).unwrap();
    assert_eq!(usage.recent(), held(0, 0));
}

#[test]
fn a_walk_during_a_move_is_made_again_and_not_relied_on() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "1");
    let moving = usage.moving();
    assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 1, files: 1 });
    assert_eq!(usage.recent(), None);
    drop(moving);
    usage.measure(&store).unwrap();
    assert_eq!(usage.recent(), held(1, 1));
    let walk = Measuring::begin(&usage);
    drop(usage.moving());
    assert!(!walk.end(&[]).1);
}

#[test]
fn moves_wait_for_a_walk_that_was_disturbed() {
    let usage = Usage::default();
    let (walks, moves) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let slow = SlowWalks { store: InProcess::new(), walks, moves };
    put(&slow.store, "a", "1");
    let (is_measured, begun) = (AtomicBool::new(false), Instant::now());
    let measured = thread::scope(|scope| {
        scope.spawn(|| {
            while slow.walks.load(Ordering::SeqCst) == 0 {
                thread::yield_now();
            }
            // One of them disturbs the first walk. The next ones wait for the second.
            while !is_measured.load(Ordering::SeqCst) {
                drop(usage.moving());
                slow.moves.fetch_add(1, Ordering::SeqCst);
            }
        });
        let measured = usage.measure(&slow);
        is_measured.store(true, Ordering::SeqCst);
        measured
    });
    assert_eq!(measured.unwrap().held, Held { bytes: 1, files: 1 });
    // A walk that took too long is not made again.
    assert!(slow.walks.load(Ordering::SeqCst) == 2 || begun.elapsed() >= PATIENCE);
}

/// A store of custom code may use the memory that it belongs to.
#[test]
fn a_move_within_a_walk_waits_for_a_limited_time() {
    struct Moves(Usage, InProcess);
    impl Layer for Moves {
        fn inner(&self) -> &dyn Store {
            &self.1
        }

        fn files_in(
            &self,
            context: &Context,
            visit: &mut dyn FnMut(Entry),
        ) -> Result<(), StoreError> {
            drop(self.0.moving());
            self.1.files_in(context, visit)
        }
    }
    let store = Moves(Usage::default(), InProcess::new());
    put(&store.1, "a", "1");
    assert_eq!(store.0.measure(&store).unwrap().held, Held { bytes: 1, files: 1 });
    assert_eq!(store.0.recent(), None);
}

#[test]
fn a_file_counts_once_by_all_spellings_of_its_path_if_the_store_ignores_case() {
    for (folding, during) in [(true, held(4, 1)), (false, held(5, 2))] {
        let (usage, store) = (Usage::new(Folding::new(folding)), InProcess::new());
        put(&store, "Notes", "1");
        usage.measure(&store).unwrap();
        // Either both are writes of the file that the walk finds, or one is a write of another file.
        let before = folding.then_some(1);
        let (first, second) = (note(&usage, "notes", before, 4), note(&usage, "NOTES", before, 3));
        usage.measure(&store).unwrap();
        let both = if folding { during } else { held(8, 3) };
        assert_eq!(usage.recent(), both, "{folding}");
        second.undone();
        usage.measure(&store).unwrap();
        assert_eq!(usage.recent(), during, "{folding}");
        first.done();
    }
}
