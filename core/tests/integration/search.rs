//! The ranked search: what it finds, in which order, and how options change that.
#![cfg(feature = "search")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "`on_every_store` passes a store")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use memdir::store::{Entry, Store};
use memdir::{Error, ErrorKind, Memory, MemoryOptions};

use crate::common::search::{FILES, found, options, over, paths};
use crate::common::store_helpers::{at, put};

/// Questions about [`FILES`].
const QUESTIONS: [&str; 9] = [
    "Who preferred tea?",
    "Vertrag",
    "17 March 2024",
    "北京",
    "user id",
    "calender",
    "\"green tea\"",
    "tea -espresso",
    "path:mounted",
];

#[test]
fn a_hit_has_passages_with_their_lines_and_words() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let text = "# People\n\n- Anna prefers green tea\n- Ben prefers espresso\n";
    memory.create("/memories/people.md", text).unwrap();
    memory.create("/memories/teas/black.md", "Assam\n").unwrap();
    let results = memory.search("which tea did Anna prefer?", "/memories", 10).unwrap();
    assert_eq!(results.files_left_out, 0);
    assert_eq!(paths(&results), ["/memories/people.md", "/memories/teas/black.md"]);
    let [best, other] = &results.hits[..] else { panic!("{results:?}") };
    assert!(best.score > other.score && best.modified.is_some());
    let passage = &best.passages[0];
    let (first, last) = (passage.first_line, passage.last_line);
    let lines: Vec<&str> = text.lines().collect();
    let shown =
        lines[usize::try_from(first).unwrap() - 1..usize::try_from(last).unwrap()].join("\n");
    assert_eq!(passage.text, shown);
    let words = passage.matches.iter().map(|place| {
        let [start, end] = [place.start, place.end].map(|at| usize::try_from(at).unwrap());
        &passage.text[start..end]
    });
    assert_eq!(words.collect::<Vec<_>>(), ["Anna", "prefers", "tea", "prefers"]);
    // By a word of its path.
    assert_eq!(other.passages[0].text, "Assam");
    assert!(other.passages[0].matches.is_empty());
}

#[test]
fn the_root_is_no_word_of_a_path_and_restrictions_may_name_it() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    memory.create("/memories/a/tea.md", "green").unwrap();
    memory.create("/memories/b/tea.md", "green, from memories").unwrap();
    assert_eq!(found(&memory, "memories"), ["/memories/b/tea.md"]);
    assert_eq!(found(&memory, "green path:/memories/a"), ["/memories/a/tea.md"]);
    assert_eq!(found(&memory, "green path:\"/memories/a\""), ["/memories/a/tea.md"]);
    assert_eq!(found(&memory, "green -path:/memories/a/tea.md"), ["/memories/b/tea.md"]);
    for all in ["path:/memories/", "path:/memories", "path:\"/memories\"", "green path:/memories"] {
        assert_eq!(found(&memory, all).len(), 2, "{all}");
    }
    // Neither the case nor the kind of the quotes matters, as in other restrictions.
    for one in
        ["PATH:/memories/a", "path:/Memories/A", "path:“/memories/a”", "path:「/memories/a」"]
    {
        assert_eq!(found(&memory, one), ["/memories/a/tea.md"], "{one}");
    }
    assert_eq!(found(&memory, "green -Path:/memories"), [] as [&str; 0]);
    // A name that only begins like the root is another one.
    memory.create("/memories/memories2/x.md", "milk").unwrap();
    assert_eq!(found(&memory, "path:/memories2"), ["/memories/memories2/x.md"]);
}

#[test]
fn a_path_restricts_the_hits_and_must_exist() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for path in ["/memories/tea", "/memories/tea.md", "/memories/teas/a", "/memories/x/tea"] {
        memory.create(path, "green").unwrap();
    }
    let within = |path: &str| memory.search("green", path, 10).map(|results| paths(&results));
    assert_eq!(within("/memories/tea").unwrap(), ["/memories/tea"]);
    assert_eq!(within("/memories/teas").unwrap(), ["/memories/teas/a"]);
    assert_eq!(within("/memories/").unwrap().len(), 4);
    let missing = within("/memories/te").unwrap_err();
    assert_eq!(missing.to_string(), memory.list("/memories/te", None).unwrap_err().to_string());
    assert!(matches!(within("/memories/../etc"), Err(Error::Refused(_))));
    memory.delete("/memories/teas/a").unwrap();
    assert_eq!(within("/memories/teas").unwrap(), [] as [&str; 0]);
    // The scores are those of the whole memory.
    let all = memory.search("green", "/memories", 10).unwrap();
    let one = memory.search("green", "/memories/x", 10).unwrap();
    assert!(all.hits.contains(&one.hits[0]));
}

#[test]
fn the_limit_is_kept_and_bounded() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    for number in 0..1_005 {
        put(&**memory.store(), &format!("/memories/{number}"), "green");
    }
    let hits = |limit| memory.search("green", "/memories", limit).unwrap().hits.len();
    assert_eq!([0, 1, 999, 1_000, 1_001, usize::MAX].map(hits), [0, 1, 999, 1_000, 1_000, 1_000]);
}

fn the_same_files_have_the_same_order_on(store: Arc<dyn Store>) {
    let mut index = memdir_search::Index::new(memdir_search::Options::default());
    let memory = over(&store);
    // In another order.
    for (path, text) in FILES.iter().rev() {
        memory.write(path, text, None).unwrap();
    }
    for (path, text) in FILES {
        index.put(path.strip_prefix("/memories").unwrap(), text, None).unwrap();
    }
    for question in QUESTIONS {
        let expected = index.search(&memdir_search::Query::parse(question), 10);
        let hits = memory.search(question, "/memories", 10).unwrap().hits;
        let expected: Vec<_> = expected
            .into_iter()
            .map(|hit| (format!("/memories{}", hit.path), hit.score, hit.passages.len()))
            .collect();
        let hits: Vec<_> =
            hits.iter().map(|hit| (hit.path.to_string(), hit.score, hit.passages.len())).collect();
        assert_eq!(hits, expected, "{question}");
    }
}
on_every_store!(the_same_files_have_the_same_order_on);

fn the_ranking_tells_nothing_of_a_redacted_text(store: Arc<dyn Store>) {
    const SECRET: &str = "url: postgres://app:t7Kq-9zLw2@db/app\n";
    put(&*store, "/memories/a.md", SECRET);
    put(&*store, "/memories/b.md", "url of the app: see a\n");
    put(&*store, "/memories/raw", b"t7Kq-9zLw2 \xff");
    let hiding =
        Memory::with_store(Arc::clone(&store), options(|options| options.sensitive_on_view = true));
    let shown = hiding.read_shown("/memories/a.md").unwrap();
    assert!(!shown.contains("t7Kq"));
    let redacted = Memory::open("memory:", MemoryOptions::default()).unwrap();
    redacted.create("/memories/a.md", &shown).unwrap();
    redacted.create("/memories/b.md", "url of the app: see a\n").unwrap();
    redacted.create("/memories/raw", "").unwrap();
    for query in ["t7Kq-9zLw2", "t7Kq", "9zLw2", "\"t7Kq 9zLw2\"", "app url", "REDACTED", "raw"] {
        let without_times = |memory: &Memory| {
            let hits = memory.search(query, "/memories", 10).unwrap().hits;
            let parts = hits.into_iter().map(|hit| (hit.path, hit.score, hit.passages));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(without_times(&hiding), without_times(&redacted), "{query}");
    }
    assert!(found(&hiding, "t7Kq").is_empty());
    assert_eq!(found(&over(&store), "t7Kq"), ["/memories/raw", "/memories/a.md"]);
}
on_every_store!(the_ranking_tells_nothing_of_a_redacted_text);

fn hidden_files_and_images_are_not_searched(store: Arc<dyn Store>) {
    for path in ["/memories/.draft", "/memories/.git/a", "/memories/a/.b/c", "/memories/a/.d"] {
        put(&*store, path, "green");
    }
    put(&*store, "/memories/green-tea.PNG", "matcha");
    put(&*store, "/memories/raw", b"green \xff oolong");
    put(&*store, "/memories/large", [&b"x\n".repeat(100_000)[..], b"sencha \xff oolong"].concat());
    let memory = over(&store);
    assert_eq!(found(&memory, "green"), ["/memories/raw", "/memories/green-tea.PNG"]);
    assert!(found(&memory, "matcha oolong").is_empty());
    assert_eq!(found(&memory, "sencha"), ["/memories/large"]);
}
on_every_store!(hidden_files_and_images_are_not_searched);

fn a_search_at_a_hidden_path_finds_what_a_listing_of_it_shows(store: Arc<dyn Store>) {
    for path in
        [".draft", ".git/a", ".git/b/c", ".git/.no", "a/.b/c", "node_modules/d", "d/green.md"]
    {
        put(&*store, &format!("/memories/{path}"), "green");
    }
    let hiding = options(|options| options.sensitive_on_view = true);
    for memory in [over(&store), Memory::with_store(Arc::clone(&store), hiding)] {
        for path in [".draft", ".git", ".git/b", "a/.b", "node_modules", "node_modules/d"] {
            let path = format!("/memories/{path}");
            let listed = memory.list(&path, None).unwrap().into_iter().filter(Entry::is_file);
            let mut expected: Vec<String> = listed.map(|entry| entry.path.to_string()).collect();
            let mut hits = paths(&memory.search("green", &path, 10).unwrap());
            expected.sort();
            hits.sort();
            assert!(!hits.is_empty() && hits == expected, "{path}: {hits:?}");
        }
        // The files of the memory are still those of its listing.
        assert_eq!(found(&memory, "green"), ["/memories/d/green.md"]);
        for path in ["/memories/.none", "/memories/.git/none", "/memories/.draft/a"] {
            let refused = memory.search("green", path, 10).unwrap_err().to_string();
            assert_eq!(refused, memory.list(path, None).unwrap_err().to_string());
        }
    }
}
on_every_store!(a_search_at_a_hidden_path_finds_what_a_listing_of_it_shows);

#[test]
fn hostile_files_are_searched_or_left_out() {
    let memory =
        Memory::open("memory:", options(|options| options.search_max_bytes = Some(64 << 20)))
            .unwrap();
    let store = &**memory.store();
    put(store, "/memories/line", format!("{}\ngreen", "x".repeat(5 << 20)));
    put(store, "/memories/headings", "# green\n".repeat(100_000));
    put(store, "/memories/zeros", vec![0; 5 << 20]);
    put(store, "/memories/not-text", vec![0xff; 5 << 20]);
    put(store, "/memories/huge", vec![b'a'; 65 << 20]);
    put(store, "/memories/tea", "green");
    let results = memory.search("green", "/memories", 10).unwrap();
    let found: BTreeSet<String> = paths(&results).into_iter().collect();
    let expected = ["/memories/headings", "/memories/line", "/memories/tea"];
    assert_eq!(found, expected.map(ToOwned::to_owned).into());
    assert_eq!(results.files_left_out, 1);
    let texts = results.hits.iter().flat_map(|hit| &hit.passages);
    assert!(texts.map(|passage| passage.text.len()).sum::<usize>() < 20_000);
}

#[test]
fn a_question_of_any_kind_is_answered() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    memory.create("/memories/tea.md", "green").unwrap();
    for query in ["", " ", "\"", "-", "path:", "path:/memories/", "\0", "𝕏", &"x ".repeat(1 << 20)]
    {
        memory.search(query, "/memories", 10).unwrap();
    }
    assert_eq!(found(&memory, &format!("{}green", "x ".repeat(30))), ["/memories/tea.md"]);
}

#[test]
fn the_options_change_the_ranking() {
    let open = |set: fn(&mut MemoryOptions)| {
        let memory = Memory::open("memory:", options(set)).unwrap();
        let day = Duration::from_secs(86_400);
        for (path, text, age) in
            [("/memories/a", "the meetings", 0), ("/memories/b", "meetings", 90)]
        {
            put(&**memory.store(), path, text);
            let time = SystemTime::UNIX_EPOCH + 1_000 * day - age * day;
            memory.store().set_modified(&at(path), time).unwrap();
        }
        memory
    };
    assert_eq!(found(&open(|_| {}), "meeting"), ["/memories/a", "/memories/b"]);
    let none = open(|options| options.search_language = memdir::SearchLanguage::None);
    assert_eq!(found(&none, "the"), ["/memories/a"]);
    let scores = |memory: &Memory| {
        let hits = memory.search("meetings", "/memories", 10).unwrap().hits;
        let of = |path: &str| hits.iter().find(|hit| hit.path.as_str() == path).unwrap().score;
        of("/memories/a") / of("/memories/b")
    };
    let recent = open(|options| options.search_recency = Some(Duration::from_secs(86_400)));
    assert!(scores(&recent) > 1.3 * scores(&open(|_| {})));
    assert_eq!(
        "turkish".parse::<memdir::SearchLanguage>().unwrap(),
        memdir::SearchLanguage::Turkish
    );
    let zero = options(|options| options.search_recency = Some(Duration::ZERO));
    let refused = Memory::open("memory:", zero).unwrap_err().to_string();
    assert!(refused.starts_with("search_recency must be more than 0"), "{refused}");
    let wrong = "klingon".parse::<memdir::SearchLanguage>().unwrap_err();
    assert!(wrong.to_string().starts_with("search_language"), "{wrong}");
}

#[test]
fn a_read_only_memory_is_searched() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().to_str().unwrap();
    let memory = Memory::open(base, MemoryOptions::default()).unwrap();
    memory.create("/memories/tea.md", "green").unwrap();
    let reading = Memory::open(base, options(|options| options.read_only = true)).unwrap();
    assert_eq!(found(&reading, "green"), ["/memories/tea.md"]);
    memory.create("/memories/b.md", "green").unwrap();
    assert_eq!(found(&reading, "green").len(), 2);
}

#[test]
fn the_error_of_a_missing_path_has_its_kind() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let Err(Error::Refused(refused)) = memory.search("tea", "/memories/no", 10) else { panic!() };
    assert_eq!(refused.kind(), ErrorKind::NotFound);
}
