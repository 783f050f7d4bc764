//! [`Mounts`]: several stores to mount into one tree, from JavaScript.

use std::mem;
use std::sync::Arc;

use memdir::store::{Mount, Place, open_mounts};
use memdir::{MemoryOptions, Store};
use napi::bindgen_prelude::{ClassInstance, Function, Unknown};
use napi_derive::napi;

use super::NativeStore;
use crate::errors::Failure;
use crate::js_store::JsStore;
use crate::store_request::StoreRequest;
use crate::thread_pool::Workers;

/// Several stores, each with its mount point.
#[napi]
pub struct Mounts {
    mounts: Vec<Mount>,
    workers: Arc<Workers>,
}

#[napi]
impl Mounts {
    /// An empty list of mounts.
    #[allow(clippy::new_without_default, reason = "it is JavaScript's constructor")]
    #[napi(constructor)]
    pub fn new() -> Self {
        Self { mounts: Vec::new(), workers: Workers::shared() }
    }

    /// Adds the store that `address` names.
    #[napi]
    pub fn add_address(&mut self, at: String, address: String, read_only: bool) {
        self.add(at, address, read_only);
    }

    /// Adds a store that is already open.
    #[napi]
    pub fn add_native_store(
        &mut self,
        at: String,
        store: ClassInstance<'_, NativeStore>,
        read_only: bool,
    ) {
        if !Arc::ptr_eq(store.workers(), &Workers::shared()) {
            self.workers = Workers::own();
        }
        self.add(at, Arc::clone(store.core()), read_only);
    }

    /// Adds a store that is written in JavaScript, as for `Engine.onJsStore`.
    #[napi]
    pub fn add_js_store(
        &mut self,
        at: String,
        serve: Function<'_, StoreRequest, Unknown<'static>>,
        members: Vec<String>,
        read_only: bool,
    ) -> napi::Result<()> {
        let store: Arc<dyn Store> = Arc::new(JsStore::new(&serve, &members)?);
        // A thread pool of its own: such a store may call another memory, whose pool would
        // otherwise be blocked by this wait.
        self.workers = Workers::own();
        self.add(at, store, read_only);
        Ok(())
    }
}

impl Mounts {
    fn add(&mut self, at: String, place: impl Into<Place>, read_only: bool) {
        let mount = Mount::new(at, place);
        self.mounts.push(if read_only { mount.read_only() } else { mount });
    }

    /// Opens the stores and removes them from this list. Returns the tree and its thread pool.
    pub(crate) fn open(
        &mut self,
        options: &MemoryOptions,
    ) -> Result<(Arc<dyn Store>, Arc<Workers>), Failure> {
        let mounts = open_mounts(mem::take(&mut self.mounts), options)?;
        Ok((Arc::new(mounts), Arc::clone(&self.workers)))
    }
}
