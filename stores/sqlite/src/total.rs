//! The total of all files, kept up to date by each change, so a limit costs the same in a small and in a large database.
//!
//! The first change of a memory with a limit creates the table. A database without limits does not have it. Triggers could keep it
//! up to date, but they are disabled, because another program may have made the database.

use memdir_store::OWN_DIRECTORIES;
use memdir_store::total::Total;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::SqliteError;
use super::schema::ROOT;

/// A file has a size, a directory has none.
const CREATE: &str = "
    CREATE TABLE total (bytes INTEGER NOT NULL, files INTEGER NOT NULL) STRICT;
    INSERT INTO total SELECT coalesce(sum(size), 0), count(size) FROM node;";

const ADDED: &str = "UPDATE total SET bytes = bytes + ?1, files = files + 1";
const RESIZED: &str =
    "UPDATE total SET bytes = bytes + ?2 - (SELECT coalesce(size, 0) FROM node WHERE id = ?1)";
const REMOVED: &str = "
    WITH RECURSIVE below (id, size) AS (
        SELECT id, size FROM node WHERE id = ?1
        UNION ALL SELECT node.id, node.size FROM node JOIN below ON node.parent = below.id
    )
    UPDATE total SET bytes = total.bytes - removed.bytes, files = total.files - removed.files
    FROM (SELECT coalesce(sum(size), 0) AS bytes, count(size) AS files FROM below) AS removed";
const CLEARED: &str = "UPDATE total SET bytes = 0, files = 0";

/// The total without what memdir keeps for itself in two directories of the root.
const READ: &str = "
    SELECT total.bytes - kept.bytes, total.files - kept.files
    FROM total, (
        SELECT coalesce(sum(size), 0) AS bytes, count(size) AS files FROM node
        WHERE parent IN (SELECT id FROM node WHERE parent = ?1 AND name IN (?2, ?3))
    ) AS kept";

/// Returns the total, within a transaction that writes.
pub(super) fn read(db: &Connection) -> Result<Total, SqliteError> {
    if !is_kept(db)? {
        db.execute_batch(CREATE)?;
    }
    let mut total = db.prepare_cached(READ)?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let (bytes, files): (i64, i64) =
        total.query_row((ROOT, OWN_DIRECTORIES[0], OWN_DIRECTORIES[1]), read)?;
    let number = |number| u64::try_from(number).unwrap_or(0);
    Ok(Total { bytes: number(bytes), files: number(files) })
}

/// Counts a new file of `size` bytes.
pub(super) fn added(db: &Connection, size: i64) -> Result<(), SqliteError> {
    update(db, ADDED, [size])
}

/// Counts the new size of a file. Must be called before the file's row is changed.
pub(super) fn resized(db: &Connection, file: i64, size: i64) -> Result<(), SqliteError> {
    update(db, RESIZED, [file, size])
}

/// No longer counts a node and everything below it. Must be called before the rows are removed.
pub(super) fn removed(db: &Connection, id: i64) -> Result<(), SqliteError> {
    update(db, REMOVED, [id])
}

/// Everything was removed.
pub(super) fn cleared(db: &Connection) -> Result<(), SqliteError> {
    update(db, CLEARED, [])
}

fn update(db: &Connection, change: &str, values: impl Params) -> Result<(), SqliteError> {
    if is_kept(db)? {
        db.prepare_cached(change)?.execute(values)?;
    }
    Ok(())
}

fn is_kept(db: &Connection) -> Result<bool, SqliteError> {
    let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'total'";
    Ok(db.prepare_cached(table)?.query_row([], |_| Ok(())).optional()?.is_some())
}

#[cfg(test)]
mod tests {
    use memdir_store::path::MemoryPath;
    use memdir_store::{Durability, OnExisting, Splice, Store, TotalLimits};

    use super::super::SqliteDatabase;
    use super::*;

    fn counted(db: &Connection) -> (u64, u64) {
        let Total { bytes, files } = read(db).unwrap();
        (bytes, files)
    }

    #[test]
    fn the_counters_follow_every_change() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.db");
        let store = SqliteDatabase::open(&path, Durability::Full).unwrap();
        let at = |path: &str| MemoryPath::parse(path).unwrap();
        let write = |path: &str, content: &str| {
            store.write(&at(path), content.as_bytes(), OnExisting::Overwrite).unwrap();
        };
        write("/memories/before", "12345");
        store.make_directory(&at("/memories/empty")).unwrap();
        let db = Connection::open(&path).unwrap();
        assert_eq!(counted(&db), (5, 1));
        write("/memories/a/b/c", "123");
        write("/memories/a/b/d", "1234");
        assert_eq!(counted(&db), (12, 3));
        write("/memories/before", "1");
        assert_eq!(counted(&db), (8, 3));
        let grow =
            &mut |old: &[u8]| Some(Splice { range: 0..old.len(), text: vec![b'x'; 100_000] });
        store.update(&at("/memories/a/b/c"), grow).unwrap();
        assert_eq!(counted(&db), (100_005, 3));
        store.rename(&at("/memories/a"), &at("/memories/z")).unwrap();
        assert_eq!(counted(&db), (100_005, 3));
        store.delete(&at("/memories/z")).unwrap();
        assert_eq!(counted(&db), (1, 1));
        store.clear().unwrap();
        assert_eq!(counted(&db), (0, 0));
    }

    #[test]
    fn a_database_without_limits_has_no_counters() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("a.db");
        let store = SqliteDatabase::open(&path, Durability::Full).unwrap();
        let file = MemoryPath::parse("/memories/a").unwrap();
        store.write(&file, b"1", OnExisting::Error).unwrap();
        let db = Connection::open(&path).unwrap();
        let counters = "SELECT count(*) FROM sqlite_schema WHERE name = 'total'";
        assert_eq!(db.query_row(counters, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }

    #[test]
    fn a_limit_does_not_count_the_index_of_a_search() {
        let place = tempfile::tempdir().unwrap();
        let limits = TotalLimits { bytes: Some(10), files: Some(2) };
        let store = SqliteDatabase::open(place.path().join("a.db"), Durability::Full)
            .unwrap()
            .with_total_limits(limits);
        let write = |path: &str, bytes: usize| {
            let path = MemoryPath::parse(path).unwrap();
            store.write(&path, &vec![b'x'; bytes], OnExisting::Overwrite)
        };
        write("/memories/a", 5).unwrap();
        write("/memories/.memdir-search/one", 100).unwrap();
        write("/memories/.memdir-search/two", 0).unwrap();
        let two = MemoryPath::parse("/memories/.memdir-search/two").unwrap();
        let grow = &mut |_: &[u8]| Some(Splice { range: 0..0, text: vec![b'x'; 100] });
        store.update(&two, grow).unwrap();
        write("/memories/b", 6).unwrap_err();
        write("/memories/b", 5).unwrap();
        write("/memories/c", 0).unwrap_err();
        store.delete(&MemoryPath::parse("/memories/.memdir-search").unwrap()).unwrap();
        write("/memories/c", 0).unwrap_err();
        write("/memories/b", 6).unwrap_err();
    }
}
