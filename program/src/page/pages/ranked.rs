//! The files that answer a question best: on the page of a search, and below the field of every page while the user types.

use maud::{Markup, html};

use super::passage::{Line, lines_of};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{MAX_QUESTION, first_of_part, link, link_to, shown, shown_with_marks};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::{SearchHit, SearchPassage, SearchResults};

/// The maximum number of files on the page of a search, and below the field.
const MAX: usize = 50;
const MAX_BELOW: usize = 8;

/// The maximum number of lines of a file below the field.
const LINES_BELOW: usize = 3;

/// Said of a longer question.
const CUT: &str = "The text is long: only its first 4,096 bytes were searched for.";

/// The best files, for the script that shows them below the field.
pub(in crate::page) fn best(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    let asked = given(&params.q).unwrap_or_default();
    let found = room.memory().search(asked, MemoryPath::root().as_str(), MAX_BELOW)?;
    let all = link(room.number, "search", &[("q", asked)]);
    Ok(Done::Page(html! {
        p { (said(&found, MAX_BELOW)) }
        div {
            @if found.hits.is_empty() {
                (exact_link(room, None, asked))
            } @else {
                ol { @for hit in &found.hits { li { (below(room, hit, asked)) } } }
                a href=(all) { "All results" }
            }
        }
    }))
}

/// The best files, for the page of a search.
pub(super) fn ranked(room: &Room, path: &MemoryPath, asked: &str) -> Result<Markup, Refusal> {
    let found = room.memory().search(asked, path.as_str(), MAX)?;
    Ok(html! {
        p.note { (said(&found, MAX)) " " (exact_link(room, Some(path), asked)) }
        @if asked.len() > MAX_QUESTION { p.note { (CUT) } }
        @for hit in &found.hits {
            section.found {
                h2 { a.path href=(link_to(room.number, &hit.path)) { (shown(hit.path.relative())) } }
                @for passage in &hit.passages {
                    ul {
                        @for line in lines_of(passage) {
                            @let address = address(room, hit, Some((passage, line.number)), asked);
                            li data-item { a href=(address) { span.number { (line.number) } " " (code(&line)) } }
                        }
                    }
                }
            }
        }
    })
}

/// A file below the field, as one link: its path, its best passage, and the lines of it that have the words.
fn below(room: &Room, hit: &SearchHit, asked: &str) -> Markup {
    let passage = hit.passages.first();
    let mut lines: Vec<_> = passage.into_iter().flat_map(lines_of).collect();
    if lines.iter().any(|line| !line.matches.is_empty()) {
        lines.retain(|line| !line.matches.is_empty());
        lines.truncate(LINES_BELOW);
    } else {
        lines.truncate(1);
    }
    let first = passage.zip(lines.first().map(|line| line.number));
    html! {
        a href=(address(room, hit, first, asked)) {
            span.path { (shown(hit.path.relative())) } " "
            @if let Some(SearchPassage { first_line, last_line, .. }) = passage {
                span.number {
                    @if first_line == last_line { "line " (first_line) }
                    @else { "lines " (first_line) " to " (last_line) }
                }
            }
            @for line in &lines { " " (code(line)) }
        }
    }
}

fn code(line: &Line<'_>) -> Markup {
    html! { code { (shown_with_marks(line.text.trim_end_matches('\r'), &line.matches)) } }
}

/// The address of a line in a file's source, with the passage marked, or of the file.
fn address(
    room: &Room,
    hit: &SearchHit,
    line: Option<(&SearchPassage, u64)>,
    asked: &str,
) -> String {
    let Some((passage, line)) = line.filter(|(passage, _)| !passage.text.is_empty()) else {
        return link_to(room.number, &hit.path);
    };
    let lines = format!("{}-{}", passage.first_line, passage.last_line);
    let from = first_of_part(line);
    let asked = [
        ("path", hit.path.as_str()),
        ("view", "source"),
        ("from", &from),
        ("q", asked),
        ("lines", &lines),
    ];
    format!("{}#L{line}", link(room.number, "file", &asked))
}

/// The number of files that were found, and of those that were not searched.
fn said(found: &SearchResults, most: usize) -> String {
    let hits = match found.hits.len() {
        0 => "Nothing was found.".to_owned(),
        1 => "1 file was found.".to_owned(),
        number if number == most => format!("The {number} best files are shown."),
        number => format!("{number} files were found, the best first."),
    };
    let left_out = match found.files_left_out {
        0 => return hits,
        1 => "1 file was".to_owned(),
        number => format!("{number} files were"),
    };
    format!(
        "{hits} {left_out} not searched: the index is full, or the file is too large to be redacted."
    )
}

/// A link to the lines that have the text as it is typed.
fn exact_link(room: &Room, path: Option<&MemoryPath>, asked: &str) -> Markup {
    let mut parameters = vec![("q", asked), ("exact", "1")];
    if let Some(path) = path.filter(|path| !path.is_root()) {
        parameters.push(("path", path.as_str()));
    }
    html! { a href=(link(room.number, "search", &parameters)) { "Look for the exact text" } }
}
