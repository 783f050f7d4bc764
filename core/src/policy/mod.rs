//! Policies: what a developer forbids or changes beyond what the tool's documentation says.
//!
//! A policy stands before a handler's write or after its read. Each is one file or directory, asks
//! the options whether it is on, and could be left out without the rest noticing.

pub mod sensitive;
