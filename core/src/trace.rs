//! Spans and events of commands for subscribers of `tracing` (feature `tracing`).
//!
//! A command is one tool call, so its span is the execution of a tool in OpenTelemetry's conventions for
//! generative AI. It contains no content and no path of the host. In paths, a mark replaces what a rule
//! for sensitive text finds.

#[cfg(feature = "tracing")]
use tracing::{Level, Span, field::Empty};

use crate::error::Error;
use crate::hooks::{Event, Outcome};
use crate::policy::expiry::Expired;
use crate::policy::sensitive;

/// The target of spans and events.
#[cfg(feature = "tracing")]
const TARGET: &str = "memdir";

/// The span of one command; nothing without the feature.
#[derive(Debug)]
pub(crate) struct Traced {
    #[cfg(feature = "tracing")]
    span: Span,
}

/// Whether a subscriber wants every command.
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

    pub(crate) fn is_wanted(&self) -> bool {
        false
    }

    pub(crate) fn is_wanted_for(&self, _: Outcome) -> bool {
        false
    }

    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        work()
    }

    pub(crate) fn end(&self, _: &Event) {}
}

/// Reports each file that expired, and an expiry that failed. For `expire_after` there is no caller to
/// whom it could be returned.
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
        Err(Error::Store(_)) => {
            let outcome = Outcome::Failed.as_str();
            tracing::event!(
                target: TARGET,
                Level::WARN,
                memdir.operation = "expire",
                memdir.outcome = outcome,
            );
        }
        Err(_) => {}
    }
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
            memdir.bytes = Empty,
            memdir.lines = Empty,
            memdir.repairs = Empty,
            memdir.change = Empty,
        );
        Self { span }
    }

    /// Whether a subscriber wants every command.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.span.is_disabled() || tracing::event_enabled!(target: TARGET, Level::DEBUG)
    }

    /// Whether a subscriber wants a command with this outcome.
    pub(crate) fn is_wanted_for(&self, outcome: Outcome) -> bool {
        outcome == Outcome::Failed && tracing::event_enabled!(target: TARGET, Level::WARN)
    }

    /// Runs `work` within the span.
    pub(crate) fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    /// Records the result of the command.
    pub(crate) fn end(&self, event: &Event) {
        let (command, outcome) = (event.command, event.outcome.as_str());
        let path = event.path.as_ref().map(crate::MemoryPath::as_str);
        let new_path = event.new_path.as_ref().map(crate::MemoryPath::as_str);
        let repairs: Vec<&str> = event.repairs.iter().map(|repair| repair.as_str()).collect();
        let repairs = (!repairs.is_empty()).then(|| repairs.join(" "));
        let span = &self.span;
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
    }
}
