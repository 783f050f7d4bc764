//! [`check`]: reads a whole store and reports its problems.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use crate::error::MemdirError;
use crate::expiry::number;
use crate::foreign_store::core_store;
use crate::store::Store;

/// The result of a check.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Directories, including the root.
    pub directories: i64,
    /// Files; each was read to its end.
    pub files: i64,
    /// The bytes that were read.
    pub bytes: i64,
    /// Versions in the store's history, each computed; none if the store has no history.
    pub versions: Option<i64>,
    /// The problems that were found; empty if there are none.
    pub problems: Vec<Problem>,
}

/// A problem in a store.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The kind of problem: `unreadable`, `wrong-size`, `damaged`, `left-over`, `link`,
    /// `special-file` or `bad-name`.
    pub kind: String,
    /// The path, or a text like a path if no path can contain the name. It is safe to display.
    pub path: String,
    /// The problem as a sentence, for you.
    pub description: String,
    /// Whether it is about an entry that is not part of the memory. The memory itself is then in order.
    pub is_beside: bool,
}

/// Checks a store and its history: inspects the store's structures, reads every file, reads every record of the history and
/// computes every version. Changes nothing. Others may use the store meanwhile. The model cannot call this.
///
/// A store that fails in the middle is a problem, too: what was found before is kept. Throws `Store` if it fails before anything
/// was read or found.
#[uniffi::export]
pub fn check(store: Arc<dyn Store>) -> Result<Checked, MemdirError> {
    let mut problems = Vec::new();
    let checked = memdir::check(&core_store(store), &mut |problem| problems.push(problem.into()))?;
    Ok(Checked {
        directories: number(checked.directories),
        files: number(checked.files),
        bytes: number(checked.bytes),
        versions: checked.versions.map(number),
        problems,
    })
}

impl From<memdir::store::Problem> for Problem {
    fn from(problem: memdir::store::Problem) -> Self {
        Self {
            kind: problem.kind.as_str().to_owned(),
            description: problem.to_string(),
            is_beside: problem.kind.is_beside(),
            path: problem.path,
        }
    }
}
