//! The tree of files in the sidebar of every page. Only open directories are listed.

use std::time::{Duration, SystemTime};

use maud::{Markup, html};

use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{link, link_to, short_age, shown, spelled};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::store::{Entry, EntryKind};
use memdir::text::human_size;

/// The maximum number of entries listed of a directory. The page of the directory lists all of them.
const LISTED: usize = 200;

/// Files written within this time have a mark.
const LATELY: Duration = Duration::from_secs(10 * 60);

/// The tree, opened down to `current`.
pub(super) fn tree(room: &Room, current: &MemoryPath) -> Result<Markup, Refusal> {
    let root = MemoryPath::root();
    Ok(html! {
        div.tree-head {
            a.root href=(link_to(room.number, &root)) aria-current=[current.is_root().then_some("true")] {
                "/memories"
            }
            @if !room.shown.is_read_only {
                a.new href=(link(room.number, "new", &[("path", current.as_str())])) title="New file" { "New" }
            }
        }
        (entries(room, &root, current)?)
    })
}

/// One directory of the tree, for the script that opens it.
pub(in crate::page) fn branch(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    Ok(Done::Page(entries(room, &path, &path)?))
}

fn entries(room: &Room, directory: &MemoryPath, current: &MemoryPath) -> Result<Markup, Refusal> {
    let listed = room.memory().list(directory.as_str(), Some(1));
    let mut listed = match listed {
        Ok(listed) => listed,
        // The directory was removed meanwhile. If it is the page's own path, the rest of the page says so.
        Err(memdir::Error::Refused(_)) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    listed.retain(|entry| entry.path != *directory);
    // The sort is stable: files and directories stay sorted by name.
    listed.sort_by_key(Entry::is_file);
    let more = listed.len().saturating_sub(LISTED);
    let now = SystemTime::now();
    Ok(html! {
        ul {
            @for entry in listed.iter().take(LISTED) {
                @match entry.kind {
                    EntryKind::Directory => (open_or_not(room, &entry.path, current)?),
                    EntryKind::File(size) => li { (file(room, entry, size, current, now)) },
                }
            }
            @if more > 0 {
                li { a.more href=(link_to(room.number, directory)) { (more) " more" } }
            }
            @if listed.is_empty() { li.empty { "empty" } }
        }
    })
}

fn open_or_not(room: &Room, path: &MemoryPath, current: &MemoryPath) -> Result<Markup, Refusal> {
    let is_open = path == current || path.is_above(current);
    let name = path.name().unwrap_or_default();
    Ok(html! {
        li {
            div.entry.directory {
                button.fold type="button" aria-expanded=(is_open) aria-label={ "Open or close " (name) }
                    data-branch=(link(room.number, "branch", &[("path", path.as_str())])) {}
                a href=(link_to(room.number, path)) aria-current=[(path == current).then_some("true")] {
                    (shown(name))
                }
            }
            @if is_open { (entries(room, path, current)?) }
        }
    })
}

fn file(room: &Room, entry: &Entry, size: u64, current: &MemoryPath, now: SystemTime) -> Markup {
    let name = entry.path.name().unwrap_or_default();
    let age = entry.modified.and_then(|time| now.duration_since(time).ok());
    html! {
        div.entry.file.fresh[age.is_some_and(|age| age < LATELY)] {
            a href=(link_to(room.number, &entry.path)) title=(spelled(name))
                aria-current=[(entry.path == *current).then_some("true")] { (shown(name)) }
            span.meta {
                span { (human_size(size)) }
                @if let Some(time) = entry.modified { (short_age(time)) }
            }
        }
    }
}
