//! The policies of one memory, created from its options and applied in a fixed order.
//!
//! A command applies them in this order, and skips the steps that do not concern it:
//!
//! 1. **Write patterns**: if no command may change a path, the reply says only that, and nothing is read.
//! 2. **The stale-view guard**: all later refusals of an edit are about the current content, so the model must
//!    have seen it.
//! 3. The command itself: the line must exist, or the text to replace.
//! 4. **Sensitive text**: redaction changes the number of bytes to write, so it comes before the limits.
//! 5. **The limit of a file**: it needs only the text.
//! 6. **The limits of the whole tree**: they may need a walk through the tree, and they reserve the space that
//!    they grant. A reservation must be released if nothing is written. So no step that can refuse comes after
//!    them.
//!
//! A rename checks its new path for sensitive text first, because its write patterns may need a walk through
//! everything that moves.

use std::borrow::Cow;
use std::sync::Arc;

use memdir_store::Error;
use memdir_store::path::{Folding, MemoryPath};

use crate::command::{Command, ValidCommand};
use crate::options::MemoryOptions;
use crate::policy::expiry::{self, Expiry};
use crate::policy::limits::{self, Limits, Reservation, SizeChange, Unreserved};
use crate::policy::sensitive;
use crate::policy::stale_guard::ViewLog;
use crate::policy::write_patterns::WritePatterns;
use crate::reply;
use crate::store::{OnExisting, Store};
use crate::text::Splice;

/// The policies of one session of a memory, with their state between commands. Clones of a memory share them.
/// Sessions of a memory share everything except the log of views.
#[derive(Debug)]
pub(crate) struct Policies {
    pub(crate) options: Arc<MemoryOptions>,
    pub(crate) patterns: Arc<WritePatterns>,
    /// The content of each file that was last shown or written in this session.
    pub(crate) views: ViewLog,
    pub(crate) sensitive: Arc<sensitive::Settings>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) expiry: Arc<Expiry>,
}

/// The text that `create` may write.
pub(crate) struct NewFile<'p, 't> {
    pub(crate) text: Cow<'t, str>,
    /// A line to add to the reply.
    pub(crate) note: String,
    pub(crate) reservation: Reservation<'p>,
}

/// The reason why an edit changes nothing.
pub(crate) enum Stop {
    Refused(Error),
    Unreserved(Unreserved),
}

impl From<Error> for Stop {
    fn from(refusal: Error) -> Self {
        Self::Refused(refusal)
    }
}

impl Policies {
    /// Creates each policy from its options, for a store that compares paths in this way.
    pub(crate) fn new(options: MemoryOptions, folding: Folding) -> Self {
        let MemoryOptions { max_file_bytes, max_total_bytes, max_files, .. } = options;
        let patterns =
            WritePatterns::new(options.read_only_paths.clone(), options.writable_paths.clone());
        let sensitive = sensitive::Settings {
            mode: options.sensitive_text,
            rules: options.sensitive_rules.clone(),
            on_view: options.sensitive_on_view,
        };
        let expiry = expiry::Settings {
            expire_after: options.expire_after,
            record_access: options.record_access,
            read_only: options.read_only,
            never_expire: options.never_expire.clone(),
        };
        Self {
            patterns: Arc::new(patterns),
            views: ViewLog::new(options.stale_guard, folding),
            sensitive: Arc::new(sensitive),
            limits: Arc::new(Limits::new(max_file_bytes, max_total_bytes, max_files, folding)),
            expiry: Arc::new(Expiry::new(expiry)),
            options: Arc::new(options),
        }
    }

    /// Returns the policies of another session, with an empty log of views.
    pub(crate) fn for_session(&self) -> Self {
        Self {
            options: Arc::clone(&self.options),
            patterns: Arc::clone(&self.patterns),
            views: self.views.for_session(),
            sensitive: Arc::clone(&self.sensitive),
            limits: Arc::clone(&self.limits),
            expiry: Arc::clone(&self.expiry),
        }
    }

    /// Checks that a file with this text may be created, and returns the text to write. If the text is refused
    /// and `is_taken` says that the path is taken, the refusal is about the path, because another text would
    /// not help.
    pub(crate) fn check_create<'p, 't>(
        &'p self,
        store: &dyn Store,
        path: &MemoryPath,
        text: &'t str,
        existing: OnExisting,
        is_taken: impl FnOnce() -> bool,
    ) -> Result<NewFile<'p, 't>, Error> {
        self.patterns.check(path)?;
        sensitive::check_path(&self.sensitive, path)?;
        let checked = sensitive::check_content(&self.sensitive, path, text).and_then(|redacted| {
            let (text, note) = match redacted {
                Some(redacted) => (Cow::Owned(redacted.instead), redacted.note),
                None => (Cow::Borrowed(text), String::new()),
            };
            self.limits.check_file(path, None, text.len())?;
            Ok((text, note))
        });
        let (text, note) = match checked {
            Err(_) if is_taken() => return Err(reply::create_exists(path)),
            checked => checked?,
        };
        let (size, overwrites) = (text.len() as u64, existing == OnExisting::Overwrite);
        let reservation =
            limits::reserve_file(&self.limits, &self.patterns, store, path, size, overwrites)?;
        Ok(NewFile { text, note, reservation })
    }

    /// Checks that a file with this content may be written, which need not be text. `overwrites` is true if it may replace another.
    pub(crate) fn check_bytes<'p, 't>(
        &'p self,
        store: &dyn Store,
        path: &MemoryPath,
        content: &'t [u8],
        existing: OnExisting,
    ) -> Result<(Cow<'t, [u8]>, Reservation<'p>), Error> {
        if let Ok(text) = str::from_utf8(content) {
            let NewFile { text, reservation, .. } =
                self.check_create(store, path, text, existing, || false)?;
            let content = match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
            return Ok((content, reservation));
        }
        self.patterns.check(path)?;
        sensitive::check_path(&self.sensitive, path)?;
        self.limits.check_file(path, None, content.len())?;
        let (size, overwrites) = (content.len() as u64, existing == OnExisting::Overwrite);
        let reservation =
            limits::reserve_file(&self.limits, &self.patterns, store, path, size, overwrites)?;
        Ok((Cow::Borrowed(content), reservation))
    }

    /// Checks that a file may be moved.
    pub(crate) fn check_move(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), Error> {
        self.patterns.check(from)?;
        self.patterns.check(to)?;
        sensitive::check_path(&self.sensitive, to)
    }

    /// Returns the text of a command as it will be stored, if an option redacts it. Findings that only arise
    /// together with the text around an edit are not included.
    pub(crate) fn stored_text(&self, command: &ValidCommand<'_>) -> Option<String> {
        let (_, text) = command.text()?;
        match sensitive::stored(&self.sensitive, text) {
            Cow::Owned(redacted) => Some(redacted),
            Cow::Borrowed(_) => None,
        }
    }

    /// Returns whether `create` replaces an existing file.
    pub(crate) fn overwrites(&self) -> bool {
        self.options.on_existing == OnExisting::Overwrite
    }

    /// Checks that a command may edit the file, and returns an empty reservation for the edit.
    pub(crate) fn check_edit(&self, path: &MemoryPath) -> Result<Reservation<'_>, Error> {
        self.patterns.check(path)?;
        Ok(Reservation::new(&self.limits, &self.patterns))
    }

    /// Checks that an edit may change the file's content. `check_view` is the guard's rule for the command, and
    /// `change` computes the change. Returns the change to make, and a line to add to the reply.
    pub(crate) fn check_change(
        &self,
        reservation: &mut Reservation<'_>,
        path: &MemoryPath,
        content: &str,
        check_view: fn(&ViewLog, &MemoryPath, &[u8]) -> Result<(), Error>,
        change: impl FnOnce() -> Result<Splice, Error>,
    ) -> Result<(Splice, String), Stop> {
        check_view(&self.views, path, content.as_bytes())?;
        let splice = change()?;
        let (splice, note) = match sensitive::check_splice(&self.sensitive, path, content, &splice)?
        {
            Some(redacted) => (redacted.instead, redacted.note),
            None => (splice, String::new()),
        };
        let after = splice.len_after(content.len());
        self.limits.check_file(path, Some(content.len()), after)?;
        let change = SizeChange { before: Some(content.len() as u64), after: after as u64 };
        reservation.reserve(path, change, None).map_err(Stop::Unreserved)?;
        Ok((splice, note))
    }

    /// Checks the rules that depend only on paths, before a hook asks a person.
    pub(crate) fn check_paths(&self, command: &ValidCommand<'_>) -> Result<(), Error> {
        match command {
            Command::View { .. } => Ok(()),
            Command::Create { path, .. } => {
                self.patterns.check(path)?;
                sensitive::check_path(&self.sensitive, path)
            }
            Command::StrReplace { path, .. }
            | Command::Insert { path, .. }
            | Command::Delete { path } => self.patterns.check(path),
            Command::Rename { old_path, new_path } => {
                sensitive::check_path(&self.sensitive, new_path)?;
                self.patterns.check_ends(old_path, new_path)
            }
        }
    }

    /// Checks that `delete` may delete the path and everything below it.
    pub(crate) fn check_delete(&self, store: &dyn Store, path: &MemoryPath) -> Result<(), Error> {
        self.patterns.check_delete(store, path)
    }

    /// Checks that `rename` may move `from`, and everything below it, to `to`.
    pub(crate) fn check_rename(
        &self,
        store: &dyn Store,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), Error> {
        sensitive::check_path(&self.sensitive, to)?;
        self.patterns.check_rename(store, from, to)
    }
}
