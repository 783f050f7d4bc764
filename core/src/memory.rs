//! [`Memory`]: a store with options and hooks. Runs the steps of every command.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Error, HookError, SEARCH, SYNC};

use crate::asked_change::AskedChange;
use crate::call::Call;
use crate::changes::{self, Change, Subscription};
use crate::command::{Command, Decoded, ValidCommand, ViewRange};
#[cfg(feature = "search")]
use crate::embedder;
use crate::handlers;
use crate::history::{HistoryId, Recorder};
use crate::hook_call::HookCall;
use crate::hooks::{Event, HookDecision, Installed, MemoryHooks};
use crate::options::MemoryOptions;
use crate::pin::{Pin, Pinned};
use crate::policies::Policies;
use crate::policy::expiry::{self, Expired};
use crate::reply::{self, Content, Reply};
#[cfg(feature = "search")]
use crate::search::Searcher;
use crate::session::Session;
use crate::store::{
    Cancellation, Context, FileToDelete, InContext, Mutation, ReadOnly, Store, StoreError,
    open_store,
};
use crate::trace;
use crate::unit_of_work::UnitOfWork;

mod files;
mod history;
#[cfg(feature = "search")]
mod search;

/// The memory directory: executes the six commands of Claude's memory tool on a store.
///
/// A memory is cheap to clone, and threads can share it: the store keeps writers apart.
///
/// ```
/// use memdir::{Memory, MemoryOptions};
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?;
/// let reply = memory.execute(
///     r#"{"command": "create", "path": "/memories/notes.md", "file_text": "- likes tea\n"}"#,
/// );
/// assert_eq!(reply.content.as_text(), Some("File created successfully at: /memories/notes.md"));
/// assert!(!reply.is_error);
///
/// assert_eq!(
///     memory.view("/memories/notes.md", None)?,
///     "Here's the content of /memories/notes.md with line numbers:\n     1\t- likes tea",
/// );
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Clone)]
pub struct Memory {
    store: Arc<dyn Store>,
    without_recorder: Arc<dyn Store>,
    policies: Arc<Policies>,
    hooks: Option<Installed>,
    call_handler: Option<Arc<CallHandler>>,
    history: Option<Arc<Recorder>>,
    session: Session,
    cancellation: Cancellation,
    #[cfg(feature = "search")]
    searcher: Arc<Searcher>,
    #[cfg(feature = "search")]
    embedder: Option<embedder::Installed>,
}

/// Code of a binding that runs the hooks of a call itself. It must end the call with [`Memory::finish`] before it returns. The memory is
/// the one that acts. If it fails, so does the sync, with this error.
pub type CallHandler = dyn Fn(&Memory, Call<'static>) -> Result<(), HookError> + Send + Sync;

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the store: its address may hold a password.
        f.debug_struct("Memory").field("options", self.options()).finish_non_exhaustive()
    }
}

impl Memory {
    /// Opens the store that `address` names:
    ///
    /// - `./memory`, or any other path: a directory, which is created if it does not exist. The files are in
    ///   its `memories` directory, the layout that the SDKs' own tools use.
    /// - `dir:./notes`: a directory that contains the files directly.
    /// - `sqlite:agent.db`: an SQLite database (feature `sqlite`).
    /// - `postgres://…`: a PostgreSQL database (feature `postgres`).
    /// - `s3://…`, `gs://…`, `az://…`: object storage (feature `object-storage`).
    /// - `memory:`: a new store in this process.
    ///
    /// # Errors
    /// [`Error::Config`] if the address or an option is wrong, [`Error::Store`] if the store cannot be opened.
    pub fn open(address: &str, options: MemoryOptions) -> Result<Self, Error> {
        let store = open_store(address, &options)?;
        Self::new(store, options).validated()
    }

    /// Creates a memory on your own store, on several stores that are mounted into one tree
    /// ([`Mounts`](crate::store::Mounts)), or on a store that is shared with another memory.
    ///
    /// The options for opening a store (`durability`, `encryption_key`) have no effect on `store`. To encrypt a
    /// store, use [`encrypt`](crate::store::encrypt). Call [`validated`](Memory::validated) to check that the
    /// store supports the other options.
    #[must_use]
    pub fn with_store(store: Arc<dyn Store>, options: MemoryOptions) -> Self {
        Self::new(ReadOnly::where_asked(store, options.read_only), options)
    }

    fn new(store: Arc<dyn Store>, options: MemoryOptions) -> Self {
        let folding = Folding::new(store.info().folds_case);
        let options = options.for_store(&*store);
        let session = Session::new(options.actor.as_deref().map(Arc::from));
        let history = options.history.then(|| Self::new_history(&store, &options));
        let recorded = match &history {
            Some(recorder) => Arc::clone(recorder).into_store(),
            None => Arc::clone(&store),
        };
        Self {
            store: recorded,
            without_recorder: store,
            policies: Arc::new(Policies::new(options, folding)),
            hooks: None,
            call_handler: None,
            history,
            session,
            cancellation: Cancellation::never(),
            #[cfg(feature = "search")]
            searcher: Arc::default(),
            #[cfg(feature = "search")]
            embedder: None,
        }
    }

    /// Returns the same memory with your hooks before and after each command. They replace earlier hooks.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn MemoryHooks>) -> Self {
        Self { hooks: Some(Installed::new(hooks)), ..self }
    }

    /// Returns the same memory with a handler of the calls that memdir begins itself, for a binding that calls hooks itself. A
    /// [sync](crate::sync()) hands it each change of this memory. The hooks of [`with_hooks`](Memory::with_hooks) are not called then.
    #[must_use]
    pub fn with_call_handler(self, handler: Arc<CallHandler>) -> Self {
        Self { call_handler: Some(handler), ..self }
    }

    /// Checks that the store supports these options. [`open`](Memory::open) does this for you; call it after
    /// [`with_store`](Memory::with_store). A memory whose options are not supported executes commands, but
    /// records no accesses and removes nothing.
    ///
    /// # Errors
    /// [`Error::Config`] for an option that this store does not support, or that conflicts with another option.
    pub fn validated(self) -> Result<Self, Error> {
        self.policies.expiry.check(&*self.store)?;
        #[cfg(feature = "search")]
        crate::search::check_options(self.options())?;
        Ok(self)
    }

    /// Returns the store of this memory.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the store beneath the history.
    pub(crate) fn without_recorder(&self) -> &Arc<dyn Store> {
        &self.without_recorder
    }

    /// Returns the same memory with a cancellation: `cancellation` cancels its commands and all its other
    /// methods. If this memory already has a cancellation, both apply.
    ///
    /// [`Cancellation`] has an example.
    #[must_use]
    pub fn cancelled_by(&self, cancellation: &Cancellation) -> Self {
        Self { cancellation: self.cancellation.or(cancellation), ..self.clone() }
    }

    /// Returns a new session of the same memory, for a conversation of its own.
    ///
    /// Each session tracks what it has shown. With [`StaleGuard`](crate::policy::StaleGuard), a view in one
    /// session does not allow an edit in another. Everything else is shared: the store, the options, the hooks,
    /// the limits. A clone of a memory belongs to the same session.
    ///
    /// ```
    /// use memdir::policy::StaleGuard;
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.stale_guard = StaleGuard::Strict;
    /// let one = Memory::open("memory:", options)?;
    /// let other = one.session();
    /// one.create("/memories/tea.md", "green\n")?;
    /// let refused = other.str_replace("/memories/tea.md", "green", "black").unwrap_err();
    /// assert!(refused.to_string().contains("You have not viewed"), "{refused}");
    /// one.str_replace("/memories/tea.md", "green", "black")?;
    /// # Ok::<(), memdir::Error>(())
    /// ```
    #[must_use]
    pub fn session(&self) -> Self {
        let session = Session::new(self.session.actor.clone());
        Self { policies: Arc::new(self.policies.for_session()), session, ..self.clone() }
    }

    /// Returns the unique id of this session. Clones of a memory share it. [`session`](Memory::session) and
    /// [`acting_as`](Memory::acting_as) start a session with a new id. Hooks receive the id.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// assert_eq!(memory.clone().session_id(), memory.session_id());
    /// assert_ne!(memory.session().session_id(), memory.session_id());
    /// # Ok::<(), memdir::Error>(())
    /// ```
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.session.id
    }

    /// Returns the cancellation that applies to the calls of this memory.
    #[must_use]
    pub fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Returns the store for a call, and the policies.
    pub(crate) fn parts(&self) -> (InContext<'_>, &Policies) {
        (self.in_context(), &self.policies)
    }

    /// Returns the store for a call. Its methods return early if the call is cancelled.
    fn in_context(&self) -> InContext<'_> {
        InContext::new(&*self.store, &self.context())
    }

    /// Returns the options in effect.
    #[must_use]
    pub fn options(&self) -> &MemoryOptions {
        &self.policies.options
    }

    /// Executes one tool call, given as the JSON text of its `input`.
    ///
    /// Never fails: a model's mistake or a store's failure becomes a reply with `is_error`. For a failure, the
    /// reply's `cause` has the details for you.
    #[must_use]
    pub fn execute(&self, json: &str) -> Reply {
        self.execute_decoded(Decoded::parse(json))
    }

    /// Like [`execute`](Memory::execute), for parsed JSON.
    #[must_use]
    pub fn execute_value(&self, input: &serde_json::Value) -> Reply {
        self.execute_decoded(Decoded::of_json(input))
    }

    /// Like [`execute`](Memory::execute), for decoded input.
    #[must_use]
    pub fn execute_decoded(&self, decoded: Decoded<'_>) -> Reply {
        self.execute_with_hooks(decoded).into()
    }

    /// Like [`execute_decoded`](Memory::execute_decoded), but only if the reply needs no waiting: for a view
    /// that [`Store::open_nowait`] answers, or a refusal of the input. Use it on an event loop's thread, which
    /// must not block.
    ///
    /// The input is returned unexecuted if the memory has hooks, if a policy is slow or writes, if a subscriber
    /// wants the duration of each command, or if the calls are cancelled.
    ///
    /// ```
    /// use memdir::command::Decoded;
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// memory.create("/memories/tea.md", "green\n")?;
    /// let view = Decoded::parse(r#"{"command": "view", "path": "/memories/tea.md"}"#);
    /// assert!(memory.execute_nowait(view).is_ok());
    ///
    /// let delete = Decoded::parse(r#"{"command": "delete", "path": "/memories/tea.md"}"#);
    /// let for_a_thread = memory.execute_nowait(delete).unwrap_err();
    /// assert!(!memory.execute_decoded(for_a_thread).is_error);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the input if the call might block. Nothing was done.
    #[allow(clippy::result_large_err, reason = "the input goes back as it came")]
    pub fn execute_nowait<'a>(&self, decoded: Decoded<'a>) -> Result<Reply, Decoded<'a>> {
        if self.hooks.is_some() || trace::is_wanted() || self.cancellation.is_cancelled() {
            return Err(decoded);
        }
        let (store, policies) = (&*self.store, &*self.policies);
        let result = match decoded.command.as_ref().map(|command| command.borrowed().validated()) {
            Ok(Ok(command)) => match handlers::execute_nowait(store, policies, &command) {
                None => return Err(decoded),
                result => result,
            },
            // The call itself returns the refusal.
            Ok(Err(_)) | Err(_) => None,
        };
        let execute = |command: &ValidCommand<'a>, _: Option<&Pin>| {
            (result.unwrap_or_else(|| handlers::execute(&self.work(), command)), None)
        };
        let (result, _) = Call::begin(decoded, false).execute(policies, &self.session, execute);
        Ok(result.into())
    }

    /// Returns the reply for a call that cannot be executed because something outside the store failed, such as
    /// starting a thread. It is the same reply as for a failed store. Nothing is changed. The hook `before` is
    /// not called; the hook `after` is. If the input was refused, the reply is that refusal.
    #[must_use]
    pub fn fail(&self, decoded: Decoded<'_>, error: StoreError) -> Reply {
        let hooks = self.asked_hooks();
        let mut call = Call::begin(decoded, hooks.is_some());
        call.fail(error);
        self.execute_call(call, hooks).0.into()
    }

    /// Executes a command that your program built.
    ///
    /// # Errors
    /// [`Error::Refused`] with the exact reply for the model, [`Error::Store`] if the store failed,
    /// [`Error::Hook`] if a hook failed.
    pub fn run(&self, command: &Command<'_>) -> Result<Content, Error> {
        self.execute_with_hooks(command.borrowed().into())
    }

    /// Like [`run`](Memory::run), for decoded input. Use it in a front end whose values may have the wrong type
    /// for an argument: the caller gets the same sentence as a model.
    ///
    /// ```
    /// use memdir::command::Decoded;
    /// use memdir::{Error, Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let refused = memory.run_decoded(Decoded::parse(r#"{"command": "view", "path": 1}"#));
    /// assert!(matches!(refused, Err(Error::Refused(_))));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn run_decoded(&self, decoded: Decoded<'_>) -> Result<Content, Error> {
        self.execute_with_hooks(decoded)
    }

    /// Starts a call, for a binding that calls hooks itself. Call the hook `before` with [`Call::command`] and
    /// [`hook_call`](Memory::hook_call), then call [`finish`](Memory::finish). The hooks of
    /// [`with_hooks`](Memory::with_hooks) are not called.
    #[must_use]
    pub fn begin<'a>(&self, decoded: Decoded<'a>) -> Call<'a> {
        let mut call = Call::begin(decoded, true);
        call.check(&self.policies);
        call
    }

    /// Returns the [`HookCall`] for the hook `before` of a call from [`begin`](Memory::begin), or `None` if the
    /// call is already refused.
    ///
    /// ```
    /// use memdir::command::Decoded;
    /// use memdir::{HookDecision, Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let create = r#"{"command": "create", "path": "/memories/tea.md", "file_text": "green\n"}"#;
    /// let call = memory.begin(Decoded::parse(create));
    /// let known = memory.hook_call(&call).unwrap().into_owned();
    /// let diff = std::thread::spawn(move || known.diff()).join().unwrap()?;
    /// assert_eq!(diff, "--- /dev/null\n+++ /memories/tea.md\n@@ -0,0 +1 @@\n+green\n");
    ///
    /// // Another program is faster.
    /// memory.create("/memories/tea.md", "black\n")?;
    /// let (reply, _) = memory.finish(call, Ok(HookDecision::Allow));
    /// assert_eq!(reply.kind, Some(memdir::ErrorKind::Changed));
    /// # Ok::<(), memdir::Error>(())
    /// ```
    #[must_use]
    pub fn hook_call<'c>(&self, call: &'c Call<'_>) -> Option<HookCall<'c>> {
        let (command, tool_use_id, shown) = call.asked()?;
        Some(HookCall {
            command,
            tool_use_id,
            session: self.session.clone(),
            store: Arc::clone(&self.store),
            policies: Arc::clone(&self.policies),
            cancellation: self.cancellation.clone(),
            shown,
            instead: call.instead().cloned(),
        })
    }

    /// Finishes a call: executes the command if `before` allows it. If the call is
    /// [cancelled](Memory::cancelled_by), nothing is executed, whatever `before` decided. Call the hook `after`
    /// with the returned event.
    #[must_use]
    pub fn finish(
        &self,
        mut call: Call<'_>,
        before: Result<HookDecision, HookError>,
    ) -> (Reply, Option<Event>) {
        call.apply(before);
        let (result, event) = self.execute_call(call, None);
        (result.into(), event)
    }

    /// Starts and finishes a call, with the hooks of this memory.
    fn execute_with_hooks(&self, decoded: Decoded<'_>) -> Result<Content, Error> {
        let hooks = self.asked_hooks();
        self.finish_with_hooks(Call::begin(decoded, hooks.is_some()), hooks)
    }

    /// Returns whether hooks are asked about the changes of a sync.
    pub(crate) fn asks(&self) -> bool {
        self.call_handler.is_some() || self.asked_hooks().is_some()
    }

    /// Makes a change of a sync, if the hooks allow it. The change keeps its outcome, unless a hook fails.
    ///
    /// # Errors
    /// A hook failed.
    pub(crate) fn ask(&self, change: Arc<dyn AskedChange>) -> Result<(), HookError> {
        let mut call = Call::about(change);
        let Some(handler) = &self.call_handler else {
            return match self.finish_with_hooks(call, self.asked_hooks()) {
                Err(Error::Hook(error)) => Err(error),
                _ => Ok(()),
            };
        };
        call.check(&self.policies);
        handler(self, call)
    }

    fn finish_with_hooks(
        &self,
        mut call: Call<'_>,
        hooks: Option<&Installed>,
    ) -> Result<Content, Error> {
        if let Some(hooks) = hooks {
            call.check(&self.policies);
            let asked = call.command().zip(self.hook_call(&call));
            let decision = asked.map(|(command, hook_call)| {
                // Nothing is to be decided about a call that comes to nothing.
                self.cancellation.check()?;
                Ok(call.traced().within(|| hooks.before(&command, &hook_call)))
            });
            match decision {
                Some(Ok(decision)) => call.apply(decision),
                Some(Err(cancelled)) => call.fail(cancelled),
                None => {}
            }
        }
        self.execute_call(call, hooks).0
    }

    /// Returns the hooks, unless one of them issued this call.
    fn asked_hooks(&self) -> Option<&Installed> {
        self.hooks.as_ref().filter(|hooks| !hooks.are_running())
    }

    /// Executes the call after `before` has decided.
    fn execute_call(
        &self,
        mut call: Call<'_>,
        hooks: Option<&Installed>,
    ) -> (Result<Content, Error>, Option<Event>) {
        // The caller may have cancelled while the call waited for a thread or a hook. The hook may have failed
        // because of that.
        if let Err(cancelled) = self.cancellation.check() {
            call.fail(cancelled);
        }
        let (result, event) = call.execute(&self.policies, &self.session, |command, pin| {
            self.expire_first();
            // The expiry may have waited for the expiry of another call.
            if let Err(cancelled) = self.cancellation.check() {
                return (Err(Error::Store(cancelled)), None);
            }
            match pin {
                None => self.working(|work| handlers::execute(work, command)),
                Some(pin) => self.execute_pinned(command, pin),
            }
        });
        if let (Some(hooks), Some(event)) = (hooks, &event) {
            hooks.after(event);
        }
        (result, event)
    }

    /// Executes a command that may only change the state that was approved.
    fn execute_pinned(
        &self,
        command: &ValidCommand<'_>,
        pin: &Pin,
    ) -> (Result<Content, Error>, Option<HistoryId>) {
        let pinned = Pinned::new(&*self.store, pin);
        let work = UnitOfWork::through(&self.store, &pinned, &self.policies, self.context());
        let done = handlers::execute(&work, command);
        let change = work.finish();
        match done {
            Err(_) if pinned.is_broken() => {
                (Err(reply::changed_since_shown(command.path())), change)
            }
            done => (done, change),
        }
    }

    /// Shows a directory two levels deep, or the numbered lines of a file. `view_range` is the first and last
    /// line to show (1-based, inclusive; a last line of -1 is the end). `None` shows all.
    ///
    /// This method returns text only. [`run`](Memory::run) and [`execute`](Memory::execute) also show images.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run). An image is refused.
    pub fn view(&self, path: &str, view_range: Option<(i64, i64)>) -> Result<String, Error> {
        let view_range = view_range.map(|(first, last)| ViewRange::Lines(first, last));
        self.run(&Command::View { path: Cow::Borrowed(path), view_range })?.text_of_view(path)
    }

    /// Creates a file and its missing parent directories.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, Error> {
        let (path, file_text) = (Cow::Borrowed(path), Cow::Borrowed(file_text));
        self.run(&Command::Create { path, file_text }).map(Content::into_text)
    }

    /// Replaces the only occurrence of `old_str` in a file with `new_str`.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn str_replace(&self, path: &str, old_str: &str, new_str: &str) -> Result<String, Error> {
        let (path, old_str) = (Cow::Borrowed(path), Cow::Borrowed(old_str));
        self.run(&Command::StrReplace { path, old_str, new_str: Cow::Borrowed(new_str) })
            .map(Content::into_text)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line` of a file; 0 inserts at the start.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn insert(&self, path: &str, insert_line: i64, insert_text: &str) -> Result<String, Error> {
        let (path, insert_text) = (Cow::Borrowed(path), Cow::Borrowed(insert_text));
        self.run(&Command::Insert { path, insert_line, insert_text }).map(Content::into_text)
    }

    /// Deletes a file, or a directory with everything in it.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn delete(&self, path: &str) -> Result<String, Error> {
        self.run(&Command::Delete { path: Cow::Borrowed(path) }).map(Content::into_text)
    }

    /// Renames or moves a file or directory. Never overwrites.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn rename(&self, old_path: &str, new_path: &str) -> Result<String, Error> {
        let (old_path, new_path) = (Cow::Borrowed(old_path), Cow::Borrowed(new_path));
        self.run(&Command::Rename { old_path, new_path }).map(Content::into_text)
    }

    /// Deletes everything below `/memories`. A model cannot call this: it is not a command of the tool.
    ///
    /// Policies do not apply: files that match `read_only_paths` are deleted, too. Read-only mounted stores are
    /// not changed.
    ///
    /// With a history, all contents are kept, so this can be undone. [`erase`](Memory::erase) also removes the
    /// history.
    ///
    /// # Errors
    /// Same as [`run`](Memory::run).
    pub fn clear(&self) -> Result<String, Error> {
        let (cleared, _) = self.working(|work| work.mutate(Mutation::Clear));
        match cleared {
            Ok(_) => Ok(reply::cleared()),
            Err(error) => Err(reply::condition(&MemoryPath::root(), error)),
        }
    }

    /// Removes the files that have not been used for `older_than`. With `dry_run` it only returns them. A model
    /// cannot call this: it is not a command of the tool.
    ///
    /// A file is used when it is changed, and when it is viewed or renamed through a memory with
    /// [`MemoryOptions::record_access`]. The following stay: directories, files that match
    /// [`MemoryOptions::never_expire`], files that no command may delete ([`MemoryOptions::read_only_paths`],
    /// [`MemoryOptions::writable_paths`]), and files that are used, edited or replaced during the call.
    /// Contents are read only for the history.
    ///
    /// `progress` is called after every 1,000 files and at the end. It can stop the removal. Files that are
    /// already removed stay removed.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use std::time::{Duration, SystemTime};
    /// use memdir::{Memory, MemoryPath, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.record_access = true;
    /// options.never_expire = vec!["/memories/handbook".parse()?];
    /// let memory = Memory::open("memory:", options)?;
    /// memory.create("/memories/old.md", "Milk is out.\n")?;
    /// # let year_ago = SystemTime::now() - Duration::from_secs(365 * 24 * 60 * 60);
    /// # memory.store().set_modified(&MemoryPath::parse("/memories/old.md").unwrap(), year_ago).unwrap();
    /// // A year later:
    /// let month = Duration::from_secs(30 * 24 * 60 * 60);
    /// let expired = memory.expire(month, false, &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(expired[0].path.as_str(), "/memories/old.md");
    /// assert_eq!(expired[0].bytes, 13);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Config`] if the memory does not record accesses, its store does not keep them, or it is
    /// read-only. [`Error::Store`] if the store fails. Files that are already removed stay removed.
    pub fn expire(
        &self,
        older_than: Duration,
        dry_run: bool,
        progress: &mut expiry::OnProgress<'_>,
    ) -> Result<Vec<Expired>, Error> {
        let (expired, _) = self.working(|work| {
            let (expiry, patterns) = (&work.policies().expiry, &work.policies().patterns);
            let mut delete = |files: &[FileToDelete<'_>], since, visit: &mut dyn FnMut(bool)| {
                work.delete_unused_batch(files, since, visit)
            };
            let delete: Option<&mut expiry::Delete<'_>> =
                if dry_run { None } else { Some(&mut delete) };
            expiry.expire(work.store(), patterns, older_than, delete, progress)
        });
        if !dry_run {
            trace::expiry(&self.policies.sensitive, &expired);
        }
        expired
    }

    /// Calls `listener` with every change that a memory of this process makes on this store, until the
    /// subscription is dropped. That includes commands, [`clear`](Memory::clear) and
    /// [`expire`](Memory::expire). It also includes changes by other memories whose store is the same object or
    /// keeps its data in the same place.
    ///
    /// The listener runs on the thread that made the change, after the change and before the reply is returned.
    /// It may execute commands. If the store failed and the change may have been made, the change is reported,
    /// too: read the path to see the current state. Changes by other processes and direct writes to the store
    /// are not reported.
    ///
    /// ```
    /// use memdir::{ChangeKind, Memory, MemoryOptions};
    ///
    /// let memory = Memory::open("memory:", MemoryOptions::default())?;
    /// let subscription = memory.observe(|change| {
    ///     assert_eq!((change.kind, change.path.as_str()), (ChangeKind::Written, "/memories/a"));
    /// });
    /// memory.create("/memories/a", "one")?;
    /// drop(subscription);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    pub fn observe(&self, listener: impl Fn(&Change) + Send + Sync + 'static) -> Subscription {
        changes::observe(&self.store, listener)
    }

    /// Drops the texts that a search holds in memory.
    pub(crate) fn forget_searched(&self) {
        #[cfg(feature = "search")]
        self.searcher.clear();
    }

    /// Drops the texts that searches and syncs of any process have kept in the store.
    ///
    /// # Errors
    /// Failures of the store: texts may be left in it.
    pub(crate) fn forget_kept_texts(&self) -> Result<(), StoreError> {
        forget_kept_texts(&**self.without_recorder())
    }

    /// Applies `expire_after` before the first command. A failure is not reported here: if the store is broken,
    /// the command itself fails.
    fn expire_first(&self) {
        self.policies.expiry.before_first(&self.cancellation, |older_than| {
            let _ = self.expire(older_than, false, &mut |_| ControlFlow::Continue(()));
        });
    }
}

/// Removes the kept indexes of searches, and the texts of baselines of syncs, of a store and of the stores that are mounted in it. A process
/// that is about to keep one loses its claim, unless it makes its claim later. Then it finds the text no longer.
fn forget_kept_texts(store: &dyn Store) -> Result<(), StoreError> {
    if store.info().is_read_only {
        return Ok(());
    }
    if let Some(mounts) = store.mounts() {
        return mounts.stores().iter().try_for_each(|(_, store)| forget_kept_texts(&**store));
    }
    let own = |name| MemoryPath::root().join(name).map_err(|_| StoreError::NameTooLong);
    let (index, synced) = (own(SEARCH)?, own(SYNC)?);
    let mut kept = Vec::new();
    // A cancelled call must not leave texts behind, so this has no cancellation.
    match store.list(&index) {
        Err(StoreError::NotFound) => {}
        // There may be a file instead of the directory.
        Ok(_) | Err(StoreError::NotADirectory) => kept.push(index),
        Err(error) => return Err(in_the_way(error)),
    }
    match store.list(&synced) {
        Ok(entries) => {
            let paths = entries.into_iter().map(|entry| entry.path);
            kept.extend(paths.filter(|path| path.as_str().ends_with(SYNCED_TEXTS)));
        }
        Err(StoreError::NotFound | StoreError::NotADirectory) => {}
        Err(error) => return Err(error),
    }
    for path in &kept {
        match store.mutate(&Context::new(), Mutation::Delete { path }) {
            Ok(_) | Err(StoreError::NotFound) => {}
            Err(error) => return Err(in_the_way(error)),
        }
    }
    match store.notes().filter(|_| !kept.is_empty()) {
        // A database keeps deleted bytes in its file and in its log.
        Some(notes) => notes.scrub(),
        None => Ok(()),
    }
}

/// The end of the names of files with texts for syncs.
pub(crate) const SYNCED_TEXTS: &str = ".texts";

/// The error if kept texts cannot be removed, such as a link where their directory should be, which is never followed. Its own error would
/// name no path, and the caller did not ask for this one.
fn in_the_way(error: StoreError) -> StoreError {
    if error.is_failure() {
        return error;
    }
    StoreError::failed(format!("removing {SEARCH}, where searches keep their index"), error)
}
