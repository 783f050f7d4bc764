//! No request breaks the page, whatever it contains.

use super::*;

#[test]
fn no_request_breaks_it() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "# One\n<script>alert(1)</script>\n").unwrap();
    memory.create("/memories/b/c.txt", "two\n").unwrap();
    memory.str_replace("/memories/b/c.txt", "two", "three").unwrap();
    memory
        .store()
        .write(
            &memdir::MemoryPath::parse("/memories/d.bin").unwrap(),
            b"\xff\0",
            memdir::OnExisting::Error,
        )
        .unwrap();
    let before = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let ids: Vec<_> = before.iter().flat_map(|version| [version.id, version.change]).collect();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let token = page.token();

    let known = [
        "",
        "file",
        "branch",
        "image",
        "download",
        "history",
        "version",
        "diff",
        "compare",
        "search",
        "best",
        "sensitive",
        "edit",
        "new",
        "rename",
        "delete",
        "restore",
        "undo",
        "redact",
        "open/x",
        "%2e%2e",
    ];
    let names = [
        "path",
        "view",
        "from",
        "q",
        "regex",
        "case",
        "past",
        "id",
        "other",
        "diff",
        "actor",
        "since",
        "preset",
        "zone",
        "before",
        "token",
        "text",
        "base",
        "was",
        "marks",
        "to",
        "reason",
        "overwrite",
        "done",
        "x",
    ];
    let id = proptest::sample::select(ids).prop_map(|id| id.to_string());
    let value = prop_oneof![
        proptest::sample::select(vec![
            "/memories",
            "/memories/a.md",
            "/memories/b",
            "/memories/../x",
            "/etc",
            "side",
            "1",
            "18446744073709551615",
            "-1",
            "2026-01-01",
            "9999-12-31",
            "23:59",
            "yesterday 9:00",
            "99999999999w",
            "-23:59",
            "(",
            "[",
            "saved",
            "",
            "\0"
        ])
        .prop_map(str::to_owned),
        id,
        ".{0,40}",
        "[0-9a-f-]{30,40}",
    ];
    let parameters =
        proptest::collection::vec((proptest::sample::select(names.to_vec()), value), 0..5);
    let request = (
        proptest::sample::select(known.to_vec()),
        "(1|1|1|1|2|0|x|18446744073709551616|%31)",
        parameters,
        proptest::sample::select(vec!["GET", "GET", "GET", "HEAD", "POST", "DELETE", "BREW"]),
        any::<bool>(),
    );
    let mut runner = TestRunner::new(effort::cases(150));
    runner
        .run(&request, |(path, memory, parameters, method, is_raw)| {
            let fields = parameters.iter().map(|(name, value)| {
                let value = if is_raw {
                    value.chars().filter(char::is_ascii_graphic).collect()
                } else {
                    utf8_percent_encode(value, NON_ALPHANUMERIC).to_string()
                };
                format!("{name}={value}")
            });
            let query = fields.collect::<Vec<_>>().join("&");
            let answer = if method == "POST" {
                // Without the token.
                let others = [page.host(), page.cookie(), page.origin()];
                page.form(&format!("/{memory}/{path}"), &query, &others)
            } else {
                let address = format!("{method} /{memory}/{path}?{query} HTTP/1.1");
                page.raw(&[address, page.host(), page.cookie()], b"")
            };
            prop_assert!(answer.status < 500, "{} {}", answer.status, answer.text());
            prop_assert!(!String::from_utf8_lossy(&answer.body).contains("<script>"));
            Ok(())
        })
        .unwrap();
    let after = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    assert_eq!(before, after);

    // With the token, changes are made: the memory stays intact, and the server keeps working.
    let fields = (
        proptest::sample::select(vec![
            "edit", "new", "rename", "delete", "restore", "undo", "redact",
        ]),
        proptest::collection::vec((proptest::sample::select(names.to_vec()), ".{0,30}"), 0..4),
        proptest::sample::select(vec![
            "/memories/a.md",
            "/memories/b",
            "/memories/e/f.md",
            "/memories",
            "x",
            "",
        ]),
        proptest::sample::select(
            before.iter().map(|version| version.id.to_string()).collect::<Vec<_>>(),
        ),
    );
    let mut runner = TestRunner::new(effort::cases(100));
    runner
        .run(&fields, |(asked, others, path, id)| {
            let encoded = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
            let mut body = format!("token={token}");
            for (name, value) in
                [("path", path), ("to", path), ("id", id.as_str()), ("reason", "x"), ("text", "y")]
            {
                if !others.iter().any(|(other, _)| other == &name) {
                    body += &format!("&{name}={}", encoded(value));
                }
            }
            for (name, value) in &others {
                if *name != "token" && !body.contains(&format!("&{name}=")) {
                    body += &format!("&{name}={}", encoded(value));
                }
            }
            let answer = page.form(
                &format!("/1/{asked}"),
                &body,
                &[page.host(), page.cookie(), page.origin()],
            );
            prop_assert!(
                answer.status < 500,
                "{} {asked} {body}: {}",
                answer.status,
                answer.text()
            );
            Ok(())
        })
        .unwrap();
    assert_eq!(page.get("/1/").status, 200);
    let checked = memdir::check(memory.store(), &mut |problem| panic!("{problem:?}"));
    assert!(checked.is_ok());
}
