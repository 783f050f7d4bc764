//! The Node binding: converts between JavaScript's values and the core. The logic is in the core.
//!
//! A call is decoded on JavaScript's thread (`input`), executed on one of our threads
//! (`thread_pool`), and answered through a promise (`answer`), so the event loop never waits for a
//! disk. If there are hooks, JavaScript runs them in between (`call`).
//!
//! The public interface is written in TypeScript, in `ts/`, on top of the classes here.
#![allow(clippy::needless_pass_by_value, reason = "what the macro hands over is owned")]

mod answer;
mod arguments;
mod build_profile;
mod call;
mod cancel;
mod check;
mod cli;
mod context_management;
mod contract;
mod copy;
mod engine;
mod entry;
mod errors;
mod files;
mod history;
mod image;
mod input;
mod js_embedder;
mod js_hooks;
mod js_merger;
mod js_store;
mod key_file;
mod namespaces;
mod native_store;
mod option_values;
mod options;
mod past;
mod progress;
mod results;
mod stats;
mod store_request;
mod sync;
mod thread_pool;
mod thrown;
mod times;
mod watch;
