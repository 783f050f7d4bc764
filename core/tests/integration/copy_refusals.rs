//! Copies that are refused before anything is changed: into themselves, and of names that the destination cannot
//! store. Everything left out is reported.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::path::Path;
use std::sync::Arc;

use crate::common::store_helpers::{at, copy_all, go_on, in_process, mounted, put, tree};
use memdir::copy::{CopyError, Plan, Source, There};
use memdir::store::{Encrypted, Mounts, ProblemKind, ReadOnly, open_store};
use memdir::{Durability, EncryptionKey, MemoryOptions, OnExisting, Store};

fn open(place: &Path, address: &str) -> Arc<dyn Store> {
    let (scheme, path) = address.split_once(':').unwrap_or(("", address));
    let path = place.join(path).display().to_string();
    let address = if scheme.is_empty() { path } else { format!("{scheme}:{path}") };
    open_store(&address, &MemoryOptions::default()).unwrap()
}

fn key() -> EncryptionKey {
    EncryptionKey::from_bytes([1; 32])
}

#[test]
fn stores_that_are_in_each_other_are_not_copied() {
    let place = tempfile::tempdir().unwrap();
    let open = |address: &str| open(place.path(), address);
    put(&*open("a"), "/memories/sub/x", "x");
    std::os::unix::fs::symlink("a", place.path().join("link")).unwrap();
    for (outer, inner) in [
        ("a", "a"),
        ("a", "dir:a/memories"),
        ("a", "dir:a/memories/sub"),
        ("a", "dir:a/memories/sub/further"),
        ("a", "a/memories/sub"),
        ("a", "sqlite:a/memories/a.db"),
        ("dir:a", "a"),
        ("dir:a", "sqlite:a/b.db"),
        ("link", "dir:a/memories/sub"),
        ("sqlite:c.db", "sqlite:c.db"),
        ("sqlite:link/b.db", "sqlite:a/b.db"),
    ] {
        let (outer, inner) = (open(outer), open(inner));
        for (from, to) in [(&outer, &inner), (&inner, &outer)] {
            let (before, there) = (tree(&**from, "/memories"), tree(&**to, "/memories"));
            let error = copy_all(from, to).unwrap_err();
            assert!(matches!(error, CopyError::Overlapping), "{error}");
            assert_eq!(error.paths().count(), 0);
            assert_eq!(tree(&**from, "/memories"), before);
            assert_eq!(tree(&**to, "/memories"), there);
        }
    }
    // Next to each other they are allowed.
    for (from, to) in [("a", "ab"), ("dir:a/memories/sub", "dir:a/memories/sub2")] {
        copy_all(&open(from), &open(to)).unwrap();
    }
}

#[test]
fn layers_and_mounts_do_not_hide_where_a_store_is() {
    let one = in_process();
    let two: Arc<dyn Store> = Arc::new(Encrypted::open(in_process(), &key(), false).unwrap());
    put(&*one, "/memories/x", "x");
    let refused = |from: &Arc<dyn Store>, to: &Arc<dyn Store>| {
        let error = copy_all(from, to).unwrap_err();
        assert!(matches!(error, CopyError::Overlapping), "{error}");
    };
    let mounted = |root, below| Arc::new(mounted(root, below)) as Arc<dyn Store>;
    let read_only =
        |store: &Arc<dyn Store>| -> Arc<dyn Store> { Arc::new(ReadOnly::from(Arc::clone(store))) };
    refused(&one, &one);
    refused(&read_only(&one), &one);
    refused(&one, &mounted(in_process(), Arc::clone(&one)));
    refused(&mounted(in_process(), Arc::clone(&two)), &two);
    // A file that is the same in both does not conflict.
    let handbook = || read_only(&one);
    copy_all(&mounted(in_process(), handbook()), &mounted(in_process(), handbook())).unwrap();
}

#[test]
fn names_that_the_destination_cannot_keep_are_found_before_anything_is_copied() {
    let from = in_process();
    let long = format!("/memories/d/{}", "n".repeat(144));
    let deep = format!("/memories{}/x", "/0123456789abcdef0123456789".repeat(60));
    for path in ["/memories/a", "/memories/d/b", &long, &deep] {
        put(&*from, path, path.as_bytes());
    }
    let encrypted = |names| Encrypted::open(in_process(), &key(), names).unwrap();
    let named = |to: Encrypted| {
        let to: Arc<dyn Store> = Arc::new(to);
        let source = Source::of(Arc::clone(&from), None);
        let plan = Plan::compare(source, &to, OnExisting::Overwrite, &mut go_on).unwrap();
        assert!(plan.refused().iter().all(|refusal| refusal.there == There::BadName));
        let mut named: Vec<_> = plan.refused().iter().map(|it| it.path.to_string()).collect();
        let error = plan.carry_out(&to, Durability::Full, &mut go_on).unwrap_err();
        assert!(error.to_string().starts_with("the destination cannot keep names such as"));
        assert!(tree(&*to, "/memories").is_empty());
        named.sort_by_key(String::len);
        named
    };
    let names = named(encrypted(true));
    assert!(names.contains(&long), "{names:?}");
    // One level of the long path is reported, and nothing below it.
    assert!(names.iter().any(|name| deep.starts_with(&format!("{name}/"))), "{names:?}");
    // Behind mounts as well.
    let mounts =
        Mounts::new(in_process()).mount(at("/memories/d"), Arc::new(encrypted(true))).unwrap();
    assert!(!mounts.can_keep(&at(&long)) && mounts.can_keep(&at("/memories/d/b")));
}

#[test]
fn reserved_names_are_left_out_of_a_copy_and_named() {
    let (from, to) = (in_process(), in_process());
    put(&*from, "/memories/a/.memdir-new-directory", "a content");
    put(&*from, "/memories/b/.memdir-new-directory/c", "in a directory");
    put(&*from, "/memories/e/.memdir-new-directory", "");
    put(&*from, "/memories/f/g.md", "kept");
    let copied = copy_all(&from, &to).unwrap();
    assert_eq!((copied.files, copied.directories), (1, 3));
    let left: Vec<_> = copied.left_out.iter().map(|it| (it.kind, it.path.as_str())).collect();
    assert_eq!(
        left,
        [
            (ProblemKind::Reserved, "/memories/a/.memdir-new-directory"),
            (ProblemKind::Reserved, "/memories/b/.memdir-new-directory"),
            (ProblemKind::LeftOver, "/memories/e/.memdir-new-directory"),
        ]
    );
    let kept = tree(&*to, "/memories");
    assert_eq!(kept.len(), 5, "{kept:?}");
    assert!(kept.keys().all(|path| !path.contains(".memdir-")), "{kept:?}");
}
