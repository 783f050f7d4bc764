//! The page that restores a version, after it has shown the difference from the present file.

use maud::{Markup, html};

use super::version::versions_of;
use super::{Question, changeable, framed, id_field, reverted};
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::{self, Layout, hidden, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::history::{Conflict, HistoryError, Version};
use memdir::path::MemoryPath;
use memdir::text::unified_diff;

pub(in crate::page) fn ask_restore(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let id = params.id()?;
    let versions = versions_of(room, id)?;
    let path = versions[0].path.clone();
    let what = html! {
        @for version in &versions { (brought_back(room, version)) }
        p { "This makes a new version, and you can undo it." }
    };
    let question = Question {
        title: "Restore?",
        what,
        warning: None,
        page: "restore",
        // The page has shown the present file, so overwriting it is intended.
        fields: html! { (id_field(id)) (hidden("overwrite", "1")) },
        does: "Restore",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Restore", "history", &path, &content)?))
}

/// The restored content, and its difference from the present one.
fn brought_back(room: &Room, version: &Version) -> Markup {
    let memory = room.memory();
    let is_there = memory.exists(version.path.as_str()).unwrap_or(false);
    let then = memory.read_version(version.id);
    let now = memory.store().read(&version.path);
    html! {
        section {
            p {
                strong { (shown(version.path.relative())) } " as of " (time(version.time))
                @if !is_there { ", which is created again at its former path" }
            }
            @if let (Ok(then), Ok(now)) = (then, now) {
                (html::diff(&unified_diff("now", &now, "then", &then), Layout::Inline))
            }
        }
    }
}

pub(in crate::page) fn restore(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let id = params.id()?;
    match room.memory().restore(id, given(&params.overwrite).is_some()) {
        Ok(restored) => Ok(reverted(room, &restored, "restored")),
        Err(error @ HistoryError::Conflict { .. }) => {
            conflict(site, room, params, &error, &html! {})
        }
        Err(error) => Err(error.into()),
    }
}

/// Why nothing was undone, with the conflicting paths and the alternatives.
pub(super) fn conflict(
    site: &Site,
    room: &Room,
    params: &Params,
    error: &HistoryError,
    ways: &Markup,
) -> PageAnswer {
    let root = MemoryPath::root();
    let content = html! {
        header.page-head { h1 { "Nothing was changed" } }
        (in_conflict(room, error))
        (ways)
    };
    Ok(Done::Unchanged(framed(
        (site, room, params),
        "Nothing was changed",
        "history",
        &root,
        &content,
    )?))
}

/// The conflicts that prevent an undo.
pub(super) fn in_conflict(room: &Room, error: &HistoryError) -> Markup {
    let (in_the_way, changed): (Vec<_>, Vec<_>) =
        error.conflicts().iter().partition(|conflict| conflict.in_the_way);
    html! {
        @if !changed.is_empty() {
            p.warning role="alert" { "Later changes depend on it:" }
            (conflicts(room, &changed))
            p { "Look at their timelines: undo the later changes first, or restore a version of each file." }
        }
        @if !in_the_way.is_empty() {
            p.warning role="alert" { "Something else is in the way:" }
            (conflicts(room, &in_the_way))
            p { "A file cannot be where a directory is, nor below another file: delete or rename what is there first." }
        }
    }
}

/// The conflicting paths, each with the later change.
pub(super) fn conflicts(room: &Room, conflicts: &[&Conflict]) -> Markup {
    html! {
        ul.concerned {
            @for conflict in conflicts {
                li {
                    (html::path_link(room.number, &conflict.path, true))
                    @if let (Some(change), Some(time)) = (conflict.change, conflict.time) {
                        " changed by " (html::actor(room.number, conflict.actor.as_deref())) " "
                        a href=(html::link(room.number, "version", &[("id", &change.to_string())])) { (html::time(time)) }
                    }
                }
            }
        }
    }
}
