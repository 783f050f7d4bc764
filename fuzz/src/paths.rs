//! Paths: parsing compared with a second, naive implementation of the rules, and the guarantees of a canonical path.

use memdir::MemoryPath;
use memdir::path::{MAX_LEVELS, MAX_NAME_BYTES, MAX_PATH_BYTES, PathError};

/// The input is a path, and after the last line break the name of an entry below it.
pub fn paths(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (raw, name) = text.rsplit_once('\n').unwrap_or((&text, "x"));
    let parsed = MemoryPath::parse(raw);
    let text = parsed.as_ref().map(|path| path.as_str().to_owned());
    assert_eq!(text.map_err(|error| *error), naive(raw), "{raw:?}");
    let Ok(path) = parsed else { return };

    assert_eq!(MemoryPath::parse(path.as_str()).as_ref(), Ok(&path));
    let names: Vec<&str> = path.names().collect();
    assert_eq!(path.relative(), names.join("/"));
    assert_eq!(path.name(), names.last().copied());
    assert_eq!(path.is_root(), names.is_empty());
    assert_eq!(path.is_reserved(), names.iter().any(|name| naive_reserved(name)), "{path}");

    let whole = format!("{path}/{name}");
    let joined = path.join(name);
    if name.is_empty() || name == "." || name.contains('/') {
        assert_eq!(joined, Err(PathError::Escapes));
        return;
    }
    // If it breaks several rules, either may be reported.
    assert_eq!(joined.is_ok(), naive(&whole).is_ok(), "{whole:?}");
    let Ok(joined) = joined else { return };
    assert_eq!(joined.as_str(), whole);
    assert_eq!(joined.parent().as_ref(), Some(&path));
    assert_eq!(joined.name(), Some(name));
    assert!(path.is_above(&joined) && !joined.is_above(&path) && !path.is_above(&path));
    assert!(path < joined);
    assert_eq!(joined.is_reserved(), path.is_reserved() || naive_reserved(name));
    let elsewhere = MemoryPath::parse("/memories/else/where").unwrap();
    if let Ok(moved) = joined.moved(&path, &elsewhere) {
        assert_eq!(moved.as_str(), format!("{elsewhere}/{name}"));
    }
}

/// The rules of `docs/reference/behaviour.md`, one after the other.
fn naive(raw: &str) -> Result<String, PathError> {
    if raw != "/memories" && !raw.starts_with("/memories/") {
        return Err(PathError::Outside);
    }
    if raw.len() > MAX_PATH_BYTES {
        return Err(PathError::PathTooLong);
    }
    let mut stages = vec![raw.as_bytes().to_vec()];
    while let Some(next) = decoded_once(stages.last().unwrap()) {
        stages.push(next);
    }
    let slashes = |stage: &[u8]| stage.iter().filter(|byte| **byte == b'/').count();
    for stage in &stages {
        let Ok(text) = std::str::from_utf8(stage) else { return Err(PathError::Escapes) };
        let control = |c: char| c == '\\' || c <= '\u{1f}' || ('\u{7f}'..='\u{9f}').contains(&c);
        if text.chars().any(control)
            || text.split('/').any(|name| name == "..")
            || slashes(stage) != slashes(&stages[0])
        {
            return Err(PathError::Escapes);
        }
    }
    let names: Vec<&str> =
        raw.split('/').skip(2).filter(|name| !name.is_empty() && *name != ".").collect();
    if names.iter().any(|name| name.len() > MAX_NAME_BYTES) {
        return Err(PathError::NameTooLong);
    }
    if names.len() > MAX_LEVELS {
        return Err(PathError::TooDeep);
    }
    Ok(std::iter::once("/memories").chain(names).collect::<Vec<_>>().join("/"))
}

/// One pass of percent-decoding; `None` if it changes nothing.
fn decoded_once(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        match rest {
            [b'%', high, low, after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digits = String::from_utf8(vec![*high, *low]).unwrap();
                decoded.push(u8::from_str_radix(&digits, 16).unwrap());
                rest = after;
            }
            [byte, after @ ..] => {
                decoded.push(*byte);
                rest = after;
            }
            [] => {}
        }
    }
    (decoded != bytes).then_some(decoded)
}

fn naive_reserved(name: &str) -> bool {
    let mut stage = name.as_bytes().to_vec();
    loop {
        let Ok(text) = String::from_utf8(stage.clone()) else { return false };
        let ascii: String = text.chars().filter(char::is_ascii).collect();
        if ascii.to_ascii_lowercase().starts_with(".memdir-") {
            return true;
        }
        match decoded_once(&stage) {
            Some(next) => stage = next,
            None => return false,
        }
    }
}
