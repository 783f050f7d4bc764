//! `JsStore`: a store written in JavaScript, for the core.
//!
//! The core calls it from one of our threads. The call becomes a [`StoreRequest`], which is passed to a function on
//! JavaScript's thread. The function may answer later, because the store's methods may return promises. Only the calling
//! thread waits for the answer.
//!
//! A promise may never settle, so the wait ends when the call is cancelled. At that point we know whether the method was
//! called, and whether an update received a new content. If neither happened, nothing was changed; otherwise the result is
//! unknown. A later answer of the store is ignored.
//!
//! Some steps must run whether or not the call is cancelled, because the store was already asked for a change. Ending a
//! change of several steps midway would leave it half done. Such a step gets [`PATIENCE`] to finish.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use memdir::store::{
    Context, Edit, Entry, Mutation, Node, Splice, StoreInfo, listed_time, open_whole, walk_files,
};
use memdir::{Cancellation, MemoryPath, OnExisting, Store, StoreError};
use napi::Status;
use napi::bindgen_prelude::{Function, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use crate::cancel::Caller;
use crate::store_request::{Arguments, Message, Outcome, Progress, StoreRequest, asked};
use crate::thread_pool::{Received, receive_until};

/// The time limit for a step of a cancelled call, if ending it at once would leave a change half done.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// A request that waits for its answer.
struct Waiting<'w> {
    operation: &'static str,
    cancellation: &'w Cancellation,
    caller: Option<Arc<Caller>>,
    progress: Arc<AtomicU8>,
    /// True if an update received a new content.
    is_edited: bool,
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
        self.cancellation.check()?;
        let caller = Caller::current();
        // Steps that must run despite a cancellation get no number: otherwise the store would end them.
        let is_heard = self.cancellation.is_possible();
        let (sender, receiver) = mpsc::channel();
        let (thrown, cancelled) = (sender.clone(), sender.clone());
        let progress = Arc::new(AtomicU8::new(Progress::Sent as u8));
        let request = StoreRequest {
            operation,
            path: path.as_str().to_owned(),
            arguments: Mutex::new(arguments),
            caller: caller.as_ref().filter(|_| is_heard).map(|caller| caller.number),
            progress: Arc::clone(&progress),
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
        let cancellation = &self.cancellation;
        let of_wait = caller.clone();
        let waiting =
            Waiting { operation, cancellation, caller: of_wait, progress, is_edited: false };
        match caller {
            Some(caller) => {
                caller.tell(move || drop(cancelled.send(Message::Cancelled)));
                let answered = waiting.wait(&receiver, || serve.aborted(), edit);
                caller.forget();
                answered
            }
            None => {
                // Drops this sender, so the wait ends if the request is dropped without an answer.
                drop(cancelled);
                waiting.wait(&receiver, || serve.aborted(), edit)
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

impl Waiting<'_> {
    fn wait(
        mut self,
        receiver: &Receiver<Message>,
        gone: impl Fn() -> bool,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        let mut until = None;
        self.note_change();
        loop {
            match receive_until(receiver, until, &gone) {
                Received::Message(Message::Edit(content, answer)) => {
                    if self.is_over() && !self.is_edited {
                        return Err(self.give_up());
                    }
                    let edited = edit(&content).map(|splice| splice.apply(&content));
                    self.is_edited |= edited.is_some();
                    self.note_change();
                    let _ = answer.send(edited);
                }
                Received::Message(Message::Done(Err(error)))
                    if self.is_over() && matches!(error, StoreError::Failed { .. }) =>
                {
                    // The store may have failed because of the cancellation.
                    return Err(if self.may_have_changed() { error } else { self.give_up() });
                }
                Received::Message(Message::Done(outcome)) => return outcome,
                Received::Message(Message::Cancelled) if self.is_over() => {
                    return Err(self.give_up());
                }
                Received::Message(Message::Cancelled) => until = Some(Instant::now() + PATIENCE),
                Received::TimedOut => return Err(self.give_up()),
                Received::Gone => {
                    return Err(StoreError::failed(self.operation, "the store did not answer"));
                }
            }
        }
    }

    /// True if the call is cancelled and this step need not be completed.
    fn is_over(&self) -> bool {
        self.cancellation.is_cancelled()
            || self.caller.as_ref().is_some_and(|caller| caller.has_gone_before_a_change())
    }

    fn note_change(&self) {
        if self.may_have_changed()
            && let Some(caller) = &self.caller
        {
            caller.writes();
        }
    }

    /// True if the store may have changed something, or may still do so, if its method was called.
    fn may_have_changed(&self) -> bool {
        match self.operation {
            "read" | "list" | "open" | "modified" => false,
            "update" => self.is_edited,
            _ => true,
        }
    }

    /// Ends the wait. The error says whether nothing was changed, or whether that is unknown.
    fn give_up(&self) -> StoreError {
        let was = self.progress.swap(Progress::GivenUp as u8, Ordering::SeqCst);
        let may_have_changed = was != Progress::Sent as u8 && self.may_have_changed();
        if self.is_over() && !may_have_changed {
            return StoreError::Cancelled;
        }
        let unanswered = "the call was cancelled before the store had answered";
        let failed = StoreError::failed(asked(self.operation), unanswered);
        if may_have_changed { failed } else { failed.unchanged() }
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
