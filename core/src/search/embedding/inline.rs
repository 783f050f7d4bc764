//! [`Calls`]: calls an embedder where there are no threads, so nothing can limit its time.

use std::sync::Arc;

use super::{Embedded, Limits, Request, Without, called, failed};
use crate::embedder::Embedder;

/// No call is given up here.
#[derive(Debug, Default)]
pub(in super::super) struct Calls;

/// The right to embed passages.
pub(super) struct Passages;

impl Calls {
    #[expect(clippy::unused_self, reason = "with threads there are such vectors")]
    pub(super) fn take_late(&self) -> Vec<Embedded> {
        Vec::new()
    }

    /// No other search embeds passages.
    #[expect(clippy::unnecessary_wraps, reason = "with threads there are other searches")]
    #[expect(clippy::unused_self, reason = "with threads there are other searches")]
    pub(super) fn begin_passages(self: &Arc<Self>, _: &Limits<'_>) -> Result<Passages, Without> {
        Ok(Passages)
    }

    /// Calls the embedder.
    #[expect(clippy::needless_pass_by_value, reason = "a thread would own the request")]
    pub(super) fn call(
        self: &Arc<Self>,
        embedder: &Arc<dyn Embedder>,
        request: Request,
        _: &Limits<'_>,
    ) -> Result<Vec<Vec<f32>>, Without> {
        called(&**embedder, &request).map_err(|problem| Without::WordsOnly(failed(&problem)))
    }
}
