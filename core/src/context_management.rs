//! What becomes of a conversation that grows long: the `context_management` of a request to the Messages API.
//!
//! The bindings make it here, so that it is the same object in every language.

use serde_json::{Value, json};

/// The beta that a request with `context_management` needs.
pub const CONTEXT_MANAGEMENT_BETA: &str = "context-management-2025-06-27";

/// The beta that a request with compaction needs, in addition.
pub const COMPACTION_BETA: &str = "compact-2026-01-12";

/// What the API does with a long conversation of an agent with a memory. [`to_json`](Self::to_json) is the
/// `context_management` of a request.
///
/// When a conversation grows, the API clears old tool results from it, but none of the memory tool's: what the model has
/// noted stays in its sight. Shortly before, Claude is warned and can save what matters. With `compact_at`, the API also
/// summarises the conversation.
///
/// The request needs the beta [`CONTEXT_MANAGEMENT_BETA`], and [`COMPACTION_BETA`] with `compact_at`. The stale guard does
/// not know of a compaction: call [`Memory::forget_views`](crate::Memory::forget_views) when the content of a response has
/// a block of the type `compaction`.
///
/// ```
/// use memdir::ContextManagement;
///
/// let config = ContextManagement { clear_at: Some(50_000), ..ContextManagement::default() };
/// assert_eq!(config.to_json()["edits"][0]["exclude_tools"][0], "memory");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextManagement {
    /// At how many input tokens tool results are cleared; `None` clears none. Default: 100,000.
    pub clear_at: Option<u64>,
    /// How many of the last tool uses are kept. Default: 3.
    pub keep: u64,
    /// The fewest tokens that must be cleared, or nothing is: a cleared conversation is cached anew. Default: `None`, any
    /// number.
    pub clear_at_least: Option<u64>,
    /// Further tools whose results are never cleared. Default: none.
    pub exclude_tools: Vec<String>,
    /// At how many input tokens the conversation is summarised; `None` never does. Default: `None`.
    pub compact_at: Option<u64>,
}

impl Default for ContextManagement {
    fn default() -> Self {
        Self {
            clear_at: Some(100_000),
            keep: 3,
            clear_at_least: None,
            exclude_tools: Vec::new(),
            compact_at: None,
        }
    }
}

impl ContextManagement {
    /// The object that the API takes.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let tokens = |value: u64| json!({"type": "input_tokens", "value": value});
        let mut edits = Vec::new();
        if let Some(clear_at) = self.clear_at {
            let spared = self.exclude_tools.iter().map(String::as_str);
            let spared: Vec<_> = std::iter::once("memory").chain(spared).collect();
            let mut clear = json!({
                "type": "clear_tool_uses_20250919",
                "trigger": tokens(clear_at),
                "keep": {"type": "tool_uses", "value": self.keep},
                "exclude_tools": spared,
            });
            if let Some(least) = self.clear_at_least {
                clear["clear_at_least"] = tokens(least);
            }
            edits.push(clear);
        }
        if let Some(compact_at) = self.compact_at {
            edits.push(json!({"type": "compact_20260112", "trigger": tokens(compact_at)}));
        }
        json!({ "edits": edits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_management_clears_old_results_and_none_of_the_memory() {
        let clear = json!({
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 100_000},
            "keep": {"type": "tool_uses", "value": 3},
            "exclude_tools": ["memory"],
        });
        assert_eq!(ContextManagement::default().to_json(), json!({ "edits": [clear] }));
    }

    #[test]
    fn context_management_carries_all_that_is_given() {
        let config = ContextManagement {
            clear_at: Some(50_000),
            keep: 0,
            clear_at_least: Some(0),
            exclude_tools: vec!["web".to_owned()],
            compact_at: Some(1),
        };
        let clear = json!({
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "input_tokens", "value": 50_000},
            "keep": {"type": "tool_uses", "value": 0},
            "exclude_tools": ["memory", "web"],
            "clear_at_least": {"type": "input_tokens", "value": 0},
        });
        let compact =
            json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 1}});
        assert_eq!(config.to_json(), json!({ "edits": [clear, compact] }));
    }

    #[test]
    fn context_management_without_limits_has_no_edits() {
        let none = ContextManagement { clear_at: None, ..ContextManagement::default() };
        assert_eq!(none.to_json(), json!({ "edits": [] }));
    }
}
