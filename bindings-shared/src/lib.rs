//! What several bindings need of the core, and no user of Rust does.
//!
//! A binding gets plain arguments: texts, flags, numbers. This crate makes of them what the core takes, with the same errors in
//! every language. It knows no host language.

pub mod arguments;
pub mod check;
pub mod history;
pub mod input;
pub mod operations;
pub mod plain;
pub mod thread_pool;

use memdir::{Error, GrepQuery};

/// A query of [`Memory::grep`](memdir::Memory::grep): a text or a regular expression, with or without regard to case.
///
/// # Errors
/// As [`GrepQuery::regex`].
pub fn grep_query(query: &str, regex: bool, ignore_case: bool) -> Result<GrepQuery, Error> {
    let query = if regex { GrepQuery::regex(query)? } else { GrepQuery::text(query) };
    Ok(if ignore_case { query.ignoring_case() } else { query })
}
