//! What keeps a copy from being made: what the destination holds, and names that it cannot keep.

use std::fmt;

use crate::path::MemoryPath;

/// Something in the way of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Where it is.
    pub path: MemoryPath,
    /// What is there.
    pub there: There,
}

/// What is in the way of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum There {
    /// A file with another content.
    AnotherContent,
    /// A directory, where a file is to be. It is not overwritten in any case.
    ADirectory,
    /// A file, where a directory is to be. It is not overwritten in any case.
    AFile,
    /// Nothing may be there: the destination cannot keep that name, which is too long for it, or its own. Of a
    /// directory what is below is not named.
    BadName,
}

impl fmt::Display for There {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnotherContent => "another content",
            Self::ADirectory => "a directory",
            Self::AFile => "a file",
            Self::BadName => "no room for such a name",
        })
    }
}

/// What is in the way, up to three paths of each kind.
pub(super) fn list(refusals: &[Refusal]) -> String {
    let (bad, taken): (Vec<_>, Vec<_>) =
        refusals.iter().partition(|refusal| refusal.there == There::BadName);
    let mut sentences = Vec::new();
    for (what, refusals) in
        [("holds something else at", taken), ("cannot keep names such as that of", bad)]
    {
        let mut paths = refusals.iter().map(|refusal| refusal.path.as_str());
        let mut text: Vec<&str> = paths.by_ref().take(3).collect();
        let more = format!("{} more", paths.count());
        if refusals.len() > 3 {
            text.push(&more);
        }
        if !text.is_empty() {
            sentences.push(format!("{what} {}", text.join(", ")));
        }
    }
    format!("the destination {}", sentences.join(", and "))
}
