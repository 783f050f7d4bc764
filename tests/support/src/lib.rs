//! What the tests of several crates share: how much a test does, and real servers for stores on servers.
#![allow(missing_docs, reason = "it is for tests of this workspace only")]

#[cfg(all(unix, feature = "clouds"))]
pub mod clouds;
pub mod effort;
#[cfg(unix)]
pub mod postgres;
