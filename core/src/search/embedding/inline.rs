//! [`Calls`]: calls an embedder where there are no threads, so nothing can limit its time.

use std::sync::Arc;

use super::{Late, Limits, Request, Without, called, failed};
use crate::embedder::Embedder;

/// No call is given up here.
#[derive(Debug, Default)]
pub(in super::super) struct Calls;

impl Calls {
    #[expect(clippy::unused_self, reason = "with threads there are such vectors")]
    pub(super) fn take_late(&self) -> Vec<Late> {
        Vec::new()
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
