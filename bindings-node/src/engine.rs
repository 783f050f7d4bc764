//! [`Engine`]: the core's [`Memory`] as a JavaScript class.

use std::sync::Arc;

use memdir::command::{Command, Decoded};
use memdir::store::{encrypt, encrypt_lazily};
use memdir::{Content, Error, Memory, Reply};
use napi::Env;
use napi::bindgen_prelude::{ClassInstance, Function, Object, Unknown};
use napi_derive::napi;

use crate::answer::Answer;
use crate::arguments::given;
use crate::call::PendingCall;
use crate::cancel::{Caller, Cancellation};
use crate::errors::Failure;
use crate::input::{decode, decode_as, decode_search};
use crate::js_embedder::{EmbedRequest, JsEmbedder};
use crate::js_store::JsStore;
use crate::native_store::NativeStore;
use crate::options::{self, flag, span};
use crate::progress::{go_on, progress_callback};
use crate::results::Shown;
use crate::store_request::StoreRequest;
use crate::thread_pool::{Purpose, Ready, Workers};

/// A memory directory. The package's class `Memory` is built on top of it.
#[napi]
pub struct Engine {
    memory: Memory,
    workers: Arc<Workers>,
}

#[napi]
impl Engine {
    /// Opens the store that `address` names.
    #[napi(factory)]
    pub fn open(
        env: Env,
        address: String,
        #[napi(ts_arg_type = "object | undefined")] options: Option<Unknown<'_>>,
    ) -> napi::Result<Self> {
        let opened =
            options::read(options).and_then(|options| Ok(Memory::open(&address, options)?));
        let memory = opened.map_err(|failure| failure.into_js(&env))?;
        Ok(Self { memory, workers: Workers::shared() })
    }

    /// Uses a store that is already open.
    #[napi(factory)]
    pub fn on_native_store(
        env: Env,
        store: ClassInstance<'_, NativeStore>,
        #[napi(ts_arg_type = "object | undefined")] options: Option<Unknown<'_>>,
    ) -> napi::Result<Self> {
        let opened = options::read(options).and_then(|options| {
            let store = encrypt(Arc::clone(store.core()), &options)?;
            Ok(Memory::with_store(store, options).validated()?)
        });
        let memory = opened.map_err(|failure| failure.into_js(&env))?;
        Ok(Self { memory, workers: Arc::clone(store.workers()) })
    }

    /// Uses a store that is written in JavaScript. `serve` is called with every request to it and
    /// must not throw. `members` are the optional members that the store has.
    #[napi(factory)]
    pub fn on_js_store(
        env: Env,
        serve: Function<'_, StoreRequest, Unknown<'static>>,
        members: Vec<String>,
        #[napi(ts_arg_type = "object | undefined")] options: Option<Unknown<'_>>,
    ) -> napi::Result<Self> {
        let opened = options::read(options).and_then(|options| {
            // The store must not be used here: its answers need the current thread.
            let store = encrypt_lazily(Arc::new(JsStore::new(&serve, &members)?), &options)?;
            Ok(Memory::with_store(store, options).validated()?)
        });
        let memory = opened.map_err(|failure| failure.into_js(&env))?;
        // A thread pool of its own: such a store may call another memory, whose pool would
        // otherwise be blocked by this wait.
        Ok(Self { memory, workers: Workers::own() })
    }

    /// The same memory with an embedder that is written in JavaScript. `serve` is called with every request to it and
    /// must not throw.
    #[napi]
    pub fn with_embedder(
        &self,
        env: Env,
        serve: Function<'_, EmbedRequest, Unknown<'static>>,
    ) -> napi::Result<Self> {
        let embedder = Arc::new(JsEmbedder::new(&serve)?);
        let memory = self.memory.clone().with_embedder(embedder);
        let memory = memory.map_err(|error| Failure::from(error).into_js(&env))?;
        // A thread pool of its own: the embedder may call another memory.
        Ok(Self { memory, workers: Workers::own() })
    }

    /// Executes one tool call, given as an object or as its JSON text.
    #[napi(
        ts_return_type = "Promise<{ content: string | { mediaType: 'image/png' | 'image/jpeg', bytes: Uint8Array }, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown }>"
    )]
    pub fn execute<'env>(
        &self,
        env: &'env Env,
        input: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.answer(env, decode(input)?, Caller::of(cancellation))
    }

    /// Executes the command `name`. The input's own `command` is ignored.
    #[napi(
        ts_return_type = "Promise<{ content: string | { mediaType: 'image/png' | 'image/jpeg', bytes: Uint8Array }, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown }>"
    )]
    pub fn execute_as<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        self.answer(env, decode_as(&name, input)?, Caller::of(cancellation))
    }

    /// Executes one call of the search, given as an object or as its JSON text.
    #[napi(
        ts_return_type = "Promise<{ content: string | { mediaType: 'image/png' | 'image/jpeg', bytes: Uint8Array }, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown }>"
    )]
    pub fn execute_search<'env>(
        &self,
        env: &'env Env,
        input: Unknown<'_>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let call = decode_search(input)?;
        let caller = Caller::of(cancellation);
        let memory = Caller::of_memory(caller.as_ref(), &self.memory);
        let work = move |ready: Ready| {
            Answer::from(match ready {
                Ok(()) => memory.execute_search(call),
                Err(error) => Reply::from(Err(Error::Store(error))),
            })
        };
        self.workers
            .answer(env, Purpose::View, caller, work, |env, answer| answer.into_object(&env))
    }

    /// The first half of `execute`, or of `executeAs` if there is a name.
    #[napi]
    pub fn begin(
        &self,
        input: Unknown<'_>,
        name: Option<String>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<PendingCall> {
        let decoded = match name {
            None => decode(input)?,
            Some(name) => decode_as(&name, input)?,
        };
        let (call, workers) = (self.memory.begin(decoded), Arc::clone(&self.workers));
        Ok(PendingCall::new(call, self.memory.clone(), workers, Caller::of(cancellation)))
    }

    /// Deletes everything below `/memories`.
    #[napi(
        ts_return_type = "Promise<{ content: string | { mediaType: 'image/png' | 'image/jpeg', bytes: Uint8Array }, isError: boolean, kind?: string, cause?: string, code?: string, thrown?: unknown }>"
    )]
    pub fn clear<'env>(
        &self,
        env: &'env Env,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let caller = Caller::of(cancellation);
        let memory = Caller::of_memory(caller.as_ref(), &self.memory);
        let work = move |ready: Ready| {
            let cleared = ready.map_err(Error::Store).and_then(|()| memory.clear());
            Answer::from(Reply::from(cleared.map(Content::Text)))
        };
        self.workers
            .answer(env, Purpose::Change, caller, work, |env, answer| answer.into_object(&env))
    }

    /// Removes the files that were not used for `olderThan` milliseconds. `progress` returns false
    /// to stop the removal.
    #[napi(
        ts_args_type = "olderThan: number, dryRun: boolean, progress?: ((progress: results.ExpiryProgress) => boolean) | undefined, cancellation?: Cancellation | undefined",
        ts_return_type = "Promise<Array<results.Expired>>"
    )]
    pub fn expire<'env>(
        &self,
        env: &'env Env,
        older_than: Unknown<'_>,
        dry_run: Unknown<'_>,
        progress: Option<Function<'_, Shown, bool>>,
        cancellation: Option<ClassInstance<'_, Cancellation>>,
    ) -> napi::Result<Object<'env>> {
        let older_than = given(env, "olderThan", older_than, span)?;
        let dry_run = given(env, "dryRun", dry_run, flag)?;
        let mut on_progress = progress_callback(progress)?;
        let caller = Caller::of(cancellation);
        let memory = Caller::of_memory(caller.as_ref(), &self.memory);
        let work = move || {
            let mut thrown = None;
            let expired = memory.expire(older_than, dry_run, &mut |progress| {
                go_on(&mut on_progress, Shown::of(progress), &mut thrown)
            });
            match thrown {
                Some(error) => Err(Failure::Thrown(error)),
                None => expired.map(Shown::of).map_err(Failure::from),
            }
        };
        self.workers.promise(env, Purpose::Change, caller, work, |env, expired| {
            expired.map_err(|failure| failure.into_js(&env))
        })
    }
}

impl Engine {
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The same engine with another memory on the same store.
    pub(crate) fn with_memory(&self, memory: Memory) -> Self {
        Self { memory, workers: Arc::clone(&self.workers) }
    }

    /// The thread pool of this memory, for objects that outlive a call.
    pub(crate) fn shared_workers(&self) -> Arc<Workers> {
        Arc::clone(&self.workers)
    }

    /// The thread pool of this memory.
    pub(crate) fn workers(&self) -> &Arc<Workers> {
        &self.workers
    }

    fn answer<'env>(
        &self,
        env: &'env Env,
        decoded: Decoded<'static>,
        caller: Option<Arc<Caller>>,
    ) -> napi::Result<Object<'env>> {
        let memory = Caller::of_memory(caller.as_ref(), &self.memory);
        let purpose = match &decoded.command {
            Ok(Command::View { .. }) | Err(_) => Purpose::View,
            Ok(_) => Purpose::Change,
        };
        let work = move |ready: Ready| {
            Answer::from(match ready {
                Ok(()) => memory.execute_decoded(decoded),
                Err(error) => memory.fail(decoded, error),
            })
        };
        self.workers.answer(env, purpose, caller, work, |env, answer| answer.into_object(&env))
    }
}
