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
pub mod search;
pub mod sync;
pub mod thread_pool;

use memdir::{ConfigError, Error, GrepQuery};

/// A query for [`Memory::grep`](memdir::Memory::grep): a text or a regular expression, case-sensitive or not.
///
/// # Errors
/// The same cases as for [`GrepQuery::regex`].
pub fn grep_query(query: &str, regex: bool, ignore_case: bool) -> Result<GrepQuery, Error> {
    let query = if regex { GrepQuery::regex(query)? } else { GrepQuery::text(query) };
    Ok(if ignore_case { query.ignoring_case() } else { query })
}

/// A query for [`Memory::redact_text`](memdir::Memory::redact_text). It is not empty: an empty text would find nothing, which
/// reads as if there were nothing to remove.
///
/// # Errors
/// The query is empty, or the same cases as for [`GrepQuery::regex`].
pub fn redaction_query(query: &str, regex: bool, ignore_case: bool) -> Result<GrepQuery, Error> {
    if query.is_empty() {
        return Err(ConfigError::of_option("query").and(" must not be empty").into());
    }
    grep_query(query, regex, ignore_case)
}
