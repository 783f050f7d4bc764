//! Access to a PostgreSQL store: passwords, permissions, tenants, certificates.
#![cfg(all(unix, feature = "postgres"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::process::Command;

use crate::common::postgres::{Server, server};
use crate::common::store_helpers::{at, open_memory};
use memdir::store::{PostgresDatabase, Splice};
use memdir::{Durability, Error, MemoryPath, OnExisting, Store, StoreError};

fn open(address: &str) -> PostgresDatabase {
    PostgresDatabase::open(address, Durability::Relaxed).unwrap()
}

/// The error for the developer when a store cannot be opened.
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

#[test]
fn what_cannot_be_opened_is_said_in_a_sentence_without_secrets() {
    let Some(server) = server() else { return };
    let base = server.base();
    let password = base.split_once("memdir:").unwrap().1.split_once('@').unwrap().0;
    for (address, word) in [
        ("postgres://u:hunter2@127.0.0.1:1/d".to_owned(), "refused"),
        ("postgres://u:hunter2@no-such-host.invalid/d".to_owned(), "lookup"),
        (base.replace(password, "hunter2"), "does not accept the user or the password"),
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
    assert!(!said.to_string().contains("hunter2"), "{said}");
    assert!(!format!("{:?}", open(&server.fresh())).contains("fresh"));
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
    assert!(said.contains("may not create them") && said.contains("SQL"), "{said}");
    sql(&PostgresDatabase::schema());
    let said = refusal(&agent);
    assert!(said.contains("may not use") && said.contains("permission denied"), "{said}");
    sql("GRANT USAGE ON SCHEMA memdir TO agent, reader;
         GRANT SELECT ON memdir.schema_version TO agent, reader;
         GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO agent;
         GRANT SELECT ON memdir.node TO reader;
         GRANT USAGE ON SEQUENCE memdir.node_id TO agent");
    let memory = open_memory(&agent);
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
    // The printed SQL is the same as in the documentation.
    let printed = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/stores/postgres.sql");
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
    // With the setting: a statement that names no tenant sees nothing.
    let seen = |role: &str| sql(&format!("SET ROLE {role}; SELECT count(*) FROM memdir.node"));
    assert_eq!((seen("one"), seen("memdir")), ("0".to_owned(), "6".to_owned()));
    assert_eq!(open_as("two", "one").read(&file).unwrap(), b"one");

    // With the role: whatever the statement names.
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
    // A row of one tenant in another tenant's directory is not visible to either.
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

    let data = server.path().join("data");
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
    let socket = server.path().join("socket");
    let socket = socket.display().to_string().replace('/', "%2F");
    let port = port(server);
    for address in [
        format!("postgresql://memdir@{socket}:{port}/postgres?namespace=socket"),
        format!("postgres:///postgres?user=memdir&host={socket}&port={port}&namespace=socket"),
    ] {
        assert!(open_memory(&address).view("/memories", None).is_ok());
    }
}
