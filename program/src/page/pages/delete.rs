//! The page that deletes a file or a directory, after it has shown the affected files.

use maud::html;

use super::{Question, changeable, framed, latest_change};
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::{hidden, link, shown, trail};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::store::Entry;

/// The maximum number of files listed.
const NAMED: usize = 20;

pub(in crate::page) fn ask_delete(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    let mut files = room.memory().list(path.as_str(), None)?;
    files.retain(Entry::is_file);
    let what = html! {
        (trail(room.number, &path))
        p { "This deletes " (files.len()) @if files.len() == 1 { " file:" } @else { " files:" } }
        ul.concerned {
            @for file in files.iter().take(NAMED) { li { (shown(file.path.relative())) } }
            @if files.len() > NAMED { li { "and " (files.len() - NAMED) " more" } }
        }
        @if room.has_history() { p { "You can undo this." } }
    };
    let warning =
        (!room.has_history()).then_some("This memory has no history, so you cannot undo this.");
    let question = Question {
        title: "Delete?",
        what,
        warning,
        page: "delete",
        fields: hidden("path", path.as_str()),
        does: "Delete",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Delete", "file", &path, &content)?))
}

pub(in crate::page) fn delete(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    room.memory().delete(path.as_str())?;
    let above = path.parent().unwrap_or_else(MemoryPath::root);
    let change = latest_change(room, &path).map(|change| change.to_string());
    let mut parameters = vec![("path", above.as_str()), ("done", "deleted")];
    if let Some(change) = &change {
        parameters.push(("id", change));
    }
    Ok(Done::See(link(room.number, "file", &parameters)))
}
