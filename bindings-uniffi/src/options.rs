//! What a developer can set.

use crate::error::MemdirError;

/// How a memory behaves where the tool's documentation leaves a choice.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The most characters (Unicode scalar values) that one view returns before it is cut and
    /// says how to go on; null lifts the limit. Default 16,000.
    #[uniffi(default = Some(16000))]
    pub max_view_chars: Option<i64>,
    /// The most bytes that one file may come to hold by a create, str_replace or insert; null
    /// lifts the limit. Default 16 MiB.
    #[uniffi(default = Some(16777216))]
    pub max_file_bytes: Option<i64>,
    /// What `create` does about a file that is already there; null is the default, an error.
    #[uniffi(default = None)]
    pub on_existing: Option<OnExisting>,
    /// What an acknowledged command survives; null is the default, power loss.
    #[uniffi(default = None)]
    pub durability: Option<Durability>,
    /// Whether the whole memory can be viewed but not changed. A directory then has to be there, and
    /// nothing is made in it. Default no.
    #[uniffi(default = false)]
    pub read_only: bool,
}

/// What `create` does about a file that is already there.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    /// Refuse, with the documented error.
    Error,
    /// Replace the whole content, atomically.
    Overwrite,
}

/// What an acknowledged command survives.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Loss of power: data and directory are flushed before the command is acknowledged.
    Full,
    /// A crash of the process; the operating system writes to disk when it sees fit.
    Relaxed,
}

impl TryFrom<MemoryOptions> for memdir::Options {
    type Error = MemdirError;

    fn try_from(given: MemoryOptions) -> Result<Self, MemdirError> {
        let mut options = Self::default();
        options.max_view_chars = limit("max_view_chars", given.max_view_chars)?;
        options.max_file_bytes = limit("max_file_bytes", given.max_file_bytes)?;
        options.read_only = given.read_only;
        if let Some(on_existing) = given.on_existing {
            options.on_existing = match on_existing {
                OnExisting::Error => memdir::OnExisting::Error,
                OnExisting::Overwrite => memdir::OnExisting::Overwrite,
            };
        }
        if let Some(durability) = given.durability {
            options.durability = match durability {
                Durability::Full => memdir::Durability::Full,
                Durability::Relaxed => memdir::Durability::Relaxed,
            };
        }
        Ok(options)
    }
}

fn limit<T: TryFrom<i64>>(name: &str, given: Option<i64>) -> Result<Option<T>, MemdirError> {
    let Some(given) = given else { return Ok(None) };
    match T::try_from(given) {
        Ok(limit) => Ok(Some(limit)),
        Err(_) => Err(MemdirError::Config {
            reason: format!("{name} must be a number from 0 on, got {given}"),
        }),
    }
}
