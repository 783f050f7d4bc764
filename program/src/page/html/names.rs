//! Descriptions of changes and versions, so that links have distinct names: `the edit of notes.md by session 7`.

use std::borrow::Cow;

use super::spelled;
use memdir::history::{Operation, Version};

/// The noun for an operation.
fn noun(operation: Operation) -> &'static str {
    match operation {
        Operation::Created => "creation",
        Operation::Modified => "edit",
        Operation::Overwritten => "overwriting",
        Operation::Renamed => "renaming",
        Operation::Deleted => "deletion",
        Operation::Expired => "expiry",
        Operation::Cleared => "clearing",
        Operation::Restored => "restoration",
        Operation::Redacted => "redaction",
        Operation::External => "external change",
        Operation::Imported => "import",
        // An operation of a later version of the core.
        _ => "change",
    }
}

/// Whether the version deleted the file, so its content is the one before it.
pub(in crate::page) fn is_deletion(version: &Version) -> bool {
    let is_external = version.operation == Operation::External;
    matches!(version.operation, Operation::Deleted | Operation::Expired | Operation::Cleared)
        || (is_external && version.size.is_none())
}

fn actor(version: &Version) -> Cow<'_, str> {
    let actor = version.actor.as_deref().map_or("an unknown actor".into(), spelled);
    match &version.partner {
        Some(partner) => format!("{actor} with {}", spelled(partner)).into(),
        None => actor,
    }
}

/// The description of one change, from its versions: `the edit of notes.md by session 7`, `the deletion of 3 files by
/// session 7`.
pub(in crate::page) fn change_name(versions: &[Version]) -> String {
    let [first, others @ ..] = versions else { return "nothing".to_owned() };
    if others.is_empty() {
        return version_name(first);
    }
    let is_one_kind = others.iter().all(|other| other.operation == first.operation);
    let noun = if is_one_kind { noun(first.operation) } else { "change" };
    format!("the {noun} of {} files by {}", versions.len(), actor(first))
}

/// The description of a version: `the edit of notes.md by session 7`.
pub(in crate::page) fn version_name(version: &Version) -> String {
    let path = spelled(version.path.relative());
    format!("the {} of {path} by {}", noun(version.operation), actor(version))
}

/// The description of a version's content: `notes.md as it was after the edit by session 7`. For a deletion, the content before it.
pub(in crate::page) fn content_name(version: &Version) -> String {
    let path = spelled(version.path.relative());
    let when = if is_deletion(version) { "before" } else { "after" };
    format!("{path} as it was {when} the {} by {}", noun(version.operation), actor(version))
}
