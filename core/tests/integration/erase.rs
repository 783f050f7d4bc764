//! `Memory::erase`: on every store nothing is left, and the memory stays usable.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::sync::Arc;

use crate::common::store_helpers::at;
use memdir::history::{HistoryQuery, UndoOptions, has_history};
use memdir::store::{Layer, Mutation, ReadOnly};
use memdir::{Error, Memory, MemoryOptions, Store, StoreError};

fn with(store: &Arc<dyn Store>, history: bool) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = history;
    Memory::with_store(Arc::clone(store), options)
}

fn versions(memory: &Memory) -> usize {
    memory.history(&HistoryQuery::default()).unwrap().len()
}

/// A memory with a history, which contains everything that a memory can contain.
fn filled(store: &Arc<dyn Store>) -> Memory {
    let memory = with(store, true);
    memory.create("/memories/a.md", "one\n").unwrap();
    memory.create("/memories/mounted/deep/b.md", "two\n").unwrap();
    memory.create("/memories/.hidden/c", "three\n").unwrap();
    memory.str_replace("/memories/a.md", "one", "1").unwrap();
    memory.delete("/memories/mounted/deep/b.md").unwrap();
    store.make_directory(&at("/memories/empty")).unwrap();
    store.write(&at("/memories/.memdir-moving-1"), b"left", memdir::OnExisting::Error).unwrap();
    memory
}

on_every_store!(erase_removes_files_and_history_and_the_memory_goes_on);
fn erase_removes_files_and_history_and_the_memory_goes_on(store: Arc<dyn Store>) {
    let memory = filled(&store);
    let other = with(&store, true);
    assert_eq!(versions(&other), 5);
    let counted = memory.erase(true).unwrap();
    // Counts the file with the reserved name as well.
    assert_eq!((counted.files, counted.bytes, counted.versions), (3, 12, 5));
    assert!(counted.history_bytes > 100, "{counted:?}");
    assert_eq!(versions(&memory), 5, "it was only counted");

    assert_eq!(memory.erase(false).unwrap(), counted);
    let mut files = 0;
    store.files(&mut |_| files += 1).unwrap();
    assert_eq!(files, 0);
    assert!(
        store
            .list(&at("/memories"))
            .unwrap()
            .iter()
            .all(|left| left.path == at("/memories/mounted"))
    );
    assert!(!has_history(&store).unwrap());
    assert_eq!(versions(&memory), 0);
    assert_eq!(memory.erase(false).unwrap(), memdir::history::Erased::default());

    // The other memory does not rely on its cache of the old history.
    other.create("/memories/a.md", "one\n").unwrap();
    other.str_replace("/memories/a.md", "one", "1").unwrap();
    memory.delete("/memories/a.md").unwrap();
    let all = memory.history(&HistoryQuery::default()).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(memory.read_version(all[1].id).unwrap(), b"1\n");
    assert_eq!(memory.read_version(all[2].id).unwrap(), b"one\n");
    memory.undo(all[0].change, UndoOptions::default()).unwrap();
    assert_eq!(other.read("/memories/a.md").unwrap(), "1\n");
}

on_every_store!(erase_without_the_option_history_removes_the_history_as_well);
fn erase_without_the_option_history_removes_the_history_as_well(store: Arc<dyn Store>) {
    filled(&store);
    let erased = with(&store, false).erase(false).unwrap();
    assert_eq!(erased.versions, 5);
    assert!(!has_history(&store).unwrap());
    assert_eq!(versions(&with(&store, true)), 0);
}

on_every_store!(erase_is_refused_on_a_read_only_memory);
fn erase_is_refused_on_a_read_only_memory(store: Arc<dyn Store>) {
    filled(&store);
    for history in [false, true] {
        let mut options = MemoryOptions::default();
        (options.history, options.read_only) = (history, true);
        for memory in [
            Memory::with_store(Arc::clone(&store), options.clone()),
            with(&(Arc::new(ReadOnly::from(Arc::clone(&store))) as Arc<dyn Store>), history),
        ] {
            for dry_run in [true, false] {
                assert!(matches!(memory.erase(dry_run), Err(Error::Refused(_))));
            }
        }
    }
    assert_eq!(versions(&with(&store, true)), 5);
}

/// A store that refuses to be cleared.
struct Kept(Arc<dyn Store>);

impl Layer for Kept {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn mutate(
        &self,
        context: &memdir::store::Context,
        mutation: Mutation<'_>,
    ) -> Result<bool, StoreError> {
        match mutation {
            Mutation::Clear => Err(StoreError::PermissionDenied),
            mutation => self.0.mutate(context, mutation),
        }
    }
}

on_every_store!(a_layer_that_refuses_to_be_cleared_is_not_erased);
fn a_layer_that_refuses_to_be_cleared_is_not_erased(store: Arc<dyn Store>) {
    // Each store of a tree is cleared separately.
    if store.mounts().is_some() {
        return;
    }
    filled(&store);
    let kept: Arc<dyn Store> = Arc::new(Kept(Arc::clone(&store)));
    for history in [false, true] {
        assert!(matches!(with(&kept, history).erase(false), Err(Error::Refused(_))));
    }
    let memory = with(&store, true);
    assert_eq!((versions(&memory), memory.read("/memories/a.md").unwrap().as_str()), (5, "1\n"));
}

on_every_store!(changes_that_are_made_during_an_erasure_keep_their_records);
fn changes_that_are_made_during_an_erasure_keep_their_records(store: Arc<dyn Store>) {
    // Other stores have no lock that keeps a record and its change together.
    if store.info().directory.is_none() && store.notes().is_none() {
        return;
    }
    let memory = with(&store, true);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let own = with(&store, true);
            scope.spawn(move || {
                for number in 0..20 {
                    let path = format!("/memories/{writer}-{number}");
                    own.create(&path, &format!("{number}\n")).unwrap();
                    let _ = own.str_replace(&path, "\n", ".\n");
                }
            });
        }
        for _ in 0..5 {
            memory.erase(false).unwrap();
        }
    });
    // Each existing file has its version with its content, and no version is about an erased file.
    let current = memory.history(&HistoryQuery::default()).unwrap();
    let current: Vec<_> = current.into_iter().filter(|version| version.is_current).collect();
    let mut files = 0;
    memory.store().files(&mut |_| files += 1).unwrap();
    assert_eq!(current.len(), files);
    for version in current {
        let text = memory.read(version.path.as_str()).unwrap();
        assert_eq!(memory.read_version(version.id).unwrap(), text.as_bytes());
    }
    memory.erase(false).unwrap();
    assert_eq!(versions(&memory), 0);
}

#[cfg(unix)]
mod namespaces {
    use memdir::{MemoryOptions, Namespace, namespaces};

    use super::*;
    use crate::common::{clouds, postgres};

    fn open(address: &str, namespace: &str, history: bool) -> Memory {
        let mut options = MemoryOptions::default();
        options.namespace = Some(namespace.to_owned());
        options.history = history;
        Memory::open(address, options).unwrap()
    }

    fn found(address: &str) -> Vec<(String, u64, u64, bool)> {
        let all = namespaces(address, &MemoryOptions::default()).unwrap();
        let shown = |one: Namespace| (one.name, one.files, one.bytes, one.history_bytes > 0);
        all.into_iter().map(shown).collect()
    }

    fn namespaces_are_listed_and_erased_one_by_one(address: &str) {
        assert_eq!(found(address), []);
        let (ann, bob) = (open(address, "ann@example.com", true), open(address, "Bob/1", false));
        ann.create("/memories/a", "four").unwrap();
        ann.create("/memories/d/b", "seventy").unwrap();
        bob.create("/memories/.hidden/c", "x").unwrap();
        open(address, "empty", true).stats().unwrap();
        let (of_ann, of_bob) =
            (("ann@example.com".to_owned(), 2, 11, true), ("Bob/1".to_owned(), 1, 1, false));
        assert_eq!(found(address), [of_bob.clone(), of_ann]);
        ann.clear().unwrap();
        let history = ("ann@example.com".to_owned(), 0, 0, true);
        assert_eq!(found(address), [of_bob.clone(), history]);
        ann.erase(false).unwrap();
        assert_eq!(found(address), std::slice::from_ref(&of_bob));
        ann.create("/memories/a", "new").unwrap();
        assert_eq!((versions(&ann), bob.read("/memories/.hidden/c").unwrap()), (1, "x".to_owned()));
        bob.erase(false).unwrap();
        assert_eq!(found(address), [("ann@example.com".to_owned(), 1, 3, true)]);
    }

    #[test]
    fn namespaces_of_postgres_are_listed_and_erased_one_by_one() {
        let Some(server) = postgres::server() else { return };
        let address = server.database("listed");
        namespaces_are_listed_and_erased_one_by_one(&address);
        // No row of an erased namespace is left, not even one with its name.
        let rows = "SELECT count(*) FROM memdir.node WHERE namespace = 'Bob/1'";
        assert_eq!(server.sql("listed", rows), "0");
    }

    #[test]
    fn namespaces_of_object_storage_are_listed_and_erased_one_by_one() {
        for cloud in clouds::all() {
            namespaces_are_listed_and_erased_one_by_one(&cloud.fresh());
        }
    }

    #[test]
    fn any_other_store_is_one_memory() {
        for address in ["./memory", "dir:m", "sqlite:a.db", "memory:", ""] {
            let error = namespaces(address, &MemoryOptions::default()).unwrap_err();
            assert!(matches!(error, Error::Config(_)), "{error}");
        }
    }
}

#[cfg(unix)]
mod on_disk {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use memdir::{Durability, MemoryOptions};

    use super::*;

    fn names_below(directory: &Path, all: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            all.push(path.file_name().unwrap().to_str().unwrap().to_owned());
            if path.is_dir() {
                names_below(&path, all);
            }
        }
    }

    fn open(address: &str, history: bool) -> Memory {
        let mut options = MemoryOptions::default();
        (options.history, options.durability) = (history, Durability::Relaxed);
        Memory::open(address, options).unwrap()
    }

    #[test]
    fn erase_leaves_an_empty_log_beside_a_directory_and_none_within_one() {
        for (prefix, left) in [("", vec!["memories", "history", "active", "log"]), ("dir:", vec![])]
        {
            let place = tempfile::tempdir().unwrap();
            let address = format!("{prefix}{}", place.path().display());
            let memory = open(&address, true);
            memory.create("/memories/a", "secret-of-the-file\n").unwrap();
            memory.delete("/memories/a").unwrap();
            let (history, files) = match prefix {
                "" => (place.path().join("history"), place.path().join("memories")),
                _ => (place.path().join(".memdir-history"), place.path().to_owned()),
            };
            // Possible leftovers of killed processes.
            for name in ["active.damaged", "active.new", "log.old", "beginning", "turn"] {
                fs::write(history.join(name), "secret").unwrap();
            }
            fs::create_dir(history.join("log.new")).unwrap();
            fs::write(history.join("log.new/a"), "secret").unwrap();
            fs::write(history.join("log/0"), "secret").unwrap();
            fs::write(files.join(".memdir-staged%2F"), "secret").unwrap();
            fs::create_dir(files.join(".memdir-deleted%2F7")).unwrap();
            fs::write(files.join(".memdir-deleted%2F7/a"), "secret").unwrap();
            memory.erase(false).unwrap();
            let mut found = Vec::new();
            names_below(place.path(), &mut found);
            found.sort();
            let mut left = left.clone();
            left.sort_unstable();
            assert_eq!(found, left);
            // A writer that had the old log open, and a new one.
            memory.create("/memories/a", "new\n").unwrap();
            assert_eq!(versions(&open(&address, true)), 1);
        }
    }

    /// Puts an obstacle at the first path. The second path is a directory outside.
    type Plant = fn(&Path, &Path);

    const SECRET: &str = "secret-of-the-file";

    const FULL_DIRECTORY: &str = "a directory with a file";

    const FOREIGN: [(&str, Plant); 7] = [
        ("a file", |at, _| fs::write(at, SECRET).unwrap()),
        ("a link to a file", |at, outside| symlink(outside.join("file"), at).unwrap()),
        ("a link to a directory", |at, outside| symlink(outside.join("directory"), at).unwrap()),
        ("a link to nothing", |at, outside| symlink(outside.join("nothing"), at).unwrap()),
        ("a pipe", |at, _| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mkfifoat(rustix::fs::CWD, at, mode).unwrap();
        }),
        ("an empty directory", |at, _| fs::create_dir(at).unwrap()),
        (FULL_DIRECTORY, |at, _| {
            fs::create_dir(at).unwrap();
            fs::write(at.join("foreign"), "not memdir's").unwrap();
        }),
    ];

    fn remove(at: &Path) {
        match at.symlink_metadata() {
            Ok(there) if there.is_dir() => fs::remove_dir_all(at).unwrap(),
            Ok(_) => fs::remove_file(at).unwrap(),
            Err(_) => {}
        }
    }

    /// The files below a directory that contain the secret.
    fn with_secret(directory: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap().file_type();
            if kind.is_dir() {
                with_secret(&path, found);
            } else if kind.is_file()
                && String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(SECRET)
            {
                found.push(path.display().to_string());
            }
        }
    }

    #[test]
    fn erase_removes_what_has_a_name_of_the_journal_whatever_it_is() {
        crate::common::without_power(
            here!("erase_removes_what_has_a_name_of_the_journal_whatever_it_is"),
            |work| {
                // The last two are in memdir's own directories.
                let names = [
                    "active",
                    "active.new",
                    "active.damaged",
                    "log",
                    "log.new",
                    "log.old",
                    "beginning",
                    "turn",
                    "lock",
                    "log/x",
                    "log.new/x",
                ];
                for (name, (kind, plant), prefix) in names.iter().flat_map(|name| {
                    let both =
                        FOREIGN.iter().flat_map(|foreign| ["", "dir:"].map(|it| (foreign, it)));
                    both.map(move |(foreign, prefix)| (*name, *foreign, prefix))
                }) {
                    let what = format!("{kind} at {prefix}{name}");
                    let place = tempfile::tempdir_in(work).unwrap();
                    let outside = tempfile::tempdir_in(work).unwrap();
                    fs::create_dir(outside.path().join("directory")).unwrap();
                    for inner in ["file", "directory/file"] {
                        fs::write(outside.path().join(inner), "not memdir's").unwrap();
                    }
                    let address = format!("{prefix}{}", place.path().display());
                    let memory = open(&address, true);
                    memory.create("/memories/a", &format!("{SECRET}\n")).unwrap();
                    memory.write("/memories/a", "kept\n", None).unwrap();
                    drop(memory);
                    let history = place.path().join(match prefix {
                        "" => "history",
                        _ => ".memdir-history",
                    });
                    fs::write(history.join("log/01990a3c-7c00-7123-8456-789abc000000"), SECRET)
                        .unwrap();
                    if name == "log.new/x" {
                        fs::create_dir(history.join("log.new")).unwrap();
                    }
                    let at = history.join(name);
                    remove(&at);
                    plant(&at, outside.path());

                    let memory = open(&address, true);
                    let erased = memory.erase(false);
                    let mut left = Vec::new();
                    with_secret(place.path(), &mut left);
                    assert_eq!(left, [""; 0], "{what}: {erased:?}");
                    assert!(memory.list("/memories", None).unwrap().is_empty(), "{what}");
                    let is_outside =
                        |inner| fs::read(outside.path().join(inner)).unwrap() == b"not memdir's";
                    assert!(is_outside("file") && is_outside("directory/file"), "{what}");
                    assert!(!outside.path().join("nothing").exists(), "{what}");
                    // In a bare directory it is removed with the files. In the log's directories, everything belongs to the log.
                    let stays = kind == FULL_DIRECTORY
                        && prefix.is_empty()
                        && !["log", "log.new"].contains(&name);
                    if stays {
                        let said = erased.unwrap_err().to_string();
                        assert!(
                            said.contains(&format!("not empty, so they stay: {name};")),
                            "{what}: {said}"
                        );
                        assert!(!said.contains(place.path().to_str().unwrap()), "{what}: {said}");
                        assert_eq!(
                            fs::read(at.join("foreign")).unwrap(),
                            b"not memdir's",
                            "{what}"
                        );
                        // A second call changes nothing. After the obstacle is removed, the rest is erased.
                        memory.erase(false).unwrap_err();
                        remove(&at);
                        memory.erase(false).unwrap();
                    } else {
                        erased.unwrap_or_else(|error| panic!("{what}: {error}"));
                    }
                    let mut found = Vec::new();
                    names_below(place.path(), &mut found);
                    found.retain(|name| {
                        !["memories", "history", "log", "active"].contains(&&**name)
                    });
                    assert_eq!(found, [""; 0], "{what}");
                    // The memory stays usable.
                    memory.create("/memories/b", "new\n").unwrap();
                    assert_eq!(versions(&open(&address, true)), 1, "{what}");
                }
            },
        );
    }

    #[test]
    fn erase_makes_no_log_where_there_is_none() {
        for prefix in ["", "dir:"] {
            let place = tempfile::tempdir().unwrap();
            let memory = open(&format!("{prefix}{}", place.path().display()), false);
            memory.create("/memories/a", "one\n").unwrap();
            assert_eq!(memory.erase(false).unwrap().files, 1);
            let mut found = Vec::new();
            names_below(place.path(), &mut found);
            found.retain(|name| name != "memories");
            assert_eq!(found, [""; 0]);
        }
    }

    #[test]
    fn erase_says_what_it_could_not_remove_and_a_second_call_does_the_rest() {
        crate::common::without_power(
            here!("erase_says_what_it_could_not_remove_and_a_second_call_does_the_rest"),
            |place| {
                use std::os::unix::fs::PermissionsExt;

                let memory = open(place.to_str().unwrap(), true);
                memory.create("/memories/a", "one\n").unwrap();
                // A leftover of a killed process, now inaccessible.
                let left = place.join("memories/.memdir-deleted%2F");
                fs::create_dir_all(left.join("closed")).unwrap();
                fs::write(left.join("closed/b"), "secret").unwrap();
                let history = place.join("history");
                let mode =
                    |mode| fs::set_permissions(&history, PermissionsExt::from_mode(mode)).unwrap();
                mode(0o500);
                memory.erase(false).unwrap_err();
                mode(0o700);
                memory.erase(false).unwrap();
                assert!(!left.exists());
                assert_eq!(versions(&memory), 0);
            },
        );
    }
}
