//! [`MemoryPath`]: the only place that validates paths.
//!
//! A model sends paths as text, which may contain `..`, backslashes, percent-encoded slashes or
//! control characters. [`MemoryPath::parse`] turns the text into a canonical path below
//! `/memories`, or says why it cannot. All later code gets a [`MemoryPath`] and never a raw string.
//! A store cannot return a dangerous name either, because [`MemoryPath::join`] validates names by
//! the same rules.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use percent_encoding::percent_decode_str;

mod folding;

use folding::fold_name;
pub use folding::{Folding, fold};

/// The root directory: every path starts with it.
pub const ROOT: &str = "/memories";

/// The longest path that is accepted, in bytes (Linux's `PATH_MAX`).
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest single component that is accepted, in bytes (`NAME_MAX` of common file systems).
pub const MAX_NAME_BYTES: usize = 255;
/// How many levels below `/memories` a path may have.
pub const MAX_LEVELS: usize = 64;

/// A canonical, safe path: `/memories` itself or something below it.
///
/// No [`MemoryPath`] can contain `..`, an empty or `.` component, a backslash, a control character,
/// or anything that percent-decodes to one of these.
///
/// Paths are ordered as in a listing: a directory comes before its entries, and siblings are in the
/// byte order of their names.
///
/// ```
/// use memdir::MemoryPath;
///
/// let path = MemoryPath::parse("/memories//notes/./today.md/").unwrap();
/// assert_eq!(path.as_str(), "/memories/notes/today.md");
/// assert_eq!(path.relative(), "notes/today.md");
/// assert!(MemoryPath::parse("/memories/%2e%2e/secret").is_err());
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct MemoryPath(Box<str>);

/// Why a text is not a [`MemoryPath`]. A model gets a sentence for each case, so a new case requires a new major
/// version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It is neither `/memories` nor below it.
    #[error("the path does not start with /memories")]
    Outside,
    /// The path, as given or after percent-decoding, contains something that could lead out of `/memories` or forge
    /// a line of a reply.
    #[error("the path would escape /memories")]
    Escapes,
    /// The whole path is longer than [`MAX_PATH_BYTES`].
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    PathTooLong,
    /// One component is longer than [`MAX_NAME_BYTES`].
    #[error("a component of the path is longer than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// There are more than [`MAX_LEVELS`] levels.
    #[error("the path has more than {MAX_LEVELS} levels")]
    TooDeep,
}

impl serde::Serialize for MemoryPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> serde::Deserialize<'de> for MemoryPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl MemoryPath {
    /// The directory `/memories` itself.
    #[must_use]
    pub fn root() -> Self {
        Self(ROOT.into())
    }

    /// Validates `raw` and returns its canonical form, without doubled slashes, trailing slashes and `.` components.
    ///
    /// A `%` that decodes to nothing harmful is part of the name and stays unchanged.
    ///
    /// # Errors
    /// [`PathError`] says which rule `raw` breaks.
    pub fn parse(raw: &str) -> Result<Self, PathError> {
        let below = raw.strip_prefix(ROOT).ok_or(PathError::Outside)?;
        if !below.is_empty() && !below.starts_with('/') {
            return Err(PathError::Outside);
        }
        // Check the length before decoding, so decoding works on a text of bounded length.
        if raw.len() > MAX_PATH_BYTES {
            return Err(PathError::PathTooLong);
        }
        if escapes(below) {
            return Err(PathError::Escapes);
        }
        let mut canonical = String::with_capacity(raw.len());
        canonical.push_str(ROOT);
        let names = below.split('/').filter(|name| !matches!(*name, "" | "."));
        let mut levels = 0;
        for name in names {
            if name.len() > MAX_NAME_BYTES {
                return Err(PathError::NameTooLong);
            }
            levels += 1;
            canonical.push('/');
            canonical.push_str(name);
        }
        // Check the depth after all names, so the error does not depend on the order of the names.
        if levels > MAX_LEVELS {
            return Err(PathError::TooDeep);
        }
        Ok(Self(canonical.into()))
    }

    /// The path of the entry `name` in this directory.
    ///
    /// # Errors
    /// [`PathError`] if `name` is not a valid component. Another program may have created such a name; stores leave
    /// it out of their listings.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        if matches!(name, "" | "." | "..") || name.contains('/') || escapes(name) {
            return Err(PathError::Escapes);
        }
        if name.len() > MAX_NAME_BYTES {
            return Err(PathError::NameTooLong);
        }
        if self.0.len() + 1 + name.len() > MAX_PATH_BYTES {
            return Err(PathError::PathTooLong);
        }
        if self.levels() == MAX_LEVELS {
            return Err(PathError::TooDeep);
        }
        Ok(Self(format!("{}/{name}", self.0).into()))
    }

    /// Whether a component is reserved for memdir: it starts with `.memdir-`, as given or at any stage of
    /// percent-decoding. Case is ignored, and so are non-ASCII characters, because some file systems ignore them or
    /// equate them with ASCII letters. No command of a model can reach such a path. A [`Store`](crate::Store) keeps
    /// it like any other.
    ///
    /// ```
    /// use memdir::MemoryPath;
    ///
    /// assert!(MemoryPath::parse("/memories/.memdir-encryption").unwrap().is_reserved());
    /// assert!(!MemoryPath::parse("/memories/memdir-notes.md").unwrap().is_reserved());
    /// ```
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.names().any(is_reserved)
    }

    /// The canonical text, `/memories` or `/memories/…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The part below `/memories/`; empty for the root.
    #[must_use]
    pub fn relative(&self) -> &str {
        self.0.get(ROOT.len() + 1..).unwrap_or("")
    }

    /// Whether this is `/memories` itself.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.len() == ROOT.len()
    }

    /// The components below `/memories`, starting at the root.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.relative().split('/').filter(|name| !name.is_empty())
    }

    /// The number of components below `/memories`. Each begins with a slash, as `/memories` does.
    fn levels(&self) -> usize {
        self.0.bytes().filter(|&byte| byte == b'/').count() - 1
    }

    /// The last component; `None` for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.names().next_back()
    }

    /// The directory that contains this path; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// The path that this one gets when `from` is moved to `to`. `from` is this path or a directory above it.
    ///
    /// # Errors
    /// [`PathError`] if that path is too long or too deep.
    pub fn moved(&self, from: &Self, to: &Self) -> Result<Self, PathError> {
        let mut rest = self.names().skip(from.names().count());
        rest.try_fold(to.clone(), |dir, name| dir.join(name))
    }

    /// The path in the form that a store that ignores case compares.
    fn folded(&self) -> Self {
        let names = self.names().map(fold_name);
        Self(std::iter::once(ROOT.to_owned()).chain(names).collect::<Vec<_>>().join("/").into())
    }

    /// Whether `other` lies below this path (a path does not lie below itself).
    ///
    /// ```
    /// use memdir::MemoryPath;
    ///
    /// let notes = MemoryPath::parse("/memories/notes").unwrap();
    /// assert!(notes.is_above(&MemoryPath::parse("/memories/notes/a").unwrap()));
    /// assert!(!notes.is_above(&MemoryPath::parse("/memories/notes2").unwrap()));
    /// ```
    #[must_use]
    pub fn is_above(&self, other: &Self) -> bool {
        other.0.strip_prefix(&*self.0).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// Whether listings leave out an entry of this name and everything below it: hidden entries and `node_modules`
/// (documentation of the tool, "view").
#[must_use]
pub fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

/// The prefix of reserved names: the record of an encrypted store, temporary files and the like.
pub const RESERVED_PREFIX: &str = ".memdir-";

fn is_reserved(name: &str) -> bool {
    // The dot may be percent-encoded or follow ignored characters. Any other first character means that the name is
    // not reserved.
    if name.starts_with(|c: char| c.is_ascii() && !matches!(c, '.' | '%')) {
        return false;
    }
    let starts = |name: &str| {
        let mut plain = name.chars().filter(char::is_ascii).map(|c| c.to_ascii_lowercase());
        RESERVED_PREFIX.chars().all(|c| plain.next() == Some(c))
            // Case folding can turn another letter into one of these.
            || (!name.is_ascii() && fold(name).starts_with(RESERVED_PREFIX))
    };
    let mut stage = name.to_owned();
    loop {
        if starts(&stage) {
            return true;
        }
        // Bytes that are not UTF-8 cannot be in a path.
        match percent_decoded(&stage).map(String::from_utf8) {
            Some(Ok(next)) => stage = next,
            _ => return false,
        }
    }
}

impl Ord for MemoryPath {
    fn cmp(&self, other: &Self) -> Ordering {
        // By components: a slash comes before every other byte.
        let rank = |byte: u8| (byte != b'/', byte);
        let (a, b) = (self.0.as_bytes(), other.0.as_bytes());
        // Maps of paths compare all the time, and most paths begin with the same words.
        let words = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
        let same = 8 * words.take_while(|(a, b)| a == b).count();
        let (rest_of_a, rest_of_b) = (&a[same..], &b[same..]);
        match rest_of_a.iter().zip(rest_of_b).find(|(a, b)| a != b) {
            Some((&a, &b)) => rank(a).cmp(&rank(b)),
            None => a.len().cmp(&b.len()),
        }
    }
}

impl PartialOrd for MemoryPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl AsRef<str> for MemoryPath {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Whether `path` is dangerous as given, or becomes so at any stage of repeated decoding.
fn escapes(path: &str) -> bool {
    let slashes = path.matches('/').count();
    let mut stage = Cow::Borrowed(path);
    loop {
        let dangerous = |c: char| c == '\\' || c.is_control();
        if stage.contains(dangerous) || stage.split('/').any(|name| name == "..") {
            return true;
        }
        // Another program would treat a slash that appears by decoding as a separator.
        if stage.matches('/').count() > slashes {
            return true;
        }
        let Some(decoded) = percent_decoded(&stage) else {
            return false;
        };
        let Ok(next) = String::from_utf8(decoded) else {
            return true;
        };
        stage = Cow::Owned(next);
    }
}

/// One pass of percent-decoding; `None` if the text has nothing to decode.
fn percent_decoded(text: &str) -> Option<Vec<u8>> {
    match percent_decode_str(text).into() {
        Cow::Owned(decoded) => Some(decoded),
        Cow::Borrowed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(raw: &str) -> Result<String, PathError> {
        MemoryPath::parse(raw).map(|path| path.as_str().to_owned())
    }

    #[test]
    fn brings_paths_into_canonical_form() {
        for (raw, canonical) in [
            ("/memories", "/memories"),
            ("/memories/", "/memories"),
            ("/memories//a///b/", "/memories/a/b"),
            ("/memories/./a/./", "/memories/a"),
            ("/memories/...", "/memories/..."),
            ("/memories/a..b", "/memories/a..b"),
            ("/memories/50%25.md", "/memories/50%25.md"),
            ("/memories/100%", "/memories/100%"),
            ("/memories/%zz%4", "/memories/%zz%4"),
            ("/memories/%2e", "/memories/%2e"),
            ("/memories/été/猫.md", "/memories/été/猫.md"),
        ] {
            assert_eq!(parse(raw).as_deref(), Ok(canonical), "{raw}");
        }
    }

    #[test]
    fn refuses_what_is_not_under_memories() {
        for raw in ["", "/", "memories/a", "/memoriesX", "/memories.md", "//memories", "/Memories"]
        {
            assert_eq!(parse(raw), Err(PathError::Outside), "{raw}");
        }
    }

    #[test]
    fn refuses_whatever_could_escape_also_when_encoded() {
        for raw in [
            "/memories/..",
            "/memories/../etc",
            "/memories/a/../b",
            "/memories/a\\b",
            "/memories/a\0",
            "/memories/a\nb",
            "/memories/a\u{7f}",
            "/memories/a\u{85}",
            "/memories/%2e%2e/etc",
            "/memories/.%2E/etc",
            "/memories/%252e%252e",
            "/memories/%25252e.",
            "/memories/%%32%65%%32%65",
            "/memories/a%2fb",
            "/memories/a%252fb",
            "/memories/a%5cb",
            "/memories/a%00",
            "/memories/a%0ab",
            "/memories/%ff",
            "/memories/%c3%28",
        ] {
            assert_eq!(parse(raw), Err(PathError::Escapes), "{raw:?}");
        }
    }

    #[test]
    fn limits_are_exact() {
        let name = |len: usize| format!("/memories/{}", "n".repeat(len));
        assert!(parse(&name(255)).is_ok());
        assert_eq!(parse(&name(256)), Err(PathError::NameTooLong));
        assert!(parse(&format!("/memories{}", "/d".repeat(64))).is_ok());
        assert_eq!(parse(&format!("/memories{}", "/d".repeat(65))), Err(PathError::TooDeep));
        let both = format!("/memories{}/{}", "/d".repeat(65), "n".repeat(256));
        assert_eq!(parse(&both), Err(PathError::NameTooLong), "the first rule answers");
        let long = format!("/memories{}", format!("/{}", "n".repeat(254)).repeat(17));
        assert_eq!(parse(&long), Err(PathError::PathTooLong));
    }

    #[test]
    fn reserved_names_are_known_in_every_spelling_and_place() {
        let reserved = |raw: &str| MemoryPath::parse(raw).unwrap().is_reserved();
        for raw in [
            "/memories/.memdir-encryption",
            "/memories/.memdir-new-directory",
            "/memories/.memdir-moving-0123456789abcdef",
            "/memories/.memdir-",
            "/memories/a/.memdir-x/b",
            "/memories/.MemDir-Encryption",
            "/memories/%2ememdir-encryption",
            "/memories/.memdir%2Dencryption",
            "/memories/%252e%256demdir-x",
            "/memories/.mem\u{200c}dir-x",
            "/memories/\u{feff}.memdir-x",
        ] {
            assert!(reserved(raw), "{raw}");
        }
        for raw in [
            "/memories",
            "/memories/.memdir",
            "/memories/.memdir_x",
            "/memories/memdir-x",
            "/memories/a.memdir-x",
            "/memories/notes about .memdir-x",
            "/memories/100%",
            "/memories/...memdir-",
        ] {
            assert!(!reserved(raw), "{raw}");
        }
    }

    proptest! {
        #[test]
        fn paths_are_ordered_and_counted_by_components(
            a in "(/[a.\\-é0]{1,2}){0,4}", b in "(/[a.\\-é0]{1,2}){0,4}"
        ) {
            let parse = |below: &str| MemoryPath::parse(&format!("/memories{below}")).ok();
            let Some((a, b)) = parse(&a).zip(parse(&b)) else { return Ok(()) };
            prop_assert_eq!(a.cmp(&b), a.names().cmp(b.names()));
            prop_assert_eq!(a.levels(), a.names().count());
        }
    }

    #[test]
    fn parents_names_and_order() {
        let path = |raw| MemoryPath::parse(raw).unwrap();
        assert_eq!(path("/memories/a/b").parent(), Some(path("/memories/a")));
        assert_eq!(path("/memories/a").parent(), Some(MemoryPath::root()));
        assert_eq!(MemoryPath::root().parent(), None);
        assert_eq!(path("/memories/a/b").name(), Some("b"));
        let mut paths = ["/memories/a.b", "/memories/a/z", "/memories/a", "/memories/B"].map(path);
        paths.sort();
        assert_eq!(
            paths,
            ["/memories/B", "/memories/a", "/memories/a/z", "/memories/a.b"].map(path)
        );
    }

    proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn what_is_accepted_is_canonical_and_harmless(raw in "(/memories)?[/a.%25eEfF\\\\\u{0}é]{0,40}") {
            if let Ok(path) = MemoryPath::parse(&raw) {
                prop_assert_eq!(MemoryPath::parse(path.as_str()).unwrap(), path.clone());
                prop_assert!(path.names().all(|name| !matches!(name, "" | "." | "..")));
                let rebuilt = path.names().try_fold(MemoryPath::root(), |dir, name| dir.join(name));
                prop_assert_eq!(rebuilt.unwrap(), path);
            }
        }
    }
}
