//! `diff`: what changed between two versions, as a unified diff.

use std::fmt;

use imara_diff::{
    Algorithm, Diff, InternedInput, Interner, Token, UnifiedDiffConfig, UnifiedDiffPrinter,
};

use super::error::HistoryError;
use super::id::HistoryId;
use super::recorder::Recorder;
use super::snapshot::Snapshot;
use super::timeline::State;
use crate::path::MemoryPath;

/// What stands for a file that is not there.
const NOTHING: &str = "/dev/null";

impl Recorder {
    pub(crate) fn read_version(&self, id: HistoryId) -> Result<Vec<u8>, HistoryError> {
        let snapshot = self.snapshot()?;
        match snapshot.timeline.find(id) {
            Some(number) => self.content_of(&snapshot, number),
            None => Err(HistoryError::Unknown(id.to_string())),
        }
    }

    /// From one version to another; without another, what the change of the version did to the file.
    pub(crate) fn diff(
        &self,
        one: HistoryId,
        other: Option<HistoryId>,
    ) -> Result<String, HistoryError> {
        let snapshot = self.snapshot()?;
        let find = |id: HistoryId| {
            snapshot.timeline.find(id).ok_or_else(|| HistoryError::Unknown(id.to_string()))
        };
        let (from, to) = match other {
            Some(other) => (Some(find(one)?), find(other)?),
            None => {
                let number = find(one)?;
                (snapshot.timeline.moments[number].earlier, number)
            }
        };
        let (old_path, old) = self.side(&snapshot, from)?;
        let (path, new) = self.side(&snapshot, Some(to))?;
        Ok(unified(old_path.as_ref(), &old, path.as_ref(), &new))
    }

    /// The path and the content of one side of a diff.
    fn side(
        &self,
        snapshot: &Snapshot,
        number: Option<usize>,
    ) -> Result<(Option<MemoryPath>, Vec<u8>), HistoryError> {
        let Some(number) = number else { return Ok((None, Vec::new())) };
        let moment = &snapshot.timeline.moments[number];
        match moment.state {
            State::Gone => Ok((None, Vec::new())),
            _ => Ok((Some(moment.path.clone()), self.content_of(snapshot, number)?)),
        }
    }
}

/// Prints hunks as git does.
struct Printer<'t>(&'t Interner<&'t str>);

impl Printer<'_> {
    fn line(&self, f: &mut impl fmt::Write, mark: char, token: Token) -> fmt::Result {
        let line = self.0[token];
        write!(f, "{mark}{line}")?;
        if line.ends_with('\n') { Ok(()) } else { f.write_str("\n\\ No newline at end of file\n") }
    }
}

/// Where a hunk begins, counted from 1, and how many lines it has. An empty one stands after the line before it.
fn range(f: &mut impl fmt::Write, start: u32, len: u32) -> fmt::Result {
    match len {
        0 => write!(f, "{start},0"),
        1 => write!(f, "{}", start + 1),
        _ => write!(f, "{},{len}", start + 1),
    }
}

impl UnifiedDiffPrinter for Printer<'_> {
    fn display_header(
        &self,
        mut f: impl fmt::Write,
        start_before: u32,
        start_after: u32,
        len_before: u32,
        len_after: u32,
    ) -> fmt::Result {
        f.write_str("@@ -")?;
        range(&mut f, start_before, len_before)?;
        f.write_str(" +")?;
        range(&mut f, start_after, len_after)?;
        f.write_str(" @@\n")
    }

    fn display_context_token(&self, mut f: impl fmt::Write, token: Token) -> fmt::Result {
        self.line(&mut f, ' ', token)
    }

    fn display_hunk(
        &self,
        mut f: impl fmt::Write,
        before: &[Token],
        after: &[Token],
    ) -> fmt::Result {
        before.iter().try_for_each(|token| self.line(&mut f, '-', *token))?;
        after.iter().try_for_each(|token| self.line(&mut f, '+', *token))
    }
}

/// A unified diff with three lines of context; empty if nothing changed.
pub(crate) fn unified(
    old_path: Option<&MemoryPath>,
    old: &[u8],
    path: Option<&MemoryPath>,
    new: &[u8],
) -> String {
    let name = |path: Option<&MemoryPath>| path.map_or(NOTHING, MemoryPath::as_str).to_owned();
    let (old_name, name) = (name(old_path), name(path));
    if old == new && old_name == name {
        return String::new();
    }
    let (Ok(old), Ok(new)) = (std::str::from_utf8(old), std::str::from_utf8(new)) else {
        return format!("Binary files {old_name} and {name} differ\n");
    };
    if old == new {
        return format!("--- {old_name}\n+++ {name}\n");
    }
    let input = InternedInput::new(old, new);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let printer = Printer(&input.interner);
    let hunks = diff.unified_diff(&printer, UnifiedDiffConfig::default(), &input);
    format!("--- {old_name}\n+++ {name}\n{hunks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        let path = MemoryPath::parse("/memories/a").unwrap();
        let diff = unified(Some(&path), old.as_bytes(), Some(&path), new.as_bytes());
        let header = "--- /memories/a\n+++ /memories/a\n";
        diff.strip_prefix(header).unwrap_or(&diff).to_owned()
    }

    #[test]
    fn hunks_are_those_of_git() {
        assert_eq!(diff("a\n", "a\n"), "");
        assert_eq!(diff("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(diff("a\n", ""), "@@ -1 +0,0 @@\n-a\n");
        let without = "\\ No newline at end of file\n";
        assert_eq!(diff("a", "a\n"), format!("@@ -1 +1 @@\n-a\n{without}+a\n"));
        let old: String = (1..=20).map(|number| format!("{number}\n")).collect();
        let new = old.replace("10\n", "ten\n");
        assert_eq!(diff(&old, &new), "@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n");
    }

    #[test]
    fn what_is_no_text_is_not_shown() {
        let path = MemoryPath::parse("/memories/a").unwrap();
        let diff = unified(None, b"", Some(&path), b"\xff");
        assert_eq!(diff, "Binary files /dev/null and /memories/a differ\n");
    }
}
