//! The `context_management` of a request to the Messages API: how the API shortens a long conversation.
//!
//! It is built here, so all bindings send the same object.

use serde_json::{Value, json};

/// The beta header for a request with `context_management`.
pub const CONTEXT_MANAGEMENT_BETA: &str = "context-management-2025-06-27";

/// The additional beta header for a request with compaction.
pub const COMPACTION_BETA: &str = "compact-2026-01-12";

/// Settings for long conversations of an agent with a memory. [`to_json`](Self::to_json) returns the
/// `context_management` of a request.
///
/// When a conversation grows, the API clears old tool results from it, except the results of the memory tool:
/// the model's notes stay in its context. Shortly before, Claude gets a warning, so it can save important
/// facts. With `compact_at`, the API also summarises the conversation.
///
/// The request needs the beta [`CONTEXT_MANAGEMENT_BETA`], and also [`COMPACTION_BETA`] with `compact_at`. The
/// stale guard cannot detect a compaction: call [`Memory::forget_views`](crate::Memory::forget_views) when the
/// content of a response has a block of the type `compaction`.
///
/// ```
/// use memdir::ContextManagement;
///
/// let config = ContextManagement { clear_at: Some(50_000), ..ContextManagement::default() };
/// assert_eq!(config.to_json()["edits"][0]["exclude_tools"][0], "memory");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextManagement {
    /// The number of input tokens at which tool results are cleared. `None` clears none. Default: 100,000.
    pub clear_at: Option<u64>,
    /// The number of most recent tool uses to keep. Default: 3.
    pub keep: u64,
    /// The fewest tokens to clear. If less can be cleared, nothing is cleared, because clearing invalidates the
    /// cached conversation. Default: `None`, any number.
    pub clear_at_least: Option<u64>,
    /// Further tools whose results are never cleared. Default: empty.
    pub exclude_tools: Vec<String>,
    /// The number of input tokens at which the conversation is summarised. `None` never summarises. Default:
    /// `None`.
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
    /// Returns the object for the API.
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
