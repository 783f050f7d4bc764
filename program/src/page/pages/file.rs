//! The page of a path: a file as Markdown, source or image, a directory with its entries, or a deleted file.

use maud::{Markup, html};

use super::edit::editable;
use super::searched::{Searched, carried};
use super::{MAX_SHOWN, changes, conflict, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{self, Notices, age, link, link_to, parts, shown, source, trail};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::Image;
use memdir::history::BlamedLine;
use memdir::path::MemoryPath;
use memdir::policy::sensitive;
use memdir::store::{Entry, EntryKind};
use memdir::text::{count_lines, human_size};

/// The maximum size of a file that is rendered as Markdown, in bytes.
const MAX_RENDERED: usize = 512 << 10;

/// The number of directory entries on a page. Browsers take noticeably longer to paint more.
const PAGE_ENTRIES: usize = 200;

/// The number of versions listed below a directory.
const LATEST: usize = 12;

pub(in crate::page) fn file(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let content = match room.memory().list(path.as_str(), Some(1)) {
        Ok(listed) => match &listed[..] {
            [entry]
                if entry.is_file() && entry.path.parent() == path.parent() && !path.is_root() =>
            {
                one(room, entry, params)?
            }
            entries => directory(room, &path, entries, params)?,
        },
        Err(memdir::Error::Refused(refused)) => gone(room, &path, refused.sentence())?,
        Err(error) => return Err(error.into()),
    };
    let title = if path.is_root() { "Files" } else { path.name().unwrap_or_default() };
    let page = framed((site, room, params), title, "file", &path, &content)?;
    Ok(Done::Page(page))
}

/// The actions for the file or directory at the path.
fn actions(room: &Room, path: &MemoryPath, is_file: bool, is_editable: bool) -> Markup {
    let to = |page: &str| link(room.number, page, &[("path", path.as_str())]);
    html! {
        div.actions {
            a.button #timeline href=(to("history")) { "Timeline" }
            @if is_file { a.button href=(to("download")) { "Download" } }
            @if !room.shown.is_read_only {
                @if is_file {
                    @if is_editable { a.button #edit href=(to("edit")) { "Edit" } }
                } @else {
                    a.button #new href=(to("new")) { "New file" }
                }
                @if !path.is_root() {
                    a.button href=(to("rename")) { "Rename" }
                    a.button.danger href=(to("delete")) { "Delete" }
                }
            }
        }
    }
}

fn one(room: &Room, entry: &Entry, params: &Params) -> Result<Markup, Refusal> {
    let path = &entry.path;
    let EntryKind::File(size) = entry.kind else {
        return Err(Refusal::not_found("It is a directory."));
    };
    let (body, is_editable) = if size > MAX_SHOWN {
        (html! { p.note { "The file is too large to be shown here: download it." } }, false)
    } else {
        body(room, path, params)?
    };
    Ok(html! {
        header.page-head {
            (trail(room.number, path))
            p.meta { span { (human_size(size)) } span { "written " (age(entry.modified)) } }
            (actions(room, path, true, is_editable))
        }
        (conflict::note(room, path))
        (body)
    })
}

/// The content of a file, and whether a browser can edit it.
fn body(room: &Room, path: &MemoryPath, params: &Params) -> Result<(Markup, bool), Refusal> {
    let bytes = match room.memory().store().read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.is_failure() => return Err(memdir::Error::Store(error).into()),
        Err(error) => return Ok((html! { p.note { (room.said(&error)) } }, false)),
    };
    if Image::in_bytes(&bytes).is_some() {
        let source = link(room.number, "image", &[("path", path.as_str())]);
        let alt = html::spelled(path.name().unwrap_or_default());
        return Ok((html! { figure.picture { img src=(source) alt=(alt); } }, false));
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Ok((html! { p.note { "The file is not text: download it." } }, false));
    };
    Ok((body_of_text(room, path, text, params)?, editable(text).is_ok()))
}

fn body_of_text(
    room: &Room,
    path: &MemoryPath,
    text: &str,
    params: &Params,
) -> Result<Markup, Refusal> {
    let is_markdown = path.name().is_some_and(|name| {
        let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
        matches!(extension.as_deref(), Some("md" | "markdown"))
    });
    let can_render = is_markdown && text.len() <= MAX_RENDERED;
    let can_blame = room.has_history();
    let is_blamed = can_blame && params.view.as_deref() == Some("blame");
    let is_source = params.view.as_deref() == Some("source") || !can_render;
    let is_rendered = !is_blamed && !is_source;
    let view = |view: &str| {
        let mut asked = vec![("path", path.as_str()), ("view", view)];
        asked.extend(carried(params));
        link(room.number, "file", &asked)
    };
    let tab = |name: &str, is_here: bool, label: &str| {
        html! { a href=(view(name)) aria-current=[is_here.then_some("true")] { (label) } }
    };
    Ok(html! {
        @if can_render || can_blame {
            nav.tabs aria-label="View" {
                @if can_render { (tab("rendered", is_rendered, "Rendered")) }
                (tab("source", !is_rendered && !is_blamed, "Source"))
                @if can_blame { (tab("blame", is_blamed, "Blame")) }
            }
        }
        @if text.is_empty() {
            p.note { "The file is empty." }
        } @else if is_rendered {
            article.rendered { (html::markdown(room.number, path, text)) }
        } @else if is_blamed {
            (blame(room, path, params)?)
        } @else {
            (lines(room, path, text, params, "source", None))
        }
    })
}

/// The source, with the version that added each line. The lines are those of the blame, because the file may have changed since
/// it was read.
fn blame(room: &Room, path: &MemoryPath, params: &Params) -> Result<Markup, Refusal> {
    let blamed = room.memory().blame(path.as_str())?;
    let text: String = blamed.iter().flat_map(|line| [&line.text, "\n"]).collect();
    let origin = |number: u64| {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        let Some(line) = blamed.get(at - 1) else { return html! {} };
        let before = at.checked_sub(2).and_then(|before| blamed.get(before));
        // Only once for consecutive lines of a version, and at the top of each part.
        let is_same = before.is_some_and(|before| before.version == line.version);
        if is_same && at % html::PAGE_LINES != 1 {
            return html! {};
        }
        origin_of(room, line)
    };
    Ok(lines(room, path, &text, params, "blame", Some(&origin)))
}

/// The actor and the time of a line, as a link to the version.
fn origin_of(room: &Room, line: &BlamedLine) -> Markup {
    let who = line.actor.as_deref().unwrap_or("somebody");
    let older = line.may_be_older.then_some("The line may be older.");
    html! {
        @match (line.version, line.time) {
            (Some(version), Some(time)) => {
                a href=(link(room.number, "version", &[("id", &version.to_string())])) title=[older] {
                    span.who.unknown[line.actor.is_none()] { (shown(who)) } " " (html::short_age(time))
                }
            }
            _ => span.unknown title=[older] { "not recorded" },
        }
    }
}

/// The source, or a part of it if it is long, with the findings of the rules for sensitive text and the search matches.
fn lines(
    room: &Room,
    path: &MemoryPath,
    text: &str,
    params: &Params,
    view: &str,
    origin: Option<&dyn Fn(u64) -> Markup>,
) -> Markup {
    let total = usize::try_from(count_lines(text.as_bytes())).unwrap_or(usize::MAX);
    let first = params.from().min(total.max(1));
    let found = found_in(room, text);
    let searched = Searched::in_file(room, path, params);
    let rules = |number: u64| {
        let here = found.iter().filter(|(line, _)| *line == number);
        here.map(|(_, rule)| rule.clone()).collect()
    };
    let passage = params.lines();
    let part = |from: usize| {
        let from = from.to_string();
        let mut asked = vec![("path", path.as_str()), ("view", view), ("from", &from)];
        asked.extend(carried(params));
        link(room.number, "file", &asked)
    };
    html! {
        (source(text, first, Notices { rules: &rules, found: &|line| searched.places(line), passage, origin }))
        (parts(total, first, &part))
    }
}

/// The lines with findings of the rules for sensitive text.
fn found_in(room: &Room, text: &str) -> Vec<(u64, String)> {
    let rules = &room.memory().options().sensitive_rules;
    let findings = sensitive::find(text, rules);
    let line = |at: usize| memdir::text::line_at(text.as_bytes(), at);
    findings.iter().map(|found| (line(found.range.start), found.rule.to_owned())).collect()
}

fn directory(
    room: &Room,
    path: &MemoryPath,
    entries: &[Entry],
    params: &Params,
) -> Result<Markup, Refusal> {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|entry| entry.is_file());
    let first = params.from().min(entries.len().max(1));
    let part = |from: usize| {
        link(room.number, "file", &[("path", path.as_str()), ("from", &from.to_string())])
    };
    let shown_entries: Vec<_> = entries.iter().skip(first - 1).take(PAGE_ENTRIES).collect();
    let last = first - 1 + shown_entries.len();
    Ok(html! {
        header.page-head {
            (trail(room.number, path))
            p.meta { span { (entries.len()) @if entries.len() == 1 { " entry" } @else { " entries" } } }
            (actions(room, path, false, false))
        }
        @if entries.is_empty() {
            p.note { "This directory is empty." }
        } @else {
            table.listing {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Size" } th scope="col" { "Written" } } }
                tbody {
                    @for entry in shown_entries {
                        tr data-item {
                            td {
                                a.(if entry.is_file() { "file" } else { "directory" })
                                    href=(link_to(room.number, &entry.path)) {
                                    (shown(entry.path.name().unwrap_or_default()))
                                    @if !entry.is_file() { "/" }
                                }
                            }
                            td.number { @if let EntryKind::File(size) = entry.kind { (human_size(size)) } }
                            td { @if entry.is_file() { (age(entry.modified)) } }
                        }
                    }
                }
            }
        }
        @if entries.len() > PAGE_ENTRIES {
            nav.pager aria-label="Parts" {
                @if first > 1 { a href=(part(first.saturating_sub(PAGE_ENTRIES).max(1))) { "Earlier entries" } }
                span { (first) " to " (last) " of " (entries.len()) }
                @if last < entries.len() { a href=(part(last + 1)) { "Further entries" } }
            }
        }
        @if room.has_history() {
            section {
                h2 { "Recent changes" }
                (changes::latest(room, path, LATEST)?)
            }
        }
    })
}

/// A message for a path without a file, with the versions of a deleted file.
fn gone(room: &Room, path: &MemoryPath, sentence: &str) -> Result<Markup, Refusal> {
    let was_there = room.has_history() && changes::has_versions(room, path)?;
    if !was_there {
        return Err(Refusal::not_found(sentence));
    }
    Ok(html! {
        header.page-head {
            (trail(room.number, path))
            p.meta { "It no longer exists." }
        }
        h2 { "Earlier versions" }
        (changes::latest(room, path, 100)?)
    })
}
