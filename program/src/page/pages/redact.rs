//! The page that removes the content of a version from the history for good.

use maud::html;

use super::version::versions_of;
use super::{Question, changeable, framed, id_field, redact_found};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{link, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};

pub(in crate::page) fn ask_redact(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    if redact_found::is_asked(params) {
        return redact_found::ask(site, room, params);
    }
    let id = params.id()?;
    let versions = versions_of(room, id)?;
    let path = versions[0].path.clone();
    let what = html! {
        @for version in &versions {
            p { strong { (shown(version.path.relative())) } " as of " (time(version.time)) }
        }
        p { "The version stays in the timeline, with your reason instead of its content." }
    };
    let fields = html! {
        (id_field(id))
        label.wide {
            "Reason" input name="reason" required autocomplete="off" placeholder="held a password";
        }
    };
    let question = Question {
        title: "Redact?",
        what,
        warning: Some("The content is permanently removed. You cannot undo this."),
        page: "redact",
        fields,
        does: "Redact",
    };
    let content = question.asked(site, room, &path);
    Ok(Done::Page(framed((site, room, params), "Redact", "history", &path, &content)?))
}

pub(in crate::page) fn redact(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let reason = given(&params.reason)
        .ok_or_else(|| Refusal::wrong("Enter a reason. Nothing was changed."))?;
    if let Some(ids) = &params.ids {
        return redact_found::redact(room, params, ids, reason);
    }
    let id = params.id()?;
    let word = match room.memory().redact(id, reason)? {
        Some(_) => "redacted",
        None => "nothing",
    };
    Ok(Done::See(link(room.number, "version", &[("id", &id.to_string()), ("done", word)])))
}
