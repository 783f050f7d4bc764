//! The PostgreSQL store: the number of requests, the handling of lost answers, and timeouts of every wait.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::postgres::{Server, server};
use crate::common::proxy::{Loss, Proxy};
use crate::common::store_helpers;
use crate::common::store_helpers::{append, at, open_memory};
use memdir::store::{Effect, Mounts, PostgresDatabase, Splice};
use memdir::{
    CopyOptions, Durability, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError,
};

fn open(address: &str) -> PostgresDatabase {
    PostgresDatabase::open(address, Durability::Relaxed).unwrap()
}

fn port(server: &Server) -> u16 {
    let (_, after) = server.base().rsplit_once(':').unwrap();
    after.split_once('/').unwrap().0.parse().unwrap()
}

/// An address that leads through the proxy.
fn through(proxy: &Proxy, server: &Server, namespace: &str) -> String {
    let port = format!(":{}/", port(server));
    server.address(namespace).replace(&port, &format!(":{}/", proxy.port))
}

#[test]
fn a_view_is_one_round_trip_and_a_change_is_two() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    // One connection, so all statements are prepared on it after the first round.
    let address = through(&proxy, server, "counted") + "&pool_size=1";
    let memory = open_memory(&address);
    memory.create("/memories/dir/sub/file", "line\n").unwrap();
    let fewest = |name: &str, work: &dyn Fn(usize)| {
        let counts = (0..5).map(|round| proxy.round_trips(|| work(round)));
        (name.to_owned(), counts.min().unwrap())
    };
    let counts = [
        fewest("view a file", &|_| drop(memory.view("/memories/dir/sub/file", None).unwrap())),
        fewest("view a directory", &|_| drop(memory.view("/memories", None).unwrap())),
        fewest("view nothing", &|_| drop(memory.view("/memories/none", None).unwrap_err())),
        fewest("insert", &|_| drop(memory.insert("/memories/dir/sub/file", 0, "x").unwrap())),
        fewest("a refused edit", &|_| {
            drop(memory.str_replace("/memories/dir/sub/file", "none", "x").unwrap_err());
        }),
        fewest("create", &|n| drop(memory.create(&format!("/memories/new/{n}/a/b"), "x").unwrap())),
        fewest("rename", &|n| {
            let (from, to) = (format!("/memories/new/{n}"), format!("/memories/old/{n}"));
            drop(memory.rename(&from, &to).unwrap());
        }),
        fewest("delete", &|n| drop(memory.delete(&format!("/memories/old/{n}")).unwrap())),
        // It shares the connection.
        fewest("open another namespace", &|n| {
            open(&address.replace("counted", &format!("counted-{n}")));
        }),
    ];
    let expected = [1, 1, 1, 2, 2, 2, 2, 2, 0]
        .into_iter()
        .zip(&counts)
        .map(|(n, (name, _))| (name.clone(), n));
    assert_eq!(counts.to_vec(), expected.collect::<Vec<_>>());
}

#[test]
fn a_history_takes_no_further_round_trip() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let address = through(&proxy, server, "recorded") + "&pool_size=1";
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open(&address, options).unwrap();
    memory.create("/memories/file", "line\n").unwrap();
    let view = |_| drop(memory.view("/memories/file", None).unwrap());
    let edit = |_| drop(memory.insert("/memories/file", 0, "x").unwrap());
    let fewest = |work: &dyn Fn(usize)| (0..5).map(|n| proxy.round_trips(|| work(n))).min();
    assert_eq!((fewest(&view), fewest(&edit)), (Some(1), Some(2)));
}

#[test]
fn a_change_whose_acknowledgement_is_lost_is_made_once() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let memory = open_memory(&through(&proxy, server, "losses"));
    memory.create("/memories/log", "start\n").unwrap();
    for number in 0..12 {
        proxy.lose(if number % 2 == 0 { Loss::Answer } else { Loss::Request });
        memory.insert("/memories/log", 0, &format!("{number}")).unwrap();
    }
    for loss in [Loss::Answer, Loss::Request] {
        proxy.lose(loss);
        memory.create(&format!("/memories/{loss:?}"), "x").unwrap();
        proxy.lose(loss);
        memory
            .rename(&format!("/memories/{loss:?}"), &format!("/memories/moved/{loss:?}"))
            .unwrap();
        proxy.lose(loss);
        memory.delete(&format!("/memories/moved/{loss:?}")).unwrap();
    }
    assert_eq!(proxy.losses(), 18);
    let log = memory.store().read(&at("/memories/log")).unwrap();
    let expected: String = (0..12).rev().map(|number| format!("{number}\n")).collect();
    assert_eq!(String::from_utf8(log).unwrap(), expected + "start\n");
}

#[test]
fn a_change_that_cannot_be_found_again_is_an_error_that_says_so() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let far = open(&through(&proxy, server, "lost"));
    let near = open(&server.address("lost"));
    let log = at("/memories/log");
    let add = |store: &PostgresDatabase| append(store, "/memories/log", "+");
    near.write(&log, b"", OnExisting::Error).unwrap();
    add(&far).unwrap();
    std::thread::scope(|scope| {
        proxy.lose(Loss::AnswerAndAllOthers);
        let lost = scope.spawn(|| add(&far));
        while proxy.losses() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        for _ in 0..80 {
            add(&near).unwrap();
        }
        proxy.open();
        let error = lost.join().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Failed { effect: Effect::Unknown, .. }));
        assert!(error.to_string().contains("not known"), "{error}");
    });
    assert_eq!(near.read(&log).unwrap().len(), 82);
}

#[test]
fn names_of_tenants_are_names_and_nothing_else() {
    let Some(server) = server() else { return };
    let names = ["a", "A", "a%20", "b'; DROP SCHEMA memdir CASCADE; --", r"\'", r"c\", "猫", "$1"];
    let encoded = |name: &str| name.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let stores: Vec<_> = names.map(|name| open(&server.address(&encoded(name)))).into();
    for (store, name) in stores.iter().zip(names) {
        store.write(&at("/memories/mine"), name.as_bytes(), OnExisting::Error).unwrap();
    }
    stores[0].clear().unwrap();
    for (store, name) in stores.iter().zip(names).skip(1) {
        assert_eq!(store.read(&at("/memories/mine")).unwrap(), name.as_bytes());
        assert_eq!(store.list(&MemoryPath::root()).unwrap().len(), 1);
    }
    assert!(stores[0].list(&MemoryPath::root()).unwrap().is_empty());
}

#[test]
fn the_longest_paths_are_kept_and_found() {
    let Some(server) = server() else { return };
    let store = open(&server.fresh());
    // Letters that do not compress: an index has no room for 4,000 of them.
    let mut state = 7_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + u8::try_from(state >> 24).unwrap() % 26)
    };
    let mut path = "/memories".to_owned();
    while path.len() + 256 <= 4096 {
        path.push('/');
        path.extend((0..255).map(|_| letter()));
    }
    let rest = 4096 - path.len() - 1;
    path.push('/');
    path.extend((0..rest).map(|_| letter()));
    assert_eq!(path.len(), 4096);
    store.write(&at(&path), b"deep", OnExisting::Error).unwrap();
    assert_eq!(store.read(&at(&path)).unwrap(), b"deep");
    let top = at(&path).names().next().unwrap().to_owned();
    let moved =
        store.rename(&at(&format!("/memories/{top}")), &at(&format!("/memories/x{}", &top[1..])));
    moved.unwrap();
    let longer = store.rename(&at(&format!("/memories/x{}", &top[1..])), &at("/memories/new/d/e"));
    longer.unwrap();
    let too_long = at(&format!("/memories/{}/{}", "n".repeat(250), "m".repeat(250)));
    let refused = store.rename(&at("/memories/new"), &too_long);
    assert!(matches!(refused, Err(StoreError::NameTooLong)), "{refused:?}");
}

#[test]
fn an_entry_that_somebody_else_made_cannot_forge_a_path() {
    let Some(server) = server() else { return };
    let store: Arc<dyn Store> = Arc::new(open(&server.address("forged")));
    store.write(&at("/memories/dir/file"), b"x", OnExisting::Error).unwrap();
    server.sql(
        "postgres",
        "INSERT INTO memdir.node (namespace, parent, name, content)
         SELECT 'forged', id, unnest(ARRAY['a/b', '..', E'line\nbreak', '%2e%2e']), 'x'
         FROM memdir.node WHERE namespace = 'forged' AND name = 'dir'",
    );
    server.sql(
        "postgres",
        "INSERT INTO memdir.node (namespace, parent, name) VALUES ('forged', 123456789, 'stray')",
    );
    let listed = store.list(&at("/memories/dir")).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let mut found = Vec::new();
    let checked = memdir::check(&store, &mut |problem| found.push(problem.to_string())).unwrap();
    found.sort();
    let odd = |name: &str| format!("/memories/dir/{name} has a name that no path can hold");
    let stray = "/memories is damaged (1 entries that no directory leads to)".to_owned();
    assert_eq!(found, [stray, odd("%2e%2e"), odd(".."), odd("a/b"), odd("line\\nbreak")]);
    assert_eq!((checked.files, checked.problems), (1, 5));
    store.delete(&at("/memories/dir")).unwrap();
    let left = "SELECT count(*) FROM memdir.node WHERE namespace = 'forged'";
    assert_eq!(server.sql("postgres", left), "2", "the root, and what was never part of it");
}

#[test]
fn an_edit_that_panics_changes_nothing_and_keeps_nobody_waiting() {
    let Some(server) = server() else { return };
    store_helpers::an_edit_that_panics_changes_nothing_and_keeps_nobody_waiting(&open(
        &server.fresh(),
    ));
}

#[test]
fn a_client_that_is_silent_for_too_long_loses_its_turn_and_begins_anew() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let (slow, other) = (open(&(address.clone() + "&statement_timeout=200ms")), open(&address));
    let file = at("/memories/a");
    slow.write(&file, b"", OnExisting::Error).unwrap();
    let mut calls = 0;
    slow.update(&file, &mut |old| {
        calls += 1;
        if calls == 1 {
            // The other one waits until the server ends this one's transaction.
            other.write(&file, b"other ", OnExisting::Overwrite).unwrap();
        }
        Some(Splice { range: old.len()..old.len(), text: b"slow".to_vec() })
    })
    .unwrap();
    assert_eq!((calls, other.read(&file).unwrap()), (2, b"other slow".to_vec()));
}

#[test]
fn a_server_that_comes_back_is_used_again_and_the_model_learns_nothing_of_it() {
    let Some(server) = Server::start("") else { return };
    let memory = open_memory(&server.address("tenant-7"));
    let create = |n: usize| {
        let input =
            format!(r#"{{"command": "create", "path": "/memories/{n}", "file_text": "kept {n}"}}"#);
        memory.execute(&input)
    };
    assert!(!create(0).is_error);
    for round in 1..4 {
        if round == 2 {
            server.kill();
        } else {
            server.stop();
        }
        let reply = create(100 + round);
        assert!(reply.is_error && reply.cause.is_some());
        let said = reply.content.as_text().unwrap_or_default();
        assert!(said.contains("cannot be reached"), "{said}");
        for word in ["127.0.0.1", "postgres", "memdir:", "tenant", "refused"] {
            assert!(!said.contains(word), "{said}");
        }
        server.start_again();
        // Broken connections are not used again, neither to read nor to write.
        let reply = create(round);
        assert!(!reply.is_error, "{:?}", reply.cause);
        for kept in 0..=round {
            assert!(memory.view(&format!("/memories/{kept}"), None).unwrap().contains("kept"));
        }
        server.stop();
        server.start_again();
        assert!(memory.view("/memories", None).is_ok());
    }
}

#[test]
fn what_is_too_large_is_not_read_to_be_edited() {
    let Some(server) = server() else { return };
    let store = open(&server.fresh()).with_max_file_bytes(Some(10));
    store_helpers::what_is_too_large_is_not_read_to_be_edited(&store);
}

#[test]
fn what_the_server_refused_changed_nothing_and_says_so() {
    let Some(server) = server() else { return };
    let address = server.database("refusing");
    let store = open(&address);
    let file = at("/memories/a");
    store.write(&file, b"one", OnExisting::Error).unwrap();
    // Once at the change itself, and once at the commit.
    for when in ["", "DEFERRABLE INITIALLY DEFERRED"] {
        let sql = format!(
            "CREATE FUNCTION memdir.refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'refused'; END $$; \
             CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE OF content OR DELETE \
             ON memdir.node {when} FOR EACH ROW EXECUTE FUNCTION memdir.refuse()"
        );
        server.sql("refusing", &sql);
        for refused in [
            store.write(&file, b"two", OnExisting::Overwrite),
            store.write(&at("/memories/b"), b"two", OnExisting::Error),
            store.delete(&file),
        ] {
            let known =
                matches!(refused, Err(StoreError::Failed { effect: Effect::Unchanged, .. }));
            assert!(known, "{refused:?}");
        }
        assert_eq!(store.read(&file).unwrap(), b"one");
        server.sql("refusing", "DROP FUNCTION memdir.refuse CASCADE");
    }
    server.sql("postgres", "ALTER DATABASE refusing ALLOW_CONNECTIONS false");
    server.sql(
        "postgres",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'refusing'",
    );
    let refused = store.delete(&file);
    let known = matches!(refused, Err(StoreError::Failed { effect: Effect::Unchanged, .. }));
    assert!(known, "{refused:?}");
}

#[test]
fn a_namespace_is_in_its_own_place_and_in_no_other() {
    let Some(server) = server() else { return };
    let go_on = &mut |_: memdir::copy::Progress<'_>| std::ops::ControlFlow::Continue(());
    let opened = |address: &str| -> Arc<dyn Store> { Arc::new(open(address)) };
    let one = opened(&server.address("place"));
    one.write(&at("/memories/d/x"), b"x", OnExisting::Error).unwrap();
    let again = opened(&(server.address("place") + "&pool_size=2"));
    let copied = memdir::copy(&one, &again, CopyOptions::default(), go_on);
    assert!(matches!(copied, Err(memdir::CopyError::Overlapping)), "{copied:?}");
    let other = opened(&server.address("place-below"));
    memdir::copy(&one, &other, CopyOptions::default(), go_on).unwrap();
    let mounts = Mounts::new(one).mount(at("/memories/m"), again).unwrap();
    let error = mounts.rename(&at("/memories/d"), &at("/memories/m/d/e")).unwrap_err();
    assert!(matches!(error, StoreError::IntoItself), "{error}");
}
