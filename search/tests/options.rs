//! Options, and the parts of the interface that the examples do not show.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::time::{Duration, SystemTime};

use memdir_search::{Hit, Index, InvalidIndex, Language, NewFile, Options, Query, Recency};

const DAY: Duration = Duration::from_secs(86_400);

fn index_of(options: Options, files: &[(&str, &str)]) -> Index {
    let mut index = Index::new(options);
    files.iter().for_each(|(path, text)| index.put(path, text, None).unwrap());
    index
}

fn paths(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn recency_prefers_newer_files() {
    let order = |weight: f64| {
        let recency = Recency { weight, half_life: 30 * DAY };
        let mut index = Index::new(Options::default().recency(recency));
        let now = SystemTime::UNIX_EPOCH + 20_000 * DAY;
        index.put("a-old", "tea", Some(now - 90 * DAY)).unwrap();
        index.put("b-new", "tea", Some(now)).unwrap();
        index.put("c-better", "tea and tea", Some(now - 90 * DAY)).unwrap();
        index.put("d-without-time", "tea", None).unwrap();
        let hits = index.search(&Query::text("tea"), 10);
        assert!(hits.iter().all(|hit| hit.score.is_finite()));
        paths(&hits).join(" ")
    };
    assert_eq!(order(0.0), "c-better a-old b-new d-without-time");
    assert_eq!(order(0.1), "c-better b-new a-old d-without-time");
    assert_eq!(order(9.0), "b-new c-better a-old d-without-time");
    assert_eq!(order(f64::NAN), order(0.0));
    assert_eq!(order(-1.0), order(0.0));
    assert!(order(f64::INFINITY).starts_with("b-new"));
}

#[test]
fn a_language_can_be_given() {
    let files = [("a", "Wohnungen"), ("b", "Wohnung")];
    let query = Query::text("Wohnung");
    let found =
        |language| index_of(Options::default().language(language), &files).search(&query, 10).len();
    assert_eq!(found(Language::German), 2);
    assert_eq!(found(Language::None), 1);
    // Two short notes are taken for English.
    assert_eq!(found(Language::Auto), 1);
}

#[test]
fn texts_and_times_are_kept() {
    let mut index = index_of(Options::default(), &[("b", "tea"), ("a", "")]);
    let time = SystemTime::UNIX_EPOCH + DAY;
    index.put("b", b"cup\xfftea", Some(time)).unwrap();
    assert_eq!(index.get("b"), Some((Some(time), "cup")));
    assert_eq!((index.get("c"), index.len(), index.is_empty()), (None, 2, false));
    assert_eq!(index.paths().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(index.search(&Query::text("cup"), 1)[0].modified, Some(time));
    let read = Index::from_bytes(&index.to_bytes(), Options::default()).unwrap();
    assert_eq!(read.get("b"), index.get("b"));
    assert!(!index.remove("c"));
}

#[test]
fn many_files_are_added_at_once() {
    let texts: Vec<(String, String)> = (0..200)
        .map(|at| {
            (format!("{at}.md"), format!("# File {at}\n\nGreen tea, cup {}.\n", at % 7).repeat(50))
        })
        .collect();
    let files: Vec<NewFile<'_>> = texts
        .iter()
        .map(|(path, text)| NewFile {
            path,
            text: text.as_bytes(),
            modified: Some(SystemTime::UNIX_EPOCH),
        })
        .collect();
    let mut expected = Index::new(Options::default());
    for file in &files {
        expected.put(file.path, file.text, file.modified).unwrap();
    }
    let mut index = Index::new(Options::default());
    assert!(index.put_all(&files).iter().all(Result::is_ok));
    assert_eq!(index.put_all(&files[..20]).len(), 20);
    assert_eq!(index.to_bytes(), expected.to_bytes());
    assert_eq!(index.put_all(&[]), []);
}

#[test]
fn at_most_the_limit_is_returned() {
    let files: Vec<(String, &str)> = (0..100).map(|at| (format!("{at:03}"), "tea")).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let index = index_of(Options::default(), &files);
    for limit in [0, 1, 10, 99, 100, 101, usize::MAX] {
        let hits = index.search(&Query::text("tea"), limit);
        assert_eq!(
            paths(&hits),
            files.iter().map(|(path, _)| *path).take(limit).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_hit_has_its_best_passages_first() {
    let text = format!(
        "# Tea\n\n{}\n\nGreen tea.\n",
        "The kitchen has tea, cups, milk and sugar. ".repeat(9)
    );
    let index = index_of(Options::default(), &[("a", &text)]);
    let hits = index.search(&Query::text("green tea"), 1);
    let lines: Vec<(u32, u32)> =
        hits[0].passages.iter().map(|each| (each.first_line, each.last_line)).collect();
    assert_eq!(lines, [(5, 5), (1, 3)]);
    assert_eq!(hits[0].passages[0].matches, [0..5, 6..9]);
    let by_path =
        index_of(Options::default(), &[("notes/cup", "\n\ntea")]).search(&Query::text("cup"), 1);
    assert_eq!(
        (by_path[0].passages[0].text.as_str(), by_path[0].passages[0].first_line),
        ("tea", 3)
    );
    assert_eq!(by_path[0].passages[0].matches, []);
    let empty = index_of(Options::default(), &[("notes/cup", "")]).search(&Query::text("cup"), 1);
    assert_eq!(empty[0].passages, []);
}

#[test]
fn errors_say_what_to_know() {
    let mut index = Index::new(Options::default().max_bytes(5_000));
    let error = index.put("a", "x".repeat(5_000), None).unwrap_err();
    assert_eq!(error.to_string(), "the index has reached its limit of 5000 bytes");
    index.put("a", "tea", None).unwrap();
    assert!(Index::new(Options::default()).put(&"p".repeat(70_000), "tea", None).is_err());
    let error = Index::from_bytes(b"tea", Options::default()).unwrap_err();
    assert_eq!(
        (error, error.to_string()),
        (InvalidIndex::Damaged, "the bytes are not a search index, or were changed".to_owned())
    );
}

#[test]
fn an_index_can_be_shared_between_threads() {
    fn check<T: Send + Sync>() {}
    check::<Index>();
    check::<Query>();
    check::<Hit>();
}
