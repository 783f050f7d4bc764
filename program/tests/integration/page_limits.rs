//! Limits of `memdir serve` for its clients: connections, streams, requests and forms.
#![cfg(all(feature = "page", feature = "sqlite", unix))]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a panic is how a test fails"
)]

use std::io::{Read, Write};

use crate::common::crowd::{CROWD, crowd, with_descriptors};
use crate::page::{Page, listening};

#[test]
fn clients_that_keep_it_waiting_shut_nobody_out() {
    let place = tempfile::tempdir().unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let mut told = listening(&page);
    assert!(told.next().is_some());
    let idle = crowd(page.port, CROWD, "");
    assert_eq!(page.get("/1/").status, 200);
    let within = crowd(page.port, CROWD, "GET /1/ HTTP/1.1\r\nHost: ");
    assert_eq!(page.get("/1/").status, 200);
    // A request without its body is in progress. But the page needs the secret, and a request without it ends at once.
    let begun =
        crowd(page.port, 100, "POST /1/new HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n");
    assert_eq!(page.get("/1/").status, 200);
    drop((idle, within, begun));
    // The page with the event stream has kept its connection.
    page.post("/1/new", &[("to", "/memories/a.md"), ("text", "one")]);
    assert!(told.next().unwrap().contains("/memories/a.md"));
}

#[test]
fn few_descriptors_are_enough() {
    let place = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", place.path().join("a.db").display());
    let page = Page::with(with_descriptors(256), &[&store], &[]);
    let idle = crowd(page.port, 300, "");
    assert_eq!(page.get("/1/").status, 200);
    assert_eq!(page.post("/1/new", &[("to", "/memories/a.md"), ("text", "one")]).status, 303);
    drop(idle);
}

#[test]
fn streams_are_limited_and_leave_room_for_pages() {
    let place = tempfile::tempdir().unwrap();
    let page = Page::with(with_descriptors(64), &[place.path().to_str().unwrap()], &[]);
    // 64 descriptors are 32 connections, of which 16 may be streams.
    let request = ["GET /1/changes HTTP/1.1", &page.host(), &page.cookie(), "", ""].join("\r\n");
    let statuses: Vec<_> = crowd(page.port, 20, &request)
        .into_iter()
        .map(|mut stream| {
            let mut first = [0; 12];
            stream.read_exact(&mut first).unwrap();
            (stream, String::from_utf8(first[9..].to_vec()).unwrap())
        })
        .collect();
    assert_eq!(statuses.iter().filter(|(_, status)| status == "200").count(), 16);
    assert_eq!(statuses.iter().filter(|(_, status)| status == "503").count(), 4);
    assert_eq!(page.get("/1/").status, 200);
    let said = page.get("/1/changes");
    assert_eq!((said.status, said.header("retry-after")), (503, Some("1")));
    assert!(said.text().starts_with("Too many streams are open."), "{}", said.text());
}

#[test]
fn a_form_carries_a_text_of_the_largest_size_as_it_is_spelled() {
    let place = tempfile::tempdir().unwrap();
    let store = place.path().to_str().unwrap();
    let page = Page::open(&[store], &[]);
    // The end of a line takes six bytes in a form.
    let text = "%0D%0A".repeat(6_000_000);
    let body = format!("token={}&to=%2Fmemories%2Fa&text={text}", page.token());
    let answer = page.form("/1/new", &body, &[page.host(), page.cookie(), page.origin()]);
    assert_eq!(answer.status, 303);
    assert_eq!(std::fs::metadata(place.path().join("memories/a")).unwrap().len(), 6_000_000);
}

#[test]
fn changes_that_wait_for_a_lock_leave_room_for_those_who_look() {
    let place = tempfile::tempdir().unwrap();
    let database = place.path().join("a.db");
    let page =
        Page::open(&[&format!("sqlite:{}", database.display())], &["--lock-timeout", "none"]);
    let token = page.token();
    let lock = rusqlite::Connection::open(&database).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting: Vec<_> = (0..40)
        .map(|number| {
            let body = format!("token={token}&to=%2Fmemories%2F{number}&text=x");
            let head = [
                "POST /1/new HTTP/1.1".to_owned(),
                page.host(),
                page.cookie(),
                page.origin(),
                "Content-Type: application/x-www-form-urlencoded".to_owned(),
                format!("Content-Length: {}\r\n\r\n{body}", body.len()),
            ];
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", page.port)).unwrap();
            stream.write_all(head.join("\r\n").as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_eq!(page.get("/1/").status, 200);
    assert_eq!(page.get("/1/search?q=x").status, 200);
    lock.execute_batch("COMMIT").unwrap();
    for mut stream in waiting {
        let mut first = [0; 12];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 303");
    }
}
