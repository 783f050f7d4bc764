//! [`Connections`]: counts the connections, and tracks which of them are idle.
//!
//! A connection is idle while the server waits for its client: before and during the head of a request, and between two requests. If
//! there are too many connections, the one that was idle the longest is closed. A busy one is never closed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::task::AbortHandle;

use super::limits::ConnectionLimits;

/// The connections of one server.
pub(super) struct Connections {
    limits: ConnectionLimits,
    counted: Mutex<CountedConnections>,
    /// The bytes of the bodies of requests in progress.
    held: AtomicUsize,
}

#[derive(Default)]
struct CountedConnections {
    next: u64,
    open: HashMap<u64, Open>,
    working: usize,
    streams: usize,
}

struct Open {
    /// `None` while it is busy.
    idle_since: Option<Instant>,
    /// Closes the connection; `None` only while it is being opened.
    close: Option<AbortHandle>,
}

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self { limits, counted: Mutex::default(), held: AtomicUsize::new(0) }
    }

    pub(super) fn limits(&self) -> &ConnectionLimits {
        &self.limits
    }

    /// Counts a new connection; `None` if all open connections are busy.
    pub(super) fn open(self: &Arc<Self>) -> Option<Connection> {
        let mut counted = self.counted();
        if counted.open.len() >= self.limits.connections && !counted.close_longest_idle() {
            return None;
        }
        let number = counted.next;
        counted.next += 1;
        let open = Open { idle_since: Some(Instant::now()), close: None };
        counted.open.insert(number, open);
        Some(Connection { of: Arc::clone(self), number })
    }

    /// Closes the connection that was idle the longest. Returns whether there was one.
    pub(super) fn close_longest_idle(&self) -> bool {
        self.counted().close_longest_idle()
    }

    fn counted(&self) -> MutexGuard<'_, CountedConnections> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CountedConnections {
    fn close_longest_idle(&mut self) -> bool {
        let idle = self.open.iter().filter_map(|(number, open)| {
            open.close.as_ref().and(open.idle_since).map(|since| (since, *number))
        });
        let Some((_, number)) = idle.min() else { return false };
        if let Some(Open { close: Some(close), .. }) = self.open.remove(&number) {
            close.abort();
        }
        true
    }
}

/// One connection. It is counted until this is dropped.
pub(super) struct Connection {
    of: Arc<Connections>,
    number: u64,
}

/// The result of starting a request on a connection.
pub(super) enum Begun {
    Work(Work),
    /// The maximum number of requests is in progress.
    Full,
    /// The connection has just been closed to free its slot.
    Closed,
}

impl Connection {
    pub(super) fn limits(&self) -> &ConnectionLimits {
        &self.of.limits
    }

    /// Sets the handle that closes the connection.
    pub(super) fn closed_by(&self, close: AbortHandle) {
        if let Some(open) = self.of.counted().open.get_mut(&self.number) {
            open.close = Some(close);
        }
    }

    /// Starts a request.
    pub(super) fn begin(&self) -> Begun {
        let mut counted = self.of.counted();
        let is_full = counted.working >= self.of.limits.requests;
        let Some(open) = counted.open.get_mut(&self.number) else { return Begun::Closed };
        if is_full {
            return Begun::Full;
        }
        open.idle_since = None;
        counted.working += 1;
        let held = Held { of: Arc::clone(&self.of), bytes: Arc::default() };
        Begun::Work(Work { number: self.number, is_stream: false, held })
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.of.counted().open.remove(&self.number);
    }
}

/// A request in progress, until its answer is sent.
pub(super) struct Work {
    number: u64,
    is_stream: bool,
    held: Held,
}

impl Work {
    /// Counts the request as one with an endless answer. Returns false if there are too many of them.
    pub(super) fn becomes_stream(&mut self) -> bool {
        let mut counted = self.held.of.counted();
        if counted.streams >= self.held.of.limits.streams {
            return false;
        }
        counted.streams += 1;
        self.is_stream = true;
        true
    }

    /// The counter of the bytes of the request's body.
    pub(super) fn held(&self) -> Held {
        self.held.clone()
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let of = &self.held.of;
        of.held.fetch_sub(self.held.bytes.load(Ordering::SeqCst), Ordering::SeqCst);
        let mut counted = of.counted();
        counted.working -= 1;
        counted.streams -= usize::from(self.is_stream);
        if let Some(open) = counted.open.get_mut(&self.number) {
            open.idle_since = Some(Instant::now());
        }
    }
}

/// Counts the bytes of a request's body, which are held until its answer is sent.
#[derive(Clone)]
pub(super) struct Held {
    of: Arc<Connections>,
    bytes: Arc<AtomicUsize>,
}

impl Held {
    /// Adds `bytes`. Returns false if they exceed the limit.
    pub(super) fn add(&self, bytes: usize) -> bool {
        let most = self.of.limits.held;
        let more = |held: usize| held.checked_add(bytes).filter(|held| *held <= most);
        let fits = self.of.held.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more).is_ok();
        if fits {
            self.bytes.fetch_add(bytes, Ordering::SeqCst);
        }
        fits
    }
}
