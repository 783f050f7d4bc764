//! What a developer can forbid or change beyond what the tool itself says. One file each; every one
//! is off unless its option is set.

pub mod hooks;
mod pattern;
pub mod sensitive;

use crate::options::Options;

pub use pattern::PathPattern;

/// The policies of one memory: what the options say, and what is remembered from one command to the
/// next. Clones of a memory share it.
#[derive(Debug, Default)]
pub(crate) struct Policies {
    pub(crate) options: Options,
}

impl Policies {
    pub(crate) fn new(options: Options) -> Self {
        Self { options }
    }
}
