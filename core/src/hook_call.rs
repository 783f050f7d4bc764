//! [`HookCall`]: the context that a hook gets with a command.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memdir_store::{Error, Refused};

use crate::asked_change::AskedChange;
use crate::command::ValidCommand;
use crate::pin::Pin;
use crate::policies::Policies;
use crate::preview::{Previewed, preview, preview_of};
use crate::session::Session;
use crate::store::{Cancellation, Context, Store};

/// The context of a call for the hook [`before`](crate::MemoryHooks::before), in addition to the command: the
/// actor, and the change that the command would make.
///
/// ```
/// use std::sync::Arc;
/// use memdir::{Command, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions};
///
/// struct Approval;
///
/// impl MemoryHooks for Approval {
///     fn before(&self, command: &Command<'_>, call: &HookCall<'_>) -> Result<HookDecision, HookError> {
///         if command.name() == "view" || call.actor() == Some("editor") {
///             return Ok(HookDecision::Allow);
///         }
///         // A program would ask a person here.
///         let diff = call.diff()?;
///         assert_eq!(diff, "--- /memories/tea.md\n+++ /memories/tea.md\n@@ -1 +1 @@\n-green\n+black\n");
///         Ok(HookDecision::Deny("Error: The user does not want this change.".into()))
///     }
/// }
///
/// let memory = Memory::open("memory:", MemoryOptions::default())?.with_hooks(Arc::new(Approval));
/// memory.acting_as("editor").create("/memories/tea.md", "green\n")?;
/// let error = memory.str_replace("/memories/tea.md", "green", "black").unwrap_err();
/// assert_eq!(error.to_string(), "Error: The user does not want this change.");
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Clone)]
pub struct HookCall<'a> {
    /// With the model's own text. The handler redacts it itself.
    pub(crate) command: ValidCommand<'a>,
    pub(crate) tool_use_id: Option<Cow<'a, str>>,
    pub(crate) session: Session,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) policies: Arc<Policies>,
    pub(crate) cancellation: Cancellation,
    pub(crate) shown: Arc<Shown>,
    /// The change that is made instead of the command.
    pub(crate) instead: Option<Arc<dyn AskedChange>>,
}

impl fmt::Debug for HookCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the store: its address may hold a password.
        f.debug_struct("HookCall")
            .field("session", &self.session)
            .field("tool_use_id", &self.tool_use_id)
            .finish_non_exhaustive()
    }
}

impl HookCall<'_> {
    /// Returns the actor: that of [`acting_as`](crate::Memory::acting_as), or of
    /// [`MemoryOptions::actor`](crate::MemoryOptions::actor).
    #[must_use]
    pub fn actor(&self) -> Option<&str> {
        self.session.actor.as_deref()
    }

    /// Returns the session of the memory: [`Memory::session_id`](crate::Memory::session_id).
    #[must_use]
    pub fn session(&self) -> &str {
        &self.session.id
    }

    /// Returns the `id` of the `tool_use` block, if the input was a whole block.
    #[must_use]
    pub fn tool_use_id(&self) -> Option<&str> {
        self.tool_use_id.as_deref()
    }

    /// Returns the change that the command would make, as a unified diff of the texts as they would be stored.
    /// Empty for a view, and for an edit that changes nothing.
    ///
    /// - A created or deleted file is compared with `/dev/null`.
    /// - A rename has two lines, `rename from …` and `rename to …`.
    /// - The deletion of a directory has a line for each file and directory, with the sizes of files.
    /// - A content that is not UTF-8 has one line that says so, with the sizes. A file that is too large to be
    ///   edited has one line with its size.
    ///
    /// An approval is only valid for this diff. If the state behind the diff has changed when the command is
    /// executed, nothing is changed, and the command is refused
    /// ([`ErrorKind::Changed`](crate::ErrorKind::Changed)). A file is compared within the change itself. A
    /// deleted directory is compared by its listing, just before the deletion, so a change between the two goes
    /// unnoticed. A rename does not depend on contents.
    ///
    /// The first call computes the diff, and later calls return the same one. The method can be called on any
    /// thread, and waits for the store. It changes nothing, and policies do not count it as a view or a change.
    /// The diff shows files as they are stored, including text that
    /// [`sensitive_on_view`](crate::MemoryOptions::sensitive_on_view) hides.
    ///
    /// # Errors
    /// [`Error::Refused`] if the command would be refused, with the model's reply. Return this error from
    /// `before` to refuse the command with the same reply; the command is also refused if `before` allows it.
    /// [`Error::Store`] if the store fails. [`Error::Hook`] if `before` has already returned without asking for
    /// a diff: a diff that was not shown in time was not approved.
    pub fn diff(&self) -> Result<String, Error> {
        self.shown.diff(|| {
            let context = Context::new().cancelled_by(&self.cancellation);
            match &self.instead {
                None => preview(&self.store, &self.policies, context, &self.command),
                Some(change) => {
                    preview_of(&self.store, &self.policies, context, |work| change.preview(work))
                }
            }
        })
    }

    /// Returns the same call, with a [`diff`](HookCall::diff) that `cancellation` also cancels.
    #[must_use]
    pub fn cancelled_by(&self, cancellation: &Cancellation) -> Self {
        Self { cancellation: self.cancellation.or(cancellation), ..self.clone() }
    }

    /// Returns the same call with owned texts, so it can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> HookCall<'static> {
        HookCall {
            command: self.command.with_own_texts(),
            tool_use_id: self.tool_use_id.map(|id| Cow::Owned(id.into_owned())),
            session: self.session,
            store: self.store,
            policies: self.policies,
            cancellation: self.cancellation,
            shown: self.shown,
            instead: self.instead,
        }
    }
}

/// The state of one call that its hook was shown.
#[derive(Debug, Default)]
pub(crate) struct Shown(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    diff: Option<Result<String, Refused>>,
    pin: Option<Pin>,
    /// True if the hook has returned.
    is_decided: bool,
}

/// The state that a decision was based on.
#[derive(Debug, Default)]
pub(crate) struct Basis {
    /// The refusal that was shown instead of the diff.
    pub(crate) refusal: Option<Refused>,
    pub(crate) pin: Option<Pin>,
}

impl Shown {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the diff, computed once. Concurrent callers wait for it, and so does the decision.
    fn diff(&self, compute: impl FnOnce() -> Previewed) -> Result<String, Error> {
        let mut state = self.state();
        if let Some(diff) = &state.diff {
            return diff.clone().map_err(Error::Refused);
        }
        if state.is_decided {
            return Err(Error::Hook("ask for the diff before the hook returns".into()));
        }
        let Previewed { diff, pin } = compute();
        state.diff = match &diff {
            Ok(diff) => Some(Ok(diff.clone())),
            Err(Error::Refused(refused)) => Some(Err(refused.clone())),
            // The next attempt may succeed.
            Err(_) => return diff,
        };
        state.pin = pin;
        diff
    }

    /// Marks the decision as made, and returns the state that it is based on.
    pub(crate) fn decide(&self) -> Basis {
        let mut state = self.state();
        state.is_decided = true;
        let refusal = state.diff.as_ref().and_then(|diff| diff.as_ref().err().cloned());
        Basis { refusal, pin: state.pin.take() }
    }
}
