//! The renames in progress, as stored in the record.
//!
//! A file is bound to its path, and the underlying store moves it (or a whole directory) in a separate step.
//! So a rename is recorded first. From then on a file at the new path may be bound to the old one. The entry
//! is needed until each file is bound to its new path.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use memdir_store::path::MemoryPath;

/// After this time an incomplete rename counts as abandoned by a killed process. It must exceed the duration
/// of any rename. Until then the files are readable at their paths.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// The limit of paths that are tried as the origin of one file.
const MOST_ORIGINS: usize = 256;

/// A rename in progress, or a completed one that is still needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rename {
    /// Random, because two processes may rename the same path at once.
    pub(super) id: u64,
    #[serde(serialize_with = "path_to_text", deserialize_with = "path_from_text")]
    pub(super) from: MemoryPath,
    #[serde(serialize_with = "path_to_text", deserialize_with = "path_from_text")]
    pub(super) to: MemoryPath,
    /// Seconds since 1970.
    since: u64,
    done: bool,
}

impl Rename {
    pub(super) fn new(id: u64, from: &MemoryPath, to: &MemoryPath) -> Self {
        Self { id, from: from.clone(), to: to.clone(), since: now(), done: false }
    }

    pub(super) fn is_abandoned(&self) -> bool {
        !self.done && now().saturating_sub(self.since) > ABANDONED.as_secs()
    }
}

/// The paths from which the file at `path` may have been moved.
pub(super) fn origins(renames: &[Rename], path: &MemoryPath) -> Vec<MemoryPath> {
    let mut found = vec![path.clone()];
    let mut next = 0;
    while let Some(at) = found.get(next).cloned()
        && found.len() < MOST_ORIGINS
    {
        next += 1;
        for Rename { from, to, .. } in renames {
            if (to == &at || to.is_above(&at))
                && let Ok(origin) = at.moved(to, from)
                && !found.contains(&origin)
            {
                found.push(origin);
            }
        }
    }
    found.remove(0);
    found
}

/// Marks the rename `id` as done, and drops the entries that are no longer needed.
///
/// Another rename may have moved files away from the destination of this one before they were bound to it.
/// Completing that rename requires this entry, too. So an entry stays as long as another one moves something
/// from its destination. When all are done, all are dropped.
pub(super) fn finish(renames: &mut Vec<Rename>, id: u64) {
    if let Some(rename) = renames.iter_mut().find(|rename| rename.id == id) {
        rename.done = true;
    }
    if renames.iter().all(|rename| rename.done) {
        renames.clear();
    }
    let unneeded = |renames: &Vec<Rename>| {
        renames.iter().position(|this| {
            let needed = |other: &Rename| other.id != this.id && related(&other.from, &this.to);
            let again = |other: &Rename| {
                other.id < this.id
                    && other.done
                    && (&other.from, &other.to) == (&this.from, &this.to)
            };
            this.done && (!renames.iter().any(needed) || renames.iter().any(again))
        })
    };
    while let Some(place) = unneeded(renames) {
        renames.remove(place);
    }
}

fn related(a: &MemoryPath, b: &MemoryPath) -> bool {
    a == b || a.is_above(b) || b.is_above(a)
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn path_to_text<S: Serializer>(path: &MemoryPath, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(path.as_str())
}

fn path_from_text<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryPath, D::Error> {
    MemoryPath::parse(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{text}")).unwrap()
    }

    fn rename(id: u64, from: &str, to: &str) -> Rename {
        Rename::new(id, &path(from), &path(to))
    }

    #[test]
    fn origins_follow_renames_backwards() {
        let renames = [rename(1, "a", "b"), rename(2, "b/sub", "c"), rename(3, "other", "o")];
        assert_eq!(origins(&renames, &path("c/x")), [path("b/sub/x"), path("a/sub/x")]);
        assert_eq!(origins(&renames, &path("b")), [path("a")]);
        assert_eq!(origins(&renames, &path("a")), []);
        assert_eq!(origins(&renames, &path("bb")), []);
    }

    #[test]
    fn renames_in_a_circle_end() {
        let renames = [rename(1, "a", "b"), rename(2, "b", "a"), rename(3, "b/b", "b")];
        let found = origins(&renames, &path("a/x"));
        assert!(found.contains(&path("b/x")) && found.len() <= MOST_ORIGINS);
    }

    #[test]
    fn an_entry_stays_while_something_may_have_been_moved_on() {
        let mut renames = vec![rename(1, "a", "b"), rename(2, "b/sub", "c"), rename(3, "x", "y")];
        finish(&mut renames, 1);
        assert_eq!(renames.len(), 3);
        finish(&mut renames, 2);
        assert_eq!(renames, [rename(3, "x", "y")]);
        finish(&mut renames, 3);
        assert_eq!(renames, []);
    }

    #[test]
    fn circles_go_when_all_are_done_and_do_not_grow_before() {
        let mut renames = vec![rename(0, "elsewhere", "still under way")];
        for id in 0..50 {
            let (from, to) = if id % 2 == 0 { ("a", "b") } else { ("b", "a") };
            renames.push(rename(id + 1, from, to));
            // Two renames overlap at a time.
            if id > 0 {
                finish(&mut renames, id);
            }
        }
        assert!(renames.len() <= 4, "{renames:?}");
        finish(&mut renames, 50);
        finish(&mut renames, 0);
        assert_eq!(renames, []);
    }

    #[test]
    fn entries_come_back_from_their_text() {
        let mut renames = vec![rename(u64::MAX, "a b/\"c\"", "猫"), rename(1, "a", "b")];
        renames[1].done = true;
        let text = serde_json::to_string(&renames).unwrap();
        let read = |text: &str| serde_json::from_str::<Vec<Rename>>(text).ok();
        assert_eq!(read(&text), Some(renames));
        for other in [&text.replace("/memories/", "/"), "", "{}", "[1]", "[{\"id\": 1}]"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn only_an_old_rename_is_abandoned() {
        let mut old = rename(1, "a", "b");
        assert!(!old.is_abandoned());
        old.since -= 25 * 60 * 60;
        assert!(old.is_abandoned());
        old.since = u64::MAX;
        assert!(!old.is_abandoned());
    }
}
