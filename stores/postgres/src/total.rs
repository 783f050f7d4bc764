//! The total of all files of a namespace, which a change with a limit needs.
//!
//! The first change with a limit sums the sizes of all files, and keeps the result in the root's row. Each later change, also one
//! without a limit, updates it in its transaction. The row also has the id of the change that updated it last. A writer that does
//! not know the total, of an older version, leaves that id behind the id of its own change. Then the total is unknown, and the next
//! change with a limit sums again.

use memdir_store::total::Total;
use tokio_postgres::Row;

use super::error::PostgresError;

/// The growth of the total by a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Growth {
    By {
        bytes: i64,
        files: i64,
    },
    /// Nothing is left.
    ToNothing,
    /// The statement of the change updates the total itself.
    Counted,
}

impl Growth {
    pub(super) const NONE: Self = Self::By { bytes: 0, files: 0 };

    /// The growth by a file that had `before` bytes; `None` if it is new.
    pub(super) fn of_file(before: Option<u64>, after: usize) -> Self {
        let before_len = before.map_or(0, |before| i64::try_from(before).unwrap_or(i64::MAX));
        let after = i64::try_from(after).unwrap_or(i64::MAX);
        Self::By { bytes: after - before_len, files: i64::from(before.is_none()) }
    }

    /// The bytes and the files after the change; `None` if its statement updates them.
    pub(super) fn added_to(self, total: Total) -> Option<(i64, i64)> {
        let sum =
            |held: u64, more: i64| i64::try_from(held).unwrap_or(i64::MAX).saturating_add(more);
        match self {
            Self::By { bytes, files } => Some((sum(total.bytes, bytes), sum(total.files, files))),
            Self::ToNothing => Some((0, 0)),
            Self::Counted => None,
        }
    }
}

/// The total in the result of [`LOCK`](super::statements::LOCK), if it is kept.
pub(super) fn kept(locked: &Row) -> Result<Option<Total>, PostgresError> {
    let (bytes, files): (Option<i64>, Option<i64>) = (locked.try_get(2)?, locked.try_get(3)?);
    Ok(bytes.zip(files).map(|(bytes, files)| Total { bytes: number(bytes), files: number(files) }))
}

/// The result of [`TOTAL`](super::statements::TOTAL).
pub(super) fn counted(row: &Row) -> Result<Total, PostgresError> {
    Ok(Total { bytes: number(row.try_get(0)?), files: number(row.try_get(1)?) })
}

/// The total without what memdir keeps for itself. The total that is kept has it, so a change of it is counted like any other.
pub(super) fn without(total: Total, index: Total) -> Total {
    Total {
        bytes: total.bytes.saturating_sub(index.bytes),
        files: total.files.saturating_sub(index.files),
    }
}

fn number(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::time::{Duration, SystemTime};

    use memdir_store::path::MemoryPath;
    use memdir_store::{
        Context, Durability, FileToDelete, FileToWrite, OnExisting, Splice, Store, StoreError,
        TotalLimits,
    };
    use memdir_test_support::postgres::{Server, server};

    use crate::PostgresDatabase;

    const LIMIT: TotalLimits = TotalLimits { bytes: Some(1_000_000), files: Some(20_000) };

    fn at(path: &str) -> MemoryPath {
        MemoryPath::parse(&format!("/memories/{path}")).unwrap()
    }

    fn open(address: &str) -> PostgresDatabase {
        PostgresDatabase::open(address, Durability::Relaxed).unwrap()
    }

    fn write(store: &PostgresDatabase, path: &str, bytes: usize) {
        store.write(&at(path), &vec![b'x'; bytes], OnExisting::Overwrite).unwrap();
    }

    /// The bytes and files of the kept total; nothing if it is not kept, or not up to date.
    fn kept(server: &Server, database: &str) -> String {
        let sql = "SELECT total_bytes, total_files FROM memdir.node
            WHERE parent = 0 AND total_change = changes[1]";
        server.sql(database, sql)
    }

    /// The same, by a look at all files.
    fn counted(server: &Server, database: &str) -> String {
        let sql = "SELECT coalesce(sum(octet_length(content)), 0), count(content)
            FROM memdir.node WHERE parent >= 0";
        server.sql(database, sql)
    }

    /// Every kind of change, for a namespace with `before`, 5 bytes, and `d/deep/file`, 3 bytes.
    fn change_everything(store: &PostgresDatabase, mut after_each: impl FnMut(&str)) {
        let text = |bytes: usize| vec![b'x'; bytes];
        let mut done = |what: &str, result: Result<(), StoreError>| {
            result.unwrap();
            after_each(what);
        };
        let (context, time) = (Context::new(), SystemTime::now() - Duration::from_secs(9));
        done("create", store.write(&at("a/b/new"), &text(100), OnExisting::Error));
        done("overwrite", store.write(&at("a/b/new"), &text(7), OnExisting::Overwrite));
        let mut grow = |old: &[u8]| Some(Splice { range: 0..old.len(), text: text(100_000) });
        done("edit", store.update(&at("a/b/new"), &mut grow));
        done("make a directory", store.make_directory(&at("empty/one")));
        done("set a time", store.set_modified(&at("before"), time));
        done("move a directory", store.rename(&at("a"), &at("z/y")));
        done("move a file", store.rename(&at("before"), &at("after")));
        let moved = store.rename_if(&at("after"), &at("before"), &mut |_| true);
        done("move on a condition", moved.map(drop));
        let names = [at("batch/1"), at("batch/2"), at("before")];
        let files = names.each_ref().map(|path| FileToWrite {
            path,
            content: b"1234567",
            times: memdir_store::access::Times::default(),
            existing: OnExisting::Overwrite,
            note: None,
        });
        done("a batch", store.write_batch(&context, &files).map_err(|failed| failed.error));
        let deleted = store.delete_if(&at("batch/1"), &mut |_| true);
        done("delete on a condition", deleted.map(drop));
        let later = SystemTime::now() + Duration::from_secs(60);
        done("delete what is unused", store.delete_unused(&at("batch/2"), later).map(drop));
        let unused = [at("z/y/b/new"), at("none"), at("z/y/b/new")];
        let unused = unused.each_ref().map(|path| FileToDelete { path, note: None });
        let mut deleted = Vec::new();
        let together = store.delete_unused_batch(&context, &unused, later, &mut |is_deleted| {
            deleted.push(is_deleted);
        });
        assert_eq!(deleted, [true, false, false]);
        done("delete what is unused together", together);
        done("delete a file", store.delete(&at("before")));
        done("delete a directory", store.delete(&at("z")));
        done("clear", store.clear());
        done("create again", store.write(&at("last"), &text(9), OnExisting::Error));
    }

    #[test]
    fn the_total_follows_every_change_with_and_without_a_limit() {
        let Some(server) = server() else { return };
        for (name, limits) in [("total_limited", LIMIT), ("total_kept", TotalLimits::default())] {
            let address = server.database(name);
            let store = open(&address).with_total_limits(limits);
            write(&store, "before", 5);
            // A change with a limit begins to keep the total.
            write(&open(&address).with_total_limits(LIMIT), "d/deep/file", 3);
            assert_eq!(kept(server, name), "8|2");
            change_everything(&store, |what| {
                assert_eq!(kept(server, name), counted(server, name), "{name}: {what}");
            });
            assert_eq!(kept(server, name), "9|1");
        }
    }

    #[test]
    fn without_a_limit_no_total_is_kept() {
        let Some(server) = server() else { return };
        let store = open(&server.database("total_none"));
        write(&store, "before", 5);
        write(&store, "d/deep/file", 3);
        change_everything(&store, |what| assert_eq!(kept(server, "total_none"), "", "{what}"));
    }

    #[test]
    fn a_limit_does_not_count_the_index_of_a_search() {
        let Some(server) = server() else { return };
        let address = server.database("total_search");
        let limits = TotalLimits { bytes: Some(10), files: Some(2) };
        let store = open(&address).with_total_limits(limits);
        let index = at(".memdir-search/one");
        // At the limit the index can be written and edited, also one that is larger than the limit, and by a batch.
        write(&store, "a", 4);
        write(&store, "b", 6);
        store.write(&index, &[], OnExisting::Error).unwrap();
        let mut fill = |_: &[u8]| Some(Splice { range: 0..0, text: vec![b'x'; 100] });
        store.update(&index, &mut fill).unwrap();
        let file = FileToWrite {
            path: &at(".memdir-search/two"),
            content: b"12345678901",
            times: memdir_store::access::Times::default(),
            existing: OnExisting::Error,
            note: None,
        };
        store.write_batch(&Context::new(), &[file]).map_err(|failed| failed.error).unwrap();
        assert_eq!(kept(server, "total_search"), counted(server, "total_search"));
        // The files count as without an index.
        let refused = |path: &str, bytes: usize| {
            store.write(&at(path), &vec![b'x'; bytes], OnExisting::Overwrite).unwrap_err()
        };
        assert!(matches!(refused("b", 7), StoreError::OverLimit { bytes: Some(11), files: None }));
        assert!(matches!(refused("c", 0), StoreError::OverLimit { bytes: None, files: Some(3) }));
        store.delete(&at("b")).unwrap();
        write(&store, "d/e", 6);
        // A change that finds no total leaves the index out, too.
        server.sql("total_search", "UPDATE memdir.node SET total_change = NULL WHERE parent = 0");
        assert!(matches!(
            refused("d/e", 8),
            StoreError::OverLimit { bytes: Some(12), files: None }
        ));
        store.delete(&at(".memdir-search")).unwrap();
        assert_eq!(kept(server, "total_search"), "");
        write(&store, "d/e", 5);
        assert_eq!(kept(server, "total_search"), "9|2");
    }

    /// The statements of a memdir that does not know the total.
    #[test]
    fn a_writer_of_an_older_version_does_not_make_the_total_wrong() {
        let Some(server) = server() else { return };
        let store = open(&server.database("total_older")).with_total_limits(LIMIT);
        write(&store, "a", 5);
        assert_eq!(kept(server, "total_older"), "5|1");
        let older = "BEGIN;
            INSERT INTO memdir.node AS root (namespace, parent, name, changes)
            VALUES ('default', 0, '', ARRAY[gen_random_uuid()])
            ON CONFLICT (namespace, parent, name)
            DO UPDATE SET changes = (excluded.changes || root.changes)[1:64];
            INSERT INTO memdir.node (namespace, parent, name, content)
            SELECT 'default', id, 'older', repeat('x', 999990)::bytea
            FROM memdir.node WHERE parent = 0;
            COMMIT";
        server.sql("total_older", older);
        assert_eq!(kept(server, "total_older"), "");
        let refused = store.write(&at("b"), b"123456", OnExisting::Error);
        assert!(matches!(refused, Err(StoreError::OverLimit { bytes: Some(1_000_001), .. })));
        // A deletion needs no total, and the next change that grows sums again.
        store.delete(&at("a")).unwrap();
        assert_eq!(kept(server, "total_older"), "");
        write(&store, "b", 10);
        assert_eq!(kept(server, "total_older"), "1000000|2");
    }

    /// The number of rows that the newest change has read from its lock to its commit, by the server's own count.
    fn rows_read(server: &Server, database: &str) -> String {
        let sql = "SELECT max(rows) - min(rows) FROM memdir.reads
            WHERE change = (SELECT change FROM memdir.reads ORDER BY number DESC LIMIT 1)";
        server.sql(database, sql)
    }

    #[test]
    fn a_change_with_a_limit_reads_no_more_rows_in_a_large_namespace_than_in_a_small_one() {
        let Some(server) = server() else { return };
        let count_reads = "CREATE TABLE memdir.reads (number serial, change xid8, rows bigint);
            CREATE FUNCTION memdir.note_reads() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                INSERT INTO memdir.reads (change, rows)
                    SELECT pg_current_xact_id(), seq_tup_read + idx_tup_fetch
                    FROM pg_stat_xact_user_tables WHERE relid = TG_RELID;
                RETURN NULL;
            END $$;
            CREATE TRIGGER note_lock AFTER UPDATE ON memdir.node
            FOR EACH ROW WHEN (NEW.parent = 0) EXECUTE FUNCTION memdir.note_reads();
            CREATE CONSTRAINT TRIGGER note_commit AFTER UPDATE ON memdir.node
            DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.parent = 0)
            EXECUTE FUNCTION memdir.note_reads()";
        let fill = |count: usize| {
            format!(
                "INSERT INTO memdir.node (namespace, parent, name, content)
                 SELECT 'default', id, 'f' || n, 'x' FROM memdir.node, generate_series(1, {count}) n
                 WHERE parent = 0;
                 INSERT INTO memdir.node (namespace, parent, name, content)
                 SELECT 'other', 1, 'f' || n, 'x' FROM generate_series(1, 20000) n;
                 ANALYZE memdir.node"
            )
        };
        let read = [1, 10_000].map(|count| {
            let name = format!("total_{count}");
            let store = open(&server.database(&name)).with_total_limits(LIMIT);
            store.make_directory(&at("d")).unwrap();
            server.sql(&name, &fill(count));
            server.sql(&name, count_reads);
            // This change finds no total.
            server.sql(&name, "UPDATE memdir.node SET total_change = NULL WHERE parent = 0");
            write(&store, "d/first", 1);
            let first: usize = rows_read(server, &name).parse().unwrap();
            assert!(first > count, "{first}");
            let mut grow = |_: &[u8]| Some(Splice { range: 0..0, text: b"more".to_vec() });
            let counts = (0..12).map(|round| {
                match round % 4 {
                    0 => write(&store, &format!("d/{round}"), 1),
                    1 => store.update(&at("d/first"), &mut grow).unwrap(),
                    2 => store.rename(&at("d/first"), &at(&format!("d/{round}"))).unwrap(),
                    _ => store.rename(&at(&format!("d/{}", round - 1)), &at("d/first")).unwrap(),
                }
                rows_read(server, &name).parse().unwrap()
            });
            counts.collect::<Vec<usize>>()
        });
        // In a small one the planner may read a few rows that it could skip.
        assert!(read[1].iter().zip(&read[0]).all(|(large, small)| large <= small), "{read:?}");
    }
}
