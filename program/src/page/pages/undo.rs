//! A change is taken back, or all since a time, after it was said what that does.

use std::time::SystemTime;

use maud::{Markup, html};

use super::restore::{conflict, in_conflict};
use super::{Question, changeable, concerned, framed, id_field, period, taken_back};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{clock, form, hidden, link, shown};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::history::{HistoryError, Restored};
use memdir::path::MemoryPath;
use memdir::text::rfc3339;

pub(in crate::page) fn ask_undo(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    if is_since(params) { ask_since(site, room, params) } else { ask_change(site, room, params) }
}

pub(in crate::page) fn undo(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let memory = room.memory();
    let undone = if is_since(params) {
        let Ok(Some(since)) = params.since() else { return ask_since(site, room, params) };
        memory.undo_since(since, params.actor(), false)
    } else {
        memory.undo(params.id()?, false)
    };
    match undone {
        Ok(restored) => Ok(taken_back(room, &restored, "undone")),
        Err(HistoryError::Conflict { .. }) if is_since(params) => ask_since(site, room, params),
        Err(error @ HistoryError::Conflict { .. }) => conflict(site, room, params, &error),
        Err(error) => Err(error.into()),
    }
}

/// Whether it is asked for all since a time, and not for a change.
fn is_since(params: &Params) -> bool {
    given(&params.id).is_none()
}

/// What will be done.
fn preview(room: &Room, would: &Restored) -> Markup {
    html! {
        @if would.files.is_empty() {
            p { "There is nothing to do: the files are as they were before." }
        } @else {
            p { "This will be done:" }
            (concerned(room, would))
            p { "It becomes a change of its own, and can be taken back." }
        }
    }
}

fn ask_change(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let id = params.id()?;
    let would = match room.memory().undo(id, true) {
        Ok(would) => would,
        Err(error @ HistoryError::Conflict { .. }) => return conflict(site, room, params, &error),
        Err(error) => return Err(error.into()),
    };
    let path = match &would.files[..] {
        [file] => file.path.clone(),
        _ => MemoryPath::root(),
    };
    let question = Question {
        title: "Take back?",
        what: preview(room, &would),
        warning: None,
        page: "undo",
        fields: id_field(id),
        does: "Take back",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Take back", "history", &path, &content)?))
}

/// The form for an actor and a time, and below it a preview of what taking back does. The form keeps what was typed.
fn ask_since(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    // A form that was opened and not sent has no field.
    let is_sent = params.since.is_some();
    let (since, problem) = match params.since() {
        Ok(Some(since)) => (Some(since), None),
        Ok(None) => (None, is_sent.then(|| "Say since when.".to_owned())),
        Err(problem) => (None, Some(problem)),
    };
    let root = MemoryPath::root();
    let buttons = html! { button type="submit" { "Show what that does" } };
    let content = html! {
        header.page-head { h1 { "Take back all since a time" } }
        form.filter action=(link(room.number, "undo", &[])) {
            (period::fields(room, &root, params, problem.as_deref(), &buttons)?)
        }
        @if let Some(since) = since {
            p {
                "All that " @if let Some(actor) = params.actor() { (shown(actor)) } @else { "anybody" }
                " changed since " (clock(since, params.zone())) "."
            }
            (take_back(site, room, params, since)?)
        }
    };
    let page = framed((site, room, params), "Take back", "history", &root, &content)?;
    Ok(if problem.is_some() { Done::Unchanged(page) } else { Done::Page(page) })
}

/// A preview of taking back all since a time, and the form that does it. That form carries the exact time: `2h` would mean a later one
/// when it is sent.
fn take_back(
    site: &Site,
    room: &Room,
    params: &Params,
    since: SystemTime,
) -> Result<Markup, Refusal> {
    let would = match room.memory().undo_since(since, params.actor(), true) {
        Ok(would) => would,
        Err(error @ HistoryError::Conflict { .. }) => return Ok(in_conflict(room, &error)),
        Err(error) => return Err(error.into()),
    };
    let fields = html! {
        (hidden("since", &rfc3339(since)))
        @if let Some(actor) = params.actor() { (hidden("actor", actor)) }
        div.buttons {
            button.primary type="submit" { "Take back" }
            a.button href=(link(room.number, "history", &period::carried(params))) { "Cancel" }
        }
    };
    Ok(html! {
        (preview(room, &would))
        @if !would.files.is_empty() { (form(site, room, "undo", &fields)) }
    })
}
