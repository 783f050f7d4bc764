//! The values that JavaScript holds, by number. Numbers are never reused.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use memdir::{Call, Memory, SharedWatch, Store};

use crate::errors::Failure;

/// Values by their numbers.
pub(crate) struct Table<T: 'static>(&'static std::thread::LocalKey<RefCell<HashMap<u32, T>>>);

thread_local! {
    static NEXT: Cell<u32> = const { Cell::new(1) };
    static ENGINES: RefCell<HashMap<u32, Memory>> = RefCell::default();
    static STORES: RefCell<HashMap<u32, Arc<dyn Store>>> = RefCell::default();
    static WATCHED: RefCell<HashMap<u32, Arc<SharedWatch>>> = RefCell::default();
    static PENDING: RefCell<HashMap<u32, (Memory, Call<'static>)>> = RefCell::default();
}

/// The memories.
pub(crate) const MEMORIES: Table<Memory> = Table(&ENGINES);
/// The stores that JavaScript uses directly.
pub(crate) const OPENED: Table<Arc<dyn Store>> = Table(&STORES);
/// The watches that have begun.
pub(crate) const WATCHES: Table<Arc<SharedWatch>> = Table(&WATCHED);
/// The pending calls, each with its memory.
pub(crate) const CALLS: Table<(Memory, Call<'static>)> = Table(&PENDING);

impl<T> Table<T> {
    /// Keeps a value under a new number.
    pub(crate) fn add(&self, value: T) -> u32 {
        let number = NEXT.replace(NEXT.get() + 1);
        self.0.with_borrow_mut(|table| table.insert(number, value));
        number
    }

    /// Removes a value.
    pub(crate) fn take(&self, number: u32) -> Option<T> {
        self.0.with_borrow_mut(|table| table.remove(&number))
    }

    /// Calls `look` with a value.
    pub(crate) fn look<R>(&self, number: u32, look: impl FnOnce(&T) -> R) -> Result<R, Failure> {
        let found = self.0.with_borrow(|table| table.get(&number).map(look));
        found.ok_or_else(|| Failure::internal("a number that stands for nothing"))
    }
}

impl<T: Clone> Table<T> {
    /// The value with this number.
    pub(crate) fn get(&self, number: u32) -> Result<T, Failure> {
        self.look(number, T::clone)
    }
}
