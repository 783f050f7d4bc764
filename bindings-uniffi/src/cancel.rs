//! [`Cancellation`]: cancels calls.

/// Cancels calls. A call that has not begun to write is not executed; a call that has begun
/// continues to its end. See `Memory.cancelled_by`.
#[derive(uniffi::Object, Debug, Default)]
pub struct Cancellation(memdir::Cancellation);

#[uniffi::export]
impl Cancellation {
    /// A new one, not yet cancelled.
    #[uniffi::constructor]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the calls. Any thread may call this at any time, and more than once.
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Cancellation {
    pub(crate) fn core(&self) -> &memdir::Cancellation {
        &self.0
    }
}
