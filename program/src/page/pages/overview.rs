//! The first page of a memory: its size, and its latest changes.

use maud::{Markup, html};

use super::{changes, conflict, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{age, content_name, link, link_to, shown};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::store::{Entry, EntryKind};
use memdir::text::human_size;
use memdir::{SizedPath, Stats, TimedPath};

/// The number of changes and files shown.
const LATEST: usize = 15;

pub(in crate::page) fn overview(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let root = MemoryPath::root();
    let stats = room.memory().stats()?;
    let content = html! {
        header.page-head { h1 { "Overview" } }
        (held(room, &stats))
        (conflict::number_of(room)?)
        @if room.has_history() {
            section {
                h2 { "Recent changes" }
                (changes::latest(room, &root, LATEST)?)
                p { a href=(link(room.number, "history", &[])) { "The whole timeline" } }
            }
            (deleted(room)?)
        } @else {
            section {
                h2 { "Recently written" }
                (written(room)?)
                p.note {
                    "This memory has no history, so nothing can be undone. A program records one with the option "
                    code { "history" } ", and this page with " code { "--history" } "."
                }
            }
        }
    };
    Ok(Done::Page(framed((site, room, params), "Overview", "", &root, &content)?))
}

/// The size of the memory, and its limits.
fn held(room: &Room, stats: &Stats) -> Markup {
    let options = room.memory().options();
    let bar = |used: u64, limit: u64| {
        let is_near = used.saturating_mul(10) >= limit.saturating_mul(9);
        html! { meter.near[is_near] min="0" max=(limit) value=(used.min(limit)) aria-label="Used" {} }
    };
    html! {
        dl.cards {
            div {
                dt { "Files" }
                dd {
                    (stats.files)
                    @if let Some(limit) = options.max_files { " of " (limit) " " (bar(stats.files, limit)) }
                }
            }
            div { dt { "Directories" } dd { (stats.directories) } }
            div {
                dt { "Size" }
                dd {
                    (human_size(stats.bytes))
                    @if let Some(limit) = options.max_total_bytes {
                        " of " (human_size(limit)) " " (bar(stats.bytes, limit))
                    }
                }
            }
            @if let Some(SizedPath { path, bytes, .. }) = &stats.largest {
                div {
                    dt { "Largest" }
                    dd {
                        (human_size(*bytes)) " "
                        a.small href=(link_to(room.number, path)) { (shown(path.relative())) }
                    }
                }
            }
            @if let Some(TimedPath { path, time, .. }) = &stats.oldest {
                div {
                    dt { "Oldest" }
                    dd { (age(Some(*time))) " " a.small href=(link_to(room.number, path)) { (shown(path.relative())) } }
                }
            }
        }
    }
}

/// The files that were written last, if there is no history.
fn written(room: &Room) -> Result<Markup, Refusal> {
    let mut files = room.memory().list("/memories", None)?;
    files.retain(Entry::is_file);
    files.sort_by_key(|file| std::cmp::Reverse(file.modified));
    Ok(html! {
        table.listing {
            tbody {
                @for file in files.iter().take(LATEST) {
                    tr data-item {
                        td { a.file href=(link_to(room.number, &file.path)) { (shown(file.path.relative())) } }
                        td.number { @if let EntryKind::File(size) = file.kind { (human_size(size)) } }
                        td { (age(file.modified)) }
                    }
                }
            }
        }
    })
}

/// The files that were deleted last and do not exist again.
fn deleted(room: &Room) -> Result<Markup, Refusal> {
    let gone = changes::deleted(room, LATEST)?;
    Ok(html! {
        @if !gone.is_empty() {
            section #deleted {
                h2 { "Deleted" }
                ul.deleted {
                    @for version in &gone {
                        li data-item {
                            a.path href=(link_to(room.number, &version.path)) { (shown(version.path.relative())) }
                            " " (age(Some(version.time))) " "
                            @if !room.shown.is_read_only {
                                a.button.small href=(link(room.number, "restore", &[("id", &version.id.to_string())]))
                                    aria-label={ "Restore " (content_name(version)) } { "Restore" }
                            }
                        }
                    }
                }
            }
        }
    })
}
