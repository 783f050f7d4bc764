//! The search over names, contents, and what is in the history only.

use maud::{Markup, html};

use super::framed;
use crate::page::answer::{Answer, Done, Refusal};
use crate::page::html::{PAGE_LINES, link, link_to, operation, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use crate::path::MemoryPath;
use crate::{Match, PastMatch, Query};

/// How many matches are shown.
const MAX: usize = 300;

pub(in crate::page) fn search(site: &Site, room: &Room, params: &Params) -> Answer {
    let path = params.path_or_root()?;
    let asked = given(&params.q).unwrap_or_default();
    let content = html! {
        header.page-head { h1 { "Search" } }
        (options(room, &path, asked, params))
        @if !asked.is_empty() { (found(room, &path, asked, params)?) }
    };
    Ok(Done::Page(framed((site, room, params), "Search", "search", &path, &content)?))
}

fn options(room: &Room, path: &MemoryPath, asked: &str, params: &Params) -> Markup {
    let choice = |name: &str, is_on: bool, label: &str| {
        html! { label { input type="checkbox" name=(name) value="1" checked[is_on]; " " (label) } }
    };
    html! {
        form.filter action=(link(room.number, "search", &[])) {
            @if !path.is_root() { input type="hidden" name="path" value=(path.as_str()); }
            label { "Text " input type="search" name="q" value=(asked) required autocomplete="off"; }
            (choice("case", given(&params.case).is_some(), "Match case"))
            (choice("regex", given(&params.regex).is_some(), "Regular expression"))
            @if room.has_history() { (choice("past", given(&params.past).is_some(), "Past versions, too")) }
            button type="submit" { "Search" }
        }
    }
}

fn found(room: &Room, path: &MemoryPath, asked: &str, params: &Params) -> Result<Markup, Refusal> {
    let query = match given(&params.regex) {
        None => Query::text(asked),
        Some(_) => Query::regex(asked).map_err(|error| Refusal::wrong(error.to_string()))?,
    };
    let query = if given(&params.case).is_some() { query } else { query.ignoring_case() };
    let memory = room.memory();
    let matches = memory.search(&query, path.as_str(), MAX)?;
    let past = match given(&params.past) {
        Some(_) if room.has_history() => memory.search_history(&query, path.as_str(), MAX)?,
        _ => Vec::new(),
    };
    let is_cut = matches.len() == MAX || past.len() == MAX;
    Ok(html! {
        (in_files(room, &matches))
        @if !past.is_empty() { (in_history(room, &past)) }
        @if matches.is_empty() && past.is_empty() { p.note { "Nothing was found." } }
        @if is_cut { p.note { "There may be more: the first " (MAX) " are shown." } }
    })
}

fn in_files(room: &Room, matches: &[Match]) -> Markup {
    html! {
        @for of_file in matches.chunk_by(|one, next| one.path == next.path) {
            @let path = &of_file[0].path;
            section.found {
                h2 { a.path href=(link_to(room.number, path)) { (shown(path.relative())) } }
                ul {
                    @for found in of_file {
                        @if let Some(line) = found.line {
                            @let (address, number) = (line_of(room, path, line), line.to_string());
                            li data-item { a href=(address) { span.number { (number) } " " code { (shown(&found.text)) } } }
                        }
                    }
                }
            }
        }
    }
}

/// The address of a line in a file's source.
pub(super) fn line_of(room: &Room, path: &MemoryPath, line: u64) -> String {
    let pages = PAGE_LINES as u64;
    let from = ((line - 1) / pages * pages + 1).to_string();
    let asked = [("path", path.as_str()), ("view", "source"), ("from", &from)];
    format!("{}#L{line}", link(room.number, "file", &asked))
}

fn in_history(room: &Room, past: &[PastMatch]) -> Markup {
    html! {
        section.found {
            h2 { "In the history only" }
            ul {
                @for found in past {
                    @let version = &found.version;
                    li data-item {
                        a href=(link(room.number, "version", &[("id", &version.id.to_string())])) {
                            span.path { (shown(version.path.relative())) } " "
                            @if let Some(line) = found.line { span.number { (line) } " " }
                            code { (shown(&found.text)) }
                        }
                        " " (operation(version.operation)) " " (time(version.time))
                    }
                }
            }
        }
    }
}
