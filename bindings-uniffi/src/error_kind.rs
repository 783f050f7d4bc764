//! [`ErrorKind`]: what kind of error a call ended with.

/// What kind of error a call ended with. A model reads sentences; a program should look at this.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Nothing is at the path.
    NotFound,
    /// Something is at the path already.
    Exists,
    /// A directory is where a file is needed.
    IsADirectory,
    /// A file is where a directory is needed.
    NotADirectory,
    /// The input, a parameter or a path is wrong, whatever the memory holds. A symbolic link on the path is such a case, too.
    Invalid,
    /// The text to replace is not in the file.
    NoMatch,
    /// The text to replace is in the file more than once.
    SeveralMatches,
    /// The file cannot be shown or edited as what it is: it is not UTF-8, no whole image, or no file at all but a device.
    NotText,
    /// The memory, the store or the path is read-only.
    ReadOnly,
    /// The operating system or the server does not allow it.
    PermissionDenied,
    /// This cannot be deleted or moved: `/memories` itself, a mount, a directory that its store cannot move as a whole.
    Fixed,
    /// A file is, or would be, larger than one may be.
    TooLarge,
    /// The memory would hold more than it may, or the store is full.
    Full,
    /// The text or the path holds sensitive text.
    Sensitive,
    /// The model has not seen what the file holds now (the option `stale_guard`).
    Stale,
    /// The file does not hold what it was expected to hold.
    Changed,
    /// The hook `before` denied it.
    Denied,
    /// Other writers have kept the store locked for too long. Nothing was changed.
    Busy,
    /// The caller cancelled it before it began to write. Nothing was changed.
    Cancelled,
    /// The store failed, and nothing was changed.
    Unavailable,
    /// The store failed, and the change may or may not have been made.
    OutcomeUnknown,
    /// The hook `before` failed. Nothing was changed.
    HookFailed,
    /// An option or the store's address is wrong.
    Config,
}

impl From<memdir::ErrorKind> for ErrorKind {
    fn from(kind: memdir::ErrorKind) -> Self {
        use memdir::ErrorKind as Core;
        match kind {
            Core::NotFound => Self::NotFound,
            Core::Exists => Self::Exists,
            Core::IsADirectory => Self::IsADirectory,
            Core::NotADirectory => Self::NotADirectory,
            Core::Invalid => Self::Invalid,
            Core::NoMatch => Self::NoMatch,
            Core::SeveralMatches => Self::SeveralMatches,
            Core::NotText => Self::NotText,
            Core::ReadOnly => Self::ReadOnly,
            Core::PermissionDenied => Self::PermissionDenied,
            Core::Fixed => Self::Fixed,
            Core::TooLarge => Self::TooLarge,
            Core::Full => Self::Full,
            Core::Sensitive => Self::Sensitive,
            Core::Stale => Self::Stale,
            Core::Changed => Self::Changed,
            Core::Denied => Self::Denied,
            Core::Busy => Self::Busy,
            Core::Cancelled => Self::Cancelled,
            Core::OutcomeUnknown => Self::OutcomeUnknown,
            Core::HookFailed => Self::HookFailed,
            Core::Config => Self::Config,
            // The compiler does not know that there are no more, a test does.
            _ => Self::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_own() {
        for kind in memdir::ErrorKind::ALL {
            let told = format!("{:?}", ErrorKind::from(kind));
            assert_eq!(told, format!("{kind:?}"));
        }
    }
}
