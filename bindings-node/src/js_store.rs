//! `JsStore`: a store written in JavaScript, for the core.
//!
//! The core calls it from a thread of ours. The call becomes a [`StoreRequest`], which is passed to
//! a function on JavaScript's thread. The function may answer later, because the store's methods
//! may return promises. Until then our thread waits; no other one does.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use memdir::store::{Edit, Entry, Node, Splice, StoreInfo, listed_time, open_whole};
use memdir::{MemoryPath, OnExisting, Store, StoreError};
use napi::bindgen_prelude::{Either5, Function, Uint8Array, Unknown};
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi::{Error, Status};
use napi_derive::napi;

use crate::entry::{StoreEntry, from_millis, to_millis};
use crate::thread_pool::receive;

/// A function that gets a request. It is *weak*: a store that exists does not keep Node alive, but
/// the promise of a command in progress does.
type Serve = ThreadsafeFunction<StoreRequest, Unknown<'static>, StoreRequest, Status, false, true>;

/// A store written in JavaScript.
pub(crate) struct JsStore {
    serve: Serve,
    /// Whether the store has the method `open`.
    opens: bool,
    /// Whether it keeps times of access.
    tracks_access: bool,
    /// Whether it takes several spellings of a name for one.
    folds_case: bool,
}

/// The answer of JavaScript to the waiting thread.
enum Message {
    /// An `update` wants the edit of this content.
    Edit(Vec<u8>, Sender<Option<Vec<u8>>>),
    /// The request is done.
    Done(Result<Outcome, StoreError>),
}

/// What a method returned.
enum Outcome {
    Nothing,
    Content(Vec<u8>),
    Entries(Vec<Entry>),
    Time(SystemTime),
    Flag(bool),
    /// The store has no such method.
    Absent,
}

/// The arguments of a method, besides its path.
#[derive(Default)]
struct Arguments {
    destination: Option<String>,
    content: Option<Vec<u8>>,
    overwrite: bool,
    depth: u32,
    time: Option<SystemTime>,
}

/// One call of a store that is written in JavaScript.
#[napi]
pub struct StoreRequest {
    operation: &'static str,
    path: String,
    arguments: Mutex<Arguments>,
    answer: Sender<Message>,
}

#[napi]
impl StoreRequest {
    /// The method that is called.
    #[napi(getter)]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Its path; the source of a rename.
    #[napi(getter)]
    pub fn path(&self) -> String {
        self.path.clone()
    }

    /// The destination of a rename.
    #[napi(getter)]
    pub fn destination(&self) -> Option<String> {
        self.arguments().destination.clone()
    }

    /// Whether a write may replace an existing file.
    #[napi(getter)]
    pub fn overwrite(&self) -> bool {
        self.arguments().overwrite
    }

    /// How many levels of a directory are wanted.
    #[napi(getter)]
    pub fn depth(&self) -> u32 {
        self.arguments().depth
    }

    /// The time to set, in milliseconds since 1970.
    #[napi(getter)]
    pub fn time(&self) -> Option<f64> {
        self.arguments().time.map(to_millis)
    }

    /// The content to write. It is moved out: a second call returns nothing.
    #[napi]
    pub fn take_content(&self) -> Option<Uint8Array> {
        self.arguments().content.take().map(Uint8Array::from)
    }

    /// In an update: the new content for `content`, or null to leave the file as it is.
    #[napi]
    pub fn edit(&self, content: &[u8]) -> napi::Result<Option<Uint8Array>> {
        let (sender, receiver) = mpsc::channel();
        // The other thread only answers this, and needs no JavaScript for it, so the wait here is
        // as short as the edit itself.
        self.answer
            .send(Message::Edit(content.to_vec(), sender))
            .ok()
            .and_then(|()| receiver.recv().ok())
            .map(|edited| edited.map(Uint8Array::from))
            .ok_or_else(|| Error::from_reason("edit was called after the update had ended"))
    }

    /// Answers with the method's result.
    #[napi]
    pub fn succeed(&self, returned: Either5<Uint8Array, Vec<StoreEntry>, f64, bool, ()>) {
        self.done(match returned {
            Either5::A(content) => Ok(Outcome::Content(content.to_vec())),
            // An entry that no command could name is left out.
            Either5::B(entries) => Ok(Outcome::Entries(
                entries.into_iter().filter_map(StoreEntry::into_core).collect(),
            )),
            Either5::C(millis) => match from_millis(millis) {
                Some(time) => Ok(Outcome::Time(time)),
                None => Err(StoreError::failed(self.operation, format!("{millis} is no time"))),
            },
            Either5::D(flag) => Ok(Outcome::Flag(flag)),
            Either5::E(()) => Ok(Outcome::Nothing),
        });
    }

    /// Answers that the store has no such method.
    #[napi]
    pub fn absent(&self) {
        self.done(Ok(Outcome::Absent));
    }

    /// Answers with the method's error.
    #[napi]
    pub fn fail(&self, code: Option<String>, message: String) {
        let condition = code.as_deref().and_then(StoreError::from_errno_name);
        self.done(Err(condition.unwrap_or_else(|| {
            StoreError::failed(
                format!("{} of a store written in JavaScript", self.operation),
                message,
            )
        })));
    }

    fn done(&self, outcome: Result<Outcome, StoreError>) {
        // If it was already answered, nobody receives this.
        let _ = self.answer.send(Message::Done(outcome));
    }

    fn arguments(&self) -> MutexGuard<'_, Arguments> {
        self.arguments.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JsStore {
    /// `serve` is called with every request; `members` are those of the optional ones that the store
    /// has.
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

    /// Calls a method and waits for its result.
    fn ask(
        &self,
        operation: &'static str,
        path: &MemoryPath,
        arguments: Arguments,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        let (sender, receiver) = mpsc::channel();
        let thrown = sender.clone();
        let request = StoreRequest {
            operation,
            path: path.as_str().to_owned(),
            arguments: Mutex::new(arguments),
            answer: sender,
        };
        self.serve.call_with_return_value(
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
        self.wait(operation, &receiver, edit)
    }

    fn wait(
        &self,
        operation: &'static str,
        receiver: &Receiver<Message>,
        edit: &mut Edit<'_>,
    ) -> Result<Outcome, StoreError> {
        loop {
            match receive(receiver, || self.serve.aborted()) {
                Some(Message::Edit(content, answer)) => {
                    let edited = edit(&content).map(|splice| splice.apply(&content));
                    let _ = answer.send(edited);
                }
                Some(Message::Done(outcome)) => return outcome,
                None => return Err(StoreError::failed(operation, "the store did not answer")),
            }
        }
    }
}

/// The edit of a method that is not an update.
fn none(_: &[u8]) -> Option<Splice> {
    None
}

impl Store for JsStore {
    fn info(&self) -> StoreInfo {
        StoreInfo {
            folds_case: self.folds_case,
            tracks_access: self.tracks_access,
            ..StoreInfo::default()
        }
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
        if !self.opens {
            return open_whole(self, path, depth);
        }
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        match self.ask("open", path, Arguments { depth, ..Arguments::default() }, &mut none)? {
            Outcome::Content(content) => Ok(Node::file(content)),
            Outcome::Entries(entries) => Ok(Node::Directory(entries)),
            other => Err(other.unexpected("open", "a Uint8Array or an array of entries")),
        }
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

impl Outcome {
    fn unexpected(&self, operation: &'static str, expected: &str) -> StoreError {
        let came = match self {
            Outcome::Nothing => "nothing",
            Outcome::Content(_) => "a Uint8Array",
            Outcome::Entries(_) => "an array",
            Outcome::Time(_) => "a number",
            Outcome::Flag(_) => "a boolean",
            Outcome::Absent => "nothing, as there is no such method,",
        };
        StoreError::failed(operation, format!("it returned {came} and not {expected}"))
    }
}
