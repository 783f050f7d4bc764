//! [`LeftOut`]: an entry of the source that is not imported, and the reason.

use serde_json::json;

use crate::cli::output::Output;
use crate::cli::{Failure, say};
use memdir::store::{Problem, ProblemKind, display_name};

/// The maximum number of characters shown of a name. A name in a tar file may have megabytes.
const SHOWN_CHARS: usize = 1_000;

/// An entry that is not imported.
pub(super) struct LeftOut {
    /// Its name in the source, safe to display.
    at: String,
    kind: &'static str,
    why: String,
}

impl LeftOut {
    pub(super) fn new(at: &str, kind: &'static str, why: impl Into<String>) -> Self {
        Self { at: shortened(&display_name(at.as_bytes())), kind, why: why.into() }
    }

    /// An entry whose name may not be text.
    pub(super) fn of_bytes(at: &[u8], kind: ProblemKind) -> Self {
        let at = shortened(&display_name(at));
        Self { at, ..Self::of_kind("", kind) }
    }

    /// An entry of a tar file that has the same name as a later one, which is imported.
    pub(super) fn replaced(at: &str) -> Self {
        Self::new(at, "replaced", "is in the tar file again: the last one counts")
    }

    /// An empty directory. An import only creates files.
    pub(super) fn empty(at: &str) -> Self {
        Self::new(at, "empty-directory", "is an empty directory")
    }

    /// memdir's own history beside the files of a memory.
    pub(super) fn history() -> Self {
        let why = "is a history, which `memdir copy` and `memdir export` bring along";
        Self::new("history", "history", why)
    }

    /// An entry of a kind that a check of a store reports as well.
    pub(super) fn of_kind(at: &str, kind: ProblemKind) -> Self {
        Self::new(at, kind.as_str(), kind.to_string())
    }

    /// A problem in a directory, whose paths begin with `/memories`.
    pub(super) fn of_problem(problem: &Problem) -> Self {
        let at = problem.path.strip_prefix("/memories/").unwrap_or(&problem.path);
        // The path is already escaped.
        Self { at: shortened(at), ..Self::of_kind("", problem.kind) }
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
        // The message was written for a command that changes a file.
        let sentence = sentence.replacen(" was not changed", " was not imported", 1);
        Self::new(at, "refused", format!("is refused: {sentence}"))
    }

    /// Whether the user may have expected the entry to be imported. Hidden files are not expected, unless a flag asks for
    /// them.
    pub(super) fn is_missed(&self) -> bool {
        !matches!(self.kind, "hidden" | "history" | "replaced" | "empty-directory")
    }

    pub(super) fn tell(&self, output: &mut Output) -> Result<(), Failure> {
        if output.json {
            return output.object(&json!({
                "type": "left-out", "kind": self.kind, "path": self.at, "details": self.why,
            }));
        }
        say(&format!("left out: {} {}", self.at, self.why));
        Ok(())
    }
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}
