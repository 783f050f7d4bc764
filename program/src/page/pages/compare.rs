//! Compares two versions of a file: the form in its timeline that chooses them, and the page with their difference, whose address
//! can be shared.

use maud::{Markup, html};

use super::changes::{Choice, is_comparable};
use super::version::{layouts, versions_of};
use super::{changes, framed, period};

use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{
    self, link, made_by, operation, path_link, shown, time, trail, version_name,
};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::history::{HistoryId, Version};
use memdir::path::MemoryPath;

/// The versions of a file in a form that compares two of them. Older versions are on further pages. The button for older versions
/// is in the form, so the choice is kept on the next page.
pub(super) fn choice(
    room: &Room,
    params: &Params,
    versions: &[Version],
    last: Option<&Version>,
) -> Result<Markup, Refusal> {
    // The id may be that of the latest change, which the banner offers to undo.
    let is_asked = given(&params.done).is_none();
    let asked = |id: Option<HistoryId>| id.filter(|_| is_asked);
    let mut comparable =
        versions.iter().filter(|version| is_comparable(version)).map(|version| version.id);
    let newest = comparable.next();
    let to = asked(params.other().ok().flatten()).or(newest);
    let from = asked(params.id().ok()).or(comparable.next());
    let choice = Choice { from, to };
    let elsewhere = |id: Option<HistoryId>| {
        let id = id.filter(|id| !versions.iter().any(|version| version.id == *id))?;
        versions_of(room, id).ok()?.into_iter().find(|version| version.id == id)
    };
    let chosen: Vec<Version> = [elsewhere(from), elsewhere(to)].into_iter().flatten().collect();
    let compare = html! { button type="submit" { "Compare" } };
    let path = params.path_or_root()?;
    Ok(html! {
        form.compare action=(link(room.number, "compare", &[])) {
            input type="hidden" name="path" value=(path.as_str());
            @for (name, value) in period::carried(params) { input type="hidden" name=(name) value=(value); }
            p.chooser { "Choose two versions: " (compare) }
            @for (number, version) in chosen.iter().enumerate() {
                @let when = format!("chosen-{number}");
                p.row {
                    (choice.of(version, &when)) (operation(version.operation)) " " (shown(version.path.relative())) " "
                    span id=(when) { (time(version.time)) } " " span.note { "chosen on another page" }
                }
            }
            (changes::list_to_compare(room, versions, Some(&choice)))
            @if let Some(last) = last {
                nav.pager {
                    button type="submit" name="before" value=(last.id.to_string()) rel="next"
                        formaction=(link(room.number, "history", &[])) { "Older changes" }
                }
            }
        }
    })
}

pub(in crate::page) fn compare(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let content = match compared(room, params) {
        Ok((path, content)) => {
            let page = framed((site, room, params), "Compare", "history", &path, &content)?;
            return Ok(Done::Page(page));
        }
        Err(refusal) => html! {
            p.warning role="alert" { (shown(&refusal.sentence)) }
            p { "Choose two versions in the timeline of a file." }
        },
    };
    let path = params.path_or_root().unwrap_or_else(|_| MemoryPath::root());
    let content = html! {
        header.page-head {
            h1 { "Nothing to compare" }
            div.actions { (to_timeline(room, &path)) }
        }
        (content)
    };
    Ok(Done::Missing(framed((site, room, params), "Compare", "history", &path, &content)?))
}

fn to_timeline(room: &Room, path: &MemoryPath) -> Markup {
    let address = link(room.number, "history", &[("path", path.as_str())]);
    html! { a.button #timeline href=(address) { "Timeline" } }
}

/// The page with a difference, and its file.
fn compared(room: &Room, params: &Params) -> Result<(MemoryPath, Markup), Refusal> {
    let other =
        params.other()?.ok_or_else(|| Refusal::wrong("One version alone cannot be compared."))?;
    let (one, other) = (version(room, params.id()?)?, version(room, other)?);
    if one.id == other.id {
        return Err(Refusal::wrong("Both are the same version."));
    }
    // From the older to the newer version, in whatever order they were chosen.
    let (old, new) = if one.id < other.id { (one, other) } else { (other, one) };
    let made = room.memory().diff(old.id, Some(new.id))?;
    let layout = params.layout();
    let (id, other) = (old.id.to_string(), new.id.to_string());
    let side = |word: &str, version: &Version| {
        let id = version.id.to_string();
        html! {
            p.row {
                strong { (word) } " " (operation(version.operation)) " " (path_link(room.number, &version.path, true)) " "
                (made_by(room.number, version)) " " (time(version.time)) " "
                a href=(link(room.number, "version", &[("id", &id)]))
                    aria-label={ "Version after " (version_name(version)) } { "Version" }
            }
        }
    };
    let content = html! {
        header.page-head {
            h1 { "Two versions" }
            (trail(room.number, &new.path))
            div.actions { (to_timeline(room, &new.path)) }
        }
        (side("From", &old))
        (side("To", &new))
        (layouts(room, "compare", &[("id", &id), ("other", &other)], layout, "Difference"))
        (html::diff(&made, layout))
    };
    Ok((new.path, content))
}

/// The version with this id, or the only version of a change.
fn version(room: &Room, id: HistoryId) -> Result<Version, Refusal> {
    let mut versions = versions_of(room, id)?;
    let at = match versions.len() {
        1 => Some(0),
        _ => versions.iter().position(|version| version.id == id),
    };
    let several =
        || Refusal::wrong("This change made several versions, each of a file of its own.");
    at.map(|at| versions.swap_remove(at)).ok_or_else(several)
}
