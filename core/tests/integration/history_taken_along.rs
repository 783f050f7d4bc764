//! A directory that is deleted or moved while another process writes into it: the history records the outcome for those
//! files.
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError, mpsc};
use std::time::Duration;

use crate::common::effort;
use memdir::history::{HistoryQuery, UndoOptions, Version};
use memdir::store::{Context, Entry, InProcess, Layer, Mutation};
use memdir::{Memory, MemoryOptions, Store, StoreError};

fn process(store: Arc<dyn Store>, actor: &str) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.actor = Some(actor.to_owned());
    Memory::with_store(store, options)
}

/// Runs once before a directory is deleted or moved, after the record of that was written.
type Between = Box<dyn FnOnce() + Send>;

struct Interrupted {
    inner: Arc<dyn Store>,
    between: Mutex<Option<Between>>,
}

impl Layer for Interrupted {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_of_a_directory =
            matches!(mutation, Mutation::Delete { .. } | Mutation::Rename { .. } | Mutation::Clear);
        let mut between = self.between.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(between) = between.take_if(|_| is_of_a_directory) {
            between();
        }
        drop(between);
        self.inner.mutate(context, mutation)
    }
}

fn versions(memory: &Memory, path: Option<&str>) -> Vec<Version> {
    let mut query = HistoryQuery::default();
    query.path = path.map(str::to_owned);
    memory.history(&query).unwrap()
}

/// Checks that the files and the history's current files are the same, with the same contents.
fn agrees(memory: &Memory) {
    let mut files = BTreeSet::new();
    let mut listed = |entry: Entry| {
        if entry.is_file() {
            files.insert(entry.path.to_string());
        }
    };
    memory.store().files(&mut listed).unwrap();
    let all = versions(memory, None);
    let current: Vec<&Version> = all.iter().filter(|version| version.is_current).collect();
    let paths: BTreeSet<String> = current.iter().map(|version| version.path.to_string()).collect();
    assert_eq!(paths, files);
    assert_eq!(current.len(), files.len(), "one version of each file is current");
    for version in current {
        let content = memory.read_version(version.id).unwrap();
        assert_eq!(memory.store().read(&version.path).unwrap(), content, "{version:?}");
    }
}

/// `change` changes the directory `/memories/d`, and `meanwhile` runs just before the store executes it.
fn interrupted(
    store: &Arc<dyn Store>,
    meanwhile: impl Fn(&Memory) + Send + Sync + 'static,
    change: impl Fn(&Memory),
) -> Memory {
    let other = process(Arc::clone(store), "writer");
    other.create("/memories/d/old.md", "old\n").unwrap();
    other.create("/memories/other.md", "other\n").unwrap();
    let between: Between = Box::new(move || meanwhile(&other));
    let store = Interrupted { inner: Arc::clone(store), between: Mutex::new(Some(between)) };
    let memory = process(Arc::new(store), "mover");
    change(&memory);
    memory
}

fn edit(memory: &Memory) {
    memory.insert("/memories/d/old.md", 0, "edited").unwrap();
}

fn add(memory: &Memory) {
    memory.create("/memories/d/new.md", "new\n").unwrap();
    memory.create("/memories/d/deep/er.md", "deeper\n").unwrap();
}

/// The outcome is certain, and can be undone as one change.
fn on_stores_that_tell(check: fn(Arc<dyn Store>)) {
    use crate::common::stores;
    stores::sqlite(check);
    #[cfg(any(unix, windows))]
    {
        stores::local_directory(check);
        stores::encrypted_directory(check);
    }
    #[cfg(unix)]
    stores::postgres(check);
}

#[test]
fn a_new_file_goes_with_its_directory_and_comes_back_with_it() {
    on_stores_that_tell(|store| {
        let memory = interrupted(&store, add, |memory| {
            memory.delete("/memories/d").unwrap();
        });
        agrees(&memory);
        let gone = &versions(&memory, Some("/memories/d/new.md"))[0];
        assert_eq!((gone.operation.as_str(), gone.actor.as_deref()), ("deleted", Some("mover")));
        let undone = memory.undo(gone.change, UndoOptions::default()).unwrap();
        assert_eq!(undone.files.len(), 3);
        assert_eq!(memory.read("/memories/d/deep/er.md").unwrap(), "deeper\n");
        agrees(&memory);
    });
}

#[test]
fn a_new_file_moves_with_its_directory() {
    on_stores_that_tell(|store| {
        let memory = interrupted(&store, add, |memory| {
            memory.rename("/memories/d", "/memories/e").unwrap();
        });
        agrees(&memory);
        let moved = versions(&memory, Some("/memories/e/deep/er.md"));
        let operations: Vec<&str> =
            moved.iter().map(|version| version.operation.as_str()).collect();
        assert_eq!(operations, ["renamed", "created"]);
        memory.undo(moved[0].change, UndoOptions::default()).unwrap();
        assert_eq!(memory.read("/memories/d/deep/er.md").unwrap(), "deeper\n");
        agrees(&memory);
    });
}

#[test]
fn a_new_file_goes_with_everything() {
    on_stores_that_tell(|store| {
        let memory = interrupted(&store, add, |memory| drop(memory.clear().unwrap()));
        agrees(&memory);
        assert_eq!(versions(&memory, None).iter().filter(|version| version.is_current).count(), 0);
    });
}

#[test]
fn a_new_file_goes_with_a_directory_that_was_empty() {
    on_stores_that_tell(|store| {
        let add = |memory: &Memory| {
            memory.delete("/memories/d/old.md").unwrap();
            add(memory);
        };
        let memory = interrupted(&store, add, |memory| {
            memory.delete("/memories/d").unwrap();
        });
        agrees(&memory);
    });
}

/// Makes no change, as if the process had ended after the record.
struct Ended(Arc<dyn Store>);

impl Layer for Ended {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn mutate(&self, _: &Context, _: Mutation<'_>) -> Result<bool, StoreError> {
        Err(StoreError::failed("a change", "the process has ended"))
    }
}

/// A process ended before it wrote into the directory, which is empty.
fn in_doubt(store: Arc<dyn Store>, change: fn(&Memory)) {
    let writer = process(Arc::clone(&store), "writer");
    writer.create("/memories/d/a.md", "a\n").unwrap();
    writer.delete("/memories/d/a.md").unwrap();
    let ended = process(Arc::new(Ended(Arc::clone(&store))), "ended");
    ended.create("/memories/d/b.md", "b\n").unwrap_err();
    let memory = process(store, "mover");
    change(&memory);
    agrees(&memory);
}

#[test]
fn an_empty_directory_is_moved_and_deleted_where_a_process_ended_that_wrote_into_it() {
    // A process that locks the journal while it has it open waits for ever.
    let (send, ended) = mpsc::channel();
    std::thread::spawn(move || {
        on_stores_that_tell(|store| {
            in_doubt(store, |memory| drop(memory.rename("/memories/d", "/memories/e").unwrap()));
        });
        on_stores_that_tell(|store| {
            in_doubt(store, |memory| drop(memory.delete("/memories/d").unwrap()));
        });
        send.send(()).unwrap();
    });
    ended.recv_timeout(Duration::from_secs(300)).unwrap();
}

/// A store of hidden records, in which a record stays whose change was not made.
struct LeavesRecord {
    inner: InProcess,
    /// Whether the answer to the append is lost. Otherwise the edit fails, and then the removal of the record.
    loses_answer: bool,
    is_broken: AtomicBool,
    has_appended: AtomicBool,
}

impl Layer for LeavesRecord {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let lost = || StoreError::failed("a change", "the answer was lost");
        let is_broken = self.is_broken.load(Ordering::Relaxed);
        let has_appended = is_broken && self.has_appended.load(Ordering::Relaxed);
        match mutation {
            Mutation::WriteUnique { .. } if is_broken => {
                self.has_appended.store(true, Ordering::Relaxed);
                let done = self.inner.mutate(context, mutation);
                if self.loses_answer { Err(lost()) } else { done }
            }
            // The read before the append of the record is an update, too.
            Mutation::Update { .. } if has_appended => Err(lost().unchanged()),
            Mutation::Delete { .. } if has_appended => Err(lost()),
            _ => self.inner.mutate(context, mutation),
        }
    }
}

#[test]
fn a_record_that_stays_without_its_change_is_decided_when_its_directory_moves() {
    for loses_answer in [true, false] {
        let store = Arc::new(LeavesRecord {
            inner: InProcess::new(),
            loses_answer,
            is_broken: AtomicBool::new(false),
            has_appended: AtomicBool::new(false),
        });
        let memory = process(Arc::clone(&store) as Arc<dyn Store>, "one");
        memory.create("/memories/d/a.md", "a\n").unwrap();
        store.is_broken.store(true, Ordering::Relaxed);
        memory.insert("/memories/d/a.md", 0, "b\n").unwrap_err();
        assert!(store.has_appended.load(Ordering::Relaxed));
        store.is_broken.store(false, Ordering::Relaxed);
        // By the process that left the record.
        memory.rename("/memories/d", "/memories/e").unwrap();
        let later = process(store, "two");
        agrees(&later);
        let versions = later.history(&HistoryQuery::default()).unwrap();
        assert_eq!(versions.len(), 2, "{versions:#?}");
    }
}

#[test]
fn an_edit_goes_with_the_directory_of_its_file() {
    on_stores_that_tell(|store| {
        let memory = interrupted(&store, edit, |memory| {
            memory.delete("/memories/d").unwrap();
        });
        agrees(&memory);
        let gone = &versions(&memory, Some("/memories/d/old.md"))[0];
        assert_eq!(gone.operation.as_str(), "deleted");
        memory.undo(gone.change, UndoOptions::default()).unwrap();
        // A database has the edit before the deletion, whose record was made from the content before it.
        if memory.store().notes().is_none() {
            assert_eq!(memory.read("/memories/d/old.md").unwrap(), "edited\nold\n");
        }
        agrees(&memory);
    });
    on_stores_that_tell(|store| {
        let memory = interrupted(&store, edit, |memory| {
            memory.rename("/memories/d", "/memories/e").unwrap();
        });
        agrees(&memory);
        assert_eq!(memory.read("/memories/e/old.md").unwrap(), "edited\nold\n");
    });
}

#[test]
fn what_is_written_again_after_the_deletion_stays() {
    on_stores_that_tell(|store| {
        let later = process(Arc::clone(&store), "later");
        let memory = interrupted(&store, add, |memory| {
            memory.delete("/memories/d").unwrap();
        });
        later.create("/memories/d/new.md", "newer\n").unwrap();
        agrees(&memory);
        assert_eq!(memory.read("/memories/d/new.md").unwrap(), "newer\n");
    });
}

#[test]
fn a_rename_onto_a_path_where_another_program_deleted_the_file_ends_that_file() {
    on_stores_that_tell(|store| {
        let memory = process(Arc::clone(&store), "one");
        memory.create("/memories/a.md", "a\n").unwrap();
        memory.create("/memories/b.md", "b\n").unwrap();
        // Another program, without a history.
        Memory::with_store(store, MemoryOptions::default()).delete("/memories/b.md").unwrap();
        memory.rename("/memories/a.md", "/memories/b.md").unwrap();
        agrees(&memory);
        let operations: Vec<String> = versions(&memory, None)
            .iter()
            .map(|version| format!("{} {}", version.operation.as_str(), version.path))
            .collect();
        let expected = [
            "renamed /memories/b.md",
            "external /memories/b.md",
            "created /memories/b.md",
            "created /memories/a.md",
        ];
        assert_eq!(operations, expected);
    });
}

fn two_at_once(store: Arc<dyn Store>, change: impl Fn(&Memory) + Sync) {
    const ROUNDS: usize = 6;
    for _ in 0..effort::times(ROUNDS) {
        let [writer, mover] = ["writer", "mover"].map(|actor| process(Arc::clone(&store), actor));
        writer.clear().unwrap();
        for number in 0..10 {
            writer.create(&format!("/memories/d/{number}.md"), "x\n").unwrap();
        }
        let turn = Barrier::new(2);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                turn.wait();
                for number in 0..15 {
                    let _ = writer.create(&format!("/memories/d/n{number}.md"), "new\n");
                }
            });
            turn.wait();
            change(&mover);
        });
        agrees(&process(Arc::clone(&store), "later"));
    }
}

#[test]
fn creations_beside_a_deletion_are_there_or_deleted() {
    on_stores_that_tell(|store| {
        two_at_once(store, |memory| {
            memory.delete("/memories/d").unwrap();
        });
    });
}

#[test]
fn creations_beside_a_rename_are_at_one_place() {
    on_stores_that_tell(|store| {
        two_at_once(store, |memory| {
            memory.rename("/memories/d", "/memories/e").unwrap();
        });
    });
}
