//! Policies: the rules that options add to those of the tool. Each has its own file or directory,
//! and is off unless its option is set.
//!
//! A policy knows its own settings and the store. It gets anything that it needs of another policy
//! as an argument. `policies.rs` makes the policies from a memory's options and applies them in
//! their order.

pub mod expiry;
mod glob;
pub(crate) mod limits;
mod pattern;
pub mod sensitive;
pub(crate) mod stale_guard;
pub(crate) mod write_patterns;

pub use pattern::PathPattern;
pub use stale_guard::StaleGuard;
