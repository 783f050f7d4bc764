//! A real server of S3's protocol for the tests of a program, and plain requests to it.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memdir::store::ObjectStorage;

/// The bucket that the server starts with.
pub(crate) const BUCKET: &str = "memdir";

/// The server's address, `127.0.0.1:port`; one for the whole program, which it ends with. `None`,
/// said aloud, where it is not installed; in CI that is a failure.
pub(crate) fn server() -> Option<&'static str> {
    static SERVER: OnceLock<Option<(String, tempfile::TempDir)>> = OnceLock::new();
    let started = SERVER.get_or_init(|| {
        // Not read by the client before this, nor by another test.
        set_keys();
        if let Ok(endpoint) = std::env::var("MEMDIR_TEST_S3") {
            return Some((endpoint, tempfile::tempdir().unwrap()));
        }
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/servers/s3");
        let place = tempfile::tempdir().unwrap();
        let started = Command::new(script).arg("start").arg(place.path()).output().unwrap();
        if started.status.code() == Some(3) {
            assert!(std::env::var("CI").is_err(), "the S3 server is not installed: make servers");
            // Past what keeps a test's words to itself.
            let _ = writeln!(std::io::stderr(), "==> LEFT OUT: object storage: make servers");
            return None;
        }
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        let endpoint = String::from_utf8(started.stdout).unwrap();
        Some((endpoint.trim().trim_start_matches("http://").to_owned(), place))
    });
    started.as_ref().map(|(server, _)| server.as_str())
}

#[allow(unsafe_code, reason = "the keys come from the environment, as everywhere")]
fn set_keys() {
    // SAFETY: the first thing that any test of these programs does, behind a lock that all take.
    unsafe {
        std::env::set_var("AWS_ACCESS_KEY_ID", "test-key-id");
        std::env::set_var("AWS_SECRET_ACCESS_KEY", "test-secret-key");
        // Reading them for each of many stores would take most of the tests' time.
        std::env::set_var("AWS_DISABLE_SYSTEM_CERTIFICATES", "true");
    }
}

/// A prefix that no other test has.
pub(crate) fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("test/{}-{number}", std::process::id())
}

pub(crate) fn address(server: &str, prefix: &str) -> String {
    format!("s3://{BUCKET}/{prefix}?endpoint=http://{server}&region=us-east-1&allow_http=true")
}

/// The address of a place on the server that no other test has.
pub(crate) fn fresh() -> Option<String> {
    server().map(|server| address(server, &prefix()))
}

pub(crate) fn open(server: &str, prefix: &str) -> ObjectStorage {
    ObjectStorage::open(&address(server, prefix)).unwrap()
}

/// A request as another program would send it: the status and the body.
pub(crate) fn request(
    server: &str,
    method: &str,
    key: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, Vec<u8>) {
    let mut connection = TcpStream::connect(server).unwrap();
    let key: String = key
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'.'
            | b'?'
            | b'='
            | b'&' => char::from(byte).to_string(),
            byte => format!("%{byte:02X}"),
        })
        .collect();
    let mut head = format!("{method} /{BUCKET}/{key} HTTP/1.1\r\nHost: {server}\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    head += &format!("Content-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    connection.write_all(head.as_bytes()).unwrap();
    connection.write_all(body).unwrap();
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
    (status, answer[end + 4..].to_vec())
}

/// The keys below a prefix, as the server tells them; at most the first thousand.
pub(crate) fn keys(server: &str, prefix: &str) -> Vec<String> {
    let (status, body) =
        request(server, "GET", &format!("?list-type=2&prefix={prefix}/"), &[], b"");
    assert_eq!(status, 200);
    let body = String::from_utf8(body).unwrap();
    let keys = body.split("<Key>").skip(1).map(|key| key.split_once("</Key>").unwrap().0);
    keys.map(|key| key[prefix.len() + 1..].to_owned()).collect()
}
