//! The options in Rust, Kotlin and Swift are those of the table, `core/options.json`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where it cannot go on")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use memdir::MemoryOptions;
use serde_json::Value;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(file: &str) -> String {
    let file = Path::new(PROJECT).join(file);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The options of a language, with their defaults as it writes them.
fn in_table(language: &str, show: impl Fn(&Value, &Value) -> String) -> BTreeMap<String, String> {
    let table: Value = serde_json::from_str(&read("core/options.json")).unwrap();
    let sections = table["sections"].as_array().unwrap();
    let options = sections.iter().flat_map(|section| section["options"].as_array().unwrap());
    let offered = options.filter(|option| {
        option["languages"].as_array().unwrap().iter().any(|offered| offered == language)
    });
    offered
        .map(|option| {
            let default = option["defaults"].get(language).unwrap_or(&option["default"]);
            (option["name"].as_str().unwrap().to_owned(), show(option, default))
        })
        .collect()
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap().to_owned();
    words.fold(first, |name, word| name + &word[..1].to_uppercase() + &word[1..])
}

/// The tests of each language read them from there. Hooks are functions, which a table cannot
/// contain.
#[test]
fn every_type_of_option_has_wrong_values() {
    let values: Value = serde_json::from_str(&read("tests/hostile/values.json")).unwrap();
    for kind in
        in_table("python", |option, _| option["type"].as_str().unwrap().to_owned()).into_values()
    {
        assert!(kind == "hook" || values["types"][&kind].is_array(), "no value of a {kind}");
    }
}

#[test]
fn rust_has_the_options_and_defaults_of_the_table() {
    let expected = in_table("rust", |option, default| {
        let value = match (option["type"].as_str().unwrap(), default) {
            (_, Value::Null) => return "None".to_owned(),
            ("number" | "flag", value) => value.to_string(),
            ("duration", value) => format!("{value}s"),
            ("word", Value::String(word)) => word[..1].to_uppercase() + &word[1..],
            ("patterns" | "rules", _) => "[]".to_owned(),
            (kind, value) => panic!("no {kind} is by default {value}"),
        };
        if option["none"] == true { format!("Some({value})") } else { value }
    });
    // Contains every field, without a second list of them.
    let shown = format!("{:?}", MemoryOptions::default());
    let fields =
        shown.strip_prefix("MemoryOptions { ").and_then(|fields| fields.strip_suffix(" }"));
    let actual: BTreeMap<_, _> = fields
        .unwrap()
        .split(", ")
        .map(|field| field.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    assert_eq!(actual, expected);
}

/// The default of an option in the record: null stands for values that are neither numbers nor
/// flags.
fn in_record(
    option: &Value,
    default: &Value,
    number: &dyn Fn(&Value) -> String,
    seconds: &dyn Fn(&Value) -> String,
    none: &str,
) -> String {
    match (option["type"].as_str().unwrap(), default) {
        (_, Value::Null) => none.to_owned(),
        ("number", value) => number(value),
        ("duration", value) => seconds(value),
        ("flag", value) => value.to_string(),
        _ => none.to_owned(),
    }
}

fn by_camel_name(options: BTreeMap<String, String>) -> BTreeMap<String, String> {
    options.into_iter().map(|(name, default)| (camel(&name), default)).collect()
}

#[test]
fn kotlin_has_the_options_and_defaults_of_the_table() {
    let expected = in_table("kotlin", |option, default| {
        in_record(
            option,
            default,
            &|number| format!("{number}L"),
            &|seconds| format!("java.time.Duration.ofSeconds({seconds})"),
            "null",
        )
    });
    let source = read("bindings-uniffi/kotlin/src/generated/kotlin/dev/memdir/memdir.kt");
    let record = source.split_once("data class MemoryOptions (").unwrap().1;
    let record = record.split_once("\n){").unwrap().0;
    let actual: BTreeMap<_, _> = record
        .lines()
        .filter_map(|line| line.trim().strip_prefix("val `"))
        .map(|field| {
            let (name, rest) = field.split_once("`: ").unwrap();
            let default = rest.split_once(" = ").map_or("", |(_, default)| default);
            (name.to_owned(), default.trim_end_matches(',').trim().to_owned())
        })
        .collect();
    assert_eq!(actual, by_camel_name(expected));
}

#[test]
fn swift_has_the_options_and_defaults_of_the_table() {
    let expected = in_table("swift", |option, default| {
        in_record(
            option,
            default,
            &|number| format!("Int64({number})"),
            &ToString::to_string,
            "nil",
        )
    });
    let source = read("bindings-uniffi/swift/Sources/Memdir/Generated.swift");
    let record = source.split_once("public struct MemoryOptions").unwrap().1;
    let arguments = record.split_once("public init(").unwrap().1.split_once(") {\n").unwrap().0;
    let actual: BTreeMap<_, _> = arguments
        .lines()
        .filter_map(|line| line.trim().strip_prefix("*/"))
        .map(|argument| {
            let (name, rest) = argument.split_once(": ").unwrap();
            let default = rest.split_once(" = ").map_or("", |(_, default)| default);
            (name.to_owned(), default.trim_end_matches(',').trim().to_owned())
        })
        .collect();
    assert_eq!(actual, by_camel_name(expected));
}
