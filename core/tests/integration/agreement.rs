//! Stores that share no code give the same answers to any sequence of commands.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;

use crate::common::clouds;
use crate::common::effort;
use crate::common::postgres;
use crate::common::store_helpers;
use crate::common::store_helpers::Tree;
use memdir::store::{Encrypted, InProcess, LocalDirectory, Mounts, SqliteDatabase};
use memdir::{Durability, EncryptionKey, Memory, MemoryOptions, MemoryPath, Store};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Few names, so commands often hit each other's files and directories.
fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => "/memories(/(a|b|\\.h)){1,3}/?",
        1 => Just("/memories".to_owned()),
        1 => "/memories(/(\\.\\.|%2e%2e|a\\\\|node_modules|\u{7}|été)){1,2}",
        1 => "/?memor[iy]e?sX?/a",
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[xy\n]{0,8}", "[é猫\r\n\u{2028}]{0,4}"]
}

/// A value of the wrong type.
fn junk() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!([1])),
        Just(json!({})),
        Just(json!(1.5)),
        Just(json!("2")),
        Just(json!(1e300)),
    ]
}

fn command() -> impl Strategy<Value = Value> {
    let whole = prop_oneof![
        path().prop_map(|p| json!({"command": "view", "path": p})),
        (path(), -2_i64..5, -2_i64..5)
            .prop_map(|(p, a, b)| json!({"command": "view", "path": p, "view_range": [a, b]})),
        (path(), text()).prop_map(|(p, t)| json!({"command": "create", "path": p, "file_text": t})),
        (path(), text(), text()).prop_map(
            |(p, o, n)| json!({"command": "str_replace", "path": p, "old_str": o, "new_str": n})
        ),
        (path(), -1_i64..6, text()).prop_map(
            |(p, l, t)| json!({"command": "insert", "path": p, "insert_line": l, "insert_text": t})
        ),
        path().prop_map(|p| json!({"command": "delete", "path": p})),
        (path(), path())
            .prop_map(|(o, n)| json!({"command": "rename", "old_path": o, "new_path": n})),
    ];
    (whole, proptest::option::weighted(0.1, (any::<prop::sample::Index>(), junk()))).prop_map(
        |(mut command, spoil)| {
            if let (Some((which, junk)), Some(fields)) = (spoil, command.as_object_mut()) {
                let names: Vec<String> = fields.keys().cloned().collect();
                fields.insert(which.get(&names).clone(), junk);
            }
            command
        },
    )
}

/// The whole tree as the store reports it.
fn tree(memory: &Memory) -> Tree {
    store_helpers::tree(&**memory.store(), "/memories")
}

/// Runs the same commands on a store in this process and on the others. All give the same answers
/// and hold the same tree.
fn agree(
    others: Vec<Arc<dyn Store>>,
    commands: Vec<Value>,
    limits: (Option<usize>, Option<u64>),
) -> Result<(), TestCaseError> {
    let mut options = MemoryOptions::default();
    (options.max_view_chars, options.max_file_bytes) = limits;
    let memory = |store| Memory::with_store(store, options.clone());
    let first = memory(Arc::new(InProcess::new()));
    let others: Vec<Memory> = others.into_iter().map(memory).collect();
    let mut before = tree(&first);
    for command in commands {
        let a = first.execute_value(&command);
        prop_assert!(a.cause.is_none() && !a.content.as_text().unwrap_or_default().is_empty());
        let after = tree(&first);
        if a.is_error || command["command"] == "view" {
            prop_assert_eq!(&before, &after, "{}", command);
        }
        for other in &others {
            let b = other.execute_value(&command);
            prop_assert_eq!(
                a.content.as_text().unwrap_or_default(),
                b.content.as_text().unwrap_or_default(),
                "{}",
                command
            );
            prop_assert_eq!(a.is_error, b.is_error, "{}", command);
            prop_assert!(b.cause.is_none());
            prop_assert_eq!(&after, &tree(other), "{}", command);
        }
        before = after;
    }
    Ok(())
}

fn commands() -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec(command(), 1..25)
}

fn limits() -> impl Strategy<Value = (Option<usize>, Option<u64>)> {
    (proptest::option::of(80_usize..200), proptest::option::of(4_u64..12))
}

proptest! {
    #![proptest_config(effort::cases(40))]
    #[test]
    fn stores_agree_and_failures_change_nothing(commands in commands(), limits in limits()) {
        let place = tempfile::tempdir().unwrap();
        let database = place.path().join("a.db");
        let key = EncryptionKey::from_bytes([1; 32]);
        let encrypted = |names: bool| Encrypted::open(Arc::new(InProcess::new()), &key, names).unwrap();
        let others: Vec<Arc<dyn Store>> = vec![
            Arc::new(LocalDirectory::open(place.path(), Durability::Relaxed).unwrap()),
            Arc::new(SqliteDatabase::open(database, Durability::Relaxed).unwrap()),
            Arc::new(encrypted(false)),
            Arc::new(encrypted(true)),
        ];
        agree(others, commands, limits)?;
    }
}

#[cfg(feature = "postgres")]
proptest! {
    #![proptest_config(effort::cases(20))]
    #[test]
    fn postgresql_agrees_with_them(commands in commands(), limits in limits()) {
        if let Some(server) = postgres::server() {
            let store = memdir::store::PostgresDatabase::open(&server.fresh(), Durability::Relaxed);
            agree(vec![Arc::new(store.unwrap())], commands, limits)?;
        }
    }
}

#[cfg(feature = "object-storage")]
proptest! {
    // Each command takes several requests, and each comparison of the tree takes one per file.
    #![proptest_config(effort::cases(8))]
    #[test]
    fn object_storage_agrees_with_them(commands in commands(), limits in limits()) {
        if let Some(cloud) = clouds::s3() {
            agree(vec![Arc::new(cloud.open(&clouds::prefix()))], commands, limits)?;
        }
    }
}

/// Whether a command would remove a mount point. All other commands give the same answers with and
/// without mount points.
fn is_about_a_mount_point(command: &Value) -> bool {
    let field = match command["command"].as_str() {
        Some("delete") => "path",
        // After the input was repaired.
        Some("rename") if command["old_path"].is_null() => "path",
        Some("rename") => "old_path",
        _ => return false,
    };
    let path = command[field].as_str().and_then(|path| MemoryPath::parse(path).ok());
    path.is_some_and(|path| MOUNTED.iter().any(|at| path.as_str() == *at) || path.is_root())
}

const MOUNTED: [&str; 3] = ["/memories/a", "/memories/b", "/memories/b/a"];

proptest! {
    #![proptest_config(effort::cases(50))]
    #[test]
    fn mounted_stores_agree_with_one_store(
        commands in proptest::collection::vec(command(), 1..40),
    ) {
        let at = |path| MemoryPath::parse(path).unwrap();
        let place = tempfile::tempdir().unwrap();
        let local = LocalDirectory::open(place.path(), Durability::Relaxed).unwrap();
        let mut mounts = Mounts::new(Arc::new(InProcess::new()));
        let below: [Arc<dyn Store>; 2] = [Arc::new(local), Arc::new(InProcess::new())];
        for (path, store) in ["/memories/a", "/memories/b/a"].into_iter().zip(below) {
            mounts = mounts.mount(at(path), store).unwrap();
        }
        let one = InProcess::new();
        for path in MOUNTED {
            let inside = at(path).join("x").unwrap();
            one.write(&inside, b"", memdir::OnExisting::Error).unwrap();
            one.delete(&inside).unwrap();
        }
        let [one, mounted] = [Arc::new(one) as Arc<dyn Store>, Arc::new(mounts)]
            .map(|store| Memory::with_store(store, MemoryOptions::default()));
        for command in commands {
            let before = tree(&mounted);
            let b = mounted.execute_value(&command);
            prop_assert!(b.cause.is_none(), "{}: {:?}", command, b.cause);
            if is_about_a_mount_point(&command) {
                prop_assert!(b.is_error, "{}", command);
                prop_assert_eq!(before, tree(&mounted), "{}", command);
                continue;
            }
            let a = one.execute_value(&command);
            prop_assert_eq!(a.content.as_text().unwrap_or_default(), b.content.as_text().unwrap_or_default(), "{}", command);
            prop_assert_eq!(a.is_error, b.is_error, "{}", command);
            prop_assert_eq!(tree(&one), tree(&mounted), "{}", command);
        }
    }
}
