//! [`PathPattern`]: a pattern of paths, for options.

use std::fmt;
use std::str::FromStr;

use memdir_store::path::{Folding, MemoryPath, fold};
use memdir_store::{ConfigError, Error};

use super::glob::Glob;

/// A pattern of paths under `/memories`, such as `/memories/handbook` or `/memories/**/*.md`.
///
/// - `*` matches any number of characters within a name.
/// - `**`, as a whole name, matches any number of directories, including zero between other names.
/// - `?` matches one character, `[ab]` one of these characters, `[!ab]` any other character.
/// - `{a,b}` matches one of these texts.
/// - `\` matches the next character literally.
///
/// A pattern that matches a directory also matches everything below it. As in a path, doubled slashes and `.`
/// are ignored.
///
/// ```
/// use memdir::MemoryPath;
/// use memdir::policy::PathPattern;
///
/// let pattern: PathPattern = "/memories/team-*".parse()?;
/// assert!(pattern.matches(&MemoryPath::parse("/memories/team-a").unwrap()));
/// assert!(pattern.matches(&MemoryPath::parse("/memories/team-a/plans/may.md").unwrap()));
/// assert!(!pattern.matches(&MemoryPath::parse("/memories/notes.md").unwrap()));
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    glob: Glob,
    folds_case: bool,
    /// The pattern in the form that a store that ignores case compares.
    folded: Option<Glob>,
}

/// The most bytes of a pattern; paths are not longer.
const MAX_BYTES: usize = 4096;

impl PathPattern {
    /// Parses the patterns of the option `name`, in their order.
    ///
    /// # Errors
    /// [`Error::Config`], which begins with the option's name, if a pattern does not begin with `/memories`, is
    /// longer than 4,096 bytes, has a syntax error, or contains something that no path can contain.
    pub fn all<P: AsRef<str>>(
        name: &str,
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Vec<Self>, Error> {
        let parse = |pattern: P| {
            Self::parse(pattern.as_ref())
                .map_err(|why| ConfigError::of_option(name).and(format!(": {why}")).into())
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
        match Glob::compile(trimmed.strip_prefix("/memories").unwrap_or(trimmed)) {
            Ok(glob) => {
                Ok(Self { text: trimmed.to_owned(), glob, folds_case: false, folded: None })
            }
            Err(error) => Err(format!("the pattern {pattern:?} is not valid: {error}")),
        }
    }

    /// Returns the pattern as it was given, without trailing slashes.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the same pattern for a store that may [ignore case](crate::store::StoreInfo::folds_case). If
    /// `folds_case` is set, it matches every spelling of a path that some file system treats as the same name:
    /// in any case, with composed and decomposed letters, `ß` as `ss`.
    #[must_use]
    pub fn folding_case(self, folds_case: bool) -> Self {
        let below = self.text.strip_prefix("/memories").unwrap_or(&self.text);
        // If the pattern cannot be converted, the case of letters is still ignored.
        let folded = folds_case.then(|| Glob::compile(&fold(below)).ok()).flatten();
        Self { folds_case, folded, ..self }
    }

    /// Returns the same pattern for what is allowed rather than forbidden in such a store. It ignores upper and
    /// lower case, but not the differences in spelling that some file systems distinguish.
    pub(crate) fn ignoring_case(self, folds_case: bool) -> Self {
        Self { folds_case, folded: None, ..self }
    }

    /// Returns the same pattern. If it matches everything below a directory, it now also matches the directory:
    /// `/memories/a/**` also matches `/memories/a`.
    pub(crate) fn with_directory(self) -> Self {
        let folded = self.folded.map(Glob::with_directory);
        Self { glob: self.glob.with_directory(), folded, ..self }
    }

    /// Returns whether the pattern matches the path, or a directory above it.
    #[must_use]
    pub fn matches(&self, path: &MemoryPath) -> bool {
        let names: Vec<&str> = path.names().collect();
        self.glob.matches(&names, self.folds_case)
            || self.folded.as_ref().is_some_and(|glob| {
                let path = Folding::new(true).key(path);
                glob.matches(&path.names().collect::<Vec<_>>(), true)
            })
    }
}

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for PathPattern {
    type Err = Error;

    fn from_str(pattern: &str) -> Result<Self, Error> {
        Self::parse(pattern).map_err(Error::config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        pattern.parse::<PathPattern>().unwrap().matches(&MemoryPath::parse(path).unwrap())
    }

    #[test]
    fn names_directories_and_all_below() {
        assert!(matches("/memories", "/memories"));
        assert!(matches("/memories/", "/memories/a/b"));
        assert!(matches("/memories/a", "/memories/a/b/c"));
        assert!(!matches("/memories/a", "/memories/ab"));
        assert!(!matches("/memories/a/b", "/memories/a"));
        assert!(matches("/memories/*.md", "/memories/a.md"));
        assert!(!matches("/memories/*.md", "/memories/x/a.md"));
        assert!(matches("/memories/**/*.md", "/memories/x/y/a.md"));
        assert!(matches("/memories/**/*.md", "/memories/a.md"));
        assert!(matches("/memories/**/.keep", "/memories/x/.keep"));
        assert!(matches("/memories/{a,é}/?", "/memories/é/b"));
        assert!(matches("/memories/100\\*", "/memories/100*"));
        assert!(!matches("/memories/100\\*", "/memories/1000"));
    }

    #[test]
    fn patterns_are_canonical_as_paths_are() {
        for pattern in [
            "/memories//a",
            "/memories/./a",
            "/memories/a/.",
            "/memories///a//",
            "/memories/**/./**/a",
        ] {
            assert!(matches(pattern, "/memories/a"), "{pattern}");
            assert!(matches(pattern, "/memories/a/b"), "{pattern}");
            assert!(!matches(pattern, "/memories/b"), "{pattern}");
        }
        for pattern in ["/memories/a/**", "/memories/a/**/", "/memories/a/**/."] {
            assert!(matches(pattern, "/memories/a/b/c"), "{pattern}");
            assert!(!matches(pattern, "/memories/a"), "{pattern}");
            assert!(!matches(pattern, "/memories/ab"), "{pattern}");
            let with: PathPattern = pattern.parse().unwrap();
            let path = |path| MemoryPath::parse(path).unwrap();
            assert!(with.clone().with_directory().matches(&path("/memories/a")), "{pattern}");
            assert!(!with.with_directory().matches(&path("/memories/ab")), "{pattern}");
        }
        assert!(matches("/memories/**", "/memories/a"));
        assert!(!matches("/memories/**", "/memories"));
    }

    #[test]
    fn wildcards_stand_for_characters() {
        for (pattern, fit, other) in [
            ("/memories/?", "/memories/é", "/memories/éé"),
            ("/memories/a?c", "/memories/a猫c", "/memories/ac"),
            ("/memories/[é]", "/memories/é", "/memories/e"),
            ("/memories/[à-ö]x", "/memories/éx", "/memories/ex"),
            ("/memories/[!é]", "/memories/è", "/memories/é"),
            ("/memories/[^a-c]", "/memories/d", "/memories/b"),
            ("/memories/[]a]", "/memories/]", "/memories/b"),
            ("/memories/[a-]", "/memories/-", "/memories/b"),
            ("/memories/[\\]]", "/memories/]", "/memories/b"),
            ("/memories/*a*b*", "/memories/xaybz", "/memories/xbya"),
            ("/memories/{a,b{c,d}}e", "/memories/bde", "/memories/be"),
            ("/memories/{a,b/c}/d", "/memories/b/c/d", "/memories/b/d"),
            ("/memories/a{,.md}", "/memories/a", "/memories/a.m"),
            ("/memories/**/a/**/b", "/memories/x/a/y/z/b", "/memories/x/b"),
            ("/memories/a}b", "/memories/a}b", "/memories/a"),
            ("/memories/***", "/memories/abc", "/memories"),
        ] {
            assert!(matches(pattern, fit), "{pattern} {fit}");
            assert!(!matches(pattern, other), "{pattern} {other}");
        }
    }

    #[test]
    fn case_counts_unless_the_store_folds_it() {
        let path = |path: &str| MemoryPath::parse(path).unwrap();
        for (pattern, name) in [
            ("/memories/Handbook", "/memories/hANDBOOK/x"),
            ("/memories/*.MD", "/memories/a.md"),
            ("/memories/[a-c]x", "/memories/BX"),
            ("/memories/ÄÖ", "/memories/äö"),
            ("/memories/Σ", "/memories/ς"),
        ] {
            let pattern: PathPattern = pattern.parse().unwrap();
            assert!(!pattern.matches(&path(name)), "{pattern}");
            assert!(pattern.folding_case(true).matches(&path(name)), "{name}");
        }
        let not: PathPattern = "/memories/[!a]".parse().unwrap();
        assert!(!not.folding_case(true).matches(&path("/memories/A")));
    }

    #[test]
    fn long_names_are_matched_in_little_time() {
        let pattern = format!("/memories/{}b", "*a".repeat(100));
        assert!(!matches(&pattern, &format!("/memories/{}", "a".repeat(255))));
        let pattern = format!("/memories{}/b", "/**/a".repeat(60));
        assert!(!matches(&pattern, &format!("/memories{}", "/a".repeat(64))));
    }

    #[test]
    fn what_no_path_holds_is_refused() {
        for (wrong, why) in [
            ("/memories/a/../b", "`..`"),
            ("/memories/a\\\\b", "no path holds"),
            ("/memories/a\nb", "no path holds"),
            ("/memories/a\\", "backslash"),
            ("/memories/[b-a]", "range"),
            ("/memories/[a/b]", "`/`"),
            ("/memories/{,a}", "empty alternative"),
            (&format!("/memories/{}", "{a,b}".repeat(10)), "alternatives"),
        ] {
            let error = wrong.parse::<PathPattern>().unwrap_err().to_string();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_wrong_pattern_is_an_error_that_shows_it() {
        for wrong in ["", "notes", "!/memories/a", "/memoriesX", "/memories/[a", "/memories/{a"] {
            let error = PathPattern::all("never_expire", [wrong]).unwrap_err().to_string();
            assert!(
                error.starts_with("never_expire: the pattern ") && error.contains(wrong),
                "{error}"
            );
        }
    }
}
