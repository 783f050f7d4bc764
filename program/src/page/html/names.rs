//! Names of changes and versions, for links that would otherwise all be called the same: `the edit of notes.md by session 7`.

use std::borrow::Cow;

use super::spelled;
use memdir::history::{Operation, Version};

/// The noun for what was done.
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
        // One that a later version of the core knows.
        _ => "change",
    }
}

/// Whether the version took the file away, so that its content is the one before.
pub(in crate::page) fn is_deletion(version: &Version) -> bool {
    let is_external = version.operation == Operation::External;
    matches!(version.operation, Operation::Deleted | Operation::Expired | Operation::Cleared)
        || (is_external && version.size.is_none())
}

fn actor(version: &Version) -> Cow<'_, str> {
    version.actor.as_deref().map_or("somebody".into(), spelled)
}

/// What one change did, from the versions that it made: `the edit of notes.md by session 7`, `the deletion of 3 files by
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

/// What made a version: `the edit of notes.md by session 7`.
pub(in crate::page) fn version_name(version: &Version) -> String {
    let path = spelled(version.path.relative());
    format!("the {} of {path} by {}", noun(version.operation), actor(version))
}

/// The content that a version is about: `notes.md as of the edit by session 7`; of a deletion the content that was deleted.
pub(in crate::page) fn content_name(version: &Version) -> String {
    let path = spelled(version.path.relative());
    let when = if is_deletion(version) { "before" } else { "after" };
    format!("{path} as it was {when} the {} by {}", noun(version.operation), actor(version))
}
