//! What each command decides. One file per command, over any store.
//!
//! A handler gets judged paths and answers with the text of the reply, or with the sentence that
//! says why not. It does no I/O of its own and knows no host language.

mod create;
mod delete;
mod edit;
mod insert;
mod rename;
mod str_replace;
mod view;

pub(crate) use create::create;
pub(crate) use delete::delete;
pub(crate) use insert::insert;
pub(crate) use rename::rename;
pub(crate) use str_replace::str_replace;
pub(crate) use view::view;

use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::sensitive;
use crate::reply;
use crate::text::Splice;

/// The text of an editable file.
fn text<'c>(path: &MemoryPath, content: &'c [u8]) -> Result<&'c str, Error> {
    std::str::from_utf8(content).map_err(|_| reply::not_text(path))
}

/// Refuses a file that would come to hold more than it may; `now` is what it holds, if it is there. One
/// that holds more already may come to hold less.
fn check_size(
    options: &Options,
    path: &MemoryPath,
    now: Option<usize>,
    would_be: usize,
) -> Result<(), Error> {
    match options.max_file_bytes {
        Some(limit) if would_be as u64 > limit && now.is_none_or(|now| now < would_be) => {
            Err(reply::file_too_large(path, now.map(|now| now as u64), would_be as u64, limit))
        }
        _ => Ok(()),
    }
}

/// The change as it may be made, and what the reply says of it beyond the usual.
fn redacted(
    options: &Options,
    path: &MemoryPath,
    old: &str,
    splice: Splice,
) -> Result<(Splice, String), Error> {
    Ok(match sensitive::judge_splice(options, path, old, &splice)? {
        Some(redacted) => (redacted.instead, redacted.note),
        None => (splice, String::new()),
    })
}
