//! [`Memory`]: a store and its options, and the way of a command through them.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use crate::call::Call;
use crate::cancel;
use crate::command::{Command, Decoded, ViewRange};
use crate::error::{Error, HookError};
use crate::handlers;
use crate::hooks::{Event, HookDecision, Hooks, Installed};
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policies::Policies;
use crate::policy::expiry::{self, Expired};
use crate::reply::{self, Content, Reply};
use crate::store::{ReadOnly, Store, StoreError, open_store};
use crate::trace;
use crate::value::Fields;

/// The memory directory: executes the six commands of Claude's memory tool on a store.
///
/// Cheap to clone, and to be shared between threads: the store excludes writers from each other.
///
/// ```
/// use memdir::{Memory, Options};
///
/// let memory = Memory::open("memory:", Options::default())?;
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
    policies: Arc<Policies>,
    hooks: Option<Installed>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the store: its address may hold a password.
        f.debug_struct("Memory").field("options", self.options()).finish_non_exhaustive()
    }
}

impl Memory {
    /// Opens the store that `address` names: a directory such as `./memory` (made if it is not
    /// there; the files are in its `memories` directory, as the SDKs' own tools keep them),
    /// `dir:./notes` for the files of that very directory, `sqlite:agent.db` for an SQLite database
    /// (feature `sqlite`), `postgres://…` for a PostgreSQL database (feature `postgres`), `s3://…`,
    /// `gs://…` or `az://…` for object storage (feature `object-storage`), or `memory:` for a new
    /// store in this process.
    ///
    /// # Errors
    /// [`Error::Config`] if the address is not known, [`Error::Store`] if it cannot be opened.
    pub fn open(address: &str, options: Options) -> Result<Self, Error> {
        let store = open_store(address, &options)?;
        Self::new(store, options).validated()
    }

    /// A memory on a store of your own, on several that are mounted into one tree
    /// ([`Mounts`](crate::store::Mounts)), or on one that is shared with another memory.
    ///
    /// The store is used as it is: what the options say about opening one (`durability`,
    /// `encryption_key`) is not looked at. [`encrypt`](crate::store::encrypt) encrypts it. Whether
    /// the store supports the others says [`validated`](Memory::validated).
    #[must_use]
    pub fn with_store(store: Arc<dyn Store>, options: Options) -> Self {
        Self::new(ReadOnly::where_asked(store, options.read_only), options)
    }

    fn new(store: Arc<dyn Store>, options: Options) -> Self {
        let options = options.for_store(&*store);
        Self { store, policies: Arc::new(Policies::new(options)), hooks: None }
    }

    /// The same memory with code of your own before and after each command, in the place of any that
    /// it had.
    #[must_use]
    pub fn with_hooks(self, hooks: Arc<dyn Hooks>) -> Self {
        Self { hooks: Some(Installed::new(hooks)), ..self }
    }

    /// Checks that the store supports these options. [`open`](Memory::open) does this for you; call it after
    /// [`with_store`](Memory::with_store). A memory whose options are not supported executes commands, but
    /// records no accesses and removes nothing.
    ///
    /// # Errors
    /// [`Error::Config`] for an option that cannot be had on this store, or together with another one.
    pub fn validated(self) -> Result<Self, Error> {
        self.policies.expiry.check(&*self.store)?;
        Ok(self)
    }

    /// The store beneath.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The options in force.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.policies.options
    }

    /// Executes one tool call, given as the JSON text of its `input`.
    ///
    /// Never fails: whatever the model did wrong is an answer with `is_error`, and so is a broken
    /// store (the reply's `cause` has the details for the developer).
    #[must_use]
    pub fn execute(&self, json: &str) -> Reply {
        match serde_json::from_str(json) {
            Ok(input) => self.execute_value(&input),
            Err(error) => {
                self.execute_decoded(Decoded::refused(reply::not_json(&error.to_string())))
            }
        }
    }

    /// As [`execute`](Memory::execute), for input that is parsed already.
    #[must_use]
    pub fn execute_value(&self, input: &serde_json::Value) -> Reply {
        self.execute_decoded(Decoded::of_json(input))
    }

    /// As [`execute`](Memory::execute), for the dict or object of a host language.
    #[must_use]
    pub fn execute_fields(&self, fields: &dyn Fields) -> Reply {
        self.execute_decoded(Decoded::of(fields))
    }

    /// As [`execute_fields`](Memory::execute_fields), for the command `name`, whatever the input's
    /// own `command` field says.
    #[must_use]
    pub fn execute_as(&self, name: &str, fields: &dyn Fields) -> Reply {
        self.execute_decoded(Decoded::named(name, fields))
    }

    /// As [`execute`](Memory::execute), for input that is decoded already.
    #[must_use]
    pub fn execute_decoded(&self, decoded: Decoded<'_>) -> Reply {
        self.execute_with_hooks(decoded).into()
    }

    /// The answer to a call that cannot be executed because of what broke around it: a thread that
    /// cannot be had, say. As if the store were broken; nothing is changed, and no hook is asked before.
    #[must_use]
    pub fn fail(&self, decoded: Decoded<'_>, error: StoreError) -> Reply {
        let hooks = self.asked_hooks();
        let mut call = Call::begin(decoded, hooks.is_some());
        call.fail(error);
        self.execute_call(call, hooks).0.into()
    }

    /// Executes a command that is not decoded from input.
    ///
    /// # Errors
    /// [`Error::Refused`] with the exact answer for the model, [`Error::Store`] if the store broke,
    /// [`Error::Hook`] if a hook did.
    pub fn run(&self, command: &Command<'_>) -> Result<Content, Error> {
        self.execute_with_hooks(command.borrowed().into())
    }

    /// The first half of a call, for whoever calls hooks otherwise than through
    /// [`with_hooks`](Memory::with_hooks), which this leaves out: what the hook `before` is to be
    /// called with is [`Call::command`].
    #[must_use]
    pub fn begin<'a>(&self, decoded: Decoded<'a>) -> Call<'a> {
        Call::begin(decoded, true)
    }

    /// The second half of a call: executes it as far as `before` lets it, and says what the hook
    /// `after` is to be called with.
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

    /// The whole way of a call.
    fn execute_with_hooks(&self, decoded: Decoded<'_>) -> Result<Content, Error> {
        let hooks = self.asked_hooks();
        let mut call = Call::begin(decoded, hooks.is_some());
        if let Some(hooks) = hooks {
            let decision =
                call.command().map(|command| call.traced().within(|| hooks.before(&command)));
            if let Some(decision) = decision {
                call.apply(decision);
            }
        }
        self.execute_call(call, hooks).0
    }

    /// The hooks, unless it is one of them that asks.
    fn asked_hooks(&self) -> Option<&Installed> {
        self.hooks.as_ref().filter(|hooks| !hooks.are_running())
    }

    /// The second half of a call's way, when `before` has spoken.
    fn execute_call(
        &self,
        call: Call<'_>,
        hooks: Option<&Installed>,
    ) -> (Result<Content, Error>, Option<Event>) {
        let (result, event) = call.execute(&self.policies, |command| {
            // Whoever called may have gone while a thread or a hook was waited for.
            cancel::check().map_err(Error::Store)?;
            self.expire_first();
            handlers::execute(&*self.store, &self.policies, command)
        });
        if let (Some(hooks), Some(event)) = (hooks, &event) {
            hooks.after(event);
        }
        (result, event)
    }

    /// Shows a directory two levels deep, or the numbered lines of a file: all of them, or
    /// `view_range` as first and last line (1-based, inclusive; a last line of -1 is the end).
    ///
    /// This is for text. [`run`](Memory::run) and [`execute`](Memory::execute) show images, too.
    ///
    /// # Errors
    /// As [`run`](Memory::run); and an image is refused.
    pub fn view(&self, path: &str, view_range: Option<(i64, i64)>) -> Result<String, Error> {
        let view_range = view_range.map(|(first, last)| ViewRange::Lines(first, last));
        match self.run(&Command::View { path: Cow::Borrowed(path), view_range })? {
            Content::Text(text) => Ok(text),
            Content::Image { .. } => Err(match MemoryPath::parse(path) {
                Ok(path) => reply::image(&path),
                Err(error) => reply::bad_path(path, error),
            }),
        }
    }

    /// Makes a new file, with its parents.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, Error> {
        let (path, file_text) = (Cow::Borrowed(path), Cow::Borrowed(file_text));
        self.run(&Command::Create { path, file_text }).map(Content::into_text)
    }

    /// Replaces the only occurrence of `old_str` in a file by `new_str`.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn str_replace(&self, path: &str, old_str: &str, new_str: &str) -> Result<String, Error> {
        let (path, old_str) = (Cow::Borrowed(path), Cow::Borrowed(old_str));
        self.run(&Command::StrReplace { path, old_str, new_str: Cow::Borrowed(new_str) })
            .map(Content::into_text)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line` of a file; 0 is its start.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn insert(&self, path: &str, insert_line: i64, insert_text: &str) -> Result<String, Error> {
        let (path, insert_text) = (Cow::Borrowed(path), Cow::Borrowed(insert_text));
        self.run(&Command::Insert { path, insert_line, insert_text }).map(Content::into_text)
    }

    /// Deletes a file, or a directory and all that it holds.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn delete(&self, path: &str) -> Result<String, Error> {
        self.run(&Command::Delete { path: Cow::Borrowed(path) }).map(Content::into_text)
    }

    /// Renames or moves a file or directory; never overwrites.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn rename(&self, old_path: &str, new_path: &str) -> Result<String, Error> {
        let (old_path, new_path) = (Cow::Borrowed(old_path), Cow::Borrowed(new_path));
        self.run(&Command::Rename { old_path, new_path }).map(Content::into_text)
    }

    /// Deletes everything below `/memories`. Not a command of the tool: for the developer.
    ///
    /// Of several mounted stores, those that are read-only are left as they are. No policy stands in
    /// the way: what `read_only_paths` keeps from the model goes, too.
    ///
    /// # Errors
    /// As [`run`](Memory::run).
    pub fn clear(&self) -> Result<String, Error> {
        let cleared = self.store.clear();
        self.policies.limits.shrunk();
        self.policies.views.forget(&MemoryPath::root());
        match cleared {
            Ok(()) => Ok(reply::cleared()),
            Err(error) => Err(reply::condition(&MemoryPath::root(), error)),
        }
    }

    /// Removes the files that nobody used for `older_than`: that were neither changed nor shown by a
    /// view of that very file, through a memory that records it ([`Options::record_access`]), and that
    /// do not match [`Options::never_expire`]. Not a command of the tool: for the developer. With `dry_run`
    /// nothing is removed. Directories stay, and so does what no command may delete
    /// ([`Options::read_only_paths`], [`Options::writable_paths`]).
    ///
    /// What is used, edited or replaced meanwhile stays. No content is read. `progress` is called now and
    /// then, and at the end, and can end it there: what was removed by then is removed.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use std::time::{Duration, SystemTime};
    /// use memdir::{Memory, MemoryPath, Options};
    ///
    /// let mut options = Options::default();
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
    /// read-only; [`Error::Store`] if the store broke: what was removed by then is removed.
    pub fn expire(
        &self,
        older_than: Duration,
        dry_run: bool,
        progress: &mut expiry::Watch<'_>,
    ) -> Result<Vec<Expired>, Error> {
        let (store, policies) = (&*self.store, &*self.policies);
        let others = policies.beside_expiry();
        let expired = policies.expiry.expire(store, others, older_than, dry_run, progress);
        if !dry_run {
            trace::expiry(&policies.sensitive, &expired);
        }
        expired
    }

    /// What `expire_after` asks for, before the first command. A store that broke says so to the
    /// command itself.
    fn expire_first(&self) {
        self.policies.expiry.before_first(|older_than| {
            let _ = self.expire(older_than, false, &mut |_| ControlFlow::Continue(()));
        });
    }
}
