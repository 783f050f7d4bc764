//! The code that several bindings share and that users of Rust do not need.
//!
//! A binding gets plain arguments: texts, flags, numbers. This crate converts them to the core's arguments, with the same
//! errors in every language. It knows no host language.

pub mod arguments;
pub mod check;
pub mod history;
pub mod input;
pub mod operations;
pub mod own_store;
pub mod plain;
pub mod thread_pool;

use memdir::{Error, GrepQuery};

/// A query for [`Memory::grep`](memdir::Memory::grep): a text or a regular expression, case-sensitive or not.
///
/// # Errors
/// The same cases as for [`GrepQuery::regex`].
pub fn grep_query(query: &str, regex: bool, ignore_case: bool) -> Result<GrepQuery, Error> {
    let query = if regex { GrepQuery::regex(query)? } else { GrepQuery::text(query) };
    Ok(if ignore_case { query.ignoring_case() } else { query })
}
