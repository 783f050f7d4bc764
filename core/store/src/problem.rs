//! [`Problem`]: a problem in a store.

use std::fmt;

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

use super::{Entry, EntryKind, MOVING, NEW_DIRECTORY};
use crate::path::MemoryPath;

/// A problem in a store, reported by [`Store::inspect`](super::Store::inspect) or `check`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The path, or a text like a path if no [`MemoryPath`] can contain the name. It is safe to display:
    /// control characters, and bytes that are not text, are escaped.
    pub path: String,
    /// Details for you, in one line without control characters; may be empty.
    pub details: String,
}

impl Problem {
    /// A problem at `path`.
    pub fn new(kind: ProblemKind, path: &MemoryPath, details: impl AsRef<str>) -> Self {
        Self { kind, path: path.to_string(), details: one_line(details.as_ref()) }
    }

    /// The problem of an entry with a name reserved for memdir; `None` for any other entry.
    ///
    /// Copies, exports and imports skip such an entry and everything below it. In another store it would have a
    /// meaning: the record of an encrypted store would make a plain store look encrypted.
    #[must_use]
    pub fn of_reserved_name(entry: &Entry) -> Option<Self> {
        let name = entry.path.name()?;
        let kind = match entry.kind {
            EntryKind::File(0) if name == NEW_DIRECTORY => ProblemKind::LeftOver,
            _ if name.starts_with(MOVING) && entry.path.names().count() == 1 => {
                ProblemKind::LeftOver
            }
            _ if entry.path.is_reserved() => ProblemKind::Reserved,
            _ => return None,
        };
        Some(Self::new(kind, &entry.path, ""))
    }

    /// A problem with the entry `name` of `directory`. A path may be unable to contain that name.
    #[must_use]
    pub fn with_entry(kind: ProblemKind, directory: &MemoryPath, name: &[u8]) -> Self {
        Self { kind, path: format!("{directory}/{}", display_name(name)), details: String::new() }
    }
}

/// Serializes the sentence instead of the details, and also [`is_beside`](ProblemKind::is_beside).
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut shown = to.serialize_struct("Problem", 4)?;
        shown.serialize_field("kind", &self.kind)?;
        shown.serialize_field("path", &self.path)?;
        shown.serialize_field("description", &self.to_string())?;
        shown.serialize_field("is_beside", &self.kind.is_beside())?;
        shown.end()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.path, self.kind)?;
        if self.details.is_empty() { Ok(()) } else { write!(f, " ({})", self.details) }
    }
}

/// The kind of a [`Problem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file or directory cannot be read.
    Unreadable,
    /// The size of a file differs from the size in its directory.
    WrongSize,
    /// The store's own structures contradict each other.
    Damaged,
    /// A leftover of a process that ended in the middle of a command.
    LeftOver,
    /// A symbolic link. It is never followed, and is not part of the memory.
    Link,
    /// Neither a file nor a directory. It is never opened, and is not part of the memory.
    SpecialFile,
    /// A name that no path can contain. It, and everything below it, is not part of the memory.
    BadName,
    /// A [reserved](MemoryPath::is_reserved) name, such as that of the record of an encrypted store. It, and everything
    /// below it, is not part of the memory.
    Reserved,
}

impl ProblemKind {
    /// The stable word for programs: `"unreadable"`, `"wrong-size"`, `"damaged"`, `"left-over"`, `"link"`,
    /// `"special-file"`, `"bad-name"` or `"reserved"`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::WrongSize => "wrong-size",
            Self::Damaged => "damaged",
            Self::LeftOver => "left-over",
            Self::Link => "link",
            Self::SpecialFile => "special-file",
            Self::BadName => "bad-name",
            Self::Reserved => "reserved",
        }
    }

    /// Whether the problem is about an entry that is not part of the memory. The memory itself is then intact.
    #[must_use]
    pub fn is_beside(self) -> bool {
        matches!(
            self,
            Self::LeftOver | Self::Link | Self::SpecialFile | Self::BadName | Self::Reserved
        )
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "cannot be read",
            Self::WrongSize => "is not as long as its directory says",
            Self::Damaged => "is damaged",
            Self::LeftOver => "was left by a process that ended in the middle of a command",
            Self::Link => "is a symbolic link, which is never followed",
            Self::SpecialFile => "is neither a file nor a directory",
            Self::BadName => "has a name that no path can hold",
            Self::Reserved => "has a name that is reserved for memdir's own files",
        })
    }
}

/// A text in one line that is safe to display. An engine may return a reason with several lines.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for (number, part) in
        text.split(['\n', '\r']).map(str::trim).filter(|part| !part.is_empty()).enumerate()
    {
        if number > 0 {
            line.push(' ');
        }
        for c in part.chars() {
            if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
        }
    }
    line
}

/// A name in a form that is safe to display: control characters, backslashes and bytes that are not UTF-8 are escaped.
#[must_use]
pub fn display_name(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || c == '\\' {
                shown.extend(c.escape_default());
            } else {
                shown.push(c);
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_one_line() {
        let details = |text| Problem::new(ProblemKind::Damaged, &MemoryPath::root(), text).details;
        assert_eq!(details("*** in main ***\nTree 3:\r\n  lost\n"), "*** in main *** Tree 3: lost");
        assert_eq!(details("C:\\a \u{1b}[2J\0"), "C:\\a \\u{1b}[2J\\u{0}");
        assert_eq!(details("\n"), "");
    }

    #[test]
    fn a_name_that_is_no_text_can_be_shown() {
        let at =
            |name: &[u8]| Problem::with_entry(ProblemKind::BadName, &MemoryPath::root(), name).path;
        assert_eq!(at(b"plain"), "/memories/plain");
        assert_eq!(at("\u{1b}[2J\u{9b}é".as_bytes()), "/memories/\\u{1b}[2J\\u{9b}é");
        assert_eq!(at(b"a\xff\\b\n"), "/memories/a\\xff\\\\b\\n");
    }
}
