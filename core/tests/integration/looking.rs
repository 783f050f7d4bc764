//! The interfaces that show a memory to a person: the watch, the search of the history, and the findings of the rules
//! for sensitive text.
#![cfg(feature = "sqlite")]
#![allow(clippy::panic, clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use memdir::history::HistoryErrorKind;
use memdir::policy::sensitive::SensitiveRule;
use memdir::store::{Context, InProcess, Layer, Mounts, Node, Splice, Store};
use memdir::{
    Cancellation, Change, Error, GrepQuery, Memory, MemoryOptions, MemoryPath, SharedWatch,
    StoreError,
};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

const SOON: Duration = Duration::from_secs(30);

fn options(set: impl FnOnce(&mut MemoryOptions)) -> MemoryOptions {
    let mut options = MemoryOptions::default();
    set(&mut options);
    options
}

fn told(changes: &[Change]) -> Vec<String> {
    changes.iter().map(|change| format!("{} {}", change.kind, change.path)).collect()
}

#[test]
fn what_others_change_is_told_on_each_store() {
    let place = tempfile::tempdir().unwrap();
    let addresses = [
        place.path().join("a").to_str().unwrap().to_owned(),
        format!("dir:{}", place.path().join("b").display()),
        format!("sqlite:{}", place.path().join("c.db").display()),
    ];
    for address in addresses {
        let open = || Memory::open(&address, MemoryOptions::default()).unwrap();
        let (watched, other) = (open(), open());
        other.create("/memories/old.md", "old").unwrap();
        let mut watch = watched.watch("/memories", None).unwrap();
        assert!(watch.changes(Duration::ZERO).unwrap().is_empty());

        // Without a memory, whose changes this process would be notified of.
        let store = other.store();
        store.write(&at("/memories/team/a.md"), b"one", memdir::OnExisting::Error).unwrap();
        assert_eq!(told(&watch.changes(SOON).unwrap()), ["written /memories/team/a.md"]);
        store.delete(&at("/memories/old.md")).unwrap();
        assert_eq!(told(&watch.changes(SOON).unwrap()), ["deleted /memories/old.md"]);
        other.rename("/memories/team", "/memories/group").unwrap();
        assert_eq!(
            told(&watch.changes(SOON).unwrap()),
            ["written /memories/group/a.md", "deleted /memories/team/a.md"]
        );
        assert!(watch.changes(Duration::ZERO).unwrap().is_empty());
    }
}

/// Counts the listings.
struct Listed(Arc<dyn Store>, AtomicUsize);

impl Layer for Listed {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.open_in(context, path, depth)
    }
}

/// A watch lists a store with a revision only when the revision has changed, whichever process changed it.
fn is_listed_only_when_it_has_changed(open: impl Fn() -> Arc<dyn Store>) {
    let listed = Arc::new(Listed(open(), AtomicUsize::new(0)));
    let memory = Memory::with_store(listed.clone(), MemoryOptions::default());
    let mut watch = memory.watch("/memories", None).unwrap();
    let mut look = || {
        let before = listed.1.load(Ordering::SeqCst);
        let changes = watch.changes(Duration::ZERO).unwrap();
        (told(&changes), listed.1.load(Ordering::SeqCst) - before)
    };
    // The connection that answers may change at first.
    look();
    for _ in 0..10 {
        assert_eq!(look(), (vec![], 0));
    }
    let other = open();
    for (number, store) in [&*other, &*listed as &dyn Store].into_iter().enumerate() {
        let path = format!("/memories/{number}");
        store.write(&at(&path), b"one", memdir::OnExisting::Error).unwrap();
        assert_eq!(look().0, [format!("written {path}")]);
        store.update(&at(&path), &mut |_| Some(Splice::between("one", "three"))).unwrap();
        assert_eq!(look().0, [format!("written {path}")]);
        store.rename(&at(&path), &at("/memories/new")).unwrap();
        assert_eq!(look().0, [format!("deleted {path}"), "written /memories/new".to_owned()]);
        store.clear().unwrap();
        assert_eq!(look().0, ["deleted /memories/new"]);
        look();
        assert_eq!(look(), (vec![], 0));
    }
    // A writer whose change is rolled back, and a reader.
    assert!(other.write(&at("/memories"), b"", memdir::OnExisting::Error).is_err());
    other.list(&at("/memories")).unwrap();
    look();
    assert_eq!(look(), (vec![], 0));
}

#[test]
fn a_store_with_a_revision_is_listed_only_when_it_has_changed() {
    let place = tempfile::tempdir().unwrap();
    let address = format!("sqlite:{}", place.path().join("a.db").display());
    let open = || memdir::store::open_store(&address, &MemoryOptions::default()).unwrap();
    is_listed_only_when_it_has_changed(open);
    is_listed_only_when_it_has_changed(|| {
        let mounted = format!("sqlite:{}", place.path().join("b.db").display());
        let mounted = memdir::store::open_store(&mounted, &MemoryOptions::default()).unwrap();
        Arc::new(Mounts::new(open()).mount(at("/memories/team"), mounted).unwrap())
    });
    // A directory has no revision, and neither has a tree with a directory in it.
    let directory = place.path().join("c");
    let directory =
        memdir::store::open_store(directory.to_str().unwrap(), &MemoryOptions::default()).unwrap();
    assert_eq!(directory.revision().unwrap(), None);
    let mounts = Mounts::new(open()).mount(at("/memories/local"), directory).unwrap();
    assert_eq!(mounts.revision().unwrap(), None);
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn a_namespace_of_postgresql_is_listed_only_when_it_has_changed() {
    let Some(server) = crate::common::postgres::server() else { return };
    let address = server.address("watched");
    let open = || memdir::store::open_store(&address, &MemoryOptions::default()).unwrap();
    is_listed_only_when_it_has_changed(open);
}

#[test]
fn what_this_process_changes_is_told_at_once_and_only_below_the_path() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    // It would not poll again by itself.
    let mut watch = memory.watch("/memories/team", Some(Duration::from_secs(3600))).unwrap();
    memory.create("/memories/a.md", "one").unwrap();
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::spawn(move || {
        sender.send(()).unwrap();
        watch.changes(SOON).unwrap()
    });
    receiver.recv().unwrap();
    memory.create("/memories/team/a.md", "one").unwrap();
    assert_eq!(told(&waiting.join().unwrap()), ["written /memories/team/a.md"]);
}

/// A store whose listing takes this long.
struct Slow(InProcess, AtomicUsize);

const SLOW: Duration = Duration::from_millis(10);

impl Layer for Slow {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn open_in(
        &self,
        context: &Context,
        path: &MemoryPath,
        depth: usize,
    ) -> Result<Node<'_>, StoreError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        thread::sleep(SLOW);
        self.0.open_in(context, path, depth)
    }
}

#[test]
fn a_large_memory_is_not_listed_all_the_time_however_much_this_process_changes() {
    let store = Arc::new(Slow(InProcess::new(), AtomicUsize::new(0)));
    let memory = Memory::with_store(store.clone(), MemoryOptions::default());
    let watch = Arc::new(SharedWatch::from(memory.watch("/memories", None).unwrap()));
    let before = store.1.load(Ordering::SeqCst);
    let begun = std::time::Instant::now();
    let (watching, (sender, told)) = (Arc::clone(&watch), mpsc::channel());
    let thread = thread::spawn(move || {
        while let Some(changes) = watching.changes(&Cancellation::never(), SOON).unwrap() {
            changes.into_iter().for_each(|change| sender.send(change.path).unwrap());
        }
    });
    for number in 100..200 {
        memory.write(&format!("/memories/{number}"), "one", None).unwrap();
        thread::sleep(SLOW / 5);
    }
    // Several events may arrive together, but none is lost.
    let last = at("/memories/199");
    while told.recv_timeout(SOON).unwrap() != last {}
    watch.close();
    thread.join().unwrap();
    // Polling takes at most a tenth of the time. The test counts the polls in the elapsed time,
    // whatever that was.
    let looks = u32::try_from(store.1.load(Ordering::SeqCst) - before).unwrap();
    assert!(looks.saturating_sub(2) * 5 * SLOW <= begun.elapsed(), "{looks}");
}

#[test]
fn a_watch_can_be_cancelled_and_goes_on_afterwards() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let mut watch = memory.watch("/memories", None).unwrap();
    memory.create("/memories/a.md", "one").unwrap();
    let cancellation = Cancellation::new();
    cancellation.cancel();
    let cancelled = watch.changes_unless(&cancellation, SOON);
    assert!(matches!(cancelled, Err(Error::Store(StoreError::Cancelled))));
    assert_eq!(told(&watch.changes(SOON).unwrap()), ["written /memories/a.md"]);
    assert!(memory.watch("/elsewhere", None).is_err());
}

#[test]
fn a_shared_watch_can_be_closed_while_another_thread_waits() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let every = Some(Duration::from_secs(3600));
    let watch = Arc::new(SharedWatch::from(memory.watch("/memories", every).unwrap()));
    assert!(!watch.is_due());
    memory.create("/memories/a.md", "one").unwrap();
    assert!(watch.is_due());
    assert_eq!(
        told(&watch.changes(&Cancellation::never(), Duration::ZERO).unwrap().unwrap()),
        ["written /memories/a.md"]
    );
    assert!(!watch.is_due());

    let shared = Arc::clone(&watch);
    let (sender, receiver) = mpsc::channel();
    let waiting = thread::spawn(move || {
        sender.send(()).unwrap();
        shared.changes(&Cancellation::never(), SOON).unwrap()
    });
    receiver.recv().unwrap();
    watch.close();
    assert_eq!(waiting.join().unwrap(), None);
    assert_eq!(watch.changes(&Cancellation::never(), SOON).unwrap(), None);
    assert!(watch.is_due());
    watch.close();
}

#[test]
fn the_history_is_searched_for_what_is_there_no_more() {
    let memory = Memory::open("memory:", options(|options| options.history = true)).unwrap();
    memory.create("/memories/tea.md", "green tea\nblack tea\nwater\n").unwrap();
    memory.str_replace("/memories/tea.md", "green tea\n", "").unwrap();
    memory.str_replace("/memories/tea.md", "water", "white tea").unwrap();
    memory.create("/memories/gone/teapot.md", "a pot\n").unwrap();
    memory.delete("/memories/gone").unwrap();
    memory.rename("/memories/tea.md", "/memories/drinks.md").unwrap();
    let found = |query: &GrepQuery, path: &str, limit| {
        let found = memory.grep_history(query, path, limit).unwrap();
        let shown = found.iter().map(|found| {
            (
                found.version.path.to_string(),
                found.version.operation.as_str(),
                found.line,
                found.text.clone(),
            )
        });
        shown.collect::<Vec<_>>()
    };
    let all = found(&GrepQuery::text("tea"), "/memories", 10);
    let version = |path: &str, operation, line, text: &str| {
        (path.to_owned(), operation, line, text.to_owned())
    };
    assert_eq!(
        all,
        [
            version("/memories/gone/teapot.md", "deleted", None, "teapot.md"),
            version("/memories/tea.md", "modified", None, "tea.md"),
            version("/memories/tea.md", "created", Some(1), "green tea"),
        ]
    );
    assert_eq!(found(&GrepQuery::text("tea"), "/memories", 2), all[..2]);
    assert_eq!(found(&GrepQuery::text("pot"), "/memories/gone", 9).len(), 2);
    assert_eq!(found(&GrepQuery::text("pot"), "/memories/drinks.md", 9), []);
    assert_eq!(found(&GrepQuery::regex("^gr").unwrap(), "/memories/drinks.md", 9).len(), 1);

    let version =
        memory.grep_history(&GrepQuery::text("green"), "/memories", 1).unwrap().remove(0).version;
    memory.redact(version.id, "gone for good").unwrap();
    assert_eq!(found(&GrepQuery::text("green"), "/memories", 9), []);

    let off = Memory::open("memory:", MemoryOptions::default()).unwrap();
    assert_eq!(
        off.grep_history(&GrepQuery::text("a"), "/memories", 1).unwrap_err().kind(),
        Some(HistoryErrorKind::Off)
    );
    assert_eq!(
        memory.grep_history(&GrepQuery::text("a"), "x", 1).unwrap_err().kind(),
        Some(HistoryErrorKind::Path)
    );
}

#[test]
fn sensitive_text_is_found_with_its_line_and_rule_and_not_shown() {
    let rules = SensitiveRule::all([("project", "Bluebird-[0-9]+")]).unwrap();
    let store = Arc::new(InProcess::new());
    let memory = Memory::with_store(store, options(|options| options.sensitive_rules = rules));
    memory
        .create("/memories/a.md", "one\nBluebird-7\n\nurl: postgres://app:t7Kq-9zLw2@db/app\n")
        .unwrap();
    memory.create("/memories/Bluebird-8/b.md", "nothing").unwrap();
    memory.create("/memories/c.md", "nothing").unwrap();
    let found = memory.find_sensitive("/memories", 10).unwrap();
    let shown = found.iter().map(|found| (found.path.as_str(), found.line, found.rule.as_str()));
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            ("/memories/Bluebird-8", None, "project"),
            ("/memories/a.md", Some(2), "project"),
            ("/memories/a.md", Some(4), "url-password"),
        ]
    );
    assert!(!format!("{found:?}").contains("t7Kq"));
    assert_eq!(memory.find_sensitive("/memories", 2).unwrap(), found[..2]);
    assert_eq!(memory.find_sensitive("/memories/a.md", 9).unwrap(), found[1..]);
    assert!(matches!(memory.find_sensitive("/memories/none", 9), Err(Error::Refused(_))));
}
