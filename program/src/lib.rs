//! The program `memdir`: the command line of the crate [`memdir`], with a server of the Model Context Protocol (`memdir mcp`)
//! and a page that shows a memory (`memdir serve`).
//!
//! It is one program for all packages: the binary of this crate and the scripts of the Python and npm packages all call
//! [`run`]. It uses the public API of `memdir` alone, so whatever it does another front end can do.
//! `docs/reference/command-line.md` documents its output and exit codes.
//!
//! # Cargo features
//!
//! All are on by default.
//!
//! | feature | brings |
//! |---|---|
//! | `mcp` | `memdir mcp`, a server of the Model Context Protocol |
//! | `page` | `memdir serve`, a page that shows a memory |
//! | `sqlite`, `postgres`, `object-storage` | these stores |
//! | `encryption` | stores that are encrypted |
#![deny(unsafe_code)]

mod cli;
#[cfg(any(feature = "mcp", feature = "page"))]
mod http_server;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(feature = "page")]
mod page;
mod typed_time;
mod with;

pub use cli::run;
