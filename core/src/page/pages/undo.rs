//! A change is taken back, or all since a time, after it was said what that does.

use maud::html;

use super::restore::conflict;
use super::{Question, changeable, concerned, framed, id_field, taken_back};
use crate::history::{HistoryError, Restored};
use crate::page::answer::{Answer, Done, Refusal};
use crate::page::html::{hidden, shown};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use crate::path::MemoryPath;

pub(in crate::page) fn ask_undo(site: &Site, room: &Room, params: &Params) -> Answer {
    changeable(room)?;
    let would = match take_back(room, params, true) {
        Ok(would) => would,
        Err(Failed::Conflict(error)) => return conflict(site, room, params, &error),
        Err(Failed::Refused(refusal)) => return Err(refusal),
    };
    let path = match &would.files[..] {
        [file] => file.path.clone(),
        _ => MemoryPath::root(),
    };
    let fields = html! {
        @if given(&params.id).is_some() { (id_field(params.id()?)) }
        @if let Some(since) = given(&params.since) { (hidden("since", since)) }
        @if let Some(actor) = params.actor() { (hidden("actor", actor)) }
    };
    let what = html! {
        @if let Some(since) = given(&params.since) {
            p {
                "All that " @if let Some(actor) = params.actor() { (shown(actor)) } @else { "anybody" }
                " changed since " (shown(since)) "."
            }
        }
        @if would.files.is_empty() {
            p { "There is nothing to do: the files are as they were before." }
        } @else {
            p { "This will be done:" }
            (concerned(room, &would))
            p { "It becomes a change of its own, and can be taken back." }
        }
    };
    let question = Question {
        title: "Take back?",
        what,
        warning: None,
        page: "undo",
        fields,
        does: "Take back",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Take back", "history", &path, &content)?))
}

pub(in crate::page) fn undo(site: &Site, room: &Room, params: &Params) -> Answer {
    changeable(room)?;
    match take_back(room, params, false) {
        Ok(restored) => Ok(taken_back(room, &restored, "undone")),
        Err(Failed::Conflict(error)) => conflict(site, room, params, &error),
        Err(Failed::Refused(refusal)) => Err(refusal),
    }
}

enum Failed {
    Conflict(HistoryError),
    Refused(Refusal),
}

fn take_back(room: &Room, params: &Params, dry_run: bool) -> Result<Restored, Failed> {
    let memory = room.memory();
    let taken_back = match params.since().map_err(Failed::Refused)? {
        Some(since) => memory.undo_since(since, params.actor(), dry_run),
        None if given(&params.id).is_none() => {
            let said = "Say since when, such as 2026-03-14T15:09Z.";
            return Err(Failed::Refused(Refusal::wrong(said)));
        }
        None => memory.undo(params.id().map_err(Failed::Refused)?, dry_run),
    };
    taken_back.map_err(|error| match error {
        HistoryError::Conflict { .. } => Failed::Conflict(error),
        error => Failed::Refused(error.into()),
    })
}
