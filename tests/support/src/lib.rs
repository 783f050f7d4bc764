//! Helpers for the tests of several crates: the amount of work, and real servers for the stores on
//! servers.
#![allow(missing_docs, reason = "it is for tests of this workspace only")]

#[cfg(all(unix, feature = "clouds"))]
pub mod clouds;
pub mod effort;
#[cfg(unix)]
pub mod postgres;
