//! The table and its schema version. Upgrades an older one.
//!
//! Everything is in the schema `memdir`, so other programs can use the same database.

use memdir_store::StoreError;
use tokio_postgres::{Client, SimpleQueryMessage};

use super::error::{PostgresError, explain};

/// The steps from version `n` of the schema to `n + 1`; the first one creates the schema. A released step is
/// never changed.
const STEPS: &[&str] = &[
    "\
CREATE SCHEMA IF NOT EXISTS memdir;
CREATE TABLE memdir.schema_version (version integer NOT NULL);
INSERT INTO memdir.schema_version VALUES (0);
CREATE SEQUENCE memdir.node_id;
-- Files and directories know the directory that they are in. The root of a namespace has no name
-- and the parent 0. Names compare by their bytes, whatever the language of the database.
CREATE TABLE memdir.node (
    id bigint PRIMARY KEY DEFAULT nextval('memdir.node_id'),
    namespace text COLLATE \"C\" NOT NULL CHECK (octet_length(namespace) BETWEEN 1 AND 255),
    parent bigint NOT NULL,
    name text COLLATE \"C\" NOT NULL CHECK (octet_length(name) <= 255),
    -- NULL is a directory.
    content bytea,
    -- When a file was last written.
    modified timestamptz,
    -- Of a root only: the newest changes of its namespace, by which a client whose connection broke
    -- learns whether its own is among them.
    changes uuid[],
    UNIQUE (namespace, parent, name)
);
ALTER SEQUENCE memdir.node_id OWNED BY memdir.node.id;
",
    "\
-- When a file was last accessed, if that is noted.
ALTER TABLE memdir.node ADD COLUMN accessed timestamptz;
",
    "\
-- Of a root only, after the first change with a limit: the total of the files of its namespace, and the
-- newest change that it includes. If that is not the newest change, the total is unknown.
ALTER TABLE memdir.node ADD COLUMN total_bytes bigint, ADD COLUMN total_files bigint,
    ADD COLUMN total_change uuid;
",
];

/// Isolates a tenant's rows from others, even if a program has a bug.
pub(super) const ROW_SECURITY: &str = "\
-- The store says in every transaction which namespace it is working on, and sees no other row.
-- Whoever owns the table is not bound by this; let the program connect as another role.
ALTER TABLE memdir.node ENABLE ROW LEVEL SECURITY;
CREATE POLICY namespace ON memdir.node
    USING (namespace = current_setting('memdir.namespace', true))
    WITH CHECK (namespace = current_setting('memdir.namespace', true));

-- Where each tenant has a role of its own, and its name is the namespace, this one holds also
-- against a tenant who speaks SQL:
--
--     CREATE POLICY namespace ON memdir.node
--         USING (namespace = current_user) WITH CHECK (namespace = current_user);
";

/// The key of the advisory lock for creating the tables: \"memdir\" in ASCII.
const LOCK: i64 = 0x6d65_6d64_6972;
const OPERATION: &str = "preparing the PostgreSQL database";

/// All steps as a script, to run manually.
pub(super) fn script() -> String {
    let (steps, version) = (STEPS.concat(), STEPS.len());
    format!(
        "\
-- The tables of memdir, for a new database. A store makes them itself where its user may.
BEGIN;
SELECT pg_advisory_xact_lock({LOCK});
{steps}UPDATE memdir.schema_version SET version = {version};
COMMIT;

-- What a role needs that uses the store and does not own the tables:
--
--     GRANT USAGE ON SCHEMA memdir TO agent;
--     GRANT SELECT ON memdir.schema_version TO agent;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO agent;
--     GRANT USAGE ON SEQUENCE memdir.node_id TO agent;
"
    )
}

/// Creates the tables or upgrades older ones. Changes nothing if they are current.
pub(super) async fn prepare(client: &Client) -> Result<(), PostgresError> {
    prepare_with(client, STEPS).await
}

async fn prepare_with(client: &Client, steps: &[&str]) -> Result<(), PostgresError> {
    let found = version(client, steps.len()).await;
    if found.map_err(in_words("this user may not use the tables of memdir"))? == steps.len() {
        return Ok(());
    }
    make(client, steps).await.map_err(in_words(
        "the tables of memdir are missing or old, and this user may not create them; let their \
         owner open the store once, or run the SQL that memdir prints in a new database",
    ))
}

/// Adds a sentence for the developer to a refusal of the server while a store is opened.
fn in_words(sentence: &'static str) -> impl Fn(PostgresError) -> PostgresError {
    move |error| match error {
        PostgresError::Statement(error) if error.as_db_error().is_some() => {
            StoreError::failed(OPERATION, format!("{sentence}: {}", explain(&error))).into()
        }
        other => other,
    }
}

async fn make(client: &Client, steps: &[&str]) -> Result<(), PostgresError> {
    let lock = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL client_min_messages = warning; \
         SELECT pg_advisory_xact_lock({LOCK})"
    );
    client.batch_execute(&lock).await?;
    // Check again, because another process may have been faster.
    let old = version(client, steps.len()).await?;
    for step in steps.iter().skip(old) {
        client.batch_execute(step).await?;
    }
    let end = format!("UPDATE memdir.schema_version SET version = {}; COMMIT", steps.len());
    Ok(client.batch_execute(&end).await?)
}

/// The schema version of the database; 0 for none.
async fn version(client: &Client, current: usize) -> Result<usize, PostgresError> {
    let refused = |problem: String| PostgresError::from(StoreError::failed(OPERATION, problem));
    // Queries the catalogue's rows, because the server may resolve names from a cache that is older than the
    // lock.
    let about = client
        .simple_query(
            "SELECT (SELECT 1 FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace \
                 WHERE nspname = 'memdir' AND relname = 'schema_version'), \
             current_setting('server_encoding'), current_setting('server_version_num')",
        )
        .await?;
    let (table, encoding, server) = (field(&about, 0), field(&about, 1), field(&about, 2));
    if encoding != Some("UTF8") {
        return Err(refused("the database's encoding must be UTF8".to_owned()));
    }
    if server.and_then(|number| number.parse::<u32>().ok()).is_none_or(|number| number < 130_000) {
        return Err(refused("the server is older than PostgreSQL 13".to_owned()));
    }
    if table.is_none() {
        return Ok(0);
    }
    let row = client.simple_query("SELECT version FROM memdir.schema_version").await?;
    match field(&row, 0).and_then(|version| version.parse::<usize>().ok()) {
        None => Err(refused("the table memdir.schema_version is damaged".to_owned())),
        Some(version) if version <= current => Ok(version),
        Some(version) => Err(refused(format!(
            "it was written by a newer memdir (its schema is version {version}, and this memdir \
             knows up to {current}): update memdir"
        ))),
    }
}

/// A field of the first row.
fn field(answer: &[SimpleQueryMessage], index: usize) -> Option<&str> {
    answer
        .iter()
        .find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        })?
        .get(index)
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::future::Future;

    use super::*;
    use crate::address::Address;
    use crate::server::{Lease, Server};
    use memdir_store::runtime;

    fn with<T: Send + 'static, W>(
        address: &str,
        work: impl FnOnce(Lease) -> W + Send + 'static,
    ) -> Result<T, StoreError>
    where
        W: Future<Output = Result<T, PostgresError>> + Send,
    {
        let server = Server::shared(Address::parse(address).unwrap().server).unwrap();
        runtime::run(async move {
            let lease = server.lease().await.map_err(|error| error.during("leasing"))?;
            work(lease).await.map_err(|error| error.during("working"))
        })
    }

    #[test]
    fn older_tables_are_brought_up_to_date_and_keep_what_they_hold() {
        let Some(server) = memdir_test_support::postgres::server() else { return };
        let address = server.database("older");
        with(&address, async |lease: Lease| prepare(&lease).await).unwrap();
        let root = "INSERT INTO memdir.node (namespace, parent, name) VALUES ('a', 0, '')";
        server.sql("older", root);
        let add = "ALTER TABLE memdir.node ADD COLUMN colour text;";
        let newer = [STEPS, &[add]].concat();
        with(&address, async move |lease: Lease| {
            prepare_with(&lease, &newer).await?;
            prepare_with(&lease, &newer).await
        })
        .unwrap();
        let rows = "SELECT count(*), count(colour) FROM memdir.node";
        assert_eq!(server.sql("older", rows), "1|0");
        let version = server.sql("older", "SELECT version FROM memdir.schema_version");
        assert_eq!(version, (STEPS.len() + 1).to_string());
        // A program that does not know the newest step leaves the tables unchanged.
        let error = with(&address, async |lease: Lease| prepare(&lease).await).unwrap_err();
        assert!(error.to_string().contains("newer memdir"), "{error}");
    }

    #[test]
    fn tables_of_every_older_version_are_brought_up_to_date() {
        let Some(server) = memdir_test_support::postgres::server() else { return };
        for old in 1..STEPS.len() {
            let name = format!("version_{old}");
            let address = server.database(&name);
            let version = format!("UPDATE memdir.schema_version SET version = {old}");
            server.sql(&name, &(STEPS[..old].concat() + &version));
            let file = "INSERT INTO memdir.node (namespace, parent, name, content)
                VALUES ('a', 0, 'x', '')";
            server.sql(&name, file);
            with(&address, async |lease: Lease| prepare(&lease).await).unwrap();
            let times = "SELECT accessed IS NULL FROM memdir.node WHERE name = 'x'";
            assert_eq!(server.sql(&name, times), "t");
        }
    }

    #[test]
    fn a_step_that_fails_leaves_the_database_as_it_was() {
        let Some(server) = memdir_test_support::postgres::server() else { return };
        let address = server.database("failing");
        with(&address, async |lease: Lease| prepare(&lease).await).unwrap();
        let newer = [STEPS, &["CREATE TABLE memdir.more (a text);", "no SQL"]].concat();
        let failed = with(&address, async move |lease: Lease| prepare_with(&lease, &newer).await);
        assert!(failed.unwrap_err().to_string().contains("syntax error"));
        let tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'memdir'";
        assert_eq!(server.sql("failing", tables), "2");
        with(&address, async |lease: Lease| prepare(&lease).await).unwrap();
    }

    #[test]
    fn nothing_looks_through_the_whole_table() {
        use crate::statements as sql;

        let Some(server) = memdir_test_support::postgres::server() else { return };
        let address = server.database("planned");
        with(&address, async |lease: Lease| prepare(&lease).await).unwrap();
        // After some executions on a connection, the server uses a generic plan.
        let explain = |statement: &sql::Statement, types: &str, arguments: &str| {
            let statement = statement.sql;
            let sql = format!(
                "SET plan_cache_mode = force_generic_plan; PREPARE asked ({types}) AS {statement}; \
                 EXPLAIN EXECUTE asked ({arguments})"
            );
            let plan = server.sql("planned", &sql);
            assert!(plan.contains("Index"), "{plan}");
            assert!(!plan.contains("Seq Scan on node"), "{plan}");
        };
        let fill = "INSERT INTO memdir.node (namespace, parent, name, content)
             SELECT 'tenant ' || n % 1000, n / 100, 'file ' || n, 'x' FROM generate_series(1, 50000) n";
        for state in [fill, "ANALYZE memdir.node"] {
            server.sql("planned", state);
            explain(&sql::LOOK, "text, text[], boolean, bigint", "'a', '{b,c}', true, 9");
            for open in sql::SHALLOW.iter().chain([&sql::OPEN]) {
                explain(open, "text, text[], integer, boolean", "'a', '{b,c}', 2, false");
            }
            explain(&sql::EXTENT, "text, text[]", "'a', '{b,c}'");
            explain(&sql::HAS_ENTRIES, "text, text[]", "'a', '{b,c}'");
            explain(&sql::REPLACE, "text, bigint, bytea", "'a', 1, 'x'");
            explain(&sql::REMOVE, "text, bigint", "'a', 1");
            explain(&sql::REMOVE_COUNTED, "text, bigint", "'a', 1");
            explain(&sql::KEEP_TOTAL, "text, bigint, bigint", "'a', 1, 1");
            explain(&crate::places::PLACES, "text, bigint[], text[]", "'a', '{0,1}', '{b,c}'");
            explain(&sql::MOVE, "text, bigint, bigint, text[], text", "'a', 1, 2, '{b}', 'c'");
            explain(&sql::RECALL, "text", "'a'");
            explain(&sql::NEWEST, "text", "'a'");
            explain(&sql::TOTAL, "text", "'a'");
            explain(&sql::OWN_FILES, "text, text[]", "'a', '{b,c}'");
            explain(&sql::ACCESS, "text, text[], timestamptz", "'a', '{b,c}', now()");
            explain(&crate::inspect::ALL, "text", "'a'");
        }
    }
}
