//! The timeline of everything, of a directory, a file or an actor: who changed what and when, newest first.

use std::collections::HashSet;

use maud::{Markup, html};

use super::framed;
use crate::history::{HistoryQuery, Operation, Version};
use crate::page::answer::{Answer, Done, Refusal};
use crate::page::html::{actor, link, operation, path_link, shown, time, trail};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use crate::path::MemoryPath;
use crate::text::human_size;

/// How many versions a page has.
const PAGE: usize = 50;

/// How many versions are looked at for deleted files, and of how many it is asked whether they are there again.
const LOOKED_AT: usize = 2_000;
const ASKED: usize = 50;

pub(in crate::page) fn history(site: &Site, room: &Room, params: &Params) -> Answer {
    let path = params.path_or_root()?;
    let asked = (params.actor(), params.since()?);
    let content = if room.has_history() {
        let mut query = at(&path);
        query.actor = asked.0.map(str::to_owned);
        query.since = asked.1;
        query.before = params.before()?;
        query.limit = Some(PAGE + 1);
        let mut versions = room.memory().history(&query)?;
        let more = versions.len() > PAGE;
        versions.truncate(PAGE);
        let older = more.then(|| versions.last().map(|last| older(room, params, &path, last)));
        html! {
            (changes(room, &versions))
            @if versions.is_empty() { p.note { "Nothing was changed." } }
            @if let Some(Some(older)) = older { nav.pager { a rel="next" href=(older) { "Older changes" } } }
        }
    } else {
        html! {
            p.note { "No history is kept of this memory. Start memdir serve with " code { "--history" } " to keep one." }
        }
    };
    let content = html! {
        header.page-head {
            h1 { "Timeline" }
            @if !path.is_root() { (trail(room.number, &path)) }
        }
        @if room.has_history() { (filter(room, &path, params)) }
        (content)
    };
    Ok(Done::Page(framed((site, room, params), "Timeline", "history", &path, &content)?))
}

fn older(room: &Room, params: &Params, path: &MemoryPath, last: &Version) -> String {
    let before = last.id.to_string();
    let mut asked = vec![("path", path.as_str()), ("before", &before)];
    asked.extend(params.actor().map(|actor| ("actor", actor)));
    asked.extend(given(&params.since).map(|since| ("since", since)));
    link(room.number, "history", &asked)
}

/// Whose changes are shown, and a way to take all of them back.
fn filter(room: &Room, path: &MemoryPath, params: &Params) -> Markup {
    let since = given(&params.since).unwrap_or_default();
    html! {
        form.filter action=(link(room.number, "history", &[])) {
            @if !path.is_root() { input type="hidden" name="path" value=(path.as_str()); }
            label { "Who " input name="actor" value=[params.actor()] autocomplete="off"; }
            label { "Since " input name="since" value=(since) placeholder="2026-03-14T15:09Z" autocomplete="off"; }
            button type="submit" { "Show" }
            @if !room.shown.is_read_only {
                button type="submit" formaction=(link(room.number, "undo", &[])) { "Take back all since then…" }
            }
        }
    }
}

fn at(path: &MemoryPath) -> HistoryQuery {
    let path = (!path.is_root()).then(|| path.as_str().to_owned());
    HistoryQuery { path, ..HistoryQuery::default() }
}

/// The latest changes at a path and below it.
pub(super) fn latest(room: &Room, path: &MemoryPath, limit: usize) -> Result<Markup, Refusal> {
    let query = HistoryQuery { limit: Some(limit), ..at(path) };
    let versions = room.memory().history(&query)?;
    if versions.is_empty() {
        return Ok(html! { p.note { "Nothing was changed since the history is kept." } });
    }
    Ok(changes(room, &versions))
}

/// Whether anything at a path, or below it, was changed.
pub(super) fn has_versions(room: &Room, path: &MemoryPath) -> Result<bool, Refusal> {
    let query = HistoryQuery { limit: Some(1), ..at(path) };
    Ok(!room.memory().history(&query)?.is_empty())
}

/// The versions that deleted a file which is not there again, newest first.
pub(super) fn deleted(room: &Room, limit: usize) -> Result<Vec<Version>, Refusal> {
    let memory = room.memory();
    let query = HistoryQuery { limit: Some(LOOKED_AT), ..HistoryQuery::default() };
    let mut seen = HashSet::new();
    let (mut gone, mut asked) = (Vec::new(), 0);
    for version in memory.history(&query)? {
        if gone.len() >= limit || asked >= ASKED {
            break;
        }
        let is_deletion = matches!(
            version.operation,
            Operation::Deleted | Operation::Expired | Operation::Cleared
        ) || (version.operation == Operation::External && version.size.is_none());
        if seen.insert(version.path.clone()) && is_deletion {
            asked += 1;
            if !memory.exists(version.path.as_str())? {
                gone.push(version);
            }
        }
    }
    Ok(gone)
}

/// The versions by the changes that made them.
pub(super) fn changes(room: &Room, versions: &[Version]) -> Markup {
    html! {
        ol.changes {
            @for change in versions.chunk_by(|one, next| one.change == next.change) {
                @let first = &change[0];
                li.change {
                    header {
                        (actor(room.number, first.actor.as_deref())) " " (time(first.time))
                        @if change.len() > 1 { span.count { (change.len()) " files" } }
                        @if !room.shown.is_read_only && !matches!(first.operation, Operation::Redacted | Operation::External) {
                            a.quiet href=(link(room.number, "undo", &[("id", &first.change.to_string())])) { "Undo" }
                        }
                    }
                    @for version in change { (row(room, version)) }
                }
            }
        }
    }
}

/// Whether the version left something that is not there now, so that it can be brought back.
pub(super) fn has_past(version: &Version) -> bool {
    version.redacted.is_none() && !version.is_current && version.operation != Operation::Redacted
}

fn row(room: &Room, version: &Version) -> Markup {
    let id = version.id.to_string();
    let to = |page: &str| link(room.number, page, &[("id", &id)]);
    let can_change = !room.shown.is_read_only && has_past(version);
    html! {
        div.version data-item {
            div.row {
                (operation(version.operation)) " "
                (path_link(room.number, &version.path, true))
                @if let Some(old) = &version.old_path { span.from { " from " (shown(old.relative())) } }
                @if version.is_current { span.tag.current { "current" } }
                @if let Some(reason) = &version.redacted { span.tag.redacted { "redacted: " (shown(reason)) } }
                span.meta {
                    @if let Some(size) = version.size { (human_size(size)) }
                }
                span.links {
                    a href=(to("version")) { "Version" }
                    @if can_change {
                        a href=(to("restore")) { "Restore" }
                        @if version.size.is_some() { a href=(to("redact")) { "Redact" } }
                    }
                }
            }
            @if version.redacted.is_none() {
                details data-fragment=(to("diff")) {
                    summary { "What changed" }
                    p { a href=(to("version")) { "Show it" } }
                }
            }
        }
    }
}
