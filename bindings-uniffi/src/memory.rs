//! [`Memory`]: the six commands, with plain arguments and as JSON.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use memdir::Command;
use memdir::command::ViewRange;

use crate::error::MemdirError;
use crate::expiry::{self, Expired, ExpiryWatch};
use crate::foreign_store::core_store;
use crate::hooks::{MemoryHooks, with_hooks};
use crate::options::MemoryOptions;
use crate::reply::Reply;
use crate::store::Store;

/// The memory directory of an agent: executes the commands of Claude's memory tool on a store.
///
/// May be used from many threads at once. Calls read and write files: keep them off a user
/// interface's thread.
#[derive(uniffi::Object, Debug)]
pub struct Memory(memdir::Memory);

#[uniffi::export]
impl Memory {
    /// Opens the store that `store` names: a directory such as `./memory`, which is made if it is
    /// not there (the files are in its `memories` directory), or `memory:` for one in this process.
    ///
    /// With `hooks`, your own code runs before and after each command.
    ///
    /// Throws `Config` if the address or an option is wrong, `Store` if the store cannot be opened.
    #[uniffi::constructor(default(store = "./memory", hooks = None, options))]
    pub fn new(
        store: &str,
        options: MemoryOptions,
        hooks: Option<Arc<dyn MemoryHooks>>,
    ) -> Result<Self, MemdirError> {
        Ok(Self(with_hooks(memdir::Memory::open(store, options.try_into()?)?, hooks)))
    }

    /// A memory on a store of your own, or on one that is shared with another memory.
    ///
    /// Throws `Config` if an option is wrong.
    #[uniffi::constructor(default(hooks = None, options))]
    pub fn with_store(
        store: Arc<dyn Store>,
        options: MemoryOptions,
        hooks: Option<Arc<dyn MemoryHooks>>,
    ) -> Result<Self, MemdirError> {
        let memory = memdir::Memory::with_store(core_store(store), options.try_into()?).judged()?;
        Ok(Self(with_hooks(memory, hooks)))
    }

    /// Executes one tool call, given as the JSON text of its `input`.
    ///
    /// What the model did wrong is an answer with `is_error` and nothing that is thrown; so is a
    /// broken store or hook, whose `cause` is for the developer.
    #[must_use]
    pub fn execute(&self, json: &str) -> Reply {
        self.0.execute(json).into()
    }

    /// Shows a directory two levels deep, or the numbered lines of a file: all of them, or
    /// `view_range` as first and last line (1-based, inclusive; a last line of -1 is the end).
    ///
    /// Throws `Tool` with the exact answer for the model, `Store` if the store is broken, `Hook` if the
    /// hook `before` is.
    #[uniffi::method(default(view_range = None))]
    pub fn view(&self, path: &str, view_range: Option<Vec<i64>>) -> Result<String, MemdirError> {
        let view_range = view_range.map(|range| match range.as_slice() {
            &[first, last] => ViewRange::Lines(first, last),
            other => ViewRange::Malformed(format!("{other:?}")),
        });
        // The option that shows images is not set: there is text, or an error.
        Ok(self.0.run(&Command::View { path: Cow::Borrowed(path), view_range })?.into_text())
    }

    /// Makes a new file, with its parents.
    ///
    /// Throws as `view` does.
    pub fn create(&self, path: &str, file_text: &str) -> Result<String, MemdirError> {
        Ok(self.0.create(path, file_text)?)
    }

    /// Replaces the only occurrence of `old_str` in a file by `new_str`; an empty one deletes it.
    ///
    /// Throws as `view` does.
    #[uniffi::method(default(new_str = ""))]
    pub fn str_replace(
        &self,
        path: &str,
        old_str: &str,
        new_str: &str,
    ) -> Result<String, MemdirError> {
        Ok(self.0.str_replace(path, old_str, new_str)?)
    }

    /// Inserts `insert_text` as whole lines after line `insert_line` of a file; 0 is its start.
    ///
    /// Throws as `view` does.
    pub fn insert(
        &self,
        path: &str,
        insert_line: i64,
        insert_text: &str,
    ) -> Result<String, MemdirError> {
        Ok(self.0.insert(path, insert_line, insert_text)?)
    }

    /// Deletes a file, or a directory and all that it holds.
    ///
    /// Throws as `view` does.
    pub fn delete(&self, path: &str) -> Result<String, MemdirError> {
        Ok(self.0.delete(path)?)
    }

    /// Renames or moves a file or directory; never overwrites.
    ///
    /// Throws as `view` does.
    pub fn rename(&self, old_path: &str, new_path: &str) -> Result<String, MemdirError> {
        Ok(self.0.rename(old_path, new_path)?)
    }

    /// Removes the files that nobody used for `older_than`, and says which, in the order of their paths.
    /// With `dry_run` nothing is removed. Not a command of the tool: for the developer.
    ///
    /// Used is a file that was changed, or shown by a view of that very file, through a memory with
    /// `record_access`. What fits one of the `pins` stays, and so do directories, and whatever is used
    /// meanwhile. `watch` is called now and then, and at the end, and can end it there.
    ///
    /// Throws `Config` if accesses are not recorded, the store does not keep them, or it is read-only;
    /// `Store` if the store is broken: what was removed by then is removed.
    #[uniffi::method(default(dry_run = false, watch = None))]
    pub fn expire(
        &self,
        older_than: Duration,
        dry_run: bool,
        watch: Option<Arc<dyn ExpiryWatch>>,
    ) -> Result<Vec<Expired>, MemdirError> {
        expiry::expire(&self.0, older_than, dry_run, watch)
    }

    /// Deletes everything below `/memories`. Not a command of the tool: for the developer.
    ///
    /// Throws `Store` if the store is broken.
    pub fn clear(&self) -> Result<(), MemdirError> {
        self.0.clear()?;
        Ok(())
    }
}
