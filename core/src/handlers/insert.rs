//! `insert`: whole lines between two others.

use super::edit::edit;
use super::{check_size, redacted, text};
use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::Policies;
use crate::reply;
use crate::store::{Splice, Store};
use crate::text::insert_lines;

pub(crate) fn insert(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    insert_line: i64,
    insert_text: &str,
) -> Result<String, Error> {
    edit(store, policies, path, reply::missing, &mut |content| {
        let (splice, note) = decide(policies, path, content, insert_line, insert_text)?;
        Ok((splice, reply::inserted(path) + &note))
    })
}

fn decide(
    policies: &Policies,
    path: &MemoryPath,
    content: &[u8],
    insert_line: i64,
    insert_text: &str,
) -> Result<(Splice, String), Error> {
    let options = &policies.options;
    let old = text(path, content)?;
    policies.seen.judge_insert(path, content)?;
    let splice = insert_lines(content, insert_line, insert_text)
        .map_err(|lines| reply::invalid_insert_line(insert_line, lines))?;
    let (splice, note) = redacted(options, path, old, splice)?;
    check_size(options, path, Some(content.len()), splice.len_after(content.len()))?;
    Ok((splice, note))
}
