//! The tool's schema for other hosts matches the decoder: no more and no less, except for repairs.
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use crate::common::effort;
use jsonschema::Validator;
use memdir::command::{
    COMMANDS, Command, Decoded, Dialect, ViewRange, tool_definition, tool_definitions,
};
use memdir::{Error, Memory, MemoryOptions};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const DIALECTS: [(Dialect, &str); 5] = [
    (Dialect::JsonSchema, "json-schema"),
    (Dialect::OpenAi, "openai"),
    (Dialect::OpenAiChat, "openai-chat"),
    (Dialect::AnthropicCustom, "anthropic-custom"),
    (Dialect::Gemini, "gemini"),
];

/// The part of a definition that describes the input.
fn schema(definition: &Value) -> &Value {
    ["/parameters", "/input_schema", "/function/parameters"]
        .iter()
        .find_map(|place| definition.pointer(place))
        .unwrap()
}

fn validator(definition: &Value) -> Validator {
    let schema = schema(definition);
    jsonschema::meta::validate(schema).unwrap();
    jsonschema::draft202012::new(schema).unwrap()
}

/// One validator for each command.
fn validators(dialect: Dialect) -> Vec<(&'static str, Validator)> {
    let definitions = tool_definitions(dialect, "memory_", false).unwrap();
    COMMANDS.into_iter().zip(definitions.iter().map(validator)).collect()
}

/// A value of any kind, with a preference for valid ones.
fn value() -> impl Strategy<Value = Value> {
    let integer = prop_oneof![Just(0), Just(-1), Just(i64::MAX), 0..9_i64, any::<i64>()];
    prop_oneof![
        4 => prop_oneof!["/memories(/[a-c]){0,2}", ".{0,6}", "-?[0-9]{1,3}"].prop_map(Value::from),
        3 => integer.clone().prop_map(Value::from),
        2 => prop::collection::vec(integer.prop_map(Value::from), 0..4).prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<f64>().prop_map(|number| json!(number)),
        1 => Just(json!({})),
        1 => prop::collection::vec(Just(json!("x")), 0..3).prop_map(Value::from),
    ]
}

/// An object with some of the fields of commands, and rarely another one.
fn fields() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof![
        20 => prop::sample::select(vec![
            "path", "view_range", "file_text", "old_str", "new_str", "insert_line", "insert_text", "old_path",
            "new_path",
        ])
        .prop_map(str::to_owned),
        1 => "[a-z]{1,4}",
    ];
    prop::collection::btree_map(name, value(), 0..6).prop_map(|map| map.into_iter().collect())
}

/// The fields of a valid command, so both outcomes are tested.
fn right() -> impl Strategy<Value = (usize, Map<String, Value>)> {
    let text = || ".{0,8}".prop_map(Value::from);
    let line = (0..1000_i64).prop_map(Value::from);
    (0..COMMANDS.len(), [text(), text()], line, any::<bool>(), [1..9_i64, 1..9_i64]).prop_map(
        |(command, [a, b], line, whole, range)| {
            let fields = match COMMANDS[command] {
                "view" if whole => json!({"path": a}),
                "view" => json!({"path": a, "view_range": range}),
                "create" => json!({"path": a, "file_text": b}),
                "str_replace" if whole => json!({"path": a, "old_str": b}),
                "str_replace" => json!({"path": a, "old_str": b, "new_str": a}),
                "insert" => json!({"path": a, "insert_line": line, "insert_text": b}),
                "delete" => json!({"path": a}),
                "rename" => json!({"old_path": a, "new_path": b}),
                name => panic!("what is a right {name}?"),
            };
            (command, fields.as_object().unwrap().clone())
        },
    )
}

/// Whether a schema can express the validity of a decoded command.
fn is_sound(command: &Command<'_>) -> bool {
    match command {
        Command::View { view_range: Some(range), .. } => matches!(range, ViewRange::Lines(..)),
        // No line has such a number: the handler reports it.
        Command::Insert { insert_line, .. } => (0..=9_007_199_254_740_991).contains(insert_line),
        _ => true,
    }
}

fn check(
    dialects: &[(Dialect, Vec<(&'static str, Validator)>)],
    command: usize,
    fields: &Map<String, Value>,
) {
    let name = COMMANDS[command];
    let decoded = Decoded::named(name, fields);
    let input = Value::Object(fields.clone());
    // The decoder ignores an unknown field, and no schema allows it.
    let definition = &tool_definitions(Dialect::JsonSchema, "", false).unwrap()[command];
    let properties = schema(definition)["properties"].as_object().unwrap();
    let known = fields.keys().all(|field| properties.contains_key(field));
    for (dialect, validators) in dialects {
        let admitted = validators[command].1.is_valid(&input);
        let strict = matches!(dialect, Dialect::OpenAi | Dialect::OpenAiChat);
        match &decoded.command {
            Ok(taken) if decoded.repairs.is_empty() && is_sound(taken) && known && !strict => {
                assert!(admitted, "{dialect:?} does not admit {name} {input}");
            }
            Ok(_) => {}
            Err(sentence) => {
                // Gemini and Anthropic do not support a maximum.
                let huge = fields.get("insert_line").is_some_and(|line| {
                    line.as_f64().is_some_and(|line| line.fract() == 0.0 && line.abs() > 9e15)
                });
                assert!(!admitted || huge, "{dialect:?} admits {name} {input}: {sentence}");
            }
        }
    }
}

#[test]
fn what_a_schema_admits_is_decoded_and_what_is_decoded_it_admits() {
    let dialects: Vec<_> =
        DIALECTS.into_iter().map(|(dialect, _)| (dialect, validators(dialect))).collect();
    proptest!(effort::cases(500), |(command in 0..COMMANDS.len(), fields in fields(), right in right())| {
        check(&dialects, command, &fields);
        let (command, right) = right;
        assert!(Decoded::named(COMMANDS[command], &right).command.is_ok());
        check(&dialects, command, &right);
    });
}

#[test]
fn one_tool_admits_every_command() {
    for (dialect, _) in DIALECTS {
        let one = validator(&tool_definition(dialect, false));
        let strict = matches!(dialect, Dialect::OpenAi | Dialect::OpenAiChat);
        proptest!(effort::cases(100), |((command, mut fields) in right())| {
            fields.insert("command".to_owned(), COMMANDS[command].into());
            if strict {
                // A strict function has every field; unused ones are null.
                for field in schema(&tool_definition(dialect, false))["required"].as_array().unwrap() {
                    fields.entry(field.as_str().unwrap()).or_insert(Value::Null);
                }
            }
            assert!(one.is_valid(&Value::Object(fields.clone())), "{dialect:?} {fields:?}");
            assert!(Decoded::of(&fields).command.is_ok(), "{fields:?}");
        });
        assert!(!one.is_valid(&json!({"command": "undo"})));
    }
}

#[test]
fn strict_functions_require_every_field_and_allow_no_other() {
    for dialect in [Dialect::OpenAi, Dialect::OpenAiChat] {
        let mut all = tool_definitions(dialect, "", false).unwrap();
        all.push(tool_definition(dialect, false));
        for definition in &all {
            let schema = schema(definition);
            let mut names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
            names.sort_unstable();
            let mut required: Vec<_> = schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            required.sort_unstable();
            assert_eq!(required, names);
            assert_eq!(schema["additionalProperties"], false);
        }
    }
    // Strict tool use of Anthropic's API supports no bounds of numbers or lengths.
    let custom = json!(tool_definitions(Dialect::AnthropicCustom, "", false).unwrap()).to_string();
    assert!(
        !["minimum", "maximum", "minItems", "maxItems"].iter().any(|word| custom.contains(word))
    );
}

#[test]
fn a_read_only_memory_offers_only_view() {
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let memory = Memory::with_store(std::sync::Arc::new(memdir::store::InProcess::new()), options);
    let six = memory.tool_definitions(Dialect::JsonSchema, "memory_").unwrap();
    assert_eq!(six.iter().map(|tool| &tool["name"]).collect::<Vec<_>>(), ["memory_view"]);
    let one = memory.tool_definition(Dialect::JsonSchema);
    assert_eq!(one["parameters"]["properties"]["command"]["enum"], json!(["view"]));
    assert!(one["parameters"]["properties"].get("file_text").is_none());
}

#[test]
fn names_are_those_that_hosts_take() {
    let tools = tool_definitions(Dialect::Gemini, "notes-", false).unwrap();
    assert_eq!(tools[2]["name"], "notes-str_replace");
    for wrong in ["ä", "a b", "a.b", "a/", &"x".repeat(33)] {
        assert!(
            matches!(tool_definitions(Dialect::Gemini, wrong, false), Err(Error::Config(_))),
            "{wrong}"
        );
    }
    for (dialect, word) in DIALECTS {
        assert_eq!(word.parse::<Dialect>().unwrap(), dialect);
    }
    assert!("OpenAI".parse::<Dialect>().is_err());
}

#[test]
fn a_whole_tool_use_block_is_understood() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let block = json!({
        "type": "tool_use", "id": "toolu_1", "name": "memory",
        "input": {"command": "create", "path": "/memories/a", "file_text": "one"},
    });
    assert!(!memory.execute(&block.to_string()).is_error);
    assert_eq!(memory.read("/memories/a").unwrap(), "one");
    // A command with a field of that name is a command.
    let command = json!({"type": "tool_use", "input": {}, "command": "view", "path": "/memories"});
    assert!(!memory.execute_value(&command).is_error);
    for other in [
        json!({"type": "tool_use"}),
        json!({"type": "tool_use", "input": "x"}),
        json!({"type": "text"}),
    ] {
        assert!(memory.execute_value(&other).is_error);
    }
}
