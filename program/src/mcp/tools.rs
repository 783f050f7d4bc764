//! The six commands as tools, and the search.

use data_encoding::BASE64;
use std::fmt::Write as _;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::json;

use super::served::Served;
use memdir::Error;
use memdir::command::{COMMANDS, Dialect};
use memdir::reply::{Content, Reply};
use memdir::store::OnExisting;
use memdir::{Memory, SearchPassage, SearchResults};

/// The name of the search, without the prefix.
pub(super) const SEARCH: &str = "search";

/// The most files in an answer to a search.
const MOST_HITS: usize = 5;

/// The tools of a memory, in the order of the commands. If nothing can be changed, only the tool that changes nothing.
pub(super) fn tools(served: &Served, prefix: &str) -> Result<Vec<Tool>, Error> {
    let memory = &served.memory;
    let overwrites = memory.options().on_existing == OnExisting::Overwrite;
    let definitions = memory.tool_definitions(Dialect::JsonSchema, prefix)?;
    let tool = |(command, definition): (&str, &serde_json::Value)| {
        let text = |key: &str| definition[key].as_str().unwrap_or_default().to_owned();
        let schema: JsonObject = definition["parameters"].as_object().cloned().unwrap_or_default();
        Tool::new(text("name"), text("description"), schema)
            .with_annotations(annotations(command, overwrites))
    };
    let offered = if served.is_read_only() { 1 } else { definitions.len() };
    let mut tools: Vec<Tool> =
        COMMANDS.into_iter().zip(&definitions[..offered]).map(tool).collect();
    if served.has_search {
        tools.push(search_tool(prefix));
    }
    Ok(tools)
}

fn search_tool(prefix: &str) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": {
                "type": "string",
                "description": "The question, or its words in any form. \"green tea\" in quotes must occur exactly, -coffee must not occur.",
            },
            "path": {
                "type": "string",
                "description": "A file or directory to search, such as /memories/projects. Everything is searched without it.",
            },
        },
        "required": ["query"],
        "additionalProperties": false,
    });
    let about = "Finds the memory files that answer a question best, with their best passages. Lines have the numbers that a view shows.";
    let schema: JsonObject = schema.as_object().cloned().unwrap_or_default();
    let hints = ToolAnnotations::from_raw(
        Some("Search memory".to_owned()),
        Some(true),
        Some(false),
        Some(true),
        Some(false),
    );
    Tool::new(format!("{prefix}{SEARCH}"), about, schema).with_annotations(hints)
}

/// Answers a call of the tool `search`.
pub(super) fn search(memory: &Memory, arguments: &JsonObject) -> CallToolResult {
    let text = |name: &str, default: Option<&str>| match (arguments.get(name), default) {
        (Some(serde_json::Value::String(text)), _) => Ok(text.clone()),
        (None | Some(serde_json::Value::Null), Some(default)) => Ok(default.to_owned()),
        _ => Err(format!("{name} must be a string")),
    };
    let (query, path) = match (text("query", None), text("path", Some("/memories"))) {
        (Ok(query), Ok(path)) => (query, path),
        (Err(wrong), _) | (_, Err(wrong)) => {
            return CallToolResult::error(vec![ContentBlock::text(wrong)]);
        }
    };
    let found = memory.search(&query, &path, MOST_HITS);
    result(Reply::from(found.map(|results| Content::Text(found_text(&results)))))
}

/// The files and passages that a search found, for a model.
fn found_text(results: &SearchResults) -> String {
    let mut text = String::new();
    for hit in &results.hits {
        let _ = writeln!(text, "{}", hit.path);
        let mut passages: Vec<&SearchPassage> = hit.passages.iter().collect();
        passages.sort_by_key(|passage| passage.first_line);
        for passage in passages {
            for (line, number) in passage.text.split('\n').zip(passage.first_line..) {
                let _ = writeln!(text, "{number:>6}\t{}", line.trim_end_matches('\r'));
            }
        }
    }
    if results.hits.is_empty() {
        text.push_str("No file has these words.\n");
    }
    if results.files_left_out > 0 {
        let _ = writeln!(text, "{} files were not searched.", results.files_left_out);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Hints with which a host describes a command to its user and decides whether to ask for confirmation.
fn annotations(command: &str, overwrites: bool) -> ToolAnnotations {
    let (title, destructive, idempotent) = match command {
        "view" => ("View memory", false, true),
        "create" => ("Create a memory file", overwrites, overwrites),
        "str_replace" => ("Replace text in a memory file", true, false),
        "insert" => ("Insert lines into a memory file", false, false),
        // A second call has no further effect.
        "delete" => ("Delete from memory", true, true),
        "rename" => ("Rename in memory", true, false),
        // For a new command, assume the worst.
        other => (other, true, false),
    };
    ToolAnnotations::from_raw(
        Some(title.to_owned()),
        Some(command == "view"),
        Some(destructive),
        Some(idempotent),
        Some(false),
    )
}

/// The command of the tool `name`.
pub(super) fn command_of<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    name.strip_prefix(prefix).filter(|command| COMMANDS.contains(command))
}

/// Converts a reply to the result of a call.
pub(super) fn result(reply: Reply) -> CallToolResult {
    let content = vec![match reply.content {
        Content::Image { media_type, bytes } => {
            ContentBlock::image(BASE64.encode(&bytes), media_type)
        }
        content => ContentBlock::text(content.to_string()),
    }];
    if reply.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) }
}
