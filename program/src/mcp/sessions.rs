//! [`Sessions`]: the sessions of clients over HTTP, with a limit.
//!
//! Clients of the protocol up to 2025-11-25 have sessions, and many disconnect without ending theirs. A session that was idle for too long
//! is ended. If there are too many sessions, the one that was idle the longest is ended. If its client returns, it is told that
//! the session is unknown and starts another one, as the protocol specifies.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::{Stream, StreamExt};
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::sleep;

/// The maximum number of sessions.
const MOST: usize = 256;

/// The time after which an idle session is ended.
const IDLE: Duration = Duration::from_secs(60 * 60);

/// The maximum number of sessions, and how long an idle one is kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct SessionLimits {
    pub(super) most: usize,
    pub(super) idle: Duration,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self { most: MOST, idle: IDLE }
    }
}

/// The sessions of the official implementation, with limits.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    limits: SessionLimits,
    /// Held while a session is started, so no two sessions take the same slot.
    beginning: tokio::sync::Mutex<()>,
    used: Arc<Mutex<HashMap<SessionId, Use>>>,
}

/// The last use of a session, and its present uses.
struct Use {
    last: Instant,
    /// The answers that are being sent.
    calls: usize,
    /// The streams on which the client waits for events.
    streams: usize,
}

/// The end of the message that all sessions are busy.
pub(super) const FULL: &str = "sessions are at work: try again later";

/// Why no session was started.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("all {0} {FULL}")]
    Full(usize),
    #[error(transparent)]
    Inner(#[from] LocalSessionManagerError),
}

impl Sessions {
    pub(super) fn new(limits: SessionLimits) -> Self {
        let mut inner = LocalSessionManager::default();
        // Notifications by the server would count as a use, so a busy memory would keep sessions that their clients have left.
        inner.session_config.keep_alive = None;
        Self { inner, limits, beginning: tokio::sync::Mutex::default(), used: Arc::default() }
    }

    /// Ends idle sessions while the server lives.
    pub(super) async fn end_idle(self: Arc<Self>) {
        loop {
            sleep((self.limits.idle / 4).min(Duration::from_secs(60))).await;
            let ended: Vec<_> = {
                let used = self.used();
                let idle = used.iter().filter(|(_, of)| of.is_idle_for(self.limits.idle));
                idle.map(|(id, _)| id.clone()).collect()
            };
            for id in ended {
                self.used().remove(&id);
                self.end(&id).await;
            }
        }
    }

    /// Ends a session. Its worker ends when nothing can be sent to it. This does not wait for the worker, because the client may
    /// block it.
    async fn end(&self, id: &SessionId) {
        drop(self.inner.sessions.write().await.remove(id));
    }

    /// The number of sessions.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.used().len()
    }

    fn used(&self) -> MutexGuard<'_, HashMap<SessionId, Use>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If there are too many sessions, frees the slot of the one that was idle the longest, preferably one without an open stream.
    /// A session that is answering a call keeps its slot.
    fn make_room(&self) -> Result<Option<SessionId>, SessionError> {
        let mut used = self.used();
        if used.len() < self.limits.most {
            return Ok(None);
        }
        let free = used.iter().filter(|(_, of)| of.calls == 0);
        let first = free.min_by_key(|(_, of)| (of.streams > 0, of.last));
        let Some(id) = first.map(|(id, _)| id.clone()) else {
            return Err(SessionError::Full(self.limits.most));
        };
        used.remove(&id);
        Ok(Some(id))
    }

    /// The stream, which counts as a use of the session until it ends.
    fn counted<S: Stream>(
        &self,
        id: &SessionId,
        stream: S,
        kind: fn(&mut Use) -> &mut usize,
    ) -> impl Stream<Item = S::Item> + use<S> {
        if let Some(of) = self.used().get_mut(id) {
            *kind(of) += 1;
        }
        let counted = CountedStream { used: Arc::clone(&self.used), id: id.clone(), kind };
        stream.map(move |message| {
            let _ = &counted;
            message
        })
    }
}

impl Use {
    fn is_idle_for(&self, time: Duration) -> bool {
        self.calls == 0 && self.streams == 0 && self.last.elapsed() >= time
    }

    fn calls(&mut self) -> &mut usize {
        &mut self.calls
    }

    fn streams(&mut self) -> &mut usize {
        &mut self.streams
    }
}

/// Counts a stream of a session until it is dropped.
struct CountedStream {
    used: Arc<Mutex<HashMap<SessionId, Use>>>,
    id: SessionId,
    kind: fn(&mut Use) -> &mut usize,
}

impl Drop for CountedStream {
    fn drop(&mut self) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of) = used.get_mut(&self.id) {
            *(self.kind)(of) -= 1;
            of.last = Instant::now();
        }
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let _alone = self.beginning.lock().await;
        if let Some(id) = self.make_room()? {
            self.end(&id).await;
        }
        let (id, transport) = self.inner.create_session().await?;
        let new = Use { last: Instant::now(), calls: 0, streams: 0 };
        self.used().insert(id.clone(), new);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        let is_there = self.inner.has_session(id).await?;
        if let Some(of) = self.used().get_mut(id) {
            of.last = Instant::now();
        }
        Ok(is_there)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        self.used().remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let stream = self.inner.create_stream(id, message).await?;
        Ok(self.counted(id, stream, Use::calls))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.inner.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let stream = self.inner.create_standalone_stream(id).await?;
        Ok(self.counted(id, stream, Use::streams))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let stream = self.inner.resume(id, last_event_id).await?;
        Ok(self.counted(id, stream, Use::streams))
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::pending;
    use tokio::runtime::Runtime;

    use super::*;

    fn sessions(most: usize, idle: Duration) -> Arc<Sessions> {
        Arc::new(Sessions::new(SessionLimits { most, idle }))
    }

    /// Starts `count` sessions. Keeps their transports, as the server does while it serves a session.
    async fn begin<T>(
        sessions: &Sessions,
        count: usize,
        kept: &mut Vec<T>,
    ) -> Result<Vec<SessionId>, SessionError>
    where
        Sessions: SessionManager<Transport = T, Error = SessionError>,
    {
        let mut begun = Vec::new();
        for _ in 0..count {
            let (id, transport) = sessions.create_session().await?;
            kept.push(transport);
            begun.push(id);
        }
        Ok(begun)
    }

    /// Whether each of them exists. This is a use of each session.
    async fn known(sessions: &Sessions, ids: &[SessionId]) -> Vec<bool> {
        let mut known = Vec::new();
        for id in ids {
            known.push(sessions.has_session(id).await.unwrap());
        }
        known
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_makes_room() {
        Runtime::new().unwrap().block_on(async {
            let (sessions, mut kept) = (sessions(4, IDLE), Vec::new());
            let ids = begin(&sessions, 4, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &ids[..1]).await, [true]);
            begin(&sessions, 1, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &ids).await, [true, false, true, true]);
            // Far more than the limit.
            begin(&sessions, 100, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &ids).await, [false; 4]);
            assert_eq!(sessions.count(), 4);
            assert_eq!(sessions.inner.sessions.read().await.len(), 4);
        });
    }

    #[test]
    fn a_session_that_listens_goes_last_and_one_that_answers_a_call_stays() {
        Runtime::new().unwrap().block_on(async {
            let (sessions, mut kept) = (sessions(2, IDLE), Vec::new());
            let ids = begin(&sessions, 2, &mut kept).await.unwrap();
            let calls = sessions.counted(&ids[0], pending::<()>(), Use::calls);
            let listens = sessions.counted(&ids[1], pending::<()>(), Use::streams);
            // The session with an open stream is the only one that can be ended.
            let third = begin(&sessions, 1, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &ids).await, [true, false]);
            let fourth = begin(&sessions, 1, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &[&third[..], &fourth].concat()).await, [false, true]);
            drop(listens);
            let other = sessions.counted(&fourth[0], pending::<()>(), Use::calls);
            let full = begin(&sessions, 1, &mut kept).await.unwrap_err();
            assert_eq!(full.to_string(), "all 2 sessions are at work: try again later");
            drop(calls);
            begin(&sessions, 1, &mut kept).await.unwrap();
            assert_eq!(known(&sessions, &[ids[0].clone(), fourth[0].clone()]).await, [false, true]);
            drop(other);
        });
    }

    #[test]
    fn a_session_that_is_not_used_ends() {
        Runtime::new().unwrap().block_on(async {
            let (sessions, mut kept) = (sessions(4, Duration::from_millis(20)), Vec::new());
            let ids = begin(&sessions, 4, &mut kept).await.unwrap();
            let listens = sessions.counted(&ids[2], pending::<()>(), Use::streams);
            tokio::spawn(Arc::clone(&sessions).end_idle());
            while sessions.count() > 1 {
                sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(known(&sessions, &ids).await, [false, false, true, false]);
            drop(listens);
            while sessions.count() > 0 {
                sleep(Duration::from_millis(5)).await;
            }
            assert!(sessions.inner.sessions.read().await.is_empty());
        });
    }
}
