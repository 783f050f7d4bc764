//! Policies that remember something between commands, or look at more than one file: under races, with
//! stores that fail or call back, and on every kind of store. What they say of single commands is in
//! the conformance cases.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

mod limits;
mod seams;
mod stale_guard;
mod write_patterns;
