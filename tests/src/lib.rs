//! The conformance cases, and their runner in Rust.
//!
//! `cases/*.json` specify the replies of every memdir, in every language and on every store. `README.md`
//! describes the format. This crate reads them ([`cases`], [`texts`], [`hooks`]), runs them on a store
//! ([`runner`]), and holds the sentences of the tool's documentation ([`documented`]) that the cases must
//! cover. Its tests are the Rust runners.

pub mod cases;
pub mod documented;
pub mod hooks;
pub mod runner;
pub mod texts;
pub mod tree;
pub mod upkeep;
