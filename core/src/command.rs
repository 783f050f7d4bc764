//! [`Command`]: one command of the tool, first with paths as text, then with validated paths.
//!
//! - `decode` turns input into a [`Command`], or into a sentence that says what is wrong.
//! - A `ValidCommand` may be executed. All later code gets paths as [`MemoryPath`], never as text.

use std::borrow::Cow;
use std::convert::Infallible;

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::reply;
use crate::value::Value;

mod decode;
mod fields;
mod schema;
#[cfg(feature = "search")]
mod search;

pub use crate::repair::Repair;
pub use decode::{Decoded, TOOL_USE};
pub use schema::{Dialect, KEEP_NOTES, VIEW_FIRST, tool_definition, tool_definitions};
#[cfg(feature = "search")]
pub(crate) use search::SearchInput;
#[cfg(feature = "search")]
pub use search::{SearchCall, search_tool_definition};

/// One command of the tool.
///
/// `P` is the type of its paths, by default the text that the model sent.
/// [`MemoryHooks::before`](crate::MemoryHooks::before) also gets a command with paths as text; they are valid
/// and canonical.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Command<'a, P = Cow<'a, str>> {
    /// Show a directory, or a file or some lines of it.
    View {
        /// The path to show.
        path: P,
        /// The lines to show; all if absent.
        view_range: Option<ViewRange>,
    },
    /// Create a file.
    Create {
        /// The path of the file.
        path: P,
        /// Its content.
        file_text: Cow<'a, str>,
    },
    /// Replace the only occurrence of a text.
    StrReplace {
        /// The path of the file.
        path: P,
        /// The text to replace, verbatim; it may span lines.
        old_str: Cow<'a, str>,
        /// The new text; an empty text deletes `old_str`.
        new_str: Cow<'a, str>,
    },
    /// Insert whole lines.
    Insert {
        /// The path of the file.
        path: P,
        /// The line to insert after; 0 is the start of the file.
        insert_line: i64,
        /// The lines.
        insert_text: Cow<'a, str>,
    },
    /// Delete a file, or a directory with everything in it.
    Delete {
        /// The path to delete.
        path: P,
    },
    /// Rename or move a file or directory.
    Rename {
        /// The path to move.
        old_path: P,
        /// The new path.
        new_path: P,
    },
}

/// A command that may be executed: its paths are valid and not reserved.
pub(crate) type ValidCommand<'a> = Command<'a, MemoryPath>;

/// The `view_range` of a view.
///
/// The file decides which ranges are valid, and a directory ignores the range. So a malformed range is kept
/// here and refused later.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewRange {
    /// First and last line, 1-based and inclusive; a last line of -1 is the end of the file.
    Lines(i64, i64),
    /// Anything but two integers, as the error message shows it.
    Malformed(String),
}

/// The names of the commands, in the order of the documentation.
pub const COMMANDS: [&str; fields::ENTRIES.len()] = fields::names();

impl<'a> Command<'a> {
    /// Validates the paths, in the order in which the documentation names them.
    ///
    /// # Errors
    /// [`Error::Refused`] for a text that is not a path, or for a reserved path.
    pub(crate) fn validated(self) -> Result<ValidCommand<'a>, Error> {
        let valid = |path: Cow<'a, str>| match MemoryPath::parse(&path) {
            Err(error) => Err(reply::bad_path(&path, error)),
            Ok(path) if path.is_reserved() => Err(reply::reserved_path(&path)),
            Ok(path) => Ok(path),
        };
        self.convert(valid, |text| text)
    }

    /// Returns the command with owned texts, so it can be sent to another thread.
    #[must_use]
    pub fn into_owned(self) -> Command<'static> {
        let Ok(command) = self.convert::<_, Infallible>(|path| Ok(owned(path)), owned);
        command
    }

    /// Returns the fields of the command, with the names of the tool's documentation, `command` first. An
    /// absent or malformed `view_range` is left out.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, Value<'_>)> {
        let text = |text| Value::Text(Cow::Borrowed(text));
        let mut fields = vec![("command", text(self.name()))];
        match self {
            Command::View { path, view_range } => {
                fields.push(("path", text(path)));
                if let Some(ViewRange::Lines(first, last)) = view_range {
                    let range = vec![Value::Integer(*first), Value::Integer(*last)];
                    fields.push(("view_range", Value::List(range)));
                }
            }
            Command::Create { path, file_text } => {
                fields.extend([("path", text(path)), ("file_text", text(file_text))]);
            }
            Command::StrReplace { path, old_str, new_str } => fields.extend([
                ("path", text(path)),
                ("old_str", text(old_str)),
                ("new_str", text(new_str)),
            ]),
            Command::Insert { path, insert_line, insert_text } => fields.extend([
                ("path", text(path)),
                ("insert_line", Value::Integer(*insert_line)),
                ("insert_text", text(insert_text)),
            ]),
            Command::Delete { path } => fields.push(("path", text(path))),
            Command::Rename { old_path, new_path } => {
                fields.extend([("old_path", text(old_path)), ("new_path", text(new_path))]);
            }
        }
        fields
    }
}

impl ValidCommand<'_> {
    /// Returns its path, and for a rename also the new path.
    pub(crate) fn into_paths(self) -> (MemoryPath, Option<MemoryPath>) {
        match self {
            Command::View { path, .. }
            | Command::Create { path, .. }
            | Command::StrReplace { path, .. }
            | Command::Insert { path, .. }
            | Command::Delete { path } => (path, None),
            Command::Rename { old_path, new_path } => (old_path, Some(new_path)),
        }
    }

    /// Returns its path; for a rename the old one.
    pub(crate) fn path(&self) -> &MemoryPath {
        match self {
            Command::View { path, .. }
            | Command::Create { path, .. }
            | Command::StrReplace { path, .. }
            | Command::Insert { path, .. }
            | Command::Delete { path }
            | Command::Rename { old_path: path, .. } => path,
        }
    }

    /// Returns the same command with texts that are borrowed from this one.
    pub(crate) fn lent(&self) -> ValidCommand<'_> {
        self.lend(MemoryPath::clone)
    }

    /// Like [`Command::into_owned`].
    pub(crate) fn with_own_texts(self) -> ValidCommand<'static> {
        let Ok(command) = self.convert::<_, Infallible>(Ok, owned);
        command
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

impl<P: AsRef<str>> Command<'_, P> {
    /// Returns the same command with paths as text. All texts are borrowed from this one.
    #[must_use]
    pub fn borrowed(&self) -> Command<'_> {
        self.lend(|path| Cow::Borrowed(path.as_ref()))
    }
}

impl<'a, P> Command<'a, P> {
    /// Returns the same command with other paths. Its texts are borrowed from this one.
    fn lend<'s, Q>(&'s self, path: impl Fn(&'s P) -> Q) -> Command<'s, Q> {
        fn lent(text: &str) -> Cow<'_, str> {
            Cow::Borrowed(text)
        }
        match self {
            Command::View { path: at, view_range } => {
                Command::View { path: path(at), view_range: view_range.clone() }
            }
            Command::Create { path: at, file_text } => {
                Command::Create { path: path(at), file_text: lent(file_text) }
            }
            Command::StrReplace { path: at, old_str, new_str } => Command::StrReplace {
                path: path(at),
                old_str: lent(old_str),
                new_str: lent(new_str),
            },
            Command::Insert { path: at, insert_line, insert_text } => Command::Insert {
                path: path(at),
                insert_line: *insert_line,
                insert_text: lent(insert_text),
            },
            Command::Delete { path: at } => Command::Delete { path: path(at) },
            Command::Rename { old_path, new_path } => {
                Command::Rename { old_path: path(old_path), new_path: path(new_path) }
            }
        }
    }

    /// Returns the same command with other paths and texts.
    fn convert<'b, Q, E>(
        self,
        mut path: impl FnMut(P) -> Result<Q, E>,
        text: impl Fn(Cow<'a, str>) -> Cow<'b, str>,
    ) -> Result<Command<'b, Q>, E> {
        Ok(match self {
            Command::View { path: at, view_range } => Command::View { path: path(at)?, view_range },
            Command::Create { path: at, file_text } => {
                Command::Create { path: path(at)?, file_text: text(file_text) }
            }
            Command::StrReplace { path: at, old_str, new_str } => Command::StrReplace {
                path: path(at)?,
                old_str: text(old_str),
                new_str: text(new_str),
            },
            Command::Insert { path: at, insert_line, insert_text } => {
                Command::Insert { path: path(at)?, insert_line, insert_text: text(insert_text) }
            }
            Command::Delete { path: at } => Command::Delete { path: path(at)? },
            Command::Rename { old_path, new_path } => {
                Command::Rename { old_path: path(old_path)?, new_path: path(new_path)? }
            }
        })
    }

    /// Returns the command's name, as the documentation spells it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Command::View { .. } => "view",
            Command::Create { .. } => "create",
            Command::StrReplace { .. } => "str_replace",
            Command::Insert { .. } => "insert",
            Command::Delete { .. } => "delete",
            Command::Rename { .. } => "rename",
        }
    }

    /// Returns the text that the command writes, and the name of its field. `None` for a command that writes no
    /// text.
    #[must_use]
    pub fn text(&self) -> Option<(&'static str, &str)> {
        match self {
            Command::Create { file_text, .. } => Some(("file_text", file_text)),
            Command::StrReplace { new_str, .. } => Some(("new_str", new_str)),
            Command::Insert { insert_text, .. } => Some(("insert_text", insert_text)),
            Command::View { .. } | Command::Delete { .. } | Command::Rename { .. } => None,
        }
    }

    /// Returns the text that the command writes, for changing it.
    pub(crate) fn text_mut(&mut self) -> Option<&mut Cow<'a, str>> {
        match self {
            Command::Create { file_text: text, .. }
            | Command::StrReplace { new_str: text, .. }
            | Command::Insert { insert_text: text, .. } => Some(text),
            Command::View { .. } | Command::Delete { .. } | Command::Rename { .. } => None,
        }
    }
}
