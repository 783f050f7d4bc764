//! The page that renames or moves a file or a directory.

use maud::{Markup, html};

use super::{changeable, done, framed};
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::{form, hidden, link_to, trail};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::Error;
use memdir::path::MemoryPath;

pub(in crate::page) fn ask_rename(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    let content = asked(site, room, &path, path.as_str(), None);
    Ok(Done::Page(framed((site, room, params), "Rename", "file", &path, &content)?))
}

pub(in crate::page) fn rename(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    let given = given(&params.to).unwrap_or_default();
    let problem = match Params::parsed(given) {
        Ok(to) => match room.memory().rename(path.as_str(), to.as_str()) {
            Ok(_) => return Ok(done(room, "file", &to, "renamed")),
            Err(Error::Refused(refused)) => refused.into_sentence(),
            Err(error) => return Err(error.into()),
        },
        Err(refusal) => refusal.sentence,
    };
    let content = asked(site, room, &path, given, Some(&problem));
    Ok(Done::Unchanged(framed((site, room, params), "Rename", "file", &path, &content)?))
}

fn asked(site: &Site, room: &Room, path: &MemoryPath, to: &str, problem: Option<&str>) -> Markup {
    let fields = html! {
        (hidden("path", path.as_str()))
        label.wide { "New path" input #path name="to" value=(to) required autocomplete="off" spellcheck="false"; }
        div.buttons {
            button.primary type="submit" { "Rename" }
            a.button href=(link_to(room.number, path)) { "Cancel" }
        }
    };
    html! {
        header.page-head { h1 { "Rename" } (trail(room.number, path)) }
        @if let Some(problem) = problem { p.warning role="alert" { "Not renamed: " (problem) } }
        (form(site, room, "rename", &fields))
    }
}
