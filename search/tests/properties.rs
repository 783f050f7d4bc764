//! Properties of the index for random files, changes and queries.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use memdir_search::{Hit, Index, Options, Query};
use memdir_test_support::effort;
use proptest::prelude::*;

/// Words of several scripts, so random texts and queries meet.
const WORDS: &[&str] = &[
    "tea",
    "teas",
    "green",
    "meeting",
    "meetings",
    "the",
    "Anna",
    "anna's",
    "getUserById",
    "max_view_chars",
    "v1.2.3",
    "ana@example.com",
    "2024-03-17",
    "17 March 2024",
    "Besprechung",
    "Besprechungen",
    "über",
    "Jürgen",
    "und",
    "der",
    "programación",
    "programacion",
    "встреча",
    "встречи",
    "会议",
    "会議記録",
    "東京",
    "회의를",
    "สวัสดี",
    "\n",
    "\n\n",
    "# ",
    "- ",
    "## ",
    "```",
    "\"",
    "-",
    "path:",
    "é",
    "e\u{301}",
    "ｶﾞ",
    "\r\n",
    "\u{0}",
    "😀",
];

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(WORDS).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z]{1,9}",
    ];
    (proptest::collection::vec(word, 0..40), prop_oneof![Just(" "), Just("")])
        .prop_map(|(words, between)| words.join(between))
}

fn path() -> impl Strategy<Value = String> {
    proptest::sample::select(
        &["a.md", "b/tea.md", "c_notes.txt", "会议.md", "log/2024-03.md", "max_view_chars"][..],
    )
    .prop_map(str::to_owned)
}

#[derive(Debug, Clone)]
enum Change {
    Put(String, String),
    Remove(String),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (path(), text()).prop_map(|(path, text)| Change::Put(path, text)),
        1 => path().prop_map(Change::Remove),
    ]
}

fn answers(index: &Index, queries: &[String]) -> Vec<Vec<Hit>> {
    queries.iter().map(|query| index.search(&Query::parse(query), 10)).collect()
}

proptest! {
    #![proptest_config(effort::cases(64))]

    /// After any changes, in any order, an index answers as a new one of the same files.
    #[test]
    fn the_answers_depend_on_the_files_alone(
        changes in proptest::collection::vec(change(), 0..12),
        queries in proptest::collection::vec(text(), 1..6),
    ) {
        let mut index = Index::new(Options::default());
        let mut files = std::collections::BTreeMap::new();
        for change in changes {
            match change {
                Change::Put(path, text) => {
                    index.put(&path, &text, None).unwrap();
                    files.insert(path, text);
                }
                Change::Remove(path) => prop_assert_eq!(index.remove(&path), files.remove(&path).is_some()),
            }
        }
        let mut backwards = Index::new(Options::default());
        for (path, text) in files.iter().rev() {
            backwards.put(path, text, None).unwrap();
        }
        let read = Index::from_bytes(&index.to_bytes(), Options::default()).unwrap();
        let expected = answers(&backwards, &queries);
        prop_assert_eq!(&answers(&index, &queries), &expected);
        prop_assert_eq!(&answers(&read, &queries), &expected);
        prop_assert_eq!(index.to_bytes(), backwards.to_bytes());
        prop_assert_eq!(index.len(), files.len());
    }

    /// Hits are ordered, and their passages are lines of their files.
    #[test]
    fn passages_are_parts_of_their_files(texts in proptest::collection::vec(text(), 1..5), query in text()) {
        let mut index = Index::new(Options::default());
        for (at, text) in texts.iter().enumerate() {
            index.put(&at.to_string(), text, None).unwrap();
        }
        let hits = index.search(&Query::parse(&query), 10);
        for pair in hits.windows(2) {
            prop_assert!((-pair[0].score, &pair[0].path) < (-pair[1].score, &pair[1].path));
        }
        for hit in hits {
            let text = &texts[hit.path.parse::<usize>().unwrap()];
            let lines: Vec<&str> = text.split('\n').collect();
            for passage in hit.passages {
                let (first, last) = (passage.first_line as usize, passage.last_line as usize);
                prop_assert!(first >= 1 && first <= last && last <= lines.len());
                let whole = lines[first - 1..last].join("\n");
                prop_assert!(whole.contains(&passage.text), "{:?} in {:?}", passage.text, whole);
                let mut end = 0;
                for range in &passage.matches {
                    prop_assert!(range.start >= end && range.start < range.end);
                    prop_assert!(passage.text.get(range.clone()).is_some());
                    end = range.end;
                }
            }
        }
    }

    /// No text, path or query causes a panic, and a text is found by each of its longer words.
    #[test]
    fn a_text_is_found_by_its_words(word in "[a-zäöüéñçа-яα-ω]{4,20}", others in text()) {
        let mut index = Index::new(Options::default());
        index.put("file", format!("{others}\n\n{word}"), None).unwrap();
        let hits = index.search(&Query::text(&word), 1);
        prop_assert_eq!(hits.len(), 1);
    }

    /// A text of any bytes is indexed up to the first that is not UTF-8.
    #[test]
    fn any_bytes_are_a_text(bytes in proptest::collection::vec(any::<u8>(), 0..200), path in any::<String>()) {
        let mut index = Index::new(Options::default());
        index.put(&path, [b"tea\n", &bytes[..]].concat(), None).unwrap();
        prop_assert_eq!(&index.search(&Query::text("tea"), 1)[0].path, &path);
        index.remove(&path);
        prop_assert_eq!(index.to_bytes(), Index::new(Options::default()).to_bytes());
    }
}
