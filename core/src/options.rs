//! What a developer can set. Every language offers these under the same names.

use crate::error::Error;
use crate::policy::sensitive::{Sensitive, SensitiveRule};

/// How a [`Memory`](crate::Memory) behaves where the tool's documentation leaves a choice.
///
/// ```
/// use memdir::{Memory, OnExisting, Options};
///
/// let mut options = Options::default();
/// options.on_existing = OnExisting::Overwrite;
/// let memory = Memory::open("memory:", options).unwrap();
/// memory.create("/memories/a", "one").unwrap();
/// memory.create("/memories/a", "two").unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The most characters (Unicode scalar values) that one view returns before it is cut and
    /// says how to go on; `None` lifts the limit. Default 16,000, the figure in Claude's own
    /// description of the tool.
    pub max_view_chars: Option<usize>,
    /// The most bytes that one file may come to hold by a create, str_replace or insert; `None`
    /// lifts the limit. Default 16 MiB. Larger files made by somebody else can still be viewed.
    pub max_file_bytes: Option<u64>,
    /// The most bytes that an image (a file named `.png`, `.jpg` or `.jpeg`) may have to be shown, as
    /// a [`Content::Image`](crate::Content::Image). A larger one is an error. `None`, the default,
    /// shows no images: each is an error. [`CLAUDE_IMAGE_BYTES`](Self::CLAUDE_IMAGE_BYTES) is as
    /// much as Claude takes.
    pub max_image_bytes: Option<u64>,
    /// What `create` does about a file that is already there. Default: an error.
    pub on_existing: OnExisting,
    /// What an acknowledged command survives. Default: power loss.
    pub durability: Durability,
    /// Whether the whole memory can be viewed but not changed. A directory or database then has
    /// to be there; nothing is made or removed in a directory. Default: no.
    pub read_only: bool,
    /// The key under which a store keeps its files; `None`, the default, keeps them as they are.
    /// It is for what opens a store: [`Memory::open`](crate::Memory::open),
    /// [`open_store`](crate::open_store) and [`encrypt`](crate::store::encrypt).
    #[cfg(feature = "encryption")]
    pub encryption_key: Option<crate::store::EncryptionKey>,
    /// Whether a store that is made with an `encryption_key` encrypts names, too. Default: no. A
    /// store that is there already does as it was made, whatever this says.
    #[cfg(feature = "encryption")]
    pub encrypt_names: bool,
    /// What is done about keys, passwords and the like in text that a command would write.
    /// Default: nothing.
    pub sensitive: Sensitive,
    /// Rules of your own, beside the built-in ones; of several that find the same text the first
    /// gives its name. Default: none.
    pub sensitive_rules: Vec<SensitiveRule>,
    /// Whether a view shows `[redacted: rule]` in the place of sensitive text that a file holds; the
    /// file is not changed. Such a view reads the whole file into memory. Default: no.
    pub sensitive_on_view: bool,
}

impl Options {
    /// The largest image that Claude's API takes: 5 MiB, counted in base64, which makes four bytes
    /// of three.
    pub const CLAUDE_IMAGE_BYTES: u64 = 5 * 1024 * 1024 / 4 * 3;
}

impl Default for Options {
    fn default() -> Self {
        Self {
            max_view_chars: Some(16_000),
            max_file_bytes: Some(16 * 1024 * 1024),
            max_image_bytes: None,
            on_existing: OnExisting::Error,
            durability: Durability::Full,
            read_only: false,
            #[cfg(feature = "encryption")]
            encryption_key: None,
            #[cfg(feature = "encryption")]
            encrypt_names: false,
            sensitive: Sensitive::Off,
            sensitive_rules: Vec::new(),
            sensitive_on_view: false,
        }
    }
}

/// What `create` does about a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnExisting {
    /// Refuse, with the documented error (the reference behaviour).
    #[default]
    Error,
    /// Replace the whole content, atomically.
    Overwrite,
}

/// What an acknowledged command survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Loss of power: data and directory are flushed before the command is acknowledged.
    #[default]
    Full,
    /// A crash of the process; the operating system writes to disk when it sees fit.
    Relaxed,
}

impl std::str::FromStr for OnExisting {
    type Err = Error;

    /// `"error"` or `"overwrite"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "error" => Ok(Self::Error),
            "overwrite" => Ok(Self::Overwrite),
            _ => Err(Error::Config(format!(
                "on_existing must be \"error\" or \"overwrite\", got {word:?}"
            ))),
        }
    }
}

impl std::str::FromStr for Durability {
    type Err = Error;

    /// `"full"` or `"relaxed"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        match word {
            "full" => Ok(Self::Full),
            "relaxed" => Ok(Self::Relaxed),
            _ => Err(Error::Config(format!(
                "durability must be \"full\" or \"relaxed\", got {word:?}"
            ))),
        }
    }
}
