//! A search of the history that uses only the lines changed in each version finds the same as a search of every whole version. A
//! history that grows while a process has it open equals one that is read from the beginning.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::common::effort;
use memdir::history::HistoryQuery;
use memdir::store::{Context, InProcess, Mutation, OnExisting};
use memdir::{GrepQuery, Memory, MemoryOptions, MemoryPath, Store};
use proptest::prelude::*;

#[derive(Debug, Clone)]
enum Step {
    Write(usize, Vec<u8>),
    Replace(usize, usize),
    Insert(usize, i64),
    Rename(usize, usize),
    Delete(usize),
    /// By another program, which keeps no history.
    External(usize, Vec<u8>),
    Redact(usize),
    Undo(usize),
    Look,
}

const FILES: [&str; 3] = ["/memories/a.md", "/memories/b/c.md", "/memories/tea.md"];

fn content() -> impl Strategy<Value = Vec<u8>> {
    const LINES: [&[u8]; 8] = [
        b"green tea\n",
        b"black tea\n",
        b"water\r\n",
        b"\n",
        b"tea",
        b"\xff tea\n",
        b"\xc3",
        b"\xa9tea\n",
    ];
    let line = (0..LINES.len()).prop_map(|number| LINES[number]);
    prop::collection::vec(line, 0..6).prop_map(|lines| lines.concat())
}

fn step() -> impl Strategy<Value = Step> {
    let file = || 0..FILES.len();
    prop_oneof![
        4 => (file(), content()).prop_map(|(file, content)| Step::Write(file, content)),
        4 => (file(), 0..4_usize).prop_map(|(file, which)| Step::Replace(file, which)),
        4 => (file(), 0..4_i64).prop_map(|(file, line)| Step::Insert(file, line)),
        1 => (file(), file()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => file().prop_map(Step::Delete),
        2 => (file(), content()).prop_map(|(file, content)| Step::External(file, content)),
        1 => (0..20_usize).prop_map(Step::Redact),
        1 => (0..20_usize).prop_map(Step::Undo),
        4 => Just(Step::Look),
    ]
}

fn put(store: &dyn Store, file: usize, content: &[u8]) {
    let path = &MemoryPath::parse(FILES[file]).unwrap();
    let write = Mutation::Write { path, content, existing: OnExisting::Overwrite };
    store.mutate(&Context::new(), write).unwrap();
}

/// Refused steps change nothing.
fn make(memory: &Memory, step: &Step) {
    match step {
        Step::Write(file, content) => put(&**memory.store(), *file, content),
        Step::Replace(file, which) => {
            let (old, new) =
                [("green", "white"), ("tea\n", "t\n"), ("water", ""), ("black", "tea\ntea")]
                    [*which];
            drop(memory.str_replace(FILES[*file], old, new));
        }
        Step::Insert(file, line) => drop(memory.insert(FILES[*file], *line, "more tea\n")),
        Step::Rename(from, to) => drop(memory.rename(FILES[*from], FILES[*to])),
        Step::Delete(file) => drop(memory.delete(FILES[*file])),
        Step::Redact(number) => {
            let versions = memory.history(&HistoryQuery::default()).unwrap();
            if let Some(version) = versions.get(*number) {
                drop(memory.redact(version.id, "not for you"));
            }
        }
        Step::Undo(number) => {
            let versions = memory.history(&HistoryQuery::default()).unwrap();
            if let Some(version) = versions.get(*number) {
                drop(memory.undo(version.change, Default::default()));
            }
        }
        Step::External(..) | Step::Look => {}
    }
}

/// The matches, each with its version and line, computed by reading every version as a whole.
fn expected(memory: &Memory, query: &GrepQuery, path: &str) -> Vec<(String, Option<u64>, String)> {
    let reading = memory.history_snapshot().unwrap();
    let mut found = Vec::new();
    let mut known: HashMap<usize, HashSet<String>> = HashMap::new();
    let mut names = HashSet::new();
    for listed in reading.listed(&MemoryPath::parse(path).unwrap()) {
        let version = &listed.version;
        let name = version.path.name().unwrap();
        let is_new = query.find(name).is_some() && names.insert(version.path.clone());
        if is_new && !version.is_current {
            found.push((version.id.to_string(), None, name.to_owned()));
        }
        let Some(content) = reading.left_by(&listed).unwrap() else { continue };
        let Ok(content) = std::str::from_utf8(&content) else { continue };
        for (line, number) in content.lines().zip(1..) {
            let known = known.entry(listed.file).or_default();
            let is_new = query.find(line).is_some() && known.insert(line.to_owned());
            if is_new && !version.is_current {
                found.push((version.id.to_string(), Some(number), line.to_owned()));
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(effort::cases(60))]

    #[test]
    fn a_search_finds_what_whole_versions_hold(steps in prop::collection::vec(step(), 1..40)) {
        let store: Arc<dyn Store> = Arc::new(InProcess::new());
        let mut options = MemoryOptions::default();
        options.history = true;
        let open = || Memory::with_store(Arc::clone(&store), options.clone());
        let memories = [open(), open()];
        let all = HistoryQuery::default();
        for (number, step) in steps.iter().enumerate() {
            if let Step::External(file, content) = step {
                // The next record confirms the last change. Otherwise only the file would.
                for (memory, writer) in memories.iter().zip(["one", "two"]) {
                    memory.create(&format!("/memories/{number}-{writer}.md"), "").unwrap();
                }
                put(&*store, *file, content);
            }
            make(&memories[number % 2], step);
            if matches!(step, Step::Look) {
                let anew = open().history(&all).unwrap();
                for memory in &memories {
                    prop_assert_eq!(&memory.history(&all).unwrap(), &anew);
                }
            }
        }
        for query in [GrepQuery::text("tea"), GrepQuery::text(""), GrepQuery::regex("^t").unwrap()] {
            for path in ["/memories", FILES[0], "/memories/b"] {
                let found = memories[0].grep_history(&query, path, usize::MAX).unwrap();
                let found: Vec<_> = found
                    .into_iter()
                    .map(|found| (found.version.id.to_string(), found.line, found.text))
                    .collect();
                prop_assert_eq!(found, expected(&memories[0], &query, path), "{:?} {}", query, path);
            }
        }
    }
}

/// A match in an earlier version that a rule detects only with the lines around it is not shown either.
#[test]
fn what_a_view_hides_a_search_of_old_versions_hides() {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.sensitive_on_view = true;
    let memory = Memory::open("memory:", options).unwrap();
    memory.create(FILES[0], "a\nurl: postgres://app:t7Kq-9zLw2@db/app\nb\n").unwrap();
    memory.str_replace(FILES[0], "b\n", "c\n").unwrap();
    memory.str_replace(FILES[0], "url: postgres://app:t7Kq-9zLw2@db/app\n", "").unwrap();
    let found = |text: &str| memory.grep_history(&GrepQuery::text(text), "/memories", 9).unwrap();
    assert_eq!(found("9zLw2"), []);
    assert_eq!(found("url: ").len(), 1);
    let texts: Vec<_> = found("b").into_iter().map(|found| found.text).collect();
    assert_eq!(texts, ["url: postgres://app:[REDACTED:url-password]@db/app", "b"]);
}
