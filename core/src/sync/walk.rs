//! [`Walk`]: looks up sorted paths in a sorted map.
//!
//! A sync asks several maps for each file of both memories. One step forward in a map takes a fraction of a search in it.

use std::cmp::Ordering;
use std::collections::{BTreeMap, btree_map};
use std::iter::Peekable;

use memdir_store::path::MemoryPath;

/// The place in a map, which only moves forward.
pub(super) struct Walk<'m, V> {
    rest: Peekable<btree_map::Iter<'m, MemoryPath, V>>,
}

impl<'m, V> Walk<'m, V> {
    pub(super) fn new(map: &'m BTreeMap<MemoryPath, V>) -> Self {
        Self { rest: map.iter().peekable() }
    }

    /// The value of a path, which must not come before the path that was asked for last.
    pub(super) fn at(&mut self, path: &MemoryPath) -> Option<&'m V> {
        while let Some((next, value)) = self.rest.peek() {
            match (*next).cmp(path) {
                Ordering::Less => self.rest.next(),
                Ordering::Equal => return Some(value),
                Ordering::Greater => return None,
            };
        }
        None
    }

    /// Whether the map has the path. As with [`at`](Self::at), paths come in their order.
    pub(super) fn has(&mut self, path: &MemoryPath) -> bool {
        self.at(path).is_some()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

    use super::*;

    #[test]
    fn a_walk_finds_what_a_search_finds() {
        let path = |number: usize| MemoryPath::parse(&format!("/memories/{number:02}")).unwrap();
        for of in [1, 2, 3, 7] {
            let map: BTreeMap<MemoryPath, usize> = (0..40)
                .filter(|number| number % of == 0)
                .map(|number| (path(number), number))
                .collect();
            for asked in [1, 2, 3, 5] {
                let mut walk = Walk::new(&map);
                for number in (0..50).filter(|number| number % asked == 0) {
                    let path = path(number);
                    assert_eq!(walk.at(&path), map.get(&path));
                    // The same path again.
                    assert_eq!(walk.has(&path), map.contains_key(&path));
                }
            }
        }
    }
}
