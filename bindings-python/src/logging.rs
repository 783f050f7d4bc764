//! The logger `memdir`: turns the core's events into Python's log records.
//!
//! The core reports its commands through `tracing`; this is the only subscriber in the library.
//! Each command is a record of level DEBUG. A failed command is a record of level WARNING, which names the kind of its
//! cause. The details of a failure are a record of level DEBUG, the only one that may contain a path of the host.

use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, set_global_default};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::guarded::{call, call_method};
use crate::interruption;
use crate::shutdown::attached;

/// Python's numbers for the levels.
const DEBUG: u8 = 10;
const WARNING: u8 = 30;

/// True if the logger was enabled for DEBUG at the last call of a command. It is set while this thread holds the
/// interpreter anyway, and read while it does not.
static WANTS_DEBUG: AtomicBool = AtomicBool::new(false);

/// Starts logging.
pub(crate) fn install() {
    // This fails only if logging was installed before, by a module that was imported twice.
    let _ = set_global_default(Bridge);
}

/// Reads the logger's level. It runs Python code, so it does nothing while the interpreter shuts down.
pub(crate) fn refresh() {
    let wants = attached(|py| {
        let asked = pyo3::intern!(py, "isEnabledFor");
        logger(py).and_then(|logger| call_method(&logger, asked, (DEBUG,))?.extract::<bool>())
    });
    WANTS_DEBUG.store(matches!(wants, Some(Ok(true))), Ordering::Relaxed);
}

/// Logs an exception that cannot be raised anywhere.
pub(crate) fn exception(py: Python<'_>, text: &str, error: PyErr) {
    let logged = logger(py).and_then(|logger| {
        let keywords = PyDict::new(py);
        keywords.set_item("exc_info", error.clone_ref(py))?;
        call(&logger.getattr("error")?, (text,), Some(&keywords))
    });
    if let Err(raised) = logged {
        interruption::keep(py, raised);
        error.write_unraisable(py, None);
    }
}

fn logger(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    static LOGGER: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let made = LOGGER.get_or_try_init(py, || {
        let logger = py.import("logging")?.call_method1("getLogger", ("memdir",))?;
        Ok::<_, PyErr>(logger.unbind())
    });
    made.map(|logger| logger.bind(py).clone())
}

/// The subscriber of the core's events. It ignores spans.
struct Bridge;

impl Subscriber for Bridge {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if metadata.is_span() || metadata.target() != "memdir" {
            Interest::never()
        } else {
            Interest::sometimes()
        }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event()
            && metadata.target() == "memdir"
            && (*metadata.level() <= Level::WARN || WANTS_DEBUG.load(Ordering::Relaxed))
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn event(&self, event: &Event<'_>) {
        let level = if *event.metadata().level() <= Level::WARN { WARNING } else { DEBUG };
        let mut line = Line(String::new());
        event.record(&mut line);
        attached(|py| {
            let logged = logger(py).and_then(|logger| call_method(&logger, "log", (level, line.0)));
            if let Some(error) = logged.err().and_then(|error| interruption::keep(py, error)) {
                error.write_unraisable(py, None);
            }
        });
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are never enabled.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// `command=view path=/memories/a outcome=ok bytes=72 lines=3`. A value that contains a space, a `=`, a `"` or an
/// unprintable character is quoted: `path="/memories/my notes"`.
struct Line(String);

impl Line {
    fn push(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let name = field.name();
        let space = if self.0.is_empty() { "" } else { " " };
        let _ = write!(self.0, "{space}{}={value}", name.strip_prefix("memdir.").unwrap_or(name));
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.push(field, format_args!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        // Without quotes, a file's name could look like another field.
        let quoted = format!("{value:?}");
        let plain = quoted.len() == value.len() + 2 && !value.is_empty();
        if plain && !value.contains(|c: char| c.is_whitespace() || c == '=') {
            self.push(field, format_args!("{value}"));
        } else {
            self.push(field, format_args!("{quoted}"));
        }
    }
}
