//! The search as a tool for a model: its definition, its input, and its answer.
#![cfg(feature = "search")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use memdir::command::{Dialect, SearchCall, TOOL_USE, search_tool_definition};
use memdir::value::Value as Given;
use memdir::{Error, ErrorKind, Memory, MemoryOptions, Reply};
use serde_json::{Value, json};

fn memory() -> Memory {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    memory.create("/memories/anna.md", "# Anna\r\n\r\n- prefers green tea\r\n").unwrap();
    memory.create("/memories/tea.md", "It is kept in the kitchen.\n").unwrap();
    memory
}

fn ask(memory: &Memory, input: &Value) -> Reply {
    memory.execute_search(SearchCall::parse(input.to_string()))
}

fn refused(input: &Value) -> String {
    let reply = ask(&memory(), input);
    assert!(reply.is_error && reply.cause.is_none(), "{reply:?}");
    reply.content.into_text()
}

#[test]
fn a_search_for_a_model_shows_paths_and_numbered_lines() {
    let anna = "/memories/anna.md\n     1\t# Anna\n     2\t\n     3\t- prefers green tea";
    let tea = "/memories/tea.md\n     1\tIt is kept in the kitchen.";
    let both = format!("{anna}\n{tea}");
    let memory = memory();
    let found = |input: Value| {
        let reply = ask(&memory, &input);
        assert!(!reply.is_error && reply.kind.is_none(), "{reply:?}");
        reply.content.into_text()
    };
    assert_eq!(found(json!({"query": "Which tea is preferred?"})), both);
    assert_eq!(found(json!({"query": "preferred tea", "limit": 1})), anna);
    assert_eq!(found(json!({"query": "tea", "path": "/memories/tea.md"})), tea);
    assert_eq!(found(json!({"query": "coffee"})), "No file has these words.");
    let block = json!({"type": TOOL_USE, "id": "a", "input": {"query": "prefers", "limit": 1.0}});
    assert_eq!(found(block), anna);
    for limit in [json!(null), json!("2"), json!(20)] {
        let input = json!({"query": "preferred tea", "path": null, "limit": limit, "more": 1});
        assert_eq!(found(input), both);
    }
}

#[test]
fn an_answer_has_five_files_and_at_most_twenty() {
    let memory = memory();
    for number in 0..30 {
        memory.create(&format!("/memories/{number}.md"), "pots").unwrap();
    }
    let count = |input: Value| {
        let text = ask(&memory, &input).content.into_text();
        text.lines().filter(|line| line.starts_with("/memories/")).count()
    };
    assert_eq!(count(json!({"query": "pots"})), 5);
    assert_eq!(count(json!({"query": "pots", "limit": 20})), 20);
}

#[test]
fn wrong_input_is_refused_with_a_sentence() {
    for (input, sentence) in [
        (json!({}), "Error: Missing `query` parameter for the `search` command: expected a string"),
        (
            json!({"query": 5}),
            "Error: Invalid `query` parameter: expected a string, got the number 5",
        ),
        (
            json!({"query": " "}),
            "Error: Invalid `query` parameter: expected words to search for, got the string \" \"",
        ),
        (
            json!({"query": "tea", "path": []}),
            "Error: Invalid `path` parameter: expected a string, got the list []",
        ),
        (
            json!({"query": "tea", "path": "/etc"}),
            "Path must start with /memories, got: /etc. Did you mean /memories/etc?",
        ),
        (
            json!({"query": "tea", "path": ""}),
            "Path must start with /memories, got: an empty path. Did you mean /memories?",
        ),
        (
            json!({"query": "tea", "path": "/memories/../etc"}),
            "Path /memories/../etc would escape /memories directory",
        ),
        (
            json!({"query": "tea", "path": "/memories/no"}),
            "The path /memories/no does not exist. Please provide a valid path.",
        ),
        (json!([1]), "Error: The input should be an object with `query`, got the list [1]"),
    ] {
        assert_eq!(refused(&input), sentence, "{input}");
    }
    for limit in
        [json!(0), json!(-1), json!(21), json!(1.5), json!("many"), json!([1]), json!(1e300)]
    {
        let said = refused(&json!({"query": "tea", "limit": limit}));
        let expected = "Error: Invalid `limit` parameter: expected an integer from 1 to 20, got ";
        assert!(said.starts_with(expected), "{said}");
    }
    for json in ["{", "\u{0}", ""] {
        let reply = memory().execute_search(SearchCall::parse(json));
        assert!(reply.content.into_text().starts_with("Error: The input is not valid JSON: "));
        assert_eq!(reply.kind, Some(ErrorKind::Invalid));
    }
    let binary = memory().execute_search(SearchCall::parse([0xff]));
    assert!(binary.is_error);
    let object = SearchCall::not_an_object(&Given::Integer(1));
    assert!(memory().execute_search(object).is_error);
}

#[test]
fn a_search_says_how_many_files_it_left_out() {
    let mut options = MemoryOptions::default();
    options.search_max_bytes = Some(0);
    let memory = Memory::open("memory:", options).unwrap();
    memory.create("/memories/a.md", "tea").unwrap();
    let said = |memory: &Memory| ask(memory, &json!({"query": "tea"})).content.into_text();
    assert_eq!(said(&memory), "No file has these words.\n1 file was not searched.");
    memory.create("/memories/b.md", "tea").unwrap();
    assert_eq!(said(&memory), "No file has these words.\n2 files were not searched.");
}

#[test]
fn the_definition_is_of_each_dialect() {
    let schema = |dialect| {
        let tool = search_tool_definition(dialect, "memory_").unwrap();
        let tool = tool.get("function").cloned().unwrap_or(tool);
        assert_eq!(tool["name"], "memory_search");
        let input = tool.get("parameters").or_else(|| tool.get("input_schema")).unwrap().clone();
        let names: Vec<_> = input["properties"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(names, ["query", "path", "limit"]);
        input
    };
    let open = schema(Dialect::JsonSchema);
    assert_eq!(open["required"], json!(["query"]));
    assert_eq!(open["properties"]["limit"]["maximum"], 20);
    for strict in [Dialect::OpenAi, Dialect::OpenAiChat] {
        let strict = schema(strict);
        assert_eq!(strict["required"], json!(["query", "path", "limit"]));
        assert_eq!(strict["properties"]["limit"]["type"], json!(["integer", "null"]));
    }
    assert!(!schema(Dialect::AnthropicCustom).to_string().contains("maximum"));
    assert!(schema(Dialect::Gemini).get("additionalProperties").is_none());
    assert_eq!(search_tool_definition(Dialect::JsonSchema, "").unwrap()["name"], "search");
    let wrong = search_tool_definition(Dialect::JsonSchema, "ä");
    assert!(matches!(wrong, Err(Error::Config(_))));
}
