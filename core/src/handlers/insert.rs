//! `insert`: whole lines between two others.

use super::{check_size, redacted, text};
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::Policies;
use crate::reply;
use crate::store::{Splice, Store, StoreError};
use crate::text::insert_lines;

pub(crate) fn insert(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    insert_line: i64,
    insert_text: &str,
) -> Result<String, Error> {
    let options = &policies.options;
    // What the last call of the edit came to; the store may make several.
    let mut outcome = Err(reply::missing(path));
    let done = store.update(path, &mut |content| match decide(
        options,
        path,
        content,
        insert_line,
        insert_text,
    ) {
        Ok((splice, note)) => {
            outcome = Ok(reply::inserted(path) + &note);
            Some(splice)
        }
        Err(refusal) => {
            outcome = Err(refusal);
            None
        }
    });
    match done {
        Ok(()) => outcome,
        // A directory counts as missing (documentation of the tool, "insert").
        Err(StoreError::NotFound | StoreError::IsADirectory | StoreError::NotADirectory) => {
            Err(reply::missing(path))
        }
        Err(error) => Err(reply::condition(path, error)),
    }
}

fn decide(
    options: &Options,
    path: &MemoryPath,
    content: &[u8],
    insert_line: i64,
    insert_text: &str,
) -> Result<(Splice, String), Error> {
    let old = text(path, content)?;
    let splice = insert_lines(content, insert_line, insert_text)
        .map_err(|lines| reply::invalid_insert_line(insert_line, lines))?;
    let (splice, note) = redacted(options, path, old, splice)?;
    check_size(options, path, splice.len_after(content.len()))?;
    Ok((splice, note))
}
