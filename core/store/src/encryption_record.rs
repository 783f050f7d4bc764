//! Recognises an encrypted store by its record file in the root. A build without encryption needs this, too.

use super::Store;
use crate::path::MemoryPath;

/// The name of the record: the file in the root of an encrypted store that is needed to open it with the key.
pub const NAME: &str = ".memdir-encryption";
/// The value of the record's field `format`.
pub const FORMAT: &str = "memdir-encryption";
/// The start of the record as memdir writes it.
const START: &[u8] = b"{\"format\":\"memdir-encryption\",";

/// Whether a store contains the record of an encrypted store. A file of that name with other content does not
/// count, because another program may have created it.
pub fn is_encrypted(store: &dyn Store) -> bool {
    let Ok(at) = MemoryPath::root().join(NAME) else { return false };
    let Ok(content) = store.read(&at) else { return false };
    // A damaged record counts, and so does the record of a newer version.
    content.starts_with(START)
        || serde_json::from_slice::<serde_json::Value>(&content)
            .is_ok_and(|record| record.get("format") == Some(&FORMAT.into()))
}
