//! Sensitive text: keeps keys, tokens, passwords, private keys and payment cards out of the memory, or
//! out of views.
//!
//! A built-in rule is a pattern that begins with a keyword, such as `ghp_`. It is only tried where its
//! keyword occurs, so text without keywords costs one pass over its bytes. A model may send any text,
//! and no text may take long, so nothing here backtracks. [`find`] is the whole engine; `edit` applies
//! it to commands.

mod assignment;
mod built_in;
mod cards;
mod context;
mod context_window;
mod custom_rules;
mod edit;
mod entropy;
#[cfg(test)]
mod examples;
mod keywords;
#[cfg(test)]
mod linear;
mod passphrase;
mod private_keys;
mod rule;
mod scan;
mod steps;
mod tokens;
mod words;

pub use custom_rules::SensitiveRule;
#[cfg(feature = "tracing")]
pub(crate) use edit::redact_details;
pub(crate) use edit::{
    check_content, check_path, check_splice, has_mark, redact_path, shown, shown_lines,
};
pub use scan::{Finding, find, redact};
#[cfg(any(test, fuzzing))]
pub use steps::count as count_steps;

use crate::error::{ConfigError, Error};

/// What happens to a command that would write sensitive text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SensitiveText {
    /// Nothing: the text is written as it is.
    #[default]
    Off,
    /// The command is refused and nothing is written. The model reads which rules found something, and
    /// on which lines.
    Reject,
    /// The text is written with `[REDACTED:rule]` in the place of each finding, and the reply says so.
    Redact,
}

/// The options of a memory about sensitive text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) mode: SensitiveText,
    /// Rules in addition to the built-in ones.
    pub(crate) rules: Vec<SensitiveRule>,
    /// Whether views hide it.
    pub(crate) on_view: bool,
}

impl std::str::FromStr for SensitiveText {
    type Err = Error;

    /// `"off"`, `"reject"` or `"redact"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "sensitive_text",
            &[("off", Self::Off), ("reject", Self::Reject), ("redact", Self::Redact)],
            word,
        )
    }
}

/// The ids of the built-in rules, each once, in the order in which they take precedence.
#[must_use]
pub fn rule_ids() -> Vec<&'static str> {
    let mut ids: Vec<&str> = Vec::new();
    for id in built_in::rules().map(|rule| rule.id).chain([cards::ID]) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}
