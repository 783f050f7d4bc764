//! Every sentence that a model can read, and nothing else.
//!
//! What the tool's documentation quotes stands here to the letter; what it leaves open is worded
//! to say what happened, what was expected and what to do next. No sentence names anything of the
//! host: no path, no bucket, no operating-system error.

use std::fmt;

use crate::command::COMMANDS;
use crate::error::Error;
use crate::path::{MAX_LEVELS, MAX_NAME_BYTES, MAX_PATH_BYTES, MemoryPath, PathError};
use crate::policy::PathPattern;
use crate::policy::limits::{Used, Uses};
use crate::store::StoreError;
use crate::text::human_size;
use crate::value::Value;

/// The answer to one tool call: what goes back to the model.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// What the model is shown.
    pub content: Content,
    /// Whether the command failed; goes into the `is_error` of the `tool_result`.
    pub is_error: bool,
    /// What broke, if the store itself or a hook did ([`Error::Store`], [`Error::Hook`]): for the
    /// developer's log and never for the model, whose `content` then says no more than that.
    pub cause: Option<Error>,
}

/// What a [`Reply`] shows.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, for an image block of the `tool_result`. There is none unless
    /// [`Options::max_image_bytes`](crate::Options::max_image_bytes) is set.
    Image {
        /// `image/png` or `image/jpeg`, as the content says and not the name.
        media_type: &'static str,
        /// The file's content.
        bytes: Vec<u8>,
    },
}

impl Content {
    /// The text of it; an image has none.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Content::Text(text) => text,
            Content::Image { .. } => "",
        }
    }

    /// The text of it, by value; an image has none.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Image { .. } => String::new(),
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Text(text) => f.write_str(text),
            Content::Image { media_type, bytes } => {
                write!(f, "[{media_type}, {} bytes]", bytes.len())
            }
        }
    }
}

/// The text of the reply that a result becomes; an image has none.
pub(crate) fn text_of(result: &Result<Content, Error>) -> Option<String> {
    Some(match result {
        Ok(Content::Image { .. }) => return None,
        Ok(Content::Text(text)) | Err(Error::Refused(text)) => text.clone(),
        Err(Error::Hook(_)) => unchecked(),
        Err(Error::Store(_) | Error::Config(_)) => out_of_reach(),
    })
}

impl From<Result<Content, Error>> for Reply {
    fn from(result: Result<Content, Error>) -> Self {
        let (content, is_error, cause) = match result {
            Ok(content) => (content, false, None),
            Err(Error::Refused(text)) => (Content::Text(text), true, None),
            Err(cause @ Error::Store(_)) => (Content::Text(out_of_reach()), true, Some(cause)),
            Err(cause @ Error::Hook(_)) => (Content::Text(unchecked()), true, Some(cause)),
            // Options are judged when a memory is opened, so that no command meets this.
            Err(Error::Config(_)) => (Content::Text(out_of_reach()), true, None),
        };
        Self { content, is_error, cause }
    }
}

fn refused(text: String) -> Error {
    Error::Refused(text)
}

// --- view -------------------------------------------------------------------------------------

pub(crate) fn file_header(path: &MemoryPath) -> String {
    format!("Here's the content of {path} with line numbers:")
}

pub(crate) fn directory_header(path: &MemoryPath) -> String {
    format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:"
    )
}

pub(crate) fn view_missing(path: &MemoryPath) -> Error {
    refused(format!("The path {path} does not exist. Please provide a valid path."))
}

pub(crate) fn too_many_lines(path: &MemoryPath) -> Error {
    refused(format!("File {path} exceeds maximum line limit of 999,999 lines."))
}

pub(crate) fn invalid_view_range(range: &str, lines: u64) -> Error {
    let valid = match lines {
        0 => "The file is empty: leave view_range out.".to_owned(),
        1 => "The file has one line: it should be [1, 1] or [1, -1].".to_owned(),
        _ => format!(
            "It should be two integers [start, end] with start within [1, {lines}] and end not \
             before start, or -1 for the end of the file."
        ),
    };
    refused(format!("Error: Invalid `view_range` parameter: {range}. {valid}"))
}

pub(crate) fn not_text(path: &MemoryPath) -> Error {
    refused(format!(
        "Error: The file {path} is not valid UTF-8 text. It can only be deleted or renamed."
    ))
}

pub(crate) fn image(path: &MemoryPath) -> Error {
    refused(format!("Error: The file {path} is an image, and images cannot be shown here."))
}

pub(crate) fn image_too_large(path: &MemoryPath, size: u64, limit: u64) -> Error {
    let (size, limit) = (bytes(size), bytes(limit));
    refused(format!(
        "Error: The file {path} is an image of {size}, and an image of more than {limit} cannot be \
         shown. It can be deleted or renamed."
    ))
}

pub(crate) fn image_too_wide(path: &MemoryPath, width: u32, height: u32, limit: u32) -> Error {
    refused(format!(
        "Error: The file {path} is an image of {width} × {height} pixels, and an image of more than \
         {limit} pixels on a side cannot be shown. It can be deleted or renamed."
    ))
}

pub(crate) fn not_an_image(path: &MemoryPath) -> Error {
    refused(format!(
        "Error: The file {path} is named like an image, but holds no whole PNG or JPEG image, so \
         that it cannot be shown. If it is text, rename it to a name that ends in .txt or .md, and \
         view that."
    ))
}

pub(crate) fn empty_image(path: &MemoryPath) -> Error {
    refused(format!(
        "Error: The file {path} is named like an image, but it is empty, so that there is nothing \
         to show. It can be deleted or renamed."
    ))
}

/// The last line of a page that shows the lines `first..=last` of `total`; `end` is the last line
/// that was asked for.
pub(crate) fn more_lines(first: u64, last: u64, total: u64, end: Option<u64>) -> String {
    let next = next_range(last, end);
    format!(
        "\n[Lines {first} to {last} of {total} are shown: the view reached its limit of \
         characters. To go on, view with view_range {next}.]"
    )
}

/// The last line of a page that holds one line and not the whole of it.
pub(crate) fn cut_line(line: u64, chars: usize, total: u64, end: Option<u64>) -> String {
    let more = if line < end.unwrap_or(total) {
        format!(" To go on with the next line, view with view_range {}.", next_range(line, end))
    } else {
        String::new()
    };
    format!(
        "\n[Line {line} of {total} is longer than a view may be: only its first {chars} characters \
         are shown.{more}]"
    )
}

fn next_range(last: u64, end: Option<u64>) -> String {
    match end {
        Some(end) => format!("[{}, {end}]", last + 1),
        None => format!("[{}, -1]", last + 1),
    }
}

/// The last line of a listing that leaves entries out.
pub(crate) fn more_entries(left_out: usize) -> String {
    let entries = if left_out == 1 { "entry is" } else { "entries are" };
    format!(
        "\n[{left_out} more {entries} not shown: the view reached its limit of characters. View a \
         directory below to see what it holds.]"
    )
}

// --- create -----------------------------------------------------------------------------------

pub(crate) fn created(path: &MemoryPath) -> String {
    format!("File created successfully at: {path}")
}

pub(crate) fn create_exists(path: &MemoryPath) -> Error {
    refused(format!("Error: File {path} already exists"))
}

// --- str_replace ------------------------------------------------------------------------------

/// Followed by `\n` and the numbered lines.
pub(crate) fn replaced() -> String {
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        .to_owned()
}

pub(crate) fn replace_missing(path: &MemoryPath) -> Error {
    refused(format!("Error: The path {path} does not exist. Please provide a valid path."))
}

pub(crate) fn replace_empty() -> Error {
    refused(
        "Error: Invalid `old_str` parameter: it is empty. Give the text to replace, exactly as it \
         stands in the file."
            .to_owned(),
    )
}

pub(crate) fn replace_not_found(path: &MemoryPath, old_str: &str) -> Error {
    let old_str = quoted(old_str);
    refused(format!(
        "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
    ))
}

pub(crate) fn replace_ambiguous(old_str: &str, lines: &[u64]) -> Error {
    /// More line numbers than this help nobody.
    const MAX_LINES_NAMED: usize = 1000;
    let old_str = quoted(old_str);
    let mut named: Vec<String> =
        lines.iter().take(MAX_LINES_NAMED).map(ToString::to_string).collect();
    if lines.len() > MAX_LINES_NAMED {
        named.push(format!("and {} more", lines.len() - MAX_LINES_NAMED));
    }
    let lines = named.join(", ");
    refused(format!(
        "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: \
         {lines}. Please ensure it is unique"
    ))
}

/// A text that was sent, as a sentence repeats it: whole, unless it is absurdly long.
fn quoted(text: &str) -> String {
    const MAX_QUOTED_CHARS: usize = 16_000;
    match text.char_indices().nth(MAX_QUOTED_CHARS) {
        None => text.to_owned(),
        Some((cut, _)) => {
            format!("{}… ({} more bytes)", &text[..cut], text.len() - cut)
        }
    }
}

// --- insert -----------------------------------------------------------------------------------

pub(crate) fn inserted(path: &MemoryPath) -> String {
    format!("The file {path} has been edited.")
}

pub(crate) fn invalid_insert_line(insert_line: i64, lines: u64) -> Error {
    refused(format!(
        "Error: Invalid `insert_line` parameter: {insert_line}. It should be within the range of \
         lines of the file: [0, {lines}]"
    ))
}

// --- delete, rename ---------------------------------------------------------------------------

pub(crate) fn deleted(path: &MemoryPath) -> String {
    format!("Successfully deleted {path}")
}

pub(crate) fn delete_root() -> Error {
    refused("Cannot delete the /memories directory itself".to_owned())
}

pub(crate) fn renamed(from: &MemoryPath, to: &MemoryPath) -> String {
    format!("Successfully renamed {from} to {to}")
}

pub(crate) fn rename_root() -> Error {
    refused("Cannot rename the /memories directory itself".to_owned())
}

pub(crate) fn rename_exists(to: &MemoryPath) -> Error {
    refused(format!("Error: The destination {to} already exists"))
}

pub(crate) fn rename_into_itself(from: &MemoryPath, to: &MemoryPath) -> Error {
    refused(format!("Error: The directory {from} cannot be moved into itself, to {to}"))
}

/// `Error: The path {path} does not exist`: insert, delete and rename.
pub(crate) fn missing(path: &MemoryPath) -> Error {
    refused(format!("Error: The path {path} does not exist"))
}

pub(crate) fn cleared() -> String {
    "All memory cleared".to_owned()
}

// --- limits and stores ------------------------------------------------------------------------

pub(crate) fn file_too_large(
    path: &MemoryPath,
    now: Option<u64>,
    would_be: u64,
    limit: u64,
) -> Error {
    let (would_be, limit) = (bytes(would_be), bytes(limit));
    let now = now.map(|now| format!(" holds {} and", bytes(now))).unwrap_or_default();
    refused(format!(
        "Error: The file {path}{now} would hold {would_be}, and a file may hold {limit} at most. \
         Nothing was changed: split it into smaller files, or remove what is no longer needed."
    ))
}

/// `over` are the limits that would be overstepped, `largest` some files and their sizes.
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
    refused(format!(
        "Error: {path} was not changed, because the memory would hold {would_be}, and it may hold \
         {limit} at most.{files} {}, then try again.",
        make_room(over)
    ))
}

/// The last line of a listing of a memory that is full, or nearly so; `uses` are the limits that it
/// is near.
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

fn bytes(count: u64) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1024 => format!("{count} bytes"),
        _ => format!("{count} bytes ({})", human_size(count)),
    }
}

// --- stale views, write patterns ----------------------------------------------------------------

pub(crate) fn changed_since_view(path: &MemoryPath) -> Error {
    refused(format!(
        "Error: The file {path} has changed since you last viewed or changed it. Nothing was \
         changed: view it again, then decide anew."
    ))
}

pub(crate) fn not_viewed(path: &MemoryPath) -> Error {
    refused(format!(
        "Error: You have not viewed the file {path} yet. Nothing was changed: view it first, then \
         try again."
    ))
}

pub(crate) fn not_writable(path: &MemoryPath, writable: &[PathPattern]) -> Error {
    /// More help nobody.
    const MAX_NAMED: usize = 10;
    let mut named: Vec<String> =
        writable.iter().take(MAX_NAMED).map(|pattern| shortened(pattern.as_str())).collect();
    if writable.len() > MAX_NAMED {
        named.push(format!("and {} more", writable.len() - MAX_NAMED));
    }
    refused(match &*named {
        [] => format!("Error: {path} is read-only: nothing in this memory can be changed."),
        named => format!(
            "Error: {path} is read-only: only {} and what is below can be changed.",
            named.join(", ")
        ),
    })
}

// --- sensitive text ---------------------------------------------------------------------------

/// `named` are the lines of the file that would have come to be, and the rules.
pub(crate) fn sensitive(path: &MemoryPath, named: &[(u64, &str)]) -> Error {
    refused(format!(
        "Error: {path} was not changed, because it would hold sensitive text: {}. Leave such text \
         out: note where it is kept, and not what it is.",
        places(named)
    ))
}

/// The path is not repeated.
pub(crate) fn sensitive_path(rules: &[&str]) -> Error {
    refused(format!(
        "Error: Nothing was changed, because the path itself holds sensitive text ({}). Choose \
         another name.",
        rules.join(", ")
    ))
}

/// The last line of a reply to a command whose text was redacted.
pub(crate) fn redacted(named: &[(u64, &str)]) -> String {
    format!(
        "\n[Sensitive text was not written: {}. The file holds [redacted: …] in its place.]",
        places(named)
    )
}

/// `line 3 (github-token), line 7 (jwt)`.
fn places(named: &[(u64, &str)]) -> String {
    /// More help nobody.
    const MAX_NAMED: usize = 20;
    let mut places: Vec<String> =
        named.iter().take(MAX_NAMED).map(|(line, rule)| format!("line {line} ({rule})")).collect();
    if named.len() > MAX_NAMED {
        places.push(format!("and {} more", named.len() - MAX_NAMED));
    }
    places.join(", ")
}

pub(crate) fn replace_redacted(path: &MemoryPath) -> Error {
    refused(format!(
        "No replacement was performed: old_str holds a `[redacted: …]` mark, which stands in views \
         for text of {path} that is not shown, and is not in the file. Choose an old_str beside it; \
         what is redacted cannot be edited, only deleted with the file."
    ))
}

/// What a condition of the tree is called, where the command has no sentence of its own for it.
pub(crate) fn condition(path: &MemoryPath, error: StoreError) -> Error {
    refused(match error {
        StoreError::Symlink => {
            format!("Path {path} would escape /memories directory via symlink")
        }
        StoreError::NotFound => format!("Error: The path {path} does not exist"),
        StoreError::AlreadyExists => format!("Error: {path} already exists"),
        StoreError::IsADirectory => format!("Error: {path} is a directory, not a file"),
        StoreError::NotADirectory => format!(
            "Error: {path} cannot be made, because one of its parents is a file and not a directory"
        ),
        StoreError::SpecialFile => {
            format!("Error: {path} is neither a file nor a directory and cannot be opened")
        }
        StoreError::IntoItself => format!("Error: {path} cannot be moved into itself"),
        StoreError::NameTooLong => {
            format!("Error: The path {path} is too long for this memory store")
        }
        StoreError::PermissionDenied => {
            format!("Error: Permission denied: the memory store does not allow this for {path}")
        }
        StoreError::ReadOnly => {
            format!("Error: {path} is read-only: it can be viewed but not changed")
        }
        StoreError::MountPoint => format!(
            "Error: {path} is or holds a fixed directory of this memory, which can be neither \
             deleted nor renamed"
        ),
        StoreError::Full => format!(
            "Error: The memory store is full. {path} was not changed: delete what is no longer \
             needed, then try again"
        ),
        StoreError::Source(error) => return condition(path, *error),
        failed @ StoreError::Failed { .. } => return Error::Store(failed),
    })
}

fn out_of_reach() -> String {
    "Error: The memory directory cannot be reached at the moment. Nothing is known to have been \
     changed; try again later."
        .to_owned()
}

// --- hooks ------------------------------------------------------------------------------------

/// Where a hook forbids a command and does not say why.
pub(crate) fn vetoed() -> String {
    "Error: This command is not allowed here. Nothing was changed.".to_owned()
}

/// Where the hook that was to look at a command failed.
fn unchecked() -> String {
    "Error: The command was not carried out, because the program that runs this memory could not \
     check it. Nothing was changed; try again later."
        .to_owned()
}

// --- malformed input --------------------------------------------------------------------------

pub(crate) fn bad_path(raw: &str, error: PathError) -> Error {
    let path = echoed(raw);
    refused(match error {
        PathError::Outside => format!("Path must start with /memories, got: {path}"),
        PathError::Escapes => format!("Path {path} would escape /memories directory"),
        PathError::PathTooLong => format!(
            "Error: The path {} is too long: it has {} bytes, and a path may have {MAX_PATH_BYTES} \
             at most",
            shortened(raw),
            raw.len()
        ),
        PathError::NameTooLong => format!(
            "Error: The path {} is too long: a file's or directory's name may have \
             {MAX_NAME_BYTES} bytes at most",
            shortened(raw)
        ),
        PathError::TooDeep => format!(
            "Error: The path {} is too deep: it may have {MAX_LEVELS} levels below /memories at \
             most",
            shortened(raw)
        ),
    })
}

/// A path that was refused, as it came, unless it is longer than any path could be.
fn echoed(raw: &str) -> String {
    if raw.len() > MAX_PATH_BYTES { shortened(raw) } else { raw.to_owned() }
}

fn shortened(raw: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    match raw.char_indices().nth(SHOWN_CHARS) {
        None => raw.to_owned(),
        Some((cut, _)) => format!("{}…", &raw[..cut]),
    }
}

fn commands() -> String {
    let [most @ .., last] = &COMMANDS;
    format!("{} or {last}", most.join(", "))
}

pub(crate) fn not_json(problem: &str) -> String {
    format!("Error: The input is not valid JSON: {problem}")
}

pub(crate) fn not_an_object(came: &Value<'_>) -> String {
    format!("Error: The input should be an object with a `command`, got {}", described(came))
}

pub(crate) fn missing_command() -> String {
    format!("Error: Missing `command` parameter: expected {}", commands())
}

pub(crate) fn unknown_command(came: &Value<'_>) -> String {
    format!("Error: Invalid `command` parameter: expected {}, got {}", commands(), described(came))
}

pub(crate) fn missing_field(command: &str, field: &str, expected: &str) -> String {
    format!("Error: Missing `{field}` parameter for the `{command}` command: expected {expected}")
}

pub(crate) fn wrong_type(field: &str, expected: &str, came: &Value<'_>) -> String {
    format!("Error: Invalid `{field}` parameter: expected {expected}, got {}", described(came))
}

/// A value in words: what kind it is, and itself where that says more.
fn described(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => format!("the boolean {value}"),
        Value::Integer(_) | Value::Number(_) => format!("the number {value}"),
        Value::Text(_) => format!("the string {value}"),
        Value::List(_) => format!("the list {value}"),
        Value::Object | Value::Other(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_input_is_never_repeated_whole() {
        let long = "é".repeat(1_000_000);
        for error in [
            bad_path(&long, PathError::Outside),
            bad_path(&long, PathError::PathTooLong),
            replace_not_found(&MemoryPath::root(), &long),
            replace_ambiguous(&long, &(1..100_000).collect::<Vec<_>>()),
        ] {
            assert!(error.to_string().len() < 50_000);
        }
        assert!(unknown_command(&Value::Text(long.into())).len() < 1000);
    }

    #[test]
    fn what_broke_is_for_the_developer_alone() {
        let broken = StoreError::failed("opening /srv/agent", "connection to db.internal refused");
        let reply = Reply::from(Err(condition(&MemoryPath::root(), broken)));
        assert!(reply.is_error);
        assert!(!reply.content.as_str().contains("/srv"));
        assert!(!reply.content.as_str().contains("db.internal"));
        assert!(reply.cause.unwrap().to_string().contains("db.internal"));
    }
}
