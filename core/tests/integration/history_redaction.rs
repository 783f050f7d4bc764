//! A redaction that fails or is killed in the middle: each version is whole or redacted, and the next call does the rest.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use memdir::history::{HistoryQuery, Version};
use memdir::{GrepQuery, Memory, MemoryOptions};

/// Nothing else has a run of eight of its bytes.
const SECRET: &str = "correct-horse-9-xK2vQ7pLw4ZtR8nYb";

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options
}

/// A file whose first versions have the secret, and another one that had it and is gone.
fn leave_a_secret(memory: &Memory) {
    memory.create("/memories/a.md", &format!("one\n{SECRET}\ntwo\n")).unwrap();
    memory.insert("/memories/a.md", 0, "zero\n").unwrap();
    memory.str_replace("/memories/a.md", SECRET, "-").unwrap();
    memory.insert("/memories/a.md", 0, "before\n").unwrap();
    memory.create("/memories/b.md", SECRET).unwrap();
    memory.delete("/memories/b.md").unwrap();
}

fn versions(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

/// What each version says, with its content, or why it has none.
fn told(memory: &Memory) -> Vec<(Version, Result<Vec<u8>, String>)> {
    let told = |version: Version| {
        let content = memory.read_version(version.id).map_err(|error| error.to_string());
        (version, content)
    };
    versions(memory).into_iter().map(told).collect()
}

/// The statements that rewrite the history of a database, each of which the database refuses once.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
fn is_all_or_nothing(address: &str, records: usize, refuse: &dyn Fn(usize), mend: &dyn Fn()) {
    let open = || Memory::open(address, options()).unwrap();
    let memory = open();
    leave_a_secret(&memory);
    let before = told(&memory);
    let text = GrepQuery::text(SECRET);
    let mut refused = 0;
    for number in 0..=records {
        refuse(number);
        match memory.redact_text(&text, "a password", false) {
            Err(error) => assert_eq!(error.kind(), "store", "{error}"),
            Ok(redacted) => panic!("statement {number} is not refused: {redacted:?}"),
        }
        refused += 1;
        assert_eq!(told(&memory), before, "statement {number}");
        assert_eq!(told(&open()), before, "statement {number}");
        mend();
    }
    assert_eq!(refused, records + 1);
    let redacted = memory.redact_text(&text, "a password", false).unwrap();
    assert_eq!(redacted.versions.len(), 3);
    let after = told(&open());
    for (now, then) in after[3..].iter().zip(&before) {
        assert_eq!(now.0.redacted.is_some(), redacted.versions.contains(&then.0));
        assert_eq!(now.1.is_err(), now.0.redacted.is_some() || then.1.is_err());
    }
    assert_eq!(after.len(), before.len() + 3);
}

/// The last of these inserts the record of the redaction; each of the others changes a record that has the secret.
#[cfg(feature = "sqlite")]
#[test]
fn a_redaction_in_sqlite_is_made_in_one_transaction() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let run = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    // All but the fourth change: the secret comes, stays and goes in the others.
    let changed = [1, 2, 3, 5, 6];
    // A trigger is ignored. An index refuses to have a second row like the fourth.
    let refuse = |number: usize| {
        let like_it = match changed.get(number) {
            Some(note) => {
                format!("number = {note} AND instr(bytes, CAST('\"redactions\"' AS BLOB)) > 0")
            }
            None => "number > 6".to_owned(),
        };
        run(&format!(
            "CREATE UNIQUE INDEX refuse ON note (id IS NULL) WHERE number = 4 OR {like_it}"
        ));
    };
    let address = format!("sqlite:{}", path.display());
    is_all_or_nothing(&address, changed.len(), &refuse, &|| run("DROP INDEX refuse"));
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_redaction_in_postgresql_is_made_in_one_transaction() {
    let Some(server) = crate::common::postgres::server() else { return };
    let address = server.database("redacting");
    let run = |sql: &str| drop(server.sql("redacting", sql));
    // Of the notes, in the order of their numbers.
    let changed = [1, 2, 3, 5, 6];
    let refuse = |number: usize| {
        let when = match changed.get(number) {
            Some(note) => {
                let id = server.sql(
                    "redacting",
                    &format!(
                        "SELECT id FROM memdir.node WHERE parent = -1 ORDER BY id OFFSET {} LIMIT 1",
                        note - 1
                    ),
                );
                format!("UPDATE ON memdir.node FOR EACH ROW WHEN (old.id = {})", id.trim())
            }
            None => "INSERT ON memdir.node FOR EACH ROW WHEN (new.parent = -1)".to_owned(),
        };
        run(&format!(
            "CREATE FUNCTION memdir.refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'refused'; END $$; \
             CREATE TRIGGER refuse BEFORE {when} EXECUTE FUNCTION memdir.refuse()"
        ));
    };
    let mend = || run("DROP FUNCTION memdir.refuse CASCADE");
    is_all_or_nothing(&address, changed.len(), &refuse, &mend);
}
