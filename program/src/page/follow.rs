//! Streams the changes of memories as events to the open pages. All pages of a browser share one stream, because a browser opens at most
//! six connections to a server.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, Stream};
use tokio::sync::broadcast::error::RecvError;

use super::live::LOOK_AGAIN;
use super::site::{Room, Site};

/// The stream of the memories with the numbers in the address: `1`, or `1,3,4`. Each event is named by the number of its memory.
/// A number without a memory is ignored, because a tab may show a page of a server that was stopped since.
pub(super) async fn changes(
    State(site): State<Arc<Site>>,
    Path(memories): Path<String>,
) -> Response {
    // Each number once, even if it is repeated.
    let numbers: BTreeSet<usize> = memories
        .split(',')
        .filter_map(|number| site.room(number))
        .map(|room| room.number)
        .collect();
    if numbers.is_empty() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let rooms = site.rooms().iter().filter(|room| numbers.contains(&room.number));
    let events = stream::select_all(rooms.map(|room| Box::pin(of_room(room))));
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

/// The events of one memory.
fn of_room(room: &Room) -> impl Stream<Item = Result<Event, Infallible>> + Send + use<> {
    let number = room.number;
    let (receiver, has_begun) = room.live.listen();
    // Once every later change is seen, the page loads once, which includes all earlier changes.
    let first: Option<Arc<str>> = has_begun.then(|| LOOK_AGAIN.into());
    stream::unfold((first, receiver), move |(first, mut receiver)| async move {
        let said = match first {
            Some(first) => first,
            None => match receiver.recv().await {
                Ok(said) => said,
                Err(RecvError::Lagged(_)) => LOOK_AGAIN.into(),
                Err(RecvError::Closed) => return None,
            },
        };
        let event = Event::default().event(number.to_string()).data(said);
        Some((Ok::<_, Infallible>(event), (None, receiver)))
    })
}
