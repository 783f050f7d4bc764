//! [`Reply`], and every sentence that a model can read.
//!
//! Sentences of the tool's documentation are reproduced exactly. Our own sentences say what happened, what was
//! expected and what to do next. No sentence reveals anything about the host: no path, no bucket, no
//! operating-system error.

use std::fmt;

use memdir_store::path::MemoryPath;
use memdir_store::{Error, ErrorKind, Refused};

use crate::store::{Effect, StoreError};

mod input;
mod policies;

pub(crate) use input::*;
pub(crate) use policies::*;

/// The reply to one tool call, for the model.
#[derive(Debug)]
#[non_exhaustive]
pub struct Reply {
    /// The text or image for the model.
    pub content: Content,
    /// True if the command failed: the `is_error` of the `tool_result`.
    pub is_error: bool,
    /// The kind of the error, or `None` if the command succeeded.
    pub kind: Option<ErrorKind>,
    /// The error, if the store itself or a hook failed ([`Error::Store`], [`Error::Hook`]). It is for your log
    /// and never for the model: `content` reveals no details.
    pub cause: Option<Error>,
}

impl Reply {
    /// Returns the refusal, if the command was refused. `None` if it was executed, or if the store or a hook
    /// failed.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        let kind = self.kind.filter(|_| self.cause.is_none())?;
        Some(Refused::new(kind, self.content.as_text()?))
    }
}

/// The content of a [`Reply`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text.
    Text(String),
    /// An image, for an image block of the `tool_result`. It only occurs if
    /// [`MemoryOptions::max_image_bytes`](crate::MemoryOptions::max_image_bytes) is set.
    Image {
        /// `image/png` or `image/jpeg`, according to the content and not the name.
        media_type: &'static str,
        /// The file's content.
        bytes: Vec<u8>,
    },
}

impl Content {
    /// Returns the text, or `None` for an image.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Content::Text(text) => Some(text),
            Content::Image { .. } => None,
        }
    }

    /// Returns the text by value. Empty for an image.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Content::Text(text) => text,
            Content::Image { .. } => String::new(),
        }
    }

    /// Returns the text of a view of `path`, for a front end that cannot show images.
    ///
    /// # Errors
    /// [`Error::Refused`] for an image, with the sentence of a memory that shows no images.
    pub fn text_of_view(self, path: &str) -> Result<String, Error> {
        match self {
            Content::Text(text) => Ok(text),
            Content::Image { .. } => Err(match MemoryPath::parse(path) {
                Ok(path) => image(&path),
                Err(error) => bad_path(path, error),
            }),
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

/// Returns the text of the reply to a result, or `None` for an image.
pub(crate) fn text_of(result: &Result<Content, Error>) -> Option<String> {
    Some(match result {
        Ok(Content::Image { .. }) => return None,
        Ok(Content::Text(text)) => text.clone(),
        Err(Error::Refused(refused)) => refused.sentence().to_owned(),
        Err(Error::Hook(_)) => unchecked(),
        Err(Error::Store(error)) => failure(error),
        Err(Error::Config(_)) => out_of_reach(Effect::Unchanged),
    })
}

impl From<Result<Content, Error>> for Reply {
    fn from(result: Result<Content, Error>) -> Self {
        let kind = result.as_ref().err().map(Error::kind);
        let (content, is_error, cause) = match result {
            Ok(content) => (content, false, None),
            Err(Error::Refused(refused)) => (Content::Text(refused.into_sentence()), true, None),
            Err(Error::Store(error)) => {
                (Content::Text(failure(&error)), true, Some(Error::Store(error)))
            }
            Err(cause @ Error::Hook(_)) => (Content::Text(unchecked()), true, Some(cause)),
            // Options are checked when a memory is opened, so a command never gets this error.
            Err(Error::Config(_)) => (Content::Text(out_of_reach(Effect::Unchanged)), true, None),
        };
        Self { content, is_error, kind, cause }
    }
}

fn refused(kind: ErrorKind, text: String) -> Error {
    Error::Refused(Refused::new(kind, text))
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
    refused(
        ErrorKind::NotFound,
        format!("The path {path} does not exist. Please provide a valid path."),
    )
}

pub(crate) fn too_many_lines(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::TooLarge,
        format!("File {path} exceeds maximum line limit of 999,999 lines."),
    )
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
    refused(ErrorKind::Invalid, format!("Error: Invalid `view_range` parameter: {range}. {valid}"))
}

pub(crate) fn not_text(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::NotText,
        format!(
            "Error: The file {path} is not valid UTF-8 text. It can only be deleted or renamed."
        ),
    )
}

pub(crate) fn image(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::NotText,
        format!("Error: The file {path} is an image, and images cannot be shown here."),
    )
}

pub(crate) fn image_too_large(path: &MemoryPath, size: u64, limit: u64) -> Error {
    let (size, limit) = (bytes(size), bytes(limit));
    refused(
        ErrorKind::TooLarge,
        format!(
            "Error: The file {path} is an image of {size}, and an image of more than {limit} cannot be \
         shown. It can be deleted or renamed."
        ),
    )
}

pub(crate) fn image_too_wide(path: &MemoryPath, width: u32, height: u32, limit: u32) -> Error {
    refused(
        ErrorKind::TooLarge,
        format!(
            "Error: The file {path} is an image of {width} × {height} pixels, and an image of more than \
         {limit} pixels on a side cannot be shown. It can be deleted or renamed."
        ),
    )
}

pub(crate) fn not_an_image(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::NotText,
        format!(
            "Error: The file {path} is named like an image, but holds no whole PNG or JPEG image, so it \
         cannot be shown. If it is text, rename it to a name that ends in .txt or .md, and view that."
        ),
    )
}

pub(crate) fn empty_image(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::NotText,
        format!(
            "Error: The file {path} is named like an image, but it is empty, so there is nothing to \
         show. It can be deleted or renamed."
        ),
    )
}

/// The last line of a page that shows the lines `first..=last` of `total`. `end` is the last requested line.
pub(crate) fn more_lines(first: u64, last: u64, total: u64, end: Option<u64>) -> String {
    let next = next_range(last, end);
    format!(
        "\n[Lines {first} to {last} of {total} are shown: the view reached its limit of \
         characters. To go on, view with view_range {next}.]"
    )
}

/// The last line of a page that shows only a part of a single line.
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

/// The last line of an index that leaves files out.
pub(crate) fn more_files(left_out: usize) -> String {
    let files = if left_out == 1 { "file is" } else { "files are" };
    format!("[{left_out} more {files} not listed here.]\n")
}

// --- create -----------------------------------------------------------------------------------

pub(crate) fn created(path: &MemoryPath) -> String {
    format!("File created successfully at: {path}")
}

pub(crate) fn create_exists(path: &MemoryPath) -> Error {
    refused(ErrorKind::Exists, format!("Error: File {path} already exists"))
}

// --- str_replace ------------------------------------------------------------------------------

/// Followed by `\n` and the numbered lines.
pub(crate) fn replaced() -> String {
    "The memory file has been edited. Here is the snippet showing the change (with line numbers):"
        .to_owned()
}

pub(crate) fn replace_missing(path: &MemoryPath) -> Error {
    refused(
        ErrorKind::NotFound,
        format!("Error: The path {path} does not exist. Please provide a valid path."),
    )
}

pub(crate) fn replace_empty() -> Error {
    refused(
        ErrorKind::Invalid,
        "Error: Invalid `old_str` parameter: it is empty. Give the text to replace, exactly as it \
         stands in the file."
            .to_owned(),
    )
}

pub(crate) fn replace_not_found(path: &MemoryPath, old_str: &str) -> Error {
    let old_str = quoted(old_str);
    refused(
        ErrorKind::NoMatch,
        format!(
            "No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}."
        ),
    )
}

pub(crate) fn replace_ambiguous(old_str: &str, lines: &[u64]) -> Error {
    /// More line numbers do not help.
    const MAX_LINES_NAMED: usize = 1000;
    let old_str = quoted(old_str);
    let mut named: Vec<String> =
        lines.iter().take(MAX_LINES_NAMED).map(ToString::to_string).collect();
    if lines.len() > MAX_LINES_NAMED {
        named.push(format!("and {} more", lines.len() - MAX_LINES_NAMED));
    }
    let lines = named.join(", ");
    refused(
        ErrorKind::SeveralMatches,
        format!(
            "No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: \
         {lines}. Please ensure it is unique"
        ),
    )
}

/// Quotes a text of the model in a sentence, cut if it is very long.
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
    refused(
        ErrorKind::Invalid,
        format!(
            "Error: Invalid `insert_line` parameter: {insert_line}. It should be within the range of \
         lines of the file: [0, {lines}]"
        ),
    )
}

// --- delete, rename ---------------------------------------------------------------------------

pub(crate) fn deleted(path: &MemoryPath) -> String {
    format!("Successfully deleted {path}")
}

pub(crate) fn delete_root() -> Error {
    refused(ErrorKind::Fixed, "Cannot delete the /memories directory itself".to_owned())
}

pub(crate) fn renamed(from: &MemoryPath, to: &MemoryPath) -> String {
    format!("Successfully renamed {from} to {to}")
}

pub(crate) fn rename_root() -> Error {
    refused(ErrorKind::Fixed, "Cannot rename the /memories directory itself".to_owned())
}

pub(crate) fn rename_exists(to: &MemoryPath) -> Error {
    refused(ErrorKind::Exists, format!("Error: The destination {to} already exists"))
}

pub(crate) fn rename_into_itself(from: &MemoryPath, to: &MemoryPath) -> Error {
    refused(
        ErrorKind::Invalid,
        format!("Error: The directory {from} cannot be moved into itself, to {to}"),
    )
}

/// The new path is too long, or the new path of an entry below it.
pub(crate) fn rename_too_long(from: &MemoryPath, to: &MemoryPath) -> Error {
    refused(
        ErrorKind::Invalid,
        format!(
            "Error: {from} cannot be moved to {to}: the new path, or that of something below it, would be too \
         long or too deep for this memory store"
        ),
    )
}

/// `Error: The path {path} does not exist`, for insert, delete and rename.
pub(crate) fn missing(path: &MemoryPath) -> Error {
    refused(ErrorKind::NotFound, format!("Error: The path {path} does not exist"))
}

pub(crate) fn cleared() -> String {
    "All memory cleared".to_owned()
}

// --- stores -----------------------------------------------------------------------------------

/// Returns the sentence about a condition of the tree, if the command has no specific one.
pub(crate) fn condition(path: &MemoryPath, error: StoreError) -> Error {
    let kind = error.kind();
    let sentence = match error {
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
        StoreError::Unmovable => format!(
            "Error: The directory {path} cannot be moved as a whole in this memory store: rename the \
             files in it one by one"
        ),
        StoreError::Full => format!(
            "Error: The memory store is full. {path} was not changed: delete what is no longer \
             needed, then try again"
        ),
        StoreError::Source(error) => return condition(path, *error),
        StoreError::TooLarge { size } => format!(
            "Error: The file {path} holds {}, which is too large to be edited. It can be viewed, \
             deleted or renamed.",
            bytes(size)
        ),
        StoreError::OverLimit { .. } => format!(
            "Error: {path} was not changed, because the memory would hold more than it may. Delete what \
             is no longer needed, then try again."
        ),
        failure @ (StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled) => {
            return Error::Store(failure);
        }
    };
    refused(kind, sentence)
}

/// Returns the sentence about a failure. It only says what the failure means for the command.
fn failure(error: &StoreError) -> String {
    match error {
        StoreError::Busy => {
            "Error: The memory directory is busy: other writers have kept it locked \
                             for too long. Nothing was changed; try again later."
                .to_owned()
        }
        StoreError::Cancelled => {
            "Error: The command was cancelled before it began. Nothing was changed.".to_owned()
        }
        StoreError::Failed { effect, .. } => out_of_reach(*effect),
        // Conditions have their own sentences. A condition that is reported as a failure changed nothing.
        _ => out_of_reach(Effect::Unchanged),
    }
}

fn out_of_reach(effect: Effect) -> String {
    let effect = match effect {
        Effect::Read => "Try again later.",
        Effect::Unchanged => "Nothing was changed; try again later.",
        Effect::Unknown => {
            "The change may or may not have been saved: view the path before trying again."
        }
    };
    format!("Error: The memory directory cannot be reached at the moment. {effect}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;
    use memdir_store::path::PathError;

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
        assert!(unknown_command(&["view"; 6], &Value::Text(long.into())).len() < 1000);
    }

    #[test]
    fn what_broke_is_for_the_developer_alone() {
        let broken = StoreError::failed("opening /srv/agent", "connection to db.internal refused");
        let reply = Reply::from(Err(condition(&MemoryPath::root(), broken)));
        assert!(reply.is_error);
        assert!(!reply.content.as_text().unwrap_or_default().contains("/srv"));
        assert!(!reply.content.as_text().unwrap_or_default().contains("db.internal"));
        assert!(reply.cause.unwrap().to_string().contains("db.internal"));
    }
}
