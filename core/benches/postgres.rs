//! The cost of a view on PostgreSQL when the database holds the memories of 10,000 tenants,
//! compared with a database with a single one.
//!
//! `cargo bench -p memdir --bench postgres`. The numbers are medians of one run on one machine, so
//! look at the ratio. Both databases are on one server, and are queried alternately.
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

    const TENANTS: usize = 10_000;
    const FILES: usize = 20;
    const ROUNDS: usize = 3_000;

    pub(super) fn run() {
        // A server should have memory for its working set; the tests' servers have less than this
        // benchmark needs.
        let Some(server) = Server::start("shared_buffers = 384MB") else { return };
        let server = &server;
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

    fn time(work: impl FnOnce()) -> Duration {
        let begun = Instant::now();
        work();
        begun.elapsed()
    }

    fn median(mut times: Vec<Duration>) -> Duration {
        times.sort_unstable();
        times[times.len() / 2]
    }
}
