//! A memory's options, under their JavaScript names.

use memdir::policy::sensitive::{SensitiveRule, custom_rules};
use memdir::value::Value;
use memdir::{ConfigError, EncryptionKey, MemoryOptions};
pub(crate) use memdir_bindings_shared::arguments::string;
use memdir_bindings_shared::arguments::wrong;
use serde_json::Value as Json;

use crate::errors::Failure;
use crate::input::value;
use crate::option_values::{refused, set};
pub(crate) use crate::option_values::{span, word};

/// Reads the options: null, or the entries of an object, or a value that is none.
pub(crate) fn read(given: &Json) -> Result<MemoryOptions, Failure> {
    let mut options = MemoryOptions::default();
    // The SDK has a block for them.
    options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    if given.is_null() {
        return Ok(options);
    }
    let Some(entries) = entries(given) else {
        return Err(wrong("options", " must be an object", value(given)).into());
    };
    for (name, given) in entries {
        match name {
            "sensitiveRules" => options.sensitive_rules = rules(name, given)?,
            "encryptionKey" if given.is_null() => options.encryption_key = None,
            "encryptionKey" => options.encryption_key = Some(key(name, given)?),
            _ => set(&mut options, name, &value(given))?,
        }
    }
    Ok(options)
}

/// The names and values of an object whose fields JavaScript has listed.
fn entries(given: &Json) -> Option<impl Iterator<Item = (&str, &Json)>> {
    let listed = given.get("entries")?.as_array()?;
    Some(listed.iter().map(|entry| (entry[0].as_str().unwrap_or_default(), &entry[1])))
}

/// Patterns by the ids of their rules.
fn rules(name: &str, given: &Json) -> Result<Vec<SensitiveRule>, Failure> {
    let Some(entries) = entries(given) else {
        return Err(wrong(name, " must be an object", value(given)).into());
    };
    let mut patterns = Vec::new();
    for (id, given) in entries {
        match value(given) {
            Value::Text(pattern) => patterns.push((id.to_owned(), pattern.into_owned())),
            other => return Err(wrong(name, format!(".{id} must be a string"), other).into()),
        }
    }
    custom_rules(patterns).map_err(|error| refused(name, error).into())
}

/// The key of an encrypted store: bytes, or a text of which the core says what it means. No sentence shows it.
pub(crate) fn key(name: &str, given: &Json) -> Result<EncryptionKey, Failure> {
    let key = if let Some(bytes) = given["bytes"].as_array() {
        let bytes: Vec<u8> =
            bytes.iter().filter_map(|byte| u8::try_from(byte.as_u64()?).ok()).collect();
        EncryptionKey::from_slice(&bytes)
    } else if let Some(text) = given.as_str() {
        text.parse()
    } else {
        let problem = match given["other"].as_str() {
            Some(words) if words.contains("Unicode") => " must be valid Unicode",
            _ => " must be a Uint8Array or a string",
        };
        return Err(ConfigError::of_option(name).and(problem).into());
    };
    key.map_err(|error| refused(name, error).into())
}
