//! [`ConnectionLimits`]: how much a server lets its clients hold.

use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;

use memdir::store::DEFAULT_MAX_FILE_BYTES;

/// The most connections, if the process may open enough files.
const CONNECTIONS: usize = 512;

/// How long a client may take for the head of a request, for the first bytes of its body, and to read some of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many requests of the largest size are held at the same time.
const LARGE_REQUESTS: usize = 4;

/// The most bytes of a request to a memory with this limit of a file: two texts (what an edit replaces, and what by) of which
/// each byte is spelled with six, as JSON does with `\u0007` and a form with the end of a line, and what belongs to them. A
/// text that is too large for the memory, but not by far, is refused by the memory, in its own words.
pub(crate) fn largest_request(max_file_bytes: Option<u64>) -> usize {
    let text = max_file_bytes.unwrap_or(DEFAULT_MAX_FILE_BYTES).max(DEFAULT_MAX_FILE_BYTES);
    usize::try_from(text.saturating_mul(2 * 6).saturating_add(64 << 10)).unwrap_or(usize::MAX)
}

/// What the clients of one server may hold. Times and numbers are far beyond what a client of this machine needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// Open connections, those included that wait for their clients.
    pub(super) connections: usize,
    /// Requests that are under way. There are fewer than connections, so that there is always one to say so on.
    pub(super) requests: usize,
    /// Requests under way whose answer has no end.
    pub(super) streams: usize,
    /// Which requests these are.
    pub(super) is_stream: fn(&Request<Incoming>) -> bool,
    /// How long the head of a request may take, and how long a connection waits for the next one.
    pub(super) head: Duration,
    /// How long the body of a request may take, and a second more for each [`RATE`](super::request::RATE).
    pub(super) body: Duration,
    /// How long a client may read nothing of what is sent to it.
    pub(super) stall: Duration,
    /// The most bytes that the body of a request may say that it has.
    pub(super) declared: usize,
    /// The bytes of all bodies of the requests that are under way.
    pub(super) held: usize,
}

impl ConnectionLimits {
    /// The limits of a server to which a request has at most `max_request_bytes`.
    pub(crate) fn new(max_request_bytes: usize, is_stream: fn(&Request<Incoming>) -> bool) -> Self {
        Self::within(descriptors(), max_request_bytes, is_stream)
    }

    /// The limits of a process that may open `descriptors` files. Half of them are left to the store.
    fn within(
        descriptors: usize,
        max_request_bytes: usize,
        is_stream: fn(&Request<Incoming>) -> bool,
    ) -> Self {
        let connections = CONNECTIONS.min(descriptors / 2).max(4);
        Self {
            connections,
            requests: connections - (connections / 16).max(1),
            streams: connections / 2,
            is_stream,
            head: PATIENCE,
            body: PATIENCE,
            stall: PATIENCE,
            declared: max_request_bytes,
            held: max_request_bytes.saturating_mul(LARGE_REQUESTS),
        }
    }
}

/// How many files this process may have open.
#[cfg(unix)]
fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

/// Handles are limited by memory alone.
#[cfg(not(unix))]
fn descriptors() -> usize {
    usize::MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_fit_the_descriptors_and_leave_room_to_say_so() {
        for (descriptors, connections, requests, streams) in [
            (usize::MAX, 512, 480, 256),
            (1_024, 512, 480, 256),
            (1_023, 511, 480, 255),
            (256, 128, 120, 64),
            (16, 8, 7, 4),
            (0, 4, 3, 2),
        ] {
            let limits = ConnectionLimits::within(descriptors, 1, |_| false);
            let found = (limits.connections, limits.requests, limits.streams);
            assert_eq!(found, (connections, requests, streams), "{descriptors}");
        }
        assert_eq!(ConnectionLimits::within(8, usize::MAX, |_| false).held, usize::MAX);
    }
}
