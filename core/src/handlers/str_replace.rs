//! `str_replace`: the only occurrence of a text gives way to another.

use super::edit::edit;
use super::{check_size, redacted, text};
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::{Policies, sensitive};
use crate::reply;
use crate::store::{Splice, Store};
use crate::text::{Ending, Occurrences, Pager, count_lines_of, find, snippet};

pub(crate) fn str_replace(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    old_str: &str,
    new_str: &str,
) -> Result<String, Error> {
    edit(store, policies, path, reply::replace_missing, &mut |content| {
        decide(policies, path, content, old_str, new_str)
    })
}

fn decide(
    policies: &Policies,
    path: &MemoryPath,
    content: &[u8],
    old_str: &str,
    new_str: &str,
) -> Result<(Splice, String), Error> {
    let options = &policies.options;
    let old = text(path, content)?;
    policies.seen.judge_replace(path, content)?;
    if old_str.is_empty() {
        return Err(reply::replace_empty());
    }
    let at = match find(content, old_str.as_bytes()) {
        Occurrences::None if sensitive::has_mark(options, old_str) => {
            return Err(reply::replace_redacted(path));
        }
        Occurrences::None => return Err(reply::replace_not_found(path, old_str)),
        Occurrences::Many(lines) => return Err(reply::replace_ambiguous(old_str, &lines)),
        Occurrences::One(at) => at,
    };
    let splice = Splice { range: at..at + old_str.len(), text: new_str.as_bytes().to_vec() };
    let (splice, note) = redacted(options, path, old, splice)?;
    check_size(options, path, Some(content.len()), splice.len_after(content.len()))?;
    let answer = shown(options, path, content, &splice)?;
    Ok((splice, answer + &note))
}

/// The reply with the lines around the change, cut like a view if it is as long as one.
fn shown(
    options: &Options,
    path: &MemoryPath,
    content: &[u8],
    splice: &Splice,
) -> Result<String, Error> {
    let snippet = sensitive::shown_lines(options, path, content, splice, snippet(content, splice))?;
    let mut pager = Pager::new(reply::replaced(), snippet.first, u64::MAX, options.max_view_chars)
        .starting_at(snippet.first);
    let page = pager
        .feed(&snippet.text)
        .and_then(|()| pager.finish())
        .map_err(|_| reply::not_text(path))?;
    let mut answer = page.text;
    if let (Some(shown), ending) = (page.last_shown, page.ending) {
        let end = Some(page.last_line);
        let total = || count_lines_of(&splice.pieces(content));
        match ending {
            Ending::Whole => {}
            Ending::More => answer += &reply::more_lines(snippet.first, shown, total(), end),
            Ending::CutLine(chars) => answer += &reply::cut_line(shown, chars, total(), end),
        }
    }
    Ok(answer)
}
