//! Compares the history that a memory reports with the [`Truth`].

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, SystemTime};

use memdir::history::HistoryQuery;
use memdir::store::walk_files;
use memdir::{Memory, MemoryPath, Store};
use sha2::{Digest, Sha256};

use super::truth::{Expected, Tree, Truth};

/// The files of a store, without the history's own and temporary ones.
pub(super) fn tree(store: &dyn Store) -> Tree {
    let mut paths = Vec::new();
    walk_files(store, &mut |entry| paths.push(entry.path)).unwrap();
    paths.retain(|path| !path.as_str().contains("/.memdir-"));
    let content = |path: &MemoryPath| String::from_utf8(store.read(path).unwrap()).unwrap();
    paths.iter().map(|path| (path.to_string(), content(path))).collect()
}

fn sha256(content: &str) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A version as the memory reports it, in the form of the truth.
struct Told {
    version: Expected,
    is_current: bool,
}

fn told(memory: &Memory) -> Vec<Told> {
    let snapshot = memory.history_snapshot().unwrap();
    let listed: Vec<_> = snapshot.listed(&MemoryPath::root()).collect();
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    assert!(
        listed.iter().map(|listed| &listed.version).eq(&versions),
        "a snapshot tells another history"
    );
    // One change for each command, whatever other processes do.
    let mut changes = BTreeMap::new();
    let mut all = Vec::new();
    for listed in listed.iter().rev() {
        let version = &listed.version;
        let operation = version.operation.as_str();
        let is_redacted = version.redacted.is_some();
        let is_gone = ["deleted", "expired", "cleared", "redacted"].contains(&operation);
        let left = snapshot.left_by(listed).unwrap();
        let content =
            left.filter(|_| !is_gone).map(|left| String::from_utf8(left.to_vec()).unwrap());
        if let (Some(content), Some(hash)) = (&content, &version.sha256) {
            assert_eq!(
                (hash, version.size),
                (&sha256(content), Some(content.len() as u64)),
                "{version:?}"
            );
        }
        if !["external", "redacted"].contains(&operation) {
            let actor = version.actor.clone();
            let change = changes.entry(actor).or_insert(version.change);
            assert_eq!(*change, version.change, "two changes of one command: {version:?}");
        }
        all.push(Told {
            version: Expected {
                operation,
                path: version.path.to_string(),
                old_path: version.old_path.as_ref().map(ToString::to_string),
                content,
                is_redacted,
                actor: version.actor.clone().unwrap_or_default(),
                file: None,
            },
            is_current: version.is_current,
        });
    }
    let distinct: BTreeSet<_> = changes.values().collect();
    assert_eq!(distinct.len(), changes.len(), "two commands have one change");
    all
}

/// A version in the form in which it is compared: without redacted content, and without the number of its file.
fn comparable(expected: &Expected) -> Expected {
    let content = expected.content.clone().filter(|_| !expected.is_redacted);
    Expected { content, file: None, ..expected.clone() }
}

fn at_path<'v>(versions: &'v [Expected], path: &str) -> Vec<&'v Expected> {
    let is_at =
        |version: &&Expected| version.path == path || version.old_path.as_deref() == Some(path);
    versions.iter().filter(is_at).collect()
}

/// All versions. Those of one command are sorted by their paths, because they have no order.
fn in_order(versions: &[Expected]) -> Vec<&Expected> {
    let parts = versions.chunk_by(|one, next| one.actor == next.actor);
    let mut all = Vec::new();
    for part in parts {
        let mut part: Vec<_> = part.iter().collect();
        part.sort_by(|one, other| one.path.cmp(&other.path));
        all.append(&mut part);
    }
    all
}

/// Checks that the reported versions are the expected ones. On failure it prints only the differences.
fn same(told: &[&Expected], expected: &[&Expected]) {
    let Some(first) =
        (0..told.len().max(expected.len())).find(|at| told.get(*at) != expected.get(*at))
    else {
        return;
    };
    let lines = |versions: &[&Expected]| {
        let shown = versions.iter().skip(first.saturating_sub(2)).take(8);
        shown.map(|version| format!("    {version}\n")).collect::<String>()
    };
    panic!("the history tells\n{}where this was done\n{}", lines(told), lines(expected));
}

/// Checks that every change is reported once, with its content, that nothing else is reported, and that the current
/// versions match the files. `is_ordered`: no command ran between the steps of another one, so all changes have one
/// order.
pub(super) fn check(memory: &Memory, truth: &Truth, is_ordered: bool) {
    let raw = tree(&**memory.store());
    assert_eq!(raw, truth.tree, "the files are not what the stores were told");
    let told = told(memory);
    let current: Vec<(String, Option<String>)> = told
        .iter()
        .filter(|told| told.is_current)
        .map(|told| (told.version.path.clone(), told.version.content.clone()))
        .collect();
    let versions: Vec<Expected> = told.into_iter().map(|told| told.version).collect();
    let expected: Vec<Expected> = truth.versions.iter().map(comparable).collect();
    if is_ordered {
        same(&in_order(&versions), &in_order(&expected));
    }
    let paths: BTreeSet<&String> = versions
        .iter()
        .chain(&expected)
        .flat_map(|version| std::iter::once(&version.path).chain(&version.old_path))
        .collect();
    for path in paths {
        same(&at_path(&versions, path), &at_path(&expected, path));
    }
    assert_eq!(versions.len(), expected.len());
    let in_files: BTreeMap<String, Option<String>> =
        truth.tree.iter().map(|(path, content)| (path.clone(), Some(content.clone()))).collect();
    assert_eq!(current.len(), in_files.len(), "{current:?}");
    assert_eq!(current.into_iter().collect::<BTreeMap<_, _>>(), in_files, "what is current");
    // The same with the other queries.
    let far = SystemTime::now() + Duration::from_secs(5 * 365 * 24 * 3600);
    let files = memory.files_at(far).unwrap();
    let files: Vec<String> = files.iter().map(|file| file.path.to_string()).collect();
    assert!(files.iter().eq(truth.tree.keys()), "{files:?}");
    let mut problems = Vec::new();
    memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
    problems.retain(|problem| problem.contains("history"));
    assert!(problems.is_empty(), "{problems:?}");
}

/// Removes from the truth the versions that a trim has removed, after checking that it was allowed to.
pub(super) fn follow_trim(memory: &Memory, truth: &mut Truth) {
    let mut told: Vec<Expected> = told(memory).into_iter().map(|told| told.version).collect();
    let may_go = truth.may_be_trimmed();
    let all = truth.versions.clone();
    let mut number = 0;
    truth.versions.retain(|version| {
        number += 1;
        match told.iter().position(|told| *told == comparable(version)) {
            Some(at) => {
                told.remove(at);
                true
            }
            None => {
                let near = told.iter().filter(|told| told.path == version.path);
                let near: Vec<String> = near.map(ToString::to_string).collect();
                let done = all.iter().filter(|other| other.path == version.path);
                let done: Vec<String> = done.map(ToString::to_string).collect();
                assert!(
                    may_go.contains(&(number - 1)),
                    "a trim removed {version}: {near:#?} is there of {done:#?}"
                );
                truth.is_trimmed = true;
                false
            }
        }
    });
}
