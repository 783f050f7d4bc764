//! The page that undoes a change, or all changes since a time, after it has shown a preview.

use std::time::SystemTime;

use maud::{Markup, html};

use super::restore::{conflict, conflicts, in_conflict};
use super::{Question, changeable, concerned, framed, id_field, period, reverted};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{self, Layout, clock, form, hidden, link, shown};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use crate::with::with;
use memdir::history::{HistoryError, Restored, RestoredFile, UndoOptions};
use memdir::path::MemoryPath;
use memdir::text::{rfc3339, unified_diff};

pub(in crate::page) fn ask_undo(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    if is_since(params) { ask_since(site, room, params) } else { ask_change(site, room, params) }
}

pub(in crate::page) fn undo(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let (memory, how) = (room.memory(), options(params, false));
    let undone = if is_since(params) {
        let Ok(Some(since)) = params.since() else { return ask_since(site, room, params) };
        memory.undo_since(since, params.actor(), how)
    } else {
        memory.undo(params.id()?, how)
    };
    match undone {
        Ok(restored) => Ok(reverted(room, &restored, "undone")),
        Err(HistoryError::Conflict { .. }) if is_since(params) => ask_since(site, room, params),
        Err(error @ HistoryError::Conflict { .. }) => refused(site, room, params, &error),
        Err(error) => Err(error.into()),
    }
}

/// The options for files that were changed since, from the address or the form.
fn options(params: &Params, dry_run: bool) -> UndoOptions {
    with(UndoOptions::default(), |how| {
        how.dry_run = dry_run;
        how.skip_conflicts = given(&params.skip).is_some();
        how.merge = given(&params.merge).is_some();
    })
}

/// The same options as fields of a form.
fn carried_options(params: &Params) -> Vec<(&'static str, &str)> {
    let options = [("skip", given(&params.skip)), ("merge", given(&params.merge))];
    options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The page of a refused undo, with the alternatives.
fn refused(site: &Site, room: &Room, params: &Params, error: &HistoryError) -> PageAnswer {
    let id = params.id()?.to_string();
    conflict(site, room, params, error, &ways(room, params, &[("id", &id)]))
}

/// Links to undo as much as possible in spite of later changes. `asked` are the parameters that select the changes.
fn ways(room: &Room, params: &Params, asked: &[(&str, &str)]) -> Markup {
    let to = |option| {
        let asked = [asked, &carried_options(params), &[(option, "1")]].concat();
        link(room.number, "undo", &asked)
    };
    html! {
        div.buttons {
            @if given(&params.merge).is_none() {
                a.button href=(to("merge")) { "Keep later changes to other lines" }
            }
            @if given(&params.skip).is_none() {
                a.button href=(to("skip")) { "Leave these files out" }
            }
        }
    }
}

/// Whether the request is about all changes since a time, and not about one change.
fn is_since(params: &Params) -> bool {
    given(&params.id).is_none()
}

/// A preview of the result.
fn preview(room: &Room, would: &Restored) -> Markup {
    let skipped: Vec<_> = would.skipped.iter().collect();
    html! {
        @if would.files.is_empty() {
            p { "Nothing to undo: the files already have their earlier contents." }
        } @else {
            p { "This will happen:" }
            (concerned(room, would))
            @for file in &would.files {
                @if let Some(merged) = &file.merged { (merge_of(room, would.path_before(file), file, merged)) }
            }
            p { "The undo is a change of its own, so you can undo it, too." }
        }
        @if !skipped.is_empty() {
            p.warning { "Left out, because later changes depend on it:" }
            (conflicts(room, &skipped))
        }
    }
}

/// The changes that a merge makes to a file, whose path before is `before`.
fn merge_of(room: &Room, before: &MemoryPath, file: &RestoredFile, merged: &str) -> Markup {
    let now = room.memory().store().read(before).unwrap_or_default();
    html! {
        section {
            p { strong { (shown(file.path.relative())) } " keeps later changes to other lines:" }
            (html::diff(&unified_diff("now", &now, "merged", merged.as_bytes()), Layout::Inline))
        }
    }
}

fn ask_change(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let id = params.id()?;
    let would = match room.memory().undo(id, options(params, true)) {
        Ok(would) => would,
        Err(error @ HistoryError::Conflict { .. }) => return refused(site, room, params, &error),
        Err(error) => return Err(error.into()),
    };
    let path = match &would.files[..] {
        [file] => file.path.clone(),
        _ => MemoryPath::root(),
    };
    let fields = html! {
        (id_field(id))
        @for (name, value) in carried_options(params) { (hidden(name, value)) }
    };
    let question = Question {
        title: "Undo?",
        what: preview(room, &would),
        warning: None,
        page: "undo",
        fields,
        does: "Undo",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Undo", "history", &path, &content)?))
}

/// The form for an actor and a time, with a preview of the undo below. The form keeps its input.
fn ask_since(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    // When the form is opened first, the request has no such field.
    let is_sent = params.since.is_some();
    let (since, problem) = match params.since() {
        Ok(Some(since)) => (Some(since), None),
        Ok(None) => (None, is_sent.then(|| "Enter a time.".to_owned())),
        Err(problem) => (None, Some(problem)),
    };
    let root = MemoryPath::root();
    let buttons = html! { button type="submit" { "Preview" } };
    let content = html! {
        header.page-head { h1 { "Undo everything since a time" } }
        form.filter action=(link(room.number, "undo", &[])) {
            (period::fields(room, &root, params, problem.as_deref(), &buttons)?)
        }
        @if let Some(since) = since {
            p {
                "Everything that " @if let Some(actor) = params.actor() { (shown(actor)) } @else { "anyone" }
                " changed since " (clock(since, params.zone())) "."
            }
            (undo_form(site, room, params, since)?)
        }
    };
    let page = framed((site, room, params), "Undo", "history", &root, &content)?;
    Ok(if problem.is_some() { Done::Unchanged(page) } else { Done::Page(page) })
}

/// A preview of an undo of all changes since a time, and the form that does it. The form contains the exact time, because `2h` would
/// mean a later time when it is sent.
fn undo_form(
    site: &Site,
    room: &Room,
    params: &Params,
    since: SystemTime,
) -> Result<Markup, Refusal> {
    let how = options(params, true);
    let exact = rfc3339(since);
    let would = match room.memory().undo_since(since, params.actor(), how) {
        Ok(would) => would,
        Err(error @ HistoryError::Conflict { .. }) => {
            let mut asked = vec![("since", exact.as_str())];
            asked.extend(params.actor().map(|actor| ("actor", actor)));
            return Ok(html! { (in_conflict(room, &error)) (ways(room, params, &asked)) });
        }
        Err(error) => return Err(error.into()),
    };
    let fields = html! {
        (hidden("since", &exact))
        @for (name, value) in carried_options(params) { (hidden(name, value)) }
        @if let Some(actor) = params.actor() { (hidden("actor", actor)) }
        div.buttons {
            button.primary type="submit" { "Undo" }
            a.button href=(link(room.number, "history", &period::carried(params))) { "Cancel" }
        }
    };
    Ok(html! {
        (preview(room, &would))
        @if !would.files.is_empty() { (form(site, room, "undo", &fields)) }
    })
}
