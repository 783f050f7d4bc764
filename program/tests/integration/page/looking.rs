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
    let markup = page.get("/1/search?q=%3Cb%3E&exact=1").text();
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

#[test]
fn the_best_files_are_ranked_with_the_words_of_a_question_marked() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let text = "# People\n\nBen takes a train.\n\n## Anna\n\nShe prefers <b>green</b> tea.\r\n";
    let text = format!("{text}\n## Others\n\n{}\n", "many words. ".repeat(100));
    memory.create("/memories/people.md", &text).unwrap();
    memory.create("/memories/tea.md", "Tea is in the kitchen.\n").unwrap();
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    for address in ["/1/best?q=preferred+green+teas", "/1/search?q=preferred+green+teas"] {
        let found = page.get(address).text();
        assert!(found.contains("2 files were found, the best first."), "{found}");
        assert!(found.find("people.md</bdi>") < found.rfind("tea.md</bdi>"), "{found}");
        assert!(found.contains("She <mark>prefers</mark> &lt;b&gt;<mark>green</mark>"), "{found}");
        // The link opens the file at the passage, with the words marked.
        let link = found.split("href=\"").find(|link| link.contains("people.md&amp;view=source"));
        let link = link.unwrap().split('"').next().unwrap().replace("&amp;", "&");
        assert!(link.contains("&lines=1-7#L"), "{link}");
        let opened = page.get(link.split('#').next().unwrap()).text();
        let line = between(&opened, "<div class=\"line passage\" id=\"L7\">", "</div>");
        assert!(line.contains("<mark>prefers</mark> &lt;b&gt;<mark>green</mark>"), "{line}");
        assert!(opened.contains("<div class=\"line\" id=\"L9\">"), "{opened}");
    }
    // The fields limit the text. An address may have more, and the page says what counts.
    let sentence = "The text is long: only its first 4,096 bytes were searched for.";
    for (words, is_cut) in [(1_364, false), (1_365, true), (10_000, true)] {
        let address = format!("/1/search?q={}+tea", "of+".repeat(words - 1) + "s");
        let found = page.get(&address);
        assert_eq!((found.status, found.text().contains(sentence)), (200, is_cut), "{words}");
        assert_eq!(found.text().matches("maxlength=\"4096\"").count(), 2);
    }
    // Nothing, and an address with invalid lines.
    let nothing = page.get("/1/best?q=samovar").text();
    assert!(nothing.contains("Nothing was found.") && !nothing.contains("<li>"), "{nothing}");
    assert_eq!(page.get("/1/best").status, 200);
    assert_eq!(page.get("/1/search?q=tea&path=/memories/none").status, 404);
    for lines in ["-", "1", "9-2", "0-99999999999999999999", "x-y", "7-7&path=/memories/none"] {
        let address = format!("/1/file?path=/memories/tea.md&view=source&q=tea&lines={lines}");
        assert!([200, 400].contains(&page.get(&address).status), "{lines}");
    }
}

#[test]
fn a_ranked_search_counts_files_that_are_left_out_and_shows_no_redacted_text() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    memory.create("/memories/small.md", "tea\n").unwrap();
    memory.create("/memories/large.md", &"tea word ".repeat(20_000)).unwrap();
    let store = place.path().to_str().unwrap();
    let page = Page::open(&[store], &["--search-max-bytes", "50000"]);
    let found = page.get("/1/best?q=tea").text();
    assert!(found.contains("1 file was found. 1 file was not searched"), "{found}");
    drop(page);

    let key = ["AKIA", "IOSFODNN7QWERTYU"].concat();
    memory.create("/memories/key.md", &format!("the harbour key is {key}\n")).unwrap();
    let page = Page::open(&[store], &["--sensitive-on-view", "--read-only"]);
    let found = page.get("/1/best?q=harbour").text();
    assert!(found.contains("<mark>harbour</mark>") && !found.contains(&key), "{found}");
    assert!(page.get(&format!("/1/best?q={key}")).text().contains("Nothing was found."));
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
