//! `JsStore`: a store written in JavaScript, for the core.
//!
//! The core calls it from one of our threads. The call becomes a [`StoreRequest`], which is passed to a function on
//! JavaScript's thread. The function may answer later, because the store's methods may return promises. Only the calling
//! thread waits for the answer.
//!
//! A promise may never settle, so a [`Wait`] ends when the call is cancelled. A later answer of the store is ignored.

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use memdir::store::{
    Context, Edit, Entry, Mutation, Node, Splice, StoreInfo, listed_time, open_whole, walk_files,
};
use memdir::{Cancellation, MemoryPath, OnExisting, Store, StoreError};
use memdir_bindings_shared::own_store::{Progress, Wait};
use napi::Status;
use napi::bindgen_prelude::{Function, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use crate::cancel::Caller;
use crate::store_request::{Arguments, Message, Outcome, StoreRequest};
use crate::thread_pool::{Received, receive_until};

/// A function that receives requests. It is *weak*: an existing store does not keep Node alive, but the promise of a
/// running command does.
type Serve = ThreadsafeFunction<StoreRequest, Unknown<'static>, StoreRequest, Status, false, true>;

/// A store written in JavaScript.
pub(crate) struct JsStore {
    serve: Serve,
    /// True if the store has the method `open`.
    opens: bool,
    /// True if it keeps times of access.
    tracks_access: bool,
    /// True if it treats different spellings of a name as the same name.
    folds_case: bool,
}

impl JsStore {
    /// `serve` is called with every request. `members` are the optional members that the store has.
    pub(crate) fn new(
        serve: &Function<'_, StoreRequest, Unknown<'static>>,
        members: &[String],
    ) -> napi::Result<Self> {
        let serve = serve.build_threadsafe_function();
        let serve = serve.weak::<true>().callee_handled::<false>().build()?;
        let has = |name: &str| members.iter().any(|member| member == name);
        let tracks_access = has("recordAccess") && has("deleteUnused");
        Ok(Self { serve, opens: has("open"), tracks_access, folds_case: has("foldsCase") })
    }
}

/// The store as one call sees it.
struct InCall<'s> {
    store: &'s JsStore,
    cancellation: Cancellation,
}

impl InCall<'_> {
    /// Calls a method and waits for its result.
    fn ask(
        &self,
        operation: &'static str,
        path: &MemoryPath,
        arguments: Arguments,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        let caller = Caller::current();
        let call = caller.as_ref().map(|caller| Arc::clone(&caller.call));
        let progress = Arc::new(Progress::sent());
        let wait = Wait::begin(operation, &self.cancellation, call, Arc::clone(&progress))?;
        // Steps that must run despite a cancellation get no number: otherwise the store would end them.
        let is_heard = self.cancellation.is_possible();
        let (sender, receiver) = mpsc::channel();
        let (thrown, cancelled) = (sender.clone(), sender.clone());
        let request = StoreRequest {
            operation,
            path: path.as_str().to_owned(),
            arguments: Mutex::new(arguments),
            caller: caller.as_ref().filter(|_| is_heard).map(|caller| caller.number),
            progress,
            answer: sender,
        };
        let serve = &self.store.serve;
        serve.call_with_return_value(
            request,
            ThreadsafeFunctionCallMode::NonBlocking,
            move |returned, _| {
                if let Err(error) = returned {
                    let failed = StoreError::failed(operation, error.reason.clone());
                    let _ = thrown.send(Message::Done(Err(failed)));
                }
                Ok(())
            },
        );
        match caller {
            Some(caller) => {
                caller.tell(move || drop(cancelled.send(Message::Cancelled)));
                let answered = self.answer(wait, operation, &receiver, edit);
                caller.forget();
                answered
            }
            None => {
                // Drops this sender, so the wait ends if the request is dropped without an answer.
                drop(cancelled);
                self.answer(wait, operation, &receiver, edit)
            }
        }
    }

    fn answer(
        &self,
        mut wait: Wait<'_>,
        operation: &'static str,
        receiver: &Receiver<Message>,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        loop {
            match receive_until(receiver, wait.until(), || self.store.serve.aborted()) {
                Received::Message(Message::Edit(content, answer)) => {
                    let edit = || edit(&content).map(|splice| splice.apply(&content));
                    let _ = answer.send(wait.edit(edit)?);
                }
                Received::Message(Message::Done(outcome)) => return wait.answered(outcome),
                Received::Message(Message::Cancelled) => wait.cancelled()?,
                Received::TimedOut => return Err(wait.give_up()),
                Received::Gone => {
                    return Err(StoreError::failed(operation, "the store did not answer"));
                }
            }
        }
    }

    fn open_node(&self, path: &MemoryPath, depth: usize) -> Result<Node<'static>, StoreError> {
        if !self.store.opens {
            return open_whole(self, path, depth);
        }
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        match self.ask("open", path, Arguments { depth, ..Arguments::default() }, &mut none)? {
            Outcome::Content(content) => Ok(Node::file(content)),
            Outcome::Entries(entries) => Ok(Node::Directory(entries)),
            other => Err(other.unexpected("open", "a Uint8Array or an array of entries")),
        }
    }
}

/// The edit of a method that is not an update.
fn none(_: &[u8]) -> Option<Splice> {
    None
}

/// Each method ends when the call is cancelled. The default methods of [`Store`] build on these.
impl Store for InCall<'_> {
    fn info(&self) -> StoreInfo {
        self.store.info()
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        match self.ask("read", path, Arguments::default(), &mut none)? {
            Outcome::Content(content) => Ok(content),
            other => Err(other.unexpected("read", "a Uint8Array")),
        }
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        match self.ask("list", path, Arguments::default(), &mut none)? {
            Outcome::Entries(entries) => Ok(entries),
            other => Err(other.unexpected("list", "an array of entries")),
        }
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.open_node(path, depth)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        let arguments = Arguments {
            content: Some(content.to_vec()),
            overwrite: existing == OnExisting::Overwrite,
            ..Arguments::default()
        };
        self.ask("write", path, arguments, &mut none).map(drop)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.ask("update", path, Arguments::default(), edit).map(drop)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.ask("delete", path, Arguments::default(), &mut none).map(drop)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        let destination = Some(to.as_str().to_owned());
        let arguments = Arguments { destination, ..Arguments::default() };
        self.ask("rename", from, arguments, &mut none).map(drop)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        match self.ask("modified", path, Arguments::default(), &mut none)? {
            Outcome::Time(time) => Ok(Some(time)),
            Outcome::Nothing => Ok(None),
            Outcome::Absent => listed_time(self, path),
            other => Err(other.unexpected("modified", "a number or undefined")),
        }
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let arguments = Arguments { time: Some(time), ..Arguments::default() };
        match self.ask("setModified", path, arguments, &mut none)? {
            Outcome::Absent => self.modified(path).map(drop),
            _ => Ok(()),
        }
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        let arguments = Arguments { time: Some(time), ..Arguments::default() };
        match self.ask("recordAccess", path, arguments, &mut none)? {
            Outcome::Absent => self.modified(path).map(drop),
            _ => Ok(()),
        }
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        let arguments = Arguments { time: Some(since), ..Arguments::default() };
        match self.ask("deleteUnused", path, arguments, &mut none)? {
            Outcome::Flag(deleted) => Ok(deleted),
            Outcome::Absent => Ok(false),
            other => Err(other.unexpected("deleteUnused", "a boolean")),
        }
    }
}

impl JsStore {
    fn in_call(&self, context: &Context) -> InCall<'_> {
        InCall { store: self, cancellation: context.cancellation().clone() }
    }

    /// For callers that do not pass the call that they work for.
    fn alone(&self) -> InCall<'_> {
        InCall { store: self, cancellation: Cancellation::never() }
    }
}

impl Store for JsStore {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            folds_case: self.folds_case,
            tracks_access: self.tracks_access,
            ..StoreInfo::default()
        }
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.in_call(context).read(path)
    }

    fn list_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.in_call(context).list(path)
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.in_call(context).open_node(path, depth)
    }

    fn files_in(&self, context: &Context, visit: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        walk_files(&self.in_call(context), visit)
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        mutation.apply_to(&self.in_call(context))
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.alone().read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.alone().list(path)
    }

    fn open(&self, path: &MemoryPath, depth: usize) -> Result<Node<'_>, StoreError> {
        self.alone().open_node(path, depth)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.alone().write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.alone().update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.alone().delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.alone().rename(from, to)
    }

    fn modified(&self, path: &MemoryPath) -> Result<Option<SystemTime>, StoreError> {
        self.alone().modified(path)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.alone().set_modified(path, time)
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.alone().record_access(path, time)
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        self.alone().delete_unused(path, since)
    }
}
