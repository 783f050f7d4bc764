//! The cost of commands on PostgreSQL: compared with the floor, which is the same work by hand over the same driver; and
//! when the database holds the memories of 10,000 tenants, compared with a database with a single one.
//!
//! `cargo bench -p memdir --bench postgres`; with `-- floor` or `-- copying` that part only. The numbers are medians of one run on
//! one machine, so look at the ratio. Both sides are on one server, and take turns.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

fn main() {
    #[cfg(all(unix, feature = "postgres"))]
    on_a_server::run();
}

#[cfg(all(unix, feature = "postgres"))]
mod on_a_server {
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    use memdir::{Memory, MemoryOptions};

    use memdir_test_support::postgres::Server;

    use super::floor;

    const TENANTS: usize = 10_000;
    const FILES: usize = 20;
    const ROUNDS: usize = 3_000;

    pub(super) fn run() {
        // A server should have memory for its working set; the tests' servers have less than this
        // benchmark needs.
        let Some(server) = Server::start("shared_buffers = 384MB") else { return };
        let server = &server;
        let asked = |part: &str| std::env::args().any(|argument| argument == part);
        if !asked("copying") {
            floor::run(server);
        }
        if !asked("floor") {
            copying::run(server);
        }
        if asked("floor") || asked("copying") {
            return;
        }
        let (one, many) = (server.database("one"), server.database("many"));
        let line = "- a remembered fact of sixty-four characters, give or take one.\n";
        let content = line.repeat(16);
        let alone = vec![memory(&one, 1)];
        for file in 0..FILES {
            alone[0].create(&path(file), &content).unwrap();
        }
        // A store creates the tables, which are then filled as stores would have filled them.
        drop(memory(&many, 1));
        fill(server, &content);
        println!(
            "{TENANTS} namespaces of {FILES} files each: {}",
            server.sql("many", "SELECT pg_size_pretty(pg_total_relation_size('memdir.node'))")
        );
        let begun = Instant::now();
        // The largest number of stores; they share the connections.
        let tenants: Vec<Memory> = (1..=TENANTS).map(|tenant| memory(&many, tenant)).collect();
        let connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'memdir'";
        println!(
            "opening all in one process: {:.1?}; connections to both databases: {}",
            begun.elapsed(),
            server.sql("many", connections)
        );
        println!("{:<34} {:>12} {:>12} {:>7}", "", "10,000", "one", "ratio");
        compare("view a file of 1 KiB", &tenants, &alone, |memory, round| {
            drop(black_box(memory.view(&path(round % FILES), None).unwrap()));
        });
        compare("view a directory of 20 files", &tenants, &alone, |memory, _| {
            drop(black_box(memory.view("/memories", None).unwrap()));
        });
        compare("insert into 1 KiB and back", &tenants, &alone, |memory, round| {
            memory.insert(&path(round % FILES), 0, "unique").unwrap();
            memory.str_replace(&path(round % FILES), "unique\n", "").unwrap();
        });
    }

    fn path(file: usize) -> String {
        format!("/memories/notes-{file}.md")
    }

    fn memory(database: &str, tenant: usize) -> Memory {
        Memory::open(&format!("{database}namespace=tenant-{tenant}"), MemoryOptions::default())
            .unwrap()
    }

    fn fill(server: &Server, content: &str) {
        let roots = format!(
            "INSERT INTO memdir.node (namespace, parent, name, changes)
             SELECT 'tenant-' || n, 0, '', ARRAY[gen_random_uuid()] FROM generate_series(1, {TENANTS}) n"
        );
        let files = format!(
            "INSERT INTO memdir.node (namespace, parent, name, content, modified)
             SELECT root.namespace, root.id, 'notes-' || file || '.md', '{content}', now()
             FROM memdir.node AS root, generate_series(0, {}) AS file
             WHERE root.parent = 0 ORDER BY file, random()",
            FILES - 1
        );
        for sql in [&*roots, &files, "VACUUM ANALYZE memdir.node"] {
            server.sql("many", sql);
        }
    }

    /// Alternates between both, so other load on the machine affects both.
    fn compare(what: &str, many: &[Memory], one: &[Memory], work: impl Fn(&Memory, usize)) {
        let (mut in_many, mut in_one) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            // Far from the last one, so nothing of it is cached.
            let tenant = &many[round * 7919 % many.len()];
            in_many.push(time(|| work(tenant, round)));
            in_one.push(time(|| work(&one[0], round)));
        }
        let (many, one) = (median(in_many), median(in_one));
        let ratio = many.as_secs_f64() / one.as_secs_f64();
        println!("{what:<34} {many:>12.1?} {one:>12.1?} {ratio:>7.2}");
    }

    pub(super) fn time(work: impl FnOnce()) -> Duration {
        let begun = Instant::now();
        work();
        begun.elapsed()
    }

    pub(super) fn median(mut times: Vec<Duration>) -> Duration {
        times.sort_unstable();
        times[times.len() / 2]
    }
}

/// The floor: prepared statements on one connection, by hand.
#[cfg(all(unix, feature = "postgres"))]
mod floor {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::time::Duration;

    use memdir::{Memory, MemoryOptions};
    use memdir_test_support::postgres::Server;
    use tokio::runtime::Runtime;
    use tokio_postgres::{Client, NoTls, Statement};

    use super::on_a_server::{median, time};

    const ROUNDS: usize = 2_000;
    const THREADS: usize = 16;
    /// The edits of each thread.
    const EDITS: usize = 40;
    const FILE: &str = "/memories/notes.md";

    struct ByHand {
        runtime: Runtime,
        client: Client,
        id: i64,
        select: Statement,
        lock: Statement,
        update: Statement,
    }

    impl ByHand {
        fn new(address: &str) -> Self {
            let runtime = Runtime::new().unwrap();
            let (client, connection) =
                runtime.block_on(tokio_postgres::connect(address, NoTls)).unwrap();
            runtime.spawn(connection);
            let prepare = |sql| runtime.block_on(client.prepare(sql)).unwrap();
            let select = prepare("SELECT content FROM memdir.node WHERE id = $1");
            let lock = prepare("SELECT content FROM memdir.node WHERE id = $1 FOR UPDATE");
            let update =
                prepare("UPDATE memdir.node SET content = $2, modified = now() WHERE id = $1");
            let id = "SELECT id FROM memdir.node WHERE content IS NOT NULL";
            let id = runtime.block_on(client.query_one(id, &[])).unwrap().get(0);
            Self { runtime, client, id, select, lock, update }
        }

        fn view(&self) {
            self.runtime.block_on(async {
                let row = self.client.query_one(&self.select, &[&self.id]).await.unwrap();
                black_box(row.get::<_, Vec<u8>>(0));
            });
        }

        /// One request after the other, as a program does that has no pipeline.
        fn edit(&self) {
            self.runtime.block_on(async {
                self.client.batch_execute("BEGIN").await.unwrap();
                let row = self.client.query_one(&self.lock, &[&self.id]).await.unwrap();
                let mut content: Vec<u8> = row.get(0);
                content[0] ^= 1;
                self.client.execute(&self.update, &[&self.id, &content]).await.unwrap();
                self.client.batch_execute("COMMIT").await.unwrap();
            });
        }
    }

    /// A memory with a file of 4 KiB, in which each thread has a line of its own.
    struct Edited {
        memory: Memory,
        counts: Vec<AtomicUsize>,
    }

    impl Edited {
        fn new(address: &str) -> Self {
            let address = format!("{address}namespace=a");
            let memory = Memory::open(&address, MemoryOptions::default()).unwrap();
            let lines: String = (0..THREADS).map(|thread| line(thread, 0)).collect();
            memory.create(FILE, &format!("{lines:-<4096}")).unwrap();
            Self { memory, counts: (0..THREADS).map(|_| AtomicUsize::new(0)).collect() }
        }

        fn edit(&self, thread: usize) {
            let count = self.counts[thread].fetch_add(1, Relaxed);
            let (old, new) = (line(thread, count), line(thread, count + 1));
            drop(black_box(self.memory.str_replace(FILE, &old, &new).unwrap()));
        }
    }

    fn line(thread: usize, count: usize) -> String {
        format!("- thread {thread:02} counts {count:06}\n")
    }

    pub(super) fn run(server: &Server) {
        let edited = Edited::new(&server.database("floor"));
        // The floor has a file of its own, so the two do not wait for each other.
        let address = server.database("by_hand");
        drop(Edited::new(&address));
        let by_hand = ByHand::new(address.trim_end_matches('?'));
        println!("{:<34} {:>12} {:>12} {:>7}", "a file of 4 KiB", "memdir", "by hand", "ratio");
        let view = || drop(black_box(edited.memory.view(FILE, None).unwrap()));
        compare("a view, and a prepared select", view, || by_hand.view());
        compare("an edit, and a transaction", || edited.edit(0), || by_hand.edit());
        // The throughput of writers of one file, for the same number of changes.
        let (mut one, mut many) = (Vec::new(), Vec::new());
        for _ in 0..7 {
            one.push(time(|| (0..THREADS * EDITS).for_each(|_| edited.edit(0))));
            many.push(time(|| {
                std::thread::scope(|scope| {
                    for thread in 0..THREADS {
                        let edited = &edited;
                        scope.spawn(move || (0..EDITS).for_each(|_| edited.edit(thread)));
                    }
                });
            }));
        }
        let ratio = median(one).as_secs_f64() / median(many).as_secs_f64();
        println!("{:<34} {ratio:>33.2}", format!("throughput of {THREADS} threads, and of one"));
    }

    /// Alternates between both, so other load on the machine affects both.
    fn compare(what: &str, ours: impl Fn(), by_hand: impl Fn()) {
        let (mut in_ours, mut in_floor) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            in_ours.push(time(&ours));
            in_floor.push(time(&by_hand));
        }
        let (ours, floor): (Duration, Duration) = (median(in_ours), median(in_floor));
        let ratio = ours.as_secs_f64() / floor.as_secs_f64();
        println!("{what:<34} {ours:>12.1?} {floor:>12.1?} {ratio:>7.2}");
    }
}

/// 10,000 small files, and a binary `COPY` of the same rows by hand.
#[cfg(all(unix, feature = "postgres"))]
mod copying {
    use std::ops::ControlFlow;
    use std::pin::pin;
    use std::sync::Arc;
    use std::time::{Duration, SystemTime};

    use memdir::store::{Context, FileToWrite, PostgresDatabase, Times};
    use memdir::{
        CopyOptions, Durability, MemoryOptions, MemoryPath, OnExisting, Store, copy, open_store,
    };
    use memdir_test_support::postgres::Server;
    use tokio::runtime::Runtime;
    use tokio_postgres::NoTls;
    use tokio_postgres::binary_copy::BinaryCopyInWriter;
    use tokio_postgres::types::Type;

    use super::on_a_server::{median, time};

    const FILES: usize = 10_000;
    const DIRECTORIES: usize = 100;
    const ROUNDS: usize = 5;

    pub(super) fn run(server: &Server) {
        let address = server.database("copying");
        let from = open_store("memory:", &MemoryOptions::default()).unwrap();
        let paths: Vec<MemoryPath> = (0..FILES)
            .map(|number| format!("/memories/d{}/file-{number}.md", number % DIRECTORIES))
            .map(|path| MemoryPath::parse(&path).unwrap())
            .collect();
        let contents: Vec<Vec<u8>> =
            (0..FILES).map(|number| format!("- fact {number}\n").repeat(60).into()).collect();
        for (path, content) in paths.iter().zip(&contents) {
            from.write(path, content, OnExisting::Error).unwrap();
        }
        let (mut copies, mut batches, mut floors) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let open = |name: &str| -> Arc<dyn Store> {
                let address = format!("{address}namespace={name}-{round}");
                Arc::new(PostgresDatabase::open(&address, Durability::Full).unwrap())
            };
            let (copied, written) = (open("copied"), open("written"));
            copies.push(time(|| {
                let go_on = &mut |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
                let done = copy(&from, &copied, CopyOptions::default(), go_on).unwrap();
                assert_eq!(done.files, FILES as u64);
            }));
            let times = Times { modified: Some(SystemTime::now()), accessed: None };
            let existing = OnExisting::Error;
            let files: Vec<_> = paths
                .iter()
                .zip(&contents)
                .map(|(path, content)| FileToWrite { path, content, times, existing, note: None })
                .collect();
            batches.push(time(|| written.write_batch(&Context::new(), &files).unwrap()));
            floors.push(by_hand(address.trim_end_matches('?'), round, &paths, &contents));
        }
        let (copies, batches, floor) = (median(copies), median(batches), median(floors));
        println!("{:<34} {:>12} {:>12} {:>7}", "10,000 files of 1 KiB", "memdir", "COPY", "ratio");
        for (what, ours) in [("written together", batches), ("copied, and read back", copies)] {
            let ratio = ours.as_secs_f64() / floor.as_secs_f64();
            println!("{what:<34} {ours:>12.1?} {floor:>12.1?} {ratio:>7.2}");
        }
    }

    /// The rows of the directories and of the files, on a connection that is open.
    fn by_hand(
        address: &str,
        round: usize,
        paths: &[MemoryPath],
        contents: &[Vec<u8>],
    ) -> Duration {
        const TYPES: [Type; 6] =
            [Type::INT8, Type::TEXT, Type::INT8, Type::TEXT, Type::BYTEA, Type::TIMESTAMPTZ];
        let runtime = Runtime::new().unwrap();
        runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
            tokio::spawn(connection);
            let first = i64::try_from(1_000_000_000 + round * 100_000).unwrap();
            let namespace = format!("by-hand-{round}");
            let begun = std::time::Instant::now();
            client.batch_execute("BEGIN").await.unwrap();
            let sink = client
                .copy_in(
                    "COPY memdir.node (id, namespace, parent, name, content, modified)
                     FROM STDIN BINARY",
                )
                .await
                .unwrap();
            let mut writer = pin!(BinaryCopyInWriter::new(sink, &TYPES));
            let id = |number: usize| first + i64::try_from(number).unwrap();
            let (none, now) = (None::<Vec<u8>>, SystemTime::now());
            for number in 0..DIRECTORIES {
                let name = format!("d{number}");
                let none_time = None::<SystemTime>;
                let row: [&(dyn tokio_postgres::types::ToSql + Sync); 6] =
                    [&id(number), &namespace, &first, &name, &none, &none_time];
                writer.as_mut().write(&row).await.unwrap();
            }
            for (number, (path, content)) in paths.iter().zip(contents).enumerate() {
                let row: [&(dyn tokio_postgres::types::ToSql + Sync); 6] = [
                    &id(DIRECTORIES + number),
                    &namespace,
                    &id(number % DIRECTORIES),
                    &path.name().unwrap(),
                    content,
                    &now,
                ];
                writer.as_mut().write(&row).await.unwrap();
            }
            writer.finish().await.unwrap();
            client.batch_execute("COMMIT").await.unwrap();
            begun.elapsed()
        })
    }
}
