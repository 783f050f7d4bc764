//! memdir for Swift and Kotlin: the objects that UniFFI carries across, and no logic.

/// The memory directory of an agent.
#[derive(uniffi::Object, Debug)]
pub struct Memory(memdir::Memory);

/// The answer to one tool call.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// What the model is shown.
    pub content: String,
    /// Whether the command failed: goes into the `is_error` of the `tool_result`.
    pub is_error: bool,
}

/// Why a memory could not be opened.
#[derive(uniffi::Error, thiserror::Error, Debug)]
#[uniffi::export(Display)]
pub enum MemdirError {
    /// The store's address or an option is wrong.
    #[error("{reason}")]
    Config {
        /// What is wrong with it.
        reason: String,
    },
    /// The store is broken or out of reach.
    #[error("{reason}")]
    Store {
        /// The details, for the developer.
        reason: String,
    },
}

#[uniffi::export]
impl Memory {
    /// Opens the store that `store` names: a directory, or `memory:` for one in this process.
    #[uniffi::constructor]
    pub fn new(store: &str) -> Result<Self, MemdirError> {
        memdir::Memory::open(store, memdir::Options::default()).map(Self).map_err(|error| {
            let reason = error.to_string();
            match error {
                memdir::Error::Store(_) => MemdirError::Store { reason },
                _ => MemdirError::Config { reason },
            }
        })
    }

    /// Executes one tool call, given as the JSON text of its `input`.
    ///
    /// Never throws: what the model did wrong is an answer with `is_error`.
    #[must_use]
    pub fn execute(&self, json: &str) -> Reply {
        let reply = self.0.execute(json);
        Reply { content: reply.content.into_text(), is_error: reply.is_error }
    }
}

uniffi::setup_scaffolding!();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_executed_and_a_mistake_is_an_answer() {
        let memory = Memory::new("memory:").unwrap();
        let created =
            memory.execute(r#"{"command":"create","path":"/memories/a.md","file_text":"one\n"}"#);
        assert_eq!(created.content, "File created successfully at: /memories/a.md");
        assert!(!created.is_error);
        let again =
            memory.execute(r#"{"command":"create","path":"/memories/a.md","file_text":"two\n"}"#);
        assert_eq!(again.content, "Error: File /memories/a.md already exists");
        assert!(again.is_error);
        assert!(memory.execute("not JSON").is_error);
        assert!(matches!(Memory::new("nosuch://x"), Err(MemdirError::Config { .. })));
    }
}
