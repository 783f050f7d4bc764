//! The ranking by words, joined with another one.

use memdir_search::{Hit, Index, Options, Query, RankedPassage};

const PEOPLE: &str = "# People\n\nAnna prefers green tea, which she drinks in the morning.\n\n# Cars\n\nThe automobile of Ben is red, and stands in the garage.\n";

fn index(files: &[(&str, &str)]) -> Index {
    let mut index = Index::new(Options::default());
    for (path, text) in files {
        assert!(index.put(path, text, None).is_ok());
    }
    index
}

fn search(index: &Index, query: &str, limit: usize, others: &[(&str, usize)]) -> Vec<Hit> {
    let others: Vec<RankedPassage<'_>> =
        others.iter().map(|(path, passage)| RankedPassage { path, passage: *passage }).collect();
    index
        .search_joined(&Query::parse(query), limit, |_| true, || false, &others)
        .unwrap_or_default()
}

fn paths(hits: &[Hit]) -> Vec<&str> {
    hits.iter().map(|hit| hit.path.as_str()).collect()
}

#[test]
fn a_file_in_both_rankings_comes_first() {
    let index = index(&[("a", "tea tea tea"), ("b", "tea and some other words"), ("c", "milk")]);
    let words = index.search(&Query::parse("tea"), 10);
    assert_eq!(paths(&words), ["a", "b"]);
    assert_eq!(paths(&search(&index, "tea", 10, &[("b", 0), ("c", 0)])), ["b", "a", "c"]);
    // The same ranks have the same score, and then the order of paths.
    assert_eq!(paths(&search(&index, "tea", 10, &[("c", 0)])), ["a", "c", "b"]);
    assert_eq!(paths(&search(&index, "tea", 1, &[("c", 0)])), ["a"]);
    assert_eq!(search(&index, "tea", 0, &[("c", 0)]), []);
}

#[test]
fn without_another_ranking_the_order_is_that_of_the_words() {
    let index = index(&[("a", "tea"), ("b", "green tea"), ("c", "milk")]);
    let words = index.search(&Query::parse("green tea"), 10);
    let joined = search(&index, "green tea", 10, &[]);
    assert_eq!(paths(&joined), paths(&words));
    let passages = |hits: &[Hit]| hits.iter().map(|hit| hit.passages.clone()).collect::<Vec<_>>();
    assert_eq!(passages(&joined), passages(&words));
}

#[test]
fn restrictions_hold_for_both_rankings() {
    let index = index(&[("notes/a", "green tea"), ("b", "coffee"), ("notes/c", "milk")]);
    let all = [("b", 0), ("notes/c", 0), ("notes/a", 0)];
    assert_eq!(paths(&search(&index, "drink -coffee", 10, &all)), ["notes/c", "notes/a"]);
    assert_eq!(paths(&search(&index, "drink path:notes", 10, &all)), ["notes/c", "notes/a"]);
    assert_eq!(paths(&search(&index, "\"green tea\"", 10, &all)), ["notes/a"]);
    let others = [RankedPassage { path: "b", passage: 0 }];
    let within = index
        .search_joined(
            &Query::parse("drink"),
            10,
            |path| path.starts_with("notes"),
            || false,
            &others,
        )
        .unwrap();
    assert_eq!(within, []);
}

#[test]
fn the_passages_of_both_rankings_are_shown() {
    let index = index(&[("a", PEOPLE)]);
    assert_eq!(index.passage_count("a"), 2);
    let shown = |others: &[(&str, usize)]| -> Vec<u32> {
        let hits = search(&index, "tea", 10, others);
        hits[0].passages.iter().map(|passage| passage.first_line).collect()
    };
    assert_eq!(shown(&[]), [1]);
    assert_eq!(shown(&[("a", 1)]), [1, 5]);
    assert_eq!(shown(&[("a", 0), ("a", 1)]), [1, 5]);
    assert_eq!(shown(&[("a", 1), ("a", 0)]), [1, 5]);
}

#[test]
fn passages_that_do_not_exist_are_ignored() {
    let index = index(&[("a", "tea")]);
    let others = [("b", 0), ("a", 1), ("a", usize::MAX), ("a", 0)];
    assert_eq!(paths(&search(&index, "colour", 10, &others)), ["a"]);
}

#[test]
fn each_passage_has_its_path_and_its_headings() {
    let index = index(&[("notes/people.md", PEOPLE), ("empty.md", ""), ("spaces.md", " \n\n ")]);
    let texts = index.passages("notes/people.md").unwrap();
    assert_eq!(texts.len(), index.passage_count("notes/people.md"));
    assert!(texts[1].starts_with("notes/people.md\n# Cars\n\nThe automobile"), "{}", texts[1]);
    assert_eq!(index.passages("empty.md"), Some(vec![]));
    assert_eq!(
        index.passages("spaces.md").map(|texts| texts.len()),
        Some(index.passage_count("spaces.md"))
    );
    assert_eq!(index.passages("none"), None);
    assert_eq!(index.passage_count("none"), 0);
}
