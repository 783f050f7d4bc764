//! [`Refusal`]: an entry of the destination that prevents a copy.

use std::fmt;

use memdir_store::path::MemoryPath;

/// A path that prevents a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The path.
    pub path: MemoryPath,
    /// The conflict there.
    pub there: There,
}

/// The conflict at a path that prevents a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum There {
    /// A file with different content.
    AnotherContent,
    /// A directory where the source has a file. It is never overwritten.
    ADirectory,
    /// A file where the source has a directory. It is never overwritten.
    AFile,
    /// A name that the destination cannot represent, because it is too long or reserved there. For a directory,
    /// the paths below it are not reported.
    BadName,
    /// A name that the destination, which ignores case, cannot tell from another file or directory of the
    /// source. For a directory, the paths below it are not reported.
    SameName,
}

impl There {
    /// Returns its name for programs: `another-content`, `directory`, `file`, `bad-name` or `same-name`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AnotherContent => "another-content",
            Self::ADirectory => "directory",
            Self::AFile => "file",
            Self::BadName => "bad-name",
            Self::SameName => "same-name",
        }
    }
}

impl fmt::Display for There {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AnotherContent => "another content",
            Self::ADirectory => "a directory",
            Self::AFile => "a file",
            Self::BadName => "no room for such a name",
            Self::SameName => "no way to tell the name from another one",
        })
    }
}

/// A sentence about the conflicting paths, with up to three paths of each kind.
pub(super) fn list(refusals: &[Refusal]) -> String {
    let mut sentences = Vec::new();
    for (what, kinds) in [
        (
            "holds something else at",
            &[There::AnotherContent, There::ADirectory, There::AFile] as &[There],
        ),
        ("cannot keep names such as that of", &[There::BadName]),
        ("ignores case, so another file of the source has the name of", &[There::SameName]),
    ] {
        let refusals: Vec<_> =
            refusals.iter().filter(|refusal| kinds.contains(&refusal.there)).collect();
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
