//! memdir behind a C interface, for languages that can call C and have no binding of their own.
//!
//! Everything that crosses the border is a number, a flag, or a text that ends with a NUL byte. Structured values are
//! JSON, which every language reads. `memdir.h` is generated from `abi.rs`; docs/languages/c.md is the manual.
//!
//! There is no logic here: texts become arguments of the core, and its answers become texts.

mod abi;
mod arguments;
mod border;
mod call;
mod embedder;
mod failure;
mod handles;
mod hooks;
mod host;
mod merger;
mod operations;
mod own_error;
mod own_store;
mod places;
mod reply;
mod request;
mod results;
mod sync_hooks;
#[cfg(feature = "testing")]
mod testing;
mod watch;

pub use abi::*;
pub use host::memdir_host;
