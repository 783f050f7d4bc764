//! [`Call`]: the state of one tool call, from the decoded input to the event for the hook `after`.
//!
//! It is a value, so a binding with asynchronous hooks (promises in JavaScript) can execute a call in two
//! steps, [`Memory::begin`](crate::Memory::begin) and [`Memory::finish`](crate::Memory::finish), and blocks no
//! thread in between.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, ErrorKind, HookError, Refused};

use crate::asked_change::AskedChange;
use crate::command::{Command, Decoded, Repair, ValidCommand, ViewRange};
use crate::history::HistoryId;
use crate::hook_call::{Basis, Shown};
use crate::hooks::{Event, HookDecision, Outcome};
use crate::pin::Pin;
use crate::policies::Policies;
use crate::policy::sensitive::redact_path;
use crate::reply::{self, Content};
use crate::session::Session;
use crate::store::StoreError;
use crate::text::count_lines;
use crate::trace::Traced;

/// One tool call whose command is decoded and validated, but not yet executed.
#[derive(Debug)]
pub struct Call<'a> {
    name: Option<&'static str>,
    repairs: Vec<Repair>,
    command: Result<ValidCommand<'a>, Error>,
    /// If the call ended before its execution, its outcome and the error.
    stopped: Option<(Outcome, Error)>,
    /// The text of the command as it will be stored, if it is redacted.
    stored_text: Option<String>,
    tool_use_id: Option<Cow<'a, str>>,
    /// The state that `before` was shown, if there are hooks.
    shown: Option<Arc<Shown>>,
    /// The state that the command may change, if `before` was shown one.
    pin: Option<Pin>,
    /// True if `before` replaced the model's text.
    has_other_text: bool,
    /// The change that is made instead of the command.
    instead: Option<Arc<dyn AskedChange>>,
    traced: Traced,
    /// Set if hooks or a subscriber need the duration.
    begun: Option<Instant>,
}

impl<'a> Call<'a> {
    /// Starts a call with the decoded command. `watched` is true if there are hooks.
    pub(crate) fn begin(decoded: Decoded<'a>, watched: bool) -> Self {
        let traced = Traced::begin(decoded.name);
        Self {
            name: decoded.name,
            repairs: decoded.repairs,
            begun: (watched || traced.is_wanted()).then(Instant::now),
            command: decoded.command.map_err(Error::Refused).and_then(Command::validated),
            stopped: None,
            stored_text: None,
            tool_use_id: decoded.tool_use_id,
            shown: watched.then(Arc::default),
            pin: None,
            has_other_text: false,
            instead: None,
            traced,
        }
    }

    /// Starts a call about a change that no command makes. It is not traced, because no model has called a tool.
    pub(crate) fn about(change: Arc<dyn AskedChange>) -> Call<'static> {
        let command = change.command().into_owned();
        Call {
            name: Some(command.name()),
            repairs: Vec::new(),
            command: command.validated(),
            stopped: None,
            stored_text: None,
            tool_use_id: None,
            shown: Some(Arc::default()),
            pin: None,
            has_other_text: false,
            instead: Some(change),
            traced: Traced::nothing(),
            begun: Some(Instant::now()),
        }
    }

    /// Returns the same call with owned texts, so it can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> Call<'static> {
        Call {
            name: self.name,
            repairs: self.repairs,
            command: self.command.map(ValidCommand::with_own_texts),
            stopped: self.stopped,
            stored_text: self.stored_text,
            tool_use_id: self.tool_use_id.map(|id| Cow::Owned(id.into_owned())),
            shown: self.shown,
            pin: self.pin,
            has_other_text: self.has_other_text,
            instead: self.instead,
            traced: self.traced,
            begun: self.begun,
        }
    }

    /// Returns the command for [`before`](crate::MemoryHooks::before), or `None` if the call is already
    /// refused.
    #[must_use]
    pub fn command(&self) -> Option<Command<'_>> {
        let mut command = self.asked_command()?.borrowed();
        if let (Some(text), Some(stored)) = (command.text_mut(), &self.stored_text) {
            *text = Cow::Borrowed(stored);
        }
        if let Command::View { view_range, .. } = &mut command {
            view_range.take_if(|range| !matches!(range, ViewRange::Lines(..)));
        }
        Some(command)
    }

    /// Returns the command with the model's own text, if the call is not refused yet.
    fn asked_command(&self) -> Option<&ValidCommand<'a>> {
        self.command.as_ref().ok().filter(|_| self.stopped.is_none())
    }

    /// Returns the command with the model's own text, the id of its block, and the state for `before`. `None`
    /// if `before` is not called.
    pub(crate) fn asked(&self) -> Option<(ValidCommand<'_>, Option<Cow<'_, str>>, Arc<Shown>)> {
        let shown = Arc::clone(self.shown.as_ref()?);
        let tool_use_id = self.tool_use_id.as_deref().map(Cow::Borrowed);
        Some((self.asked_command()?.lent(), tool_use_id, shown))
    }

    /// Returns the change that is made instead of the command, if there is one.
    pub(crate) fn instead(&self) -> Option<&Arc<dyn AskedChange>> {
        self.instead.as_ref()
    }

    /// Ends the call before its execution, because something outside the store failed, such as starting a
    /// thread. Its reply is that of a failed store. Nothing is changed. A call that is already refused stays
    /// refused; a decision of `before` no longer counts.
    pub fn fail(&mut self, error: StoreError) {
        let is_refused = matches!(self.stopped, Some((Outcome::Refused, _)));
        if self.command.is_ok() && !is_refused {
            let error = Error::Store(error.unchanged());
            self.stopped = Some((Outcome::of_error(&error), error));
        }
    }

    /// Refuses the call if a policy forbids its paths. This happens before the hooks, so no hook asks a person
    /// about a command that is refused anyway.
    pub(crate) fn check(&mut self, policies: &Policies) {
        let (Ok(command), None) = (&self.command, &self.stopped) else { return };
        if let Err(refusal) = policies.check_paths(command) {
            self.stopped = Some((Outcome::Refused, refusal));
            return;
        }
        // A text that a policy would refuse is not refused yet, because `before` may replace it.
        self.stored_text = policies.stored_text(command);
    }

    pub(crate) fn traced(&self) -> &Traced {
        &self.traced
    }

    /// Applies the decision of `before` to the command.
    pub(crate) fn apply(&mut self, decision: Result<HookDecision, HookError>) {
        let Ok(command) = &mut self.command else { return };
        if self.stopped.is_some() {
            return;
        }
        let Basis { refusal, pin } =
            self.shown.as_ref().map(|shown| shown.decide()).unwrap_or_default();
        self.pin = pin;
        let shown_text = self.stored_text.as_deref().or(command.text().map(|(_, text)| text));
        let decision = match decision {
            // The handler redacts the model's own text, and adds a note to the reply.
            Ok(HookDecision::Replace(new)) if shown_text == Some(&*new) => Ok(HookDecision::Allow),
            decision => decision,
        };
        let failed = |error| Some((Outcome::Failed, Error::Hook(error)));
        self.stopped = match decision {
            // A change that could not be shown was not approved.
            Ok(HookDecision::Allow) => {
                refusal.map(|refused| (Outcome::Refused, Error::Refused(refused)))
            }
            Ok(HookDecision::Replace(new)) => match command.text_mut() {
                Some(text) => {
                    self.has_other_text |= *text != new;
                    *text = Cow::Owned(new);
                    None
                }
                None => {
                    let name = command.name();
                    failed(format!("it returned a text for {name}, which writes no text").into())
                }
            },
            Ok(HookDecision::Deny(sentence)) => {
                let said = !sentence.trim().is_empty();
                let sentence = if said { sentence } else { reply::denied() };
                Some((Outcome::Denied, Error::Refused(Refused::new(ErrorKind::Denied, sentence))))
            }
            // The hook most likely returned the refusal of the diff.
            Err(error) => match refusal {
                Some(refused) => Some((Outcome::Refused, Error::Refused(refused))),
                None => failed(error),
            },
        };
    }

    /// Executes the command with `execute`, unless the call is already refused. `execute` also gets the state
    /// that the command may change. Returns the event as well, if there are hooks or a subscriber.
    pub(crate) fn execute(
        self,
        policies: &Policies,
        session: &Session,
        execute: impl FnOnce(
            &ValidCommand<'a>,
            Option<&Pin>,
        ) -> (Result<Content, Error>, Option<HistoryId>),
    ) -> (Result<Content, Error>, Option<Event>) {
        let Self {
            name, repairs, command, stopped, has_other_text, instead, traced, begun, ..
        } = self;
        let mut change = None;
        if let (Some(change), (Err(refusal), _) | (_, Some((_, refusal)))) =
            (&instead, (&command, &stopped))
        {
            change.refused(refusal);
        }
        let (command, outcome, result) = match (command, stopped) {
            (Err(refusal), _) => (None, Outcome::Refused, Err(refusal)),
            (Ok(command), Some((outcome, refusal))) => (Some(command), outcome, Err(refusal)),
            (Ok(command), None) => {
                let done;
                (done, change) = match instead.as_deref() {
                    Some(change) => made(&command, change, has_other_text),
                    None => traced.within(|| execute(&command, self.pin.as_ref())),
                };
                let result = match done {
                    Ok(Content::Text(said)) if has_other_text => {
                        Ok(Content::Text(said + reply::changed_by_hook()))
                    }
                    done => done,
                };
                let outcome = match &result {
                    Ok(_) => Outcome::Ok,
                    Err(error) => Outcome::of_error(error),
                };
                (Some(command), outcome, result)
            }
        };
        if begun.is_none() && !traced.is_wanted_for(outcome) {
            return (result, None);
        }
        let text = match (&result, &command) {
            (Ok(content), Some(command)) => match (command.text(), command) {
                (Some((_, written)), _) => written,
                (None, Command::View { .. }) => content.as_text().unwrap_or_default(),
                (None, _) => "",
            },
            _ => "",
        };
        let bytes = match &result {
            Ok(Content::Image { bytes, .. }) => bytes.len(),
            _ => text.len(),
        };
        let size = instead.as_deref().and_then(AskedChange::size);
        let (bytes, lines) = match size.filter(|_| outcome == Outcome::Ok && !has_other_text) {
            Some(size) => size,
            None => (bytes as u64, count_lines(text.as_bytes())),
        };
        let (path, new_path) = match command.map(ValidCommand::into_paths) {
            Some((path, new_path)) => (Some(path), new_path),
            None => (None, None),
        };
        let told =
            |path: Option<MemoryPath>| path.map(|path| redact_path(&policies.sensitive, path));
        let event = Event {
            command: name,
            path: told(path),
            new_path: told(new_path),
            outcome,
            bytes,
            lines,
            duration: begun.map(|begun| begun.elapsed()).unwrap_or_default(),
            repairs,
            change,
            content: if policies.options.event_content { reply::text_of(&result) } else { None },
            actor: session.actor.as_deref().map(str::to_owned),
            session: (*session.id).to_owned(),
            tool_use_id: self.tool_use_id.map(Cow::into_owned),
        };
        if instead.is_none() {
            traced.end(&event, result.as_ref().err(), &policies.sensitive);
        }
        (result, Some(event))
    }
}

/// Makes a change about which the hooks were asked.
fn made(
    command: &ValidCommand<'_>,
    change: &dyn AskedChange,
    has_other_text: bool,
) -> (Result<Content, Error>, Option<HistoryId>) {
    let text = command.text().map(|(_, text)| text).filter(|_| has_other_text);
    let (made, id) = change.make(text);
    (made.map(|()| Content::Text(String::new())), id)
}
