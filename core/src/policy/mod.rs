//! Policies: the rules that options add to those of the tool. Each has its own file or directory, and is off
//! unless its option is set.
//!
//! A policy only depends on its own settings and the store. It gets data of another policy as an argument.
//! `policies.rs` creates the policies from a memory's options and applies them in order.

pub mod expiry;
mod glob;
pub(crate) mod limits;
mod pattern;
pub mod sensitive;
pub(crate) mod stale_guard;
pub(crate) mod write_patterns;

pub use pattern::PathPattern;
pub use stale_guard::StaleGuard;
