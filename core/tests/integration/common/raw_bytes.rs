//! Finds remains of a secret in the bytes of a memory.
#![allow(dead_code, reason = "each test file uses its part")]

use std::fs;
use std::path::Path;

/// How many consecutive bytes count as a part of a secret.
const PART: usize = 8;

/// The parts of a secret that occur in these bytes, except in texts that may contain them.
pub(crate) fn parts_in(bytes: &[u8], secret: &[u8], living: &[String]) -> Vec<String> {
    let has = |bytes: &[u8], part: &[u8]| bytes.windows(PART).any(|window| window == part);
    let parts = secret
        .windows(PART)
        .filter(|part| has(bytes, part) && !living.iter().any(|text| has(text.as_bytes(), part)));
    parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect()
}

/// The files below a directory, of any purpose, that contain such parts.
pub(crate) fn files_with_parts(place: &Path, secret: &[u8], living: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with_parts(&path, secret, living));
        } else {
            let parts = parts_in(&fs::read(&path).unwrap(), secret, living);
            found.extend((!parts.is_empty()).then(|| format!("{}: {parts:?}", path.display())));
        }
    }
    found
}
