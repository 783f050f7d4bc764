//! The ranked search if a store fails, panics, waits or is cancelled.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

use memdir::store::{InProcess, Store};
use memdir::{Cancellation, Error, Memory, MemoryOptions, MemoryPath, StoreError};

use crate::common::search::{FILES, counting, found, found_by_both, over};
use crate::common::store_helpers::{at, put};

#[test]
fn a_failure_is_the_error_of_the_call_and_the_next_search_repairs() {
    let (store, memory) = counting(|store| store.has_revision = true);
    let all = found(&memory, "tea");
    for failing in FILES.map(|(path, _)| at(path)) {
        let memory = over(memory.store());
        let failing_path = failing.clone();
        let fails = move |path: &MemoryPath| match *path == failing_path {
            true => Err(StoreError::failed("reading", "no disk")),
            false => Ok(()),
        };
        *store.on_read.lock().unwrap() = Some(Arc::new(fails));
        let failed = memory.search("tea", "/memories", 10).unwrap_err();
        assert!(matches!(failed, Error::Store(StoreError::Failed { .. })), "{failed}");
        assert!(memory.search("tea", "/memories", 10).is_err());
        *store.on_read.lock().unwrap() = None;
        assert_eq!(found(&memory, "tea"), all, "{failing}");
        // Nothing that was read is read again.
        assert!(store.counts().1 > 0);
    }
    *store.on_list.lock().unwrap() = Some(Arc::new(|| Err(StoreError::Busy)));
    let new = over(memory.store());
    assert!(matches!(new.search("tea", "/memories", 10), Err(Error::Store(StoreError::Busy))));
    *store.on_list.lock().unwrap() = None;
    assert_eq!(found(&new, "tea"), all);
}

#[test]
fn files_that_vanish_or_cannot_be_read_are_left_out() {
    let (store, memory) = counting(|store| store.has_revision = true);
    let odd = [
        || StoreError::NotFound,
        || StoreError::IsADirectory,
        || StoreError::NotADirectory,
        || StoreError::PermissionDenied,
        || StoreError::Symlink,
    ];
    for error in odd {
        for failing in FILES.map(|(path, _)| at(path)) {
            let memory = over(memory.store());
            let gone = failing.clone();
            let fails = move |path: &MemoryPath| if *path == gone { Err(error()) } else { Ok(()) };
            *store.on_read.lock().unwrap() = Some(Arc::new(fails));
            let expected: BTreeSet<String> = FILES
                .iter()
                .map(|(path, _)| (*path).to_owned())
                .filter(|path| path != failing.as_str())
                .collect();
            assert_eq!(found(&memory, "path:/").into_iter().collect::<BTreeSet<_>>(), expected);
        }
    }
    *store.on_read.lock().unwrap() = None;
}

#[test]
fn a_panic_in_the_store_ends_that_search_alone() {
    let (store, memory) = counting(|_| {});
    let all = found(&memory, "tea");
    let new = over(memory.store());
    *store.on_list.lock().unwrap() = Some(Arc::new(|| panic!("in the store")));
    for memory in [&memory, &new] {
        assert!(catch_unwind(AssertUnwindSafe(|| found(memory, "tea"))).is_err());
    }
    *store.on_list.lock().unwrap() = None;
    for memory in [&memory, &new] {
        assert_eq!(found(memory, "tea"), all);
    }
}

#[test]
fn a_store_that_searches_its_own_memory_does_not_wait_for_itself() {
    let (store, memory) = counting(|_| {});
    let all = found(&memory, "tea");
    let (inner, is_nested) = (memory.clone(), AtomicBool::new(false));
    let results: Arc<OnceLock<Vec<String>>> = Arc::default();
    let of_inner = Arc::clone(&results);
    *store.on_list.lock().unwrap() = Some(Arc::new(move || {
        if !is_nested.swap(true, Ordering::SeqCst) {
            let _ = of_inner.set(found(&inner, "tea"));
        }
        Ok(())
    }));
    assert_eq!(found(&memory, "tea"), all);
    assert_eq!(results.get(), Some(&all));
    assert_eq!(found(&memory, "tea"), all);
    // The memory in the callback is one of the store.
    *store.on_list.lock().unwrap() = None;
}

#[test]
fn a_search_that_waits_for_another_one_can_be_cancelled() {
    let (store, memory) = counting(|_| {});
    let (entered, has_entered) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let is_released = Mutex::new(is_released);
    *store.on_list.lock().unwrap() = Some(Arc::new(move || {
        entered.send(()).unwrap();
        let _ = is_released.lock().unwrap().recv();
        Ok(())
    }));
    thread::scope(|scope| {
        let first = scope.spawn(|| found(&memory, "tea"));
        has_entered.recv().unwrap();
        let cancellation = Cancellation::new();
        let waiting = memory.cancelled_by(&cancellation);
        let second = scope.spawn(move || waiting.search("tea", "/memories", 10));
        thread::sleep(Duration::from_millis(50));
        assert!(!second.is_finished());
        cancellation.cancel();
        let cancelled = second.join().unwrap().unwrap_err();
        assert!(matches!(cancelled, Error::Store(StoreError::Cancelled)));
        drop(release);
        assert!(!first.join().unwrap().is_empty());
    });
}

#[test]
fn a_cancelled_search_stops_between_files_and_the_next_one_goes_on() {
    let (store, memory) = counting(|_| {});
    let cancellation = Cancellation::new();
    let (cancel, reads) = (cancellation.clone(), AtomicUsize::new(0));
    *store.on_read.lock().unwrap() = Some(Arc::new(move |_| {
        if reads.fetch_add(1, Ordering::SeqCst) == 2 {
            cancel.cancel();
        }
        Ok(())
    }));
    let stopped = memory.cancelled_by(&cancellation).search("tea", "/memories", 10).unwrap_err();
    assert!(matches!(stopped, Error::Store(StoreError::Cancelled)));
    *store.on_read.lock().unwrap() = None;
    assert_eq!(found_by_both(&memory, "tea").len(), 3);
}

#[test]
fn an_unreachable_mounted_store_hides_its_files_and_no_others() {
    use crate::common::failing::UNREACHABLE;
    use memdir::store::Mounts;
    let root: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*root, "/memories/tea.md", "green");
    let mounts = Mounts::new(root).mount(at("/memories/away"), Arc::new(UNREACHABLE)).unwrap();
    let memory = Memory::with_store(Arc::new(mounts), MemoryOptions::default());
    assert_eq!(found(&memory, "green"), ["/memories/tea.md"]);
}

#[test]
fn a_search_of_a_large_text_can_be_cancelled_while_it_ranks() {
    let store: Arc<dyn Store> = Arc::new(InProcess::new());
    put(&*store, "/memories/large.txt", "to and from it\n".repeat(100_000));
    let memory = Memory::with_store(store, MemoryOptions::default());
    // Words that rank are not read in the text, but phrases are, and those of grammar have no other way.
    for question in ["\"to be\"", "\"it to\" -\"to be\"", "to be"] {
        let asked = |most: usize| {
            let (count, counted) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
            let counting = Arc::clone(&counted);
            let ask = move || {
                counting.store(count.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                counting.load(Ordering::SeqCst) > most
            };
            let result = memory
                .cancelled_by(&Cancellation::asking(ask))
                .search(question, "/memories", 10)
                .map(|found| found.hits.len());
            (counted.load(Ordering::SeqCst), result)
        };
        assert!(asked(usize::MAX).1.is_ok());
        let (all, _) = asked(usize::MAX);
        assert!(all > 20, "{question}: asked {all} times");
        for most in [all / 2, all - 3] {
            let (count, stopped) = asked(most);
            assert!(matches!(stopped, Err(Error::Store(StoreError::Cancelled))), "{question}");
            assert!(count <= most + 2, "{question}: {count} after {most}");
        }
    }
}
