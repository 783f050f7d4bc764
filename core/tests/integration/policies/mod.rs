//! Policies that keep state between commands, or involve more than one file: with races, with stores
//! that fail or call back, and on every kind of store. The conformance cases cover their effect on single commands.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

mod limits;
mod seams;
mod stale_guard;
mod write_patterns;
