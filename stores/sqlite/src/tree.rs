//! The tree as rows of a table. Each node refers to its parent, and range queries on one index find the
//! entries of a directory.

use std::ops::Deref;
use std::time::SystemTime;

use memdir_store::path::{MemoryPath, PathError};
use memdir_store::{Entry, Fingerprint, Scope, StoreError, micros};
use rusqlite::{Connection, OptionalExtension, Row};

use super::{SqliteError, schema, total};

/// The tree within one transaction.
pub(super) struct Tree<'c>(pub(super) &'c Connection);

/// A node. It is a directory if it has no size.
#[derive(Clone, Copy)]
pub(super) struct FoundRow {
    pub(super) id: i64,
    pub(super) size: Option<u64>,
    pub(super) modified: Option<SystemTime>,
    pub(super) accessed: Option<SystemTime>,
    /// The number of the last write.
    written: Option<i64>,
}

impl FoundRow {
    /// In a database of an older memdir, writes have no numbers.
    fn fingerprint(&self) -> Fingerprint {
        let numbers = [self.written, Some(self.id), self.modified.map(micros::of)];
        let [written, id, modified] = numbers.map(|number| number.unwrap_or(0).cast_unsigned());
        Fingerprint::of_numbers(&[written, id, modified, self.size.unwrap_or(0)])
    }
}

const CHILD: &str =
    "SELECT id, size, modified, accessed, written FROM node WHERE parent = ?1 AND name = ?2";
const CHILDREN: &str =
    "SELECT id, size, modified, accessed, written, name FROM node WHERE parent = ?1 ORDER BY name";

impl Deref for Tree<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

impl Tree<'_> {
    /// The node at `path`. A file has no entries, so nothing is found below it.
    pub(super) fn find(&self, path: &MemoryPath) -> Result<Option<FoundRow>, SqliteError> {
        let mut found = FoundRow {
            id: schema::ROOT,
            size: None,
            modified: None,
            accessed: None,
            written: None,
        };
        for name in path.names() {
            match self.child(found.id, name)? {
                None => return Ok(None),
                Some(below) => found = below,
            }
        }
        Ok(Some(found))
    }

    /// The file at `path` and its size.
    pub(super) fn file(&self, path: &MemoryPath) -> Result<(i64, u64), SqliteError> {
        match self.find(path)? {
            None => Err(StoreError::NotFound.into()),
            Some(FoundRow { size: None, .. }) => Err(StoreError::IsADirectory.into()),
            Some(FoundRow { id, size: Some(size), .. }) => Ok((id, size)),
        }
    }

    fn child(&self, parent: i64, name: &str) -> Result<Option<FoundRow>, SqliteError> {
        let mut child = self.prepare_cached(CHILD)?;
        let found = child.query_row((parent, name), found);
        Ok(found.optional()?)
    }

    pub(super) fn children(&self, parent: i64) -> Result<Vec<(FoundRow, String)>, SqliteError> {
        let mut children = self.prepare_cached(CHILDREN)?;
        let found = children.query_map([parent], |row| Ok((found(row)?, row.get(5)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    pub(super) fn has_children(&self, parent: i64) -> Result<bool, SqliteError> {
        let mut any = self.prepare_cached("SELECT 1 FROM node WHERE parent = ?1 LIMIT 1")?;
        Ok(any.exists([parent])?)
    }

    /// The entries of a directory, including hidden ones.
    pub(super) fn entries(&self, id: i64, path: &MemoryPath) -> Result<Vec<Entry>, SqliteError> {
        let children = self.children(id)?;
        Ok(children.iter().filter_map(|(found, name)| entry(path, *found, name)).collect())
    }

    /// The entries below a directory that `scope` includes, each directory before its entries.
    pub(super) fn below(
        &self,
        id: i64,
        path: &MemoryPath,
        scope: Scope,
        entries: &mut Vec<Entry>,
    ) -> Result<(), SqliteError> {
        for (found, name) in self.children(id)? {
            if !scope.shows(&name) {
                continue;
            }
            let Some(entry) = entry(path, found, &name) else { continue };
            let directory = (!entry.is_file()).then(|| entry.path.clone());
            entries.push(entry);
            if let (Some(directory), Some(below)) = (directory, scope.below()) {
                self.below(found.id, &directory, below, entries)?;
            }
        }
        Ok(())
    }

    /// The directory above `path`. Creates missing directories.
    pub(super) fn make_parents(&self, path: &MemoryPath) -> Result<i64, SqliteError> {
        let mut parent = schema::ROOT;
        let Some(above) = path.parent() else { return Ok(parent) };
        let mut at = MemoryPath::root();
        for name in above.names() {
            // It is a part of a valid path, so this cannot fail.
            at = at.join(name).map_err(|_| StoreError::NameTooLong)?;
            parent = match self.child(parent, name)? {
                Some(FoundRow { id, size: None, .. }) => id,
                Some(FoundRow { size: Some(_), .. }) => {
                    return Err(StoreError::NotADirectory.into());
                }
                None => self.add(parent, &at, None)?,
            };
        }
        Ok(parent)
    }

    /// Adds a file of `size` bytes, or a directory.
    pub(super) fn add(
        &self,
        parent: i64,
        path: &MemoryPath,
        size: Option<usize>,
    ) -> Result<i64, SqliteError> {
        let size = size.map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        if let Some(size) = size {
            total::added(self, size)?;
        }
        self.prepare_cached("INSERT INTO node (parent, name, size) VALUES (?1, ?2, ?3)")?
            .execute((parent, path.name(), size))?;
        Ok(self.last_insert_rowid())
    }

    pub(super) fn set_modified(&self, id: i64, time: SystemTime) -> Result<(), SqliteError> {
        self.prepare_cached("UPDATE node SET modified = ?2 WHERE id = ?1")?
            .execute((id, micros::of(time)))?;
        Ok(())
    }

    pub(super) fn record_access(&self, id: i64, time: SystemTime) -> Result<(), SqliteError> {
        self.prepare_cached("UPDATE node SET accessed = ?2 WHERE id = ?1")?
            .execute((id, micros::of(time)))?;
        Ok(())
    }

    /// [`Store::rename`](memdir_store::Store::rename).
    pub(super) fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), SqliteError> {
        let found = self.find(from)?.ok_or(StoreError::NotFound)?;
        if self.find(to)?.is_some() {
            return Err(StoreError::AlreadyExists.into());
        }
        let is_directory = found.size.is_none();
        if is_directory && from.is_above(to) {
            return Err(StoreError::IntoItself.into());
        }
        let parent = self.make_parents(to)?;
        if is_directory {
            self.check_paths_below(found.id, to)?;
        }
        self.put(found.id, parent, to)
    }

    /// Moves a node with everything below it.
    fn put(&self, id: i64, parent: i64, path: &MemoryPath) -> Result<(), SqliteError> {
        self.prepare_cached("UPDATE node SET parent = ?2, name = ?3 WHERE id = ?1")?.execute((
            id,
            parent,
            path.name(),
        ))?;
        Ok(())
    }

    /// Removes a node. Foreign keys remove everything below it and the chunks of files.
    pub(super) fn remove(&self, id: i64) -> Result<(), SqliteError> {
        total::removed(self, id)?;
        self.prepare_cached("DELETE FROM node WHERE id = ?1")?.execute([id])?;
        Ok(())
    }

    pub(super) fn remove_all(&self) -> Result<(), SqliteError> {
        total::cleared(self)?;
        self.prepare_cached("DELETE FROM node WHERE parent = ?1")?.execute([schema::ROOT])?;
        Ok(())
    }

    /// Checks that no path below the directory would be too long if the directory were at `path`.
    fn check_paths_below(&self, id: i64, path: &MemoryPath) -> Result<(), SqliteError> {
        for (found, name) in self.children(id)? {
            match path.join(&name) {
                Ok(below) if found.size.is_none() => self.check_paths_below(found.id, &below)?,
                // A name that no path can contain is unreachable before and after.
                Ok(_) | Err(PathError::Escapes) => {}
                Err(_) => return Err(StoreError::NameTooLong.into()),
            }
        }
        Ok(())
    }
}

/// Converts a row of one of the queries above. A negative size is an error.
fn found(row: &Row<'_>) -> rusqlite::Result<FoundRow> {
    let size: Option<i64> = row.get(1)?;
    let (modified, accessed): (Option<i64>, Option<i64>) = (row.get(2)?, row.get(3)?);
    Ok(FoundRow {
        id: row.get(0)?,
        size: size.map(|size| u64::try_from(size).unwrap_or(0)),
        modified: modified.and_then(micros::time),
        accessed: accessed.and_then(micros::time),
        written: row.get(4)?,
    })
}

/// `None` for a name that no path can contain, which another program created.
fn entry(directory: &MemoryPath, found: FoundRow, name: &str) -> Option<Entry> {
    let path = directory.join(name).ok()?;
    Some(match found.size {
        Some(size) => Entry::file(path, size)
            .modified_at(found.modified)
            .accessed_at(found.accessed)
            .with_fingerprint(Some(found.fingerprint())),
        None => Entry::directory(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_looks_through_the_whole_tree() {
        let place = tempfile::tempdir().unwrap();
        let db = Connection::open(place.path().join("a.db")).unwrap();
        schema::prepare(&db).map_err(|_| ()).unwrap();
        let delete = "DELETE FROM node WHERE id = ?1";
        for statement in [CHILD, CHILDREN, delete] {
            let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
            let steps = plan.raw_query().mapped(|row| row.get::<_, String>(3));
            let steps: Vec<String> = steps.map(Result::unwrap).collect();
            assert!(steps.iter().all(|step| step.starts_with("SEARCH")), "{steps:?}");
        }
    }
}
