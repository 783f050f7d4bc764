//! The store of [memdir](https://docs.rs/memdir) in a directory on this machine: [`LocalDirectory`].
//!
//! Users of memdir find it as `memdir::store::LocalDirectory`, and the examples use that name.
//!
//! `directory` defines and opens the store. `unix` and `windows` implement it; one of them is compiled. `turns` orders
//! the threads of a process, and `read` reads whole files.
#![cfg(any(unix, windows))]

mod directory;
mod read;
mod turns;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use directory::LocalDirectory;

/// The example of the README, run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
