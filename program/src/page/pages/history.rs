//! The timeline of a memory, a directory, a file or an actor: who changed what and when, newest first.

use std::time::SystemTime;

use maud::{Markup, html};

use super::{changes, compare, framed, period};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{clock, link, trail};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::history::Version;
use memdir::path::MemoryPath;

/// The number of versions on a page.
const PAGE: usize = 50;

pub(in crate::page) fn history(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let (since, problem) = match params.since() {
        Ok(since) => (since, None),
        Err(problem) => (None, Some(problem)),
    };
    let content = if !room.has_history() {
        html! {
            p.note { "This memory has no history. Start memdir serve with " code { "--history" } " to keep one." }
        }
    } else if problem.is_some() {
        filter(room, &path, params, problem.as_deref())?
    } else {
        html! {
            (filter(room, &path, params, None)?)
            @if let Some(since) = since { p.meta data-ago { "Since " (clock(since, params.zone())) "." } }
            (listed(room, &path, params, since)?)
        }
    };
    let content = html! {
        header.page-head {
            h1 { "Timeline" }
            @if !path.is_root() { (trail(room.number, &path)) }
        }
        (content)
    };
    let page = framed((site, room, params), "Timeline", "history", &path, &content)?;
    Ok(if problem.is_some() { Done::Unchanged(page) } else { Done::Page(page) })
}

/// One page of the changes, with a link to older ones. For a file, any two versions can be compared.
fn listed(
    room: &Room,
    path: &MemoryPath,
    params: &Params,
    since: Option<SystemTime>,
) -> Result<Markup, Refusal> {
    let mut query = changes::at(path);
    query.actor = params.actor().map(str::to_owned);
    query.since = since;
    query.before = params.before()?;
    query.limit = Some(PAGE + 1);
    let mut versions = room.memory().history(&query)?;
    let more = versions.len() > PAGE;
    versions.truncate(PAGE);
    let last = versions.last().filter(|_| more);
    if versions.is_empty() {
        return Ok(html! { p.note { "Nothing was changed." } });
    }
    if versions.iter().any(|version| version.path == *path) {
        return compare::choice(room, params, &versions, last);
    }
    Ok(html! {
        (changes::list(room, &versions))
        @if let Some(last) = last {
            nav.pager { a rel="next" href=(older(room, params, path, last)) { "Older changes" } }
        }
    })
}

fn older(room: &Room, params: &Params, path: &MemoryPath, last: &Version) -> String {
    let before = last.id.to_string();
    let mut asked = vec![("path", path.as_str()), ("before", &before)];
    asked.extend(period::carried(params));
    link(room.number, "history", &asked)
}

/// The filter by actor and time, with a link that undoes all changes of the selection.
fn filter(
    room: &Room,
    path: &MemoryPath,
    params: &Params,
    problem: Option<&str>,
) -> Result<Markup, Refusal> {
    let buttons = html! {
        button type="submit" { "Show" }
        @if !room.shown.is_read_only {
            button type="submit" formaction=(link(room.number, "undo", &[])) { "Undo everything since then…" }
        }
    };
    Ok(html! {
        form.filter action=(link(room.number, "history", &[])) {
            @if !path.is_root() { input type="hidden" name="path" value=(path.as_str()); }
            (period::fields(room, path, params, problem, &buttons)?)
        }
    })
}
