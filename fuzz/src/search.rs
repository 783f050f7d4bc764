//! The index of a search: changes of hostile texts, queries, and saved bytes, compared with an index of the same files that is new.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use memdir_search::{Hit, Index, InvalidIndex, Options, Passage, Query};

use crate::{RECORD, UNIT};

/// Longer inputs cost more time than they are worth.
const MOST: usize = 4_000;

/// The bytes before the body of a saved index: what it is, its version, and from `SUM` on the checksum of the body.
const HEAD: usize = 24;
const SUM: usize = 16;

/// The records of the input: `p` with a path, a text, and perhaps a time as units; `r` with a path; `q` with a query; `s` saves and reads
/// the index; `d` damages the saved bytes: a place, and the bytes to put there.
pub fn search(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.len() > MOST {
        return;
    }
    let mut index = Index::new(Options::default());
    let mut files = BTreeMap::new();
    for record in text.split(RECORD) {
        let mut letters = record.chars();
        let letter = letters.next();
        let mut units = letters.as_str().split(UNIT);
        let mut unit = || units.next().unwrap_or("");
        match letter {
            Some('p') => {
                let (path, text, time) = (unit(), unit(), unit().parse().ok());
                let modified = time.map(|seconds: u32| {
                    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into())
                });
                index.put(path, text, modified).unwrap();
                files.insert(path.to_owned(), (modified, text.to_owned()));
            }
            Some('r') => {
                let path = unit();
                assert_eq!(index.remove(path), files.remove(path).is_some());
            }
            Some('q') => {
                for query in [Query::parse(unit()), Query::text(letters.as_str())] {
                    let hits = index.search(&query, files.len());
                    hits.iter().for_each(|hit| check(hit, &files));
                    assert!(hits.is_sorted_by(|a, b| (b.score, &a.path) <= (a.score, &b.path)));
                    assert_eq!(new(&files).search(&query, files.len()), hits, "{query:?}");
                    assert_eq!(index.search(&query, 1)[..], hits[..hits.len().min(1)]);
                }
            }
            Some('s') => {
                let bytes = index.to_bytes();
                assert_eq!(bytes, new(&files).to_bytes());
                index = Index::from_bytes(&bytes, Options::default()).unwrap();
            }
            Some('d') => damage(index.to_bytes(), unit().parse().unwrap_or(0), unit()),
            _ => {}
        }
        assert_eq!(index.len(), files.len());
        for (path, (modified, text)) in &files {
            assert_eq!(index.get(path), Some((*modified, text.as_str())));
        }
    }
}

fn new(files: &BTreeMap<String, (Option<SystemTime>, String)>) -> Index {
    let mut index = Index::new(Options::default());
    for (path, (modified, text)) in files {
        index.put(path, text, *modified).unwrap();
    }
    index
}

/// A hit is a file, and its passages are parts of the text.
fn check(hit: &Hit, files: &BTreeMap<String, (Option<SystemTime>, String)>) {
    let (modified, text) = &files[&hit.path];
    assert_eq!(hit.modified, *modified);
    assert!(hit.score.is_finite() && hit.score >= 0.0, "{}", hit.score);
    assert!(hit.passages.len() <= 3);
    for Passage { text: shown, first_line, last_line, matches, .. } in &hit.passages {
        assert!(shown.len() <= 800 && text.contains(shown.as_str()), "{shown:?} in {text:?}");
        assert!(1 <= *first_line && first_line <= last_line);
        let mut before = 0;
        for place in matches {
            assert!(before <= place.start && place.start < place.end);
            assert!(shown.get(place.clone()).is_some(), "{place:?} in {shown:?}");
            before = place.end;
        }
    }
}

/// Damaged bytes are refused, or are an index in which everything can be done, also if the checksum is right.
fn damage(bytes: Vec<u8>, place: usize, with: &str) {
    let mut damaged = bytes.clone();
    let start = place % (bytes.len() + 1);
    let end = (start + with.len()).min(bytes.len());
    damaged.splice(start..end, with.bytes());
    if damaged == bytes {
        return;
    }
    let read = Index::from_bytes(&damaged, Options::default());
    assert!(matches!(read, Err(InvalidIndex::Damaged | InvalidIndex::OtherVersion)));
    if damaged.len() < HEAD {
        return;
    }
    let sum = damaged[HEAD..].iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    damaged[SUM..HEAD].copy_from_slice(&sum.to_le_bytes());
    let Ok(mut index) = Index::from_bytes(&damaged, Options::default()) else { return };
    for query in ["tea", "\"green tea\"", "-a path:b", "2024-03-17", "猫", with] {
        index.search(&Query::parse(query), 10);
    }
    let paths: Vec<String> = index.paths().map(str::to_owned).collect();
    index.put("new", with, None).unwrap();
    for path in paths {
        index.put(&path, "green tea", None).unwrap();
        index.remove(&path);
    }
    index.search(&Query::parse("tea"), 10);
    index.to_bytes();
    index.shrink();
}
