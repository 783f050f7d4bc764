//! Read-only and writable paths.

use std::sync::Arc;

use memdir::policy::PathPattern;
use memdir::store::{Edit, Entry, InProcess, Mounts, ReadOnly, StoreInfo};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

use super::seams::Seams;
use crate::common::store_helpers::{at, put, refusal, tree};

fn memory(store: Arc<dyn Store>, read_only: &[&str], writable: Option<&[&str]>) -> Memory {
    let mut options = MemoryOptions::default();
    options.read_only_paths = PathPattern::all("read_only_paths", read_only).unwrap();
    options.writable_paths =
        writable.map(|writable| PathPattern::all("writable_paths", writable).unwrap());
    Memory::with_store(store, options)
}

fn read_only(path: &str) -> String {
    format!("Error: {path} is read-only: it can be viewed but not changed")
}

fn write_patterns_refuse_a_command_as_a_whole(store: Arc<dyn Store>) {
    for path in ["d/a", "d/b/.c/keep", "d/b/x", "mounted/keep", "mounted/y", "z"] {
        put(&*store, &format!("/memories/{path}"), path);
    }
    let before = tree(&*store, "/memories");
    let memory = memory(Arc::clone(&store), &["/memories/**/keep"], None);
    for (from, to, names) in [
        ("/memories/d", "/memories/e", "/memories/d/b/.c/keep"),
        ("/memories/d/b", "/memories/mounted/b", "/memories/d/b/.c/keep"),
        ("/memories/d/b/.c", "/memories/c", "/memories/d/b/.c/keep"),
        ("/memories/d/b/x", "/memories/d/keep", "/memories/d/keep"),
        ("/memories/z", "/memories/mounted/keep", "/memories/mounted/keep"),
        ("/memories/mounted/keep", "/memories/k", "/memories/mounted/keep"),
    ] {
        assert_eq!(refusal(memory.rename(from, to)), read_only(names), "{from}");
    }
    assert_eq!(refusal(memory.delete("/memories/d")), read_only("/memories/d/b/.c/keep"),);
    assert_eq!(tree(&*store, "/memories"), before);
    memory.rename("/memories/d/b/x", "/memories/mounted/x").unwrap();
    memory.delete("/memories/d/a").unwrap();
    // The developer has no such limit.
    memory.clear().unwrap();
    assert!(memory.view("/memories/d", None).is_err());
}
on_every_store!(write_patterns_refuse_a_command_as_a_whole);

#[test]
fn what_cannot_be_looked_into_is_not_moved_past_a_pattern() {
    let mut store = Seams::default();
    put(&store, "/memories/d/closed/secret", "s");
    store.closed = Some(at("/memories/d/closed"));
    let store = Arc::new(store) as Arc<dyn Store>;
    let patterns = ["/memories/*/*/secret"];
    let guarded = memory(Arc::clone(&store), &patterns, None);
    let sentence = "Error: Permission denied: the memory store does not allow this for \
                    /memories/d/closed";
    assert_eq!(refusal(guarded.delete("/memories/d")), sentence);
    assert_eq!(refusal(guarded.rename("/memories/d", "/memories/e")), sentence);
    // Where no pattern can forbid anything below, the store is not listed.
    memory(store, &[], Some(&["/memories/d"])).delete("/memories/d").unwrap();
}

#[test]
fn patterns_name_paths_of_the_whole_tree_and_of_no_store_in_it() {
    let (team, handbook) = (Arc::new(InProcess::new()), Arc::new(InProcess::new()));
    put(&*team, "/memories/plans/may.md", "may");
    put(&*handbook, "/memories/rules.md", "rules");
    let mounts = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/team"), team)
        .and_then(|mounts| {
            let handbook = ReadOnly::from(handbook as Arc<dyn Store>);
            mounts.mount(at("/memories/handbook"), Arc::new(handbook))
        })
        .unwrap();
    let writable = ["/memories/team", "/memories/handbook"];
    let memory = memory(Arc::new(mounts), &["/memories/team/plans"], Some(&writable));
    let plan = "/memories/team/plans/may.md";
    assert_eq!(refusal(memory.insert(plan, 0, "x")), read_only(plan));
    memory.create("/memories/team/notes.md", "n").unwrap();
    assert_eq!(
        refusal(memory.create("/memories/notes.md", "n")),
        "Error: /memories/notes.md is read-only: only /memories/team, /memories/handbook and what \
         is below can be changed."
    );
    // A read-only store stays read-only, whatever the patterns say.
    let rules = "/memories/handbook/rules.md";
    assert_eq!(refusal(memory.insert(rules, 0, "x")), read_only(rules));
    assert_eq!(
        refusal(memory.rename("/memories/team/notes.md", rules)),
        "Error: The destination /memories/handbook/rules.md already exists"
    );
}

/// A store that finds a file by its name in any case, as file systems of macOS and Windows do.
#[derive(Default)]
struct FoldsCase(InProcess);

fn folded(path: &MemoryPath) -> MemoryPath {
    MemoryPath::parse(&path.as_str().to_lowercase()).unwrap()
}

impl Store for FoldsCase {
    fn info(&self) -> StoreInfo {
        StoreInfo { folds_case: true, ..StoreInfo::default() }
    }

    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.0.read(&folded(path))
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.0.list(&folded(path))
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        on_existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.0.write(&folded(path), content, on_existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.0.update(&folded(path), edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.0.delete(&folded(path))
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.0.rename(&folded(from), &folded(to))
    }
}

#[test]
fn a_pattern_holds_in_any_case_where_the_store_folds_it() {
    let store = FoldsCase::default();
    for path in ["handbook/rules.md", "notes/a", "b"] {
        put(&store, &format!("/memories/{path}"), path);
    }
    let before = tree(&store, "/memories");
    let store: Arc<dyn Store> = Arc::new(store);
    let mounted = Mounts::new(Arc::new(InProcess::new()))
        .mount(at("/memories/m"), Arc::clone(&store))
        .unwrap();
    assert!(mounted.info().folds_case);
    assert!(ReadOnly::from(Arc::clone(&store)).info().folds_case);
    let memory = memory(Arc::clone(&store), &["/memories/Handbook/**"], None);
    for rules in ["/memories/handbook/rules.md", "/memories/HANDBOOK/Rules.md"] {
        assert_eq!(refusal(memory.insert(rules, 0, "x")), read_only(rules));
        assert_eq!(refusal(memory.create(rules, "x")), read_only(rules));
        assert_eq!(refusal(memory.delete(rules)), read_only(rules));
        assert_eq!(refusal(memory.rename("/memories/b", rules)), read_only(rules));
    }
    assert_eq!(refusal(memory.delete("/memories/HandBook")), read_only("/memories/HandBook"));
    assert_eq!(tree(&*store, "/memories"), before);
    memory.insert("/memories/Notes/A", 0, "x").unwrap();
}

fn write_patterns_of_what_is_below_protect_the_directory(store: Arc<dyn Store>) {
    put(&*store, "/memories/d/a", "a");
    let before = tree(&*store, "/memories");
    for pattern in ["/memories/d/**", "/memories//d/./**", "/memories/d"] {
        let memory = memory(Arc::clone(&store), &[pattern], None);
        let d = "/memories/d";
        assert_eq!(refusal(memory.delete(d)), read_only(d));
        assert_eq!(refusal(memory.rename(d, "/memories/e")), read_only(d));
        assert_eq!(refusal(memory.create(d, "x")), read_only(d));
        assert_eq!(refusal(memory.rename("/memories/z", d)), read_only(d));
    }
    assert_eq!(tree(&*store, "/memories"), before);
}
on_every_store!(write_patterns_of_what_is_below_protect_the_directory);
