//! Shared parts of the tests: running the program, its stores and clients, and modules from the tests of the core.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

#[cfg(unix)]
pub(crate) mod crowd;
#[cfg(all(unix, feature = "encryption", feature = "sqlite"))]
pub(crate) mod import;
#[cfg(unix)]
pub(crate) mod output;
#[cfg(unix)]
pub(crate) mod program;
#[cfg(unix)]
pub(crate) mod remembering;
#[cfg(unix)]
pub(crate) mod terminal;

#[cfg(unix)]
pub(crate) use memdir_test_support::{effort, postgres};
