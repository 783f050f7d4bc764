//! Recognises an encrypted store by the file at its root. A build without encryption needs this, too.

use super::Store;
use crate::path::MemoryPath;

/// The record: the file at the root of an encrypted store that is needed to open it with the key.
pub const NAME: &str = ".memdir-encryption";
/// The value of the record's field `format`.
pub const FORMAT: &str = "memdir-encryption";
/// The beginning of the record, as memdir writes it.
const START: &[u8] = b"{\"format\":\"memdir-encryption\",";

/// Whether a store has the record of an encrypted one. A file of that name with another content does not
/// count: another program may have put it there.
pub fn is_encrypted(store: &dyn Store) -> bool {
    let Ok(at) = MemoryPath::root().join(NAME) else { return false };
    let Ok(content) = store.read(&at) else { return false };
    // A damaged record, or one of a newer version, counts as well.
    content.starts_with(START)
        || serde_json::from_slice::<serde_json::Value>(&content)
            .is_ok_and(|record| record.get("format") == Some(&FORMAT.into()))
}
