//! [`Cancellation`]: the native half of an `AbortSignal`.

use napi_derive::napi;

/// Cancels a call. A call that has not begun to write does not happen.
#[napi]
#[derive(Default)]
pub struct Cancellation(memdir::Cancellation);

#[napi]
impl Cancellation {
    /// A new one, not yet cancelled.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the call.
    #[napi]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

impl Cancellation {
    pub(crate) fn core(&self) -> memdir::Cancellation {
        self.0.clone()
    }
}
