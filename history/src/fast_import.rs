//! Exports the history as a stream for `git fast-import`: one commit for each change.
//!
//! The same history always gives the same commits, so a later import into the same repository adds only the new ones.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::time::UNIX_EPOCH;

use memdir_store::HistoryId;
use memdir_store::Operation;
use memdir_store::path::MemoryPath;

use super::error::HistoryError;
use super::reading::HistorySnapshot;
use super::record::Digest;
use super::timeline::{FileState, Moment};

/// The branch of the commits.
const BRANCH: &str = "refs/heads/main";
/// The author of a change with an unknown actor.
const NOBODY: &str = "unknown";
/// The maximum number of files that a commit message names.
const NAMED: usize = 100;

impl HistorySnapshot<'_> {
    /// Writes the history as a stream for `git fast-import`: one commit for each change on the branch `main`, with the actor of the change
    /// as the author. The same history always gives the same commits. A content that the history no longer has, because it was redacted
    /// or trimmed, is replaced by a text that gives the reason.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions};
    ///
    /// let mut options = MemoryOptions::default();
    /// options.history = true;
    /// let memory = Memory::open("memory:", options)?.acting_as("ann");
    /// memory.create("/memories/tea.md", "green\n")?;
    /// let mut stream = Vec::new();
    /// memory.history_snapshot()?.write_fast_import(&mut stream)?;
    /// assert!(String::from_utf8(stream)?.contains("committer ann <>"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`FastImportError`]. The stream is then cut off, which git detects.
    pub fn write_fast_import(&self, to: &mut impl Write) -> Result<(), FastImportError> {
        write(self, to)
    }
}

fn write(reading: &HistorySnapshot<'_>, to: &mut impl Write) -> Result<(), FastImportError> {
    // With this feature, git rejects a stream that is cut off before `done`.
    to.write_all(b"feature done\n")?;
    let moments = &reading.snapshot.timeline.moments;
    let numbers: Vec<usize> =
        (0..moments.len()).filter(|n| moments[*n].operation != Operation::Redacted).collect();
    let mut marks = HashMap::new();
    // The versions of a change form one commit, unless other changes come in between.
    for of_change in numbers.chunk_by(|a, b| change_of(&moments[*a]) == change_of(&moments[*b])) {
        let mut steps = String::new();
        for number in of_change {
            let moment = &moments[*number];
            if let Some(old_path) = &moment.old_path {
                let _ = writeln!(steps, "D {}", quoted(old_path));
            }
            if moment.state.is_there() {
                let mark = blob(reading, *number, &mut marks, to)?;
                let _ = writeln!(steps, "M 100644 :{mark} {}", quoted(&moment.path));
            } else {
                let _ = writeln!(steps, "D {}", quoted(&moment.path));
            }
        }
        let changed: Vec<&Moment> = of_change.iter().map(|number| &moments[*number]).collect();
        let first = changed[0];
        let actor = match first.operation {
            Operation::External => None,
            _ => first.header.actor.as_deref(),
        };
        let time = first.id.time().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let message = message(&changed);
        writeln!(to, "commit {BRANCH}\ncommitter {} <> {time} +0000", name(actor))?;
        write!(to, "data {}\n{message}\n{steps}\n", message.len())?;
    }
    Ok(to.write_all(b"done\n")?)
}

/// Why a stream for `git fast-import` was not completed.
#[derive(Debug, thiserror::Error)]
pub enum FastImportError {
    /// The history cannot be read.
    #[error(transparent)]
    History(HistoryError),
    /// The stream cannot be written.
    #[error("the stream cannot be written: {0}")]
    Output(#[source] io::Error),
}

impl From<io::Error> for FastImportError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The change that a version belongs to. Each change by another program counts as a change of its own.
fn change_of(moment: &Moment) -> HistoryId {
    if moment.operation == Operation::External { moment.id } else { moment.header.change }
}

/// Writes a content, unless the stream already has it. Returns its mark.
fn blob(
    reading: &HistorySnapshot<'_>,
    number: usize,
    marks: &mut HashMap<Digest, usize>,
    to: &mut impl Write,
) -> Result<usize, FastImportError> {
    let moment = &reading.snapshot.timeline.moments[number];
    let mut known = match moment.state {
        FileState::Content(content) => Some(content.sha256),
        _ => None,
    };
    if let Some(mark) = known.and_then(|digest| marks.get(&digest)) {
        return Ok(*mark);
    }
    let content = match reading.content_of(number) {
        Ok(content) => content,
        Err(error @ HistoryError::Store(_)) => return Err(FastImportError::History(error)),
        Err(error) => {
            known = None;
            std::sync::Arc::new(format!("[memdir: {error}]\n").into_bytes())
        }
    };
    let mark = marks.len() + 1;
    // A content without a digest is never looked up again, so any unique key will do.
    marks.insert(known.unwrap_or_else(|| Digest::of(moment.id.to_string().as_bytes())), mark);
    write!(to, "blob\nmark :{mark}\ndata {}\n", content.len())?;
    to.write_all(&content)?;
    to.write_all(b"\n")?;
    Ok(mark)
}

fn message(changed: &[&Moment]) -> String {
    let line = |moment: &Moment| match &moment.old_path {
        Some(old_path) => format!("{} {old_path} to {}", moment.operation, moment.path),
        None => format!("{} {}", moment.operation, moment.path),
    };
    let mut message = match changed {
        [one] => line(one),
        several => {
            let operation = several[0].operation;
            let is_one = several.iter().all(|moment| moment.operation == operation);
            let verb = if is_one { operation.as_str() } else { "changed" };
            let mut message = format!("{verb} {} files\n", several.len());
            for moment in several.iter().take(NAMED) {
                let _ = write!(message, "\n{}", line(moment));
            }
            if several.len() > NAMED {
                let _ = write!(message, "\nand {} more", several.len() - NAMED);
            }
            message
        }
    };
    let _ = writeln!(message, "\n\nMemdir-Change: {}", change_of(changed[0]));
    message
}

/// The author's name, without characters that end a name.
fn name(actor: Option<&str>) -> String {
    let is_kept = |c: char| !c.is_control() && !matches!(c, '<' | '>');
    let name: String = actor.unwrap_or_default().chars().filter(|c| is_kept(*c)).collect();
    match name.trim() {
        "" => NOBODY.to_owned(),
        name => name.to_owned(),
    }
}

/// A path in the repository, in quotes.
fn quoted(path: &MemoryPath) -> String {
    let mut quoted = String::from("\"memories");
    for name in path.names() {
        quoted.push('/');
        let mut letters = name.chars();
        if is_for_git(name)
            && let Some(first) = letters.next()
        {
            let _ = write!(quoted, "%{:02X}", u32::from(first));
        }
        for letter in letters {
            // A path contains neither backslashes nor control characters.
            if letter == '"' {
                quoted.push('\\');
            }
            quoted.push(letter);
        }
    }
    quoted.push('"');
    quoted
}

/// Whether git gives the name a special meaning or rejects it, including names that some file systems treat as equivalent.
fn is_for_git(name: &str) -> bool {
    let is_skipped = |c: char| matches!(c, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let plain: String =
        name.chars().filter(|c| !is_skipped(*c)).map(|c| c.to_ascii_lowercase()).collect();
    plain.starts_with(".git") || plain.starts_with("git~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_mean_something_to_git_become_others() {
        for (path, expected) in [
            ("/memories/a \"b\"/é.md", "\"memories/a \\\"b\\\"/é.md\""),
            ("/memories/.git/config", "\"memories/%2Egit/config\""),
            ("/memories/x/.GITmodules", "\"memories/x/%2EGITmodules\""),
            ("/memories/git~1", "\"memories/%67it~1\""),
            ("/memories/.g\u{200c}it", "\"memories/%2Eg\u{200c}it\""),
            ("/memories/agit", "\"memories/agit\""),
        ] {
            assert_eq!(quoted(&MemoryPath::parse(path).unwrap()), expected);
        }
    }

    #[test]
    fn an_author_has_a_name_that_git_takes() {
        for (actor, expected) in [
            (Some("ann <a@b.c>\n"), "ann a@b.c"),
            (Some(" <> \0"), NOBODY),
            (Some("Zoë"), "Zoë"),
            (None, NOBODY),
        ] {
            assert_eq!(name(actor), expected);
        }
    }
}
