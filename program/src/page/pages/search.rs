//! The search in names, contents, and past versions: for exact lines, or for the files that answer a question best.

use maud::{Markup, html};

use super::framed;
use super::ranked::ranked;
use super::searched::{Searched, carried};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{MAX_QUESTION, first_of_part, link, operation, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::{GrepMatch, HistoryMatch};

/// The maximum number of matches shown.
const MAX: usize = 300;

pub(in crate::page) fn search(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let asked = given(&params.q).unwrap_or_default();
    let searched = Searched::new(params);
    let problem = searched.as_ref().err().map(ToString::to_string);
    let found = searched.ok().map(|searched| found(room, &path, &searched, params)).transpose()?;
    let content = html! {
        header.page-head { h1 { "Search" } }
        (options(room, &path, asked, params, problem.as_deref()))
        @if let Some(found) = found { (found) }
    };
    let page = framed((site, room, params), "Search", "search", &path, &content)?;
    Ok(if problem.is_some() { Done::Unchanged(page) } else { Done::Page(page) })
}

/// The search form as typed, with an error about it.
fn options(
    room: &Room,
    path: &MemoryPath,
    asked: &str,
    params: &Params,
    problem: Option<&str>,
) -> Markup {
    let choice = |name: &str, is_on: bool, label: &str| {
        html! { label { input type="checkbox" name=(name) value="1" checked[is_on]; " " (label) } }
    };
    html! {
        form.filter action=(link(room.number, "search", &[])) {
            @if !path.is_root() { input type="hidden" name="path" value=(path.as_str()); }
            label { "Text "
                input type="search" name="q" value=(asked) required autocomplete="off" maxlength=(MAX_QUESTION)
                    aria-describedby=[problem.map(|_| "q-problem")] aria-invalid=[problem.map(|_| "true")]
                    autofocus[problem.is_some()];
            }
            (choice("exact", given(&params.exact).is_some(), "Exact text"))
            (choice("case", given(&params.case).is_some(), "Match case"))
            (choice("regex", given(&params.regex).is_some(), "Regular expression"))
            @if room.has_history() { (choice("past", given(&params.past).is_some(), "Include past versions")) }
            button type="submit" { "Search" }
            @if let Some(problem) = problem { p #q-problem .wrong role="alert" { (shown(problem)) } }
        }
    }
}

fn found(
    room: &Room,
    path: &MemoryPath,
    searched: &Searched,
    params: &Params,
) -> Result<Markup, Refusal> {
    let Some(query) = searched.query() else { return Ok(html! {}) };
    if !is_exact(params) {
        return ranked(room, path, given(&params.q).unwrap_or_default());
    }
    let memory = room.memory();
    let matches = memory.grep(query, path.as_str(), MAX)?;
    let past = match given(&params.past) {
        Some(_) if room.has_history() => memory.grep_history(query, path.as_str(), MAX)?,
        _ => Vec::new(),
    };
    let is_cut = matches.len() == MAX || past.len() == MAX;
    Ok(html! {
        (in_files(room, &matches, searched, params))
        @if !past.is_empty() { (in_history(room, &past, searched, params)) }
        @if room.has_history() && !room.shown.is_read_only {
            div.actions { a.button.danger href=(redact_address(room, path, params)) { "Redact in all past versions" } }
        }
        @if matches.is_empty() && past.is_empty() { p.note { "Nothing was found." } }
        @if is_cut { p.note { "There may be more: the first " (MAX) " are shown." } }
    })
}

/// Whether the search is for exact lines. Otherwise it ranks files by the words of the text.
fn is_exact(params: &Params) -> bool {
    [&params.exact, &params.case, &params.regex, &params.past]
        .into_iter()
        .any(|option| given(option).is_some())
}

/// The address that redacts the search text in all versions.
fn redact_address(room: &Room, path: &MemoryPath, params: &Params) -> String {
    let mut asked = vec![("path", path.as_str())];
    asked.extend(carried(params));
    link(room.number, "redact", &asked)
}

fn in_files(room: &Room, matches: &[GrepMatch], searched: &Searched, params: &Params) -> Markup {
    html! {
        @for of_file in matches.chunk_by(|one, next| one.path == next.path) {
            @let path = &of_file[0].path;
            section.found {
                h2 { a.path href=(line_of(room, path, None, params)) { (searched.marked(path.relative())) } }
                ul {
                    @for found in of_file {
                        @if let Some(line) = found.line {
                            @let address = line_of(room, path, Some(line), params);
                            li data-item { a href=(address) { span.number { (line) } " " code { (searched.marked(&found.text)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// The address of a line in a file's source, or of the file, with the search matches marked.
pub(super) fn line_of(
    room: &Room,
    path: &MemoryPath,
    line: Option<u64>,
    params: &Params,
) -> String {
    let from = line.map(first_of_part);
    let mut asked = vec![("path", path.as_str())];
    if let Some(from) = &from {
        asked.extend([("view", "source"), ("from", from.as_str())]);
        asked.extend(carried(params));
    }
    let address = link(room.number, "file", &asked);
    line.map_or(address.clone(), |line| format!("{address}#L{line}"))
}

fn in_history(room: &Room, past: &[HistoryMatch], searched: &Searched, params: &Params) -> Markup {
    html! {
        section.found {
            h2 { "Only in the history" }
            ul {
                @for found in past {
                    @let version = &found.version;
                    li data-item {
                        a href=(line_of_version(room, found, params)) {
                            span.path { (searched.marked(version.path.relative())) } " "
                            @if let Some(line) = found.line { span.number { (line) } " " }
                            code { (searched.marked(&found.text)) }
                        }
                        " " (operation(version.operation)) " " (time(version.time))
                    }
                }
            }
        }
    }
}

/// The address of a line in the content of a version.
fn line_of_version(room: &Room, found: &HistoryMatch, params: &Params) -> String {
    let id = found.version.id.to_string();
    let mut asked = vec![("id", id.as_str())];
    let Some(line) = found.line else { return link(room.number, "version", &asked) };
    let from = first_of_part(line);
    asked.push(("from", &from));
    asked.extend(carried(params));
    format!("{}#L{line}", link(room.number, "version", &asked))
}
