//! [`Call`]: one tool call on its way, from what was decoded to what is told of it.
//!
//! A value of its own, so that a language whose hooks take their time (JavaScript's return promises)
//! can go the way in two steps and block no thread in between: [`Memory::begin`](crate::Memory::begin)
//! and [`Memory::finish`](crate::Memory::finish).

use std::borrow::Cow;
use std::time::Instant;

use crate::command::{Command, Decoded, Repair, ViewRange};
use crate::error::Error;
use crate::error::HookError;
use crate::hooks::{Event, Outcome, Verdict};
use crate::path::MemoryPath;
use crate::policies::Policies;
use crate::policy::sensitive::redact_path;
use crate::reply::{self, Content};
use crate::store::StoreError;
use crate::text::count_lines;
use crate::trace::Traced;

/// One tool call whose command is decoded, its paths judged, and not carried out yet.
#[derive(Debug)]
pub struct Call<'a> {
    name: Option<&'static str>,
    repairs: Vec<Repair>,
    judged: Result<Judged<'a>, Error>,
    /// Why a hook does not let it be carried out, and how that ends it.
    stopped: Option<(Outcome, Error)>,
    traced: Traced,
    /// Set if somebody wants to know.
    begun: Option<Instant>,
}

/// A command whose paths are judged.
#[derive(Debug)]
pub(crate) struct Judged<'a> {
    pub(crate) command: Command<'a>,
    pub(crate) path: MemoryPath,
    /// Of a rename.
    pub(crate) new_path: Option<MemoryPath>,
}

impl<'a> Call<'a> {
    /// Judges what was decoded. `watched`: there are hooks.
    pub(crate) fn begin(decoded: Decoded<'a>, watched: bool) -> Self {
        let traced = Traced::begin(decoded.name);
        Self {
            name: decoded.name,
            repairs: decoded.repairs,
            begun: (watched || traced.is_wanted()).then(Instant::now),
            judged: decoded.command.map_err(Error::Refused).and_then(judge),
            stopped: None,
            traced,
        }
    }

    /// With texts of its own, so that it can go to another thread.
    #[must_use]
    pub fn into_owned(self) -> Call<'static> {
        Call {
            name: self.name,
            repairs: self.repairs,
            judged: self.judged.map(|Judged { command, path, new_path }| Judged {
                command: command.into_owned(),
                path,
                new_path,
            }),
            stopped: self.stopped,
            traced: self.traced,
            begun: self.begun,
        }
    }

    /// The command as [`before`](crate::Hooks::before) gets it; `None` if it is refused already.
    #[must_use]
    pub fn command(&self) -> Option<Command<'_>> {
        let Judged { command, path, new_path } = self.judged.as_ref().ok()?;
        let mut command = command.borrowed();
        match &mut command {
            Command::View { path: raw, view_range } => {
                *raw = Cow::Borrowed(path.as_str());
                *view_range =
                    view_range.take().filter(|range| matches!(range, ViewRange::Lines(..)));
            }
            Command::Create { path: raw, .. }
            | Command::StrReplace { path: raw, .. }
            | Command::Insert { path: raw, .. }
            | Command::Delete { path: raw } => *raw = Cow::Borrowed(path.as_str()),
            Command::Rename { old_path: raw, new_path: raw_new } => {
                *raw = Cow::Borrowed(path.as_str());
                if let Some(new_path) = new_path {
                    *raw_new = Cow::Borrowed(new_path.as_str());
                }
            }
        }
        Some(command)
    }

    /// Ends it, before it is carried out, by what broke around it: a thread that cannot be had, say. It is
    /// answered as if the store were broken; nothing is changed.
    pub fn fail(&mut self, error: StoreError) {
        if self.judged.is_ok() {
            self.stopped = Some((Outcome::Failed, Error::Store(error.unchanged())));
        }
    }

    pub(crate) fn traced(&self) -> &Traced {
        &self.traced
    }

    /// What `before` said about the command.
    pub(crate) fn apply(&mut self, verdict: Result<Verdict, HookError>) {
        let Ok(judged) = &mut self.judged else { return };
        if self.stopped.is_some() {
            return;
        }
        let failed = |error| Some((Outcome::Failed, Error::Hook(error)));
        self.stopped = match verdict {
            Ok(Verdict::Pass) => None,
            Ok(Verdict::Write(new)) => match judged.command.text_mut() {
                Some(text) => {
                    *text = Cow::Owned(new);
                    None
                }
                None => {
                    let name = judged.command.name();
                    failed(format!("it gave a text for {name}, which writes none").into())
                }
            },
            Ok(Verdict::Veto(sentence)) => {
                let said = !sentence.trim().is_empty();
                let sentence = if said { sentence } else { reply::vetoed() };
                Some((Outcome::Vetoed, Error::Refused(sentence)))
            }
            Err(error) => failed(error),
        };
    }

    /// Does `work`, unless the call is refused already; and what there is to tell of it afterwards,
    /// if somebody wants to know.
    pub(crate) fn carry_out(
        self,
        policies: &Policies,
        work: impl FnOnce(&Judged<'a>) -> Result<Content, Error>,
    ) -> (Result<Content, Error>, Option<Event>) {
        let Self { name, repairs, judged, stopped, traced, begun } = self;
        let (judged, outcome, result) = match (judged, stopped) {
            (Err(refusal), _) => (None, Outcome::Refused, Err(refusal)),
            (Ok(judged), Some((outcome, refusal))) => (Some(judged), outcome, Err(refusal)),
            (Ok(judged), None) => {
                let result = traced.within(|| work(&judged));
                let outcome = match &result {
                    Ok(_) => Outcome::Ok,
                    Err(Error::Refused(_) | Error::Config(_)) => Outcome::Refused,
                    Err(Error::Store(_) | Error::Hook(_)) => Outcome::Failed,
                };
                (Some(judged), outcome, result)
            }
        };
        if begun.is_none() && !traced.is_wanted_for(outcome) {
            return (result, None);
        }
        let text = match (&result, &judged) {
            (Ok(content), Some(judged)) => match (judged.command.text(), &judged.command) {
                (Some((_, written)), _) => written,
                (None, Command::View { .. }) => content.as_str(),
                (None, _) => "",
            },
            _ => "",
        };
        let bytes = match &result {
            Ok(Content::Image { bytes, .. }) => bytes.len(),
            _ => text.len(),
        };
        let (bytes, lines) = (bytes as u64, count_lines(text.as_bytes()));
        let (path, new_path) = match judged {
            Some(Judged { path, new_path, .. }) => (Some(path), new_path),
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
            content: if policies.options.after_content { reply::text_of(&result) } else { None },
        };
        traced.end(&event);
        (result, Some(event))
    }
}

/// Judges the paths of a command.
fn judge(command: Command<'_>) -> Result<Judged<'_>, Error> {
    let judge = |raw: &str| match MemoryPath::parse(raw) {
        Err(error) => Err(reply::bad_path(raw, error)),
        Ok(path) if path.is_reserved() => Err(reply::reserved_path(&path)),
        Ok(path) => Ok(path),
    };
    let (path, new_path) = match &command {
        Command::View { path, .. }
        | Command::Create { path, .. }
        | Command::StrReplace { path, .. }
        | Command::Insert { path, .. }
        | Command::Delete { path } => (judge(path)?, None),
        Command::Rename { old_path, new_path } => (judge(old_path)?, Some(judge(new_path)?)),
    };
    Ok(Judged { command, path, new_path })
}
