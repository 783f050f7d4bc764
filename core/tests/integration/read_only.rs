//! Read-only memories, and directories that are themselves the root.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common;
use crate::common::store_helpers::{at, in_process, memory, put, refusal, shown};
use memdir::store::{LocalDirectory, Mount, Mounts, ReadOnly, check_contract, open_mounts};
use memdir::{Durability, Error, Memory, MemoryOptions, OnExisting, Store, StoreError, open_store};

/// Checks that every command that would change something at `path` is refused.
fn refuses_changes(memory: &Memory, path: &str) {
    let sentence = format!("Error: {path} is read-only: it can be viewed but not changed");
    let new = format!("{path}.new");
    for refused in [
        memory.str_replace(path, "a", "b"),
        memory.insert(path, 0, "x"),
        memory.delete(path),
        memory.rename(path, &new),
    ] {
        assert_eq!(refusal(refused), sentence);
    }
    let sentence = format!("Error: {new} is read-only: it can be viewed but not changed");
    assert_eq!(refusal(memory.create(&new, "x")), sentence);
    let time = std::time::SystemTime::UNIX_EPOCH;
    assert!(matches!(memory.store().set_modified(&at(path), time), Err(StoreError::ReadOnly)));
}

#[test]
fn what_is_read_only_is_viewed_and_not_changed() {
    let handbook = in_process();
    put(&*handbook, "/memories/a.md", "a");
    let mounts = Mounts::new(in_process())
        .mount(at("/memories/handbook"), Arc::new(ReadOnly::from(Arc::clone(&handbook))))
        .unwrap();
    assert!(!mounts.info().is_read_only);
    let memory = memory(mounts);
    memory.create("/memories/b.md", "b").unwrap();
    refuses_changes(&memory, "/memories/handbook/a.md");
    let read_only = |path| format!("Error: {path} is read-only: it can be viewed but not changed");
    assert_eq!(
        refusal(memory.rename("/memories/handbook/a.md", "/memories/a.md")),
        read_only("/memories/handbook/a.md")
    );
    assert_eq!(
        refusal(memory.rename("/memories/b.md", "/memories/handbook/b.md")),
        read_only("/memories/handbook/b.md")
    );
    assert_eq!(
        refusal(memory.rename("/memories/b.md", "/memories/handbook/a.md")),
        "Error: The destination /memories/handbook/a.md already exists"
    );
    let all = "4.0K\t/memories\n1B\t/memories/b.md\n4.0K\t/memories/handbook\n\
               1B\t/memories/handbook/a.md";
    assert_eq!(shown(&memory, "/memories"), all);
    // Clearing leaves it unchanged.
    memory.clear().unwrap();
    assert_eq!(
        shown(&memory, "/memories"),
        "4.0K\t/memories\n4.0K\t/memories/handbook\n1B\t/memories/handbook/a.md"
    );

    let mut options = MemoryOptions::default();
    options.read_only = true;
    let whole = Memory::with_store(Arc::clone(&handbook), options);
    refuses_changes(&whole, "/memories/a.md");
    assert_eq!(refusal(whole.clear()), read_only("/memories"));
    assert_eq!(whole.view("/memories/a.md", None).unwrap().lines().count(), 2);
    let all_read_only = Mounts::new(Arc::clone(whole.store()));
    assert!(all_read_only.info().is_read_only);
    assert!(matches!(all_read_only.clear(), Err(StoreError::ReadOnly)));
}

fn address(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_read_only_directory_is_neither_made_nor_changed() {
    let place = tempfile::tempdir().unwrap();
    let mut options = MemoryOptions::default();
    options.read_only = true;
    let docs = place.path().join("docs");
    let database = place.path().join("a.db");
    for missing in [
        address(&docs),
        format!("dir:{}", address(&docs)),
        format!("sqlite:{}", address(&database)),
    ] {
        let result = open_store(&missing, &options).map(drop);
        assert!(matches!(result, Err(Error::Store(_))), "{missing}: {result:?}");
    }
    assert_eq!(common::on_disk(place.path()), [] as [&str; 0]);

    fs::create_dir_all(docs.join("guide")).unwrap();
    fs::write(docs.join("guide/a.md"), "a\n").unwrap();
    // As left by a killed writer.
    fs::write(docs.join(".memdir-staged%2F"), "half").unwrap();
    let before = common::on_disk(place.path());
    let changed = docs.metadata().unwrap().modified().unwrap();
    let memory = Memory::open(&format!("dir:{}", address(&docs)), options).unwrap();
    assert_eq!(memory.store().info().directory, Some(docs.canonicalize().unwrap()));
    refuses_changes(&memory, "/memories/guide/a.md");
    assert_eq!(
        shown(&memory, "/memories"),
        "4.0K\t/memories\n4.0K\t/memories/guide\n3B\t/memories/guide/a.md".replace("3B", "2B")
    );
    assert_eq!(common::on_disk(place.path()), before);
    assert_eq!(docs.metadata().unwrap().modified().unwrap(), changed);
    // It is not created again after it was removed.
    fs::remove_dir_all(&docs).unwrap();
    assert!(matches!(memory.view("/memories", None), Err(Error::Store(_))));
    assert!(!docs.exists());

    // A read-only store that is opened alone refuses everything, too.
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.md"), "a").unwrap();
    let store = LocalDirectory::open_read_only(&docs).unwrap();
    assert!(store.info().is_read_only);
    refuses_changes(
        &Memory::with_store(Arc::new(ReadOnly::new(store)), MemoryOptions::default()),
        "/memories/a.md",
    );
    let store = LocalDirectory::open_read_only(&docs).unwrap();
    let (a, b) = (at("/memories/a.md"), at("/memories/b.md"));
    assert!(matches!(store.write(&b, b"", OnExisting::Error), Err(StoreError::ReadOnly)));
    assert!(matches!(store.rename(&a, &b), Err(StoreError::Source(_))));
    assert!(matches!(store.make_directory(&b), Err(StoreError::ReadOnly)));
    assert!(matches!(store.remove_directory(&b), Err(StoreError::ReadOnly)));
    assert!(matches!(store.delete(&a), Err(StoreError::ReadOnly)));
    assert!(matches!(store.clear(), Err(StoreError::ReadOnly)));
}

#[test]
fn a_path_is_the_sdks_layout_at_the_root_and_itself_below() {
    let place = tempfile::tempdir().unwrap();
    let path = |name: &str| address(&place.path().join(name));
    fs::create_dir(path("docs")).unwrap();
    fs::write(path("docs/style.md"), "Be brief.\n").unwrap();
    let team = in_process();
    put(&*team, "/memories/t.md", "t");
    let options = MemoryOptions::default();
    let stores = open_mounts(
        [
            Mount::new("/memories/handbook", path("docs")).read_only(),
            Mount::new("/memories", path("memory")),
            Mount::new("/memories/more", place.path().join("more")),
            Mount::new("/memories/team/", Arc::clone(&team)).read_only(),
            Mount::new("/memories/db", format!("sqlite:{}", path("a.db"))),
        ],
        &options,
    )
    .unwrap();
    let memory = Memory::with_store(Arc::new(stores), options);
    assert_eq!(memory.store().info().directory, None);
    memory.create("/memories/a.md", "a").unwrap();
    memory.create("/memories/more/b.md", "b").unwrap();
    memory.create("/memories/db/c.md", "c").unwrap();
    assert_eq!(
        shown(&memory, "/memories"),
        "4.0K\t/memories\n1B\t/memories/a.md\n4.0K\t/memories/db\n1B\t/memories/db/c.md\n\
         4.0K\t/memories/handbook\n10B\t/memories/handbook/style.md\n4.0K\t/memories/more\n\
         1B\t/memories/more/b.md\n4.0K\t/memories/team\n1B\t/memories/team/t.md"
    );
    refuses_changes(&memory, "/memories/handbook/style.md");
    refuses_changes(&memory, "/memories/team/t.md");
    assert_eq!(fs::read_to_string(path("memory/memories/a.md")).unwrap(), "a");
    assert_eq!(fs::read_to_string(path("more/b.md")).unwrap(), "b");

    // With `dir:`, any directory can be the root itself.
    let bare = Memory::open(&format!("dir:{}", path("docs")), MemoryOptions::default()).unwrap();
    bare.create("/memories/new.md", "new").unwrap();
    assert_eq!(fs::read_to_string(path("docs/new.md")).unwrap(), "new");
    assert!(matches!(open_store("dir:", &MemoryOptions::default()), Err(Error::Config(_))));
    // As a path object, it is a directory whatever its name looks like.
    let odd = place.path().join("sqlite:x");
    let stores = open_mounts(
        [Mount::new("/memories", odd.clone()), Mount::new("/memories/odd", odd.clone())],
        &MemoryOptions::default(),
    );
    put(&stores.unwrap(), "/memories/a", "a");
    assert_eq!(common::on_disk(&odd), ["memories", "memories/a"]);
}

#[test]
fn a_bare_directory_keeps_the_contract() {
    let places = std::sync::Mutex::new(Vec::new());
    check_contract(&|| {
        let place = tempfile::tempdir().unwrap();
        let store = LocalDirectory::open_bare(place.path(), Durability::Relaxed).unwrap();
        places.lock().unwrap().push(place);
        Arc::new(store)
    })
    .unwrap();
}
