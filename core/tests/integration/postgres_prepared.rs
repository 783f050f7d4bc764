//! Prepared statements of the PostgreSQL store: round trips, poolers with and without support, lost statements, and
//! reads that run without a transaction around them.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::common::postgres::{Server, server};
use crate::common::proxy::Proxy;
use crate::common::store_helpers::{at, open_memory};
use memdir::store::{Context, InContext, PostgresDatabase};
use memdir::{Cancellation, Durability, Memory, MemoryOptions, OnExisting, Store, StoreError};

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

/// Each of the six commands, with the round trips that it takes without and with a history. The history looks whether a path that is
/// moved or deleted is a directory. It lists a directory, reads every file in it that is deleted, and then looks for files that other
/// processes wrote into it meanwhile.
const COMMANDS: [(usize, usize, &str); 8] = [
    (1, 1, r#"{"command": "view", "path": "/memories/d/a.md"}"#),
    (1, 1, r#"{"command": "view", "path": "/memories"}"#),
    (2, 2, r#"{"command": "create", "path": "/memories/d/n/b.md", "file_text": "one\n"}"#),
    (
        2,
        2,
        r#"{"command": "str_replace", "path": "/memories/d/n/b.md", "old_str": "o", "new_str": "O"}"#,
    ),
    (
        2,
        2,
        r#"{"command": "insert", "path": "/memories/d/n/b.md", "insert_line": 0, "insert_text": "x"}"#,
    ),
    (
        2,
        3,
        r#"{"command": "rename", "old_path": "/memories/d/n/b.md", "new_path": "/memories/c/b.md"}"#,
    ),
    (2, 5, r#"{"command": "rename", "old_path": "/memories/c", "new_path": "/memories/e"}"#),
    (2, 6, r#"{"command": "delete", "path": "/memories/e"}"#),
];

/// Each command waits for the server as often as it should, from its first execution on, however far away the server is.
fn every_command_costs_its_round_trips(server: &Server, name: &str) {
    let proxy = Proxy::before(port(server));
    for history in [false, true] {
        for milliseconds in [20, 1] {
            let mut options = MemoryOptions::default();
            options.history = history;
            let namespace = format!("{name}-{history}-{milliseconds}");
            // Connections of its own.
            let address = through(&proxy, server, &namespace) + "&application_name=" + &namespace;
            let memory = Memory::open(&address, options).unwrap();
            memory.create("/memories/d/a.md", "one\n").unwrap();
            proxy.delay(Duration::from_millis(milliseconds));
            let expected = COMMANDS.map(|(without, with, _)| if history { with } else { without });
            for round in 0..3 {
                let counted = COMMANDS.map(|(_, _, command)| {
                    proxy.round_trips(|| {
                        let reply = memory.execute(command);
                        assert!(!reply.is_error, "{command}: {:?}", reply.cause);
                    })
                });
                // A memory with a history reads the newest records before its first change.
                if !history || round > 0 {
                    assert_eq!(counted, expected, "{namespace}, round {round}");
                }
            }
            proxy.delay(Duration::ZERO);
        }
    }
}

#[test]
fn a_command_costs_its_round_trips_and_nothing_else() {
    let Some(server) = server() else { return };
    every_command_costs_its_round_trips(server, "far");
}

#[test]
fn a_command_costs_its_round_trips_through_a_pooler_without_prepared_statements() {
    let Some(pooler) = Server::behind_pooler() else { return };
    every_command_costs_its_round_trips(&pooler, "far-pooled");
}

#[test]
fn a_command_costs_its_round_trips_through_a_pooler_with_prepared_statements() {
    let Some(pooler) = Server::behind_pooler_with(100) else { return };
    every_command_costs_its_round_trips(&pooler, "far-prepared");
}

/// The requests with SQL of a round of all commands, after some rounds.
fn statements_sent(server: &Server, proxy: &Proxy, namespace: &str, more: &str) -> usize {
    let memory = open_memory(&(through(proxy, server, namespace) + more));
    memory.create("/memories/d/a.md", "one\n").unwrap();
    let round = || {
        for (_, _, command) in COMMANDS {
            let reply = memory.execute(command);
            assert!(!reply.is_error, "{command}: {:?}", reply.cause);
        }
    };
    (0..4).for_each(|_| round());
    proxy.statements(round)
}

#[test]
fn a_statement_is_sent_once_for_each_connection() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    assert_eq!(statements_sent(server, &proxy, "once", ""), 0);
    // One request for a view, two for a change.
    let all: usize = COMMANDS.iter().map(|(requests, ..)| requests).sum();
    assert_eq!(statements_sent(server, &proxy, "never", "&prepared_statements=off"), all);
    assert_eq!(statements_sent(server, &proxy, "on", "&prepared_statements=on"), 0);
    // The options of the address are kept.
    let options = "&options=-c%20geqo%3Doff";
    assert_eq!(statements_sent(server, &proxy, "with-options", options), 0);
}

#[test]
fn a_pooler_that_supports_prepared_statements_is_recognized() {
    // It keeps fewer statements than the store prepares, and prepares the others again.
    for most in [100, 3] {
        let Some(pooler) = Server::behind_pooler_with(most) else { return };
        let proxy = Proxy::before(port(&pooler));
        let namespace = format!("recognized-{most}");
        assert_eq!(statements_sent(&pooler, &proxy, &namespace, ""), 0);
        write_from_several_clients(&pooler, &namespace, "");
    }
}

#[test]
fn a_pooler_without_prepared_statements_is_recognized() {
    let Some(pooler) = Server::behind_pooler() else { return };
    let proxy = Proxy::before(port(&pooler));
    let all: usize = COMMANDS.iter().map(|(requests, ..)| requests).sum();
    assert_eq!(statements_sent(&pooler, &proxy, "unsupported", ""), all);
}

/// With `on` the store believes the address. A statement that another session has is an error, and from then on the
/// store prepares nothing.
#[test]
fn a_lost_statement_is_noticed_and_no_change_is_lost_or_made_twice() {
    let Some(pooler) = Server::behind_pooler() else { return };
    write_from_several_clients(&pooler, "believed", "&prepared_statements=on");
}

fn write_from_several_clients(server: &Server, namespace: &str, more: &str) {
    const CLIENTS: usize = 6;
    const ROUNDS: usize = 15;
    let open = |client: usize| {
        let name = format!("&application_name={namespace}-{client}");
        open_memory(&(server.address(&format!("{namespace}-log")) + more + &name))
    };
    open(0).create("/memories/log", "start\n").unwrap();
    let start = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (open, start) = (&open, &start);
            scope.spawn(move || {
                let memory = open(client);
                start.wait();
                for round in 0..ROUNDS {
                    memory.insert("/memories/log", 0, &format!("{client}/{round}")).unwrap();
                    assert!(memory.view("/memories/log", None).unwrap().contains("start"));
                    let own = format!("/memories/{client}/{round}");
                    memory.create(&own, "x").unwrap();
                    memory.rename(&own, &format!("{own}.kept")).unwrap();
                    memory.delete(&format!("{own}.kept")).unwrap();
                }
            });
        }
    });
    let log = open(0).store().read(&at("/memories/log")).unwrap();
    let mut lines: Vec<&str> = std::str::from_utf8(&log).unwrap().lines().collect();
    assert_eq!(lines.len(), CLIENTS * ROUNDS + 1);
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), CLIENTS * ROUNDS + 1);
}

#[test]
fn a_changed_table_makes_the_store_plan_again() {
    let Some(server) = server() else { return };
    let address = server.database("replanned");
    let memory = open_memory(&address);
    for number in 0..4 {
        memory.create(&format!("/memories/d/{number}"), "x").unwrap();
        memory.view("/memories", None).unwrap();
    }
    // The result of a prepared statement may not change its type.
    server.sql(
        "replanned",
        r#"ALTER TABLE memdir.node ALTER COLUMN name TYPE varchar(255) COLLATE "C""#,
    );
    assert!(memory.view("/memories", None).unwrap().contains("/memories/d/3"));
    memory.create("/memories/d/4", "x").unwrap();
    server.sql("replanned", r#"ALTER TABLE memdir.node ALTER COLUMN name TYPE text COLLATE "C""#);
    assert!(memory.view("/memories", None).unwrap().contains("/memories/d/4"));
}

/// The policy reads a setting that the statement itself makes, so the server must not look at a row before.
#[test]
fn a_read_sets_its_namespace_first_whatever_plan_the_server_chooses() {
    let Some(server) = server() else { return };
    let address = server.database("any_plan");
    let sql = |sql: &str| server.sql("any_plan", sql);
    sql(&PostgresDatabase::schema());
    sql(PostgresDatabase::row_security());
    sql("CREATE ROLE planner LOGIN PASSWORD 'pw'; GRANT USAGE ON SCHEMA memdir TO planner;
         GRANT SELECT ON memdir.schema_version TO planner;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO planner;
         GRANT USAGE ON SEQUENCE memdir.node_id TO planner");
    let (_, host) = address.split_once('@').unwrap();
    let open = |name: &str| {
        open_memory(&format!("postgres://planner:pw@{host}namespace=a&application_name={name}"))
    };
    open("first").create("/memories/d/e/a.md", "here\n").unwrap();
    let methods =
        ["nestloop", "indexscan", "bitmapscan", "seqscan", "hashjoin", "mergejoin", "memoize"];
    for plans in ["force_generic_plan", "force_custom_plan"] {
        // Without each method, and with one of them only.
        for (number, method) in methods.iter().enumerate() {
            for others in ["on", "off"] {
                let own = if others == "on" { "off" } else { "on" };
                let settings: String = methods
                    .iter()
                    .map(|name| {
                        let value = if name == method { own } else { others };
                        format!("ALTER DATABASE any_plan SET enable_{name} = {value};")
                    })
                    .collect();
                sql(&format!("{settings} ALTER DATABASE any_plan SET plan_cache_mode = {plans}"));
                let memory = open(&format!("{plans}-{number}-{others}"));
                for _ in 0..3 {
                    assert!(memory.view("/memories/d/e/a.md", None).unwrap().contains("here"));
                    assert!(memory.view("/memories", None).unwrap().contains("d/e"));
                    assert_eq!(memory.store().read(&at("/memories/d/e/a.md")).unwrap(), b"here\n");
                    assert!(memory.store().revision().unwrap().is_some_and(|id| !id.is_empty()));
                }
            }
        }
    }
}

/// Waits until the server's state of its clients is `expected`.
fn until(server: &Server, sql: &str, expected: &str) {
    let since = Instant::now();
    while server.sql("postgres", sql) != expected {
        assert!(since.elapsed() < Duration::from_secs(30), "{sql}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_view_that_takes_too_long_ends_on_the_server_too() {
    let Some(server) = server() else { return };
    let address = server.database("slow_views");
    let open = |more: &str| {
        PostgresDatabase::open(
            &format!("{address}application_name=slow_view{more}"),
            Durability::Full,
        )
        .unwrap()
    };
    let (limited, patient) = (open("&statement_timeout=2s"), open(""));
    let file = at("/memories/a");
    patient.write(&file, b"x", OnExisting::Error).unwrap();
    assert_eq!(patient.read(&file).unwrap(), b"x");
    let waiting = "SELECT count(*) FROM pg_stat_activity \
                   WHERE application_name = 'slow_view' AND wait_event_type = 'Lock'";
    std::thread::scope(|scope| {
        let lock = "BEGIN; LOCK TABLE memdir.node; SELECT pg_advisory_lock(8); SELECT pg_sleep(61)";
        let holder = scope.spawn(|| server.try_sql("slow_views", lock));
        until(
            server,
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 8",
            "1",
        );
        let error = limited.read(&file).unwrap_err();
        assert!(error.to_string().contains("statement_timeout"), "{error}");
        until(server, waiting, "0");
        // A view whose caller has gone.
        let cancellation = Cancellation::new();
        let gone = scope.spawn({
            let cancellation = cancellation.clone();
            let (patient, file) = (&patient, &file);
            move || {
                let context = Context::new().cancelled_by(&cancellation);
                InContext::new(patient, &context).read(file)
            }
        });
        until(server, waiting, "1");
        cancellation.cancel();
        assert!(matches!(gone.join().unwrap(), Err(StoreError::Cancelled)));
        until(server, waiting, "0");
        let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                   WHERE query LIKE '%pg_sleep(61)%' AND pid <> pg_backend_pid()";
        assert_eq!(server.sql("postgres", end), "1");
        assert!(!holder.join().unwrap());
    });
    assert_eq!(limited.read(&file).unwrap(), b"x");
    assert_eq!(patient.read(&file).unwrap(), b"x");
}
