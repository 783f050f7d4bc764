//! [`RequestBody`]: the body of a request, with a timeout.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::connections::Held;
use super::limits::ConnectionLimits;

/// The minimum rate of a body in bytes per second. Each `RATE` bytes extend the timeout of the body by one second.
pub(super) const RATE: u64 = 64 << 10;

/// Why the server stopped reading a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// It arrived too slowly.
    Late,
    /// All requests together hold too many bytes.
    TooMuch,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Late => "the body took too long to arrive",
            Self::TooMuch => "too many large requests are under way",
        })
    }
}

impl Error for Trouble {}

/// Why a body cannot be read: the connection is broken, or the server stopped reading it.
pub(crate) type BodyError = Box<dyn Error + Send + Sync>;

/// The body of a request, for the service that answers it.
pub(crate) struct RequestBody {
    /// `None` only while it is being dropped.
    body: Option<Incoming>,
    held: Held,
    patience: Pin<Box<Sleep>>,
    trouble: Option<Trouble>,
    given_back: Option<oneshot::Sender<(Incoming, Option<Trouble>)>>,
}

/// The rest of a body that a service did not read completely.
pub(super) struct Rest(oneshot::Receiver<(Incoming, Option<Trouble>)>);

impl RequestBody {
    pub(super) fn new(body: Incoming, limits: &ConnectionLimits, held: Held) -> (Self, Rest) {
        let (given_back, rest) = oneshot::channel();
        let body = Self {
            body: Some(body),
            held,
            patience: Box::pin(sleep_until(Instant::now() + limits.body)),
            trouble: None,
            given_back: Some(given_back),
        };
        (body, Rest(rest))
    }

    /// The next part of the body, or why the server stops reading it.
    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        if let Some(trouble) = self.trouble {
            return Poll::Ready(Some(Err(trouble.into())));
        }
        if self.patience.as_mut().poll(cx).is_ready() {
            self.trouble = Some(Trouble::Late);
            return Poll::Ready(Some(Err(Trouble::Late.into())));
        }
        let Some(part) = ready!(Pin::new(body).poll_frame(cx)) else { return Poll::Ready(None) };
        let part = part?;
        let bytes = part.data_ref().map_or(0, Bytes::len);
        if !self.held.add(bytes) {
            self.trouble = Some(Trouble::TooMuch);
            return Poll::Ready(Some(Err(Trouble::TooMuch.into())));
        }
        let more = bytes as u64 * 1_000_000 / RATE;
        let until = self.patience.deadline() + Duration::from_micros(more);
        self.patience.as_mut().reset(until);
        Poll::Ready(Some(Ok(part)))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.poll_part(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        if let (Some(body), Some(given_back)) = (self.body.take(), self.given_back.take()) {
            // The receiver may have been dropped with the answer.
            let _ = given_back.send((body, self.trouble));
        }
    }
}

impl Rest {
    /// If the service has dropped the body, reads the unread rest, for at most `patience`. Returns why the server stopped reading the
    /// body.
    pub(super) async fn discarded(mut self, patience: Duration) -> Option<Trouble> {
        let (mut body, trouble) = self.0.try_recv().ok()?;
        // Do not wait again for a client that was too slow.
        if trouble != Some(Trouble::Late) {
            discard(&mut body, patience, patience).await;
        }
        trouble
    }
}

/// Reads a body and drops it. Ends if no data arrives within `quiet`, or after `patience`.
pub(super) async fn discard(body: &mut Incoming, quiet: Duration, patience: Duration) {
    let read = async {
        while let Ok(Some(Ok(_))) =
            timeout(quiet, poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx))).await
        {}
    };
    // The answer is sent in any case.
    let _ = timeout(patience, read).await;
}
