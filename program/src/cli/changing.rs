//! Shared by the commands that change a memory: its options, its history, and the actor.

use std::env;

use super::flags::ChangeFlags;
use super::history;
use super::history_arguments::By;
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::{Failure, say};
use memdir::policy::sensitive::SensitiveText;
use memdir::store::Store;
use memdir::{Memory, MemoryOptions};

/// If this variable is set, only errors and requested output are printed.
const QUIET: &str = "MEMDIR_QUIET";

/// The note of a command that changes a memory without policies.
pub(super) const NO_POLICIES: &str = "no policies are in force, because options are not stored with a memory: pass them as flags, which --help lists";

/// A memory that a command changes.
pub(super) struct Changing {
    pub(super) memory: Memory,
    pub(super) argument: StoreArgument,
}

/// Whether a missing store is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    Made,
    AnError,
}

impl Changing {
    pub(super) fn new(
        store: &str,
        missing: Missing,
        flags: &ChangeFlags,
        by: &By,
        output: &Output,
    ) -> Result<Self, Failure> {
        Self::with(store, missing, flags, by, output, |options| options)
    }

    /// As [`new`](Self::new), with options that the command itself sets.
    pub(super) fn with(
        store: &str,
        missing: Missing,
        flags: &ChangeFlags,
        by: &By,
        output: &Output,
        set: impl FnOnce(MemoryOptions) -> MemoryOptions,
    ) -> Result<Self, Failure> {
        let options = history::untrimmed(MemoryOptions::default());
        let argument = stores::only(store, set(flags.on(options)?))?;
        let store = match missing {
            Missing::Made => argument.open()?,
            Missing::AnError => argument.existing()?,
        };
        let options = argument.options().clone();
        let memory = history::with_history_if_any(store, &argument, options)?
            .validated()
            .map_err(|error| argument.error(&error))?
            .acting_as(&by.name);
        if !flags.have_policies() {
            note(output, NO_POLICIES);
        }
        Ok(Self { memory, argument })
    }

    /// Prints a note if sensitive text was redacted when the file was written.
    pub(super) fn tell_redaction(&self, path: &str, text: &str, output: &Output) {
        let redacts = self.memory.options().sensitive_text == SensitiveText::Redact;
        if redacts && self.memory.read(path).is_ok_and(|written| written != text) {
            note(output, &format!("sensitive text in {path} was redacted"));
        }
    }

    /// The store as the memory sees it, without the files of its history.
    pub(super) fn visible(&self) -> &dyn Store {
        &**self.memory.store()
    }
}

/// Prints an additional note, unless the user turned notes off.
pub(super) fn note(output: &Output, sentence: &str) {
    if !output.json && env::var_os(QUIET).is_none() {
        say(sentence);
    }
}
