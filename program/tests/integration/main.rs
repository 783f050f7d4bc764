//! The tests of the program `memdir`, which they run like any user. They are one program, so the linker runs once.
//!
//! One module per command, or per topic that several commands share. `common` has the shared parts.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod common;

mod cli;
mod cli_archive;
mod cli_conflicts;
mod cli_edit;
mod cli_encrypted;
mod cli_files;
mod cli_git;
mod cli_help;
mod cli_history;
mod cli_history_copy;
mod cli_import;
mod cli_import_tar;
mod cli_mounts;
mod cli_obstructed;
mod cli_streams;
mod cli_sync;
mod cli_sync_watch;
mod cli_terminal;
mod cli_watch;
mod cli_windows;
mod features;
mod mcp;
mod page;
mod page_limits;
