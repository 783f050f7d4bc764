//! The program `memdir`: the command line of the crate [`memdir`], with a server for the Model Context Protocol (`memdir mcp`)
//! and a web page that shows a memory (`memdir serve`).
//!
//! All packages share this program: the binary of this crate and the scripts of the Python and npm packages all call
//! [`run`]. It uses only the public API of `memdir`, so any other front end can do the same.
//! `docs/reference/command-line.md` documents its output and exit codes.
//!
//! # Cargo features
//!
//! All features are on by default.
//!
//! | feature | adds |
//! |---|---|
//! | `mcp` | `memdir mcp`, a server for the Model Context Protocol |
//! | `page` | `memdir serve`, a web page that shows a memory |
//! | `sqlite`, `postgres`, `object-storage` | these stores |
//! | `encryption` | encrypted stores |
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
