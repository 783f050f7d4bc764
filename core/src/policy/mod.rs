//! What a developer can forbid or change beyond what the tool itself says. One file each; every one
//! is off unless its option is set.

pub mod expiry;
mod glob;
pub(crate) mod limits;
mod pattern;
pub mod sensitive;
pub(crate) mod stale_guard;
pub(crate) mod write_patterns;

use crate::options::Options;

use limits::Usage;
pub use pattern::PathPattern;
use stale_guard::Seen;
pub use stale_guard::StaleGuard;

/// The policies of one memory: what the options say, and what is remembered from one command to the
/// next. Clones of a memory share it.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) options: Options,
    /// What `expire_after` does before the first command.
    pub(crate) first: expiry::First,
    /// What is known of how much the tree holds.
    pub(crate) usage: Usage,
    /// What was last shown or written of each file.
    pub(crate) seen: Seen,
}

impl Policies {
    pub(crate) fn new(options: Options) -> Self {
        let seen = Seen::new(options.stale_guard);
        Self { options, seen, ..Self::default() }
    }
}
