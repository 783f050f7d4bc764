//! Spans and events of commands for subscribers of `tracing` (feature `tracing`).
//!
//! A command is one tool call, so its span follows OpenTelemetry's conventions for the execution of a tool in
//! generative AI. It contains no content and no path of the host. In paths, a mark replaces each match of a
//! rule for sensitive text.
//!
//! A failure emits two events. The first, at level WARN, has the kind of the cause: one word of a fixed list,
//! which reveals nothing. The second, at level DEBUG, has the details for the developer.

use memdir_store::Error;
#[cfg(feature = "tracing")]
use tracing::{Level, Span, field::Empty};

use crate::hooks::{Event, Outcome};
use crate::policy::expiry::Expired;
use crate::policy::sensitive;
#[cfg(feature = "tracing")]
use crate::store::StoreError;

/// The target of spans and events.
#[cfg(feature = "tracing")]
const TARGET: &str = "memdir";

/// The span of one command; empty without the feature.
#[derive(Debug)]
pub(crate) struct Traced {
    #[cfg(feature = "tracing")]
    span: Span,
}

/// Returns whether a subscriber wants every command.
pub(crate) fn is_wanted() -> bool {
    #[cfg(feature = "tracing")]
    let wanted = tracing::span_enabled!(target: TARGET, Level::INFO)
        || tracing::event_enabled!(target: TARGET, Level::DEBUG);
    #[cfg(not(feature = "tracing"))]
    let wanted = false;
    wanted
}

#[cfg(not(feature = "tracing"))]
impl Traced {
    pub(crate) fn begin(_: Option<&'static str>) -> Self {
        Self {}
    }

    pub(crate) fn nothing() -> Self {
        Self {}
    }

    pub(crate) fn is_wanted(&self) -> bool {
        false
    }

    pub(crate) fn is_wanted_for(&self, _: Outcome) -> bool {
        false
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn end(&self, _: &Event, _: Option<&Error>, _: &sensitive::Settings) {}
}

/// Emits an event for each expired file, and for a failed expiry. With `expire_after`, no caller could receive
/// them as a return value.
#[cfg(feature = "tracing")]
pub(crate) fn expiry(rules: &sensitive::Settings, expired: &Result<Vec<Expired>, Error>) {
    match expired {
        Ok(files) => {
            for file in files {
                tracing::event!(
                    target: TARGET,
                    Level::DEBUG,
                    memdir.expired = sensitive::redact_path(rules, file.path.clone()).as_str(),
                    memdir.bytes = file.bytes,
                );
            }
        }
        Err(error @ Error::Store(_)) => {
            let outcome = Outcome::of_error(error);
            macro_rules! told {
                ($level:expr) => {
                    tracing::event!(
                        target: TARGET,
                        $level,
                        memdir.operation = "expire",
                        memdir.outcome = outcome.as_str(),
                        memdir.cause = cause(error),
                    )
                };
            }
            if outcome == Outcome::Cancelled {
                told!(Level::DEBUG);
                return;
            }
            told!(Level::WARN);
            if tracing::event_enabled!(target: TARGET, Level::DEBUG) {
                tracing::event!(
                    target: TARGET,
                    Level::DEBUG,
                    memdir.operation = "expire",
                    memdir.details = details(rules, error).as_str(),
                );
            }
        }
        Err(_) => {}
    }
}

/// Returns the kind of a failure's cause in one word: `"busy"`, `"timeout"`, `"unreachable"`, `"permission"`,
/// `"full"`, `"missing"`, `"hook"`, or `"store"` for everything else. `None` if the error is not a failure.
#[cfg(feature = "tracing")]
fn cause(error: &Error) -> Option<&'static str> {
    match error {
        Error::Hook(_) => Some("hook"),
        Error::Store(error) => of_store(error),
        Error::Refused(_) | Error::Config(_) => None,
    }
}

#[cfg(feature = "tracing")]
fn of_store(error: &StoreError) -> Option<&'static str> {
    match error {
        StoreError::Cancelled => None,
        StoreError::Busy => Some("busy"),
        StoreError::Full => Some("full"),
        StoreError::PermissionDenied => Some("permission"),
        StoreError::Source(error) => of_store(error),
        StoreError::Failed { source, .. } => Some(of_source(&**source)),
        _ => Some("store"),
    }
}

/// Finds an error of the system, or of a store, among the causes.
#[cfg(feature = "tracing")]
fn of_source(error: &(dyn std::error::Error + 'static)) -> &'static str {
    use std::io::ErrorKind as Kind;

    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<StoreError>() {
            return of_store(error).unwrap_or("store");
        }
        match error.downcast_ref::<std::io::Error>().map(std::io::Error::kind) {
            Some(Kind::TimedOut) => return "timeout",
            Some(
                Kind::ConnectionRefused
                | Kind::ConnectionReset
                | Kind::ConnectionAborted
                | Kind::NotConnected
                | Kind::BrokenPipe
                | Kind::HostUnreachable
                | Kind::NetworkUnreachable
                | Kind::NetworkDown,
            ) => return "unreachable",
            Some(Kind::PermissionDenied | Kind::ReadOnlyFilesystem) => return "permission",
            Some(Kind::StorageFull | Kind::QuotaExceeded) => return "full",
            Some(Kind::NotFound) => return "missing",
            _ => next = error.source(),
        }
    }
    "store"
}

/// Returns the error with all its causes. As in paths, a mark replaces each match of a rule for sensitive text.
#[cfg(feature = "tracing")]
fn details(rules: &sensitive::Settings, error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let more = cause.to_string();
        // Most errors already include their cause.
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        next = cause.source();
    }
    sensitive::redact_details(rules, text)
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn expiry(_: &sensitive::Settings, _: &Result<Vec<Expired>, Error>) {}

#[cfg(feature = "tracing")]
impl Traced {
    pub(crate) fn begin(command: Option<&'static str>) -> Self {
        let span = tracing::info_span!(
            target: TARGET,
            "execute_tool memory",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = "memory",
            gen_ai.tool.r#type = "function",
            error.r#type = Empty,
            otel.kind = "internal",
            otel.status_code = Empty,
            memdir.command = command,
            memdir.path = Empty,
            memdir.new_path = Empty,
            memdir.outcome = Empty,
            memdir.cause = Empty,
            memdir.bytes = Empty,
            memdir.lines = Empty,
            memdir.repairs = Empty,
            memdir.change = Empty,
        );
        Self { span }
    }

    /// For a change that is no call of a tool.
    pub(crate) fn nothing() -> Self {
        Self { span: Span::none() }
    }

    /// Returns whether a subscriber wants every command.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.span.is_disabled() || tracing::event_enabled!(target: TARGET, Level::DEBUG)
    }

    /// Returns whether a subscriber wants a command with this outcome.
    pub(crate) fn is_wanted_for(&self, outcome: Outcome) -> bool {
        outcome == Outcome::Failed && tracing::event_enabled!(target: TARGET, Level::WARN)
    }

    /// Runs `work` within the span.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    /// Records the result of the command, and its error if it failed.
    pub(crate) fn end(&self, event: &Event, error: Option<&Error>, rules: &sensitive::Settings) {
        let (command, outcome) = (event.command, event.outcome.as_str());
        let path = event.path.as_ref().map(crate::MemoryPath::as_str);
        let new_path = event.new_path.as_ref().map(crate::MemoryPath::as_str);
        let repairs: Vec<&str> = event.repairs.iter().map(|repair| repair.as_str()).collect();
        let repairs = (!repairs.is_empty()).then(|| repairs.join(" "));
        let failure = error.filter(|_| event.outcome == Outcome::Failed);
        let cause = failure.and_then(cause);
        let span = &self.span;
        span.record("memdir.cause", cause);
        span.record("memdir.path", path).record("memdir.new_path", new_path);
        span.record("memdir.outcome", outcome).record("memdir.repairs", repairs.as_deref());
        span.record("memdir.bytes", event.bytes).record("memdir.lines", event.lines);
        if let Some(change) = event.change {
            span.record("memdir.change", change.to_string());
        }
        if event.outcome != Outcome::Ok {
            span.record("error.type", outcome).record("otel.status_code", "ERROR");
        }
        macro_rules! told {
            ($level:expr) => {
                tracing::event!(
                    target: TARGET,
                    parent: &self.span,
                    $level,
                    memdir.command = command,
                    memdir.path = path,
                    memdir.new_path = new_path,
                    memdir.outcome = outcome,
                    memdir.cause = cause,
                    memdir.bytes = event.bytes,
                    memdir.lines = event.lines,
                    memdir.repairs = repairs.as_deref(),
                )
            };
        }
        match event.outcome {
            Outcome::Failed => told!(Level::WARN),
            _ => told!(Level::DEBUG),
        }
        if let Some(failure) = failure
            && tracing::event_enabled!(target: TARGET, Level::DEBUG)
        {
            tracing::event!(
                target: TARGET,
                parent: &self.span,
                Level::DEBUG,
                memdir.command = command,
                memdir.path = path,
                memdir.details = details(rules, failure).as_str(),
            );
        }
    }
}
