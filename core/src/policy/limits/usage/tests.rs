//! The sum, whichever of several things at once comes first.

use super::*;
use crate::options::OnExisting;
use crate::store::InProcess;

fn path(name: &str) -> MemoryPath {
    MemoryPath::parse(&format!("/memories/{name}")).unwrap()
}

fn put(store: &InProcess, name: &str, content: &str) {
    store.write(&path(name), content.as_bytes(), OnExisting::Overwrite).unwrap();
}

fn note<'u>(usage: &'u Usage, name: &str, before: Option<u64>, after: u64) -> Noted<'u> {
    let change = Change { before, after };
    usage.note::<()>(&path(name), change, true, |_| Ok(())).unwrap()
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
        assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 6, files: 2 });
        // What shrinks counts in full until it has.
        assert_eq!(usage.recent(), held(11, 3));
        grown.done();
        shrunk.done();
        assert_eq!(usage.recent(), held(9, 3));
        new.undone();
        assert_eq!(usage.recent(), if seen { None } else { held(7, 2) });
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
    // Whichever of the contents it saw.
    assert_eq!(walk.end(&[(path("a"), 4)]), (Held { bytes: 6, files: 1 }, true));
    assert_eq!(usage.recent(), held(6, 1));
    last.done();
    assert_eq!(usage.recent(), held(5, 1));
    assert!(usage.state().writes.is_empty());
}

/// As on a store that retries: what was decided about an older content is decided anew.
#[test]
fn a_write_that_has_to_be_decided_anew_does_not_hide_the_one_before_it() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "");
    usage.measure(&store).unwrap();
    let commands = (usage.under_way(), usage.under_way(), usage.under_way());
    let late = note(&usage, "a", Some(0), 10);
    note(&usage, "a", Some(0), 10).done();
    put(&store, "a", "0123456789");
    // Read before that, and decided after it.
    let later = note(&usage, "a", Some(0), 10);
    assert_eq!(usage.state().known.unwrap().held, Held { bytes: 10, files: 1 });
    for _ in 0..2 {
        assert_eq!(usage.measure(&store).unwrap().held, Held { bytes: 10, files: 1 });
    }
    late.undone();
    later.undone();
    let (second, third) = (note(&usage, "a", Some(10), 20), note(&usage, "a", Some(20), 30));
    put(&store, "a", &"x".repeat(30));
    // The last one is told first.
    third.done();
    assert_eq!(usage.recent(), held(30, 1));
    second.done();
    assert_eq!(usage.recent(), held(30, 1));
    drop(commands);
    assert!(usage.state().writes.is_empty());
}

#[test]
fn a_file_of_somebody_else_in_the_way_of_a_creation_counts() {
    let (usage, store) = (Usage::default(), InProcess::new());
    put(&store, "a", "12345");
    for after in [2, 9] {
        let creation = note(&usage, "a", None, after);
        usage.measure(&store).unwrap();
        creation.undone();
        // Not less than is there, and not to be decided by.
        let known = usage.state().known.unwrap();
        assert_eq!((known.held, known.sure), (Held { bytes: after.max(5), files: 1 }, false));
    }
}

#[test]
fn what_nobody_knows_the_end_of_counts_until_it_is_measured() {
    let (usage, store) = (Usage::default(), InProcess::new());
    usage.measure(&store).unwrap();
    drop(note(&usage, "a", None, 5));
    assert_eq!(usage.recent(), None);
    assert_eq!(usage.state().known.unwrap().held, Held { bytes: 5, files: 1 });
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
