//! Lists of changes, newest first, for the timeline, a file, a directory and the overview.

use std::collections::HashSet;

use maud::{Markup, html};

use crate::page::answer::Refusal;
use crate::page::html::{
    change_name, content_name, is_deletion, link, made_by, operation, path_link, shown, time,
    version_name,
};
use crate::page::site::Room;
use crate::with::with;
use memdir::history::{HistoryId, HistoryQuery, Operation, Version};
use memdir::path::MemoryPath;
use memdir::text::human_size;

/// The number of versions searched for deleted files, and the number of paths checked for whether they exist again.
const LOOKED_AT: usize = 2_000;
const ASKED: usize = 50;

/// The query for the versions at a path and below it.
pub(super) fn at(path: &MemoryPath) -> HistoryQuery {
    let path = (!path.is_root()).then(|| path.as_str().to_owned());
    with(HistoryQuery::default(), |query| query.path = path)
}

/// The latest changes at a path and below it.
pub(super) fn latest(room: &Room, path: &MemoryPath, limit: usize) -> Result<Markup, Refusal> {
    let query = with(at(path), |query| query.limit = Some(limit));
    let versions = room.memory().history(&query)?;
    if versions.is_empty() {
        return Ok(html! { p.note { "No changes since the history began." } });
    }
    Ok(list(room, &versions))
}

/// Whether anything at a path or below it was changed.
pub(super) fn has_versions(room: &Room, path: &MemoryPath) -> Result<bool, Refusal> {
    let query = with(at(path), |query| query.limit = Some(1));
    Ok(!room.memory().history(&query)?.is_empty())
}

/// The versions that deleted a file that does not exist again, newest first.
pub(super) fn deleted(room: &Room, limit: usize) -> Result<Vec<Version>, Refusal> {
    let memory = room.memory();
    let query = with(HistoryQuery::default(), |query| query.limit = Some(LOOKED_AT));
    let mut seen = HashSet::new();
    let (mut gone, mut asked) = (Vec::new(), 0);
    for version in memory.history(&query)? {
        if gone.len() >= limit || asked >= ASKED {
            break;
        }
        if seen.insert(version.path.clone()) && is_deletion(&version) {
            asked += 1;
            if !memory.exists(version.path.as_str())? {
                gone.push(version);
            }
        }
    }
    Ok(gone)
}

/// The versions, grouped by change.
pub(super) fn list(room: &Room, versions: &[Version]) -> Markup {
    list_to_compare(room, versions, None)
}

/// The same, in a form that compares two of the versions.
pub(super) fn list_to_compare(
    room: &Room,
    versions: &[Version],
    choice: Option<&Choice>,
) -> Markup {
    html! {
        ol.changes {
            @for change in versions.chunk_by(|one, next| one.change == next.change) {
                @let first = &change[0];
                @let when = format!("when-{}", first.id);
                li.change {
                    header {
                        (made_by(room.number, first)) " " span id=(when) { (time(first.time)) }
                        @if change.len() > 1 { span.count { (change.len()) " files" } }
                        @if !room.shown.is_read_only && !matches!(first.operation, Operation::Redacted | Operation::External) {
                            a.quiet href=(link(room.number, "undo", &[("id", &first.change.to_string())]))
                                aria-label={ "Undo " (change_name(change)) } aria-describedby=(when) { "Undo" }
                        }
                    }
                    @for version in change { (row(room, version, &when, choice)) }
                }
            }
        }
    }
}

/// Whether the version has a content that differs from the present one, so that it can be restored.
pub(super) fn has_past(version: &Version) -> bool {
    version.redacted.is_none() && !version.is_current && version.operation != Operation::Redacted
}

/// One version. `when` is the id of the element with its time.
fn row(room: &Room, version: &Version, when: &str, choice: Option<&Choice>) -> Markup {
    let id = version.id.to_string();
    let to = |page: &str| link(room.number, page, &[("id", &id)]);
    let can_change = !room.shown.is_read_only && has_past(version);
    let (name, content) = (version_name(version), content_name(version));
    html! {
        div.version data-item {
            div.row {
                @if let Some(choice) = choice { (choice.of(version, when)) }
                (operation(version.operation)) " "
                (path_link(room.number, &version.path, true))
                @if let Some(old) = &version.old_path { span.from { " from " (shown(old.relative())) } }
                @if version.is_current { span.tag.current { "current" } }
                @if let Some(reason) = &version.redacted { span.tag.redacted { "redacted: " (shown(reason)) } }
                span.meta {
                    @if let Some(size) = version.size { (human_size(size)) }
                }
                span.links {
                    a href=(to("version")) aria-label={ "Version after " (name) } aria-describedby=(when) { "Version" }
                    @if can_change {
                        a href=(to("restore")) aria-label={ "Restore " (content) } aria-describedby=(when) { "Restore" }
                        @if version.size.is_some() {
                            a href=(to("redact")) aria-label={ "Redact " (content) } aria-describedby=(when) { "Redact" }
                        }
                    }
                }
            }
            @if version.redacted.is_none() {
                details data-fragment=(to("diff")) {
                    summary aria-label={ "What changed: " (name) } aria-describedby=(when) { "What changed" }
                    p { a href=(to("version")) aria-label={ "Show it: " (name) } { "Show it" } }
                }
            }
        }
    }
}

/// The two chosen versions of a timeline.
pub(super) struct Choice {
    pub(super) from: Option<HistoryId>,
    pub(super) to: Option<HistoryId>,
}

impl Choice {
    /// The buttons that choose a version; none if its content is no longer available.
    pub(super) fn of(&self, version: &Version, when: &str) -> Markup {
        let button = |name: &str, word: &str, chosen: Option<HistoryId>| {
            html! {
                label {
                    input type="radio" name=(name) value=(version.id.to_string()) checked[chosen == Some(version.id)]
                        aria-label={ (word) " the version after " (version_name(version)) } aria-describedby=(when);
                    " " (word)
                }
            }
        };
        html! {
            @if is_comparable(version) {
                span.choice { (button("id", "from", self.from)) " " (button("other", "to", self.to)) }
            }
        }
    }
}

/// Whether there is a content to compare.
pub(super) fn is_comparable(version: &Version) -> bool {
    version.redacted.is_none() && version.operation != Operation::Redacted
}
