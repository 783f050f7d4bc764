//! memdir for Swift and Kotlin: the types that UniFFI exports. The logic is in the core.
//!
//! The doc comments here become the documentation of both languages, so they name neither language.
//! Features of one language (default arguments, coroutines, `async`) are in `kotlin/` and `swift/`.

mod border;
mod built_in_store;
mod cancel;
mod changes;
mod check;
mod contract;
mod copy;
mod embedder;
mod error;
mod expiry;
mod files;
mod foreign_store;
mod history;
mod hooks;
mod key_file;
mod memory;
mod mounts;
mod number;
mod option_values;
mod options;
mod past;
mod pending;
mod rekey;
mod reply;
mod results;
mod stats;
mod store;
mod swap;
mod sync;
mod time;
mod watch;

pub use border::{MemdirDuration, MemdirKey, MemdirText, MemdirTime};
pub use built_in_store::open_store;
pub use cancel::Cancellation;
pub use changes::{ChangeListener, Subscription};
pub use check::check;
pub use contract::{StoreFactory, check_contract};
pub use copy::{CopyWatch, copy};
pub use embedder::{Embedder, EmbedderError};
pub use error::{MemdirError, cancelled_reply, closed_reply, no_thread_reply};
pub use expiry::ExpiryWatch;
pub use files::Dialect;
pub use hooks::{Command, HookCall, HookDecision, HookError, MemoryHooks};
pub use key_file::key_from_file;
pub use memory::Memory;
pub use mounts::{Mount, open_mounts};
pub use options::{Durability, MemoryOptions, OnExisting};
pub use pending::PendingCall;
pub use rekey::{rekey, rekey_store};
pub use reply::{Reply, ReplyImage, image_type};
pub use results::*;
pub use store::{Edit, Store, StoreError};
pub use sync::{OnConflict, SyncMerger, SyncWatch};
pub use watch::Watch;

uniffi::setup_scaffolding!("memdir");
