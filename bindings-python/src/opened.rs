//! [`Opened`]: the resources that a `Memory` holds until it is closed.

use std::sync::{Arc, Mutex, PoisonError};

use memdir::Memory;
use memdir_bindings_shared::thread_pool::{Purpose, ThreadPool, ThreadPools};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pool::{self, Calls};
use crate::shutdown::released;

/// The core's memory, and the state that its asynchronous calls share.
pub(crate) struct Opened {
    core: Mutex<Option<Memory>>,
    /// A thread pool of its own, if its store may itself wait for the threads that all others share.
    own_threads: Option<Arc<ThreadPools>>,
    /// The threads of its searches, if it has an embedder: that may itself wait for any other call.
    search_threads: Option<Arc<ThreadPool>>,
    pub(crate) calls: Arc<Calls>,
}

impl Opened {
    pub(crate) fn new(core: Memory, has_python_store: bool, has_embedder: bool) -> Self {
        let own_threads = has_python_store.then(|| Arc::new(pool::threads()));
        let search_threads = has_embedder.then(|| Arc::new(pool::search_threads()));
        Self { core: Mutex::new(Some(core)), own_threads, search_threads, calls: Arc::default() }
    }

    /// The same for another memory on the same store, which is closed separately.
    pub(crate) fn beside(&self, core: Memory) -> Self {
        let (own_threads, search_threads) = (self.own_threads.clone(), self.search_threads.clone());
        Self { core: Mutex::new(Some(core)), own_threads, search_threads, calls: Arc::default() }
    }

    /// The memory.
    ///
    /// # Errors
    /// A `ValueError` if it is closed.
    pub(crate) fn get(&self) -> PyResult<Memory> {
        let core = self.core.lock().unwrap_or_else(PoisonError::into_inner).clone();
        core.ok_or_else(|| PyValueError::new_err("the memory is closed"))
    }

    /// Closes it. Running commands finish.
    pub(crate) fn close(&self, py: Python<'_>) {
        let closed = self.core.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Closing a store may take a while.
        released(py, || drop(closed));
    }

    pub(crate) fn threads(&self) -> &ThreadPools {
        self.own_threads.as_deref().unwrap_or_else(|| pool::shared())
    }

    pub(crate) fn search_threads(&self) -> &ThreadPool {
        self.search_threads.as_deref().unwrap_or_else(|| self.threads().of(Purpose::View))
    }
}
