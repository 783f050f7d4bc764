//! The changes of a memory as a stream of events, for a page that is open.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::error::RecvError;

use super::live::LOOK_AGAIN;
use super::site::Site;

/// The stream of a page.
pub(super) async fn changes(State(site): State<Arc<Site>>, Path(memory): Path<String>) -> Response {
    let Some(room) = site.room(&memory) else { return StatusCode::NOT_FOUND.into_response() };
    let (receiver, has_begun) = room.live.listen();
    // The page looks once when all is seen from then on: what came before is in that.
    let first: Option<Arc<str>> = has_begun.then(|| LOOK_AGAIN.into());
    let events = stream::unfold((first, receiver), |(first, mut receiver)| async {
        let said = match first {
            Some(first) => first,
            None => match receiver.recv().await {
                Ok(said) => said,
                Err(RecvError::Lagged(_)) => LOOK_AGAIN.into(),
                Err(RecvError::Closed) => return None,
            },
        };
        Some((Ok::<_, Infallible>(Event::default().data(said)), (None, receiver)))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
