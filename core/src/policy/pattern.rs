//! [`PathPattern`]: which paths an option is about.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::path::MemoryPath;

/// A pattern of paths under `/memories`, such as `/memories/handbook` or `/memories/**/*.md`.
///
/// `*` stands for any number of characters within a name; `**` as a whole name for any number of
/// directories; `?` for one ASCII character, `[ab]` for one of those, `[!ab]` for any other; `{a,b}`
/// for one of the texts; and a `\` takes the next character as it is. A pattern that fits a directory
/// fits all that is below it, too.
///
/// ```
/// use memdir::MemoryPath;
/// use memdir::policy::PathPattern;
///
/// let pattern: PathPattern = "/memories/team-*".parse()?;
/// assert!(pattern.fits(&MemoryPath::parse("/memories/team-a").unwrap()));
/// assert!(pattern.fits(&MemoryPath::parse("/memories/team-a/plans/may.md").unwrap()));
/// assert!(!pattern.fits(&MemoryPath::parse("/memories/notes.md").unwrap()));
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern(String);

/// More than any path has.
const MAX_BYTES: usize = 4096;

impl PathPattern {
    /// The patterns of the option `name`, in the order in which they came.
    ///
    /// # Errors
    /// [`Error::Config`], which begins with the option's name: a pattern does not begin with
    /// `/memories`, is longer than 4,096 bytes, or is not in the syntax.
    pub fn all<P: AsRef<str>>(
        name: &str,
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Vec<Self>, Error> {
        let parse = |pattern: P| {
            Self::parse(pattern.as_ref()).map_err(|why| Error::Config(format!("{name}: {why}")))
        };
        patterns.into_iter().map(parse).collect()
    }

    fn parse(pattern: &str) -> Result<Self, String> {
        let trimmed = pattern.trim_end_matches('/');
        if trimmed.len() > MAX_BYTES {
            return Err(format!("a pattern may have {MAX_BYTES} bytes at most"));
        }
        if trimmed != "/memories" && !trimmed.starts_with("/memories/") {
            return Err(format!("the pattern {pattern:?} does not start with /memories"));
        }
        match fast_glob::validate(trimmed) {
            Ok(()) => Ok(Self(trimmed.to_owned())),
            Err(error) => Err(format!("the pattern {pattern:?} is not valid: {error}")),
        }
    }

    /// The pattern as it was given, without slashes at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it fits the path, or a directory that the path is below.
    #[must_use]
    pub fn fits(&self, path: &MemoryPath) -> bool {
        let path = path.as_str();
        let above = path.match_indices('/').skip(1).map(|(end, _)| &path[..end]);
        above.chain([path]).any(|path| fast_glob::glob_match(&self.0, path))
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for PathPattern {
    type Err = Error;

    fn from_str(pattern: &str) -> Result<Self, Error> {
        Self::parse(pattern).map_err(Error::Config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fits(pattern: &str, path: &str) -> bool {
        pattern.parse::<PathPattern>().unwrap().fits(&MemoryPath::parse(path).unwrap())
    }

    #[test]
    fn names_directories_and_all_below() {
        assert!(fits("/memories", "/memories"));
        assert!(fits("/memories/", "/memories/a/b"));
        assert!(fits("/memories/a", "/memories/a/b/c"));
        assert!(!fits("/memories/a", "/memories/ab"));
        assert!(!fits("/memories/a/b", "/memories/a"));
        assert!(fits("/memories/*.md", "/memories/a.md"));
        assert!(!fits("/memories/*.md", "/memories/x/a.md"));
        assert!(fits("/memories/**/*.md", "/memories/x/y/a.md"));
        assert!(fits("/memories/**/*.md", "/memories/a.md"));
        assert!(fits("/memories/**/.keep", "/memories/x/.keep"));
        assert!(fits("/memories/{a,é}/?", "/memories/é/b"));
        assert!(fits("/memories/100\\*", "/memories/100*"));
        assert!(!fits("/memories/100\\*", "/memories/1000"));
    }

    #[test]
    fn a_wrong_pattern_is_an_error_that_shows_it() {
        for wrong in ["", "notes", "!/memories/a", "/memoriesX", "/memories/[a", "/memories/{a"] {
            let error = PathPattern::all("pins", [wrong]).unwrap_err().to_string();
            assert!(error.starts_with("pins: the pattern ") && error.contains(wrong), "{error}");
        }
    }
}
