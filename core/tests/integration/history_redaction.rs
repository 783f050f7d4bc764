//! A redaction that fails or is killed in the middle: each version is whole or redacted, and the next call completes it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use memdir::history::{HistoryError, HistoryId, HistoryQuery, Operation, UndoOptions, Version};
use memdir::store::{Context, InProcess, Layer, Mounts, Mutation, walk_files};
use memdir::{GrepQuery, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

use crate::common::effort;
use crate::common::raw_bytes::parts_in;

/// No other content has eight consecutive bytes of it.
const SECRET: &str = "correct-horse-9-xK2vQ7pLw4ZtR8nYb";

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options
}

/// Creates a file whose first versions have the secret, and another one that had it and was deleted.
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

/// Each version, with its content or the reason why it has none.
fn told(memory: &Memory) -> Vec<(Version, Result<Vec<u8>, String>)> {
    let told = |version: Version| {
        let content = memory.read_version(version.id).map_err(|error| error.to_string());
        (version, content)
    };
    versions(memory).into_iter().map(told).collect()
}

/// Checks the statements that rewrite the history of a database, each of which the database refuses once.
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
            Err(error) => assert_eq!(error.kind(), None, "{error}"),
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

/// The last of these inserts the record of the redaction; each of the others changes a record with the secret.
#[cfg(feature = "sqlite")]
#[test]
fn a_redaction_in_sqlite_is_made_in_one_transaction() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.db");
    let run = |sql: &str| rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    // All but the fourth change: the secret is added, kept and removed in the others.
    let changed = [1, 2, 3, 5, 6];
    // A trigger is ignored. An index rejects a second row like the fourth.
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

/// The fault at one change of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It fails and does nothing.
    Fails,
    /// It is made, but the answer is lost.
    Lost,
    /// The process ends before it.
    EndsBefore,
    /// The process ends after it.
    EndsAfter,
}

const FAULTS: [Fault; 4] = [Fault::Fails, Fault::Lost, Fault::EndsBefore, Fault::EndsAfter];

/// Shared by all stores of a process.
struct Doing {
    /// The number of changes before the fault.
    left: AtomicUsize,
    fault: Fault,
    has_ended: AtomicBool,
    /// Called after each change.
    look: Box<dyn Fn() + Send + Sync>,
}

struct Faulty {
    inner: Arc<dyn Store>,
    doing: Arc<Doing>,
}

impl Layer for Faulty {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let failed = || StoreError::failed("a change", "the answer was lost");
        let doing = &self.doing;
        if doing.has_ended.load(Ordering::SeqCst) {
            return Err(failed());
        }
        let left = doing.left.fetch_sub(1, Ordering::SeqCst);
        if left == 0 && matches!(doing.fault, Fault::EndsBefore | Fault::EndsAfter) {
            doing.has_ended.store(true, Ordering::SeqCst);
        }
        if left == 0 && matches!(doing.fault, Fault::Fails | Fault::EndsBefore) {
            return Err(failed());
        }
        let made = self.inner.mutate(context, mutation);
        (doing.look)();
        if left == 0 { made.and_then(|_| Err(failed())) } else { made }
    }
}

/// Opens a memory as a process does. Each of its stores is wrapped, if there is a wrapper.
type Open = fn(&[Arc<dyn Store>], &dyn Fn(Arc<dyn Store>) -> Arc<dyn Store>) -> Arc<dyn Store>;

fn plain(
    stores: &[Arc<dyn Store>],
    wrap: &dyn Fn(Arc<dyn Store>) -> Arc<dyn Store>,
) -> Arc<dyn Store> {
    wrap(Arc::clone(&stores[0]))
}

/// Another store is mounted at the directory of the second file.
fn mounts(
    stores: &[Arc<dyn Store>],
    wrap: &dyn Fn(Arc<dyn Store>) -> Arc<dyn Store>,
) -> Arc<dyn Store> {
    let point = MemoryPath::root().join("mounted").unwrap();
    let [root, below] = [&stores[0], &stores[1]].map(|store| wrap(Arc::clone(store)));
    Arc::new(Mounts::new(root).mount(point, below).unwrap())
}

#[cfg(feature = "encryption")]
fn encrypted_mounts(
    stores: &[Arc<dyn Store>],
    wrap: &dyn Fn(Arc<dyn Store>) -> Arc<dyn Store>,
) -> Arc<dyn Store> {
    let key = memdir::EncryptionKey::from_bytes([7; 32]);
    // A store with entries, such as a mount point, cannot be encrypted later, so the store at the root comes first.
    drop(memdir::store::Encrypted::open(Arc::clone(&stores[0]), &key, false).unwrap());
    Arc::new(memdir::store::Encrypted::open(mounts(stores, wrap), &key, false).unwrap())
}

fn memory_of(store: Arc<dyn Store>) -> Memory {
    Memory::with_store(store, options())
}

/// The versions by their ids, with their contents; `None` for redacted ones.
fn contents(memory: &Memory) -> BTreeMap<HistoryId, Option<Vec<u8>>> {
    let versions = versions(memory).into_iter();
    let recorded = versions.filter(|version| version.operation != Operation::Redacted);
    let contents = recorded.map(|version| {
        let content = match memory.read_version(version.id) {
            Err(HistoryError::Redacted(reason)) => {
                assert_eq!(reason, "a password");
                assert_eq!(version.redacted.as_deref(), Some("a password"), "{version:?}");
                None
            }
            Err(HistoryError::NoContent(_)) => Some(Vec::new()),
            content => Some(content.unwrap()),
        };
        (version.id, content)
    });
    contents.collect()
}

/// Checks the versions after an unfinished redaction: all of its targets are redacted, or none. `Ok` says which.
fn is_whole(
    found: &BTreeMap<HistoryId, Option<Vec<u8>>>,
    before: &BTreeMap<HistoryId, Option<Vec<u8>>>,
    redacted: &BTreeSet<HistoryId>,
) -> Result<bool, String> {
    let gone: BTreeSet<HistoryId> =
        found.iter().filter(|(_, content)| content.is_none()).map(|(id, _)| *id).collect();
    let others = |versions: &BTreeMap<HistoryId, Option<Vec<u8>>>| {
        let others = versions.iter().filter(|(id, _)| !gone.contains(id));
        others.map(|(id, content)| (*id, content.clone())).collect::<Vec<_>>()
    };
    if others(found) != others(before) || found.len() != before.len() {
        return Err(format!("other versions changed: {found:?}"));
    }
    match gone.is_empty() {
        true => Ok(false),
        false if gone == *redacted => Ok(true),
        false => Err(format!("{gone:?} of {redacted:?} are redacted")),
    }
}

/// The hidden files of a store that contain a part of the secret, or the SHA-256 of a content with the secret.
fn hidden_remains(store: &dyn Store, digests: &[String]) -> Vec<String> {
    let mut paths = Vec::new();
    walk_files(store, &mut |entry| paths.push(entry.path)).unwrap();
    let mut found = Vec::new();
    for path in paths {
        let content = store.read(&path).unwrap();
        let text = String::from_utf8_lossy(&content);
        let parts = parts_in(&content, SECRET.as_bytes(), &[]);
        let digests = digests.iter().filter(|digest| text.contains(*digest));
        found.extend(
            parts.into_iter().chain(digests.cloned()).map(|left| format!("{path}: {left}")),
        );
    }
    found
}

/// The target of the redaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// The versions of a change, and all others with the same contents.
    Change,
    Text,
}

fn redact(memory: &Memory, by: By, change: HistoryId) -> Result<Option<HistoryId>, HistoryError> {
    match by {
        By::Change => memory.redact(change, "a password"),
        By::Text => {
            let query = GrepQuery::text(SECRET);
            memory.redact_text(&query, "a password", false).map(|redacted| redacted.change)
        }
    }
}

/// Creates files with the secret in both stores, each with a copy in the other store. Returns the change that created both.
fn leave_secrets(memory: &Memory) -> HistoryId {
    let paths = ["/memories/a.md", "/memories/mounted/b.md"];
    for path in paths {
        memory.create(path, &format!("one\n{SECRET}\ntwo\n")).unwrap();
        memory.insert(path, 0, &format!("{path}\n")).unwrap();
    }
    memory.clear().unwrap();
    let cleared = versions(memory)[0].change;
    let restored = memory.undo(cleared, UndoOptions::default()).unwrap().change.unwrap();
    for (from, to) in [(paths[0], "/memories/mounted/copy.md"), (paths[1], "/memories/copy.md")] {
        memory.create(to, &memory.read(from).unwrap()).unwrap();
        memory.str_replace(to, SECRET, "-").unwrap();
    }
    for path in paths {
        memory.str_replace(path, SECRET, "-").unwrap();
        memory.insert(path, 0, "before\n").unwrap();
    }
    memory.create("/memories/mounted/c.md", "nothing\n").unwrap();
    // Names that no file or directory has now.
    for directory in ["/memories", "/memories/mounted"] {
        let (named, plain) = (format!("{directory}/d/{SECRET}/1"), format!("{directory}/d/plain"));
        memory.create(&named, "named\n").unwrap();
        memory.rename(&named, &plain).unwrap();
        memory.delete(&format!("{directory}/d/{SECRET}")).unwrap();
        memory.insert(&plain, 0, "and more").unwrap();
    }
    restored
}

/// The number of versions with the secret in their paths.
fn named(memory: &Memory) -> usize {
    let has_secret = |path: &MemoryPath| path.as_str().contains(SECRET);
    let versions = versions(memory).into_iter();
    let named = versions.filter(|version| {
        version.operation != Operation::Redacted
            && (has_secret(&version.path) || version.old_path.as_ref().is_some_and(has_secret))
    });
    named.count()
}

/// A memory with secrets, before a redaction.
struct Scene {
    stores: [Arc<dyn Store>; 2],
    open: Open,
    /// The change whose versions are redacted.
    change: HistoryId,
    before: BTreeMap<HistoryId, Option<Vec<u8>>>,
    /// The versions that are redacted in the end.
    redacted: BTreeSet<HistoryId>,
    digests: Vec<String>,
    /// The number of versions with the secret in their names.
    named: usize,
}

impl Scene {
    fn new(open: Open, by: By) -> Self {
        Self::over([Arc::new(InProcess::new()), Arc::new(InProcess::new())], open, by)
    }

    fn over(stores: [Arc<dyn Store>; 2], open: Open, by: By) -> Self {
        let memory = memory_of(open(&stores, &|store| store));
        let change = leave_secrets(&memory);
        let before = contents(&memory);
        let has_secret = |id: &HistoryId| {
            let content = before[id].as_ref().unwrap();
            String::from_utf8_lossy(content).contains(SECRET)
        };
        let versions = versions(&memory);
        let with_secret: Vec<&Version> =
            versions.iter().filter(|version| has_secret(&version.id)).collect();
        let named = with_secret.iter().filter(|version| by == By::Text || version.change == change);
        let named: BTreeSet<String> = named.filter_map(|version| version.sha256.clone()).collect();
        let goes =
            with_secret.iter().filter(|version| named.contains(version.sha256.as_ref().unwrap()));
        let redacted: BTreeSet<HistoryId> = goes.map(|version| version.id).collect();
        assert!(redacted.len() > named.len(), "some versions have the same content");
        let digests = named.into_iter().collect();
        let named = self::named(&memory);
        Self { stores, open, change, before, redacted, digests, named }
    }

    /// A memory as another process opens it.
    fn fresh(&self) -> Memory {
        memory_of((self.open)(&self.stores, &|store| store))
    }

    /// The memory of a process with a fault at the change with this number, or without a fault.
    fn faulty(
        &self,
        fault: Fault,
        number: usize,
        look: impl Fn() + Send + Sync + 'static,
    ) -> (Memory, Arc<Doing>) {
        let doing = Arc::new(Doing {
            left: AtomicUsize::new(number),
            fault,
            has_ended: AtomicBool::new(false),
            look: Box::new(look),
        });
        let store = (self.open)(&self.stores, &|inner| {
            Arc::new(Faulty { inner, doing: Arc::clone(&doing) })
        });
        (memory_of(store), doing)
    }

    /// Whether a process sees the redaction; an error if it sees only a part of it.
    fn is_done(&self, memory: &Memory, by: By) -> Result<bool, String> {
        let is_done = is_whole(&contents(memory), &self.before, &self.redacted)?;
        let (named, expected) =
            (named(memory), if is_done && by == By::Text { 0 } else { self.named });
        if named == expected { Ok(is_done) } else { Err(format!("{named} names, {is_done}")) }
    }

    /// Checks that the redaction is complete, and no remains are left.
    fn is_redacted(&self, memory: &Memory, by: By, place: &str) {
        for memory in [memory, &self.fresh()] {
            assert_eq!(self.is_done(memory, by), Ok(true), "{place}");
        }
        let left = hidden_remains(&*(self.open)(&self.stores, &|store| store), &self.digests);
        // Another content with the secret stays if only one was redacted.
        let is_wrong = |left: &&String| {
            by == By::Text || self.digests.iter().any(|digest| left.contains(digest))
        };
        assert_eq!(left.iter().filter(is_wrong).collect::<Vec<_>>(), [""; 0], "{place}");
        let mut problems = Vec::new();
        memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        assert_eq!(problems, [""; 0], "{place}");
    }
}

/// Interrupts a redaction at each of its changes. `is_one`: there is one store, so readers see all of the redaction or
/// nothing. One fault in `one_in` is tried.
fn interrupts(open: Open, by: By, is_one: bool, one_in: usize) {
    // One reader has read everything before, the other one is new each time.
    let scene = Arc::new(Scene::new(open, by));
    let reader = scene.fresh();
    contents(&reader);
    let look = {
        let scene = Arc::clone(&scene);
        move || {
            for reader in [&reader, &scene.fresh()] {
                let done = scene.is_done(reader, by);
                assert!(done.is_ok() || !is_one, "{done:?}");
            }
        }
    };
    let (memory, doing) = scene.faulty(Fault::Fails, usize::MAX, look);
    redact(&memory, by, scene.change).unwrap().unwrap();
    scene.is_redacted(&memory, by, "without a fault");
    let changes = usize::MAX - doing.left.load(Ordering::SeqCst);
    assert!(changes > 8, "{changes}");

    for (turn, fault) in FAULTS.into_iter().enumerate() {
        for number in (0..changes).filter(|number| effort::is_turn(turn + number, one_in)) {
            let place = format!("{fault:?} at change {number} of {changes}");
            let scene = Scene::new(open, by);
            let (memory, doing) = scene.faulty(fault, number, || {});
            let done = redact(&memory, by, scene.change);
            assert!(done.is_err(), "{place}: {done:?}");
            assert!(doing.left.load(Ordering::SeqCst) >= number, "{place}: it came");
            let found = contents(&scene.fresh());
            for (id, content) in &found {
                let is_gone = content.is_none() && scene.redacted.contains(id);
                assert!(is_gone || *content == scene.before[id], "{place}: {id}");
            }
            if is_one {
                scene.is_done(&scene.fresh(), by).unwrap();
            }
            // Another process comes next and completes it. So does a trim, if readers see the redaction already.
            let next = scene.fresh();
            if is_one && scene.is_done(&next, by) == Ok(true) {
                next.trim_history().unwrap();
                scene.is_redacted(&next, by, &format!("{place}, trimmed"));
            }
            redact(&next, by, scene.change).unwrap_or_else(|error| panic!("{place}: {error}"));
            scene.is_redacted(&next, by, &place);
        }
    }
}

#[test]
fn a_redaction_in_a_plain_store_is_finished_by_the_next() {
    interrupts(plain, By::Change, true, 8);
    interrupts(plain, By::Text, true, 8);
}

#[cfg(feature = "encryption")]
#[test]
fn a_redaction_in_an_encrypted_store_over_mounts_is_finished_by_the_next() {
    interrupts(encrypted_mounts, By::Change, true, 16);
    interrupts(encrypted_mounts, By::Text, true, 16);
}

/// Each of the stores separately.
#[test]
fn a_redaction_in_mounted_stores_is_finished_by_the_next() {
    interrupts(mounts, By::Change, false, 8);
    interrupts(mounts, By::Text, false, 8);
}

#[test]
fn several_processes_may_finish_a_redaction_at_once() {
    const PROCESSES: usize = 4;
    let mut finished = 0;
    for number in 0..40 {
        let scene = Scene::new(plain, By::Text);
        let (memory, _) = scene.faulty(Fault::EndsAfter, number, || {});
        if redact(&memory, By::Text, scene.change).is_ok() {
            break;
        }
        std::thread::scope(|threads| {
            for _ in 0..PROCESSES {
                threads.spawn(|| redact(&scene.fresh(), By::Text, scene.change).unwrap());
            }
        });
        // The processes that found it unfinished wrote one record of it.
        if scene.is_done(&scene.fresh(), By::Text) == Ok(true) {
            finished += 1;
        }
        let place = format!("after change {number}");
        scene.is_redacted(&scene.fresh(), By::Text, &place);
        let versions = versions(&scene.fresh()).into_iter();
        let ids: Vec<HistoryId> = versions.map(|version| version.id).collect();
        let unique: BTreeSet<&HistoryId> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{place}");
    }
    assert!(finished > 8, "{finished}");
}

/// The records in the hidden files of a store.
fn record_files(store: &dyn Store) -> Vec<MemoryPath> {
    let hidden = MemoryPath::parse("/memories/.memdir-history").unwrap();
    let mut paths = Vec::new();
    walk_files(store, &mut |entry| paths.push(entry.path)).unwrap();
    paths.retain(|path| {
        let is_record = path.name().is_some_and(|name| name.contains('-'));
        hidden.is_above(path) && is_record
    });
    paths.sort();
    paths
}

/// Damages a record while a redaction is open, and then redacts and trims. One interruption in `one_in` is tried.
fn goes_on_past_a_damaged_record(open: Open, one_in: usize) {
    let mut open_ones = 0;
    for number in 0.. {
        let scene = Scene::new(open, By::Text);
        let (memory, _) = scene.faulty(Fault::EndsAfter, number, || {});
        if redact(&memory, By::Text, scene.change).is_ok() {
            break;
        }
        if !effort::is_turn(number, one_in) {
            continue;
        }
        let hidden = MemoryPath::parse("/memories/.memdir-history").unwrap();
        let file = hidden.join("redaction").unwrap();
        let state = || {
            let read = (scene.open)(&scene.stores, &|store| store).read(&file);
            read.map(|bytes| String::from_utf8_lossy(&bytes).chars().take(12).collect::<String>())
        };
        if !state().is_ok_and(|state| state.starts_with("{\"open\"")) {
            continue;
        }
        open_ones += 1;
        // The last one is the note, if it was written.
        let records = record_files(&*scene.stores[0]);
        let path = &records[number % records.len()];
        let mut bytes = scene.stores[0].read(path).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        scene.stores[0].write(path, &bytes, OnExisting::Overwrite).unwrap();

        let place = format!("{path} after change {number}");
        let next = scene.fresh();
        next.trim_history().unwrap_or_else(|error| panic!("{place}: {error}"));
        assert!(state().unwrap().starts_with("{\"finished\""), "{place}");
        assert!(scene.stores[0].read(path).is_err_and(|error| !error.is_failure()), "{place}");
        redact(&next, By::Text, scene.change).unwrap_or_else(|error| panic!("{place}: {error}"));
        next.create("/memories/new", "another secret\n").unwrap();
        next.write("/memories/new", "none\n", None).unwrap();
        let another = next.redact_text(&GrepQuery::text("another secret"), "", false).unwrap();
        assert!(another.change.is_some(), "{place}");
        next.trim_history().unwrap();
        // The readable versions are unchanged.
        for (id, content) in versions(&next)
            .iter()
            .filter_map(|version| Some((version.id, next.read_version(version.id).ok()?)))
        {
            let before = scene.before.get(&id);
            assert!(before.is_none_or(|before| before.as_ref() == Some(&content)), "{place}: {id}");
            assert!(!String::from_utf8_lossy(&content).contains(SECRET), "{place}: {id}");
        }
        let left = hidden_remains(&*(scene.open)(&scene.stores, &|store| store), &scene.digests);
        assert_eq!(left, [""; 0], "{place}");
    }
    assert!(open_ones > 1, "{open_ones}");
}

#[test]
fn a_record_that_is_damaged_during_a_redaction_stops_nothing() {
    goes_on_past_a_damaged_record(plain, 1);
}

#[cfg(feature = "encryption")]
#[test]
fn a_record_that_is_damaged_during_a_redaction_stops_nothing_in_an_encrypted_store() {
    goes_on_past_a_damaged_record(encrypted_mounts, 4);
}

/// A store in which one file is temporarily unreadable.
struct OutOfReach {
    inner: Arc<dyn Store>,
    file: MemoryPath,
    is_back: AtomicBool,
}

impl Layer for OutOfReach {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn read_in(&self, context: &Context, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        if *path == self.file && !self.is_back.load(Ordering::SeqCst) {
            return Err(StoreError::failed("reading", "the line is dead").unchanged());
        }
        self.inner.read_in(context, path)
    }
}

#[test]
fn a_record_that_is_out_of_reach_during_a_redaction_is_not_lost() {
    let mut waited = 0;
    for number in 0.. {
        let scene = Scene::new(plain, By::Text);
        let (memory, _) = scene.faulty(Fault::EndsAfter, number, || {});
        if redact(&memory, By::Text, scene.change).is_ok() {
            break;
        }
        if !effort::is_turn(number, 4) {
            continue;
        }
        let is_open = scene.is_done(&scene.fresh(), By::Text) == Ok(true);
        for file in record_files(&*scene.stores[0]) {
            let inner = Arc::clone(&scene.stores[0]);
            let is_back = AtomicBool::new(false);
            let store = Arc::new(OutOfReach { inner, file, is_back });
            let next = memory_of(Arc::clone(&store) as Arc<dyn Store>);
            if is_open && next.trim_history().is_err() {
                waited += 1;
            }
            assert!(scene.stores[0].read(&store.file).is_ok());
            store.is_back.store(true, Ordering::SeqCst);
        }
        redact(&scene.fresh(), By::Text, scene.change).unwrap();
        scene.is_redacted(&scene.fresh(), By::Text, &format!("change {number}"));
    }
    assert!(waited > 1, "{waited}");
}

/// The store as an earlier build saw it, which kept the records of an encrypted store in the store itself.
#[cfg(all(feature = "encryption", feature = "sqlite"))]
struct Earlier(Arc<dyn Store>);

#[cfg(all(feature = "encryption", feature = "sqlite"))]
impl Layer for Earlier {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }

    fn sealing(&self) -> Option<&dyn memdir::store::Sealing> {
        None
    }
}

#[cfg(all(feature = "encryption", feature = "sqlite"))]
#[test]
fn a_redaction_that_an_earlier_build_did_not_finish_is_finished_when_its_records_are_moved() {
    fn earlier(
        stores: &[Arc<dyn Store>],
        wrap: &dyn Fn(Arc<dyn Store>) -> Arc<dyn Store>,
    ) -> Arc<dyn Store> {
        wrap(Arc::new(Earlier(Arc::clone(&stores[0]))))
    }
    let place = tempfile::tempdir().unwrap();
    let mut numbers = 0;
    for number in (0..).filter(|number| effort::is_turn(*number, 3)) {
        let database = format!("sqlite:{}/{number}.db", place.path().display());
        let mut with_key = options();
        with_key.durability = memdir::Durability::Relaxed;
        with_key.encryption_key = Some(memdir::EncryptionKey::from_bytes([7; 32]));
        let open = || memdir::open_store(&database, &with_key).unwrap();
        let scene = Scene::over([open(), Arc::new(InProcess::new())], earlier, By::Text);
        let (memory, _) = scene.faulty(Fault::EndsAfter, number, || {});
        let is_over = redact(&memory, By::Text, scene.change).is_ok();
        let whole = scene.is_done(&scene.fresh(), By::Text).unwrap();
        let moved = memory_of(open());
        assert_eq!(scene.is_done(&moved, By::Text), Ok(whole), "after change {number}");
        assert!(open().list(&MemoryPath::root().join(".memdir-history").unwrap()).is_err());
        redact(&moved, By::Text, scene.change).unwrap();
        assert_eq!(scene.is_done(&memory_of(open()), By::Text), Ok(true), "after change {number}");
        numbers += 1;
        if is_over {
            break;
        }
    }
    assert!(numbers > 3, "{numbers}");
}
