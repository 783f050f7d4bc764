//! Operations for conformance tests on the store beneath a memory, which bypass all commands: its tree, and
//! the times of its files. The installed library does not have them.

use std::time::{Duration, SystemTime};

use data_encoding::BASE64;
use memdir::store::EntryKind;
use memdir::{Memory, MemoryPath, OnExisting, Store};
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Executes one of these operations.
pub(crate) fn call(
    memory: &Memory,
    name: &str,
    arguments: &Map<String, Value>,
) -> Result<Value, Failure> {
    let store = &**memory.store();
    let path = || {
        let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
        MemoryPath::parse(path).map_err(|error| Failure::usage(error.to_string()))
    };
    match name {
        "testing.tree" => {
            let mut tree = Map::new();
            read_below(store, &MemoryPath::root(), &mut tree)?;
            return Ok(tree.into());
        }
        "testing.write" => write(store, &path()?, arguments.get("base64"))?,
        "testing.age" => {
            let seconds = arguments.get("seconds").and_then(Value::as_u64).unwrap_or_default();
            let time = SystemTime::now() - Duration::from_secs(seconds);
            store.set_modified(&path()?, time)?;
            store.record_access(&path()?, time)?;
        }
        // This panic prints nothing to the standard error.
        "testing.panic" => std::panic::resume_unwind(Box::new("on purpose")),
        _ => return Err(Failure::usage(format!("there is no operation {name:?}"))),
    }
    Ok(Value::Null)
}

/// Every file with its content, and every empty directory as null.
fn read_below(
    store: &dyn Store,
    directory: &MemoryPath,
    tree: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let listed = store.list(directory)?;
    if listed.is_empty() && !directory.is_root() {
        tree.insert(directory.to_string(), Value::Null);
    }
    for entry in listed {
        if let EntryKind::Directory = entry.kind {
            read_below(store, &entry.path, tree)?;
        } else {
            let content = store.read(&entry.path)?;
            tree.insert(entry.path.to_string(), shown(&content).into());
        }
    }
    Ok(())
}

/// Base64. A long content is replaced by its length and its FNV-1a hash, because a tree is read after each
/// step.
fn shown(content: &[u8]) -> String {
    if content.len() <= 1_000 {
        return BASE64.encode(content);
    }
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in content {
        hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    }
    format!("{} bytes, {hash:016x}", content.len())
}

/// Writes a file, or creates an empty directory.
fn write(store: &dyn Store, path: &MemoryPath, content: Option<&Value>) -> Result<(), Failure> {
    if let Some(content) = content.and_then(Value::as_str) {
        let content =
            BASE64.decode(content.as_bytes()).map_err(|e| Failure::usage(e.to_string()))?;
        return Ok(store.write(path, &content, OnExisting::Overwrite)?);
    }
    // A store creates directories only for its files, and keeps them when a file is deleted.
    let inside = path.join("inside").map_err(|error| Failure::usage(error.to_string()))?;
    store.write(&inside, b"", OnExisting::Error)?;
    Ok(store.delete(&inside)?)
}
