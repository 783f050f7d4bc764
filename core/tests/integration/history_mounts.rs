//! The history of a tree of mounts: each store keeps its own, and the tree shows all of them as one.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use crate::common::store_helpers::at;
use memdir::history::{HistoryId, HistoryQuery, UndoOptions, Version};
use memdir::store::{InProcess, Mount, Mounts, encrypt, open_mounts, open_store};
use memdir::{EncryptionKey, Memory, MemoryOptions, OnExisting, Store, StoreError};

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options
}

fn remembering(store: Arc<dyn Store>) -> Memory {
    Memory::with_store(store, options())
}

fn versions(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}

/// The operations and paths, oldest first.
fn done(memory: &Memory) -> Vec<String> {
    let shown = |version: &Version| {
        let from = version.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
        format!("{} {}{from}", version.operation, version.path)
    };
    versions(memory).iter().rev().map(shown).collect()
}

fn ids(memory: &Memory) -> Vec<HistoryId> {
    versions(memory).iter().map(|version| version.id).collect()
}

fn encrypted(inner: &Arc<dyn Store>) -> Arc<dyn Store> {
    let mut options = MemoryOptions::default();
    options.encryption_key = Some(EncryptionKey::from_bytes([7; 32]));
    encrypt(Arc::clone(inner), &options).unwrap()
}

/// The bytes of all files below a directory.
fn bytes_below(directory: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { fs::read(path).unwrap() });
    }
    all
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// A directory, a database and a plain directory. The tree and the single stores are opened again and again.
struct Scene {
    place: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { place: tempfile::tempdir().unwrap() }
    }

    fn address(&self, name: &str) -> String {
        let path = self.place.path().join(name);
        match name {
            "team" => format!("sqlite:{}", path.display()),
            "docs" => format!("dir:{}", path.display()),
            _ => path.display().to_string(),
        }
    }

    fn tree(&self) -> Memory {
        let mounts = ["memory", "team", "docs"].map(|name| {
            let path =
                if name == "memory" { "/memories".to_owned() } else { format!("/memories/{name}") };
            Mount::new(path, self.address(name))
        });
        remembering(Arc::new(open_mounts(mounts, &options()).unwrap()))
    }

    fn alone(&self, name: &str) -> Memory {
        Memory::open(&self.address(name), options()).unwrap()
    }
}

#[test]
fn each_store_has_the_history_of_its_own_files_and_the_tree_has_all() {
    let scene = Scene::new();
    let tree = scene.tree().acting_as("ann");
    tree.create("/memories/a.md", "one").unwrap();
    tree.create("/memories/team/b.md", "two").unwrap();
    tree.str_replace("/memories/team/b.md", "two", "three").unwrap();
    tree.create("/memories/docs/c.md", "four").unwrap();
    tree.rename("/memories/docs/c.md", "/memories/docs/d.md").unwrap();
    tree.delete("/memories/team/b.md").unwrap();
    let all = [
        "created /memories/a.md",
        "created /memories/team/b.md",
        "modified /memories/team/b.md",
        "created /memories/docs/c.md",
        "renamed /memories/docs/d.md from /memories/docs/c.md",
        "deleted /memories/team/b.md",
    ];
    assert_eq!(done(&tree), all);
    assert_eq!(done(&scene.tree()), all);
    assert_eq!(done(&scene.alone("memory")), ["created /memories/a.md"]);
    let team = scene.alone("team");
    assert_eq!(
        done(&team),
        ["created /memories/b.md", "modified /memories/b.md", "deleted /memories/b.md"]
    );
    assert_eq!(
        done(&scene.alone("docs")),
        ["created /memories/c.md", "renamed /memories/d.md from /memories/c.md"]
    );
    // The versions are the same ones.
    let mut each: Vec<HistoryId> =
        ["memory", "team", "docs"].iter().flat_map(|name| ids(&scene.alone(name))).collect();
    each.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(ids(&tree), each);
    for version in versions(&team) {
        assert_eq!(version.actor.as_deref(), Some("ann"));
        assert_eq!(tree.read_version(version.id).ok(), team.read_version(version.id).ok());
    }
    // A change made in the store itself is seen in the tree, and is not external.
    team.create("/memories/e.md", "five").unwrap();
    assert_eq!(done(&tree).last().unwrap(), "created /memories/team/e.md");
    let stats = tree.stats().unwrap();
    assert_eq!((stats.files, stats.history.unwrap().versions), (3, 7));
    assert!(!scene.place.path().join("memory/memories/.memdir-history").exists());
}

#[test]
fn what_a_condition_moves_into_another_store_is_in_both_histories() {
    let scene = Scene::new();
    let tree = scene.tree();
    tree.create("/memories/a.md", "one").unwrap();
    let (store, from, to) = (tree.store(), at("/memories/a.md"), at("/memories/team/b.md"));
    assert!(!store.rename_if(&from, &to, &mut |_| false).unwrap());
    assert_eq!(done(&tree), ["created /memories/a.md"]);
    assert!(store.rename_if(&from, &to, &mut |content| content == b"one").unwrap());
    assert!(!store.delete_if(&to, &mut |_| false).unwrap());
    assert!(store.delete_if(&to, &mut |content| content == b"one").unwrap());
    for tree in [tree, scene.tree()] {
        let mut all = done(&tree);
        // The copy is at its path before the original is removed, and each history has its own clock.
        all.sort();
        assert_eq!(
            all,
            [
                "created /memories/a.md",
                "created /memories/team/b.md",
                "deleted /memories/a.md",
                "deleted /memories/team/b.md",
            ]
        );
    }
    assert_eq!(done(&scene.alone("team")), ["created /memories/b.md", "deleted /memories/b.md"]);
}

#[test]
fn what_was_done_in_several_stores_is_undone() {
    let scene = Scene::new();
    let tree = scene.tree();
    tree.create("/memories/team/plans/a.md", "one").unwrap();
    tree.create("/memories/team/plans/deep/b.md", "two").unwrap();
    let before = SystemTime::now();
    // From one store into another: one loses it, the other receives it.
    tree.rename("/memories/team/plans", "/memories/ours").unwrap();
    let moved = versions(&tree)[0].change;
    assert_eq!(
        done(&scene.alone("memory")),
        ["created /memories/ours/a.md", "created /memories/ours/deep/b.md"]
    );
    assert_eq!(done(&scene.alone("team")).len(), 4);
    let mut of_change = HistoryQuery::default();
    of_change.change = Some(moved);
    assert_eq!(tree.history(&of_change).unwrap().len(), 4, "{:?}", done(&tree));
    tree.undo(moved, UndoOptions::default()).unwrap();
    assert_eq!(tree.read("/memories/team/plans/deep/b.md").unwrap(), "two");
    assert!(tree.read("/memories/ours/a.md").is_err());
    // Everything, in every store.
    tree.clear().unwrap();
    assert_eq!(tree.stats().unwrap().files, 0);
    let past = tree.files_at(before).unwrap();
    assert_eq!(past.len(), 2, "{past:?}");
    tree.restore_all(before, false).unwrap();
    assert_eq!(tree.read("/memories/team/plans/a.md").unwrap(), "one");
    let last = versions(&tree)[0].clone();
    assert_eq!((last.operation.as_str(), last.is_current), ("restored", true));
    // In the history of the store itself.
    let team = scene.alone("team");
    team.undo(last.change, UndoOptions::default()).unwrap();
    assert!(tree.read("/memories/team/plans/a.md").is_err());
    // No version is `external`.
    for memory in [tree, team, scene.alone("memory"), scene.alone("docs")] {
        assert!(done(&memory).iter().all(|done| !done.contains("external")), "{:?}", done(&memory));
        assert!(done(&memory).iter().all(|done| !done.contains(".memdir-")));
    }
}

#[test]
fn what_is_encrypted_is_in_no_other_history() {
    let (scene, inner) = (Scene::new(), Arc::new(InProcess::new()) as Arc<dyn Store>);
    let mounts = [
        Mount::new("/memories", scene.address("memory")),
        Mount::new("/memories/safe", encrypted(&inner)),
    ];
    let tree = remembering(Arc::new(open_mounts(mounts, &options()).unwrap()));
    tree.create("/memories/safe/key.md", "the-secret").unwrap();
    tree.str_replace("/memories/safe/key.md", "the-secret", "no more").unwrap();
    tree.delete("/memories/safe/key.md").unwrap();
    tree.create("/memories/plain.md", "not secret").unwrap();
    let oldest = versions(&tree).last().unwrap().id;
    assert_eq!(tree.read_version(oldest).unwrap(), b"the-secret");
    let plain = bytes_below(&scene.place.path().join("memory"));
    assert!(contains(&plain, "not secret") && !contains(&plain, "the-secret"));
    assert!(!contains(&plain, "key.md"));
    let mut kept = 0;
    inner
        .files(&mut |entry| {
            kept += 1;
            assert!(!contains(&inner.read(&entry.path).unwrap(), "the-secret"), "{}", entry.path);
        })
        .unwrap();
    assert!(kept > 3, "{kept}");
    assert_eq!(done(&remembering(encrypted(&inner))).len(), 3);
}

#[test]
fn redaction_is_everywhere_or_nowhere() {
    let scene = Scene::new();
    let tree = scene.tree();
    for path in ["/memories/a.md", "/memories/team/b.md", "/memories/docs/sub/c.md"] {
        tree.create(path, "the-secret").unwrap();
        tree.str_replace(path, "the-secret", "no more").unwrap();
    }
    let id = versions(&tree).last().unwrap().id;
    // A read-only store would keep it.
    let fixed = [
        Mount::new("/memories", scene.address("memory")),
        Mount::new("/memories/docs", scene.address("docs")).read_only(),
    ];
    let fixed = remembering(Arc::new(open_mounts(fixed, &options()).unwrap()));
    let before = bytes_below(scene.place.path());
    let refused = fixed.redact(id, "a secret").unwrap_err().to_string();
    assert!(refused.contains("read-only"), "{refused}");
    fixed.trim_history().unwrap();
    assert!(bytes_below(scene.place.path()) == before);
    // Files that the tree hides are removed as well.
    let hiding = open_mounts(
        [
            Mount::new("/memories", scene.address("memory")),
            Mount::new("/memories/team", scene.address("team")),
            Mount::new("/memories/docs", scene.address("docs")),
            Mount::new("/memories/docs/sub", Arc::new(InProcess::new()) as Arc<dyn Store>),
        ],
        &options(),
    );
    let hiding = remembering(Arc::new(hiding.unwrap()));
    assert!(done(&hiding).iter().all(|done| !done.contains("c.md")), "{:?}", done(&hiding));
    let change = hiding.redact(id, "a secret").unwrap().unwrap();
    assert!(!contains(&bytes_below(scene.place.path()), "the-secret"));
    for name in ["memory", "team", "docs"] {
        let alone = scene.alone(name);
        let created = versions(&alone).pop().unwrap();
        assert_eq!(created.redacted.as_deref(), Some("a secret"), "{name}");
        assert_eq!(created.sha256, None);
        assert!(alone.read_version(created.id).is_err());
    }
    assert_eq!(versions(&scene.alone("memory"))[0].change, change);
    assert_eq!(done(&scene.tree()).last().unwrap(), "redacted /memories/a.md");
}

#[test]
fn a_read_only_mount_shows_its_history_and_is_never_written_to() {
    let scene = Scene::new();
    scene.alone("docs").create("/memories/style.md", "Be brief.").unwrap();
    fs::create_dir(scene.place.path().join("bare")).unwrap();
    let before = bytes_below(&scene.place.path().join("docs"));
    let bare = scene.place.path().join("bare").display().to_string();
    let mounts = [
        Mount::new("/memories", scene.address("memory")),
        Mount::new("/memories/docs", scene.address("docs")).read_only(),
        Mount::new("/memories/bare", bare).read_only(),
    ];
    let tree = remembering(Arc::new(open_mounts(mounts, &options()).unwrap()));
    tree.create("/memories/a.md", "one").unwrap();
    assert_eq!(done(&tree), ["created /memories/docs/style.md", "created /memories/a.md"]);
    assert!(tree.create("/memories/docs/b.md", "two").is_err());
    assert!(tree.rename("/memories/docs/style.md", "/memories/style.md").is_err());
    assert!(tree.undo(versions(&tree)[1].change, UndoOptions::default()).is_err());
    tree.clear().unwrap();
    assert!(bytes_below(&scene.place.path().join("docs")) == before);
    assert_eq!(fs::read_dir(scene.place.path().join("bare")).unwrap().count(), 0);
    // The whole tree, read-only.
    let mut only_read = options();
    only_read.read_only = true;
    let stores = Mounts::new(open_store(&scene.address("memory"), &options()).unwrap());
    let team: Arc<dyn Store> = Arc::new(InProcess::new());
    let stores = stores.mount(at("/memories/team"), team).unwrap();
    let fixed = Memory::with_store(Arc::new(stores), only_read);
    assert_eq!(done(&fixed), ["created /memories/a.md", "cleared /memories/a.md"]);
    assert!(fixed.create("/memories/team/b.md", "two").is_err());
}

#[test]
fn a_store_and_its_like_are_told_apart() {
    let first: Arc<dyn Store> = Arc::new(InProcess::new());
    let alone = remembering(Arc::clone(&first));
    alone.create("/memories/a.md", "one").unwrap();
    alone.str_replace("/memories/a.md", "one", "two").unwrap();
    // A copy of everything, with the same ids.
    let second: Arc<dyn Store> = Arc::new(InProcess::new());
    first
        .files(&mut |entry| {
            second
                .write(&entry.path, &first.read(&entry.path).unwrap(), OnExisting::Error)
                .unwrap();
        })
        .unwrap();
    let tree = Mounts::new(Arc::clone(&first))
        .mount(at("/memories/copy"), second)
        .and_then(|tree| tree.mount(at("/memories/same"), first));
    let tree = remembering(Arc::new(tree.unwrap()));
    assert_eq!(done(&tree).len(), 6);
    let mut each = ids(&tree);
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), 6);
    let of_copy =
        versions(&tree).into_iter().find(|version| version.path == at("/memories/copy/a.md"));
    tree.undo(of_copy.unwrap().change, UndoOptions::default()).unwrap();
    assert_eq!(tree.read("/memories/copy/a.md").unwrap(), "one");
    assert_eq!(tree.read("/memories/a.md").unwrap(), "two");
    tree.rename("/memories/same/a.md", "/memories/b.md").unwrap();
    assert_eq!(done(&alone).last().unwrap(), "renamed /memories/b.md from /memories/a.md");
}

/// A failed change is in no history.
#[test]
fn a_change_that_fails_is_in_no_history() {
    let scene = Scene::new();
    let tree = scene.tree();
    tree.create("/memories/a.md", "one").unwrap();
    tree.create("/memories/team/a.md", "two").unwrap();
    let before = done(&tree);
    assert!(tree.rename("/memories/a.md", "/memories/team/a.md").is_err());
    assert!(tree.create("/memories/team/a.md/b.md", "three").is_err());
    assert!(matches!(tree.store().delete(&at("/memories/team")), Err(StoreError::MountPoint)));
    assert_eq!(done(&tree), before);
}
