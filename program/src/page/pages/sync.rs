//! The memories that this one is synced with, and the conflicts that a sync left.

use maud::{Markup, html};

use super::framed;
use crate::page::answer::{Done, PageAnswer};
use crate::page::html::{age, link, shown, time};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::sync::{ConflictCopy, SyncPartner, conflicts, partners};

pub(in crate::page) fn sync(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    // The memory without a history hides what memdir keeps.
    let (found, known) = (conflicts(room.memory())?, partners(&room.shown.recorded)?);
    let content = html! {
        header.page-head { h1 { "Sync" } }
        section {
            h2 { "Conflicts" }
            @if found.is_empty() {
                p.note { "There are no conflicts." }
            } @else {
                p {
                    "Two memories changed the same lines of a file. The file has one of the contents, and a copy beside it has the "
                    "other one. A file also gets the name of a copy if the other memory has a directory of its name."
                }
                (listed(room, &found))
            }
        }
        section {
            h2 { "Partners" }
            @if known.is_empty() {
                p.note {
                    "This memory has no partners: it was never synced, or other memories only read it. " code { "memdir sync" }
                    " makes two memories equal, and keeps them so."
                }
            } @else {
                (agreed(&known))
            }
        }
    };
    let root = MemoryPath::root();
    Ok(Done::Page(framed((site, room, params), "Sync", "sync", &root, &content)?))
}

/// The conflicts, each with the way to its page.
fn listed(room: &Room, conflicts: &[ConflictCopy]) -> Markup {
    html! {
        table.listing #conflicts {
            thead { tr { th { "File" } th { "Copy from" } th { "Written" } } }
            tbody {
                @for conflict in conflicts {
                    @let page = link(room.number, "conflict", &[("path", conflict.copy_path.as_str())]);
                    tr data-item {
                        td { a.file href=(page) { (shown(conflict.path.relative())) } }
                        td { (shown(&conflict.origin)) }
                        td { (age(conflict.modified)) }
                    }
                }
            }
        }
    }
}

/// The partners, and when both last agreed.
fn agreed(partners: &[SyncPartner]) -> Markup {
    html! {
        table.listing #partners {
            thead { tr { th { "Memory" } th { "Last agreed" } th { "Equal files" } th { "Left out" } } }
            tbody {
                @for partner in partners {
                    tr {
                        td { (shown(&partner.name)) }
                        td { (time(partner.synced)) }
                        td.number { (partner.files) }
                        td.number { (partner.left_out) }
                    }
                }
            }
        }
    }
}
