//! Events while a page is open.

use super::*;

#[test]
fn a_stream_tells_the_changes_of_several_memories_each_with_its_number() {
    let place = tempfile::tempdir().unwrap();
    let stores: Vec<String> =
        ["a", "b", "c"].map(|name| place.path().join(name).to_str().unwrap().to_owned()).into();
    let memories: Vec<Memory> = stores.iter().map(|store| memory(Path::new(store))).collect();
    let stores: Vec<&str> = stores.iter().map(String::as_str).collect();
    let page = Page::open(&stores, &[]);
    // Each once, in any order; an unknown number is ignored.
    let mut told = events(&page, "3,1,3,1,9,x,");
    let mut first = [told.next().unwrap(), told.next().unwrap()];
    first.sort();
    let look_again = r#"{"changes":[]}"#.to_owned();
    assert_eq!(first, [("1".to_owned(), look_again.clone()), ("3".to_owned(), look_again)]);
    memories[1].create("/memories/unseen.md", "").unwrap();
    for (number, name) in [(3, "in-c.md"), (1, "in-a.md")] {
        memories[number - 1].create(&format!("/memories/{name}"), "").unwrap();
        let (of, said) = told.next().unwrap();
        assert_eq!(of, number.to_string(), "{said}");
        assert!(said.contains(name), "{said}");
    }
    for none in ["9", "0", "x", ",", "1-3", "18446744073709551616"] {
        assert_eq!(page.get(&format!("/{none}/changes")).status, 404, "{none}");
    }
}

#[test]
fn what_another_process_changes_is_told_to_a_page_that_listens() {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path());
    let page = Page::open(&[place.path().to_str().unwrap()], &[]);
    let mut told = listening(&page);
    assert_eq!(told.next().unwrap(), r#"{"changes":[]}"#);
    // From then on it sees every change.
    memory.create("/memories/a.md", "one").unwrap();
    let said = told.next().unwrap();
    assert!(said.contains(r#""kind":"written""#) && said.contains("/memories/a.md"), "{said}");
    // A second page is notified at once that it sees every change, and both are notified of the
    // next change.
    let mut second = listening(&page);
    assert_eq!(second.next().unwrap(), r#"{"changes":[]}"#);
    memory.delete("/memories/a.md").unwrap();
    // Both may be asked to look again before that, because there is a newcomer.
    let is_deletion = |said: &String| said.contains(r#""kind":"deleted""#);
    assert!(told.any(|said| is_deletion(&said)) && second.any(|said| is_deletion(&said)));
}
