//! [`Memory`]: the six commands, with plain arguments and as JSON.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use memdir::command::{Decoded, SearchCall};
use memdir::store::open_place;
use memdir::value::Value;
use memdir::{Command, ConfigError, Content};
use memdir_bindings_shared::input::Arguments;

use crate::border::{MemdirDuration, MemdirText};
use crate::cancel::Cancellation;
use crate::changes::{self, ChangeListener, Subscription};
use crate::error::MemdirError;
use crate::expiry::{self, ExpiryWatch};
use crate::foreign_store::core_store;
use crate::hooks::{MemoryHooks, with_hooks};
use crate::options::MemoryOptions;
use crate::reply::Reply;
use crate::results::Expired;
use crate::store::Store;

/// The memory directory of an agent: executes the commands of Claude's memory tool on a store.
///
/// Several threads may use it concurrently. Calls read and write files, so do not make them on a user interface's
/// thread.
#[derive(uniffi::Object)]
pub struct Memory {
    pub(crate) core: memdir::Memory,
    /// The host's hooks, returned to the host if this library has created the memory.
    pub(crate) hooks: Option<Arc<dyn MemoryHooks>>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.core.fmt(f)
    }
}

#[uniffi::export]
impl Memory {
    /// Opens the store at the address `store`. A directory is created if it does not exist; the files are in its
    /// `memories` directory. `dir:./notes` uses the files of exactly that directory, `sqlite:agent.db` an SQLite
    /// database, and `memory:` a store in this process. Default: `./memory`. Null is rejected, because it usually comes
    /// from a missing setting.
    ///
    /// With `hooks`, your own code runs before and after each command.
    ///
    /// Throws `Config` if the address or an option is wrong, `Store` if the store cannot be opened.
    #[uniffi::constructor(default(store = None, hooks = None, options))]
    pub fn new(
        store: Option<MemdirText>,
        options: MemoryOptions,
        hooks: Option<Arc<dyn MemoryHooks>>,
    ) -> Result<Self, MemdirError> {
        let Some(store) = store else {
            let error = ConfigError::of_option("store");
            return Err(error.and(" must be an address such as \"./memory\"").got("null").into());
        };
        let store = store.option("store")?;
        let memory = memdir::Memory::open(&store, options.try_into()?)?;
        Ok(Self { core: with_hooks(memory, hooks.clone()), hooks })
    }

    /// A memory on your own store, or on a store that is shared with another memory. With `encryption_key` everything
    /// that the store keeps is encrypted.
    ///
    /// Throws `Config` if an option is wrong, `Store` if the store cannot be opened with its key.
    #[uniffi::constructor(default(hooks = None, options))]
    pub fn with_store(
        store: Arc<dyn Store>,
        options: MemoryOptions,
        hooks: Option<Arc<dyn MemoryHooks>>,
    ) -> Result<Self, MemdirError> {
        let options = memdir::MemoryOptions::try_from(options)?;
        let store = open_place(core_store(store), &options)?;
        let memory = memdir::Memory::with_store(store, options).validated()?;
        Ok(Self { core: with_hooks(memory, hooks.clone()), hooks })
    }

    /// The same memory, with calls that `cancellation` can cancel. If a cancelled call has not begun to write, it is
    /// not executed, and its reply says so. Cancellations of this memory apply to the new one, too.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "UniFFI hands objects over by value")]
    pub fn cancelled_by(&self, cancellation: Arc<Cancellation>) -> Self {
        self.of(self.core.cancelled_by(cancellation.core()))
    }

    /// Executes one tool call, given as the JSON text of its `input` or of a whole `tool_use` block.
    ///
    /// It never throws: a mistake by the model is returned as a reply with `is_error`. So is a cancelled call, and a
    /// failure of the store or a hook; the reply's `cause` then has the details for you.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "UniFFI hands custom types over by value")]
    pub fn execute(&self, json: MemdirText) -> Reply {
        self.answer(Decoded::parse(json.as_bytes())).into()
    }

    /// Like `execute`, but only for a call that cannot change anything. For any other call it returns null and does
    /// nothing. Use it to run views on their own threads, so they do not wait behind changes.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "UniFFI hands custom types over by value")]
    pub fn execute_view(&self, json: MemdirText) -> Option<Reply> {
        let decoded = Decoded::parse(json.as_bytes());
        match &decoded.command {
            Err(_) | Ok(Command::View { .. }) => Some(self.answer(decoded).into()),
            Ok(_) => None,
        }
    }

    /// Executes one call of the search by a model, a tool beside the memory tool that `search_tool_definition` declares. It
    /// is given as the JSON text of its `input` or of a whole `tool_use` block: `query`, and optionally `path` and `limit`
    /// (1 to 20 files, 5 by default).
    ///
    /// The reply has the paths of the best files, and their best passages with the line numbers that a view shows. It never
    /// throws, like `execute`. The hooks are not called.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "UniFFI hands custom types over by value")]
    pub fn execute_search(&self, json: MemdirText) -> Reply {
        self.core.execute_search(SearchCall::parse(json.as_bytes())).into()
    }

    /// Shows a directory two levels deep, or the numbered lines of a file. `view_range` is the first and last line to
    /// show (1-based, inclusive; a last line of -1 is the end); null shows all lines. An image is refused; use
    /// `execute` to show it.
    ///
    /// Throws `Refused` with the exact reply for the model, `Store` if the store is broken, `Hook` if the hook `before`
    /// failed.
    #[uniffi::method(default(view_range = None))]
    pub fn view(
        &self,
        path: MemdirText,
        view_range: Option<Vec<i64>>,
    ) -> Result<String, MemdirError> {
        let range = view_range.as_deref().map_or(Value::Null, lines);
        let content = self.run("view", &[("path", path.field()), ("view_range", range)])?;
        Ok(content.text_of_view(&path.shown())?)
    }

    /// Creates a new file and its missing parents.
    ///
    /// Throws as `view` does.
    pub fn create(&self, path: MemdirText, file_text: MemdirText) -> Result<String, MemdirError> {
        self.call("create", &[("path", path.field()), ("file_text", file_text.field())])
    }

    /// Replaces the only occurrence of `old_str` in a file with `new_str`. If `new_str` is empty or null, it deletes
    /// `old_str`.
    ///
    /// Throws as `view` does.
    #[uniffi::method(default(new_str = None))]
    pub fn str_replace(
        &self,
        path: MemdirText,
        old_str: MemdirText,
        new_str: Option<MemdirText>,
    ) -> Result<String, MemdirError> {
        let new = new_str.as_ref().map_or(Value::Null, MemdirText::field);
        let fields = [("path", path.field()), ("old_str", old_str.field()), ("new_str", new)];
        self.call("str_replace", &fields)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line` of a file; 0 is its start.
    ///
    /// Throws as `view` does.
    pub fn insert(
        &self,
        path: MemdirText,
        insert_line: i64,
        insert_text: MemdirText,
    ) -> Result<String, MemdirError> {
        let line = Value::Integer(insert_line);
        let fields =
            [("path", path.field()), ("insert_line", line), ("insert_text", insert_text.field())];
        self.call("insert", &fields)
    }

    /// Deletes a file, or a directory with everything in it.
    ///
    /// Throws as `view` does.
    pub fn delete(&self, path: MemdirText) -> Result<String, MemdirError> {
        self.call("delete", &[("path", path.field())])
    }

    /// Renames or moves a file or directory; never overwrites.
    ///
    /// Throws as `view` does.
    pub fn rename(
        &self,
        old_path: MemdirText,
        new_path: MemdirText,
    ) -> Result<String, MemdirError> {
        self.call("rename", &[("old_path", old_path.field()), ("new_path", new_path.field())])
    }

    /// Removes the files that were not used for `older_than`, and returns them, sorted by path. With `dry_run` it only
    /// returns them. The model cannot call this.
    ///
    /// A change counts as a use of the file. A view or a rename counts only through a memory with `record_access`.
    /// Directories, files that match `never_expire`, files that no command may delete, and files that are used during
    /// the call are kept. `watch` is called after every 1,000 files and at the end, and can stop the removal.
    ///
    /// Throws `Config` if accesses are not recorded, the store does not keep them, or it is read-only. Throws `Store`
    /// if the store is broken; files that are already removed stay removed.
    #[uniffi::method(default(dry_run = false, watch = None))]
    pub fn expire(
        &self,
        older_than: MemdirDuration,
        dry_run: bool,
        watch: Option<Arc<dyn ExpiryWatch>>,
    ) -> Result<Vec<Expired>, MemdirError> {
        let older_than = older_than.option("older_than")?;
        expiry::expire(&self.core, older_than, dry_run, watch)
    }

    /// Calls `listener` with every change that a memory of this process makes on this store: commands, `clear` and
    /// `expire`. This includes other memories on the same open store, or on the same directory or database.
    ///
    /// The listener is called until the subscription is cancelled or released. It does not receive changes by other
    /// processes, direct writes to the store, or changes by another memory on your own store.
    #[must_use]
    pub fn observe(&self, listener: Arc<dyn ChangeListener>) -> Subscription {
        changes::observe(&self.core, listener)
    }

    /// Deletes everything below `/memories`. The model cannot call this. With a history, all contents stay in the
    /// history; `erase` also removes the history.
    ///
    /// Throws `Store` if the store is broken.
    pub fn clear(&self) -> Result<(), MemdirError> {
        self.core.clear()?;
        Ok(())
    }
}

/// The field `view_range`.
pub(crate) fn lines(range: &[i64]) -> Value<'static> {
    Value::List(range.iter().copied().map(Value::Integer).collect())
}

impl Memory {
    /// A memory with another core and the same hooks.
    pub(crate) fn of(&self, core: memdir::Memory) -> Self {
        Self { core, hooks: self.hooks.clone() }
    }

    fn answer(&self, decoded: Decoded<'_>) -> memdir::Reply {
        self.core.execute_decoded(decoded)
    }

    /// A command with plain arguments.
    fn run(
        &self,
        name: &str,
        arguments: &[(&'static str, Value<'_>)],
    ) -> Result<Content, memdir::Error> {
        Arguments(arguments).execute(&self.core, name)
    }

    /// Runs a command that returns text.
    fn call(
        &self,
        name: &str,
        arguments: &[(&'static str, Value<'_>)],
    ) -> Result<String, MemdirError> {
        Ok(self.run(name, arguments)?.into_text())
    }
}
