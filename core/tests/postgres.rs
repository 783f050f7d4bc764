//! The PostgreSQL store: how often it asks the server, who sees what, and what it says when
//! something is wrong.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

#[path = "common/postgres.rs"]
mod common;
#[path = "common/proxy.rs"]
mod proxy;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;
use std::sync::mpsc;

use common::{Server, server};
use memdir::store::{PostgresDatabase, Splice};
use memdir::{Durability, Error, Memory, MemoryPath, OnExisting, Options, Store, StoreError};
use proxy::{Loss, Proxy};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

fn open(address: &str) -> PostgresDatabase {
    PostgresDatabase::open(address, Durability::Relaxed).unwrap()
}

fn memory(address: &str) -> Memory {
    Memory::open(address, Options::default()).unwrap()
}

/// Why a store cannot be opened, in the words for the developer.
fn refusal(address: &str) -> String {
    let Err(error) = PostgresDatabase::open(address, Durability::Full) else {
        panic!("it was opened")
    };
    assert!(matches!(error, Error::Store(StoreError::Failed { .. })), "{error}");
    let said = error.to_string();
    assert!(!said.contains("hunter2") && !said.contains('\n'), "{said}");
    said
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
    // One connection, so that all statements are known to it after the first round.
    let address = through(&proxy, server, "counted") + "&pool_size=1";
    let memory = memory(&address);
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
fn a_change_whose_acknowledgement_is_lost_is_made_once() {
    let Some(server) = server() else { return };
    let proxy = Proxy::before(port(server));
    let memory = memory(&through(&proxy, server, "losses"));
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
    let add = |store: &PostgresDatabase| {
        store.update(&log, &mut |old| {
            Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
        })
    };
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
        let error = lost.join().unwrap().unwrap_err().to_string();
        assert!(error.contains("not known"), "{error}");
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
    // Of letters that do not compress: an index has no room for 4,000 of them.
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
    let store = open(&server.address("forged"));
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
    let store = open(&server.fresh());
    let file = at("/memories/a");
    store.write(&file, b"before", OnExisting::Error).unwrap();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.update(&file, &mut |_| panic!("in the edit"))
    }));
    assert!(panicked.is_err());
    store.write(&file, b"after", OnExisting::Overwrite).unwrap();
    assert_eq!(store.read(&file).unwrap(), b"after");
}

#[test]
fn a_writer_that_waits_too_long_gives_up_and_readers_do_not_wait() {
    let Some(server) = server() else { return };
    let address = server.fresh();
    let (slow, quick) = (open(&address), open(&(address + "&statement_timeout=200ms")));
    let file = at("/memories/a");
    slow.write(&file, b"one", OnExisting::Error).unwrap();
    let (inside, wait_until_inside) = mpsc::channel();
    let (leave, wait_to_leave) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let (slow, file) = (&slow, &file);
        let writer = scope.spawn(move || {
            slow.update(file, &mut |old| {
                inside.send(()).unwrap();
                wait_to_leave.recv().unwrap();
                Some(Splice { range: 0..old.len(), text: b"two".to_vec() })
            })
        });
        wait_until_inside.recv().unwrap();
        let error = quick.write(file, b"three", OnExisting::Overwrite).unwrap_err();
        assert!(error.to_string().contains("statement_timeout"), "{error}");
        assert_eq!(quick.read(file).unwrap(), b"one");
        leave.send(()).unwrap();
        writer.join().unwrap().unwrap();
    });
    assert_eq!(quick.read(&file).unwrap(), b"two");
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
            // The other one has to wait for the server to end the turn of this one.
            other.write(&file, b"other ", OnExisting::Overwrite).unwrap();
        }
        Some(Splice { range: old.len()..old.len(), text: b"slow".to_vec() })
    })
    .unwrap();
    assert_eq!((calls, other.read(&file).unwrap()), (2, b"other slow".to_vec()));
}

#[test]
fn what_cannot_be_opened_is_said_in_a_sentence_without_secrets() {
    let Some(server) = server() else { return };
    let base = server.base();
    let password = base.split_once("memdir:").unwrap().1.split_once('@').unwrap().0;
    for (address, word) in [
        ("postgres://u:hunter2@127.0.0.1:1/d".to_owned(), "refused"),
        ("postgres://u:hunter2@no-such-host.invalid/d".to_owned(), "lookup"),
        (base.replace(password, "hunter2"), "password"),
        (base.replace(password, "hunter2").replace("/postgres", "/none"), "password"),
        (base.replace("/postgres", "/none"), "no such database"),
        (format!("{base}?sslmode=require"), "TLS"),
        (format!("{base}?sslmode=require&sslrootcert=/none/ca.pem"), "sslrootcert"),
    ] {
        let said = refusal(&address);
        assert!(said.contains(word), "{said}");
        assert!(!said.contains(password) && !said.contains("127.0.0.1"), "{said}");
    }
    let Err(Error::Config(said)) =
        PostgresDatabase::open("postgres://u:hunter2@h/d?x=1", Durability::Full)
    else {
        panic!("a wrong address was taken")
    };
    assert!(!said.contains("hunter2"), "{said}");
    assert!(!format!("{:?}", open(&server.fresh())).contains("fresh"));
}

#[test]
fn a_server_that_comes_back_is_used_again_and_the_model_learns_nothing_of_it() {
    let Some(server) = Server::start("") else { return };
    let memory = memory(&server.address("tenant-7"));
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
        let said = reply.content.as_str();
        assert!(said.contains("cannot be reached"), "{said}");
        for word in ["127.0.0.1", "postgres", "memdir:", "tenant", "refused"] {
            assert!(!said.contains(word), "{said}");
        }
        server.start_again();
        // The connections that broke are not used again, neither to read nor to write.
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
fn a_user_who_may_not_make_tables_uses_those_that_are_there() {
    let Some(server) = server() else { return };
    let address = server.database("made_by_hand");
    let sql = |sql: &str| server.sql("made_by_hand", sql);
    sql("CREATE ROLE agent LOGIN PASSWORD 'hunter2'; CREATE ROLE reader LOGIN PASSWORD 'hunter2'");
    let (_, host) = address.split_once('@').unwrap();
    let agent = format!("postgres://agent:hunter2@{host}");
    let said = refusal(&agent);
    assert!(said.contains("could not be made") && said.contains("SQL"), "{said}");
    sql(&PostgresDatabase::schema());
    let said = refusal(&agent);
    assert!(said.contains("may not use") && said.contains("permission denied"), "{said}");
    sql("GRANT USAGE ON SCHEMA memdir TO agent, reader;
         GRANT SELECT ON memdir.schema_version TO agent, reader;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO agent;
         GRANT SELECT ON memdir.node TO reader;
         GRANT USAGE ON SEQUENCE memdir.node_id TO agent");
    let memory = memory(&agent);
    memory.create("/memories/a/b", "x").unwrap();
    memory.insert("/memories/a/b", 1, "y").unwrap();
    memory.rename("/memories/a", "/memories/c/d").unwrap();
    memory.delete("/memories/c").unwrap();
    memory.create("/memories/kept", "x").unwrap();

    let reader = open(&agent.replace("agent:", "reader:"));
    assert_eq!(reader.read(&at("/memories/kept")).unwrap(), b"x");
    for refused in [
        reader.write(&at("/memories/new"), b"", OnExisting::Error),
        reader.delete(&at("/memories/kept")),
        reader.clear(),
    ] {
        assert!(matches!(refused, Err(StoreError::PermissionDenied)), "{refused:?}");
    }
    // The printed SQL is also what stands in the documents.
    let printed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/postgres.sql");
    let all = PostgresDatabase::schema() + "\n" + PostgresDatabase::row_security();
    if std::env::var_os("MEMDIR_GENERATE").is_some() {
        fs::write(printed, &all).unwrap();
    }
    assert_eq!(fs::read_to_string(printed).unwrap(), all, "MEMDIR_GENERATE=1 writes it anew");
}

#[test]
fn row_level_security_keeps_tenants_apart() {
    let Some(server) = server() else { return };
    let address = server.database("tenants");
    let sql = |sql: &str| server.sql("tenants", sql);
    sql(&PostgresDatabase::schema());
    sql(PostgresDatabase::row_security());
    sql("CREATE ROLE one LOGIN PASSWORD 'pw'; CREATE ROLE two LOGIN PASSWORD 'pw';
         GRANT USAGE ON SCHEMA memdir TO one, two; GRANT SELECT ON memdir.schema_version TO one, two;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO one, two;
         GRANT USAGE ON SEQUENCE memdir.node_id TO one, two");
    let (_, host) = address.split_once('@').unwrap();
    let open_as = |role: &str, namespace: &str| {
        open(&format!("postgres://{role}:pw@{host}namespace={namespace}"))
    };
    let file = at("/memories/dir/a");
    for name in ["one", "two"] {
        open_as(name, name).write(&file, name.as_bytes(), OnExisting::Error).unwrap();
    }
    // By the setting: a statement that does not say whose it is sees nothing.
    let seen = |role: &str| sql(&format!("SET ROLE {role}; SELECT count(*) FROM memdir.node"));
    assert_eq!((seen("one"), seen("memdir")), ("0".to_owned(), "6".to_owned()));
    assert_eq!(open_as("two", "one").read(&file).unwrap(), b"one");

    // By the role: whatever it says.
    sql("DROP POLICY namespace ON memdir.node;
         CREATE POLICY namespace ON memdir.node
             USING (namespace = current_user) WITH CHECK (namespace = current_user)");
    assert_eq!((seen("one"), seen("memdir")), ("3".to_owned(), "6".to_owned()));
    let (own, thief) = (open_as("one", "one"), open_as("two", "one"));
    assert!(matches!(thief.read(&file), Err(StoreError::NotFound)));
    assert!(thief.list(&MemoryPath::root()).unwrap().is_empty());
    for refused in
        [thief.write(&file, b"", OnExisting::Overwrite), thief.delete(&file), thief.clear()]
    {
        assert!(matches!(refused, Err(StoreError::PermissionDenied)), "{refused:?}");
    }
    own.update(&file, &mut |_| Some(Splice { range: 0..0, text: b"still ".to_vec() })).unwrap();
    assert_eq!(own.read(&file).unwrap(), b"still one");
    // Rows of one's own in another's directory are nowhere to be seen.
    sql("SET ROLE two; INSERT INTO memdir.node (namespace, parent, name, content)
         SELECT 'two', generate_series(1, 20), 'a', 'forged' ON CONFLICT DO NOTHING");
    assert_eq!(own.read(&file).unwrap(), b"still one");
    assert_eq!(own.list(&at("/memories/dir")).unwrap().len(), 1);
    own.write(&at("/memories/a"), b"", OnExisting::Error).unwrap();
}

#[test]
fn a_row_that_a_policy_hides_from_changes_is_not_acknowledged() {
    let Some(server) = server() else { return };
    let address = server.database("frozen");
    let sql = |sql: &str| server.sql("frozen", sql);
    sql(&PostgresDatabase::schema());
    sql("CREATE ROLE cautious LOGIN PASSWORD 'pw'; ALTER TABLE memdir.node ENABLE ROW LEVEL SECURITY;
         CREATE POLICY all_may ON memdir.node FOR ALL USING (true);
         CREATE POLICY but_not ON memdir.node AS RESTRICTIVE FOR UPDATE USING (name <> 'frozen');
         GRANT USAGE ON SCHEMA memdir TO cautious; GRANT SELECT ON memdir.schema_version TO cautious;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO cautious;
         GRANT USAGE ON SEQUENCE memdir.node_id TO cautious");
    let (_, host) = address.split_once('@').unwrap();
    let store = open(&format!("postgres://cautious:pw@{host}"));
    store.write(&at("/memories/frozen"), b"x", OnExisting::Error).unwrap();
    let refused = store.write(&at("/memories/frozen"), b"y", OnExisting::Overwrite);
    assert!(matches!(refused, Err(StoreError::PermissionDenied)), "{refused:?}");
    assert_eq!(store.read(&at("/memories/frozen")).unwrap(), b"x");
}

#[test]
fn databases_of_others_and_of_newer_versions_are_refused() {
    let Some(server) = server() else { return };
    let other = server.database("of_another");
    server.sql("of_another", "CREATE SCHEMA memdir; CREATE TABLE memdir.node (theirs text)");
    assert!(refusal(&other).contains("already exists"));
    assert_eq!(
        server.sql("of_another", "SELECT count(*) FROM pg_tables WHERE schemaname = 'memdir'"),
        "1"
    );

    let newer = server.database("newer");
    drop(open(&newer));
    server.sql("newer", "UPDATE memdir.schema_version SET version = 1000");
    let said = refusal(&(newer + "application_name=anew"));
    assert!(said.contains("newer memdir") && said.contains("1000"), "{said}");

    server.sql("postgres", "CREATE DATABASE latin ENCODING LATIN1 TEMPLATE template0 LOCALE 'C'");
    let latin = server.base().replace("/postgres", "/latin");
    assert!(refusal(&latin).contains("UTF8"));
}

#[test]
fn a_certificate_is_checked_wherever_there_is_tls() {
    let Some(server) = Server::start("") else { return };
    let place = tempfile::tempdir().unwrap();
    let openssl = |arguments: &[&str]| {
        let output =
            Command::new("openssl").args(arguments).current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    for ca in ["ca", "other"] {
        let (key, pem) = (format!("{ca}.key"), format!("{ca}.pem"));
        let subject = format!("/CN=memdir test {ca}");
        let own = ["req", "-x509", "-subj", &subject, "-keyout", &key, "-out", &pem];
        openssl(&[&own[..], &new].concat());
    }
    let asked = ["req", "-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"];
    openssl(&[&asked[..], &new[..5]].concat());
    fs::write(place.path().join("names"), "subjectAltName=IP:127.0.0.1").unwrap();
    openssl(&[
        "x509",
        "-req",
        "-in",
        "server.csr",
        "-CA",
        "ca.pem",
        "-CAkey",
        "ca.key",
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        "names",
        "-out",
        "server.pem",
    ]);

    let data = server.path().join("server").join("data");
    let owner = fs::metadata(&data).unwrap();
    for name in ["server.key", "server.pem"] {
        let file = data.parent().unwrap().join(name);
        fs::copy(place.path().join(name), &file).unwrap();
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();
        if rustix::process::geteuid().is_root() {
            chown(&file, Some(owner.uid()), Some(owner.gid())).unwrap();
        }
        let setting = if name.ends_with("key") { "ssl_key_file" } else { "ssl_cert_file" };
        server.sql("postgres", &format!("ALTER SYSTEM SET {setting} = '{}'", file.display()));
    }
    server.sql("postgres", "ALTER SYSTEM SET ssl = on");
    server.stop();
    server.start_again();

    let with = |ca: &str, more: &str| {
        let ca = place.path().join(ca);
        format!("{}?sslrootcert={}&{more}", server.base(), ca.display())
    };
    let store = open(&with("ca.pem", "sslmode=verify-full&application_name=encrypted"));
    store.write(&at("/memories/a"), b"x", OnExisting::Error).unwrap();
    let encrypted = "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) \
                     WHERE application_name = 'encrypted'";
    assert_eq!(server.sql("postgres", encrypted), "t");
    assert_eq!(open(server.base()).read(&at("/memories/a")).unwrap(), b"x");

    for mode in ["prefer", "require", "verify-full"] {
        let said = refusal(&with("other.pem", &format!("sslmode={mode}")));
        assert!(said.contains("UnknownIssuer") && said.contains("sslrootcert"), "{said}");
        let said = refusal(&format!("{}?sslmode={mode}", server.base()));
        assert!(said.contains("UnknownIssuer"), "{said}");
        let said =
            refusal(&with("ca.pem", &format!("sslmode={mode}")).replace("127.0.0.1", "localhost"));
        assert!(said.contains("certificate"), "{said}");
    }
    assert!(refusal(&with("names", "sslmode=require")).contains("sslrootcert"));
}

#[test]
fn the_unix_socket_and_the_password_of_the_environment() {
    let Some(server) = server() else { return };
    let socket = server.path().join("server").join("socket");
    let socket = socket.display().to_string().replace('/', "%2F");
    let port = port(server);
    for address in [
        format!("postgresql://memdir@{socket}:{port}/postgres?namespace=socket"),
        format!("postgres:///postgres?user=memdir&host={socket}&port={port}&namespace=socket"),
    ] {
        assert!(memory(&address).view("/memories", None).is_ok());
    }
}
