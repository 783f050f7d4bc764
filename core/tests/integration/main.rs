//! The tests of the core's public interface. They are one program, so the linker runs once.
//!
//! One module per feature. `common` has the shared parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

#[macro_use]
mod common;

mod agreement;
mod check;
mod check_history;
mod copy;
mod copy_refusals;
mod encrypted;
mod encrypted_concurrency;
mod encrypted_format;
mod erase;
mod expiry;
mod faults;
mod features;
mod files;
mod folding;
mod front_ends;
mod history;
mod history_blame;
mod history_encrypted;
mod history_flushes;
mod history_grep;
mod history_killed;
mod history_litter;
mod history_log;
mod history_model;
mod history_mounts;
mod history_obstructed;
mod history_past;
mod history_processes;
mod history_raw_bytes;
mod history_redacted;
mod history_redaction;
mod history_remains;
mod history_restarts;
mod history_rewrite_races;
mod history_taken_along;
mod history_trim;
mod history_undo;
mod history_waiting;
mod history_walk;
mod hooks;
mod hooks_calls;
mod hooks_diff;
mod hooks_pinned;
mod hostile;
mod key_file;
mod local;
mod local_faults;
mod local_locks;
mod local_windows;
mod local_windows_real;
mod looking;
mod many_writers;
mod mounts;
mod mounts_moving;
mod mounts_races;
mod objects;
mod objects_faults;
mod objects_processes;
mod policies;
mod postgres;
mod postgres_access;
mod postgres_faults;
mod postgres_processes;
mod postgres_turns;
mod processes;
mod read_only;
mod readme;
mod replay;
mod reserved;
mod schema;
mod sensitive;
mod spans;
mod sqlite;
mod sqlite_processes;
mod stats;
mod system_calls;
