//! Random work on two to four memories that are synced with each other, with faults, compared with a model that knows nothing of syncs.
//!
//! Every line that an agent writes is unique. The model only remembers which lines were written, and which of them an agent has removed again.
//! At the end all memories are equal, and every line that no agent removed is there.
#![cfg(all(unix, feature = "sqlite", feature = "encryption"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use crate::common::approving::SixMethods;
use crate::common::effort::{seed, times};
use crate::common::faulty_store::{Fault, FaultyStore, When, answer_lost};
use crate::common::store_helpers::{at, key};
use crate::common::{clouds, postgres};
use crate::sync::{files, options, try_sync};
use memdir::store::{Encrypted, InProcess};
use memdir::sync::{SyncReason, SyncSide};
use memdir::{
    Command, Durability, HookCall, HookDecision, HookError, Memory, MemoryHooks, MemoryOptions,
    MemoryPath, OnConflict, Store, open_store,
};

/// A generator of numbers that are always the same for a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        usize::try_from(high).unwrap() % bound
    }

    fn one_of<'c, T>(&mut self, choices: &'c [T]) -> &'c T {
        &choices[self.below(choices.len())]
    }
}

/// Deletes the directories below this one that hold no file. Returns whether this one holds none.
fn delete_empty_directories(store: &dyn Store, directory: &MemoryPath) -> bool {
    let mut is_empty = true;
    for entry in store.list(directory).unwrap() {
        if !entry.is_file() && delete_empty_directories(store, &entry.path) {
            store.delete(&entry.path).unwrap();
        } else {
            is_empty = false;
        }
    }
    is_empty
}

const SIX_METHODS: usize = 4;

/// A kind of store for a replica, by number.
fn open(kind: usize, place: &Path) -> Arc<dyn Store> {
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    let open = |address: &str| open_store(address, &options).unwrap();
    let address = match kind {
        0 => "memory:".to_owned(),
        1 => place.to_str().unwrap().to_owned(),
        2 => format!("sqlite:{}.db", place.display()),
        3 => {
            let encrypted = Encrypted::open(Arc::new(InProcess::new()), &key(7), true);
            return Arc::new(encrypted.unwrap());
        }
        SIX_METHODS => return Arc::new(SixMethods::default()),
        5 => postgres::server().map_or_else(|| "memory:".to_owned(), postgres::Server::fresh),
        _ => clouds::s3().map_or_else(|| "memory:".to_owned(), clouds::Cloud::fresh),
    };
    open(&address)
}

const PATHS: [&str; 9] = [
    "/memories/a.md",
    "/memories/A.md",
    "/memories/b.md",
    "/memories/dir/a.md",
    "/memories/dir/b.md",
    "/memories/dir/sub/c.md",
    "/memories/other/a.md",
    "/memories/dir",
    "/memories/.hidden",
];

/// Which lines were written, and which an agent has removed from some file.
#[derive(Default)]
struct Model {
    next: u32,
    written: BTreeSet<String>,
    removed: BTreeSet<String>,
}

/// How often each line is in the files: a conflict copy has lines of its original.
fn lines(files: &BTreeMap<String, String>) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    for line in files.values().flat_map(|text| text.lines()) {
        *lines.entry(line.to_owned()).or_default() += 1;
    }
    lines
}

/// The lines of both texts, each of them once.
fn all_lines(a: &str, b: &str) -> String {
    let known: Vec<&str> = a.lines().collect();
    let further = b.lines().filter(|line| !known.contains(line));
    known.iter().copied().chain(further).map(|line| format!("{line}\n")).collect()
}

/// A function that merges by lines. While it merges the first file, agents insert a line in both memories.
fn merged_at_work(
    agents: [Memory; 2],
    line: String,
    inserted: Arc<Mutex<BTreeSet<String>>>,
) -> OnConflict {
    let has_begun = AtomicBool::new(false);
    OnConflict::merge(move |file| {
        if !has_begun.swap(true, SeqCst) {
            for (agent, name) in agents.iter().zip(["a", "b"]) {
                let line = format!("{line}, in {name}");
                if agent.insert(file.path.as_str(), 0, &format!("{line}\n")).is_ok() {
                    inserted.lock().unwrap().insert(line);
                }
            }
        }
        Ok(Some(all_lines(&file.a, &file.b)))
    })
}

/// Hooks that deny some changes, look at some, and edit some files meanwhile.
struct Reviewer {
    random: Mutex<Random>,
    agent: Memory,
    line: String,
    reviews: AtomicUsize,
    inserted: Arc<Mutex<BTreeSet<String>>>,
}

impl MemoryHooks for Reviewer {
    fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let decision = self.random.lock().unwrap().below(6);
        match (decision, command) {
            (0, _) => return Ok(HookDecision::Deny("not now".to_owned())),
            (1 | 2, _) => drop(call.diff()?),
            (3, Command::Create { path, .. } | Command::Delete { path }) => {
                let number = self.reviews.fetch_add(1, SeqCst);
                let line = format!("{}, review {number}", self.line);
                if self.agent.insert(path, 0, &format!("{line}\n")).is_ok() {
                    self.inserted.lock().unwrap().insert(line);
                }
            }
            _ => {}
        }
        Ok(HookDecision::Allow)
    }
}

impl Model {
    fn line(&mut self, number: usize) -> String {
        self.next += 1;
        let line = format!("line {} of {number}", self.next);
        line
    }

    /// Lets an agent do something in a memory.
    fn act(&mut self, random: &mut Random, memory: &Memory, number: usize) {
        let before = files(memory);
        let existing: Vec<&String> = before.keys().collect();
        let (path, line) = (*random.one_of(&PATHS), self.line(number));
        let done = match random.below(10) {
            0..=2 => memory.create(path, &format!("{line}\n")).is_ok(),
            3..=5 if !existing.is_empty() => {
                let path = *random.one_of(&existing);
                let count = before[path].lines().count();
                let at = i64::try_from(random.below(count + 1)).unwrap();
                memory.insert(path, at, &format!("{line}\n")).is_ok()
            }
            6 | 7 if !existing.is_empty() => {
                let path = *random.one_of(&existing);
                let old: Vec<&str> = before[path].lines().collect();
                !old.is_empty() && {
                    let old = *random.one_of(&old);
                    memory.str_replace(path, &format!("{old}\n"), &format!("{line}\n")).is_ok()
                }
            }
            8 if !existing.is_empty() => {
                let path = *random.one_of(&existing);
                memory.delete(path).is_ok()
            }
            9 if !existing.is_empty() => {
                let from = *random.one_of(&existing);
                memory.rename(from, path).is_ok()
            }
            _ => false,
        };
        if done {
            let (before, after) = (lines(&before), lines(&files(memory)));
            let count = |lines: &BTreeMap<String, usize>, line: &String| {
                lines.get(line).copied().unwrap_or(0)
            };
            self.written.extend(after.keys().filter(|line| count(&before, line) == 0).cloned());
            self.removed
                .extend(before.keys().filter(|line| count(&after, line) < before[*line]).cloned());
        }
    }
}

/// One run: memories of these kinds, this many steps.
fn run(seed: u64, kinds: &[usize], steps: usize) {
    let place = tempfile::tempdir().unwrap();
    let stores: Vec<Arc<dyn Store>> = kinds
        .iter()
        .enumerate()
        .map(|(number, kind)| open(*kind, &place.path().join(number.to_string())))
        .collect();
    // A third of them have a history, which knows a file that was renamed and edited.
    let on = |number: usize, store: &Arc<dyn Store>| {
        let mut options = MemoryOptions::default();
        options.history = (number as u64 + seed).is_multiple_of(3);
        Memory::with_store(Arc::clone(store), options)
    };
    let memories: Vec<Memory> =
        stores.iter().enumerate().map(|(number, store)| on(number, store)).collect();
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (mut model, mut options) = (Model::default(), options());
    // A deletion may be a large part of so few files.
    options.delete = true;
    for step in 0..steps {
        let context = format!("seed {seed}, kinds {kinds:?}, step {step}");
        if random.below(4) > 0 {
            let number = random.below(memories.len());
            model.act(&mut random, &memories[number], number);
            continue;
        }
        let a = random.below(memories.len());
        let b = (a + 1 + random.below(memories.len() - 1)) % memories.len();
        let inserted = Arc::<Mutex<BTreeSet<String>>>::default();
        options.on_conflict = match random.below(4) {
            0 => OnConflict::merge(|file| Ok(Some(all_lines(&file.a, &file.b)))),
            1 => merged_at_work(
                [memories[a].clone(), memories[b].clone()],
                model.line(a),
                Arc::clone(&inserted),
            ),
            _ => OnConflict::KeepBoth,
        };
        if random.below(4) == 0 {
            let mut reviewed = |of: usize| {
                let random = Random(random.below(1 << 30) as u64 | 1);
                let line = model.line(of);
                let (agent, inserted) = (memories[of].clone(), Arc::clone(&inserted));
                let (random, reviews) = (Mutex::new(random), AtomicUsize::new(0));
                let hooks = Reviewer { random, agent, line, reviews, inserted };
                memories[of].clone().with_hooks(Arc::new(hooks))
            };
            let synced = try_sync(&reviewed(a), &reviewed(b), &options);
            assert!(synced.is_ok(), "{context}: {synced:?}");
        } else if random.below(3) > 0 {
            let synced = try_sync(&memories[a], &memories[b], &options);
            assert!(synced.is_ok(), "{context}: {synced:?}");
        } else {
            // A kill, or a lost answer. For a database or a service that is the same as a connection that breaks.
            let from = random.below(60);
            let when = if random.below(2) == 0 { When::From(from) } else { When::One(from) };
            let fault = *random.one_of(&[Fault::Before, Fault::After]);
            let faulty = |number: usize| -> Memory {
                let inner = Arc::clone(&stores[number]);
                let store: Arc<dyn Store> =
                    Arc::new(FaultyStore::over(inner, when, fault, answer_lost));
                on(number, &store)
            };
            let _ = match random.below(2) {
                0 => try_sync(&faulty(a), &memories[b], &options),
                _ => try_sync(&memories[a], &faulty(b), &options),
            };
        }
        model.written.append(&mut inserted.lock().unwrap());
    }
    // A store of six methods cannot remove an empty directory safely, which may be in the way of a file.
    let tidy = || {
        for number in (0..kinds.len()).filter(|number| kinds[*number] == SIX_METHODS) {
            delete_empty_directories(&*stores[number], &MemoryPath::root());
        }
    };
    options.on_conflict = OnConflict::KeepBoth;
    // A merge of two memories reaches the others in the next round.
    let mut rounds = 0;
    loop {
        let mut changes = Vec::new();
        for a in 0..memories.len() {
            for b in a + 1..memories.len() {
                tidy();
                let synced = try_sync(&memories[a], &memories[b], &options).unwrap();
                assert_eq!(synced.left_out, [], "seed {seed}, kinds {kinds:?}");
                changes.extend(synced.changes);
            }
        }
        if changes.is_empty() {
            break;
        }
        rounds += 1;
        assert!(rounds < 6, "seed {seed}, kinds {kinds:?}: {changes:?}");
    }
    let contents: Vec<BTreeMap<String, String>> = memories.iter().map(files).collect();
    for content in &contents {
        assert_eq!(content, &contents[0], "seed {seed}, kinds {kinds:?}");
    }
    let there = lines(&contents[0]);
    let lost: Vec<&String> = model
        .written
        .difference(&model.removed)
        .filter(|line| !there.contains_key(*line))
        .collect();
    assert!(lost.is_empty(), "seed {seed}, kinds {kinds:?}: lost {lost:?} in {contents:?}");
}

#[test]
fn nothing_is_lost_and_all_memories_are_equal() {
    let runs = times(20);
    for number in 0..runs {
        let seed = seed() * 100_000 + number;
        let mut random = Random(seed | 1);
        let kinds: Vec<usize> = (0..2 + random.below(3)).map(|_| random.below(5)).collect();
        run(seed, &kinds, 100);
    }
}

#[test]
fn nothing_is_lost_on_databases_and_services() {
    for number in 0..times(1) {
        run(seed() * 100_000 + number, &[5, 6, 3, 4], 100);
        run(seed() * 100_000 + 50_000 + number, &[1, 5], 60);
    }
}

#[test]
fn a_store_that_cannot_remove_a_directory_leaves_the_file_out_and_says_why() {
    let memory = |store: Arc<dyn Store>| Memory::with_store(store, MemoryOptions::default());
    let (a, six) = (memory(Arc::new(InProcess::new())), Arc::new(SixMethods::default()));
    let b = memory(six.clone());
    a.create("/memories/dir", "a file\n").unwrap();
    six.make_directory(&at("/memories/dir")).unwrap();
    let synced = try_sync(&a, &b, &options()).unwrap();
    let [left] = &synced.left_out[..] else { panic!("{synced:?}") };
    assert_eq!((left.path.relative(), left.side), ("dir", SyncSide::B));
    assert_eq!(left.reason, SyncReason::Directory);
    assert_eq!(left.details, "an empty directory is in the way, and the store cannot remove it");
    six.delete(&at("/memories/dir")).unwrap();
    assert_eq!(try_sync(&a, &b, &options()).unwrap().left_out, []);
    assert_eq!(files(&a), files(&b));
}

#[test]
fn the_paths_of_the_model_are_valid() {
    assert!(PATHS.iter().all(|path| !at(path).is_reserved()));
}
