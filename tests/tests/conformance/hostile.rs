//! What nobody should send (`tests/hostile`), in Rust: a reply, or the declared error.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::str::FromStr;
use std::time::Duration;

use memdir::policy::sensitive::{SensitiveText, custom_rules};
use memdir::policy::{PathPattern, StaleGuard};
use memdir::{Durability, EncryptionKey, Error, Memory, MemoryOptions, OnExisting};
use serde_json::Value;

fn table(name: &str) -> Vec<Value> {
    let file = format!("{}/hostile/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
}

/// `None` for what no text of Rust's can hold.
fn put(text: &str) -> Option<String> {
    let put = text
        .replace("@long@", &"x".repeat(1_000_000))
        .replace("@deep@", &"[".repeat(100_000))
        .replace("@digits@", &"9".repeat(5_000));
    (!put.contains("@half@")).then_some(put)
}

#[test]
fn input_that_nobody_should_send_is_answered() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for row in table("inputs") {
        let Some(json) = put(row["json"].as_str().unwrap()) else { continue };
        let reply = memory.execute(&json);
        let length = reply.content.as_text().unwrap_or_default().len();
        assert!(reply.is_error && (1..50_000).contains(&length), "{row}: {length}");
        assert!(reply.cause.is_none(), "{row}");
    }
    assert!(memory.view("/memories", None).unwrap().ends_with("4.0K\t/memories"));
}

/// What the types of Rust can hold of an option; `None` if it is nothing.
fn set(options: &mut MemoryOptions, name: &str, value: &Value) -> Option<Result<(), Error>> {
    fn word<W: FromStr<Err = Error>>(value: &Value, place: &mut W) -> Option<Result<(), Error>> {
        Some(put(value.as_str()?)?.parse().map(|word| *place = word))
    }
    let seconds = value.as_f64().and_then(|span| Duration::try_from_secs_f64(span).ok());
    let patterns = || {
        let texts = value.as_array()?.iter().map(|text| put(text.as_str()?));
        Some(PathPattern::all(name, texts.collect::<Option<Vec<_>>>()?))
    };
    match name {
        "max_view_chars" => options.max_view_chars = Some(usize::try_from(value.as_u64()?).ok()?),
        "max_file_bytes" => options.max_file_bytes = Some(value.as_u64()?),
        "max_total_bytes" => options.max_total_bytes = Some(value.as_u64()?),
        "max_files" => options.max_files = Some(value.as_u64()?),
        "max_image_bytes" => options.max_image_bytes = Some(value.as_u64()?),
        "expire_after" => options.expire_after = Some(seconds?),
        "lock_timeout" => options.lock_timeout = Some(seconds?),
        "read_only_paths" => return Some(patterns()?.map(|all| options.read_only_paths = all)),
        "writable_paths" => return Some(patterns()?.map(|all| options.writable_paths = Some(all))),
        "never_expire" => return Some(patterns()?.map(|all| options.never_expire = all)),
        "on_existing" => return word::<OnExisting>(value, &mut options.on_existing),
        "durability" => return word::<Durability>(value, &mut options.durability),
        "sensitive_text" => return word::<SensitiveText>(value, &mut options.sensitive_text),
        "stale_guard" => return word::<StaleGuard>(value, &mut options.stale_guard),
        "sensitive_rules" => {
            let rules =
                value.as_object()?.iter().map(|(id, rule)| Some((put(id)?, put(rule.as_str()?)?)));
            return Some(custom_rules(rules.collect::<Option<Vec<_>>>()?).map(drop));
        }
        "encryption_key" => return Some(put(value.as_str()?)?.parse::<EncryptionKey>().map(drop)),
        "encrypt_names" => options.encrypt_names = value.as_bool()?,
        _ => return None,
    }
    Some(Ok(()))
}

#[test]
fn wrong_options_are_the_declared_error() {
    let mut tried = 0;
    for row in table("options") {
        let mut options = MemoryOptions::default();
        let name = row["option"].as_str().unwrap();
        let Some(done) = set(&mut options, name, &row["value"]) else { continue };
        tried += 1;
        let opened = done.and_then(|()| Memory::open("memory:", options));
        match (row.get("fits"), opened) {
            (Some(_), Ok(memory)) => assert!(memory.view("/memories", None).is_ok(), "{row}"),
            (None, Err(Error::Config(error))) => {
                assert_eq!(error.option(), Some(name), "{row}: {error}");
                assert!(error.to_string().starts_with(name), "{row}: {error}");
            }
            (_, opened) => panic!("{row}: {opened:?}"),
        }
    }
    assert!(tried > 30, "{tried}");
}
