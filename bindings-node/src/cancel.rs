//! [`Cancellation`]: what an `AbortSignal` becomes.

use napi_derive::napi;

/// Tells a call that nobody waits for its answer any more: one that has not begun to write does not
/// happen.
#[napi]
#[derive(Default)]
pub struct Cancellation(memdir::Cancellation);

#[napi]
impl Cancellation {
    /// One that has not been cancelled.
    #[napi(constructor)]
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Nobody waits any more.
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
