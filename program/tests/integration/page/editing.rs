//! Changes by a person: forms, conflicts, drafts.

use super::*;

#[test]
fn a_person_changes_files_and_each_change_can_be_undone() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/old.md", "one\n").unwrap();
    memory.delete("/memories/old.md").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);

    // A text area drops its first line ending, and sends all others as CRLF.
    let text = "\r\nfirst\r\n<b>\u{202e}\r\n";
    let made = page.post("/1/new", &[("to", "/memories/team/a.md"), ("text", text)]);
    assert_eq!(made.status, 303, "{}", made.text());
    assert_eq!(memory.read("/memories/team/a.md").unwrap(), "\nfirst\n<b>\u{202e}\n");
    let editor = page.get("/1/edit?path=/memories/team/a.md").text();
    assert!(editor.contains("\n\nfirst\n&lt;b&gt;"), "{editor}");
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let edit = [("path", "/memories/team/a.md"), ("base", &base), ("text", "second\r\n")];
    assert_eq!(page.post("/1/edit", &edit).status, 303);
    assert_eq!(memory.read("/memories/team/a.md").unwrap(), "second\n");
    let renamed = [("path", "/memories/team"), ("to", "/memories/group")];
    assert_eq!(page.post("/1/rename", &renamed).status, 303);
    assert_eq!(page.post("/1/delete", &[("path", "/memories/group")]).status, 303);
    assert!(!memory.exists("/memories/group/a.md").unwrap());

    let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    assert!(versions[..4].iter().all(|version| version.actor.as_deref() == Some("Ann")));
    let undone = page.post("/1/undo", &[("id", &versions[0].change.to_string())]);
    assert_eq!(undone.status, 303, "{}", undone.text());
    assert_eq!(memory.read("/memories/group/a.md").unwrap(), "second\n");
    let deletion =
        versions.iter().find(|version| version.path.as_str() == "/memories/old.md").unwrap();
    assert_eq!(page.post("/1/restore", &[("id", &deletion.id.to_string())]).status, 303);
    assert_eq!(memory.read("/memories/old.md").unwrap(), "one\n");
    let first = versions.iter().rfind(|version| version.path.as_str().ends_with("a.md")).unwrap();
    let redacted = page.post("/1/redact", &[("id", &first.id.to_string()), ("reason", "<i>x</i>")]);
    assert_eq!(redacted.status, 303, "{}", redacted.text());
    assert_eq!(
        memory.read_version(first.id).unwrap_err().kind(),
        Some(memdir::history::HistoryErrorKind::Redacted)
    );
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    assert_eq!(newest.operation.as_str(), "redacted");
    let timeline = page.get("/1/history").text();
    for id in [newest.id, first.id] {
        assert!(!timeline.contains(&format!("restore?id={id}")), "{timeline}");
    }
    let shown = page.get(&format!("/1/version?id={}", first.id)).text();
    assert!(shown.contains("&lt;i&gt;x&lt;/i&gt;") && !shown.contains("<i>"), "{shown}");
}

#[test]
fn what_a_page_offers_to_undo_is_its_own_change() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let save = |text| {
        let fields = [("path", "/memories/a.md"), ("base", base.as_str()), ("text", text)];
        let saved = page.post("/1/edit", &fields);
        assert_eq!(saved.status, 303, "{}", saved.text());
        page.get(saved.header("location").unwrap()).text()
    };
    let nothing = save("one\r\n");
    assert!(nothing.contains("Nothing to do."), "{nothing}");
    assert!(!nothing.contains("/1/undo?"), "{nothing}");
    let saved = save("two\r\n");
    let newest = memory.history(&memdir::history::HistoryQuery::default()).unwrap().remove(0);
    assert_eq!(newest.actor.as_deref(), Some("Ann"));
    assert!(saved.contains(&format!("/1/undo?id={}", newest.change)), "{saved}");
}

#[test]
fn what_changed_meanwhile_is_not_overwritten_and_both_are_shown() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\r\ntwo\r\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let base = |editor: &str| between(editor, "name=\"base\" value=\"", "\"").to_owned();
    let first = base(&page.get("/1/edit?path=/memories/a.md").text());
    memory.str_replace("/memories/a.md", "two", "theirs").unwrap();

    let mine = [("path", "/memories/a.md"), ("base", &first), ("text", "one\r\nmine\r\n")];
    let conflict = page.post("/1/edit", &mine);
    assert_eq!(conflict.status, 200);
    let shown = conflict.text();
    assert!(shown.contains("theirs") && shown.contains("mine") && shown.contains("Not saved"));
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\r\ntheirs\r\n");

    // With the text that was opened, both are merged.
    let was = [("was", "one\r\ntwo\r\n"), ("text", "mine\r\none\r\ntwo\r\n")];
    let fields = |pairs: &[(&'static str, &'static str)]| {
        let mut all = vec![("path", "/memories/a.md"), ("base", first.as_str())];
        all.extend_from_slice(pairs);
        page.post("/1/edit", &all).text()
    };
    let merged = fields(&[was[0], ("text", "one\r\nmine\r\n")]);
    assert!(merged.contains("In 1 place they are on the same lines"), "{merged}");
    assert!(
        merged.contains("one\n&lt;&lt;&lt;&lt;&lt;&lt;&lt; yours\nmine\n=======\ntheirs\n"),
        "{merged}"
    );
    // A text that does not match the fingerprint was not the opened one.
    let other = fields(&[("was", "other"), was[1]]);
    assert!(other.contains("Overwrite with your text") && !other.contains("Save the merged text"));

    // Its form is based on the current content, and keeps the line endings.
    let second = base(&shown);
    let again = [("path", "/memories/a.md"), ("base", &second), ("text", "one\r\nboth\r\n")];
    assert_eq!(page.post("/1/edit", &again).status, 303);
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\r\nboth\r\n");

    memory.delete("/memories/a.md").unwrap();
    let gone = page.post("/1/edit", &again);
    assert_eq!(gone.status, 200);
    assert!(gone.text().contains("deleted or moved") && gone.text().contains("both"));
    assert!(!memory.exists("/memories/a.md").unwrap());

    memory.create("/memories/b.md", "a\rb\n").unwrap();
    let refused = page.get("/1/edit?path=/memories/b.md");
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("end in several ways"));
}

#[test]
fn marks_of_a_conflict_are_saved_only_if_they_are_meant() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    let base = between(&editor, "name=\"base\" value=\"", "\"").to_owned();
    let text = "<<<<<<< yours\r\nx\r\n=======\r\none\r\n>>>>>>> there now\r\n";
    let mut fields = vec![("path", "/memories/a.md"), ("base", &base), ("text", text)];
    let asked = page.post("/1/edit", &fields);
    assert_eq!(asked.status, 200);
    assert!(asked.text().contains("still has conflict marks"), "{}", asked.text());
    assert_eq!(memory.read("/memories/a.md").unwrap(), "one\n");
    fields.push(("marks", "1"));
    assert_eq!(page.post("/1/edit", &fields).status, 303);
    assert_eq!(memory.read("/memories/a.md").unwrap(), text.replace('\r', ""));
}

#[test]
fn a_file_that_never_was_is_not_found_and_only_text_is_edited() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/a.md", "one\u{a0}\n").unwrap();
    memory.create("/memories/gone.md", "x").unwrap();
    memory.delete("/memories/gone.md").unwrap();
    let path = memdir::MemoryPath::parse("/memories/d.bin").unwrap();
    memory.store().write(&path, b"\xff\0", memdir::OnExisting::Error).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    assert_eq!(page.get("/1/file?path=/memories/never.md").status, 404);
    assert_eq!(page.get("/1/file?path=/memories/gone.md").status, 200);
    // The browser may still have its draft.
    let gone = page.get("/1/edit?path=/memories/gone.md");
    assert_eq!(gone.status, 404);
    assert!(gone.text().contains("data-draft=\"/memories/gone.md\""));
    assert!(page.get("/1/file?path=/memories/a.md").text().contains("/1/edit?"));
    assert!(!page.get("/1/file?path=/memories/d.bin").text().contains("/1/edit?"));
    let editor = page.get("/1/edit?path=/memories/a.md").text();
    assert!(editor.contains("⟨U+00A0⟩ in line 1"), "{editor}");
}

#[test]
fn no_draft_is_kept_of_an_encrypted_memory() {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_memdir"));
    command.env("MEMDIR_ENCRYPTION_KEY", "correct horse battery staple");
    let page = Page::with(command, &[place.path().join("new").to_str().unwrap()], &[]);
    let made = page.post("/1/new", &[("to", "/memories/a.md"), ("text", "x")]);
    assert_eq!(made.status, 303);
    for address in ["/1/new", "/1/edit?path=/memories/a.md"] {
        assert!(!page.get(address).text().contains("data-draft"), "{address}");
    }
}

#[test]
fn a_form_that_is_too_large_is_refused_with_a_sentence() {
    let place = tempfile::tempdir().unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let body =
        format!("token={}&to=%2Fmemories%2Fa&text={}", page.token(), "x".repeat((193 << 20) + 1));
    let answer = page.form("/1/new", &body, &[page.host(), page.cookie(), page.origin()]);
    assert_eq!(answer.status, 413);
    assert!(answer.text().contains("too large"));
}

/// A file is at the path of another one's former directory: the person gets a message, and nothing
/// breaks.
#[test]
fn what_is_in_the_way_of_a_restored_file_is_said() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/b/c.txt", "one").unwrap();
    memory.delete("/memories/b").unwrap();
    memory.create("/memories/b", "two").unwrap();
    let before = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
    let (deleted, created) = (&before[1], &before[2]);
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    for (asked, id, others) in [
        ("restore", created.id, &[][..]),
        ("restore", deleted.id, &[("overwrite", "1")]),
        ("restore", deleted.change, &[]),
        ("undo", deleted.change, &[]),
    ] {
        let id = id.to_string();
        let answer = page.post(&format!("/1/{asked}"), &[&[("id", &*id)][..], others].concat());
        let shown = answer.text();
        assert_eq!(answer.status, 200, "{asked}: {shown}");
        assert!(shown.contains("Nothing was changed"), "{asked}: {shown}");
        assert!(shown.contains("Something else is in the way:"), "{asked}: {shown}");
        assert!(!shown.contains("Later changes stand on it"), "{asked}: {shown}");
        assert!(shown.contains("/1/file?path=/memories/b\""), "{asked}: {shown}");
        let question = page.get(&format!("/1/{asked}?id={id}"));
        assert_eq!(question.status, 200, "{asked}");
    }
    assert_eq!(memory.history(&memdir::history::HistoryQuery::default()).unwrap(), before);
}
