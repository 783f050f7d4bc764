//! The sentences of policies: limits, stale views, write patterns, sensitive text, hooks.

use memdir_store::path::MemoryPath;
use memdir_store::{Error, ErrorKind};

use super::input::shortened;
use super::refused;
use crate::text::human_size;

// --- limits -----------------------------------------------------------------------------------

/// The usage of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) held: u64,
    pub(crate) limit: u64,
}

/// The usage of each limit that a sentence names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Uses {
    pub(crate) bytes: Option<Used>,
    pub(crate) files: Option<Used>,
}

pub(crate) fn file_too_large(
    path: &MemoryPath,
    now: Option<u64>,
    would_be: u64,
    limit: u64,
) -> Error {
    let (would_be, limit) = (bytes(would_be), bytes(limit));
    let now = now.map(|now| format!(" holds {} and", bytes(now))).unwrap_or_default();
    refused(
        ErrorKind::TooLarge,
        format!(
            "Error: The file {path}{now} would hold {would_be}, and a file may hold {limit} at most. \
         Nothing was changed: split it into smaller files, or remove what is no longer needed."
        ),
    )
}

/// `over` has the limits that the command would exceed, `largest` some files and their sizes.
pub(crate) fn memory_full(path: &MemoryPath, over: Uses, largest: &[&(MemoryPath, u64)]) -> Error {
    let amounts = |amount: fn(Used) -> u64| {
        let sizes = over.bytes.map(|used| bytes(amount(used)));
        let counts = over.files.map(|used| counted_files(amount(used)));
        sizes.into_iter().chain(counts).collect::<Vec<_>>().join(" and ")
    };
    let (would_be, limit) = (amounts(|used| used.held), amounts(|used| used.limit));
    let files: Vec<String> =
        largest.iter().map(|(path, size)| format!("{path} ({})", human_size(*size))).collect();
    let files = match &*files {
        [] => String::new(),
        [file] => format!(" The largest file is {file}."),
        files => format!(" The largest files are {}.", files.join(", ")),
    };
    refused(
        ErrorKind::Full,
        format!(
            "Error: {path} was not changed, because the memory would hold {would_be}, and it may hold \
         {limit} at most.{files} {}, then try again.",
            make_room(over)
        ),
    )
}

/// The last line of a listing if the memory is full or nearly full. `uses` has the limits that are near.
pub(crate) fn nearly_full(uses: Uses) -> String {
    let sizes =
        uses.bytes.map(|used| format!("{} of {}", human_size(used.held), human_size(used.limit)));
    let counts = uses.files.map(|used| format!("{} of {}", used.held, counted_files(used.limit)));
    let holds = sizes.into_iter().chain(counts).collect::<Vec<_>>().join(" and ");
    let is_full =
        [uses.bytes, uses.files].into_iter().flatten().any(|used| used.held >= used.limit);
    let todo = make_room(uses);
    if is_full {
        format!("\n[The memory is full: it holds {holds}. {todo}.]")
    } else {
        format!("\n[The memory holds {holds}. {todo} before it is full.]")
    }
}

fn counted_files(count: u64) -> String {
    if count == 1 { "1 file".to_owned() } else { format!("{count} files") }
}

fn make_room(uses: Uses) -> &'static str {
    match uses.files {
        None => "Delete or shorten what is no longer needed",
        Some(_) => "Delete what is no longer needed",
    }
}

pub(crate) fn too_large_to_redact(path: &MemoryPath, size: u64) -> Error {
    let size = bytes(size);
    refused(
        ErrorKind::TooLarge,
        format!(
            "Error: The file {path} holds {size}, which is too large to be looked through for sensitive \
         text, so it cannot be shown. It can be deleted or renamed."
        ),
    )
}

pub(crate) fn too_large_to_read(path: &MemoryPath, size: u64) -> Error {
    let size = bytes(size);
    refused(
        ErrorKind::TooLarge,
        format!("Error: The file {path} holds {size}, which is too large to be read as a whole."),
    )
}

pub(super) fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{count} bytes"),
        _ => format!("{count} bytes ({})", human_size(count)),
    }
}

// --- stale views, write patterns ----------------------------------------------------------------

pub(crate) fn changed_since_view(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Stale,
        format!(
            "Error: The file {path} has changed since you last viewed or changed it. Nothing was \
         changed: view it again before you edit it."
        ),
    )
}

pub(crate) fn view_forgotten(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Stale,
        format!(
            "Error: What you saw of the file {path} may no longer be in this conversation. Nothing was \
         changed: view it again before you edit it."
        ),
    )
}

pub(crate) fn changed_meanwhile(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Changed,
        format!(
            "Error: The file {path} does not hold what it was expected to hold. Nothing was changed: read it \
         again before you write it."
        ),
    )
}

pub(crate) fn not_viewed(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Stale,
        format!(
            "Error: You have not viewed the file {path} yet. Nothing was changed: view it first, then \
         try again."
        ),
    )
}

pub(crate) fn not_writable(path: &MemoryPath, writable: &[&str]) -> Error {
    /// More patterns do not help.
    const MAX_NAMED: usize = 10;
    let mut named: Vec<String> =
        writable.iter().take(MAX_NAMED).map(|pattern| shortened(pattern)).collect();
    if writable.len() > MAX_NAMED {
        named.push(format!("and {} more", writable.len() - MAX_NAMED));
    }
    refused(
        ErrorKind::ReadOnly,
        match &*named {
            [] => format!("Error: {path} is read-only: nothing in this memory can be changed."),
            named => format!(
                "Error: {path} is read-only: only {} and what is below can be changed.",
                named.join(", ")
            ),
        },
    )
}

// --- sensitive text ---------------------------------------------------------------------------

/// `named` has the findings: the line in the resulting file, and the rule.
pub(crate) fn sensitive(path: &MemoryPath, named: &[(u64, &str)]) -> Error {
    refused(
        ErrorKind::Sensitive,
        format!(
            "Error: {path} was not changed, because it would hold sensitive text: {}. Leave such text \
         out: note where it is kept, and not what it is.",
            places(named)
        ),
    )
}

/// Does not repeat the path, because it contains the sensitive text.
pub(crate) fn sensitive_path(rules: &[&str]) -> Error {
    refused(
        ErrorKind::Sensitive,
        format!(
            "Error: Nothing was changed, because the path itself holds sensitive text ({}). Choose \
         another name.",
            rules.join(", ")
        ),
    )
}

/// The last line of a reply to a command whose text was redacted.
pub(crate) fn redacted(named: &[(u64, &str)]) -> String {
    format!(
        "\n[Sensitive text was not written: {}. The file holds [REDACTED:…] in its place.]",
        places(named)
    )
}

/// `line 3 (github-token), line 7 (jwt)`.
fn places(named: &[(u64, &str)]) -> String {
    /// More findings do not help.
    const MAX_NAMED: usize = 20;
    let mut places: Vec<String> =
        named.iter().take(MAX_NAMED).map(|(line, rule)| format!("line {line} ({rule})")).collect();
    if named.len() > MAX_NAMED {
        places.push(format!("and {} more", named.len() - MAX_NAMED));
    }
    places.join(", ")
}

pub(crate) fn replace_redacted(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Sensitive,
        format!(
            "No replacement was performed: old_str holds a `[REDACTED:…]` mark, which stands in views \
         for text of {path} that is not shown, and is not in the file. Choose an old_str beside it; \
         what is redacted cannot be edited, only deleted with the file."
        ),
    )
}

// --- hooks ------------------------------------------------------------------------------------

/// The sentence for a denial without a sentence.
pub(crate) fn denied() -> String {
    "Error: This command is not allowed here. Nothing was changed.".to_owned()
}

/// The last line of a reply to a command whose text the hook `before` changed.
pub(crate) fn changed_by_hook() -> &'static str {
    "\n[The program that runs this memory changed the text before it was written. View the file to see it.]"
}

/// The refusal of a command if the diff that its hook saw is outdated.
pub(crate) fn changed_since_shown(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::Changed,
        format!(
            "Error: The command was not carried out, because {path} was changed while the command was being \
         checked. View it again before you try again."
        ),
    )
}

/// The sentence for a failure of the hook `before`.
pub(super) fn unchecked() -> String {
    "Error: The command was not carried out, because the program that runs this memory could not \
     check it. Nothing was changed; try again later."
        .to_owned()
}
