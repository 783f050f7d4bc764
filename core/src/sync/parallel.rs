//! Does many things at once, because a store in a service takes long to answer and can answer many calls at the same time.

use std::sync::{Mutex, PoisonError};

/// Calls `work` with each item, up to `at_once` at the same time, in no order. After an error no further call begins.
///
/// # Errors
/// The first error.
pub(super) fn for_each<T: Send, E: Send>(
    at_once: usize,
    items: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let others = at_once.min(items.len()).saturating_sub(1);
    let (items, failed) = (Mutex::new(items.into_iter()), Mutex::new(None));
    let run = || {
        while let Some(item) = items.lock().unwrap_or_else(PoisonError::into_inner).next() {
            if let Err(error) = work(item) {
                failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            if failed.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return;
            }
        }
    };
    if others == 0 || cfg!(target_family = "wasm") {
        run();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..others {
                // Without a further thread, those that there are do more.
                let _ =
                    std::thread::Builder::new().name("memdir-sync".into()).spawn_scoped(scope, run);
            }
            run();
        });
    }
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    use super::*;

    #[test]
    fn every_item_is_done_once() {
        for (at_once, items) in [(1, 0), (1, 5), (4, 3), (32, 1_000), (1_000, 1_000)] {
            let sum = AtomicUsize::new(0);
            let done = for_each::<_, ()>(at_once, (0..items).collect(), |item| {
                sum.fetch_add(item + 1, SeqCst);
                Ok(())
            });
            assert_eq!((done, sum.into_inner()), (Ok(()), items * (items + 1) / 2));
        }
    }

    #[test]
    fn an_error_ends_the_work() {
        for at_once in [1, 4] {
            let calls = AtomicUsize::new(0);
            let done = for_each(at_once, (0..10_000).collect(), |item| {
                calls.fetch_add(1, SeqCst);
                if item == 7 { Err("seven") } else { Ok(()) }
            });
            assert_eq!(done, Err("seven"));
            assert!(calls.into_inner() < 10_000);
        }
    }
}
