//! The open memories, by their numbers.
//!
//! A number is not a pointer. Closing a memory twice, using it after it is closed, or closing it while
//! another thread uses it is an error and not undefined behaviour. Numbers are never reused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use memdir::{CallHandler, Memory, MemoryOptions, OnConflict, Store};

use crate::call::Call;
use crate::failure::Failure;

/// A memory with the cancellation of its calls.
#[derive(Clone)]
pub(crate) struct Opened {
    pub(crate) memory: Memory,
    /// The store as it was opened, without the layers of the memory.
    pub(crate) store: Arc<dyn Store>,
    /// True if its calls can be cancelled.
    pub(crate) cancellable: bool,
    /// Ends the conflicts of its syncs.
    pub(crate) on_conflict: OnConflict,
    /// Runs the hooks about the changes of a sync.
    pub(crate) call_handler: Option<Arc<CallHandler>>,
    number: u64,
}

impl Opened {
    /// Keeps a memory on a store that was opened with these options.
    pub(crate) fn open(store: Arc<dyn Store>, options: MemoryOptions) -> Result<u64, Failure> {
        let memory = Memory::with_store(Arc::clone(&store), options).validated()?;
        let on_conflict = OnConflict::default();
        let call_handler = None;
        let opened =
            |number| Self { memory, store, cancellable: false, on_conflict, call_handler, number };
        Ok(MEMORIES.add_with(opened))
    }

    /// Keeps a memory on the same store, under its own number.
    pub(crate) fn add(&self, memory: Memory, cancellable: bool) -> u64 {
        MEMORIES.add_with(|number| Self { memory, cancellable, number, ..self.clone() })
    }

    /// Keeps the same memory under its own number. Its syncs end conflicts in this way.
    pub(crate) fn add_with_on_conflict(self, on_conflict: OnConflict) -> u64 {
        MEMORIES.add_with(|number| Self { on_conflict, number, ..self })
    }

    /// Keeps the same memory under its own number. Its syncs run hooks in this way.
    pub(crate) fn add_with_call_handler(self, handler: Arc<CallHandler>) -> u64 {
        MEMORIES.add_with(|number| Self { call_handler: Some(handler), number, ..self })
    }

    /// The same number, with another session of the memory.
    pub(crate) fn acting(&self, memory: Memory) -> Self {
        Self { memory, ..self.clone() }
    }

    /// The memory for a sync.
    pub(crate) fn for_sync(&self) -> Memory {
        match &self.call_handler {
            Some(handler) => self.memory.clone().with_call_handler(Arc::clone(handler)),
            None => self.memory.clone(),
        }
    }

    /// Does the work of a call with this number.
    pub(crate) fn call<T>(&self, work: impl FnOnce(&Self) -> T) -> T {
        Call::during(self.number, &self.memory, || work(self))
    }
}

/// Values by their numbers.
pub(crate) struct Table<T>(LazyLock<RwLock<HashMap<u64, T>>>);

/// The memories.
pub(crate) static MEMORIES: Table<Opened> = Table::new();

/// The next number. 0 means no value.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl<T> Table<T> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    /// Keeps a value under a new number.
    pub(crate) fn add(&self, value: T) -> u64 {
        self.add_with(|_| value)
    }

    /// Keeps a value that has its own number as a field.
    fn add_with(&self, make: impl FnOnce(u64) -> T) -> u64 {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let value = make(number);
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(number, value);
        number
    }

    /// Calls `visit` with every value. The table is locked meanwhile.
    pub(crate) fn each(&self, visit: impl FnMut(&T)) {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().for_each(visit);
    }

    /// Removes a value. The caller drops it without the lock.
    pub(crate) fn take(&self, number: u64) -> Option<T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&number)
    }
}

impl<T> Table<T> {
    /// Calls `read` with the value of this number. The table is locked meanwhile.
    pub(crate) fn with<R>(&self, number: u64, read: impl FnOnce(&T) -> R) -> Option<R> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&number).map(read)
    }
}

impl<T: Clone> Table<T> {
    /// The value with this number.
    pub(crate) fn find(&self, number: u64) -> Option<T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
    }
}

impl Table<Opened> {
    /// The memory with this number.
    pub(crate) fn get(&self, number: u64) -> Result<Opened, Failure> {
        self.find(number).ok_or_else(|| {
            Failure::usage(match number {
                0 => "there is no memory 0: memdir_open failed".to_owned(),
                _ => format!("there is no memory {number}: it was closed, or never opened"),
            })
        })
    }
}
