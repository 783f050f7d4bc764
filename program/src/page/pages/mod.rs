//! The pages, one file for each, and their shared parts.

mod changes;
mod compare;
mod conflict;
mod create;
mod delete;
mod difference;
mod edit;
mod file;
mod history;
mod overview;
mod passage;
mod period;
mod ranked;
mod raw;
mod redact;
mod redact_found;
mod rename;
mod restore;
mod search;
mod searched;
mod sensitive;
mod sync;
mod tree;
mod undo;
mod version;

use maud::{Markup, html};

pub(super) use compare::compare;
pub(super) use conflict::{conflict, resolve};
pub(super) use create::{create, new};
pub(super) use delete::{ask_delete, delete};
pub(super) use difference::difference;
pub(super) use edit::{edit, save};
pub(super) use file::file;
pub(super) use history::history;
pub(super) use overview::overview;
pub(super) use ranked::best;
pub(super) use raw::{download, image};
pub(super) use redact::{ask_redact, redact};
pub(super) use rename::{ask_rename, rename};
pub(super) use restore::{ask_restore, restore};
pub(super) use search::search;
pub(super) use sensitive::sensitive;
pub(super) use sync::sync;
pub(super) use tree::branch;
pub(super) use undo::{ask_undo, undo};
pub(super) use version::version;

use super::answer::{Done, Refusal};
use super::html::{Frame, change_name, form, hidden, link, shown};
use super::params::{Params, given};
use super::site::{Room, Site};
use crate::with::with;
use memdir::history::{HistoryId, HistoryQuery, Restored};
use memdir::path::MemoryPath;

/// The maximum size of a file that is shown, in bytes.
const MAX_SHOWN: u64 = 8 << 20;

/// A page in its frame. The tree in the sidebar is opened down to `path`.
fn framed(
    (site, room, params): (&Site, &Room, &Params),
    title: &str,
    here: &str,
    path: &MemoryPath,
    content: &Markup,
) -> Result<Markup, Refusal> {
    let query = given(&params.q).unwrap_or_default();
    let tree = tree::tree(room, path)?;
    let content = html! { (banner(room, params)) (content) };
    Ok(Frame { site, room, title, here, query, tree }.around(&content))
}

/// A banner about the last action, with a button that undoes it.
fn banner(room: &Room, params: &Params) -> Markup {
    let said = match given(&params.done) {
        Some("saved") => "Saved.",
        Some("created") => "Created.",
        Some("renamed") => "Renamed.",
        Some("deleted") => "Deleted.",
        Some("restored") => "Restored.",
        Some("undone") => "Undone.",
        Some("redacted") => "Redacted: the content was removed from the history.",
        Some("resolved") => "Resolved.",
        Some("nothing") => "Nothing to do.",
        _ => return html! {},
    };
    // A redaction cannot be undone, nor can an action without a change. Then the id is that of the version that is shown.
    let can_undo = !matches!(given(&params.done), Some("redacted" | "nothing"));
    let change = given(&params.id).and_then(|id| id.parse::<HistoryId>().ok()).filter(|_| can_undo);
    let query =
        change.map(|change| with(HistoryQuery::default(), |query| query.change = Some(change)));
    let versions = query.and_then(|query| room.memory().history(&query).ok()).unwrap_or_default();
    html! {
        p.banner role="status" {
            (said) " "
            @if let Some(version) = versions.first() {
                a href=(link(room.number, "undo", &[("id", &version.change.to_string())]))
                    aria-label={ "Undo " (change_name(&versions)) } { "Undo" }
            }
        }
    }
}

/// Refuses a change of a memory that is read-only here.
fn changeable(room: &Room) -> Result<(), Refusal> {
    if room.shown.is_read_only {
        return Err(Refusal::forbidden(
            "The memory is read-only here: start memdir serve with --writable to change it.",
        ));
    }
    Ok(())
}

/// The page of a path after an action, with a button that undoes the action.
fn done(room: &Room, page: &str, path: &MemoryPath, word: &str) -> Done {
    let change = latest_change(room, path).map(|change| change.to_string());
    let mut parameters = vec![("path", path.as_str()), ("done", word)];
    if let Some(change) = &change {
        parameters.push(("id", change));
    }
    Done::See(link(room.number, page, &parameters))
}

/// The latest change of a path that was made on this page. The agent may have made changes since.
fn latest_change(room: &Room, path: &MemoryPath) -> Option<HistoryId> {
    let query = with(HistoryQuery::default(), |query| {
        query.path = Some(path.as_str().to_owned());
        query.actor = Some(room.shown.actor.clone());
        query.limit = Some(1);
    });
    let versions = room.memory().history(&query).ok()?;
    versions.first().map(|version| version.change)
}

/// The timeline after an undo or a restore.
fn reverted(room: &Room, restored: &Restored, word: &str) -> Done {
    let parameters = match &restored.change {
        None => vec![("done", "nothing".to_owned())],
        Some(change) => vec![("done", word.to_owned()), ("id", change.to_string())],
    };
    let parameters: Vec<_> =
        parameters.iter().map(|(name, value)| (*name, value.as_str())).collect();
    // For a single file show the file; for several, the change.
    match &restored.files[..] {
        [file] if file.operation != memdir::history::Operation::Deleted => {
            let mut parameters = parameters;
            parameters.insert(0, ("path", file.path.as_str()));
            Done::See(link(room.number, "file", &parameters))
        }
        _ => Done::See(link(room.number, "history", &parameters)),
    }
}

/// A confirmation page: shows what will happen, with a form that does it.
struct Question<'q> {
    title: &'q str,
    /// A description of the effects.
    what: Markup,
    /// A warning about effects that cannot be undone.
    warning: Option<&'q str>,
    /// The target of the form, and its fields.
    page: &'q str,
    fields: Markup,
    /// The label of the button.
    does: &'q str,
}

impl Question<'_> {
    fn asked(self, site: &Site, room: &Room, path: &MemoryPath) -> Markup {
        let back = link(room.number, "file", &[("path", path.as_str())]);
        let fields = html! {
            (self.fields)
            div.buttons {
                button.primary type="submit" { (self.does) }
                a.button href=(back) { "Cancel" }
            }
        };
        html! {
            h1 { (self.title) }
            (self.what)
            @if let Some(warning) = self.warning { p.warning { (warning) } }
            (form(site, room, self.page, &fields))
        }
    }
}

/// The affected files, with the operation for each.
fn concerned(room: &Room, restored: &Restored) -> Markup {
    html! {
        ul.concerned {
            @for file in &restored.files {
                li {
                    (super::html::operation(file.operation)) " "
                    (super::html::path_link(room.number, &file.path, false))
                    @if let Some(old) = &file.old_path { " from " (shown(old.relative())) }
                }
            }
        }
    }
}

/// The field with the version or change of a form.
fn id_field(id: HistoryId) -> Markup {
    hidden("id", &id.to_string())
}
