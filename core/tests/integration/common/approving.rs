//! Hooks made from closures, and stores for the tests of hooks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use memdir::store::{Context, Edit, Entry, InProcess, Layer, Mutation};
use memdir::{
    Command, Event, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryPath, OnExisting,
    Store, StoreError,
};

type Before = dyn Fn(&Command<'_>, &HookCall<'_>) -> Result<HookDecision, HookError> + Send + Sync;

/// A hook made from a closure, and the calls that it received.
pub(crate) struct Approving {
    before: Box<Before>,
    pub(crate) asked: AtomicUsize,
    events: Mutex<Vec<Event>>,
}

impl Approving {
    pub(crate) fn new(
        before: impl Fn(&Command<'_>, &HookCall<'_>) -> Result<HookDecision, HookError>
        + Send
        + Sync
        + 'static,
    ) -> Arc<Self> {
        let before = Box::new(before);
        Arc::new(Self { before, asked: AtomicUsize::new(0), events: Mutex::default() })
    }

    pub(crate) fn of(self: &Arc<Self>, memory: &Memory) -> Memory {
        memory.clone().with_hooks(Arc::<Self>::clone(self))
    }

    pub(crate) fn last(&self) -> Event {
        self.events.lock().unwrap().last().cloned().unwrap()
    }

    pub(crate) fn times_asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl MemoryHooks for Approving {
    fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        (self.before)(command, call)
    }

    fn after(&self, event: &Event) {
        self.events.lock().unwrap().push(event.clone());
    }
}

/// A store with only the six required methods. Of a file it reports only the size.
#[derive(Default)]
pub(crate) struct SixMethods(InProcess);

impl Store for SixMethods {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.0.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        let listed = self.0.list(path)?.into_iter();
        let bare = |entry: Entry| Entry::directory(entry.path).of_kind(entry.kind);
        Ok(listed.map(bare).collect())
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.0.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.0.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.0.delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.0.rename(from, to)
    }
}

/// A store that counts the changes made through it.
pub(crate) struct Counting(pub(crate) Arc<dyn Store>, pub(crate) AtomicUsize);

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.mutate(context, mutation)
    }
}
