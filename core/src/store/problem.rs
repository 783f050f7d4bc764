//! What can be wrong with a store, in terms that a program and a person can act on.

use std::fmt;

use crate::path::MemoryPath;

/// Something that is not as it should be in a store, as [`Store::inspect`](super::Store::inspect)
/// and [`check`](crate::check()) report it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// What is wrong.
    pub kind: ProblemKind,
    /// Where: a path, or something like one where no [`MemoryPath`] can be. Safe to be shown, with
    /// control characters and bytes that are no text escaped.
    pub at: String,
    /// More about it, for the developer; may be empty.
    pub details: String,
}

impl Problem {
    /// A problem with what is at `path`.
    pub fn new(kind: ProblemKind, path: &MemoryPath, details: impl Into<String>) -> Self {
        Self { kind, at: path.to_string(), details: details.into() }
    }

    /// A problem with the entry `name` of `directory`, which may be one that no path can hold.
    #[must_use]
    pub fn with_entry(kind: ProblemKind, directory: &MemoryPath, name: &[u8]) -> Self {
        Self { kind, at: format!("{directory}/{}", shown(name)), details: String::new() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.at, self.kind)?;
        if self.details.is_empty() { Ok(()) } else { write!(f, " ({})", self.details) }
    }
}

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file or directory cannot be read.
    Unreadable,
    /// A file holds more or fewer bytes than its directory says.
    WrongSize,
    /// The store's own structures contradict each other.
    Damaged,
    /// A process that ended in the middle of a command left this.
    LeftOver,
    /// A symbolic link. It is never followed and no part of the memory.
    Link,
    /// Neither a file nor a directory. It is never opened and no part of the memory.
    SpecialFile,
    /// A name that no path can hold. Neither it nor what is below it is part of the memory.
    BadName,
}

impl ProblemKind {
    /// One word for it, for programs: `"unreadable"`, `"wrong-size"`, `"damaged"`, `"left-over"`,
    /// `"link"`, `"special-file"` or `"bad-name"`.
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
        }
    }

    /// Whether it is about something beside the memory, which is as it should be itself.
    #[must_use]
    pub fn is_beside(self) -> bool {
        matches!(self, Self::LeftOver | Self::Link | Self::SpecialFile | Self::BadName)
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
        })
    }
}

/// A name as it can be shown.
fn shown(name: &[u8]) -> String {
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
    fn a_name_that_is_no_text_can_be_shown() {
        let at =
            |name: &[u8]| Problem::with_entry(ProblemKind::BadName, &MemoryPath::root(), name).at;
        assert_eq!(at(b"plain"), "/memories/plain");
        assert_eq!(at("\u{1b}[2J\u{9b}é".as_bytes()), "/memories/\\u{1b}[2J\\u{9b}é");
        assert_eq!(at(b"a\xff\\b\n"), "/memories/a\\xff\\\\b\\n");
    }
}
