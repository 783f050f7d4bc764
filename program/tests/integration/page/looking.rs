//! Views: several memories, the tree, searches.

use super::*;

#[test]
fn several_memories_are_apart_and_one_without_a_history_says_so() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    memory(Path::new(&path("a"))).create("/memories/a.md", "one").unwrap();
    let database = format!("sqlite:{}", path("b.db"));
    let other = Memory::open(&database, MemoryOptions::default()).unwrap();
    other.create("/memories/b.md", "two").unwrap();
    let page = Page::open(&[&path("a"), &database], &[]);
    assert!(page.get("/1/file").text().contains("a.md"));
    assert!(!page.get("/1/file").text().contains("b.md"));
    assert!(page.get("/2/file").text().contains("b.md"));
    assert_eq!(page.get("/3/").status, 404);
    assert!(page.get("/2/history").text().contains("This memory has no history"));
    assert!(page.get("/2/delete?path=/memories/b.md").text().contains("you cannot undo this"));
    // The agent begins one.
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::open(&database, options).unwrap().create("/memories/c.md", "three").unwrap();
    assert!(page.get("/2/history").text().contains("c.md"));
}

#[test]
fn what_is_searched_for_is_marked_where_it_is_found_and_where_it_leads() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let text = "one\nthe <b>Tea</b> and tea\u{202e}\n";
    memory.create("/memories/tea.md", text).unwrap();
    memory.create("/memories/old.txt", "x\nold TEA\n").unwrap();
    memory.write("/memories/old.txt", "x\n", None).unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let marks = |text: &str| {
        text.split("<mark>")
            .skip(1)
            .map(|rest| between(rest, "", "</mark>").to_owned())
            .collect::<Vec<_>>()
    };
    let found = page.get("/1/search?q=tea&past=1").text();
    assert_eq!(marks(&found), ["tea", "Tea", "tea", "TEA"], "{found}");
    // Case matters on request, and marked text is never markup.
    assert_eq!(marks(&page.get("/1/search?q=Tea&case=1").text()), ["Tea"]);
    let markup = page.get("/1/search?q=%3Cb%3E").text();
    assert_eq!(marks(&markup), ["&lt;b&gt;"], "{markup}");
    assert_eq!(marks(&page.get("/1/search?q=t.a&regex=1").text()), ["tea", "Tea", "tea"]);
    for link in found.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let Some((address, line)) = link
            .replace("&amp;", "&")
            .split_once('#')
            .map(|(one, two)| (one.to_owned(), two.to_owned()))
        else {
            continue;
        };
        if !line.starts_with('L') {
            continue;
        }
        let opened = page.get(&address).text();
        let there = opened.split(&format!("id=\"{line}\"")).nth(1).expect(&address);
        let there = there.split("id=\"L").next().unwrap();
        assert!(marks(there).iter().all(|mark| mark.eq_ignore_ascii_case("tea")), "{there}");
        assert!(!marks(there).is_empty(), "{address}: {there}");
        assert!(!opened.contains("<details class=\"content\" id=\"content\">"), "{opened}");
    }
    // An address with an invalid search marks nothing.
    let opened = page.get("/1/file?path=/memories/tea.md&view=source&q=(&regex=1");
    assert_eq!((opened.status, marks(&opened.text()).len()), (200, 0));
    // A search for it shows the input and its error.
    let wrong = page.get("/1/search?q=(&regex=1");
    assert_eq!(wrong.status, 200);
    assert!(wrong.text().contains(r#"name="q" value="(""#), "{}", wrong.text());
    assert!(wrong.text().contains("q-problem"), "{}", wrong.text());
    // A line that consists of matches is marked up to a limit, and shown completely.
    memory.create("/memories/long.txt", &"a".repeat(20_000)).unwrap();
    let opened = page.get("/1/file?path=/memories/long.txt&view=source&q=a").text();
    assert_eq!(marks(&opened).len(), 5_000);
    assert!(opened.contains(&"a".repeat(15_000)));
}

/// The tree is open down to the shown directory.
#[cfg(feature = "postgres")]
#[test]
fn the_tree_is_open_down_to_what_is_shown() {
    let place = tempfile::tempdir().unwrap();
    memory(place.path()).create("/memories/dir/sub/deep/a.md", "x").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let shown = page.get("/1/file?path=/memories/dir/sub").text();
    let open: Vec<_> = shown.split("aria-expanded=\"").skip(1).collect();
    let are = open.iter().map(|part| part.starts_with("true")).collect::<Vec<_>>();
    // `dir`, which is above it, itself, and the entries below.
    assert_eq!(are, [true, true, false], "{shown}");
}
