//! The memory directory for agents that use Claude's memory tool (`memory_20250818`).
//!
//! The tool is client-side: the model asks for `view`, `create`, `str_replace`, `insert`, `delete`
//! and `rename` on paths under `/memories`, and the developer's own program carries them out.
//! [`Memory`] does that exactly: in the words of the tool's documentation, safely whatever the
//! paths are, and on any [`Store`].
//!
//! ```
//! use memdir::{Memory, Options};
//!
//! let memory = Memory::open("memory:", Options::default())?;
//! let reply = memory.execute(r#"{"command": "view", "path": "/memories/../etc/passwd"}"#);
//! assert!(reply.is_error);
//! assert_eq!(
//!     reply.content.as_text(),
//!     Some("Path /memories/../etc/passwd would escape /memories directory"),
//! );
//! # Ok::<(), memdir::Error>(())
//! ```
//!
//! The way of a command is one file per arrow, downward only: [`command`] decodes, [`path`]
//! validates, a handler decides, a [`store`] keeps, [`text`] formats, [`reply`] says.
#![deny(unsafe_code)]

#[cfg(feature = "cli")]
pub mod cli;
pub mod command;
pub mod copy;
pub mod hooks;
pub mod path;
pub mod policy;
pub mod reply;
pub mod store;
pub mod text;
pub mod value;

mod call;
mod cancel;
mod check;
mod error;
mod handlers;
mod image;
mod memory;
mod options;
mod policies;
mod repair;
mod trace;

pub use call::Call;
pub use cancel::Cancellation;
pub use check::{Checked, check};
pub use command::Command;
pub use copy::{CopyError, copy};
pub use error::{Error, HookError};
pub use hooks::{Event, HookDecision, Hooks, Outcome};
pub use memory::Memory;
pub use options::Options;
pub use path::MemoryPath;
pub use policy::expiry::Expired;
pub use reply::{Content, Reply};
#[cfg(feature = "encryption")]
pub use store::EncryptionKey;
pub use store::{Durability, OnExisting, Store, StoreError, open_existing_store, open_store};
