//! The parts of pages.

mod diff;
mod frame;
mod markdown;
mod names;
mod odd;
mod source;
mod times;

use std::fmt::Write as _;

use maud::{Markup, html};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

pub(super) use diff::{Layout, diff};
pub(super) use frame::{Frame, entrance, message};
pub(super) use markdown::markdown;
pub(super) use names::{change_name, content_name, is_deletion, version_name};
pub(super) use odd::{hidden_characters, shown, shown_with_marks, spelled};
pub(super) use source::{Notices, PAGE_LINES, first_of_part, parts, plain_source, source};
pub(super) use times::{age, clock, short_age, time, zone_name};

use super::site::{Room, Site};
use memdir::history::{Operation, Version};
use memdir::path::MemoryPath;

/// The characters that must be encoded in an address.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'/').remove(b'_').remove(b'~');

pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ENCODED).to_string()
}

/// The address of a page of a memory: `link(1, "file", &[("path", "/memories/a.md")])` is `/1/file?path=/memories/a.md`.
pub(super) fn link(room: usize, page: &str, parameters: &[(&str, &str)]) -> String {
    let mut address = format!("/{room}/{page}");
    for (number, (name, value)) in parameters.iter().enumerate() {
        let mark = if number == 0 { '?' } else { '&' };
        let _ = write!(address, "{mark}{name}={}", encoded(value));
    }
    address
}

/// The most characters of the fields for a search. Of a question, as many bytes count.
pub(super) const MAX_QUESTION: usize = 4_096;

/// The address of a file or a directory.
pub(super) fn link_to(room: usize, path: &MemoryPath) -> String {
    link(room, "file", &[("path", path.as_str())])
}

/// The path as links, one for each part.
pub(super) fn trail(room: usize, path: &MemoryPath) -> Markup {
    let mut parts = vec![(MemoryPath::root(), "memories")];
    for name in path.names() {
        let above = parts.last().map_or_else(MemoryPath::root, |(above, _)| above.clone());
        if let Ok(path) = above.join(name) {
            parts.push((path, name));
        }
    }
    let last = parts.len() - 1;
    html! {
        nav.trail aria-label="Path" {
            @for (number, (path, name)) in parts.iter().enumerate() {
                @if number > 0 { span.slash aria-hidden="true" { "/" } }
                @if number == last {
                    span aria-current="page" { (shown(name)) }
                } @else {
                    a href=(link_to(room, path)) { (shown(name)) }
                }
            }
        }
    }
}

/// A whole path as a link, or as plain text if there is no file.
pub(super) fn path_link(room: usize, path: &MemoryPath, is_there: bool) -> Markup {
    let text = shown(path.relative());
    html! {
        @if is_there { a.path href=(link_to(room, path)) { (text) } } @else { span.path { (text) } }
    }
}

/// The operation as a word with the colour of its kind.
pub(super) fn operation(operation: Operation) -> Markup {
    let kind = match operation {
        Operation::Created | Operation::Restored | Operation::Imported => "plus",
        Operation::Deleted | Operation::Expired | Operation::Cleared | Operation::Redacted => {
            "minus"
        }
        Operation::Renamed => "moved",
        Operation::External => "other",
        _ => "edit",
    };
    html! { span.operation.(kind) { (operation.as_str()) } }
}

/// The actor.
pub(super) fn actor(room: usize, actor: Option<&str>) -> Markup {
    html! {
        @match actor {
            Some(actor) => a.actor href=(link(room, "history", &[("actor", actor)])) { (shown(actor)) },
            None => span.actor.unknown { "somebody" },
        }
    }
}

/// The actor of a version. For a sync, also the other memory.
pub(super) fn made_by(room: usize, version: &Version) -> Markup {
    html! {
        (actor(room, version.actor.as_deref()))
        @if let Some(partner) = &version.partner { span.partner { " with " (shown(partner)) } }
    }
}

/// A form that changes something: sent with POST, with the token of this page.
pub(super) fn form(site: &Site, room: &Room, page: &str, fields: &Markup) -> Markup {
    html! {
        form method="post" action=(link(room.number, page, &[])) {
            input type="hidden" name="token" value=(site.token.as_str());
            (fields)
        }
    }
}

/// A hidden field of a form.
pub(super) fn hidden(name: &str, value: &str) -> Markup {
    html! { input type="hidden" name=(name) value=(value); }
}
