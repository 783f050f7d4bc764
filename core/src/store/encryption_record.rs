//! How an encrypted store is told from others: by the name and the beginning of the file at its root. Also a
//! build without encryption has to know.

use super::Store;
use crate::path::MemoryPath;

/// The file at the root of an encrypted store that holds what is needed to open it with the key.
pub(super) const NAME: &str = ".memdir-encryption";
/// What that file says that it is.
pub(super) const FORMAT: &str = "memdir-encryption";
/// How it begins, as memdir writes it.
const START: &[u8] = b"{\"format\":\"memdir-encryption\",";

/// Whether a store has the record of an encrypted one. A file of that name with another content means nothing:
/// another program may have put it there.
pub(super) fn is_encrypted(store: &dyn Store) -> bool {
    let Ok(at) = MemoryPath::root().join(NAME) else { return false };
    let Ok(content) = store.read(&at) else { return false };
    // Also one that is damaged further on, or of a version to come.
    content.starts_with(START)
        || serde_json::from_slice::<serde_json::Value>(&content)
            .is_ok_and(|record| record.get("format") == Some(&FORMAT.into()))
}
