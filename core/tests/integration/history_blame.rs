//! Which version brought each line of a file, on every store; and random changes compared with a model that compares whole
//! contents.
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::effort;
use memdir::history::{BlamedLine, HistoryError, HistoryQuery, Operation, UndoOptions};
use memdir::store::{Context, InProcess, Mutation, OnExisting};
use memdir::{Memory, MemoryOptions, MemoryPath, Store};
use proptest::prelude::*;

const TEA: &str = "/memories/tea.md";

fn remembering(store: Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(store, options)
}

/// A memory without a history, as another program would use the same store.
fn plain(store: &Arc<dyn Store>) -> Memory {
    Memory::with_store(Arc::clone(store), MemoryOptions::default())
}

/// Writes content that need not be text.
fn put(memory: &Memory, actor: &str, content: &[u8]) {
    let path = &MemoryPath::parse(TEA).unwrap();
    let write = Mutation::Write { path, content, existing: OnExisting::Overwrite };
    memory.store().mutate(&Context::of(Some(actor.into())), write).unwrap();
}

/// Each line with its actor, as `Ann: green`. A line that may be older has the prefix `^`.
fn told(memory: &Memory, path: &str) -> Vec<String> {
    let lines = memory.blame(path).unwrap();
    assert!(lines.iter().zip(1..).all(|(line, number)| line.line == number));
    let told = |line: &BlamedLine| {
        let mark = if line.may_be_older { "^" } else { "" };
        format!("{mark}{}: {}", line.actor.as_deref().unwrap_or("-"), line.text)
    };
    lines.iter().map(told).collect()
}

on_every_store!(each_line_is_of_the_version_that_brought_it);
fn each_line_is_of_the_version_that_brought_it(store: Arc<dyn Store>) {
    let memory = remembering(store);
    let [ann, ben, carl] = ["Ann", "Ben", "Carl"].map(|actor| memory.acting_as(actor));
    ann.create(TEA, "- green\n- black\n").unwrap();
    ben.insert(TEA, 1, "- white\n").unwrap();
    carl.str_replace(TEA, "lack", "lue").unwrap();
    assert_eq!(told(&memory, TEA), ["Ann: - green", "Ben: - white", "Carl: - blue"]);

    let versions = memory.history(&HistoryQuery::default()).unwrap();
    let lines = memory.blame(TEA).unwrap();
    for (line, version) in lines.iter().zip([&versions[2], &versions[1], &versions[0]]) {
        assert_eq!(line.version, Some(version.id));
        assert_eq!(line.change, Some(version.change));
        assert_eq!(line.operation, Some(version.operation));
        assert_eq!(line.time, Some(version.time));
    }

    // Lines keep their versions when their file or its directory is renamed.
    ann.rename(TEA, "/memories/d/tea.md").unwrap();
    ben.rename("/memories/d", "/memories/e").unwrap();
    let path = "/memories/e/tea.md";
    assert_eq!(told(&memory, path), ["Ann: - green", "Ben: - white", "Carl: - blue"]);
    // The whole content is replaced by one that keeps some of the lines, one of them at another position.
    ben.write(path, "- white\n- red\n- green\n- blue\n", None).unwrap();
    let told_now = told(&memory, path);
    assert_eq!(told_now.len(), 4);
    assert_eq!(told_now[1], "Ben: - red");
    assert_eq!(told_now[3], "Carl: - blue");
    // A line that was removed and restored belongs to the version that restored it.
    let change = memory.history(&HistoryQuery::default()).unwrap()[0].change;
    ann.undo(change, UndoOptions::default()).unwrap();
    ben.str_replace(path, "- blue\n", "").unwrap();
    let change = memory.history(&HistoryQuery::default()).unwrap()[0].change;
    carl.undo(change, UndoOptions::default()).unwrap();
    let told_now = told(&memory, path);
    assert_eq!(told_now[2], "Carl: - blue");
    assert_eq!(memory.blame(path).unwrap()[2].operation, Some(Operation::Restored));
    // A file that is created again is another file.
    ann.delete(path).unwrap();
    carl.create(path, "- green\n").unwrap();
    assert_eq!(told(&memory, path), ["Carl: - green"]);
    // So is a restored file.
    carl.delete(path).unwrap();
    let change = memory.history(&HistoryQuery::default()).unwrap()[0].change;
    ben.undo(change, UndoOptions::default()).unwrap();
    assert_eq!(told(&memory, path), ["Ben: - green"]);
}

on_every_store!(lines_are_those_of_a_view);
fn lines_are_those_of_a_view(store: Arc<dyn Store>) {
    let memory = remembering(store);
    put(&memory, "Ann", b"");
    assert_eq!(memory.blame(TEA).unwrap(), []);
    put(&memory, "Ann", b"\n");
    assert_eq!(told(&memory, TEA), ["Ann: "]);
    put(&memory, "Ben", b"\na\r\nb");
    assert_eq!(told(&memory, TEA), ["Ann: ", "Ben: a\r", "Ben: b"]);
    // The line ending is a part of the line.
    put(&memory, "Carl", b"\na\r\nb\nc");
    assert_eq!(told(&memory, TEA), ["Ann: ", "Ben: a\r", "Carl: b", "Carl: c"]);
    put(&memory, "Dora", b"\na\nb\nc");
    assert_eq!(told(&memory, TEA), ["Ann: ", "Dora: a", "Carl: b", "Carl: c"]);
    // Binary content has no lines, but text may replace it.
    put(&memory, "Ann", b"\na\n\xff\xfe\nb\n");
    let refused = memory.blame(TEA).unwrap_err();
    assert!(
        matches!(&refused, HistoryError::NotText { path } if path.as_str() == TEA),
        "{refused}"
    );
    put(&memory, "Ben", b"\na\n\xff\xff\nb\n");
    put(&memory, "Carl", "\na\n\u{e9}\nb\n".as_bytes());
    assert_eq!(told(&memory, TEA), ["Ann: ", "Dora: a", "Carl: \u{e9}", "Carl: b"]);
}

on_every_store!(where_no_text_file_is_there_is_no_blame);
fn where_no_text_file_is_there_is_no_blame(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    memory.create("/memories/d/tea.md", "green\n").unwrap();
    for path in ["/memories/other.md", "/memories/d", "/memories/d/tea.md/x", "/memories"] {
        let refused = memory.blame(path).unwrap_err();
        assert!(matches!(&refused, HistoryError::NoFile { .. }), "{path}: {refused}");
        assert_eq!(refused.paths()[0].as_str(), path);
    }
    // The journal is unavailable.
    for entry in store.list(&MemoryPath::root()).unwrap() {
        if entry.path.is_reserved() {
            let below = store.list(&entry.path).unwrap().remove(0).path;
            let refused = memory.blame(below.as_str()).unwrap_err();
            assert!(matches!(&refused, HistoryError::NoFile { .. }), "{below}: {refused}");
        }
    }
    assert!(matches!(memory.blame("tea.md"), Err(HistoryError::Path(_))));
    assert!(matches!(plain(&store).blame(TEA), Err(HistoryError::Off)));
}

on_every_store!(what_the_history_cannot_tell_is_marked);
fn what_the_history_cannot_tell_is_marked(store: Arc<dyn Store>) {
    let other = plain(&store);
    other.create(TEA, "old\n").unwrap();
    other.create("/memories/d/a.md", "old\n").unwrap();
    let memory = remembering(Arc::clone(&store));
    // The history has no versions of the file.
    assert_eq!(told(&memory, TEA), ["^-: old"]);
    assert_eq!(memory.blame(TEA).unwrap()[0].version, None);
    // The change was noticed.
    memory.acting_as("Ann").insert(TEA, 1, "Ann's\n").unwrap();
    assert_eq!(told(&memory, TEA), ["^-: old", "Ann: Ann's"]);
    assert_eq!(memory.blame(TEA).unwrap()[0].operation, Some(Operation::External));
    // Another program changed the file since.
    other.insert(TEA, 1, "theirs\n").unwrap();
    assert_eq!(told(&memory, TEA), ["^-: old", "^-: theirs", "Ann: Ann's"]);
    let lines = memory.blame(TEA).unwrap();
    assert_eq!((lines[1].version, lines[1].change, lines[1].time), (None, None, None));
    memory.acting_as("Ben").insert(TEA, 0, "Ben's\n").unwrap();
    assert_eq!(told(&memory, TEA), ["Ben: Ben's", "^-: old", "^-: theirs", "Ann: Ann's"]);
    let lines = memory.blame(TEA).unwrap();
    assert_eq!(lines[2].operation, Some(Operation::External));
    assert_ne!(lines[1].version, lines[2].version);
    // Moved with its directory, and never read.
    memory.acting_as("Ann").rename("/memories/d", "/memories/e").unwrap();
    let lines = memory.blame("/memories/e/a.md").unwrap();
    assert!(lines[0].may_be_older);
    assert_eq!(lines[0].operation, Some(Operation::Renamed));
}

on_every_store!(a_content_that_was_removed_leaves_the_lines_around_it);
fn a_content_that_was_removed_leaves_the_lines_around_it(store: Arc<dyn Store>) {
    let memory = remembering(store);
    let [ann, ben] = ["Ann", "Ben"].map(|actor| memory.acting_as(actor));
    ann.create(TEA, "a\n").unwrap();
    ben.insert(TEA, 1, "secret\n").unwrap();
    ann.str_replace(TEA, "secret", "x").unwrap();
    ben.insert(TEA, 2, "b\n").unwrap();
    assert_eq!(told(&memory, TEA), ["Ann: a", "Ann: x", "Ben: b"]);
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    memory.redact(versions[2].id, "a secret").unwrap();
    // The line may have come with the redacted version.
    assert_eq!(told(&memory, TEA), ["Ann: a", "^Ann: x", "Ben: b"]);
    memory.redact(versions[3].id, "and this").unwrap();
    assert_eq!(told(&memory, TEA), ["^Ann: a", "^Ann: x", "Ben: b"]);
}

on_every_store!(lines_of_versions_that_were_trimmed_are_of_the_oldest_left);
fn lines_of_versions_that_were_trimmed_are_of_the_oldest_left(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    memory.acting_as("0").create(TEA, "0\n").unwrap();
    for number in 1..14_i64 {
        let memory = memory.acting_as(&number.to_string());
        memory.insert(TEA, number, &format!("{number}\n")).unwrap();
    }
    let mut options = MemoryOptions::default();
    options.history = true;
    options.history_max_versions = Some(1);
    let trimming = Memory::with_store(Arc::clone(&store), options);
    // The last ten versions stay. The changes of the first of them are no longer known.
    assert_eq!(trimming.trim_history().unwrap(), 4);
    let expected: Vec<String> = (0..14)
        .map(|line| if line <= 4 { format!("^4: {line}") } else { format!("{line}: {line}") })
        .collect();
    for memory in [remembering(store), trimming] {
        assert_eq!(told(&memory, TEA), expected);
    }
}

#[test]
fn a_damaged_record_costs_the_lines_that_only_it_can_tell() {
    let place = tempfile::tempdir().unwrap();
    let open = || {
        let mut options = MemoryOptions::default();
        options.history = true;
        Memory::open(place.path().to_str().unwrap(), options).unwrap()
    };
    open().acting_as("Ann").create(TEA, "first\n").unwrap();
    open().acting_as("Ben").insert(TEA, 1, "marked-7f3a\n").unwrap();
    open().acting_as("Carl").insert(TEA, 2, "third\n").unwrap();
    assert_eq!(told(&open(), TEA), ["Ann: first", "Ben: marked-7f3a", "Carl: third"]);
    let log = place.path().join("history/active");
    let mut bytes = std::fs::read(&log).unwrap();
    let at = bytes.windows(11).position(|bytes| bytes == b"marked-7f3a").unwrap();
    bytes[at] ^= 0x20;
    std::fs::write(&log, bytes).unwrap();
    // Ben's version can be attributed without its splice, because the version before it has its whole content.
    assert_eq!(told(&open(), TEA), ["Ann: first", "Ben: marked-7f3a", "Carl: third"]);
}

#[test]
fn a_file_of_many_lines_has_a_version_for_each() {
    let memory = remembering(Arc::new(InProcess::new()));
    let text: String = (0..100_000).map(|line| format!("{line}\n")).collect();
    memory.acting_as("Ann").write(TEA, &text, None).unwrap();
    memory.acting_as("Ben").str_replace(TEA, "\n50000\n", "\nfifty thousand\n").unwrap();
    let reversed: String = (0..100_000).rev().map(|line| format!("{line}\n")).collect();
    let lines = memory.blame(TEA).unwrap();
    assert_eq!(lines.len(), 100_000);
    for line in lines {
        let expected = if line.text == "fifty thousand" { "Ben" } else { "Ann" };
        assert_eq!(line.actor.as_deref(), Some(expected), "{}", line.line);
    }
    memory.acting_as("Carl").write(TEA, &reversed, None).unwrap();
    let by_carl = memory.blame(TEA).unwrap();
    let by_carl = by_carl.iter().filter(|line| line.actor.as_deref() == Some("Carl")).count();
    assert!(by_carl > 90_000, "{by_carl}");
}

#[derive(Debug, Clone)]
enum Action {
    Insert(usize),
    Remove(usize),
    /// Replaces the line, or a part of it.
    Change(usize, bool),
    /// Writes the whole file. The first number decides which lines stay, the second one before which lines a new one is
    /// inserted.
    Overwrite(u64, u64),
    /// The same, by a program without a history.
    Outside(u64, u64),
    Rename,
    UndoLast,
    DeleteAndCreate(usize),
}

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let at = any::<usize>();
    let action = prop_oneof![
        4 => at.prop_map(Action::Insert),
        2 => at.prop_map(Action::Remove),
        3 => (at, any::<bool>()).prop_map(|(at, part)| Action::Change(at, part)),
        2 => (any::<u64>(), any::<u64>()).prop_map(|(keep, add)| Action::Overwrite(keep, add)),
        1 => (any::<u64>(), any::<u64>()).prop_map(|(keep, add)| Action::Outside(keep, add)),
        1 => Just(Action::Rename),
        2 => Just(Action::UndoLast),
        1 => (0..4_usize).prop_map(Action::DeleteAndCreate),
    ];
    proptest::collection::vec(action, 1..25)
}

/// A file and all its contents, each with the step that wrote it. Contents that were not recorded have no step.
struct Model {
    contents: Vec<(Option<usize>, Vec<String>)>,
    /// Whether a recorded change has seen the last content.
    is_noticed: bool,
    /// The number of lines ever written. Each one is unique.
    lines: usize,
}

impl Model {
    fn line(&mut self) -> String {
        self.lines += 1;
        format!("line {}\n", self.lines)
    }

    fn now(&self) -> Vec<String> {
        self.contents.last().map(|(_, lines)| lines.clone()).unwrap_or_default()
    }

    /// Records that the file now has this content.
    fn note(&mut self, step: Option<usize>, content: Option<&str>) {
        let Some(content) = content else {
            self.contents.clear();
            return;
        };
        let lines: Vec<String> = content.split_inclusive('\n').map(str::to_owned).collect();
        // Of several unnoticed changes only the last one counts.
        if step.is_none()
            && !self.is_noticed
            && self.contents.last().is_some_and(|(last, _)| last.is_none())
        {
            self.contents.pop();
        }
        if self.contents.last().is_none_or(|(_, last)| *last != lines) {
            self.contents.push((step, lines));
        }
        self.is_noticed = step.is_some();
    }

    /// For each line, the step that brought it. This is the step of the earliest content from which on all contents have the
    /// line.
    fn blame(&self) -> Vec<(Option<usize>, String)> {
        let brought_by = |line: &String| {
            let have_it = self.contents.iter().rev().take_while(|(_, lines)| lines.contains(line));
            have_it.last().unwrap().0
        };
        self.now().iter().map(|line| (brought_by(line), line.clone())).collect()
    }

    /// The lines with some removed and some added.
    fn mixed(&mut self, keep: u64, add: u64) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, line) in self.now().into_iter().enumerate() {
            if add >> (number % 64) & 7 == 7 {
                lines.push(self.line());
            }
            if keep >> (number % 64) & 3 != 0 {
                lines.push(line);
            }
        }
        lines
    }
}

/// Executes the action, and returns whether it was recorded.
fn act(
    memory: &Memory,
    other: &Memory,
    path: &mut String,
    model: &mut Model,
    action: &Action,
) -> bool {
    let now = model.now();
    match action {
        Action::Insert(at) => {
            let line = model.line();
            let at = i64::try_from(at % (now.len() + 1)).unwrap();
            memory.insert(path, at, &line).is_ok()
        }
        Action::Remove(at) if !now.is_empty() => {
            memory.str_replace(path, &now[at % now.len()], "").is_ok()
        }
        Action::Change(at, part) if !now.is_empty() => {
            let old = &now[at % now.len()];
            let new = if *part { old.replace("line", "a line") } else { model.line() };
            memory.str_replace(path, old, &new).is_ok()
        }
        Action::Overwrite(keep, add) => {
            let text = model.mixed(*keep, *add).concat();
            memory.write(path, &text, None).is_ok()
        }
        Action::Outside(keep, add) => {
            let text = model.mixed(*keep, *add).concat();
            other.write(path, &text, None).unwrap();
            false
        }
        Action::Rename => {
            let to = format!("{path}x");
            let is_renamed = memory.rename(path, &to).is_ok();
            if is_renamed {
                *path = to;
            }
            is_renamed
        }
        Action::UndoLast => {
            let mut query = HistoryQuery::default();
            (query.path, query.limit) = (Some(path.clone()), Some(1));
            let last = memory.history(&query).unwrap();
            last.first().is_some_and(|last| {
                // An undone rename has another path.
                last.operation != Operation::Renamed
                    && memory.undo(last.change, UndoOptions::default()).is_ok()
            })
        }
        Action::DeleteAndCreate(lines) => {
            let _ = memory.delete(path);
            model.note(None, None);
            let text: String = (0..*lines).map(|_| model.line()).collect();
            memory.create(path, &text).is_ok()
        }
        _ => false,
    }
}

mod a_blame_is_that_of_all_contents {
    use super::a_blame_is_that_of_all_contents_on as check;

    on_every_store!(check in in_process, sqlite);
    #[cfg(any(unix, windows))]
    on_every_store!(check in local_directory);
}

fn a_blame_is_that_of_all_contents_on(store: Arc<dyn Store>) {
    let (memory, other) = (remembering(Arc::clone(&store)), plain(&store));
    let files = AtomicUsize::new(0);
    proptest!(effort::cases(60), |(actions in actions())| {
        let mut path = format!("/memories/{}", files.fetch_add(1, Ordering::Relaxed));
        let mut model = Model { contents: Vec::new(), is_noticed: true, lines: 0 };
        for (step, action) in actions.iter().enumerate() {
            let memory = memory.acting_as(&step.to_string());
            let is_recorded = act(&memory, &other, &mut path, &mut model, action);
            let content = other.read(&path).ok();
            if is_recorded || matches!(action, Action::Outside(..)) {
                model.note(is_recorded.then_some(step), content.as_deref());
            }
            let Some(content) = content else {
                let is_gone = matches!(memory.blame(&path), Err(HistoryError::NoFile { .. }));
                prop_assert!(is_gone);
                continue;
            };
            prop_assert_eq!(model.now().concat(), content);
            let blamed = memory.blame(&path).unwrap();
            let blamed: Vec<_> = blamed
                .into_iter()
                .map(|line| {
                    let step = line.actor.map(|actor| actor.parse().unwrap());
                    assert_eq!(line.may_be_older, step.is_none());
                    (step, line.text + "\n")
                })
                .collect();
            prop_assert_eq!(blamed, model.blame());
        }
    });
}
