//! Whether a store is as it should be: what `check` tells Kotlin and Swift.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::sync::Arc;

use crate::error::MemdirError;
use crate::expiry::number;
use crate::foreign_store::core_store;
use crate::store::Store;

/// What a check went through, and what it found.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Directories, the root among them.
    pub directories: i64,
    /// Files, each read from its start to its end.
    pub files: i64,
    /// The bytes that were read.
    pub bytes: i64,
    /// What is not as it should be; empty if all is well.
    pub problems: Vec<Problem>,
}

/// Something that is not as it should be in a store.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// One word for what is wrong: `unreadable`, `wrong-size`, `damaged`, `left-over`, `link`,
    /// `special-file` or `bad-name`.
    pub kind: String,
    /// Where: a path, or something like one where no path of a memory can be. Safe to be shown.
    pub at: String,
    /// All of it in a sentence, for the developer.
    pub description: String,
    /// Whether it is about something beside the memory, which is as it should be itself.
    pub is_beside: bool,
}

/// Inspects a store and reads every file in it. Changes nothing. Others may use the store meanwhile.
/// Not a command of the tool: for the developer.
///
/// Throws `Store` if the store is out of reach or its root cannot be read.
#[uniffi::export]
pub fn check(store: Arc<dyn Store>) -> Result<Checked, MemdirError> {
    let mut problems = Vec::new();
    let checked = memdir::check(&*core_store(store), &mut |problem| problems.push(problem.into()))?;
    Ok(Checked {
        directories: number(checked.directories),
        files: number(checked.files),
        bytes: number(checked.bytes),
        problems,
    })
}

impl From<memdir::store::Problem> for Problem {
    fn from(problem: memdir::store::Problem) -> Self {
        Self {
            kind: problem.kind.as_str().to_owned(),
            description: problem.to_string(),
            is_beside: problem.kind.is_beside(),
            at: problem.at,
        }
    }
}
