//! [`ConnectionLimits`]: the resources that a server gives to its clients.

use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;

use memdir::store::DEFAULT_MAX_FILE_BYTES;

/// The maximum number of connections, if the process may open enough files.
const CONNECTIONS: usize = 512;

/// The timeout for the head of a request, for the first bytes of its body, and for a client to read a part of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of requests of the maximum size that may be in memory at the same time.
const LARGE_REQUESTS: usize = 4;

/// The maximum size in bytes of a request to a memory with this limit of a file. An edit has two texts, the old one and the new one.
/// Each byte may be encoded in six bytes, as in JSON (`\u0007`) or in a form (a line ending), plus some overhead. So a text that
/// slightly exceeds the limit of the memory still gets the memory's own error message.
pub(crate) fn largest_request(max_file_bytes: Option<u64>) -> usize {
    let text = max_file_bytes.unwrap_or(DEFAULT_MAX_FILE_BYTES).max(DEFAULT_MAX_FILE_BYTES);
    usize::try_from(text.saturating_mul(2 * 6).saturating_add(64 << 10)).unwrap_or(usize::MAX)
}

/// The limits for the clients of one server. They far exceed the needs of clients on this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionLimits {
    /// The maximum number of open connections, including idle ones.
    pub(super) connections: usize,
    /// The maximum number of requests in progress. It is lower than that of connections, so there is always a connection for the error.
    pub(super) requests: usize,
    /// The maximum number of requests in progress with an endless answer.
    pub(super) streams: usize,
    /// Says which requests have an endless answer.
    pub(super) is_stream: fn(&Request<Incoming>) -> bool,
    /// The timeout for the head of a request, and for the next request on a connection.
    pub(super) head: Duration,
    /// The timeout for the body of a request. Each [`RATE`](super::request::RATE) bytes add one second.
    pub(super) body: Duration,
    /// The time after which a client that reads nothing is disconnected.
    pub(super) stall: Duration,
    /// The maximum size in bytes that the head of a request may announce for its body.
    pub(super) declared: usize,
    /// The maximum total size in bytes of the bodies of all requests in progress.
    pub(super) held: usize,
}

impl ConnectionLimits {
    /// The limits of a server whose requests have at most `max_request_bytes` bytes.
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

/// The number of files that this process may open.
#[cfg(unix)]
fn descriptors() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX)
}

/// On other systems only memory limits the number of handles.
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
