//! Change events of a memory, for a program that displays it: the paths that were changed through this process.
//!
//! Events save a user interface from polling. They cover the changes of every [`Memory`](crate::Memory) of this
//! process, by commands of a model and by methods that your code calls. Changes by other processes and direct
//! writes to a store are not reported here; [`Memory::watch`](crate::Memory::watch) polls for those.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};

use memdir_store::path::MemoryPath;
use serde::Serialize;

use crate::store::{Location, Store};

/// A change to a memory.
///
/// It is reported after the change and before the reply is returned. If the store failed and the change may
/// have been made, it is reported, too: read the path to see the current state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// The kind of change. A watch reports only files that are `written` or `deleted`.
    pub kind: ChangeKind,
    /// The path; for `renamed` the new path, for `cleared` the root.
    pub path: MemoryPath,
    /// The old path of a `renamed` entry; otherwise `None`.
    pub old_path: Option<MemoryPath>,
}

/// The kind of a [`Change`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ChangeKind {
    /// A file was created, overwritten or edited.
    Written,
    /// A file was deleted, or a directory with everything in it. An expiry also reports this.
    Deleted,
    /// A file or directory was renamed or moved, with everything in it.
    Renamed,
    /// Everything was deleted.
    Cleared,
}

impl ChangeKind {
    /// Returns `"written"`, `"deleted"`, `"renamed"` or `"cleared"`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Written => "written",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
            Self::Cleared => "cleared",
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Keeps a listener registered until it is dropped; see [`Memory::observe`](crate::Memory::observe).
#[derive(Debug)]
#[must_use = "the listener is called for as long as this is kept"]
pub struct Subscription {
    _listener: Arc<Listener>,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        COUNT.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Listener {
    store: Identity,
    call: Box<dyn Fn(&Change) + Send + Sync>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the store: its address may hold a password.
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

/// All listeners of this process. Without listeners, a change only costs a load of `COUNT`.
static LISTENERS: RwLock<Vec<Weak<Listener>>> = RwLock::new(Vec::new());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Identifies a store, by the location of its data or by its object.
struct Identity {
    /// A weak reference: it does not keep the store open, but prevents that another store gets its address.
    object: Weak<dyn Store>,
    locations: Vec<Location>,
}

impl Identity {
    fn of(store: &Arc<dyn Store>) -> Self {
        Self { object: Arc::downgrade(store), locations: store.info().locations }
    }

    fn is(&self, other: &Self) -> bool {
        let address = |identity: &Self| identity.object.as_ptr().cast::<()>().addr();
        address(self) == address(other)
            || !self.locations.is_empty() && self.locations == other.locations
    }
}

pub(crate) fn observe(
    store: &Arc<dyn Store>,
    call: impl Fn(&Change) + Send + Sync + 'static,
) -> Subscription {
    let listener = Arc::new(Listener { store: Identity::of(store), call: Box::new(call) });
    let mut listeners = LISTENERS.write().unwrap_or_else(PoisonError::into_inner);
    listeners.retain(|listener| listener.strong_count() > 0);
    listeners.push(Arc::downgrade(&listener));
    COUNT.fetch_add(1, Ordering::SeqCst);
    Subscription { _listener: listener }
}

/// Returns whether this process has any listener.
pub(crate) fn are_observed() -> bool {
    COUNT.load(Ordering::SeqCst) > 0
}

/// Calls the listeners of this store. No lock is held, because a listener may subscribe or execute commands.
pub(crate) fn tell(store: &Arc<dyn Store>, changes: &[Change]) {
    if changes.is_empty() || !are_observed() {
        return;
    }
    let changed = Identity::of(store);
    let listeners: Vec<_> = {
        let all = LISTENERS.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(Weak::upgrade).filter(|one| one.store.is(&changed)).collect()
    };
    for change in changes {
        for listener in &listeners {
            (listener.call)(change);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use std::time::Duration;

    use super::*;
    use crate::history::UndoOptions;
    use crate::store::{Context, InProcess, Layer, Mutation};
    use crate::{Memory, MemoryOptions, StoreError};

    fn observed(memory: &Memory) -> (Subscription, Arc<Mutex<Vec<String>>>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let by = Arc::clone(&told);
        let subscription = memory.observe(move |change| {
            let old =
                change.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
            by.lock().unwrap().push(format!("{} {}{old}", change.kind, change.path));
        });
        (subscription, told)
    }

    fn taken(told: &Mutex<Vec<String>>) -> Vec<String> {
        std::mem::take(&mut *told.lock().unwrap())
    }

    #[test]
    fn changes_are_told_whoever_makes_them_and_views_and_refusals_are_not() {
        let options = MemoryOptions { record_access: true, ..MemoryOptions::default() };
        let memory = Memory::open("memory:", options).unwrap();
        let (subscription, told) = observed(&memory);
        memory.create("/memories/a", "one\n").unwrap();
        memory.create("/memories/a", "one\n").unwrap_err();
        memory.str_replace("/memories/a", "one", "two").unwrap();
        memory.view("/memories/a", None).unwrap();
        memory.rename("/memories/a", "/memories/b").unwrap();
        let edit = r#"{"command":"insert","path":"/memories/b","insert_line":0,"insert_text":"x"}"#;
        assert!(!memory.execute(edit).is_error);
        memory.delete("/memories/b").unwrap();
        assert_eq!(
            taken(&told),
            [
                "written /memories/a",
                "written /memories/a",
                "renamed /memories/b from /memories/a",
                "written /memories/b",
                "deleted /memories/b",
            ]
        );
        memory.create("/memories/c", "").unwrap();
        let expired = memory.expire(Duration::ZERO, false, &mut |_| ControlFlow::Continue(()));
        assert_eq!(expired.unwrap().len(), 1);
        memory.clear().unwrap();
        assert_eq!(
            taken(&told),
            ["written /memories/c", "deleted /memories/c", "cleared /memories"]
        );
        drop(subscription);
        memory.create("/memories/d", "").unwrap();
        assert_eq!(taken(&told), [""; 0]);
    }

    #[cfg(unix)]
    #[test]
    fn another_memory_on_the_same_store_is_heard_and_one_on_another_store_is_not() {
        let place = tempfile::tempdir().unwrap();
        let open = |name: &str| {
            let address = place.path().join(name);
            Memory::open(address.to_str().unwrap(), MemoryOptions::default()).unwrap()
        };
        let (one, same, other) = (open("one"), open("one"), open("other"));
        let (_subscription, told) = observed(&one);
        same.create("/memories/a", "").unwrap();
        other.create("/memories/b", "").unwrap();
        let shared = Memory::with_store(Arc::clone(one.store()), MemoryOptions::default());
        shared.create("/memories/c", "").unwrap();
        assert_eq!(taken(&told), ["written /memories/a", "written /memories/c"]);
    }

    #[test]
    fn methods_of_your_own_code_are_told_like_commands() {
        let options = MemoryOptions { history: true, ..MemoryOptions::default() };
        let memory = Memory::open("memory:", options).unwrap();
        let (_subscription, told) = observed(&memory);
        memory.write("/memories/a", "one\n", None).unwrap();
        memory.write("/memories/a", "two\n", Some("other\n")).unwrap_err();
        memory.write("/memories/a", "two\n", Some("one\n")).unwrap();
        let project = crate::Project { about: "", features: &[], init: "" };
        assert_eq!(memory.bootstrap(&project).unwrap().len(), 3);
        assert!(memory.bootstrap(&project).unwrap().is_empty());
        assert_eq!(taken(&told).len(), 5);
        memory.rename("/memories/a", "/memories/b").unwrap();
        memory.delete("/memories/b").unwrap();
        let versions = memory.history(&crate::history::HistoryQuery::default()).unwrap();
        let mut dry_run = UndoOptions::default();
        dry_run.dry_run = true;
        memory.undo(versions[0].change, dry_run).unwrap();
        memory.undo(versions[0].change, UndoOptions::default()).unwrap();
        assert_eq!(
            taken(&told),
            ["renamed /memories/b from /memories/a", "deleted /memories/b", "written /memories/b"]
        );
    }

    /// Fails on the second conditional deletion of an unused file.
    struct FailsLater(InProcess, AtomicUsize);

    impl Layer for FailsLater {
        fn inner(&self) -> &dyn Store {
            &self.0
        }

        fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
            if matches!(mutation, Mutation::DeleteUnused { .. })
                && self.1.fetch_add(1, Ordering::SeqCst) > 0
            {
                return Err(StoreError::failed("deleting", "the disk is gone").unchanged());
            }
            self.0.mutate(context, mutation)
        }
    }

    #[test]
    fn what_an_expiry_removed_before_it_failed_is_told() {
        let options = MemoryOptions { record_access: true, ..MemoryOptions::default() };
        let store = Arc::new(FailsLater(InProcess::new(), AtomicUsize::new(0)));
        let memory = Memory::with_store(store, options);
        for name in ["a", "b", "c"] {
            memory.create(&format!("/memories/{name}"), "").unwrap();
        }
        let (_subscription, told) = observed(&memory);
        memory.expire(Duration::ZERO, false, &mut |_| ControlFlow::Continue(())).unwrap_err();
        let told = taken(&told);
        let [deleted] = &told[..] else { panic!("one change, got {told:?}") };
        assert!(memory.view(deleted.strip_prefix("deleted ").unwrap(), None).is_err());
    }

    #[test]
    fn a_listener_may_execute_commands() {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        let (inner, seen) = (memory.clone(), Arc::new(Mutex::new(Vec::new())));
        let by = Arc::clone(&seen);
        let _subscription = memory.observe(move |change| {
            by.lock().unwrap().push(inner.view(change.path.as_str(), None).unwrap());
        });
        memory.create("/memories/a", "one").unwrap();
        assert!(seen.lock().unwrap()[0].ends_with("     1\tone"));
    }
}
