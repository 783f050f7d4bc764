//! `str_replace`: the only occurrence of a text gives way to another.

use super::{check_size, redacted, text};
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::policy::{Policies, sensitive};
use crate::reply;
use crate::store::{Splice, Store, StoreError};
use crate::text::{Ending, Occurrences, Pager, count_lines, find, snippet};

pub(crate) fn str_replace(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    old_str: &str,
    new_str: &str,
) -> Result<String, Error> {
    let options = &policies.options;
    // What the last call of the edit came to; the store may make several.
    let mut outcome = Err(reply::replace_missing(path));
    let done = store.update(path, &mut |content| {
        let decided = decide(options, path, content, old_str, new_str);
        let (splice, answer) = match decided {
            Ok((splice, answer)) => (Some(splice), Ok(answer)),
            Err(refusal) => (None, Err(refusal)),
        };
        outcome = answer;
        splice
    });
    match done {
        Ok(()) => outcome,
        // A directory counts as missing (documentation of the tool, "str_replace").
        Err(StoreError::NotFound | StoreError::IsADirectory | StoreError::NotADirectory) => {
            Err(reply::replace_missing(path))
        }
        Err(error) => Err(reply::condition(path, error)),
    }
}

fn decide(
    options: &Options,
    path: &MemoryPath,
    content: &[u8],
    old_str: &str,
    new_str: &str,
) -> Result<(Splice, String), Error> {
    let old = text(path, content)?;
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
    check_size(options, path, splice.len_after(content.len()))?;
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
        let total = || count_lines(&splice.apply(content));
        match ending {
            Ending::Whole => {}
            Ending::More => answer += &reply::more_lines(snippet.first, shown, total(), end),
            Ending::CutLine(chars) => answer += &reply::cut_line(shown, chars, total(), end),
        }
    }
    Ok(answer)
}
