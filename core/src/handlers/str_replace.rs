//! `str_replace`: replaces the only occurrence of a text.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::edit::{EditOperation, edit};
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::policy::stale_guard::ViewLog;
use crate::reply;
use crate::text::{Ending, Occurrences, Pager, Splice, count_lines_of, find, snippet};
use crate::unit_of_work::UnitOfWork;

pub(super) fn str_replace(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    old_str: &str,
    new_str: &str,
) -> Result<String, Error> {
    let policies = work.policies();
    let replace = EditOperation {
        missing: reply::replace_missing,
        check_view: ViewLog::check_replace,
        change: &|content| change(policies, path, content, old_str, new_str),
        answer: &|content, splice| shown(policies, path, content, splice),
        seen_by_model: true,
    };
    edit(work, path, &replace)
}

fn change(
    policies: &Policies,
    path: &MemoryPath,
    content: &[u8],
    old_str: &str,
    new_str: &str,
) -> Result<Splice, Error> {
    if old_str.is_empty() {
        return Err(reply::replace_empty());
    }
    match find(content, old_str.as_bytes()) {
        Occurrences::None if sensitive::has_mark(&policies.sensitive, old_str) => {
            Err(reply::replace_redacted(path))
        }
        Occurrences::None => Err(reply::replace_not_found(path, old_str)),
        Occurrences::Many(lines) => Err(reply::replace_ambiguous(old_str, &lines)),
        Occurrences::One(at) => {
            Ok(Splice { range: at..at + old_str.len(), text: new_str.as_bytes().to_vec() })
        }
    }
}

/// Returns the reply with the lines around the change, cut to the limit of a view.
fn shown(
    policies: &Policies,
    path: &MemoryPath,
    content: &str,
    splice: &Splice,
) -> Result<String, Error> {
    let (rules, limit) = (&policies.sensitive, policies.options.max_view_chars);
    let snippet = snippet(content.as_bytes(), splice);
    let snippet = sensitive::shown_lines(rules, path, content, splice, snippet)?;
    let mut pager =
        Pager::new(reply::replaced(), snippet.first, u64::MAX, limit).starting_at(snippet.first);
    let page = pager
        .feed(&snippet.text)
        .and_then(|()| pager.finish())
        .map_err(|_| reply::not_text(path))?;
    let mut answer = page.text;
    if let (Some(shown), ending) = (page.last_shown, page.ending) {
        let end = Some(page.last_line);
        let total = || count_lines_of(&splice.pieces(content.as_bytes()));
        match ending {
            Ending::Whole => {}
            Ending::More => answer += &reply::more_lines(snippet.first, shown, total(), end),
            Ending::CutLine(chars) => answer += &reply::cut_line(shown, chars, total(), end),
        }
    }
    Ok(answer)
}
