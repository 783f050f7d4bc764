//! Tells open pages what is changed, as it happens.
//!
//! One watch for each memory, on a thread of its own, for as long as somebody looks. A page gets the paths and asks for
//! itself again; what is shown is made in one place only.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender, error::RecvError};

use super::site::Site;
use crate::changes::Change;
use crate::memory::Memory;

/// How many changes a slow page may be behind. What is beyond, it learns of as one.
const KEPT: usize = 64;

/// How often the watch looks whether anybody still listens, and waits after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// The most changes that are told with their paths at a time.
const TOLD: usize = 100;

/// The changes of one memory.
pub(super) struct Live {
    memory: Memory,
    sender: Mutex<Option<Sender<Arc<str>>>>,
}

impl Live {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, sender: Mutex::default() }
    }

    fn listen(self: &Arc<Self>) -> Receiver<Arc<str>> {
        let mut sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*sender {
            return sender.subscribe();
        }
        let (new, receiver) = broadcast::channel(KEPT);
        *sender = Some(new.clone());
        let live = Arc::clone(self);
        thread::spawn(move || live.tell(&new));
        receiver
    }

    fn tell(&self, sender: &Sender<Arc<str>>) {
        let mut watch = None;
        loop {
            {
                let mut kept = self.sender.lock().unwrap_or_else(PoisonError::into_inner);
                if sender.receiver_count() == 0 {
                    *kept = None;
                    return;
                }
            }
            let watching = match &mut watch {
                Some(watching) => watching,
                None => match self.memory.watch("/memories", None) {
                    Ok(begun) => watch.insert(begun),
                    Err(_) => {
                        thread::sleep(PAUSE);
                        continue;
                    }
                },
            };
            match watching.changes(PAUSE) {
                Ok(changes) if changes.is_empty() => {}
                // Nobody listens any more if it cannot be sent.
                Ok(changes) => drop(sender.send(said(&changes))),
                // The store is away; the next look tells what happened meanwhile.
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

fn said(changes: &[Change]) -> Arc<str> {
    let paths = changes.iter().take(TOLD);
    let paths =
        paths.map(|change| json!({"kind": change.kind.as_str(), "path": change.path.as_str()}));
    let changes = paths.collect::<Vec<_>>();
    json!({ "changes": changes }).to_string().into()
}

/// The stream of a page.
pub(super) async fn changes(State(site): State<Arc<Site>>, Path(memory): Path<String>) -> Response {
    let room = memory.parse().ok().and_then(|number| site.room(number).ok());
    let Some(room) = room else { return StatusCode::NOT_FOUND.into_response() };
    let live = Arc::clone(&room.live);
    let receiver = live.listen();
    // The first event says that it follows; the page then looks once, for what came before.
    let first: Option<Arc<str>> = Some(r#"{"changes":[]}"#.into());
    let events = stream::unfold((first, receiver), |(first, mut receiver)| async {
        let said = match first {
            Some(first) => first,
            None => match receiver.recv().await {
                Ok(said) => said,
                Err(RecvError::Lagged(_)) => r#"{"changes":[]}"#.into(),
                Err(RecvError::Closed) => return None,
            },
        };
        Some((Ok::<_, Infallible>(Event::default().data(said)), (None, receiver)))
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}
