//! Conflicts of a sync, and the partners of a memory.

use std::ops::ControlFlow;

use super::*;
use memdir::SyncOptions;
use memdir::history::HistoryQuery;
use memdir::sync::conflicts;
use memdir::text::merge_without_base;

/// Two memories whose sync left a conflict of `tea.md`. The page shows the first one.
struct Kept {
    place: tempfile::TempDir,
    memory: Memory,
    other: Memory,
}

fn sync(a: &Memory, b: &Memory) {
    let mut options = SyncOptions::default();
    options.names = [Some("laptop".to_owned()), Some("<i>server".to_owned())];
    memdir::sync(a, b, &options, &mut |_| ControlFlow::Continue(())).unwrap();
}

impl Kept {
    fn new(ours: &str, theirs: &str, history: bool) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut options = MemoryOptions::default();
        options.history = history;
        let memory = Memory::open(place.path().to_str().unwrap(), options).unwrap();
        let other = Memory::open("memory:", MemoryOptions::default()).unwrap();
        memory.create("/memories/tea.md", ours).unwrap();
        other.create("/memories/tea.md", theirs).unwrap();
        sync(&memory, &other);
        Self { place, memory, other }
    }

    fn page(&self, arguments: &[&str]) -> Page {
        Page::open(&[self.place.path().to_str().unwrap()], arguments)
    }

    fn copy(&self) -> String {
        conflicts(&self.memory).unwrap()[0].copy_path.to_string()
    }

    fn read(&self) -> String {
        self.memory.read("/memories/tea.md").unwrap()
    }
}

fn address(copy: &str, view: &str) -> String {
    let path = utf8_percent_encode(copy, NON_ALPHANUMERIC);
    format!("/1/conflict?path={path}&view={view}")
}

/// Sends the form that the page of the conflict shows, with one more field.
fn resolved(page: &Page, copy: &str, shown: &str, field: (&str, &str)) -> Answer {
    let value = |name: &str| between(shown, &format!("name=\"{name}\" value=\""), "\"").to_owned();
    let [base, of_copy] = [value("base"), value("copy")];
    page.post("/1/conflict", &[("path", copy), ("base", &base), ("copy", &of_copy), field])
}

#[test]
fn partners_and_conflicts_are_listed() {
    let kept = Kept::new("green\n", "black\n", true);
    let page = kept.page(&[]);
    let shown = page.get("/1/sync").text();
    assert!(shown.contains("tea.md</bdi></a>") && shown.contains("&lt;i&gt;server"), "{shown}");
    assert!(!shown.contains("<i>"), "{shown}");
    assert!(page.get("/1/").text().contains("1 conflict"));
    let copy = kept.copy();
    let file = page.get(&format!("/1/file?path={}", utf8_percent_encode(&copy, NON_ALPHANUMERIC)));
    assert!(file.text().contains("Resolve the conflict"), "{}", file.text());
    let one = page.get(&address(&copy, "")).text();
    assert!(one.contains("green") && one.contains("black"), "{one}");

    let lonely = tempfile::tempdir().unwrap();
    let shown = Page::open(&[lonely.path().to_str().unwrap()], &[]).get("/1/sync").text();
    assert!(shown.contains("There are no conflicts.") && shown.contains("no partners"), "{shown}");
}

#[test]
fn each_way_out_leaves_the_chosen_content_and_can_be_undone() {
    for (field, expected) in [
        (("keep", "original"), "green\r\n"),
        (("keep", "copy"), "black\r\n"),
        (("text", "oolong\r\n"), "oolong\r\n"),
    ] {
        let kept = Kept::new("green\r\n", "black\r\n", true);
        let page = kept.page(&[]);
        let copy = kept.copy();
        let shown = page.get(&address(&copy, "edit")).text();
        assert!(shown.contains("&lt;&lt;&lt;&lt;&lt;&lt;&lt;"), "{shown}");
        let answer = resolved(&page, &copy, &shown, field);
        assert_eq!(answer.status, 303, "{}", answer.text());
        assert_eq!(kept.read(), expected);
        assert_eq!(conflicts(&kept.memory).unwrap(), []);
        let to = answer.header("location").unwrap().to_owned();
        let list = page.get(&to).text();
        assert!(list.contains("Resolved.") && list.contains("There are no conflicts."), "{list}");
        let change = to.split_once("&id=").unwrap().1.to_owned();
        let newest = kept.memory.history(&HistoryQuery::default()).unwrap().remove(0);
        assert_eq!(
            (change.as_str(), newest.actor.as_deref()),
            (&*newest.change.to_string(), Some("Ann"))
        );
        assert_eq!(page.post("/1/undo", &[("id", &change)]).status, 303);
        assert_eq!((kept.read().as_str(), kept.copy()), ("green\r\n", copy));
        // It was an ordinary change: the other memory follows.
        sync(&kept.memory, &kept.other);
        assert_eq!(kept.other.read("/memories/tea.md").unwrap(), "green\r\n");
    }
}

#[test]
fn a_conflict_ends_only_with_the_contents_that_were_shown() {
    for field in [("keep", "original"), ("keep", "copy"), ("text", "oolong\n")] {
        for of_copy in [false, true] {
            let kept = Kept::new("green\n", "black\n", false);
            let page = kept.page(&[]);
            let copy = kept.copy();
            let shown = page.get(&address(&copy, "")).text();
            let changed = if of_copy { copy.as_str() } else { "/memories/tea.md" };
            kept.memory.write(changed, "white\n", None).unwrap();
            let answer = resolved(&page, &copy, &shown, field);
            assert_eq!(answer.status, 200, "{}", answer.text());
            let text = answer.text();
            assert!(text.contains("Nothing was changed") && text.contains("white"), "{text}");
            assert!(field.0 == "keep" || text.contains("oolong"), "{text}");
            assert_eq!(kept.memory.read(changed).unwrap(), "white\n");
            assert_eq!(kept.copy(), copy);
            // The form that is shown now works.
            assert_eq!(resolved(&page, &copy, &text, field).status, 303);
        }
    }
}

#[test]
fn a_conflict_whose_file_is_gone_gives_the_copy_its_name() {
    for field in [("keep", "copy"), ("text", "black\n")] {
        let kept = Kept::new("green\n", "black\n", true);
        let page = kept.page(&[]);
        let copy = kept.copy();
        kept.memory.delete("/memories/tea.md").unwrap();
        let shown = page.get(&address(&copy, "")).text();
        assert!(shown.contains("does not exist") && !shown.contains("Keep the file"), "{shown}");
        assert_eq!(resolved(&page, &copy, &shown, field).status, 303);
        assert_eq!(kept.read(), "black\n");
        assert!(!kept.memory.exists(&copy).unwrap());
        // In another tab.
        let again = resolved(&page, &copy, &shown, field);
        assert_eq!(again.status, 404);
        assert!(again.text().contains("There is no such conflict"), "{}", again.text());
        assert_eq!(page.get(&address("/memories/tea.md", "")).status, 404);
    }
}

#[test]
fn a_form_that_says_nothing_or_something_else_changes_nothing() {
    let kept = Kept::new("green\n", "black\n", false);
    let page = kept.page(&[]);
    let copy = kept.copy();
    let shown = page.get(&address(&copy, "")).text();
    for field in [("keep", "both"), ("marks", "1"), ("keep", "")] {
        let answer = resolved(&page, &copy, &shown, field);
        assert_eq!(answer.status, 400, "{}", answer.text());
        assert_eq!((kept.read().as_str(), kept.copy()), ("green\n", copy.clone()));
    }
    // A copy that cannot be deleted stays, and so does the file.
    let page = kept.page(&["--read-only-paths", "/memories/tea (*"]);
    let shown = page.get(&address(&copy, "")).text();
    let answer = resolved(&page, &copy, &shown, ("keep", "copy")).text();
    assert!(answer.contains("Not resolved: ") && !answer.contains("Error:"), "{answer}");
    assert_eq!((kept.read().as_str(), kept.copy()), ("green\n", copy));
}

#[test]
fn a_memory_without_a_history_has_partners() {
    let kept = Kept::new("green\n", "black\n", false);
    for arguments in [&[][..], &["--read-only"], &["--history"]] {
        let shown = kept.page(arguments).get("/1/sync").text();
        assert!(shown.contains("id=\"partners\""), "{arguments:?} {shown}");
    }
}

#[test]
fn a_file_in_the_place_of_a_directory_is_renamed_or_deleted_by_hand() {
    let (place, a) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open =
        |place: &Path| Memory::open(place.to_str().unwrap(), MemoryOptions::default()).unwrap();
    let (memory, other) = (open(place.path()), open(a.path()));
    memory.create("/memories/x", "file\n").unwrap();
    other.create("/memories/x/in.md", "below\n").unwrap();
    sync(&memory, &other);
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let copy = conflicts(&memory).unwrap()[0].copy_path.to_string();
    let shown = page.get(&address(&copy, "")).text();
    assert!(shown.contains("Rename it or delete it") && !shown.contains("Keep the"), "{shown}");
    assert_eq!(page.post("/1/delete", &[("path", &copy)]).status, 303);
    assert_eq!(conflicts(&memory).unwrap(), []);
}

#[test]
fn contents_that_are_not_text_can_be_chosen_and_not_merged() {
    let kept = Kept::new("green\n", "black\n", false);
    let copy = kept.copy();
    let bytes = b"\x00\xff";
    let copy_path = memdir::MemoryPath::parse(&copy).unwrap();
    kept.memory.store().write(&copy_path, bytes, memdir::OnExisting::Overwrite).unwrap();
    let page = kept.page(&[]);
    let shown = page.get(&address(&copy, "")).text();
    assert!(shown.contains("not text") && !shown.contains("Merge both"), "{shown}");
    let refused = page.get(&address(&copy, "edit"));
    assert_eq!(refused.status, 400);
    assert!(refused.text().contains("cannot be merged"), "{}", refused.text());
    assert_eq!(resolved(&page, &copy, &shown, ("text", "x")).status, 400);
    assert_eq!(resolved(&page, &copy, &shown, ("keep", "copy")).status, 303);
    let path = memdir::MemoryPath::parse("/memories/tea.md").unwrap();
    assert_eq!(kept.memory.store().read(&path).unwrap(), bytes);
}

#[test]
fn a_text_with_conflict_marks_is_saved_only_if_they_are_intended() {
    let kept = Kept::new("green\n", "black\n", false);
    let page = kept.page(&[]);
    let copy = kept.copy();
    let shown = page.get(&address(&copy, "edit")).text();
    let marks = merge_without_base("green\n", "black\n").text;
    let marks = marks.as_str();
    let asked = resolved(&page, &copy, &shown, ("text", marks));
    assert_eq!(asked.status, 200);
    assert!(asked.text().contains("still has conflict marks"), "{}", asked.text());
    assert_eq!((kept.read().as_str(), kept.copy()), ("green\n", copy.clone()));
    let value = |name: &str| between(&shown, &format!("name=\"{name}\" value=\""), "\"").to_owned();
    let [base, of_copy] = [value("base"), value("copy")];
    let fields =
        [("path", &*copy), ("base", &base), ("copy", &of_copy), ("text", marks), ("marks", "1")];
    assert_eq!(page.post("/1/conflict", &fields).status, 303);
    assert_eq!(kept.read(), marks);
}

#[test]
fn a_refused_result_and_a_read_only_page_change_nothing() {
    let kept = Kept::new("green\n", "black\n", false);
    let copy = kept.copy();
    let page = kept.page(&["--max-file-bytes", "8"]);
    let shown = page.get(&address(&copy, "")).text();
    let refused = resolved(&page, &copy, &shown, ("text", "far too long\n"));
    assert_eq!(refused.status, 200);
    let text = refused.text();
    assert!(text.contains("Not resolved") && text.contains("far too long"), "{text}");
    assert_eq!((kept.read().as_str(), kept.copy()), ("green\n", copy.clone()));

    let page = kept.page(&["--read-only"]);
    let shown = page.get(&address(&copy, "")).text();
    assert!(shown.contains("black") && !shown.contains("Keep the"), "{shown}");
    assert!(!shown.contains("name=\"token\""), "{shown}");
    assert_eq!(page.get(&address(&copy, "edit")).status, 403);
    assert_eq!(kept.copy(), copy);
}
