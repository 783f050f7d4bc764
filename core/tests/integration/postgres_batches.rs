//! Batches of files in the PostgreSQL store: round trips, the limits of a transaction, lost connections, cancelled calls, limits of
//! the total, and row-level security. The contract of a store has the other rules.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use crate::common::postgres::{Server, server};
use crate::common::proxy::{Loss, Proxy};
use crate::common::store_helpers::{at, put};
use memdir::store::{
    BatchError, Context, FileToWrite, PostgresDatabase, Splice, Times, TotalLimits, walk_files,
};
use memdir::{Cancellation, Durability, MemoryPath, OnExisting, Store, StoreError};

const MIB: usize = 1 << 20;

fn open(address: &str) -> PostgresDatabase {
    PostgresDatabase::open(address, Durability::Relaxed).unwrap()
}

fn port(server: &Server) -> u16 {
    let (_, after) = server.base().rsplit_once(':').unwrap();
    after.split_once('/').unwrap().0.parse().unwrap()
}

/// An address that leads through the proxy, with one connection.
fn through(proxy: &Proxy, server: &Server, namespace: &str) -> String {
    let port = format!(":{}/", port(server));
    let address = server.address(namespace) + "&pool_size=1";
    address.replace(&port, &format!(":{}/", proxy.port))
}

type Files = BTreeMap<String, Vec<u8>>;

fn files(store: &dyn Store) -> Files {
    let mut paths = Vec::new();
    walk_files(store, &mut |entry| paths.push(entry.path)).unwrap();
    let content = |path: &MemoryPath| store.read(path).unwrap();
    paths.iter().map(|path| (path.to_string(), content(path))).collect()
}

/// Writes files with these paths and sizes.
fn write(
    store: &dyn Store,
    context: &Context,
    files: &[(String, usize)],
    existing: OnExisting,
) -> Result<(), BatchError> {
    let paths: Vec<MemoryPath> =
        files.iter().map(|(path, _)| at(&format!("/memories/{path}"))).collect();
    let contents: Vec<Vec<u8>> = files.iter().map(|(_, size)| vec![b'x'; *size]).collect();
    let batch: Vec<_> = paths
        .iter()
        .zip(&contents)
        .map(|(path, content)| FileToWrite {
            path,
            content,
            times: Times::default(),
            existing,
            note: None,
        })
        .collect();
    store.write_batch(context, &batch)
}

fn expected(files: &[(String, usize)]) -> Files {
    let file = |(path, size): &(String, usize)| (format!("/memories/{path}"), vec![b'x'; *size]);
    files.iter().map(file).collect()
}

fn numbered(count: usize, size: usize) -> Vec<(String, usize)> {
    (0..count).map(|number| (format!("d{}/e/{number}", number % 7), size)).collect()
}

#[test]
fn a_batch_takes_two_round_trips_for_16_mebibytes() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let round_trips = |name: &str, files: &[(String, usize)]| {
        let store = open(&through(&proxy, server, name));
        put(&store, "/memories/there", "");
        let done = proxy.round_trips(|| {
            write(&store, &Context::new(), files, OnExisting::Error).unwrap();
        });
        let near = open(&server.address(name));
        near.delete(&at("/memories/there")).unwrap();
        assert!(self::files(&near) == expected(files), "{name}");
        done
    };
    assert_eq!(round_trips("batch-none", &[]), 0);
    assert_eq!(round_trips("batch-one", &numbered(1, 10)), 2);
    assert_eq!(round_trips("batch-small", &numbered(10_000, 10)), 2);
    let sizes = |sizes: &[usize]| -> Vec<(String, usize)> {
        sizes.iter().enumerate().map(|(number, size)| (number.to_string(), *size)).collect()
    };
    // A name counts 256 bytes, and the path of each file has 11.
    let half = 8 * MIB - 256 - 11;
    assert_eq!(round_trips("batch-full", &sizes(&[half, half])), 2);
    assert_eq!(round_trips("batch-over", &sizes(&[half, half + 1])), 4);
    // A larger file is written as any file.
    assert_eq!(round_trips("batch-large", &sizes(&[1, 16 * MIB, 1])), 6);
    // A deep path may need many rows.
    let deep = |number: usize| (format!("{number}{}", "/d".repeat(60)), 1);
    let paths: Vec<_> = (0..1_100).map(deep).collect();
    assert_eq!(round_trips("batch-deep", &paths), 4);
}

#[test]
fn a_name_is_looked_up_once_however_many_paths_share_it() {
    let Some(server) = server() else { return };
    let store = open(&server.fresh());
    // As many directories as files, and one directory of many levels for many files.
    let wide: Vec<_> = (0..4096).map(|number| (format!("w/{number}/file"), 1)).collect();
    let top = "d/".repeat(60);
    let deep: Vec<_> = (0..200).map(|number| (format!("{top}{number}"), 1)).collect();
    for files in [&wide, &deep] {
        write(&store, &Context::new(), files, OnExisting::Error).unwrap();
        let again = write(&store, &Context::new(), files, OnExisting::Error).unwrap_err();
        assert!(matches!(again, BatchError { written: 0, error: StoreError::AlreadyExists }));
        write(&store, &Context::new(), files, OnExisting::Overwrite).unwrap();
    }
    assert!(files(&store) == expected(&[wide, deep].concat()));
}

#[test]
fn the_files_of_a_batch_are_written_in_their_order() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let store = open(&address);
    let accessed = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    put(&store, "/memories/old", "old");
    store.record_access(&at("/memories/old"), accessed).unwrap();
    let file = |path: &str, size| (path.to_owned(), size);
    let one = [file("new", 1), file("old", 2), file("new", 3)];
    write(&store, &Context::new(), &one, OnExisting::Overwrite).unwrap();
    assert_eq!(files(&store), expected(&one));
    // The time of the last use is kept, as it is by other writes.
    assert_eq!(store.accessed(&at("/memories/old")).unwrap(), Some(accessed));
    assert!(store.modified(&at("/memories/new")).unwrap().is_some());
    let fails = |files: &[(String, usize)], existing, count| {
        let failed = write(&store, &Context::new(), files, existing).unwrap_err();
        assert_eq!(failed.written, count, "{}", failed.error);
        failed.error
    };
    let twice = [file("a", 1), file("a", 1)];
    assert!(matches!(fails(&twice, OnExisting::Error, 1), StoreError::AlreadyExists));
    let below = [file("b", 1), file("b/c", 1), file("never", 1)];
    assert!(matches!(fails(&below, OnExisting::Overwrite, 1), StoreError::NotADirectory));
    let above = [file("c/d", 1), file("c", 1)];
    assert!(matches!(fails(&above, OnExisting::Overwrite, 1), StoreError::AlreadyExists));
    let kept = [file("a", 1), file("b", 1), file("c/d", 1), file("old", 2), file("new", 3)];
    assert_eq!(files(&store), expected(&kept));
    // A later transaction fails: the earlier ones stay.
    let late = [file("l/1", 9 * MIB), file("l/2", 9 * MIB), file("old", 1)];
    assert!(matches!(fails(&late, OnExisting::Error, 2), StoreError::AlreadyExists));
    assert_eq!(files(&store).len(), kept.len() + 2);
}

#[test]
fn a_batch_ends_where_it_would_exceed_a_limit() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let limited = |bytes, files| open(&address).with_total_limits(TotalLimits { bytes, files });
    put(&open(&address), "/memories/there", "12345");
    let failed = |store: PostgresDatabase, existing| {
        let files = [("there", 3), ("b/1", 10), ("b/2", 10), ("b/3", 10)];
        let files = files.map(|(path, size)| (path.to_owned(), size));
        let BatchError { written, error } =
            write(&store, &Context::new(), &files, existing).unwrap_err();
        (written, error)
    };
    let (written, error) = failed(limited(Some(23), None), OnExisting::Overwrite);
    assert!(matches!(error, StoreError::OverLimit { bytes: Some(33), files: None }), "{error}");
    assert_eq!(written, 3);
    let (written, error) = failed(limited(None, Some(3)), OnExisting::Overwrite);
    assert!(matches!(error, StoreError::OverLimit { bytes: None, files: Some(4) }), "{error}");
    assert_eq!((written, files(&open(&address)).len()), (3, 3));
}

#[test]
fn a_batch_whose_acknowledgement_is_lost_is_written_once() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let store = open(&through(&proxy, server, "batch-losses"));
    put(&store, "/memories/there", "");
    for loss in [Loss::Request, Loss::Answer] {
        // Also in the middle: the first of three transactions is acknowledged.
        let files: Vec<_> = (0..9).map(|number| (format!("{loss:?}/{number}"), 5 * MIB)).collect();
        proxy.lose(loss);
        write(&store, &Context::new(), &files, OnExisting::Error).unwrap();
    }
    assert_eq!(proxy.losses(), 2);
    let rows = "SELECT count(*), count(content) FROM memdir.node WHERE namespace = 'batch-losses'";
    assert_eq!(server.sql("postgres", rows), "22|19");
    // Every request of a batch, or its answer.
    for loss in [Loss::Request, Loss::Answer] {
        for requests in 0..2 {
            let name = format!("batch-lost-{loss:?}-{requests}");
            let store = open(&through(&proxy, server, &name));
            put(&store, "/memories/there", "");
            proxy.lose_after(requests, loss);
            let files = numbered(300, 10);
            write(&store, &Context::new(), &files, OnExisting::Error).unwrap();
            proxy.lose_after(usize::MAX, Loss::Nothing);
            store.delete(&at("/memories/there")).unwrap();
            assert_eq!(self::files(&store), expected(&files));
        }
    }
}

#[test]
fn a_batch_whose_caller_has_gone_writes_nothing_more() {
    let Some(server) = server() else { return };
    let address = server.address("batch-gone");
    let slow = open(&address);
    put(&slow, "/memories/a", "");
    let (inside, wait_until_inside) = mpsc::channel();
    let (leave, wait_to_leave) = mpsc::channel::<()>();
    let batch = open(&format!("{address}&application_name=batch-gone"));
    std::thread::scope(|scope| {
        let slow = &slow;
        let writer = scope.spawn(move || {
            slow.update(&at("/memories/a"), &mut |_| {
                inside.send(()).unwrap();
                let _ = wait_to_leave.recv();
                Some(Splice { range: 0..0, text: b"+".to_vec() })
            })
        });
        wait_until_inside.recv().unwrap();
        let cancellation = Cancellation::new();
        let context = |cancellation: &Cancellation| Context::new().cancelled_by(cancellation);
        let waiting = scope.spawn({
            let cancellation = cancellation.clone();
            let batch = &batch;
            move || {
                write(batch, &context(&cancellation), &numbered(20, 1), OnExisting::Error)
                    .unwrap_err()
            }
        });
        let waits = "SELECT count(*) FROM pg_stat_activity
            WHERE application_name = 'batch-gone' AND wait_event_type = 'Lock'";
        while server.sql("postgres", waits) != "1" {
            std::thread::sleep(Duration::from_millis(5));
        }
        cancellation.cancel();
        let failed = waiting.join().unwrap();
        assert!(matches!(failed, BatchError { written: 0, error: StoreError::Cancelled }));
        drop(leave);
        writer.join().unwrap().unwrap();
    });
    assert_eq!(files(&slow).len(), 1);
}

#[test]
fn a_batch_works_with_row_level_security() {
    let Some(server) = server() else { return };
    let address = server.database("batch_tenants");
    let sql = |sql: &str| server.sql("batch_tenants", sql);
    sql(&PostgresDatabase::schema());
    sql(PostgresDatabase::row_security());
    sql("CREATE ROLE batch_tenant LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA memdir TO batch_tenant;
         GRANT SELECT ON memdir.schema_version TO batch_tenant;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO batch_tenant;
         GRANT USAGE ON SEQUENCE memdir.node_id TO batch_tenant");
    let (_, host) = address.split_once('@').unwrap();
    let open_as =
        |namespace: &str| open(&format!("postgres://batch_tenant:pw@{host}namespace={namespace}"));
    let (one, two) = (open_as("one"), open_as("two"));
    for store in [&one, &two, &one] {
        write(store, &Context::new(), &numbered(30, 5), OnExisting::Overwrite).unwrap();
    }
    assert_eq!(files(&one), expected(&numbered(30, 5)));
    assert_eq!(files(&two), expected(&numbered(30, 5)));
    // A row that the role may see and not change.
    sql("CREATE POLICY frozen ON memdir.node AS RESTRICTIVE FOR UPDATE USING (name <> '3')");
    let refused =
        write(&one, &Context::new(), &numbered(30, 9), OnExisting::Overwrite).unwrap_err();
    assert!(matches!(refused, BatchError { written: 0, error: StoreError::PermissionDenied }));
    assert_eq!(files(&one), expected(&numbered(30, 5)));
}
