//! [`LeftOut`]: an entry of the source that is not imported, and why.

use serde_json::json;

use crate::cli::output::Output;
use crate::cli::style::escaped;
use crate::cli::{Failure, say};
use crate::store::{Problem, ProblemKind};

/// An entry that is not imported.
pub(super) struct LeftOut {
    /// Its name in the source, safe to display.
    at: String,
    kind: &'static str,
    why: String,
}

impl LeftOut {
    pub(super) fn new(at: &str, kind: &'static str, why: impl Into<String>) -> Self {
        Self { at: escaped(at), kind, why: why.into() }
    }

    /// One of a kind that a check of a store reports as well.
    pub(super) fn of_kind(at: &str, kind: ProblemKind) -> Self {
        Self::new(at, kind.as_str(), kind.to_string())
    }

    /// A problem of a directory, whose paths begin with `/memories`.
    pub(super) fn of_problem(problem: &Problem) -> Self {
        let at = problem.at.strip_prefix("/memories/").unwrap_or(&problem.at);
        // It is escaped already.
        Self { at: at.to_owned(), ..Self::of_kind("", problem.kind) }
    }

    pub(super) fn hidden(at: &str) -> Self {
        Self::new(at, "hidden", "is hidden: --all imports it")
    }

    pub(super) fn not_text(at: &str) -> Self {
        Self::new(at, "not-text", "is not text (UTF-8)")
    }

    pub(super) fn too_large(at: &str, size: u64, limit: u64) -> Self {
        let why = format!("has {size} bytes, and a file may have {limit} at most");
        Self::new(at, "too-large", why)
    }

    pub(super) fn unreadable(at: &str, error: &dyn std::fmt::Display) -> Self {
        let kind = ProblemKind::Unreadable;
        Self::new(at, kind.as_str(), format!("{kind}: {error}"))
    }

    /// A policy or the store forbids it.
    pub(super) fn refused(at: &str, sentence: &str) -> Self {
        let sentence = sentence.strip_prefix("Error: ").unwrap_or(sentence);
        Self::new(at, "refused", format!("is refused: {sentence}"))
    }

    /// Whether the user may have meant to import it. Hidden files are not meant, unless a flag asks for them.
    pub(super) fn is_missed(&self) -> bool {
        self.kind != "hidden"
    }

    pub(super) fn tell(&self, output: &mut Output) -> Result<(), Failure> {
        if output.json {
            return output.object(&json!({
                "type": "left-out", "problem": self.kind, "path": self.at, "details": self.why,
            }));
        }
        say(&format!("left out: {} {}", self.at, self.why));
        Ok(())
    }
}
