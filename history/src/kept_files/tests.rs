//! The order of records, and of those that are written together.

use memdir_store::InProcess;

use super::*;
use crate::record::Header;

/// A record whose id has the time `seconds` after 1970.
fn record(seconds: u64) -> Record {
    let millis = seconds * 1_000;
    let (high, low) = (millis >> 16, millis & 0xffff);
    let id = format!("{high:08x}-{low:04x}-7000-8000-000000000000").parse().unwrap();
    let mut record = Record::new(id, id, None);
    record.header.trims = Some(id);
    record
}

/// Appends a record like a process that has the store open.
fn append(journal: &KeptFiles, seconds: u64) -> Appended {
    journal.append(&Context::new(), Pen::default(), &record(seconds)).unwrap()
}

/// The records in order, each as the time of its writer's clock.
fn order(journal: &KeptFiles) -> Vec<u64> {
    let mut loaded = Loaded::default();
    journal.load(&Context::new(), &mut loaded).unwrap();
    assert_eq!(loaded.damaged, [""; 0]);
    loaded.records.iter().map(|stored| seconds_of(stored.header.id)).collect()
}

fn seconds_of(id: HistoryId) -> u64 {
    id.time().duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

fn remove(journal: &KeptFiles, goes: impl Fn(u64) -> bool, note: Option<&Record>) {
    let goes = |header: &Header| goes(seconds_of(header.id));
    let mut rewrite =
        Rewrite { concerns: &goes, is_forced: false, loaded_end: None, change: &mut |_| Ok(None) };
    journal.rewrite(&Locked::default(), &mut rewrite, note).unwrap();
}

#[test]
fn records_are_in_the_order_of_appending_whatever_the_clocks_say() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let processes: [_; 3] = std::array::from_fn(|_| KeptFiles::new(Arc::clone(&store)));
    // One clock is a year ahead, one goes backwards, and one is right.
    let clocks = [|n: u64| 40_000_000 + n, |n: u64| 500_000 - n, |n: u64| 1_000_000 + n];
    let mut appended = Vec::new();
    for number in 0..5 * BLOCK_RECORDS {
        let process = number * number % 7 % 3;
        let seconds = clocks[process](number as u64);
        append(&processes[process], seconds);
        appended.push(seconds);
    }
    assert_eq!(order(&KeptFiles::new(store)), appended);
}

#[test]
fn a_writer_who_looks_after_a_long_time_is_last() {
    for edge in [BLOCK_RECORDS - 1, BLOCK_RECORDS, BLOCK_RECORDS + 1, 5 * BLOCK_RECORDS] {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let [late, busy]: [_; 2] = std::array::from_fn(|_| KeptFiles::new(Arc::clone(&store)));
        append(&late, 5_000);
        (0..edge as u64).for_each(|number| drop(append(&busy, 6_000 + number)));
        // Everything before the note is removed, including the number after the one that `late` had.
        remove(&busy, |_| true, Some(&record(9_000)));
        append(&late, 1_000);
        append(&busy, 500);
        assert_eq!(order(&late), [9_000, 1_000, 500], "{edge} records");
    }
}

#[test]
fn writers_agree_where_to_go_on_after_everything_was_removed() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let [old, new]: [_; 2] = std::array::from_fn(|_| KeptFiles::new(Arc::clone(&store)));
    (0..3 * BLOCK_RECORDS as u64).for_each(|number| drop(append(&old, 6_000 + number)));
    store.delete(&directory()).unwrap();
    append(&new, 3);
    append(&old, 2);
    append(&new, 1);
    assert_eq!(order(&old), [3, 2, 1]);
}

#[test]
fn records_that_are_appended_together_are_between_those_of_other_writers() {
    for count in [0, 1, BLOCK_RECORDS - 1, BLOCK_RECORDS, BLOCK_RECORDS + 1, 1_000] {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let [one, other]: [_; 2] = std::array::from_fn(|_| KeptFiles::new(Arc::clone(&store)));
        append(&other, 9_000);
        append(&one, 8_000);
        let together: Vec<Record> = (0..count as u64).rev().map(record).collect();
        one.append_together(&Context::new(), Pen::default(), &together).unwrap();
        append(&other, 7_000);
        append(&one, 6_000);
        let middle = (0..count as u64).rev();
        let expected: Vec<u64> =
            [9_000, 8_000].into_iter().chain(middle).chain([7_000, 6_000]).collect();
        assert_eq!(order(&other), expected, "{count} together");
        for block in blocks_in(&store.list(&directory()).unwrap()) {
            let listed = store.list(&block_directory(block).unwrap()).unwrap();
            assert!(listed.len() <= BLOCK_RECORDS + 1, "block {block} of {count}");
        }
    }
}

#[test]
fn of_records_that_were_appended_together_those_of_no_change_are_removed() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let journal = KeptFiles::new(store);
    let together: Vec<Record> = (0..100).map(record).collect();
    let appended = journal.append_together(&Context::new(), Pen::default(), &together).unwrap();
    let ids: Vec<HistoryId> = together.iter().map(|record| record.header.id).collect();
    journal.end_together(appended, &ids[..60], &ids[70..]);
    assert_eq!(order(&journal), (0..70).collect::<Vec<_>>());
}

#[test]
fn a_writer_that_was_killed_before_its_records_leaves_an_order() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let [killed, other]: [_; 2] = std::array::from_fn(|_| KeptFiles::new(Arc::clone(&store)));
    append(&other, 5);
    assert_eq!(killed.next_numbers(&Context::new(), 300).unwrap().len(), 300);
    (1..5).rev().for_each(|seconds| drop(append(&other, seconds)));
    assert_eq!(order(&killed), [5, 4, 3, 2, 1]);
}

#[test]
fn a_record_that_was_withdrawn_is_gone() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    let journal = KeptFiles::new(store);
    append(&journal, 1);
    let appended = append(&journal, 2);
    journal.withdraw(&Context::new(), record(2).header.id, appended).unwrap();
    append(&journal, 3);
    assert_eq!(order(&journal), [1, 3]);
}

#[test]
fn many_writers_at_once_lose_no_record_and_keep_their_own_order() {
    const WRITERS: u64 = 65;
    const EACH: u64 = 10;
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    std::thread::scope(|threads| {
        for writer in 0..WRITERS {
            let journal = KeptFiles::new(Arc::clone(&store));
            // Each writer's clock goes backwards.
            threads.spawn(move || {
                let all: Vec<u64> = (0..EACH).map(|n| writer * EACH + EACH - n).collect();
                let (alone, together) = all.split_at(all.len() / 2);
                alone.iter().for_each(|seconds| drop(append(&journal, *seconds)));
                let together: Vec<Record> = together.iter().copied().map(record).collect();
                journal.append_together(&Context::new(), Pen::default(), &together).unwrap();
            });
        }
    });
    let order = order(&KeptFiles::new(store));
    assert_eq!(order.len() as u64, WRITERS * EACH);
    for writer in 0..WRITERS {
        let own = order.iter().filter(|seconds| (**seconds - 1) / EACH == writer);
        assert!(own.is_sorted_by(|a, b| a > b), "writer {writer}");
    }
}

#[test]
fn records_of_the_older_form_come_first() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    for seconds in [9_000, 8_000] {
        let record = record(seconds);
        let number = Number { block: 0, in_block: 0 };
        let path = number.path(record.header.id).unwrap();
        store.write(&path, &record.to_bytes(), OnExisting::Error).unwrap();
    }
    let journal = KeptFiles::new(store);
    append(&journal, 1_000);
    assert_eq!(order(&journal), [8_000, 9_000, 1_000]);
    remove(&journal, |seconds| seconds == 8_000, None);
    assert_eq!(order(&journal), [9_000, 1_000]);
}
