//! What tests share: how the program is run and on what, its clients, and what the tests of the core have, too.
#![allow(clippy::print_stderr, reason = "what is left out is said")]

#[cfg(unix)]
pub(crate) mod crowd;
#[cfg(unix)]
#[path = "../../../../core/tests/integration/common/effort.rs"]
pub(crate) mod effort;
#[cfg(unix)]
#[path = "../../../../core/tests/integration/common/postgres.rs"]
pub(crate) mod postgres;
#[cfg(unix)]
pub(crate) mod program;
#[cfg(unix)]
pub(crate) mod remembering;
#[cfg(unix)]
pub(crate) mod terminal;
