//! [`Folding`]: compares paths as a store that ignores case does.
//!
//! File systems differ in which names they treat as equal: NTFS compares letters in upper case, APFS and HFS+ also equate `ß`
//! with `ss` and composed with decomposed `é`, and HFS+ ignores characters that are not shown. Here two names are equal if they
//! are equal to any of these file systems. So one key may represent two files, but a file never has two keys.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;

use super::MemoryPath;

/// Whether a store ignores case, which decides how paths are compared. The default respects case.
///
/// ```
/// use memdir::MemoryPath;
/// use memdir::path::Folding;
///
/// let [one, other] = ["/memories/Tea.md", "/memories/tea.MD"].map(|path| MemoryPath::parse(path).unwrap());
/// assert!(Folding::new(true).are_same(&one, &other));
/// assert!(!Folding::new(false).are_same(&one, &other));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Folding(bool);

impl Folding {
    /// For a store with this [`folds_case`](crate::StoreInfo::folds_case).
    #[must_use]
    pub const fn new(folds_case: bool) -> Self {
        Self(folds_case)
    }

    /// The key of the file or directory at the path, the same for every spelling, for a map or a set. Do not show or open it as a
    /// path.
    #[must_use]
    pub fn key(self, path: &MemoryPath) -> Cow<'_, MemoryPath> {
        if self.0 { Cow::Owned(path.folded()) } else { Cow::Borrowed(path) }
    }

    /// Whether both paths refer to the same file or directory.
    #[must_use]
    pub fn are_same(self, one: &MemoryPath, other: &MemoryPath) -> bool {
        one == other || (self.0 && one.folded() == other.folded())
    }
}

/// The canonical form of a text: equal for all spellings of one name.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let letters = text.nfd().filter(|c| !is_ignored(*c));
    // Convert to upper case and back: letters that share an upper case may have different lower cases.
    let lower = letters.flat_map(char::to_lowercase);
    lower.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfc().collect()
}

/// The canonical form of one name. It is never empty, so a path keeps its levels.
pub(super) fn fold_name(name: &str) -> String {
    let folded = fold(name);
    if folded.is_empty() { name.to_owned() } else { folded }
}

/// The characters that HFS+ ignores in a name.
fn is_ignored(c: char) -> bool {
    matches!(c, '\u{200C}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{206A}'..='\u{206F}' | '\u{FEFF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_one_name_are_one() {
        for spellings in [
            ["Notes.MD", "notes.md", "nOTES.mD"],
            ["ÉTÉ", "été", "e\u{301}te\u{301}"],
            ["Straße", "STRASSE", "strasse"],
            ["ΟΔΟΣ", "οδος", "οδοσ"],
            ["\u{212A}", "k", "K"],
            ["ǰ", "J\u{30C}", "j\u{30C}"],
            ["a\u{200D}b", "AB", "ab"],
            ["ﬁle", "FILE", "file"],
            ["한", "\u{1112}\u{1161}\u{11AB}", "한"],
        ] {
            let folded = spellings.map(fold);
            assert!(folded.iter().all(|one| *one == folded[0]), "{folded:?}");
        }
        assert_ne!(fold("notes"), fold("note"));
        assert_ne!(fold("e"), fold("é"));
    }

    #[test]
    fn a_path_keeps_its_levels() {
        let path = MemoryPath::parse("/memories/A/\u{FEFF}/É").unwrap();
        assert_eq!(path.folded().as_str(), "/memories/a/\u{FEFF}/é");
        assert!(Folding::new(true).are_same(&path, &path.folded()));
        assert!(!Folding::new(false).are_same(&path, &path.folded()));
        assert_eq!(*Folding::new(false).key(&path), path);
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn no_letter_is_told_from_itself_in_another_case(name in "\\PC{1,8}") {
            let folded = fold(&name);
            prop_assert_eq!(fold(&name.to_lowercase()), folded.clone());
            prop_assert_eq!(fold(&name.to_uppercase()), folded.clone());
            prop_assert_eq!(fold(&name.nfd().collect::<String>()), folded.clone());
            prop_assert_eq!(fold(&name.nfc().collect::<String>()), folded.clone());
            prop_assert!(!folded.contains('/') || name.contains('/'));
        }
    }
}
