//! Policies that remember something between commands, or look at more than one file: under races, with
//! stores that fail or call back, and on every kind of store. What they say of single commands is in
//! the conformance cases.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "../common/clouds.rs"]
mod clouds;
#[path = "../common/mounting.rs"]
#[allow(dead_code, reason = "each test program uses its part")]
mod mounting;
#[path = "../common/postgres.rs"]
mod postgres;

mod limits;
mod seams;
mod stale_guard;
mod stores;
mod write_patterns;
