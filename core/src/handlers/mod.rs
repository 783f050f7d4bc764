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
use crate::path::MemoryPath;
use crate::reply;

/// The text of an editable file.
fn text<'c>(path: &MemoryPath, content: &'c [u8]) -> Result<&'c str, Error> {
    std::str::from_utf8(content).map_err(|_| reply::not_text(path))
}
