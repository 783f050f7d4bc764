//! Many clients that keep a server waiting, and one that arrives after them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

/// The number of clients: twice as many as a server has connections.
pub(crate) const CROWD: usize = 1_100;

/// A command whose process may have at most this many descriptors.
pub(crate) fn with_descriptors(descriptors: usize) -> Command {
    let mut command = Command::new("sh");
    let limited = format!("ulimit -n {descriptors}; exec \"$0\" \"$@\"");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_memdir")]);
    command
}

/// Opens connections to the port, sends the same on each, and leaves them open.
pub(crate) fn crowd(port: u16, count: usize, sent: &str) -> Vec<TcpStream> {
    allow_descriptors();
    let connect = |_| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        // The server may have closed it already, to make room.
        let _ = stream.write_all(sent.as_bytes());
        stream
    };
    (0..count).map(connect).collect()
}

/// This program has the other ends.
fn allow_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).unwrap();
}

/// The answer to a request, read until the connection is closed: the status, the head and the body.
pub(crate) fn answer(port: u16, head: &[&str], body: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut request = head.join("\r\n").into_bytes();
    request
        .extend(format!("\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len()).bytes());
    stream.write_all(&request).unwrap();
    stream.write_all(body).unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let at = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(all[..at].to_vec()).unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head, all[at + 4..].to_vec())
}
