//! The manifest of an archive: its parts, and a checksum of each part and of the manifest itself.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::ArchiveError;

pub(super) const NAME: &str = "manifest.jsonl";
const FORMAT: &str = "memdir archive";
const VERSION: u32 = 1;

/// The first line.
#[derive(Serialize, Deserialize)]
struct First {
    format: String,
    version: u32,
    /// The version of the program that wrote the archive.
    memdir: String,
}

/// A part of the archive, with its name in the archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) size: u64,
    pub(super) sha256: String,
    /// In microseconds since 1970, because tar has only whole seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) modified: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) accessed: Option<i64>,
}

/// The last line.
#[derive(Serialize, Deserialize)]
struct Last {
    parts: usize,
    /// The checksum of all lines before.
    sha256: String,
}

/// The bytes of a manifest.
pub(super) fn written(parts: &[Part]) -> Vec<u8> {
    let mut lines = String::new();
    let memdir = env!("CARGO_PKG_VERSION").to_owned();
    push(&mut lines, &First { format: FORMAT.to_owned(), version: VERSION, memdir });
    for part in parts {
        push(&mut lines, part);
    }
    let sha256 = digest(lines.as_bytes());
    push(&mut lines, &Last { parts: parts.len(), sha256 });
    lines.into_bytes()
}

fn push(lines: &mut String, line: &impl Serialize) {
    // Serializing a struct of strings and numbers to JSON cannot fail.
    lines.push_str(&serde_json::to_string(line).unwrap_or_default());
    lines.push('\n');
}

/// Whether these bytes start like a manifest. They may be incomplete.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    serde_json::from_slice::<First>(first).is_ok_and(|first| first.format == FORMAT)
}

/// Parses the parts, by their names.
pub(super) fn read(bytes: &[u8]) -> Result<BTreeMap<String, Part>, ArchiveError> {
    let damaged = || ArchiveError::Damaged("the manifest is damaged".to_owned());
    let text = std::str::from_utf8(bytes).map_err(|_| damaged())?;
    let (lines, last) = text.trim_end_matches('\n').rsplit_once('\n').ok_or_else(damaged)?;
    let before = &text[..=lines.len()];
    let last: Last = serde_json::from_str(last).map_err(|_| damaged())?;
    if last.sha256 != digest(before.as_bytes()) {
        return Err(damaged());
    }
    let mut lines = lines.split('\n');
    let first: First =
        serde_json::from_str(lines.next().unwrap_or_default()).map_err(|_| damaged())?;
    if first.format != FORMAT {
        return Err(damaged());
    }
    if first.version > VERSION {
        let newer = format!("a newer memdir ({}) made this archive: use that one", first.memdir);
        return Err(ArchiveError::Damaged(newer));
    }
    let mut parts = BTreeMap::new();
    for line in lines {
        let part: Part = serde_json::from_str(line).map_err(|_| damaged())?;
        parts.insert(part.name.clone(), part);
    }
    if parts.len() == last.parts { Ok(parts) } else { Err(damaged()) }
}

/// A SHA-256 in hexadecimal digits.
pub(super) fn digest(bytes: &[u8]) -> String {
    text(Sha256::digest(bytes).as_slice())
}

/// Bytes in hexadecimal digits.
pub(super) fn text(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
