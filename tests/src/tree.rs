//! The complete content of a store, for comparisons.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use memdir::store::EntryKind;
use memdir::{MemoryPath, OnExisting, Store};
use serde::{Deserialize, Deserializer};

use crate::texts::Text;

/// Every file with its content, and every empty directory (`None`), without the root.
pub type Tree = BTreeMap<MemoryPath, Option<Vec<u8>>>;

/// A canonical path of a case, below the root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub struct Canonical(pub MemoryPath);

impl TryFrom<String> for Canonical {
    type Error = String;

    fn try_from(path: String) -> Result<Self, String> {
        match MemoryPath::parse(&path) {
            Ok(parsed) if parsed.as_str() == path && !parsed.is_root() => Ok(Self(parsed)),
            Ok(_) => Err(format!("{path:?} is no canonical path below /memories")),
            Err(error) => Err(format!("{path:?}: {error}")),
        }
    }
}

/// Bytes of a case.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Base64(pub(crate) Vec<u8>);

impl TryFrom<String> for Base64 {
    type Error = base64::DecodeError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        STANDARD.decode(text).map(Self)
    }
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "not the content of a file")]
enum FileContent {
    Bytes {
        #[serde(rename = "$base64")]
        bytes: Base64,
    },
    Text(Text),
}

/// For `deserialize_with`: a tree in the format of the cases.
pub(crate) fn from_case<'de, D: Deserializer<'de>>(from: D) -> Result<Tree, D::Error> {
    let nodes = BTreeMap::<Canonical, Option<FileContent>>::deserialize(from)?;
    let bytes = |content| match content {
        FileContent::Bytes { bytes: Base64(bytes) } => bytes,
        FileContent::Text(Text(text)) => text.into_bytes(),
    };
    Ok(nodes.into_iter().map(|(Canonical(path), node)| (path, node.map(bytes))).collect())
}

/// Reads a complete store.
///
/// # Errors
/// The error of the store, in words.
pub fn read(store: &dyn Store) -> Result<Tree, String> {
    let mut tree = Tree::new();
    read_below(store, &MemoryPath::root(), &mut tree)?;
    Ok(tree)
}

fn read_below(store: &dyn Store, directory: &MemoryPath, tree: &mut Tree) -> Result<(), String> {
    let listed = store.list(directory).map_err(|error| format!("listing {directory}: {error}"))?;
    if listed.is_empty() && !directory.is_root() {
        tree.insert(directory.clone(), None);
    }
    for entry in listed {
        if let EntryKind::Directory = entry.kind {
            read_below(store, &entry.path, tree)?;
            continue;
        }
        let content =
            store.read(&entry.path).map_err(|error| format!("reading {}: {error}", entry.path))?;
        if entry.kind != EntryKind::File(content.len() as u64) {
            return Err(format!("{} is listed as {:?}", entry.path, entry.kind));
        }
        tree.insert(entry.path, Some(content));
    }
    Ok(())
}

/// Writes all of `tree` to a store; existing files are overwritten.
///
/// # Errors
/// The error of the store, in words.
pub fn write(store: &dyn Store, tree: &Tree) -> Result<(), String> {
    let failed = |path: &MemoryPath, error| format!("writing {path}: {error}");
    for (path, content) in tree {
        match content {
            Some(content) => {
                store
                    .write(path, content, OnExisting::Overwrite)
                    .map_err(|error| failed(path, error))?;
            }
            // A store creates directories only for files, and keeps them when a file is deleted.
            None => {
                let inside = path.join("inside").map_err(|error| format!("{path}: {error}"))?;
                store
                    .write(&inside, b"", OnExisting::Error)
                    .and_then(|()| store.delete(&inside))
                    .map_err(|error| failed(path, error))?;
            }
        }
    }
    Ok(())
}

/// The differences of two trees, one line for each path; `None` if they are equal.
#[must_use]
pub fn difference(expected: &Tree, got: &Tree) -> Option<String> {
    let mut lines = String::new();
    for path in expected.keys().chain(got.keys().filter(|path| !expected.contains_key(*path))) {
        let (expected, got) = (expected.get(path), got.get(path));
        if expected != got {
            let _ = write!(lines, "\n    {path}: expected {}, got {}", shown(expected), shown(got));
        }
    }
    (!lines.is_empty()).then_some(lines)
}

fn shown(content: Option<&Option<Vec<u8>>>) -> String {
    const MOST: usize = 200;
    match content {
        None => "nothing".to_owned(),
        Some(None) => "an empty directory".to_owned(),
        Some(Some(content)) => {
            let start = String::from_utf8_lossy(&content[..content.len().min(MOST)]);
            format!("{} bytes, {start:?}", content.len())
        }
    }
}
