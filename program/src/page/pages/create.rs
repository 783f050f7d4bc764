//! The page that creates a file.

use maud::{Markup, html};

use super::edit::unified;
use super::{changeable, done, framed};
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::{form, hidden_characters, link_to};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::Error;
use memdir::path::MemoryPath;

pub(in crate::page) fn new(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let near = params.path_or_root()?;
    // Beside a file, or in a directory.
    let is_directory = near.is_root()
        || room.memory().list(near.as_str(), Some(1)).is_ok_and(
            |entries| !matches!(&entries[..], [entry] if entry.is_file() && entry.path == near),
        );
    let directory =
        if is_directory { near } else { near.parent().unwrap_or_else(MemoryPath::root) };
    let content = asked(site, room, &format!("{directory}/"), "", &directory, None);
    Ok(Done::Page(framed((site, room, params), "New file", "file", &directory, &content)?))
}

pub(in crate::page) fn create(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let given = given(&params.to).unwrap_or_default();
    let text = unified(params.text.as_deref().unwrap_or_default());
    let problem = match Params::parsed(given) {
        Ok(path) => match room.memory().create(path.as_str(), &text) {
            Ok(_) => return Ok(done(room, "file", &path, "created")),
            Err(Error::Refused(refused)) => refused.into_sentence(),
            Err(error) => return Err(error.into()),
        },
        Err(refusal) => refusal.sentence,
    };
    let root = MemoryPath::root();
    let content = asked(site, room, given, &text, &root, Some(&problem));
    Ok(Done::Unchanged(framed((site, room, params), "New file", "file", &root, &content)?))
}

fn asked(
    site: &Site,
    room: &Room,
    path: &str,
    text: &str,
    back: &MemoryPath,
    problem: Option<&str>,
) -> Markup {
    let fields = html! {
        label.wide { "Path" input #path name="to" value=(path) required autocomplete="off" spellcheck="false"; }
        textarea #text name="text" spellcheck="false" autocomplete="off" aria-label="Text of the file" { "\n" (text) }
        (hidden_characters(text))
        div.buttons {
            button.primary type="submit" { "Create" }
            a.button href=(link_to(room.number, back)) { "Cancel" }
        }
    };
    html! {
        header.page-head { h1 { "New file" } }
        @if let Some(problem) = problem { p.warning role="alert" { "Not created: " (problem) } }
        // A new file has a single draft, whatever path it will get.
        div.editor data-draft=[room.shown.keeps_drafts.then_some("")] { (form(site, room, "new", &fields)) }
    }
}
