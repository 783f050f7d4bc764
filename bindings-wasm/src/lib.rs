//! memdir as WebAssembly, for platforms without a native addon. It has the same low-level interface for JavaScript as the addon.
//! `bindings-node/ts/wasm.ts` is its other half.
//!
//! Everything that crosses the border is JSON or bytes. JavaScript calls one function with the name of an operation. The module
//! calls one function of JavaScript: for a field of an input, an edit, the progress of a task. All of it happens on one thread,
//! so a call has ended when it returns.
//!
//! There is no file system and no network, so the only stores are in the process.
#![cfg(target_family = "wasm")]

mod abi;
mod answer;
mod arguments;
mod border;
#[path = "../../bindings-node/src/build_profile.rs"]
mod build_profile;
mod engine;
mod errors;
mod handles;
mod input;
mod js_embedder;
mod js_hooks;
mod js_store;
mod memories;
#[path = "../../bindings-node/src/option_values.rs"]
mod option_values;
mod options;
mod progress;
mod results;
mod stores;
mod sync;
mod thrown;
#[path = "../../bindings-node/src/times.rs"]
mod times;
mod watch;
