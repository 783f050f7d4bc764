//! The methods of a memory for your own code: read, write, list and search files.
//!
//! A model cannot call them, because they are not commands of the tool. They follow the same policies and take
//! the same locks as the commands. Each method has its own file.

mod bootstrap;
mod find_sensitive;
mod grep;
mod grep_history;
mod index;
mod list;
mod read;
mod shared_watch;
mod stats;
mod watch;
mod write;

pub use bootstrap::Project;
pub use find_sensitive::SensitiveMatch;
pub(crate) use find_sensitive::find_sensitive;
pub(crate) use grep::grep;
pub use grep::{GrepMatch, GrepQuery};
pub use grep_history::HistoryMatch;
pub(crate) use grep_history::grep_history;
pub(crate) use index::index;
pub(crate) use list::{exists, list};
pub(crate) use read::{read, read_shown};
pub use shared_watch::SharedWatch;
pub(crate) use stats::stats;
pub use stats::{SizedPath, Stats, TimedPath};
pub use watch::Watch;
pub(crate) use write::{FileToPut, put, put_all};
pub(crate) use write::{make, write};

use memdir_store::path::MemoryPath;
use memdir_store::{Error, Refused};

use crate::reply;

/// Returns the path, if a command could use it.
pub(crate) fn valid(path: &str) -> Result<MemoryPath, Error> {
    match MemoryPath::parse(path) {
        Err(error) => Err(with_hint(path, reply::bad_path(path, error))),
        Ok(path) if path.is_reserved() => Err(reply::reserved_path(&path)),
        Ok(path) => Ok(path),
    }
}

/// Adds the correct path to the refusal of a path that does not begin with `/memories`. A model gets the
/// documented sentence; a developer needs more detail.
fn with_hint(path: &str, refusal: Error) -> Error {
    if path == "/memories" || path.starts_with("/memories/") {
        return refusal;
    }
    let meant = path.trim_start_matches("./").trim_start_matches('/');
    let meant = format!("/memories/{}", meant.strip_prefix("memories/").unwrap_or(meant));
    match (refusal, MemoryPath::parse(&meant)) {
        (Error::Refused(refused), Ok(meant)) => {
            // The sentence ends with the path.
            let empty = if path.is_empty() { "an empty path" } else { "" };
            let sentence = format!("{refused}{empty}. Did you mean {meant}?");
            Error::Refused(Refused::new(refused.kind(), sentence))
        }
        (refusal, _) => refusal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_from_elsewhere_is_refused_with_the_one_that_was_meant() {
        for (path, meant) in [
            ("notes.md", Some("/memories/notes.md")),
            ("/notes.md", Some("/memories/notes.md")),
            ("memories/a/b", Some("/memories/a/b")),
            ("./memories/a", Some("/memories/a")),
            ("", Some("/memories")),
            ("../x", None),
            ("/memories/../x", None),
        ] {
            let Err(Error::Refused(refused)) = valid(path) else { panic!("{path}") };
            let hint = meant.map(|meant| format!(". Did you mean {meant}?"));
            let said = refused.sentence();
            assert_eq!(said.split_once(". Did").map(|(_, end)| format!(". Did{end}")), hint);
        }
        let empty = valid("").unwrap_err().to_string();
        assert!(
            empty.starts_with("Path must start with /memories, got: an empty path."),
            "{empty}"
        );
    }
}
