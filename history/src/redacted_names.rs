//! Finds the names in a history that contain a text, and chooses their replacements for a redaction.
//!
//! A name that an existing file or directory has is kept. Every other name becomes `redacted-` and eight random digits. A directory
//! gets the same new name in all paths below it, so the versions of a file stay together.

use std::collections::{BTreeMap, BTreeSet};

use memdir_store::path::{Folding, MemoryPath};
use memdir_store::{Context, HistoryId, StoreError};

use super::error::HistoryError;
use super::kept_files;
use super::mounted;
use super::record::Digest;
use super::recorder::Recorder;
use super::redaction_plan::NewNames;

const REDACTED: &str = "redacted-";
/// Precedes the new name of a reserved name, so such a file stays out of the memory.
const RESERVED: &str = ".memdir-";
const DIGITS: usize = 8;

/// The names of a history that contain a text.
#[derive(Default)]
pub(super) struct NamesWithText {
    /// The replacements of paths, for each part of a tree.
    pub(super) new: Vec<NewNames>,
    /// These paths, as the tree names them.
    pub(super) paths: BTreeSet<MemoryPath>,
    /// The existing files and directories that have such a name.
    pub(super) living: BTreeSet<MemoryPath>,
}

impl NamesWithText {
    /// Whether a path changes.
    pub(super) fn has(&self, path: &MemoryPath) -> bool {
        self.paths.contains(path)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.new.iter().all(BTreeMap::is_empty)
    }
}

/// Checks whether names contain a text.
pub(super) struct NameMatcher<'t> {
    has_text: &'t dyn Fn(&[u8]) -> bool,
    /// Whether a text that spans several names counts. False if the common beginning of all paths already contains it.
    counts_whole: bool,
}

impl<'t> NameMatcher<'t> {
    pub(super) fn new(has_text: &'t dyn Fn(&[u8]) -> bool) -> Self {
        let counts_whole = !has_text(format!("{}/", MemoryPath::root()).as_bytes());
        Self { has_text, counts_whole }
    }

    /// The numbers of the names that contain the text. If only the whole path, as it is shown, contains it, all names.
    fn in_path(&self, path: &MemoryPath, shown: &MemoryPath) -> Vec<usize> {
        let names = path.names().enumerate().filter(|(_, name)| !is_redacted(name));
        let with_text: Vec<usize> = names
            .filter(|(_, name)| (self.has_text)(name.as_bytes()))
            .map(|(number, _)| number)
            .collect();
        let has_whole = || self.counts_whole && (self.has_text)(shown.as_str().as_bytes());
        if with_text.is_empty() && has_whole() {
            let names = path.names().enumerate().filter(|(_, name)| !is_redacted(name));
            return names.map(|(number, _)| number).collect();
        }
        with_text
    }

    /// Whether a path contains the text.
    pub(super) fn is_in(&self, path: &MemoryPath) -> bool {
        !self.in_path(path, path).is_empty()
    }
}

/// Whether a name is the replacement of a redacted one.
fn is_redacted(name: &str) -> bool {
    let name = name.strip_prefix(RESERVED).unwrap_or(name);
    let digits = name.strip_prefix(REDACTED);
    digits.is_some_and(|digits| {
        digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

fn new_name() -> Result<String, StoreError> {
    let digits = Digest::of(HistoryId::new()?.to_string().as_bytes()).to_string();
    Ok(format!("{REDACTED}{}", &digits[..DIGITS]))
}

/// The path and the directories above it, outermost first, without the root.
fn prefixes(path: &MemoryPath) -> Vec<MemoryPath> {
    let above = std::iter::successors(Some(path.clone()), MemoryPath::parent);
    let mut prefixes: Vec<MemoryPath> = above.filter(|path| !path.is_root()).collect();
    prefixes.reverse();
    prefixes
}

impl Recorder {
    /// The names of the history that contain the text.
    pub(super) fn names_with(
        &self,
        context: &Context,
        matcher: &NameMatcher<'_>,
    ) -> Result<NamesWithText, HistoryError> {
        let mut found = NamesWithText::default();
        if self.parts.is_empty() {
            self.own_names_with(context, matcher, &|path| Some(path.clone()), &mut found)?;
        }
        let folding = Folding::new(self.store.info().folds_case);
        for (number, part) in self.parts.iter().enumerate() {
            let shown = |path: &MemoryPath| mounted::outside(&self.parts, folding, number, path);
            part.recorder.own_names_with(context, matcher, &shown, &mut found)?;
        }
        Ok(found)
    }

    /// The names of a part. The tree shows it under other paths, or not at all.
    fn own_names_with(
        &self,
        context: &Context,
        matcher: &NameMatcher<'_>,
        shown: &dyn Fn(&MemoryPath) -> Option<MemoryPath>,
        found: &mut NamesWithText,
    ) -> Result<(), HistoryError> {
        let folding = Folding::new(self.store.info().folds_case);
        let key = |path: &MemoryPath| folding.key(path).into_owned();
        let mut paths = BTreeSet::new();
        for stored in &self.reader.index_in(context)?.loaded.records {
            let rows = stored.header.rows.iter();
            paths.extend(rows.flat_map(|row| row.old_path.iter().chain([&row.path])).cloned());
        }
        // The path of rows that a trim cleared.
        paths.remove(&kept_files::directory());
        // The new name for each of these paths; `None` for a path that exists now.
        let mut names: BTreeMap<MemoryPath, Option<String>> = BTreeMap::new();
        for path in &paths {
            let as_shown = shown(path).unwrap_or_else(|| path.clone());
            let prefixes = prefixes(path);
            for number in matcher.in_path(path, &as_shown) {
                let prefix = &prefixes[number];
                if names.contains_key(&key(prefix)) {
                    continue;
                }
                let is_living = self.is_living(context, prefix)?;
                found.living.extend(is_living.then(|| shown(prefix)).flatten());
                let name = match is_living {
                    true => None,
                    false => {
                        let own = MemoryPath::root().join(prefix.name().unwrap_or_default());
                        let reserved = own.is_ok_and(|own| own.is_reserved());
                        Some(format!("{}{}", if reserved { RESERVED } else { "" }, new_name()?))
                    }
                };
                names.insert(key(prefix), name);
            }
        }
        let mut new = NewNames::new();
        // A path that would become too long gets a separate new path, no matter where it is.
        let mut elsewhere: BTreeMap<MemoryPath, MemoryPath> = BTreeMap::new();
        for path in paths {
            let mut is_changed = false;
            let changed = prefixes(&path).iter().try_fold(MemoryPath::root(), |above, prefix| {
                match names.get(&key(prefix)) {
                    Some(Some(name)) => {
                        is_changed = true;
                        above.join(name)
                    }
                    _ => above.join(prefix.name().unwrap_or_default()),
                }
            });
            if !is_changed {
                continue;
            }
            let changed = match changed {
                Ok(changed) => changed,
                Err(_) => match elsewhere.get(&key(&path)) {
                    Some(other) => other.clone(),
                    None => {
                        let other = MemoryPath::root().join(&new_name()?);
                        let other = other.map_err(|_| StoreError::NameTooLong)?;
                        elsewhere.insert(key(&path), other.clone());
                        other
                    }
                },
            };
            found.paths.extend(shown(&path));
            new.insert(path, changed);
        }
        found.new.push(new);
        Ok(())
    }

    /// Whether there is something at the path now.
    fn is_living(&self, context: &Context, path: &MemoryPath) -> Result<bool, StoreError> {
        match self.store.open_in(context, path, 0) {
            Err(StoreError::NotFound | StoreError::NotADirectory) => Ok(false),
            Err(error) if error.is_failure() => Err(error),
            // This includes files that we may not inspect.
            _ => Ok(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> MemoryPath {
        MemoryPath::parse(path).unwrap()
    }

    #[test]
    fn a_text_is_in_names_or_goes_over_several() {
        for (text, at, expected) in [
            ("tea", "/memories/tea/a/teapot.md", &[0, 2][..]),
            ("a/t", "/memories/tea/a/teapot.md", &[0, 1, 2]),
            ("/memories/tea", "/memories/tea/a", &[0, 1]),
            ("coffee", "/memories/tea/a", &[]),
            // The common beginning of all paths does not count.
            ("memories", "/memories/tea/a", &[]),
            ("/", "/memories/tea/a", &[]),
            ("memo", "/memories/tea/memo", &[1]),
            // A replacement never matches.
            ("redacted", "/memories/redacted-0123abcd/redacted-0123abcx", &[1]),
            ("d-01/re", "/memories/.memdir-redacted-0123abcd/a", &[]),
        ] {
            let has_text = |name: &[u8]| String::from_utf8_lossy(name).contains(text);
            let found = NameMatcher::new(&has_text).in_path(&path(at), &path(at));
            assert_eq!(found, expected, "{text} in {at}");
        }
    }

    #[test]
    fn a_new_name_is_known_as_one() {
        let names: BTreeSet<String> = (0..100).map(|_| new_name().unwrap()).collect();
        assert_eq!(names.len(), 100);
        assert!(names.iter().all(|name| is_redacted(name)));
        assert!(
            ["redacted-", "redacted-0123abc", "redacted-0123abcde"]
                .iter()
                .all(|name| !is_redacted(name))
        );
    }

    #[test]
    fn prefixes_begin_below_the_root() {
        assert_eq!(prefixes(&path("/memories/a/b")), [path("/memories/a"), path("/memories/a/b")]);
        assert_eq!(prefixes(&MemoryPath::root()), []);
    }
}
