//! Lists what a view shows, and skips most of the rest.
//!
//! A listing has pages of 1,000 objects, in the order of their keys. The records of a history and the files of deeper levels can be
//! many pages. If a page ends within a directory of which nothing more is shown, the next request begins behind that directory. So
//! a listing never takes more requests than one of all objects.

use futures_util::stream::TryStreamExt;
use memdir_store::Scope;
use object_store::ObjectMeta;
use object_store::path::Path as Key;

use super::client::{self, Client, Item};
use super::error::{ObjectError, RetryBackoff};

/// The number of objects in a page.
const PAGE: usize = 1000;

/// No character comes after it.
const LAST: char = '\u{10FFFF}';

/// A listing that may continue.
#[derive(Default)]
struct Listing {
    found: Vec<ObjectMeta>,
    /// The key behind which it continues.
    offset: Option<Key>,
    /// The directory of the last object of which only the name is shown, relative to the listed one.
    beyond: String,
}

enum Page {
    /// The next one begins behind another directory.
    Next,
    Last,
    /// The service does not list in the order of the keys, or not from a given key on.
    OutOfOrder,
}

impl Client {
    /// The objects below a directory that imply the entries of `scope`.
    pub(super) async fn shown_below(
        &self,
        directory: &Key,
        scope: Scope,
    ) -> Result<Vec<Item>, ObjectError> {
        if !self.lists_in_order || scope == Scope::EVERYTHING {
            return self.below(directory).await;
        }
        let mut backoff = RetryBackoff::new();
        let mut listing = Listing::default();
        loop {
            match self.continue_listing(directory, scope, &mut listing).await {
                Ok(Page::Next) => {}
                Ok(Page::Last) => break,
                Ok(Page::OutOfOrder) => return self.below(directory).await,
                Err(error) => {
                    backoff.after(error).await?;
                    listing = Listing::default();
                }
            }
        }
        self.with_the_gone(client::items(directory, listing.found)).await
    }

    async fn continue_listing(
        &self,
        directory: &Key,
        scope: Scope,
        listing: &mut Listing,
    ) -> Result<Page, ObjectError> {
        let mut objects = match &listing.offset {
            None => self.store.list(Some(directory)),
            Some(offset) => self.store.list_with_offset(Some(directory), offset),
        };
        let (mut last, mut number) = (listing.offset.take(), 0);
        while let Some(object) = objects.try_next().await? {
            let key = object.location.clone();
            if last.is_some_and(|last| last.as_ref() >= key.as_ref()) {
                return Ok(Page::OutOfOrder);
            }
            number += 1;
            let rest = client::rest(directory, &key).unwrap_or_default();
            match beyond(&rest, scope) {
                // The first object shows the directory.
                Some(beyond) if beyond == listing.beyond => {
                    let offset = client::below(directory, &format!("{beyond}/{LAST}"));
                    if number % PAGE == 0
                        && let Ok(offset) = offset
                    {
                        listing.offset = Some(offset);
                        return Ok(Page::Next);
                    }
                }
                Some(beyond) => {
                    beyond.clone_into(&mut listing.beyond);
                    listing.found.push(object);
                }
                None => listing.found.push(object),
            }
            last = Some(key);
        }
        Ok(Page::Last)
    }
}

/// The directory of an object of which the scope shows the name at most. `rest` is the object's path below the listed directory.
fn beyond(rest: &str, scope: Scope) -> Option<&str> {
    let mut end = 0;
    for (level, name) in rest.split('/').enumerate() {
        end += usize::from(level > 0) + name.len();
        if end == rest.len() {
            return None;
        }
        if !scope.shows(name) || level + 1 >= scope.depth {
            return Some(&rest[..end]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_beyond_a_scope_if_only_its_name_is_shown() {
        let two = Scope { hidden: false, depth: 2 };
        let all = Scope { hidden: true, depth: 2 };
        for (rest, scope, expected) in [
            ("a", two, None),
            ("a/b", two, None),
            ("a/b/c", two, Some("a/b")),
            ("a/b/c/d", two, Some("a/b")),
            (".h", two, None),
            (".h/b", two, Some(".h")),
            (".h/b/c", two, Some(".h")),
            ("a/.h/c", two, Some("a/.h")),
            (".h/b", all, None),
            ("a/.h/c", all, Some("a/.h")),
            ("a/b", Scope { hidden: false, depth: 1 }, Some("a")),
            ("ä/ö/ü", two, Some("ä/ö")),
        ] {
            assert_eq!(beyond(rest, scope), expected, "{rest}");
        }
    }
}
