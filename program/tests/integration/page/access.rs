//! Access to the page, and its permissions in a browser.

use super::*;

#[test]
fn nobody_is_let_in_without_the_secret() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.md", "one secret thing").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let wrong = format!("Cookie: memdir-{}={}", page.port, "0".repeat(32));
    let other = format!("Cookie: memdir={}; memdir-1={}", page.secret, page.secret);
    for address in PAGES {
        for cookie in ["X: y", &wrong, &other] {
            let lines = [format!("GET {address} HTTP/1.1"), page.host(), cookie.to_owned()];
            let answer = page.raw(&lines, b"");
            assert_eq!(answer.status, 403, "{address}");
            assert!(!answer.text().contains("secret thing") && !answer.text().contains("a.md"));
        }
    }
    for guess in ["", "0", &page.secret[1..], &format!("{}0", page.secret), &"0".repeat(32)] {
        let lines = [format!("GET /open/{guess} HTTP/1.1"), page.host()];
        let answer = page.raw(&lines, b"");
        assert_eq!((answer.status, answer.header("set-cookie")), (403, None), "{guess:?}");
    }
    let lines = [format!("GET /open/{} HTTP/1.1", page.secret), page.host()];
    let answer = page.raw(&lines, b"");
    assert_eq!(answer.status, 200);
    let cookie = answer.header("set-cookie").unwrap();
    for part in [page.secret.as_str(), "HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(page.get("/1/file?path=/memories/a.md&view=source").text().contains("secret thing"));
}

#[test]
fn a_foreign_name_for_this_machine_is_refused() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.md", "one").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let port = page.port;
    let ask = |hosts: &[String]| {
        let mut lines = vec!["GET /1/ HTTP/1.1".to_owned(), page.cookie()];
        lines.extend_from_slice(hosts);
        page.raw(&lines, b"").status
    };
    for host in ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"] {
        assert_eq!(ask(&[format!("Host: {host}:{port}")]), 200, "{host}");
    }
    for host in [
        format!("example.com:{port}"),
        format!("127.0.0.1.example.com:{port}"),
        format!("localhost.:{port}"),
        format!("localhost:{}", port.wrapping_add(1)),
        "127.0.0.1".to_owned(),
        format!("0.0.0.0:{port}"),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ] {
        assert!([400, 421].contains(&ask(&[format!("Host: {host}")])), "{host}");
    }
    assert!([400, 421].contains(&ask(&[page.host(), "Host: example.com".to_owned()])));
    assert!([400, 421].contains(&ask(&[])));
}

#[test]
fn a_change_is_made_by_a_form_of_this_page_and_by_nothing_else() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one").unwrap();
    let version = memory.history(&memdir::history::HistoryQuery::default()).unwrap()[0].id;
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let token = format!("token={}", page.token());
    let path = "path=%2Fmemories%2Fa.md";
    let forms = [
        ("/1/edit", format!("{path}&base=&text=x")),
        ("/1/new", "to=%2Fmemories%2Fb.md&text=x".to_owned()),
        ("/1/rename", format!("{path}&to=%2Fmemories%2Fc.md")),
        ("/1/delete", path.to_owned()),
        ("/1/restore", format!("id={version}")),
        ("/1/undo", format!("id={version}")),
        ("/1/redact", format!("id={version}&reason=x")),
    ];
    let (host, cookie, origin) = (page.host(), page.cookie(), page.origin());
    let wrong = format!("token={}", "0".repeat(32));
    for (address, body) in &forms {
        let with = |extra: &str, lines: &[&str]| {
            let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
            page.form(address, &format!("{body}&{extra}"), &lines).status
        };
        assert_eq!(with("", &[&host, &cookie, &origin]), 403, "{address}: no token");
        assert_eq!(with(&wrong, &[&host, &cookie, &origin]), 403, "{address}: a wrong token");
        assert_eq!(with(&token, &[&host, &cookie]), 403, "{address}: no origin");
        assert_eq!(with(&token, &[&host, &origin]), 403, "{address}: no secret");
        for foreign in ["null", "http://example.com", "http://localhost", "https://127.0.0.1"] {
            let foreign = format!("Origin: {foreign}");
            assert_eq!(with(&token, &[&host, &cookie, &foreign]), 403, "{address}: {foreign}");
        }
        let elsewhere = "Sec-Fetch-Site: cross-site";
        assert_eq!(with(&token, &[&host, &cookie, &origin, elsewhere]), 403, "{address}");
        let rebound = format!("Host: example.com:{}", page.port);
        assert_eq!(with(&token, &[&rebound, &cookie, &origin]), 421, "{address}");
        // A GET request changes nothing.
        let got = page.get(&format!("{address}?{body}&{token}"));
        assert!([200, 400, 404, 409].contains(&got.status), "{address}: {}", got.status);
        for method in ["PUT", "DELETE", "PATCH", "OPTIONS"] {
            let lines = [
                format!("{method} {address}?{body}&{token} HTTP/1.1"),
                host.clone(),
                cookie.clone(),
                origin.clone(),
            ];
            assert_eq!(page.raw(&lines, b"").status, 405, "{method} {address}");
        }
    }
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one");
    assert_eq!(memory.list("/memories", None).unwrap().len(), 1);
    assert_eq!(memory.read_version(version).unwrap(), b"one");
}

#[test]
fn every_answer_forbids_the_browser_what_the_page_does_not_need() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/a.html", "<script>alert(1)</script>").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let addresses = PAGES.iter().filter(|address| **address != "/1/changes");
    for address in addresses.chain(&["/1/download?path=/memories/a.html", "/9/", "/x/", "/open/x"])
    {
        let answer = page.get(address);
        let policy = answer.header("content-security-policy").expect(address);
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{address}");
        }
        assert!(!answer.head.to_lowercase().contains("access-control"), "{address}");
    }
    let file = page.get("/1/download?path=/memories/a.html");
    assert_eq!(file.header("content-type"), Some("application/octet-stream"));
    assert!(file.header("content-disposition").unwrap().starts_with("attachment"));
    assert_eq!(page.get("/1/image?path=/memories/a.html").status, 404);
    let shown = page.get("/1/file?path=/memories/a.html").text();
    assert!(!shown.contains("<script>alert"), "{shown}");
}

#[test]
fn a_database_on_a_server_is_only_shown() {
    let Some(server) = postgres::server() else { return };
    let address = server.address("page");
    let password = between(&address, "postgres://memdir:", "@");
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/a.md", "one").unwrap();

    let place = tempfile::tempdir().unwrap();
    let local = place.path().to_str().unwrap();
    let open = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
        command.env("STORE", &address);
        Page::with(command, &[local, "env:STORE"], arguments)
    };
    let page = open(&[]);
    let shown = page.get("/2/file").text();
    assert!(shown.contains("a.md") && shown.contains("read-only"), "{shown}");
    assert!(!password.is_empty() && !shown.contains(password), "{shown}");
    // A form with the page's token, which is valid for the writable memory, is refused.
    for asked in ["delete", "edit", "rename", "undo", "restore", "redact", "new", "conflict"] {
        let fields = [("path", "/memories/a.md"), ("to", "/memories/b.md"), ("reason", "x")];
        assert_eq!(page.post(&format!("/2/{asked}"), &fields).status, 403, "{asked}");
    }
    assert_eq!(memory.list("/memories", None).unwrap().len(), 1);
    let mut told = listening_to(&page, 2);
    assert_eq!(told.next().unwrap(), r#"{"changes":[]}"#);
    memory.create("/memories/b.md", "two").unwrap();
    assert!(told.next().unwrap().contains("/memories/b.md"));

    let page = open(&["--writable"]);
    assert_eq!(page.post("/2/delete", &[("path", "/memories/a.md")]).status, 303);
    assert!(!memory.exists("/memories/a.md").unwrap());
}

#[test]
fn a_memory_that_is_only_shown_cannot_be_changed() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one").unwrap();
    let version =
        memory.history(&memdir::history::HistoryQuery::default()).unwrap()[0].id.to_string();
    let store = place.path().to_str().unwrap();
    let page = Page::open(&[store], &["--read-only"]);
    for address in ["/1/", "/1/file?path=/memories/a.md", "/1/history", "/1/file"] {
        let shown = page.get(address);
        assert_eq!(shown.status, 200, "{address}");
        assert!(!shown.text().contains("method=\"post\""), "{address}");
        for word in [">Edit<", ">Delete<", ">Rename<", ">Undo<", ">Restore<", ">New<"] {
            assert!(!shown.text().contains(word), "{address}: {word}");
        }
    }
    for (asked, name, value) in [
        ("edit", "path", "/memories/a.md"),
        ("new", "path", "/memories"),
        ("rename", "path", "/memories/a.md"),
        ("delete", "path", "/memories/a.md"),
        ("restore", "id", &version),
        ("undo", "id", &version),
        ("redact", "id", &version),
    ] {
        let answer = page.get(&format!("/1/{asked}?{name}={value}"));
        assert_eq!(answer.status, 403, "{asked}");
        assert!(!answer.text().contains("name=\"token\""), "{asked}");
    }
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one");
}
