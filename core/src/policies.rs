//! The policies of one memory: made of its options, and asked in one order.
//!
//! This is the order in which a command meets them. Each step leaves out what does not concern the command.
//!
//! 1. **Write patterns**: of a path that no command may change nothing else is said, and nothing is read.
//! 2. **The stale-view guard**: whoever has not seen what a file holds now learns that first, as every other
//!    refusal of an edit is about that content.
//! 3. The command itself: whether the line is there, or the text to be replaced.
//! 4. **Sensitive text**: what may be written decides how much is written.
//! 5. **The limit of a file**: it needs nothing but the text.
//! 6. **The limits of the whole tree**: they may cost a walk through it, and what they allow is reserved and has
//!    to be given back if nothing is written. So nothing that can refuse comes after them.
//!
//! A rename asks for sensitive text in its new path first: its write patterns may cost a walk through what is
//! moved.

use std::borrow::Cow;

use crate::error::Error;
use crate::options::MemoryOptions;
use crate::path::MemoryPath;
use crate::policy::expiry::{self, Expiry};
use crate::policy::limits::{self, Change, Limits, Reservation, Unreserved};
use crate::policy::sensitive;
use crate::policy::stale_guard::ViewLog;
use crate::policy::write_patterns::WritePatterns;
use crate::reply;
use crate::store::{OnExisting, Store};
use crate::text::Splice;

/// The policies of one memory, with what they remember from one command to the next. Clones of a memory
/// share them.
#[derive(Debug)]
pub(crate) struct Policies {
    pub(crate) options: MemoryOptions,
    patterns: WritePatterns,
    /// What was last shown or written of each file.
    pub(crate) views: ViewLog,
    pub(crate) sensitive: sensitive::Settings,
    pub(crate) limits: Limits,
    pub(crate) expiry: Expiry,
}

/// What `create` may write.
pub(crate) struct NewFile<'p, 't> {
    pub(crate) text: Cow<'t, str>,
    /// What the reply says beyond the usual.
    pub(crate) note: String,
    pub(crate) reservation: Reservation<'p>,
}

/// Why an edit does not change anything.
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
    /// Hands each policy what the options say about it.
    pub(crate) fn new(options: MemoryOptions) -> Self {
        let MemoryOptions { max_file_bytes, max_total_bytes, max_files, .. } = options;
        Self {
            patterns: WritePatterns::new(
                options.read_only_paths.clone(),
                options.writable_paths.clone(),
            ),
            views: ViewLog::new(options.stale_guard),
            sensitive: sensitive::Settings {
                mode: options.sensitive_text,
                rules: options.sensitive_rules.clone(),
                on_view: options.sensitive_on_view,
            },
            limits: Limits::new(max_file_bytes, max_total_bytes, max_files),
            expiry: Expiry::new(expiry::Settings {
                expire_after: options.expire_after,
                record_access: options.record_access,
                read_only: options.read_only,
                never_expire: options.never_expire.clone(),
            }),
            options,
        }
    }

    /// That `create` may write the text, or what of it may be written; `is_taken` says whether something is at
    /// the path already that stays, where another text would not help.
    pub(crate) fn check_create<'p, 't>(
        &'p self,
        store: &dyn Store,
        path: &MemoryPath,
        text: &'t str,
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
        let (size, overwrites) = (text.len() as u64, self.overwrites());
        let reservation =
            limits::reserve_file(&self.limits, &self.patterns, store, path, size, overwrites)?;
        Ok(NewFile { text, note, reservation })
    }

    /// Whether `create` takes the place of a file that is there already.
    pub(crate) fn overwrites(&self) -> bool {
        self.options.on_existing == OnExisting::Overwrite
    }

    /// That a command may edit the file at all, with a reservation for what it then takes.
    pub(crate) fn check_edit(&self, path: &MemoryPath) -> Result<Reservation<'_>, Error> {
        self.patterns.check(path)?;
        Ok(Reservation::new(&self.limits, &self.patterns))
    }

    /// That an edit may change the file's content; `check_view` is the guard's rule for the command, and
    /// `change` what the command asks for. What comes back is what may be changed, and what the reply says of
    /// it beyond the usual.
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
        let change = Change { before: Some(content.len() as u64), after: after as u64 };
        reservation.reserve(path, change).map_err(Stop::Unreserved)?;
        Ok((splice, note))
    }

    /// That `delete` may delete what is at the path, and all below it.
    pub(crate) fn check_delete(&self, store: &dyn Store, path: &MemoryPath) -> Result<(), Error> {
        self.patterns.check_delete(store, path)
    }

    /// That `rename` may move what is at `from`, and all below it, to `to`.
    pub(crate) fn check_rename(
        &self,
        store: &dyn Store,
        from: &MemoryPath,
        to: &MemoryPath,
    ) -> Result<(), Error> {
        sensitive::check_path(&self.sensitive, to)?;
        self.patterns.check_rename(store, from, to)
    }

    /// What expiry has to do with.
    pub(crate) fn beside_expiry(&self) -> expiry::Others<'_> {
        expiry::Others { patterns: &self.patterns, limits: &self.limits, views: &self.views }
    }
}
