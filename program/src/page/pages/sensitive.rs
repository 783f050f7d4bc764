//! The findings of the rules for sensitive text. The text itself is only shown on the page of its file.

use maud::html;

use super::search::line_of;
use super::{framed, redact_found};
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::shown;
use crate::page::params::Params;
use crate::page::site::{Room, Site};

/// The maximum number of findings shown.
const MAX: usize = 500;

pub(in crate::page) fn sensitive(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let found = room.memory().find_sensitive(path.as_str(), MAX)?;
    let can_redact = room.has_history() && !room.shown.is_read_only;
    let content = html! {
        header.page-head {
            h1 { "Sensitive text" }
            p.meta { "Keys, tokens, passwords, payment cards, and what your own rules say." }
        }
        @if found.is_empty() {
            p.note { "The rules find nothing." }
        } @else {
            table.listing {
                thead { tr { th scope="col" { "File" } th scope="col" { "Line" } th scope="col" { "Rule" } @if can_redact { th scope="col" { "History" } } } }
                tbody {
                    @for found in &found {
                        @let address = line_of(room, &found.path, found.line, params);
                        tr data-item {
                            td { a.file href=(address) { (shown(found.path.relative())) } }
                            td.number { @if let Some(line) = found.line { (line) } @else { "name" } }
                            td { span.rule { (found.rule) } }
                            @if can_redact {
                                td {
                                    @if let Some(line) = found.line {
                                        a.quiet href=(redact_found::address(room, &found.path, line, &found.rule))
                                            aria-label={ "Redact what " (found.rule) " finds in line " (line) " of " (shown(found.path.relative())) } {
                                            "Redact"
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if found.len() == MAX { p.note { "There may be more: the first " (MAX) " are shown." } }
            p.note {
                "Changing the file leaves the text in its history. Also redact the versions that contain it."
            }
        }
    };
    Ok(Done::Page(framed((site, room, params), "Sensitive text", "sensitive", &path, &content)?))
}
