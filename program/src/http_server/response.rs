//! [`ResponseBody`]: the body of an answer. Its request counts as in progress until the answer is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};

use super::connections::Work;

pub(super) enum ResponseBody<B> {
    /// The answer of the service.
    Of { body: B, _work: Work },
    /// A message of the server itself; `None` after it was sent.
    Text(Option<Bytes>),
}

impl<B> ResponseBody<B> {
    pub(super) fn new(body: B, work: Work) -> Self {
        Self::Of { body, _work: work }
    }

    pub(super) fn text(text: impl Into<Bytes>) -> Self {
        Self::Text(Some(text.into()))
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for ResponseBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        match &mut *self {
            Self::Of { body, .. } => Pin::new(body).poll_frame(cx),
            Self::Text(text) => Poll::Ready(text.take().map(|text| Ok(Frame::data(text)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Of { body, .. } => body.is_end_stream(),
            Self::Text(text) => text.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Of { body, .. } => body.size_hint(),
            Self::Text(text) => {
                SizeHint::with_exact(text.as_ref().map_or(0, |text| text.len() as u64))
            }
        }
    }
}
