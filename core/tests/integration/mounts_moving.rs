//! Renaming from one mounted store into another: all or nothing, whatever happens at the same time,
//! and whatever fails.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use crate::common::faulty_store::{Fault, FaultyStore, Say, When, answer_lost};
use crate::common::store_helpers::{Tree, at, mounted, plant, put, tree};
use crate::common::{NOBODY, without_power_in};
use memdir::store::{
    Context, Effect, InProcess, Layer, LocalDirectory, Mounts, Mutation, SqliteDatabase, contract,
};
use memdir::{Durability, OnExisting, Store, StoreError};

#[test]
fn everything_arrives_in_any_store_and_nothing_stays() {
    let place = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 4] = [
        Arc::new(InProcess::new()),
        Arc::new(LocalDirectory::open(place.path(), Durability::Relaxed).unwrap()),
        Arc::new(SqliteDatabase::open(place.path().join("a.db"), Durability::Relaxed).unwrap()),
        Arc::new(LocalDirectory::open_bare(place.path().join("b"), Durability::Relaxed).unwrap()),
    ];
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    for source in &stores {
        for destination in &stores {
            if Arc::ptr_eq(source, destination) {
                continue;
            }
            let mounts = mounted(Arc::clone(source), Arc::clone(destination));
            plant(&mounts);
            mounts.set_modified(&at("/memories/tree/bytes"), time).unwrap();
            let before = tree(&mounts, "/memories/tree");
            let rename = |from, to| mounts.rename(&at(from), &at(to)).unwrap();
            rename("/memories/tree", "/memories/other/new/parents/tree");
            assert_eq!(tree(&**source, "/memories").len(), 0);
            assert_eq!(
                mounts.modified(&at("/memories/other/new/parents/tree/bytes")).unwrap(),
                Some(time)
            );
            // One file on its way back, then the rest.
            rename("/memories/other/new/parents/tree/bytes", "/memories/tree/bytes");
            rename("/memories/other/new/parents/tree", "/memories/rest");
            assert_eq!(mounts.modified(&at("/memories/tree/bytes")).unwrap(), Some(time));
            let mut after = tree(&mounts, "/memories/tree");
            let rest = tree(&mounts, "/memories/rest");
            after.extend(
                rest.into_iter().map(|(path, held)| (path.replacen("rest", "tree", 1), held)),
            );
            assert_eq!(before, after);
            let left: Vec<String> = tree(&**destination, "/memories").into_keys().collect();
            assert_eq!(left, ["/memories/new", "/memories/new/parents"]);
            for store in [source, destination] {
                store.clear().unwrap();
            }
        }
    }
}

#[test]
fn conditions_come_in_the_order_of_the_contract() {
    let mounts = mounted(Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    let deep = format!("/memories/deep{}", "/d".repeat(60));
    for path in ["/memories/file", "/memories/dir/x", "/memories/other/full/y", &deep] {
        put(&mounts, path, path.as_bytes());
    }
    put(&mounts, "/memories/other/other", b"a file");
    let before = tree(&mounts, "/memories");
    for (from, to, expected) in [
        ("none", "other/new/a", "not found"),
        ("none", "other/other", "not found"),
        ("none", "other", "not found"),
        ("file/below", "other/new", "not found"),
        ("file", "other/other", "already exists"),
        ("file", "other/full", "already exists"),
        ("dir", "other/full", "already exists"),
        ("dir", "other/full/y", "already exists"),
        ("dir", "other", "already exists"),
        ("other/full", "dir", "already exists"),
        ("dir", "other/other/below", "not a directory"),
        ("deep", "other/full/y/below/it", "not a directory"),
        ("deep", "other/new/1/2/3/4/5", "the name is too long for this store"),
        ("other", "new", "the source: a mount point, or above one"),
    ] {
        let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
        let error = mounts.rename(&at(&from), &at(&to)).unwrap_err();
        assert_eq!(error.to_string(), expected, "{from} to {to}");
        assert_eq!(tree(&mounts, "/memories"), before, "{from} to {to}");
    }
}

#[test]
fn a_condition_decides_whether_a_file_goes_into_another_store() {
    let mounts = mounted(Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    for path in ["/memories/file", "/memories/dir/x", "/memories/other/there"] {
        put(&mounts, path, path.as_bytes());
    }
    let before = tree(&mounts, "/memories");
    let rename = |from: &str, to: &str, answer: bool| {
        let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
        let renamed = mounts.rename_if(&at(&from), &at(&to), &mut |content| {
            assert_eq!(content, from.as_bytes());
            answer
        });
        renamed.map_err(|error| error.to_string())
    };
    for to in ["other/new", "other/there", "other", "new"] {
        assert_eq!(rename("file", to, false), Ok(false), "{to}");
    }
    for (from, to, expected) in [
        ("none", "other/new", "not found"),
        ("dir", "other/new", "the source: is a directory"),
        ("other", "new", "the source: is a directory"),
        ("file", "other/there", "already exists"),
        ("file", "other", "already exists"),
        ("file", "other/there/below", "not a directory"),
    ] {
        assert_eq!(rename(from, to, true).unwrap_err(), expected, "{from} to {to}");
    }
    let other = at("/memories/other");
    assert!(matches!(mounts.delete_if(&other, &mut |_| true), Err(StoreError::IsADirectory)));
    assert_eq!(tree(&mounts, "/memories"), before);
    assert_eq!(rename("file", "other/new/file", true), Ok(true));
    assert_eq!(mounts.read(&at("/memories/other/new/file")).unwrap(), b"/memories/file");
    assert!(matches!(mounts.read(&at("/memories/file")), Err(StoreError::NotFound)));
}

#[test]
fn an_edit_that_comes_while_a_file_goes_into_another_store_is_not_lost() {
    let rule = contract::rules()
        .find(|rule| rule.name == "an edit that a condition has not seen is not lost")
        .unwrap();
    // The rule moves files below these directories.
    let mut mounts = Mounts::new(Arc::new(InProcess::new()));
    for destination in ["/memories/to", "/memories/while"] {
        mounts = mounts.mount(at(destination), Arc::new(InProcess::new())).unwrap();
    }
    assert!(mounts.info().conditions_are_atomic);
    rule.check(&mounts).unwrap();
}

/// All files except the temporary ones.
fn in_place(store: &dyn Store) -> Tree {
    let mut tree = tree(store, "/memories");
    tree.retain(|path, _| !path.contains("/.memdir-moving-"));
    tree
}

fn sorted_contents(tree: &Tree) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> = tree.values().flatten().cloned().collect();
    contents.sort();
    contents
}

/// The result of a rename between two stores, one of which is faulty.
struct Moved {
    result: Result<(), StoreError>,
    whole: Tree,
    /// The visible files in either store afterwards.
    left: Tree,
    arrived: Tree,
    /// Whether the fault was reached.
    met: bool,
}

fn moved_with(in_source: bool, when: When, fault: Fault, say: Say) -> Moved {
    let when_in = |faulty: bool| if faulty { when } else { When::Never };
    let source = Arc::new(FaultyStore::new(when_in(in_source), fault, say));
    let destination = Arc::new(FaultyStore::new(when_in(!in_source), fault, say));
    // Set up and inspected in the underlying stores, so only the rename's own operations count.
    plant(&*source.inner);
    let whole = tree(&*source.inner, "/memories");
    let mounts = mounted(Arc::clone(&source) as _, Arc::clone(&destination) as _);
    let result = mounts.rename(&at("/memories/tree"), &at("/memories/other/new/tree"));
    let faulty = if in_source { &source } else { &destination };
    let (When::One(first) | When::From(first)) = when else { panic!("it never fails") };
    Moved {
        result,
        whole,
        left: in_place(&*source.inner),
        arrived: in_place(&*destination.inner),
        met: faulty.operations() > first,
    }
}

/// Fails every operation of either store in turn, first alone and then together with all later ones.
fn with_every_fault(say: Say, mut check: impl FnMut(&str, &Moved)) {
    for in_source in [true, false] {
        for fault in Fault::ALL {
            for when in [When::One, When::From] {
                for number in 0.. {
                    let moved = moved_with(in_source, when(number), fault, say);
                    let what =
                        format!("{in_source} {:?} {fault:?}: {:?}", when(number), moved.result);
                    check(&what, &moved);
                    if !moved.met {
                        break;
                    }
                }
            }
        }
    }
}

/// Checks that the reported outcome of a rename is true, and that no content has become invisible.
fn check_moved(what: &str, moved: &Moved) {
    let Moved { result, whole, left, arrived, .. } = moved;
    let mut in_view = sorted_contents(left);
    in_view.extend(sorted_contents(arrived));
    for content in sorted_contents(whole) {
        assert!(in_view.contains(&content), "{what}: a content is nowhere");
    }
    match result {
        Ok(()) => {
            assert!(left.is_empty(), "{what}: a part stayed");
            assert_eq!(sorted_contents(arrived), sorted_contents(whole), "{what}");
            // And the directory above it.
            assert_eq!(arrived.len(), whole.len() + 1, "{what}");
        }
        Err(StoreError::Failed { effect: Effect::Unknown, .. }) => {}
        // Every other error reports that nothing was changed.
        Err(_) => {
            assert_eq!(left, whole, "{what}");
            assert!(arrived.is_empty(), "{what}: a part of the copy stayed");
        }
    }
}

#[test]
fn whatever_operation_fails_no_content_is_lost_and_the_error_is_true() {
    let (mut unchanged, mut unknown, mut done) = (0, 0, 0);
    with_every_fault(answer_lost, |what, moved| {
        check_moved(what, moved);
        match &moved.result {
            Err(StoreError::Failed { effect: Effect::Unchanged, .. }) => unchanged += 1,
            Err(StoreError::Failed { effect: Effect::Unknown, .. }) => unknown += 1,
            Ok(()) => done += 1,
            Err(other) => panic!("{what}: {other}"),
        }
    });
    assert!(unchanged > 100 && unknown > 10 && done > 10, "{unchanged} {unknown} {done}");
}

#[test]
fn a_single_fault_leaves_one_whole_tree_in_view_wherever_it_can_be_known() {
    for fault in [Fault::Before, Fault::After] {
        for in_source in [true, false] {
            for number in 0.. {
                let moved = moved_with(in_source, When::One(number), fault, answer_lost);
                let what = format!("{in_source} {fault:?} {number}: {:?}", moved.result);
                let unknown =
                    matches!(moved.result, Err(StoreError::Failed { effect: Effect::Unknown, .. }));
                assert!(!unknown, "{what}");
                if !moved.met {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_store_that_is_not_allowed_half_of_it_loses_nothing() {
    with_every_fault(|| StoreError::PermissionDenied, check_moved);
}

#[test]
fn a_busy_store_or_a_caller_that_went_away_is_never_told_of_as_nothing_where_it_was_something() {
    for say in [|| StoreError::Busy, || StoreError::Cancelled] as [Say; 2] {
        for in_source in [true, false] {
            for when in [When::One, When::From] {
                for number in 0.. {
                    let moved = moved_with(in_source, when(number), Fault::Before, say);
                    check_moved(
                        &format!("{in_source} {:?}: {:?}", when(number), moved.result),
                        &moved,
                    );
                    if !moved.met {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn a_directory_of_which_a_part_cannot_be_deleted_is_moved_whole_or_stays_whole() {
    let test = here!("a_directory_of_which_a_part_cannot_be_deleted_is_moved_whole_or_stays_whole");
    let files = ["a.md", "b.md", "k/x.md", "z.md"];
    let plant = |place: &Path| {
        fs::create_dir_all(place.join("b/d/k")).unwrap();
        for file in files {
            fs::write(place.join("b/d").join(file), file).unwrap();
        }
        place.join("b")
    };
    let prepare = |place: &Path| {
        let below = plant(place);
        for owned in [&below, &below.join("d")] {
            chown(owned, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    };
    without_power_in(test, prepare, |place| {
        let (root, below) = (place.join("a"), place.join("b"));
        if !below.exists() {
            plant(place);
        }
        let open = |path| Arc::new(LocalDirectory::open_bare(path, Durability::Relaxed).unwrap());
        let mounts = Mounts::new(open(root)).mount(at("/memories/l"), open(below)).unwrap();
        let result = mounts.rename(&at("/memories/l/d"), &at("/memories/moved"));
        let (now, gone) = if result.is_ok() { ("moved", "l/d") } else { ("l/d", "moved") };
        for file in files {
            let content = mounts.read(&at(&format!("/memories/{now}/{file}")));
            assert_eq!(content.unwrap(), file.as_bytes(), "{result:?}");
        }
        let gone = mounts.list(&at(&format!("/memories/{gone}")));
        assert!(matches!(gone, Err(StoreError::NotFound)), "{result:?}: {gone:?}");
    });
}

/// Trees in which two mounts lead to one directory. The last string is the second path to the content of `/memories`.
fn seen_twice(place: &Path) -> Vec<(&'static str, Mounts, &'static str)> {
    let open = |path: &str| -> Arc<dyn Store> {
        let path = place.join(path);
        Arc::new(LocalDirectory::open_bare(path, Durability::Relaxed).unwrap())
    };
    let database = |path: &str| -> Arc<dyn Store> {
        Arc::new(SqliteDatabase::open(place.join(path), Durability::Relaxed).unwrap())
    };
    let in_process: Arc<dyn Store> = Arc::new(InProcess::new());
    vec![
        ("the same store", mounted(Arc::clone(&in_process), in_process), "other"),
        ("one directory, opened twice", mounted(open("a"), open("a")), "other"),
        ("one database, opened twice", mounted(database("a.db"), database("a.db")), "other"),
        ("a directory in the other", mounted(open("b"), open("b/d")), "other/.."),
    ]
}

#[test]
fn a_directory_cannot_be_moved_into_itself_by_way_of_another_mount() {
    let place = tempfile::tempdir().unwrap();
    for (what, mounts, way) in seen_twice(place.path()) {
        put(&mounts, "/memories/d/x", b"x");
        put(&mounts, "/memories/d/sub/y", b"y");
        let before = tree(&mounts, "/memories/d");
        // In the last one the second mount is at `d` itself.
        let by = |path: &str| match way {
            "other" => at(&format!("/memories/other/d/{path}")),
            _ => at(&format!("/memories/other/{path}")),
        };
        for to in ["new", "new/deep", "sub/new"] {
            let error = mounts.rename(&at("/memories/d"), &by(to)).unwrap_err();
            assert!(matches!(error, StoreError::IntoItself), "{what} {to}: {error}");
            assert_eq!(tree(&mounts, "/memories/d"), before, "{what} {to}");
        }
        let error = mounts.rename(&at("/memories/d/x"), &by("x")).unwrap_err();
        assert!(matches!(error, StoreError::AlreadyExists), "{what}: {error}");
        // A rename that is not into itself succeeds.
        mounts.rename(&at("/memories/d/x"), &by("sub/x")).unwrap();
        assert_eq!(mounts.read(&at("/memories/d/sub/x")).unwrap(), b"x", "{what}");
        assert!(matches!(mounts.read(&at("/memories/d/x")), Err(StoreError::NotFound)), "{what}");
        mounts.rename(&by("sub"), &at("/memories/out")).unwrap();
        assert_eq!(mounts.read(&at("/memories/out/x")).unwrap(), b"x", "{what}");
    }
}

/// A store that does not allow deletions, without being read-only.
struct Sticky(InProcess);

impl Layer for Sticky {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        match mutation {
            Mutation::Delete { .. } => Err(StoreError::PermissionDenied),
            other => self.0.mutate(context, other),
        }
    }
}

#[test]
fn what_may_not_go_stays_and_its_copy_goes() {
    let sticky = Arc::new(Sticky(InProcess::new()));
    put(&*sticky, "/memories/tree/a", b"a");
    put(&*sticky, "/memories/b", b"b");
    let mounts = mounted(sticky, Arc::new(InProcess::new()));
    let before = tree(&mounts, "/memories");
    for (from, to) in [("tree", "other/new/parents/tree"), ("b", "other/b"), ("b", "other/x/b")] {
        let (from, to) = (format!("/memories/{from}"), format!("/memories/{to}"));
        let error = mounts.rename(&at(&from), &at(&to)).unwrap_err();
        assert_eq!(error.to_string(), "the source: permission denied");
        assert_eq!(tree(&mounts, "/memories"), before);
    }
}

/// A store in which another process changes something when a copy is read back.
struct Meddling {
    store: InProcess,
    meddle: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Layer for Meddling {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_rename = matches!(mutation, Mutation::Rename { .. });
        let done = self.store.mutate(context, mutation)?;
        // The copy is moved to its final path.
        if let Some(meddle) = is_rename.then(|| self.meddle.lock().unwrap().take()).flatten() {
            meddle();
        }
        Ok(done)
    }
}

/// Moves `/memories/dir/a` to `/memories/other/new/a` while another process interferes once, right
/// after the copy was moved to its final path.
fn meddled(
    meddle: impl FnOnce(&dyn Store, &dyn Store) + Send + 'static,
) -> (Result<(), StoreError>, Tree) {
    let source = Arc::new(InProcess::new());
    put(&*source, "/memories/dir/a", b"a");
    let destination = Arc::new(Meddling { store: InProcess::new(), meddle: Mutex::new(None) });
    let (here, there) = (Arc::clone(&source), Arc::clone(&destination));
    let meddle = move || meddle(&*here, &there.store);
    *destination.meddle.lock().unwrap() = Some(Box::new(meddle));
    let mounts = mounted(source, destination);
    let result = mounts.rename(&at("/memories/dir/a"), &at("/memories/other/new/a"));
    (result, tree(&mounts, "/memories"))
}

fn overwrite(store: &dyn Store, path: &str, content: &[u8]) {
    store.write(&at(path), content, OnExisting::Overwrite).unwrap();
}

fn held(expected: &[(&str, Option<&str>)]) -> Tree {
    let mut held: Tree =
        BTreeMap::from([("/memories/dir".to_owned(), None), ("/memories/other".to_owned(), None)]);
    for (path, content) in expected {
        held.insert(
            format!("/memories/{path}"),
            content.map(|content| content.as_bytes().to_vec()),
        );
    }
    held
}

#[test]
fn what_is_edited_meanwhile_is_moved_as_it_is_now() {
    let (result, tree) = meddled(|source, _| overwrite(source, "/memories/dir/a", b"edited"));
    result.unwrap();
    assert_eq!(tree, held(&[("other/new", None), ("other/new/a", Some("edited"))]));
}

#[test]
fn what_is_moved_away_meanwhile_is_not_there_twice() {
    let (result, tree) = meddled(|source, _| {
        source.rename(&at("/memories/dir/a"), &at("/memories/b")).unwrap();
    });
    assert!(matches!(result, Err(StoreError::NotFound)), "{result:?}");
    assert_eq!(tree, held(&[("b", Some("a"))]));
}

#[test]
fn what_others_put_beside_the_copy_stays() {
    let (result, tree) = meddled(|source, destination| {
        source.delete(&at("/memories/dir/a")).unwrap();
        put(destination, "/memories/new/beside", b"theirs");
    });
    assert!(matches!(result, Err(StoreError::NotFound)), "{result:?}");
    assert_eq!(tree, held(&[("other/new", None), ("other/new/beside", Some("theirs"))]));
}

#[test]
fn where_both_were_edited_both_stay() {
    let (result, tree) = meddled(|source, destination| {
        overwrite(source, "/memories/dir/a", b"here");
        overwrite(destination, "/memories/new/a", b"there");
    });
    assert!(matches!(result, Err(StoreError::Failed { .. })), "{result:?}");
    assert_eq!(
        tree,
        held(&[("dir/a", Some("here")), ("other/new", None), ("other/new/a", Some("there"))])
    );
}
