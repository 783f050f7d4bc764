//! Random walks of several processes on one memory, compared with a model. The steps are the six commands, the methods for your
//! own code, undo, restore, redact, trim and expiry. Processes end, are killed or fail in the middle of a command, or run a
//! command in the middle of another process's command. After each round every change must be reported once, and no other, and the
//! current versions must match the files.
//!
//! Each process is a `Memory` with its own store object. `make history-model` walks a hundred times as far.
#![cfg(all(any(unix, windows), feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

mod checker;
mod truth;
mod witness;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use memdir::history::{HistoryError, HistoryId, HistoryQuery, UndoOptions};
use memdir::store::{Edit, Encrypted, Entry, InProcess, open_raw_store};
use memdir::{
    Durability, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError, open_store,
};
use memdir_store::clock::SimulatedClock;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::common::effort;
use crate::common::store_helpers::{key, mounted};
use truth::{Expected, KEPT_OF_GONE, Tree, Truth};
use witness::{Doing, Eyes, Fault, Killed, Witness};

/// The action of a process.
#[derive(Debug, Clone, Copy)]
enum What {
    View(usize),
    /// The second number selects the text.
    Create(usize, usize),
    Insert(usize, usize),
    Replace(usize),
    Write(usize, usize),
    WriteIfUnchanged(usize, usize),
    Rename(usize, usize),
    Delete(usize),
    Clear,
    Expire(usize),
    /// The numbers below select a version.
    Undo(usize),
    UndoOfActor(usize),
    Restore(usize, bool),
    RestoreAll(usize),
    Redact(usize),
    Trim,
    /// The process ends, and another one begins.
    Restart,
}

#[derive(Debug, Clone, Copy)]
struct Action {
    process: usize,
    what: What,
    /// The fault, and the number of the change of the store at which it happens.
    fault: Option<(usize, Fault)>,
    /// The action of another process in the middle of it.
    interrupt: Option<What>,
}

const PROCESSES: usize = 3;
const PATHS: [&str; 10] =
    ["a", "b", "d", "d/a", "d/b", "d/e/a", "other/a", "other/d/a", "other/d", "x/y/z"];

fn edits() -> impl Strategy<Value = What> {
    let (path, text) = (|| 0..PATHS.len(), || 0..12_usize);
    prop_oneof![
        1 => path().prop_map(What::View),
        5 => (path(), text()).prop_map(|(path, text)| What::Create(path, text)),
        5 => (path(), text()).prop_map(|(path, text)| What::Insert(path, text)),
        2 => path().prop_map(What::Replace),
        3 => (path(), text()).prop_map(|(path, text)| What::Write(path, text)),
        1 => (path(), text()).prop_map(|(path, text)| What::WriteIfUnchanged(path, text)),
        4 => (path(), path()).prop_map(|(from, to)| What::Rename(from, to)),
        3 => path().prop_map(What::Delete),
    ]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        30 => edits(),
        1 => Just(What::Clear),
        1 => (0..PATHS.len()).prop_map(What::Expire),
        3 => any::<usize>().prop_map(What::Undo),
        1 => any::<usize>().prop_map(What::UndoOfActor),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(version, over)| What::Restore(version, over)),
        1 => any::<usize>().prop_map(What::RestoreAll),
        1 => any::<usize>().prop_map(What::Redact),
        1 => Just(What::Trim),
        3 => Just(What::Restart),
    ]
}

fn fault() -> impl Strategy<Value = Option<(usize, Fault)>> {
    let kinds = prop_oneof![
        Just(Fault::KilledBefore),
        Just(Fault::KilledAfter),
        Just(Fault::FailsBefore),
        Just(Fault::FailsAfter),
    ];
    // Most commands make one change, or two including that of the history's own file.
    let at = prop_oneof![4 => 0..2_usize, 1 => 2..8_usize];
    prop_oneof![3 => Just(None), 1 => (at, kinds).prop_map(Some)]
}

/// Walks of `steps` steps. `with_interrupts`: another process may run between the steps of a command.
fn walks(steps: usize, with_interrupts: bool) -> impl Strategy<Value = Vec<Action>> {
    let interrupt = if with_interrupts {
        prop_oneof![4 => Just(None), 1 => edits().prop_map(Some)].boxed()
    } else {
        Just(None).boxed()
    };
    let action = (0..PROCESSES, what(), fault(), interrupt)
        .prop_map(|(process, what, fault, interrupt)| Action { process, what, fault, interrupt });
    prop::collection::vec(action, steps)
}

/// Opens the store again, as another process does.
type Open = dyn Fn(&Eyes) -> Arc<dyn Store>;

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_age = None;
    options.record_access = true;
    options.durability = Durability::Relaxed;
    options
}

struct Process {
    /// The store whose changes the memory records.
    store: Arc<dyn Store>,
    memory: Memory,
    eyes: Eyes,
    clock: Arc<SimulatedClock>,
}

/// The clocks of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clocks {
    Same,
    /// They differ by seconds and by years, ahead or behind.
    Differ,
}

struct Walk<'w> {
    open: &'w Open,
    truth: Arc<Mutex<Truth>>,
    processes: Vec<Arc<Mutex<Process>>>,
    clocks: Clocks,
    /// The number of processes so far.
    begun: usize,
    /// The number of commands so far.
    commands: usize,
    /// The contents of the files at times between commands.
    moments: Vec<(SystemTime, Tree)>,
    /// The events so far, for the report of a failure.
    log: Vec<String>,
    is_ordered: bool,
}

fn path(number: usize) -> String {
    format!("/memories/{}", PATHS[number])
}

/// One of a few texts, which occur repeatedly, or a unique one.
fn text(number: usize, command: usize) -> String {
    if number < 3 {
        format!("{number}\n")
    } else {
        format!("{command}: {}\n", "text ".repeat(number % 3))
    }
}

impl<'w> Walk<'w> {
    fn new(open: &'w Open, clocks: Clocks) -> Self {
        let mut walk = Self {
            open,
            truth: Arc::default(),
            processes: Vec::new(),
            clocks,
            begun: 0,
            commands: 0,
            moments: vec![(SystemTime::now(), Tree::new())],
            log: Vec::new(),
            is_ordered: true,
        };
        for _ in 0..PROCESSES {
            let process = walk.begin();
            walk.processes.push(Arc::new(Mutex::new(process)));
        }
        walk
    }

    fn begin(&mut self) -> Process {
        const YEAR: i64 = 365 * 24 * 3600;
        const AHEAD: [i64; 7] = [0, YEAR, 5, -YEAR, -5, 0, 1];
        self.begun += 1;
        let ahead = match self.clocks {
            Clocks::Same => 0,
            Clocks::Differ => AHEAD[self.begun % AHEAD.len()],
        };
        let clock = SimulatedClock::ahead(ahead);
        let eyes = Eyes { truth: Arc::clone(&self.truth), doing: Arc::default() };
        let store = clock.run(|| (self.open)(&eyes));
        let memory = Memory::with_store(Arc::clone(&store), options());
        Process { store, memory, eyes, clock }
    }

    fn truth(&self) -> Truth {
        self.truth.lock().unwrap().clone()
    }

    fn step(&mut self, action: &Action) {
        self.commands += 1;
        let number = self.commands;
        let before = self.truth();
        if let What::Trim = action.what {
            // The state before the step is checked.
            self.check();
        }
        if let What::Restart = action.what {
            *self.processes[action.process].lock().unwrap() = self.begin();
            return;
        }
        // Commands on directories are not interrupted. The history records the outcome for files written meanwhile only when no
        // process is in the middle of a change; in one thread that would wait for ever.
        let is_of_files = |what: What| match what {
            What::Delete(at) | What::Rename(at, _) => before.tree.contains_key(&path(at)),
            What::Clear => false,
            _ => true,
        };
        let interrupt =
            action.interrupt.filter(|what| is_of_files(action.what) && is_of_files(*what));
        let interrupt = interrupt.map(|what| {
            self.commands += 1;
            let (number, before) = (self.commands, before.clone());
            let other = Arc::clone(&self.processes[(action.process + 1) % PROCESSES]);
            self.is_ordered = false;
            Box::new(move || {
                let process = other.lock().unwrap();
                *process.eyes.doing.lock().unwrap() = Doing {
                    command: command(what),
                    actor: format!("{number}"),
                    ..Doing::default()
                };
                // A refusal does not matter here.
                process.clock.run(|| drop(act(&process, what, number, &before, &[])));
            }) as Box<dyn FnOnce() + Send>
        });
        let process = Arc::clone(&self.processes[action.process]);
        let mut process = process.lock().unwrap();
        *process.eyes.doing.lock().unwrap() = Doing {
            command: command(action.what),
            actor: number.to_string(),
            // Redactions have no faults here: `history_redaction.rs` interrupts them at every change. Nor do writes that leave
            // the content unchanged, because the files do not show whether such a write was made before the process ended.
            fault: action.fault.filter(|_| {
                !matches!(action.what, What::Redact(_))
                    && !leaves_the_same(action.what, number, &before)
            }),
            interrupt,
        };
        // With different clocks, times do not show which state was current.
        let moments = if self.clocks == Clocks::Same { &self.moments[..] } else { &[] };
        let done = catch_unwind(AssertUnwindSafe(|| {
            process.clock.run(|| act(&process, action.what, number, &before, moments))
        }));
        let was_interrupted = {
            let doing = std::mem::take(&mut *process.eyes.doing.lock().unwrap());
            self.commands > number && doing.interrupt.is_none()
        };
        self.log.push(match &done {
            Ok(Done::Made(_)) => format!("{number}: {action:?}"),
            Ok(done) => format!("{number}: {action:?}: {done:?}"),
            Err(_) => format!("{number}: {action:?}: killed"),
        });
        let done = match done {
            Ok(done) => Some(done),
            Err(killed) if killed.is::<Killed>() => {
                *process = self.begin();
                None
            }
            Err(panic) => resume_unwind(panic),
        };
        self.after(action, number, &before, done.as_ref(), was_interrupted, &process);
        drop(process);
        if self.clocks == Clocks::Same {
            std::thread::sleep(Duration::from_micros(2));
            self.moments.push((SystemTime::now(), self.truth().tree));
            std::thread::sleep(Duration::from_micros(2));
        }
    }

    /// Compares the result of a command with the expected result.
    fn after(
        &mut self,
        action: &Action,
        number: usize,
        before: &Truth,
        done: Option<&Done>,
        was_interrupted: bool,
        process: &Process,
    ) {
        let now = self.truth();
        match done {
            Some(Done::Made(_)) if was_interrupted => {}
            Some(Done::Made(Some(expected))) => {
                assert_eq!(now.tree, *expected, "{action:?} did something else");
            }
            Some(Done::Refused) if !was_interrupted => {
                assert_eq!(now.tree, before.tree, "{action:?} was refused");
            }
            Some(Done::Conflict(why)) if !was_interrupted => {
                assert_eq!(now.tree, before.tree, "{action:?} had a conflict");
                // A directory at the former path of a file stays, even if it is empty.
                if let What::Undo(version) = action.what
                    && !why.contains("in_the_way: true")
                    && let Some(version) = chosen(before, version)
                    && !before.is_trimmed
                    && before.is_last(&before.versions[version].actor)
                {
                    let latest = before.versions.iter().rev().take(20).map(ToString::to_string);
                    let latest: Vec<String> = latest.collect();
                    panic!("{action:?}: {why}, but nothing came after it: {latest:#?}");
                }
            }
            _ => {}
        }
        match action.what {
            What::Redact(version) if matches!(done, Some(Done::Made(_))) => {
                let Some(version) = chosen(before, version) else { return };
                let Expected { content, is_redacted: false, .. } = &before.versions[version] else {
                    return;
                };
                let Some(content) = content else { return };
                let mut truth = self.truth.lock().unwrap();
                truth.redacted(content);
                truth.noted_redaction(version, &number.to_string());
            }
            What::Trim => process.clock.run(|| {
                checker::follow_trim(&process.memory, &mut self.truth.lock().unwrap());
            }),
            _ => {}
        }
    }

    fn check(&mut self) {
        // With an old process, and with a new one.
        let old = Arc::clone(&self.processes[self.commands % PROCESSES]);
        let new = self.begin();
        let truth = self.truth();
        for process in [&*old.lock().unwrap(), &new] {
            process.clock.run(|| checker::check(&process.memory, &truth, self.is_ordered));
        }
    }
}

/// The outcome of a command.
#[derive(Debug, Clone, PartialEq)]
enum Done {
    /// With the resulting files, if they are known.
    Made(Option<Tree>),
    Refused,
    /// A later change prevents the undo.
    Conflict(String),
    /// The store failed.
    Failed,
    /// No file or version was suitable.
    Nothing,
}

/// The operation's name in the versions of a command.
fn command(what: What) -> &'static str {
    match what {
        What::Undo(_) | What::UndoOfActor(_) | What::Restore(..) | What::RestoreAll(_) => "restore",
        What::Expire(_) => "expire",
        What::Clear => "clear",
        What::Write(..) => "write",
        _ => "edit",
    }
}

/// The version that a number selects.
fn chosen(truth: &Truth, number: usize) -> Option<usize> {
    let count = truth.versions.len();
    // The latest ones more often.
    let number = if number.is_multiple_of(2) { number / 2 % 4 } else { number / 2 };
    (count > 0).then(|| count - 1 - number % count)
}

/// The id of a version of the truth, found by its actor, operation and paths, which are unique together.
fn id_of(memory: &Memory, truth: &Truth, number: usize) -> Result<Option<HistoryId>, HistoryError> {
    let expected = &truth.versions[number];
    let mut query = HistoryQuery::default();
    query.actor = Some(expected.actor.clone());
    let versions = memory.history(&query)?;
    let same = |other: &&truth::Expected| {
        (&other.actor, &other.path, other.operation)
            == (&expected.actor, &expected.path, expected.operation)
    };
    // One command may restore the same path several times.
    let later = truth.versions[number + 1..].iter().filter(same).count();
    let found = versions.iter().filter(|version| {
        version.path.as_str() == expected.path && version.operation.as_str() == expected.operation
    });
    Ok(found.clone().nth(later).map(|version| version.id))
}

/// Whether a command writes the current text again.
fn leaves_the_same(what: What, command: usize, before: &Truth) -> bool {
    let (What::Write(at, chosen) | What::WriteIfUnchanged(at, chosen)) = what else { return false };
    before.tree.get(&path(at)).is_some_and(|there| *there == text(chosen, command))
}

fn act(
    process: &Process,
    what: What,
    number: usize,
    before: &Truth,
    moments: &[(SystemTime, Tree)],
) -> Done {
    let memory = process.memory.acting_as(&number.to_string());
    let with = |path: &str, text: Option<String>| {
        let mut tree = before.tree.clone();
        match text {
            Some(text) => drop(tree.insert(path.to_owned(), text)),
            None => tree.retain(|file, _| !truth::is_within(file, path)),
        }
        Done::Made(Some(tree))
    };
    let at = |path: &str| before.tree.get(path).cloned().unwrap_or_default();
    let refused = |error: Error| match error {
        Error::Refused(_) | Error::Config(_) => Done::Refused,
        _ => Done::Failed,
    };
    match what {
        What::View(number) => memory
            .view(&path(number), None)
            .map_or_else(refused, |_| Done::Made(Some(before.tree.clone()))),
        What::Create(to, chosen) => {
            let (path, text) = (path(to), text(chosen, number));
            memory.create(&path, &text).map_or_else(refused, |_| with(&path, Some(text)))
        }
        What::Insert(to, chosen) => {
            let (path, text) = (path(to), text(chosen, number));
            memory
                .insert(&path, 0, &text)
                .map_or_else(refused, |_| with(&path, Some(text + &at(&path))))
        }
        What::Replace(at_path) => {
            let path = path(at_path);
            let old = at(&path);
            let Some(line) = old.lines().next() else { return Done::Nothing };
            let line = format!("{line}\n");
            if old.matches(&line).count() > 1 {
                return Done::Nothing;
            }
            let new = format!("{number} instead\n");
            let replaced = old.replacen(&line, &new, 1);
            memory
                .str_replace(&path, &line, &new)
                .map_or_else(refused, |_| with(&path, Some(replaced)))
        }
        What::Write(to, chosen) => {
            let (path, text) = (path(to), text(chosen, number));
            memory.write(&path, &text, None).map_or_else(refused, |()| with(&path, Some(text)))
        }
        What::WriteIfUnchanged(to, chosen) => {
            let (path, text) = (path(to), text(chosen, number));
            let old = at(&path);
            memory
                .write(&path, &text, Some(&old))
                .map_or_else(refused, |()| with(&path, Some(text)))
        }
        What::Rename(from, to) => {
            let (from, to) = (path(from), path(to));
            memory.rename(&from, &to).map_or_else(refused, |_| {
                let moved = before.tree.iter().map(|(path, text)| {
                    let is_moved = truth::is_within(path, &from);
                    let path = if is_moved { path.replacen(&from, &to, 1) } else { path.clone() };
                    (path, text.clone())
                });
                Done::Made(Some(moved.collect()))
            })
        }
        What::Delete(at_path) => {
            let path = path(at_path);
            memory.delete(&path).map_or_else(refused, |_| with(&path, None))
        }
        What::Clear => memory.clear().map_or_else(refused, |_| Done::Made(Some(Tree::new()))),
        What::Expire(at_path) => {
            let long_ago = SystemTime::now() - Duration::from_secs(10 * 3600);
            let path = path(at_path);
            if !before.tree.contains_key(&path) {
                return Done::Nothing;
            }
            let parsed = MemoryPath::parse(&path).unwrap();
            if memory.store().set_modified(&parsed, long_ago).is_err() {
                return Done::Failed;
            }
            let hour = Duration::from_secs(3600);
            let go_on = &mut |_| std::ops::ControlFlow::Continue(());
            memory.expire(hour, false, go_on).map_or_else(refused, |_| Done::Made(None))
        }
        What::Undo(_) | What::UndoOfActor(_) | What::Restore(..) | What::Redact(_) => {
            let (What::Undo(version)
            | What::UndoOfActor(version)
            | What::Restore(version, _)
            | What::Redact(version)) = what
            else {
                return Done::Nothing;
            };
            let Some(version) = chosen(before, version) else { return Done::Nothing };
            let id = match id_of(&memory, before, version) {
                Ok(Some(id)) => id,
                Ok(None) => panic!("the history does not have {:?}", before.versions[version]),
                Err(error) => return history_refused(&error),
            };
            let actor = &before.versions[version].actor;
            let (done, expected) = match what {
                What::Undo(_) if before.versions[version].file.is_some() => {
                    (memory.undo(id, UndoOptions::default()).map(drop), before.after_undo(actor))
                }
                What::UndoOfActor(_) if before.versions[version].file.is_some() => {
                    let done = memory.undo_since(
                        SystemTime::UNIX_EPOCH,
                        Some(actor),
                        UndoOptions::default(),
                    );
                    (done.map(drop), before.after_undo(actor))
                }
                What::Restore(_, overwrite) => {
                    let expected = before.after_restore(version);
                    (memory.restore(id, overwrite).map(drop), expected)
                }
                What::Redact(_) => {
                    (memory.redact(id, "because").map(drop), Some(before.tree.clone()))
                }
                _ => return Done::Nothing,
            };
            done.map_or_else(|error| history_refused(&error), |()| Done::Made(expected))
        }
        What::RestoreAll(moment) => {
            if moments.is_empty() {
                return Done::Nothing;
            }
            let (at, tree) = &moments[moment % moments.len()];
            let done = memory.restore_all(*at, false);
            done.map_or_else(|error| history_refused(&error), |_| Done::Made(Some(tree.clone())))
        }
        What::Trim => {
            let mut options = options();
            options.history_max_versions = Some(KEPT_OF_GONE);
            let trimming = Memory::with_store(Arc::clone(&process.store), options);
            let done = trimming.trim_history();
            done.map_or_else(
                |error| history_refused(&error),
                |_| Done::Made(Some(before.tree.clone())),
            )
        }
        What::Restart => Done::Nothing,
    }
}

fn history_refused(error: &HistoryError) -> Done {
    match error {
        HistoryError::Conflict { .. } => Done::Conflict(format!("{error:?}")),
        HistoryError::Redacted(_)
        | HistoryError::IsCurrent { .. }
        | HistoryError::Trimmed { .. }
        | HistoryError::NoContent(_) => Done::Refused,
        HistoryError::Store(_) | HistoryError::Partly { .. } => Done::Failed,
        error => panic!("{error:?}"),
    }
}

/// The number of steps between two checks.
const ROUND: usize = 25;

/// Executes all steps on the store that `open` opens. The error describes the problem and the steps before it.
fn follow(open: &Open, clocks: Clocks, actions: &[Action]) -> Result<(), String> {
    let mut walk = Walk::new(open, clocks);
    let all = catch_unwind(AssertUnwindSafe(|| {
        for round in actions.chunks(ROUND) {
            for action in round {
                walk.step(action);
            }
            walk.check();
        }
    }));
    all.map_err(|panic| {
        let said = panic.downcast_ref::<String>().cloned();
        let said = said.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        format!("{}\nafter\n{}", said.unwrap_or_default(), walk.log.join("\n"))
    })
}

/// Walks `steps` steps in total, in walks of a few rounds, on stores that `fresh` makes.
fn walk(steps: usize, clocks: Clocks, fresh: impl Fn() -> Box<Open>) {
    let steps = effort::times(steps);
    let length = steps.min(5 * ROUND);
    let mut runner = TestRunner::new(effort::cases(1));
    for number in 0..steps.div_ceil(length) {
        // In half of the walks the commands run one after the other, so all changes have one order.
        let tree = walks(length, number % 2 == 1).new_tree(&mut runner);
        let actions = tree.unwrap().current();
        if let Err(said) = follow(&*fresh(), clocks, &actions) {
            let few = fewest(actions, |actions| follow(&*fresh(), clocks, actions).is_err());
            let again = follow(&*fresh(), clocks, &few);
            panic!("walk {number}: {}", again.err().unwrap_or(said));
        }
    }
}

/// Removes actions as long as the rest still fails, until the time is up.
fn fewest(mut actions: Vec<Action>, fails: impl Fn(&[Action]) -> bool) -> Vec<Action> {
    const MOST: Duration = Duration::from_secs(60);
    let (begun, mut part) = (Instant::now(), actions.len() / 2);
    while part > 0 {
        let mut at = 0;
        while at < actions.len() && begun.elapsed() < MOST {
            let mut fewer = actions.clone();
            fewer.drain(at..(at + part).min(actions.len()));
            if fails(&fewer) { actions = fewer } else { at += part }
        }
        part /= 2;
    }
    actions
}

/// The number of steps on each store.
const STEPS: usize = 500;

/// The number of steps on slower stores: fewer, unless more effort is requested.
fn few_steps() -> usize {
    if effort::times(1_u32) > 1 { STEPS } else { STEPS / 4 }
}

/// A store of each kind, with its files in a separate directory.
mod kinds {
    use super::*;

    fn open(address: &str) -> Arc<dyn Store> {
        open_store(address, &options()).unwrap()
    }

    /// Opens the underlying store of an encrypted store.
    fn open_raw(address: &str) -> Arc<dyn Store> {
        open_raw_store(address, &options()).unwrap()
    }

    /// Opens a store in a new directory repeatedly.
    fn in_directory(
        again: impl Fn(&str, &Eyes) -> Arc<dyn Store> + Copy + 'static,
    ) -> impl Fn() -> Box<Open> {
        move || {
            let place = tempfile::tempdir().unwrap();
            Box::new(move |eyes: &Eyes| again(place.path().to_str().unwrap(), eyes))
        }
    }

    fn at_root(store: Arc<dyn Store>, eyes: &Eyes) -> Arc<dyn Store> {
        Witness::of(store, "/memories", eyes)
    }

    fn encrypted(store: Arc<dyn Store>, with_names: bool) -> Arc<dyn Store> {
        Arc::new(Encrypted::open(store, &key(7), with_names).unwrap())
    }

    pub(super) fn directory() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| at_root(open(place), eyes))
    }

    pub(super) fn bare_directory() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| at_root(open(&format!("dir:{place}")), eyes))
    }

    pub(super) fn sqlite() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| at_root(open(&format!("sqlite:{place}/a.db")), eyes))
    }

    pub(super) fn encrypted_directory() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| at_root(encrypted(open_raw(place), true), eyes))
    }

    pub(super) fn encrypted_sqlite() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| {
            at_root(encrypted(open_raw(&format!("sqlite:{place}/a.db")), false), eyes)
        })
    }

    pub(super) fn in_process() -> impl Fn() -> Box<Open> {
        || {
            let store: Arc<dyn Store> = Arc::new(InProcess::new());
            Box::new(move |eyes: &Eyes| at_root(Arc::clone(&store), eyes))
        }
    }

    pub(super) fn of_six_methods() -> impl Fn() -> Box<Open> {
        || {
            let store: Arc<dyn Store> = Arc::new(SixMethods(InProcess::new()));
            Box::new(move |eyes: &Eyes| at_root(Arc::clone(&store), eyes))
        }
    }

    /// A directory in which an encrypted store in a database is mounted.
    pub(super) fn mounts() -> impl Fn() -> Box<Open> {
        in_directory(|place, eyes| {
            let below = encrypted(open_raw(&format!("sqlite:{place}/a.db")), false);
            let root = Witness::of(open(&format!("{place}/root")), "/memories", eyes);
            Arc::new(mounted(root, Witness::of(below, "/memories/other", eyes)))
        })
    }

    /// Two in-process stores.
    pub(super) fn mounts_in_process() -> impl Fn() -> Box<Open> {
        || {
            let [root, below]: [Arc<dyn Store>; 2] =
                [Arc::new(InProcess::new()), Arc::new(InProcess::new())];
            Box::new(move |eyes: &Eyes| {
                let root = Witness::of(Arc::clone(&root), "/memories", eyes);
                let below = Witness::of(Arc::clone(&below), "/memories/other", eyes);
                Arc::new(mounted(root, below))
            })
        }
    }

    #[cfg(all(unix, any(feature = "postgres", feature = "object-storage")))]
    pub(super) fn at_address(fresh: impl Fn() -> String) -> impl Fn() -> Box<Open> {
        move || {
            let address = fresh();
            Box::new(move |eyes: &Eyes| at_root(open(&address), eyes))
        }
    }

    /// A store with only the required methods.
    struct SixMethods(InProcess);

    impl Store for SixMethods {
        fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
            self.0.read(path)
        }

        fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
            self.0.list(path)
        }

        fn write(
            &self,
            path: &MemoryPath,
            content: &[u8],
            existing: OnExisting,
        ) -> Result<(), StoreError> {
            self.0.write(path, content, existing)
        }

        fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
            self.0.update(path, edit)
        }

        fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
            self.0.delete(path)
        }

        fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
            self.0.rename(from, to)
        }
    }
}

macro_rules! on_each {
    ($($name:ident: $steps:expr),*) => {
        mod every_change_is_told_once_and_what_is_current_is_in_the_files {
            use super::*;
            $(#[test]
            fn $name() {
                walk($steps, Clocks::Same, kinds::$name());
            })*
        }
    };
}

on_each! {
    directory: STEPS, bare_directory: STEPS, sqlite: STEPS, encrypted_directory: few_steps(), encrypted_sqlite: few_steps(),
    in_process: STEPS, of_six_methods: STEPS, mounts: few_steps(), mounts_in_process: STEPS
}

#[cfg(all(unix, feature = "postgres"))]
#[test]
fn every_change_is_told_once_on_postgresql() {
    let Some(server) = crate::common::postgres::server() else { return };
    walk(STEPS, Clocks::Same, kinds::at_address(|| server.fresh()));
}

#[cfg(all(unix, feature = "object-storage"))]
#[test]
fn every_change_is_told_once_on_object_storage() {
    for cloud in crate::common::clouds::all() {
        // In `make test`, two rounds on Azure's server.
        let steps = if effort::times(1_u32) > 1 { STEPS } else { cloud.few(STEPS / 4, 2 * ROUND) };
        walk(steps, Clocks::Same, kinds::at_address(|| cloud.fresh()));
    }
}

/// Not for mounts: mounted stores have no common order, so their records are sorted by time.
mod the_order_is_that_of_the_changes_whatever_the_clocks_say {
    use super::*;

    #[test]
    fn directory() {
        walk(STEPS, Clocks::Differ, kinds::directory());
    }

    #[test]
    fn sqlite() {
        walk(STEPS, Clocks::Differ, kinds::sqlite());
    }

    #[test]
    fn encrypted_directory() {
        walk(few_steps(), Clocks::Differ, kinds::encrypted_directory());
    }

    #[test]
    fn in_process() {
        walk(STEPS, Clocks::Differ, kinds::in_process());
    }
}
