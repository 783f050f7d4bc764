//! [`OnConflict`]: how a sync ends a conflict, which a function of the application may do.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use serde::Serialize;

use crate::{ConfigError, Error};

/// How a conflict ends: both memories changed a file in ways that cannot be merged.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum OnConflict {
    /// Both contents are kept: that of the first memory, and that of the second one in a copy whose name says where it is from.
    #[default]
    KeepBoth,
    /// The content of the first memory replaces the other one.
    A,
    /// The content of the second memory replaces the other one.
    B,
    /// Both files get the text that a function of your own returns.
    Merge(Arc<MergeFunction>),
}

/// Merges the contents of a file. Returns the text that both memories get, or `None` to keep both contents. After an error the sync ends.
///
/// It is called for texts only: if a content is not UTF-8, both are kept. The calls come one after another, in the thread of the sync, and
/// in a dry run as well. It may take long, and may use other memories, and both of these. If one of the files is changed meanwhile, it is
/// called again with the new contents.
pub type MergeFunction = dyn Fn(&SyncMerge) -> Result<Option<String>, MergeError> + Send + Sync;

/// The error of a [`MergeFunction`]. [`StoreError::Cancelled`](crate::StoreError::Cancelled) counts as a cancellation of the sync.
pub type MergeError = Box<dyn std::error::Error + Send + Sync>;

impl OnConflict {
    /// Ends conflicts by a function of your own.
    ///
    /// ```
    /// use memdir::{Memory, MemoryOptions, OnConflict, SyncOptions};
    /// use std::ops::ControlFlow;
    ///
    /// let laptop = Memory::open("memory:", MemoryOptions::default())?;
    /// let server = Memory::open("memory:", MemoryOptions::default())?;
    /// laptop.create("/memories/tea.md", "green\n")?;
    /// server.create("/memories/tea.md", "black\n")?;
    ///
    /// let mut options = SyncOptions::default();
    /// options.on_conflict = OnConflict::merge(|file| Ok(Some(format!("{}or {}", file.a, file.b))));
    /// memdir::sync(&laptop, &server, &options, &mut |_| ControlFlow::Continue(()))?;
    /// assert_eq!(server.read("/memories/tea.md")?, "green\nor black\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn merge<F>(function: F) -> Self
    where
        F: Fn(&SyncMerge) -> Result<Option<String>, MergeError> + Send + Sync + 'static,
    {
        Self::Merge(Arc::new(function))
    }

    pub(super) fn function(&self) -> Option<&MergeFunction> {
        match self {
            Self::Merge(function) => Some(&**function),
            Self::KeepBoth | Self::A | Self::B => None,
        }
    }

    /// Whether the other content is kept in a copy.
    pub(super) fn keeps_both(&self) -> bool {
        matches!(self, Self::KeepBoth | Self::Merge(_))
    }
}

impl fmt::Debug for OnConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeepBoth => "KeepBoth",
            Self::A => "A",
            Self::B => "B",
            Self::Merge(_) => "Merge(..)",
        })
    }
}

impl std::str::FromStr for OnConflict {
    type Err = Error;

    /// Parses `"keep-both"`, `"a"` or `"b"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        let words = [("keep-both", Self::KeepBoth), ("a", Self::A), ("b", Self::B)];
        ConfigError::parse_word("on_conflict", &words, word)
    }
}

/// A text file that both memories changed in ways that cannot be merged.
///
/// A function of your own gets it, and returns the text that both memories get.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SyncMerge {
    /// The file.
    pub path: MemoryPath,
    /// The text of the first memory.
    pub a: String,
    /// The text of the second memory.
    pub b: String,
    /// The text that both memories last agreed on; `None` if it is not known. They may have agreed through a third memory, or it was larger
    /// than 1 MiB.
    pub base: Option<String>,
    /// When the file of the first memory was last written, if its store keeps times.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub modified_a: Option<SystemTime>,
    /// When the file of the second memory was last written, if its store keeps times.
    #[serde(serialize_with = "memdir_store::time::serialize_optional")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<memdir_store::schema::Time>"))]
    pub modified_b: Option<SystemTime>,
}
