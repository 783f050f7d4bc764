//! [`Swap`]: an edit that can outlive the call of `update`.
//!
//! A store in another language cannot get the borrowed [`Edit`], because it may keep it, or call it on its own thread.
//! [`update_by_swap`] reads the file, computes the edit, and gives the store an owned [`Swap`]. The swap returns the new
//! content only if the file still has the content that was read. If another writer was faster, the edit is computed
//! again from the newer content.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Context, Edit, Store, StoreError};
use crate::cancel::Cancellation;
use crate::path::MemoryPath;

/// The limit of attempts to apply an edit. More conflicts in a row mean that the store is broken: it passes contents that it
/// does not hold.
const MAX_ATTEMPTS: usize = 1_000;

/// Replaces one content with another, if the file still has the first.
#[derive(Debug)]
pub struct Swap {
    old: Vec<u8>,
    new: Vec<u8>,
    cancellation: Cancellation,
    last_call: Mutex<Option<Outcome>>,
}

#[derive(Debug)]
enum Outcome {
    /// The file had the expected content; the store got the new one.
    Swapped,
    /// The file had this other content.
    Conflict(Vec<u8>),
    /// The call was cancelled before the store called the swap.
    Cancelled,
}

impl Swap {
    /// The content to write instead of `content`, or `None` to write nothing.
    pub fn apply(&self, content: &[u8]) -> Option<Vec<u8>> {
        let (outcome, new) = if self.cancellation.is_cancelled() {
            (Outcome::Cancelled, None)
        } else if content == self.old {
            (Outcome::Swapped, Some(self.new.clone()))
        } else {
            (Outcome::Conflict(content.to_vec()), None)
        };
        *self.last_call.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        new
    }
}

/// Implements the update of [`Store::mutate`] for a store that takes a [`Swap`]. `update` passes the swap to the store
/// and returns when the store is done. If the call is cancelled before the store applies the swap, nothing is written.
///
/// # Errors
/// As [`Store::update`]. [`StoreError::Failed`] if the store never calls the swap, or each time passes a content that
/// differs from the one it returned before.
pub fn update_by_swap<S: Store + ?Sized>(
    store: &S,
    context: &Context,
    path: &MemoryPath,
    edit: &mut Edit<'_>,
    mut update: impl FnMut(Arc<Swap>) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let failed = |problem: &str| Err(StoreError::failed(format!("updating {path}"), problem));
    let mut old = store.read_in(context, path).map_err(StoreError::unchanged)?;
    for _ in 0..MAX_ATTEMPTS {
        let Some(splice) = edit(&old) else { return Ok(()) };
        let new = splice.apply(&old);
        let cancellation = context.cancellation().clone();
        let swap = Arc::new(Swap { old, new, cancellation, last_call: Mutex::new(None) });
        update(Arc::clone(&swap))?;
        match swap.last_call.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(Outcome::Swapped) => return Ok(()),
            Some(Outcome::Conflict(now)) => old = now,
            Some(Outcome::Cancelled) => return Err(StoreError::Cancelled),
            None => return failed("the store's update did not apply the edit"),
        }
    }
    failed("the content was different at each attempt of the store's update")
        .map_err(StoreError::unchanged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::OnExisting;
    use crate::{InProcess, Splice};

    fn append(old: &[u8]) -> Option<Splice> {
        Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
    }

    #[test]
    fn a_faster_writer_is_not_overwritten() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let mut calls = 0;
        update_by_swap(&store, &Context::new(), &path, &mut append, |swap| {
            calls += 1;
            if calls == 1 {
                store.write(&path, b"newer", OnExisting::Overwrite)?;
            }
            store.update(&path, &mut |old| {
                let text = swap.apply(old)?;
                Some(Splice { range: 0..old.len(), text })
            })
        })
        .unwrap();
        assert_eq!(calls, 2);
        assert_eq!(store.read(&path).unwrap(), b"newer+");
    }

    #[test]
    fn an_edit_whose_caller_has_gone_while_the_store_waited_is_not_made() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let cancellation = Cancellation::new();
        let context = Context::new().cancelled_by(&cancellation);
        let result = update_by_swap(&store, &context, &path, &mut append, |swap| {
            cancellation.cancel();
            store.update(&path, &mut |old| {
                let text = swap.apply(old)?;
                Some(Splice { range: 0..old.len(), text })
            })
        });
        assert!(matches!(result, Err(StoreError::Cancelled)), "{result:?}");
        assert_eq!(store.read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_store_that_does_not_apply_the_edit_is_broken() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let result = update_by_swap(&store, &Context::new(), &path, &mut append, |_| Ok(()));
        assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    }

    #[test]
    fn a_store_that_never_holds_what_it_shows_is_broken() {
        let store = InProcess::new();
        let path = MemoryPath::parse("/memories/a").unwrap();
        store.write(&path, b"old", OnExisting::Error).unwrap();
        let mut call = 0_u32;
        let result = update_by_swap(&store, &Context::new(), &path, &mut append, |swap| {
            call += 1;
            swap.apply(&call.to_le_bytes());
            Ok(())
        });
        assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    }
}
