//! The page of one version: its change, its content, and the difference from the present file.

use maud::{Markup, html};

use super::changes::has_past;
use super::searched::{Searched, carried};
use super::{changes, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{
    self, Layout, Notices, link, made_by, operation, parts, path_link, shown, source, time,
};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use crate::with::with;
use memdir::history::{HistoryError, HistoryId, HistoryQuery, Version};
use memdir::text::{count_lines, human_size, unified_diff};

/// The version with this id. For the id of a change, all of its versions.
pub(super) fn versions_of(room: &Room, id: HistoryId) -> Result<Vec<Version>, Refusal> {
    let memory = room.memory();
    let of_change = with(HistoryQuery::default(), |query| query.change = Some(id));
    let found = memory.history(&of_change)?;
    if !found.is_empty() {
        return Ok(found);
    }
    // Search the versions since its time, which include it.
    let since = with(HistoryQuery::default(), |query| query.since = Some(id.time()));
    let all = memory.history(&since)?;
    let version = all.into_iter().find(|version| version.id == id);
    version.map(|version| vec![version]).ok_or_else(|| HistoryError::Unknown(id.to_string()).into())
}

pub(in crate::page) fn version(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let id = params.id()?;
    let versions = versions_of(room, id)?;
    let path = versions[0].path.clone();
    let content = match &versions[..] {
        [version] if version.id == id => one(room, version, params)?,
        versions => html! {
            header.page-head { h1 { "One change" } }
            (changes::list(room, versions))
        },
    };
    Ok(Done::Page(framed((site, room, params), "Version", "history", &path, &content)?))
}

fn one(room: &Room, version: &Version, params: &Params) -> Result<Markup, Refusal> {
    let id = version.id.to_string();
    let to = |page: &str| link(room.number, page, &[("id", &id)]);
    let can_change = !room.shown.is_read_only && has_past(version);
    Ok(html! {
        header.page-head {
            h1 { (operation(version.operation)) " " (path_link(room.number, &version.path, true)) }
            p.meta {
                (made_by(room.number, version)) (time(version.time))
                @if let Some(size) = version.size { span { (human_size(size)) } }
                @if version.is_current { span.tag.current { "current" } }
            }
            div.actions {
                a.button #timeline href=(link(room.number, "history", &[("path", version.path.as_str())])) { "Timeline" }
                @if !room.shown.is_read_only {
                    a.button href=(link(room.number, "undo", &[("id", &version.change.to_string())])) { "Undo this change" }
                }
                @if can_change {
                    a.button href=(to("restore")) { "Restore this version" }
                    @if version.size.is_some() { a.button.danger href=(to("redact")) { "Redact" } }
                }
            }
        }
        @if let Some(reason) = &version.redacted {
            p.note { "The content was redacted: " (shown(reason)) }
        } @else {
            section {
                (layouts(room, "version", &[("id", &id)], params.layout(), "What it changed"))
                (changed(room, version.id, params.layout()))
            }
            (since_then(room, version, params.layout()))
            (content(room, version, params))
        }
        dl.facts {
            dt { "Version" } dd { code { (id) } }
            dt { "Change" } dd { code { (version.change.to_string()) } }
            @if let Some(sha256) = &version.sha256 { dt { "SHA-256" } dd { code { (sha256) } } }
        }
    })
}

/// The heading of a diff, with links to its two layouts.
pub(super) fn layouts(
    room: &Room,
    page: &str,
    ids: &[(&str, &str)],
    layout: Layout,
    title: &str,
) -> Markup {
    let to = |way| link(room.number, page, &[ids, &[("diff", way)]].concat());
    let is_inline = layout == Layout::Inline;
    html! {
        div.heading {
            h2 { (title) }
            nav.tabs.small aria-label="Layout" {
                a href=(to("inline")) aria-current=[is_inline.then_some("true")] { "Inline" }
                a href=(to("side")) aria-current=[(!is_inline).then_some("true")] { "Side by side" }
            }
        }
    }
}

/// The change of a version, as a diff of its file.
pub(super) fn changed(room: &Room, id: HistoryId, layout: Layout) -> Markup {
    match room.memory().diff(id, None) {
        Ok(made) => html::diff(&made, layout),
        Err(error) => html! { p.note { (room.said(&error)) } },
    }
}

/// The difference between the version and the present file.
fn since_then(room: &Room, version: &Version, layout: Layout) -> Markup {
    if version.is_current {
        return html! {};
    }
    let memory = room.memory();
    let (Ok(then), Ok(now)) = (memory.read_version(version.id), memory.store().read(&version.path))
    else {
        return html! {};
    };
    let made = unified_diff("then", &then, "now", &now);
    html! {
        section { h2 { "What changed since then" } (html::diff(&made, layout)) }
    }
}

/// The content of the version. It is expanded if there is a search, whose matches are marked, or if the address asks for a further part.
fn content(room: &Room, version: &Version, params: &Params) -> Markup {
    let Ok(content) = room.memory().read_version(version.id) else { return html! {} };
    let searched = Searched::or_nothing(params);
    let body = match std::str::from_utf8(&content) {
        Ok("") => html! { p.note { "It is empty." } },
        Ok(text) => {
            let total = usize::try_from(count_lines(text.as_bytes())).unwrap_or(usize::MAX);
            let first = params.from().min(total.max(1));
            let found = |line: &str| searched.places(line);
            let part = |from: usize| {
                let (id, from) = (version.id.to_string(), from.to_string());
                let asked = [&[("id", &*id), ("from", &from)][..], &carried(params)].concat();
                link(room.number, "version", &asked) + "#content"
            };
            html! {
                (source(text, first, Notices { found: &found, ..Notices::default() }))
                (parts(total, first, &part))
            }
        }
        Err(_) => html! { p.note { "The file is not text." } },
    };
    html! {
        details.content #content open[searched.query().is_some() || given(&params.from).is_some()] { summary { "The whole content" } (body) }
    }
}
