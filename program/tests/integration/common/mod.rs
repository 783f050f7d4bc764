//! What tests share: how the program is run and on what, its clients, and what the tests of the core have, too.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

#[cfg(unix)]
pub(crate) mod crowd;
#[cfg(all(unix, feature = "encryption", feature = "sqlite"))]
pub(crate) mod import;
#[cfg(unix)]
pub(crate) mod program;
#[cfg(unix)]
pub(crate) mod remembering;
#[cfg(unix)]
pub(crate) mod terminal;

#[cfg(unix)]
pub(crate) use memdir_test_support::{effort, postgres};
