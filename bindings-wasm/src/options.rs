//! A memory's options, under their JavaScript names.

use memdir::{EncryptionKey, MemoryOptions};
use memdir_bindings_shared::arguments::wrong;
pub(crate) use memdir_bindings_shared::arguments::{flag, string};
use serde_json::Value as Json;

use crate::errors::Failure;
use crate::input::value;
use crate::option_values::{self, Given};
pub(crate) use crate::option_values::{optional_span, span, word};

/// Reads the options: null, the entries of an object, or a value that cannot be options.
pub(crate) fn read(given: &Json) -> Result<MemoryOptions, Failure> {
    let mut options = MemoryOptions::default();
    // The SDK has a block for images.
    options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    if given.is_null() {
        return Ok(options);
    }
    let Some(entries) = entries(given) else {
        return Err(wrong("options", " must be an object", value(given)).into());
    };
    for (name, given) in entries {
        options.set(name, given_value(given))?;
    }
    Ok(options)
}

/// The names and values of an object whose fields JavaScript has listed.
fn entries(given: &Json) -> Option<impl Iterator<Item = (&str, &Json)>> {
    let listed = given.get("entries")?.as_array()?;
    Some(listed.iter().map(|entry| (entry[0].as_str().unwrap_or_default(), &entry[1])))
}

/// The value of an option, with the parts that an option can have.
fn given_value(given: &Json) -> Given<'_> {
    if let Some(entries) = entries(given) {
        return Given::Object(
            entries.map(|(name, given)| (name.to_owned(), value(given))).collect(),
        );
    }
    if let Some(bytes) = given["bytes"].as_array() {
        let byte = |byte: &Json| u8::try_from(byte.as_u64()?).ok();
        return Given::Bytes(bytes.iter().filter_map(byte).collect());
    }
    Given::Value(value(given))
}

/// The key of an encrypted store. No error shows it.
pub(crate) fn key(name: &str, given: &Json) -> Result<EncryptionKey, Failure> {
    Ok(option_values::key(name, given_value(given))?)
}
