//! Lets a caller stop a search that takes too long.

/// Whether a search is stopped. The functions of a search that is stopped return `None`.
pub(crate) type Stop<'s> = &'s dyn Fn() -> bool;

/// `None` if the search is stopped.
pub(crate) fn go_on(is_stopped: Stop<'_>) -> Option<()> {
    (!is_stopped()).then_some(())
}
