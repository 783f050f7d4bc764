//! The tables and their schema version. Upgrades an older database.

use memdir_store::StoreError;
use rusqlite::{Connection, OptionalExtension};

use super::SqliteError;

/// The application id in the database's header, "memd". It identifies a database of memdir.
const APPLICATION_ID: i32 = 0x6d65_6d64;

/// The steps from version `n` of the schema to `n + 1`; the first one creates the tables. A released step is
/// never changed.
const STEPS: &[&str] = &[
    // A node is a directory if its size is NULL. Names are compared by bytes, as is usual for text in a UTF-8
    // database. A file's content is split into chunks, numbered from 0.
    "CREATE TABLE node (
         id INTEGER PRIMARY KEY,
         parent INTEGER REFERENCES node (id) ON DELETE CASCADE,
         name TEXT NOT NULL,
         size INTEGER CHECK (size >= 0),
         UNIQUE (parent, name)
     ) STRICT;
     CREATE TABLE chunk (
         file INTEGER NOT NULL REFERENCES node (id) ON DELETE CASCADE,
         number INTEGER NOT NULL,
         bytes BLOB NOT NULL,
         PRIMARY KEY (file, number)
     ) STRICT;
     INSERT INTO node (id, parent, name, size) VALUES (1, NULL, '', NULL);",
    // When a file was last written: microseconds since 1970, NULL if unknown.
    "ALTER TABLE node ADD COLUMN modified INTEGER;",
    // When a file was last accessed, in the same unit. NULL if unknown or never recorded.
    "ALTER TABLE node ADD COLUMN accessed INTEGER;",
    // Notes that are stored with changes, in their order: the records of the history.
    "CREATE TABLE note (
         number INTEGER PRIMARY KEY AUTOINCREMENT,
         id TEXT NOT NULL,
         bytes BLOB NOT NULL
     ) STRICT;",
    // The unique number of the last write of a file, NULL if unknown.
    "ALTER TABLE node ADD COLUMN written INTEGER;",
];

/// The node of `/memories` itself.
pub(super) const ROOT: i64 = 1;

/// Creates the tables of a new database, or upgrades an older one. Leaves any other database unchanged.
///
/// A new database contains nothing that a loss of power could take, so it is made with fewer flushes than a change. The journal of
/// the first step has no pages, so one flush of it is enough. The tables are in the log, which the first change flushes as a whole.
/// Without them the database is still a new one.
pub(super) fn prepare(db: &Connection) -> Result<(), SqliteError> {
    prepare_with(db, STEPS)
}

fn prepare_with(db: &Connection, steps: &[&str]) -> Result<(), SqliteError> {
    let current = steps.len();
    // Check before changing anything, because the database may belong to another program. The snapshot is
    // needed, because another process may be creating the tables.
    let snapshot = db.unchecked_transaction()?;
    let found = version(&snapshot, current)?;
    snapshot.rollback()?;
    if found == current {
        return Ok(());
    }
    let flushes: i64 = db.query_row("PRAGMA synchronous", [], |row| row.get(0))?;
    let made = make(db, steps, found == 0);
    db.pragma_update(None, "synchronous", flushes)?;
    made
}

/// Enables the log and executes the steps. The caller sets `synchronous` again.
fn make(db: &Connection, steps: &[&str], is_new: bool) -> Result<(), SqliteError> {
    if is_new {
        db.pragma_update(None, "synchronous", "NORMAL")?;
    }
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let problem = "its file system does not allow SQLite's write-ahead log";
        return Err(StoreError::failed("opening the SQLite database", problem).into());
    }
    if is_new {
        db.pragma_update(None, "synchronous", "OFF")?;
    }
    upgrade(db, steps)
}

fn upgrade(db: &Connection, steps: &[&str]) -> Result<(), SqliteError> {
    let current = steps.len();
    db.execute_batch("BEGIN IMMEDIATE")?;
    // Check again, because another process may have been faster.
    let changed = version(db, current).and_then(|old| {
        if old == current {
            return Ok(db.execute_batch("ROLLBACK")?);
        }
        for step in steps.iter().skip(old) {
            db.execute_batch(step)?;
        }
        db.pragma_update(None, "application_id", APPLICATION_ID)?;
        db.pragma_update(None, "user_version", i64::try_from(current).unwrap_or(i64::MAX))?;
        Ok(db.execute_batch("COMMIT")?)
    });
    if changed.is_err() && !db.is_autocommit() {
        // The first error is more informative than one of the rollback.
        let _ = db.execute_batch("ROLLBACK");
    }
    changed
}

/// The schema version of the database; 0 if it is empty.
fn version(db: &Connection, current: usize) -> Result<usize, SqliteError> {
    let refused = |problem: String| {
        SqliteError::from(StoreError::failed("opening the SQLite database", problem))
    };
    let header = |field: &str| db.query_row(&format!("PRAGMA {field}"), [], |row| row.get(0));
    let (application, version): (i32, i64) =
        (header("application_id")?, { db.query_row("PRAGMA user_version", [], |row| row.get(0))? });
    if application != APPLICATION_ID {
        let used = db.query_row("SELECT 1 FROM sqlite_schema", [], |_| Ok(())).optional()?;
        if application != 0 || version != 0 || used.is_some() {
            return Err(refused("it is a database of another program".to_owned()));
        }
        return Ok(0);
    }
    match usize::try_from(version) {
        Ok(version) if version <= current => Ok(version),
        _ => Err(refused(format!(
            "it was written by a newer memdir (its schema is version {version}, and this memdir \
             knows up to {current}): update memdir"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database() -> (tempfile::TempDir, Connection) {
        let place = tempfile::tempdir().unwrap();
        let db = Connection::open(place.path().join("a.db")).unwrap();
        (place, db)
    }

    fn tables(db: &Connection) -> i64 {
        db.query_row("SELECT count(*) FROM sqlite_schema WHERE type = 'table'", [], |r| r.get(0))
            .unwrap()
    }

    #[test]
    fn an_older_database_is_brought_up_to_date_and_keeps_what_it_holds() {
        let (_place, db) = database();
        prepare(&db).unwrap();
        db.execute_batch("INSERT INTO node (parent, name) VALUES (1, 'a')").unwrap();
        let newer = [STEPS, &["ALTER TABLE node ADD COLUMN colour TEXT"]].concat();
        prepare_with(&db, &newer).unwrap();
        prepare_with(&db, &newer).unwrap();
        let nodes = "SELECT count(colour IS NULL) FROM node";
        assert_eq!(db.query_row(nodes, [], |row| row.get::<_, i64>(0)).unwrap(), 2);
        assert_eq!(version(&db, 9).map_err(|_| ()).unwrap(), newer.len());
    }

    #[test]
    fn a_database_of_every_older_version_is_brought_up_to_date() {
        for old in 1..STEPS.len() {
            let (_place, db) = database();
            prepare_with(&db, &STEPS[..old]).unwrap();
            db.execute_batch("INSERT INTO node (parent, name, size) VALUES (1, 'a', 0)").unwrap();
            prepare(&db).unwrap();
            let times = "SELECT modified IS NULL AND accessed IS NULL FROM node WHERE name = 'a'";
            assert!(db.query_row(times, [], |row| row.get::<_, bool>(0)).unwrap(), "{old}");
        }
    }

    #[test]
    fn several_that_make_one_database_at_once_share_it() {
        for _ in 0..100 {
            let place = tempfile::tempdir().unwrap();
            let path = place.path().join("a.db");
            let at_once = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        let db = Connection::open(&path).unwrap();
                        at_once.wait();
                        loop {
                            match prepare(&db) {
                                Ok(()) => break,
                                // Enabling the log does not wait.
                                Err(SqliteError::Engine(error))
                                    if error.sqlite_error_code()
                                        == Some(rusqlite::ErrorCode::DatabaseBusy) => {}
                                Err(_) => panic!("it is taken for another program's"),
                            }
                        }
                    });
                }
            });
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_database_as_it_was() {
        let (_place, db) = database();
        prepare(&db).unwrap();
        let before = tables(&db);
        let newer = [STEPS, &["CREATE TABLE more (a)", "no SQL"]].concat();
        assert!(prepare_with(&db, &newer).is_err());
        assert_eq!((tables(&db), db.is_autocommit()), (before, true));
        prepare(&db).unwrap();
    }

    #[test]
    fn a_new_database_flushes_as_it_was_told_to() {
        for (word, number) in [("FULL", 2), ("NORMAL", 1), ("EXTRA", 3)] {
            let (_place, db) = database();
            db.pragma_update(None, "synchronous", word).unwrap();
            let failing = [STEPS, &["no SQL"]].concat();
            for is_made in [prepare_with(&db, &failing).is_ok(), prepare(&db).is_ok()] {
                let now = db.query_row("PRAGMA synchronous", [], |row| row.get::<_, i64>(0));
                assert_eq!(now.unwrap(), number, "{word} {is_made}");
            }
        }
    }

    #[test]
    fn a_newer_database_is_refused_and_not_touched() {
        let (_place, db) = database();
        prepare(&db).unwrap();
        db.pragma_update(None, "user_version", 1000).unwrap();
        let Err(SqliteError::Condition(error)) = prepare(&db) else { panic!("it was taken") };
        assert!(error.to_string().contains("newer memdir"), "{error}");
        assert!(error.to_string().contains("1000"), "{error}");
    }

    #[test]
    fn a_database_of_another_program_is_refused_and_not_touched() {
        let (_place, db) = database();
        db.execute_batch("CREATE TABLE theirs (a)").unwrap();
        let Err(SqliteError::Condition(error)) = prepare(&db) else { panic!("it was taken") };
        assert!(error.to_string().contains("another program"), "{error}");
        let mode: String = db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
        assert_eq!((mode.as_str(), tables(&db)), ("delete", 1));
    }
}
