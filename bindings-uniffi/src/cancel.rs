//! [`Cancellation`]: how a call is given up.

/// Tells calls that nobody waits for their answers any more: one that has not begun to write does not
/// happen, and one that has is carried out to its end. See `Memory.cancelled_by`.
#[derive(uniffi::Object, Debug, Default)]
pub struct Cancellation(memdir::Cancellation);

#[uniffi::export]
impl Cancellation {
    /// One that has not been cancelled.
    #[uniffi::constructor]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nobody waits any more. From any thread, at any time, as often as one likes.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Cancellation {
    pub(crate) fn core(&self) -> &memdir::Cancellation {
        &self.0
    }
}
