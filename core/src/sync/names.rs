//! The names of conflict copies: `notes (conflict from laptop 2026-11-28 16.22.05).md`.
//!
//! A name depends only on the content, its origin and its time. So a sync that was killed finds the copy that it has made.

use std::time::SystemTime;

use memdir_store::path::{MAX_NAME_BYTES, MemoryPath};
use memdir_store::time::rfc3339;

use super::baseline::Digest;

/// The text before the origin.
const MARK: &str = " (conflict from ";

/// The most bytes of an origin in a name.
const MAX_ORIGIN_BYTES: usize = 40;

/// The most bytes of an extension, with its period. A longer one is a part of the name.
const MAX_EXTENSION_BYTES: usize = 32;

/// The path of a copy of a file, with content from `origin`. `number` distinguishes copies that would have the same path. A copy of a conflict
/// copy is named after the original.
pub(super) fn copy_of(
    path: &MemoryPath,
    origin: &str,
    modified: Option<SystemTime>,
    digest: &Digest,
    number: usize,
) -> Option<MemoryPath> {
    let original = original_of(path);
    let name = original.as_ref().unwrap_or(path).name()?;
    let (stem, extension) = split(name);
    let when = match modified {
        Some(time) => seconds(time),
        None => digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect(),
    };
    let number = if number > 0 { format!(" {}", number + 1) } else { String::new() };
    let end = format!("{MARK}{} {when}{number}){extension}", plain(origin));
    let stem = shortened(stem, MAX_NAME_BYTES.saturating_sub(end.len()));
    path.parent()?.join(&format!("{stem}{end}")).ok()
}

/// A name without its extension, and the extension with its period.
pub(super) fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 && name.len() - at <= MAX_EXTENSION_BYTES => name.split_at(at),
        _ => (name, ""),
    }
}

/// The path of the file that a conflict copy belongs to; `None` for any other file. If the name was too long for a copy, it is the beginning
/// of the file's name.
#[must_use]
pub fn original_of(copy: &MemoryPath) -> Option<MemoryPath> {
    parse(copy).map(|(original, _)| original)
}

/// The path of the file that a conflict copy belongs to, and the origin of its content.
pub(super) fn parse(copy: &MemoryPath) -> Option<(MemoryPath, &str)> {
    let (stem, rest) = copy.name()?.split_once(MARK)?;
    let (origin, extension) = rest.rsplit_once(')')?;
    let origin = origin.split_once(' ').map_or(origin, |(origin, _)| origin);
    let original = copy.parent()?.join(&format!("{stem}{extension}")).ok()?;
    // No sync copies a file that memdir keeps, and a model may choose any name.
    (!original.is_reserved()).then_some((original, origin))
}

/// A time in UTC, to the second, without the colons that Windows forbids in names.
fn seconds(time: SystemTime) -> String {
    rfc3339(time)
        .chars()
        .take(19)
        .map(|c| match c {
            'T' => ' ',
            ':' => '.',
            c => c,
        })
        .collect()
}

/// The characters that every system allows in a name.
fn plain(origin: &str) -> String {
    let plain =
        origin.chars().map(|c| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '-' });
    let plain: String = plain.collect();
    let plain = shortened(plain.trim_matches(['-', '.']), MAX_ORIGIN_BYTES);
    if plain.is_empty() { "elsewhere".to_owned() } else { plain.to_owned() }
}

/// The beginning of a text that has at most this many bytes.
fn shortened(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn copied(path: &str, origin: &str, modified: Option<u64>, number: usize) -> String {
        let path = MemoryPath::parse(path).unwrap();
        let modified = modified.map(|seconds| UNIX_EPOCH + Duration::from_secs(seconds));
        let copy = copy_of(&path, origin, modified, &[171; 32], number).unwrap();
        copy.as_str().to_owned()
    }

    #[test]
    fn a_name_says_where_the_content_is_from_and_when() {
        assert_eq!(
            copied("/memories/a/notes.md", "laptop", Some(1_795_882_925), 0),
            "/memories/a/notes (conflict from laptop 2026-11-28 16.22.05).md"
        );
        assert_eq!(
            copied("/memories/.env", "s3://bucket/a:b", None, 1),
            "/memories/.env (conflict from s3---bucket-a-b abababab 2)"
        );
        assert_eq!(
            copied("/memories/a.tar.gz", "..", None, 0),
            "/memories/a.tar (conflict from elsewhere abababab).gz"
        );
    }

    #[test]
    fn a_long_name_is_shortened_between_characters() {
        let path = format!("/memories/{}.md", "é".repeat(126));
        let copy = copied(&path, &"ü".repeat(100), Some(0), 0);
        let name = copy.rsplit_once('/').unwrap().1;
        assert!(name.len() <= 255 && name.len() > 250, "{name}");
        assert!(name.ends_with(" 1970-01-01 00.00.00).md"));
    }

    #[test]
    fn an_extension_that_fills_the_name_is_shortened_like_a_name() {
        let copy = copied(&format!("/memories/a.{}", "x".repeat(253)), "laptop", Some(0), 0);
        let name = copy.rsplit_once('/').unwrap().1;
        assert!(name.len() <= 255 && name.ends_with(" (conflict from laptop 1970-01-01 00.00.00)"));
    }

    #[test]
    fn a_copy_of_a_copy_is_named_after_the_original() {
        for path in ["/memories/notes.md", "/memories/x", "/memories/.env"] {
            let copy = copied(path, "laptop", Some(7), 0);
            assert_eq!(copied(&copy, "phone", None, 1), copied(path, "phone", None, 1));
        }
    }

    #[test]
    fn a_copy_leads_to_its_original() {
        for path in ["/memories/a/notes.md", "/memories/.env", "/memories/x (1).md", "/memories/y"]
        {
            for number in [0, 3] {
                let copy = copied(path, "lap (top)", Some(7), number);
                let original = original_of(&MemoryPath::parse(&copy).unwrap());
                assert_eq!(original.unwrap().as_str(), path);
            }
            assert_eq!(original_of(&MemoryPath::parse(path).unwrap()), None);
        }
    }
}
