//! What a developer can forbid or change beyond what the tool itself says. One file each; every one
//! is off unless its option is set.
//!
//! A policy knows its own settings and the store, and of another policy only what it is handed. What makes
//! them of a memory's options, and asks them in their order, is `policies.rs`.

pub mod expiry;
mod glob;
pub(crate) mod limits;
mod pattern;
pub mod sensitive;
pub(crate) mod stale_guard;
pub(crate) mod write_patterns;

pub use pattern::PathPattern;
pub use stale_guard::StaleGuard;
