//! [`NativeStore`]: a store of the core, for JavaScript code that uses it directly or wraps it.

use std::sync::{Arc, mpsc};

use memdir::store::{Splice, open_raw_store, rekey};
use memdir::{MemoryOptions, MemoryPath, OnExisting, Store, open_store};
use memdir_bindings_shared::arguments::wrong;
use napi::bindgen_prelude::{
    ClassInstance, Either, FromNapiValue, Function, JsValue, Object, ToNapiValue, Uint8Array,
    Unknown,
};
use napi::threadsafe_function::ThreadsafeFunctionCallMode;
use napi::{Env, Error, Status, ValueType};
use napi_derive::napi;

use crate::arguments::{given, named};
use crate::entry::StoreEntry;
use crate::errors::Failure;
use crate::js_store::JsStore;
use crate::options::{self, flag, string};
use crate::store_request::StoreRequest;
use crate::thread_pool::{Purpose, Workers, receive};
use crate::times::{millis, to_millis};

mod mounts;

use mounts::Mounts;

/// A store of the core. It has the methods of the package's `Store`.
#[napi]
pub struct NativeStore {
    store: Arc<dyn Store>,
    workers: Arc<Workers>,
}

#[napi]
impl NativeStore {
    /// Opens the store that `address` names.
    #[napi(constructor)]
    pub fn new(
        env: Env,
        address: String,
        #[napi(ts_arg_type = "object | undefined")] options: Option<Unknown<'_>>,
    ) -> napi::Result<Self> {
        let opened = options::read(options).and_then(|options| Ok(open_store(&address, &options)?));
        let store = opened.map_err(|failure| failure.into_js(&env))?;
        Ok(Self { store, workers: Workers::shared() })
    }

    /// Opens several stores and mounts them into one tree.
    #[napi(factory)]
    pub fn on_mounts(
        env: Env,
        mut mounts: ClassInstance<'_, Mounts>,
        #[napi(ts_arg_type = "object | undefined")] options: Option<Unknown<'_>>,
    ) -> napi::Result<Self> {
        let opened = options::read(options).and_then(|options| mounts.open(&options));
        let (store, workers) = opened.map_err(|failure| failure.into_js(&env))?;
        Ok(Self { store, workers })
    }

    /// A store that is written in JavaScript, as for `Engine.onJsStore`.
    #[napi(factory)]
    pub fn on_js_store(
        serve: Function<'_, StoreRequest, Unknown<'static>>,
        members: Vec<String>,
    ) -> napi::Result<Self> {
        Ok(Self { store: Arc::new(JsStore::new(&serve, &members)?), workers: Workers::own() })
    }

    /// Opens the store that `address` names without decrypting it.
    #[napi(factory)]
    pub fn beneath(env: Env, address: String) -> napi::Result<Self> {
        let store = open_raw_store(&address, &MemoryOptions::default())
            .map_err(|error| Failure::from(error).into_js(&env))?;
        Ok(Self { store, workers: Workers::shared() })
    }

    /// Changes the key of the encrypted store in this one. Returns the number of files that were
    /// encrypted.
    #[napi(ts_return_type = "Promise<number>")]
    pub fn rekey<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "Uint8Array | string")] old_key: Unknown<'_>,
        #[napi(ts_arg_type = "Uint8Array | string")] new_key: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let keys = options::key("oldKey", old_key)
            .and_then(|old| Ok((old, options::key("newKey", new_key)?)));
        let (old, new) = keys.map_err(|failure| failure.into_js(env))?;
        let store = Arc::clone(&self.store);
        Workers::shared().promise(
            env,
            Purpose::Change,
            None,
            move || rekey(&store, &old, &new),
            |env, result| match result {
                Ok(count) => Ok(i64::try_from(count).unwrap_or(i64::MAX)),
                Err(error) => Err(Failure::from(error).into_js(&env)),
            },
        )
    }

    /// The whole content of a file.
    #[napi(ts_return_type = "Promise<Uint8Array>")]
    pub fn read<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        self.promise(
            env,
            Purpose::View,
            path,
            |store, path| Ok(store.read(path)?),
            Uint8Array::from,
        )
    }

    /// The entries of a directory, one level deep.
    #[napi(ts_return_type = "Promise<Array<StoreEntry>>")]
    pub fn list<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let list = |store: &dyn Store, path: &MemoryPath| {
            Ok(store.list(path)?.into_iter().map(StoreEntry::from).collect::<Vec<_>>())
        };
        self.promise(env, Purpose::View, path, list, |entries| entries)
    }

    /// Writes a whole file, and makes missing parents.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn write<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
        #[napi(ts_arg_type = "Uint8Array")] content: Unknown<'_>,
        #[napi(ts_arg_type = "boolean")] overwrite: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let content = bytes(env, "content", &content)?;
        let existing = if given(env, "overwrite", overwrite, flag)? {
            OnExisting::Overwrite
        } else {
            OnExisting::Error
        };
        let write =
            move |store: &dyn Store, path: &MemoryPath| Ok(store.write(path, &content, existing)?);
        self.promise(env, Purpose::Change, path, write, |()| ())
    }

    /// Changes a file atomically.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn update<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
        #[napi(ts_arg_type = "(content: Uint8Array) => Uint8Array | null | undefined")]
        edit: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        if edit.get_type()? != ValueType::Function {
            let wrong = wrong("edit", " must be a function", named(&edit)?);
            return Err(Failure::from(wrong).into_js(env));
        }
        let edit = Function::<'_, Uint8Array, Option<Uint8Array>>::from_unknown(edit)?;
        // Weak, because the promise already keeps Node alive.
        let edit =
            edit.build_threadsafe_function().weak::<true>().callee_handled::<false>().build()?;
        let ask = move |old: &[u8]| {
            let (sender, receiver) = mpsc::channel();
            let answer = move |edited: napi::Result<Option<Uint8Array>>, _| {
                let _ = sender.send(edited.map(|edited| edited.map(|content| content.to_vec())));
                Ok(())
            };
            let content = Uint8Array::from(old.to_vec());
            edit.call_with_return_value(content, ThreadsafeFunctionCallMode::NonBlocking, answer);
            receive(&receiver, || edit.aborted())
                .unwrap_or_else(|| Err(Error::from_status(Status::Closing)))
        };
        let update = move |store: &dyn Store, path: &MemoryPath| {
            let mut thrown = None;
            store.update(path, &mut |old| match ask(old) {
                Ok(edited) => edited.map(|text| Splice { range: 0..old.len(), text }),
                Err(error) => {
                    thrown = Some(error);
                    None
                }
            })?;
            thrown.map_or(Ok(()), |error| Err(Failure::Thrown(error)))
        };
        self.promise(env, Purpose::Change, path, update, |()| ())
    }

    /// Deletes a file, or a directory with everything in it.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn delete<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        self.promise(env, Purpose::Change, path, |store, path| Ok(store.delete(path)?), |()| ())
    }

    /// Moves a file or directory, never overwriting.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn rename<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] from: Unknown<'_>,
        #[napi(ts_arg_type = "string")] to: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let to = given(env, "to", to, string)?;
        let rename =
            move |store: &dyn Store, from: &MemoryPath| Ok(store.rename(from, &parse(&to)?)?);
        self.promise(env, Purpose::Change, from, rename, |()| ())
    }

    /// When a file was last written, in milliseconds since 1970.
    #[napi(ts_return_type = "Promise<number | undefined>")]
    pub fn modified<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let modified = |store: &dyn Store, path: &MemoryPath| Ok(store.modified(path)?);
        // A missing time is undefined and not null, as in an entry.
        self.promise(env, Purpose::View, path, modified, |time| match time {
            Some(time) => Either::A(to_millis(time)),
            None => Either::B(()),
        })
    }

    /// Sets when a file was last written.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn set_modified<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
        #[napi(ts_arg_type = "number")] time: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let time = given(env, "time", time, millis)?;
        let set = move |store: &dyn Store, path: &MemoryPath| Ok(store.set_modified(path, time)?);
        self.promise(env, Purpose::Change, path, set, |()| ())
    }

    /// Records that a file was accessed at `time`.
    #[napi(ts_return_type = "Promise<void>")]
    pub fn record_access<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
        #[napi(ts_arg_type = "number")] time: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let time = given(env, "time", time, millis)?;
        let set = move |store: &dyn Store, path: &MemoryPath| Ok(store.record_access(path, time)?);
        self.promise(env, Purpose::Change, path, set, |()| ())
    }

    /// True if the store treats names that differ only in case, or in how letters are composed, as
    /// the same name.
    #[napi(getter)]
    pub fn folds_case(&self) -> bool {
        self.store.info().folds_case
    }

    /// Deletes a file if it was neither written nor accessed at `since` or later; returns whether
    /// it did.
    #[napi(ts_return_type = "Promise<boolean>")]
    pub fn delete_unused<'env>(
        &self,
        env: &'env Env,
        #[napi(ts_arg_type = "string")] path: Unknown<'_>,
        #[napi(ts_arg_type = "number")] since: Unknown<'_>,
    ) -> napi::Result<Object<'env>> {
        let since = given(env, "since", since, millis)?;
        let delete =
            move |store: &dyn Store, path: &MemoryPath| Ok(store.delete_unused(path, since)?);
        self.promise(env, Purpose::Change, path, delete, |deleted| deleted)
    }
}

impl NativeStore {
    pub(crate) fn core(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The thread pool of this store.
    pub(crate) fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }

    fn promise<'env, T, D>(
        &self,
        env: &'env Env,
        purpose: Purpose,
        path: Unknown<'_>,
        work: impl FnOnce(&dyn Store, &MemoryPath) -> Result<T, Failure> + Send + 'static,
        finish: impl FnOnce(T) -> D + Send + 'static,
    ) -> napi::Result<Object<'env>>
    where
        T: Send + 'static,
        D: ToNapiValue + 'static,
    {
        let path = given(env, "path", path, string)?;
        let store = Arc::clone(&self.store);
        self.workers.promise(
            env,
            purpose,
            None,
            move || work(&*store, &parse(&path)?),
            |env, result| result.map(finish).map_err(|failure: Failure| failure.into_js(&env)),
        )
    }
}

fn parse(path: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(path).map_err(|error| Failure::Thrown(Error::from_reason(error.to_string())))
}

/// The bytes of an argument.
fn bytes(env: &Env, name: &str, given: &Unknown<'_>) -> napi::Result<Vec<u8>> {
    // `from_unknown` rejects typed arrays of other numbers.
    let bytes = match given.is_typedarray()? {
        true => Uint8Array::from_unknown(*given).ok(),
        false => None,
    };
    match bytes {
        Some(bytes) => Ok(bytes.to_vec()),
        None => {
            Err(Failure::from(wrong(name, " must be a Uint8Array", named(given)?)).into_js(env))
        }
    }
}
