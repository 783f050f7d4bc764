//! The store of [memdir](https://docs.rs/memdir) in a directory on this machine: [`LocalDirectory`].
//!
//! Users of memdir have it as `memdir::store::LocalDirectory`, and examples use that name.
//!
//! `directory` says what such a store is and opens it. `unix` and `windows` are its two halves, of which one is compiled.
//! `turns` lets the threads of a process go one after the other, and `read` reads whole files.
#![cfg(any(unix, windows))]

mod directory;
mod read;
mod turns;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use directory::LocalDirectory;

/// The example of the README, which runs with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
