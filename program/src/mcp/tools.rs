//! The six commands as tools, and the search.

use data_encoding::BASE64;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};

use super::served::Served;
use memdir::command::{COMMANDS, Dialect, SearchCall, search_tool_definition};
use memdir::reply::{Content, Reply};
use memdir::store::OnExisting;
use memdir::{Error, Memory};

/// The name of the search, without the prefix.
pub(super) const SEARCH: &str = "search";

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
        tools.push(tool((SEARCH, &search_tool_definition(Dialect::JsonSchema, prefix)?)));
    }
    Ok(tools)
}

/// Executes a call of the tool `search`.
pub(super) fn search(memory: &Memory, arguments: &JsonObject) -> CallToolResult {
    result(memory.execute_search(SearchCall::of(arguments)))
}

/// Hints with which a host describes a command to its user and decides whether to ask for confirmation.
fn annotations(command: &str, overwrites: bool) -> ToolAnnotations {
    let (title, destructive, idempotent) = match command {
        "view" => ("View memory", false, true),
        SEARCH => ("Search memory", false, true),
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
        Some(matches!(command, "view" | SEARCH)),
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
