//! `index`: a table of contents of the memory, for a system prompt.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::io::Read as _;

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};

use super::read::refusal;
use crate::policies::Policies;
use crate::reply;
use crate::store::{Entry, EntryKind, InContext, Node, Store as _, StoreError};
use crate::text::human_size;

/// The most characters of a file's first line that are shown.
const SUMMARY_CHARS: usize = 80;

/// The number of bytes of a file that are read for its first line.
const START: u64 = 1024;

/// Returns a line for each file, in at most `max_chars` characters. Files that never expire come first, then
/// the most recently written ones.
pub(crate) fn index(
    store: &InContext<'_>,
    policies: &Policies,
    max_chars: usize,
) -> Result<String, Error> {
    let mut files = super::list(store, &MemoryPath::root(), MAX_LEVELS)?;
    files.retain(Entry::is_file);
    // The list is sorted by path, and the sort is stable.
    let rank = |file: &Entry| (!policies.expiry.never_expires(&file.path), Reverse(file.modified));
    files.sort_by_key(rank);

    let mut lines: Vec<String> = Vec::new();
    let mut chars = 0;
    for file in &files {
        store.check().map_err(Error::Store)?;
        let line = line(file, first_line(store, policies, &file.path)?.as_deref());
        chars += line.chars().count();
        lines.push(line);
        if chars > max_chars {
            break;
        }
    }
    // Removes lines until the last line, which says how many are left out, fits.
    let mut left_out = files.len() - lines.len();
    while chars + more(left_out).chars().count() > max_chars {
        let Some(last) = lines.pop() else { return Ok(String::new()) };
        chars -= last.chars().count();
        left_out += 1;
    }
    Ok(lines.concat() + &more(left_out))
}

fn line(file: &Entry, summary: Option<&str>) -> String {
    let size = match file.kind {
        EntryKind::File(bytes) => human_size(bytes),
        EntryKind::Directory => String::new(),
    };
    let mut line = format!("{}\t{size}", file.path);
    if let Some(summary) = summary {
        let _ = write!(line, "\t{summary}");
    }
    line + "\n"
}

fn more(left_out: usize) -> String {
    match left_out {
        0 => String::new(),
        _ => reply::more_files(left_out),
    }
}

/// Returns the first line that is not empty, or `None` if there is none or the file cannot be shown as text.
fn first_line(
    store: &InContext<'_>,
    policies: &Policies,
    path: &MemoryPath,
) -> Result<Option<String>, Error> {
    let shown = match policies.sensitive.on_view {
        true => super::read_shown(store, policies, path),
        false => start(store, path),
    };
    let shown = match shown {
        Ok(shown) => shown,
        Err(Error::Refused(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some(line) = shown.lines().map(str::trim).find(|line| !line.is_empty()) else {
        return Ok(None);
    };
    // Each file has one line in the index, so control characters become spaces.
    let line: String =
        line.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    Ok(Some(match line.char_indices().nth(SUMMARY_CHARS) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }))
}

/// Returns the first characters of a file.
fn start(store: &InContext<'_>, path: &MemoryPath) -> Result<String, Error> {
    let content = match store.open(path, 0).map_err(|error| refusal(path, error))? {
        Node::File(_, content) => content,
        Node::Directory(_) => return Err(reply::condition(path, StoreError::IsADirectory)),
    };
    let mut start = Vec::new();
    content
        .take(START)
        .read_to_end(&mut start)
        .map_err(|error| Error::Store(StoreError::failed("reading a file", error)))?;
    // The last character may be incomplete.
    let end = match str::from_utf8(&start) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        _ => start.len(),
    };
    start.truncate(end);
    String::from_utf8(start).map_err(|_| reply::not_text(path))
}
