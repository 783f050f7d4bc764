//! Finds sensitive text: keys, tokens, passwords, private keys and payment cards.
//!
//! [`find`] is the engine. [`redact`] replaces its findings by marks, and [`Edit`] applies it to a change of a text. This
//! crate does not read or write anything but the given text.
//!
//! ```
//! use memdir_sensitive_text::{find, redact};
//!
//! let text = "staging: postgres://app:t7Kq-9zLw2@db/app";
//! let found = find(text, &[]);
//! assert_eq!((found[0].rule, &text[found[0].range.clone()]), ("url-password", "t7Kq-9zLw2"));
//! assert_eq!(redact(text, &found), "staging: postgres://app:[REDACTED:url-password]@db/app");
//! ```
//!
//! A built-in rule is a pattern that starts with a keyword, such as `ghp_`. It is tried only where its keyword occurs, so text
//! without keywords costs one pass over its bytes. The text may come from an attacker and must not take long, so no rule
//! backtracks.

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
mod introduced;
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

pub use built_in::rule_ids;
pub use custom_rules::{InvalidRule, SensitiveRule};
pub use edit::Edit;
pub use introduced::{Introduced, RedactedEdit};
pub use scan::{Finding, find, has_mark, mark, numbered, redact, redacted};
#[cfg(any(test, fuzzing))]
pub use steps::count as count_steps;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
