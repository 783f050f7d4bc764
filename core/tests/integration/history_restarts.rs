//! A history across processes that end, or are killed, between any two commands: each change has its versions, once, in the
//! order of the changes, and the current versions match the files.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use crate::common::effort;
use crate::common::store_helpers::mounted;
use memdir::history::{HistoryQuery, Version};
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::{
    Durability, EncryptionKey, Error, Memory, MemoryOptions, Store, StoreError, open_store,
};

#[derive(Debug, Clone)]
enum Action {
    Create(usize),
    Insert(usize),
    Rename(usize, usize),
    Delete(usize),
    /// The process ends, and another one continues.
    End,
    /// The process is killed, and another one continues.
    Kill,
    /// The process is killed in the middle of its next command: before or after the change.
    KillIn(Moment),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Moment {
    Before,
    After,
}

const PATHS: [&str; 8] = ["a", "d", "d/a", "d/b", "d/e", "d/e/a", "x", "x/a"];

fn actions() -> impl Strategy<Value = Vec<Action>> {
    let path = 0..PATHS.len();
    let action = prop_oneof![
        4 => path.clone().prop_map(Action::Create),
        4 => path.clone().prop_map(Action::Insert),
        4 => (path.clone(), path.clone()).prop_map(|(from, to)| Action::Rename(from, to)),
        2 => path.prop_map(Action::Delete),
        3 => Just(Action::End),
        2 => Just(Action::Kill),
        2 => Just(Action::KillIn(Moment::Before)),
        2 => Just(Action::KillIn(Moment::After)),
    ];
    proptest::collection::vec(action, 1..25)
}

fn path(index: usize) -> String {
    format!("/memories/{}", PATHS[index])
}

/// The expected history, as whole copies.
#[derive(Default)]
struct Model {
    files: BTreeMap<String, String>,
    /// Each version: the operation, the path, the old path, and the content of the file.
    versions: Vec<(String, String, Option<String>, Option<String>)>,
}

impl Model {
    fn changed(&mut self, done: &str, path: &str, content: String) {
        self.files.insert(path.to_owned(), content.clone());
        self.versions.push((done.to_owned(), path.to_owned(), None, Some(content)));
    }

    /// The files at a path or below it.
    fn at(&self, path: &str) -> Vec<String> {
        let below = format!("{path}/");
        let files = self.files.keys().filter(|file| *file == path || file.starts_with(&below));
        files.cloned().collect()
    }
}

fn act(memory: &Memory, store: &Killed, model: &mut Model, action: &Action, number: usize) {
    // A killed process receives no answer.
    let is_made = |answer: Result<String, Error>| {
        answer.is_ok() || *store.killed.lock().unwrap() == Some(Moment::After)
    };
    match action {
        Action::Create(at) => {
            let (path, text) = (path(*at), format!("{number}\n"));
            if is_made(memory.create(&path, &text)) {
                model.changed("created", &path, text);
            }
        }
        Action::Insert(at) => {
            let path = path(*at);
            if is_made(memory.insert(&path, 0, &number.to_string())) {
                let text = format!("{number}\n{}", model.files[&path]);
                model.changed("modified", &path, text);
            }
        }
        Action::Rename(from, to) => {
            let (from, to) = (path(*from), path(*to));
            if is_made(memory.rename(&from, &to)) {
                for old in model.at(&from) {
                    let new = old.replacen(&from, &to, 1);
                    let content = model.files.remove(&old).unwrap();
                    model.files.insert(new.clone(), content.clone());
                    model.versions.push(("renamed".to_owned(), new, Some(old), Some(content)));
                }
            }
        }
        Action::Delete(at) => {
            let path = path(*at);
            if is_made(memory.delete(&path)) {
                for file in model.at(&path) {
                    model.files.remove(&file);
                    model.versions.push(("deleted".to_owned(), file, None, None));
                }
            }
        }
        Action::End | Action::Kill | Action::KillIn(_) => {}
    }
}

fn check(memory: &Memory, model: &Model) {
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    let told = |version: &Version| {
        let content = memory.read_version(version.id).ok();
        // For a deletion it is the content before it.
        let content = content.filter(|_| version.operation.as_str() != "deleted");
        (
            version.operation.to_string(),
            version.path.to_string(),
            version.old_path.as_ref().map(ToString::to_string),
            content.map(|content| String::from_utf8(content).unwrap()),
        )
    };
    let told: Vec<_> = versions.iter().rev().map(told).collect();
    assert_eq!(told, model.versions);
    let current: BTreeMap<String, String> = versions
        .iter()
        .filter(|version| version.is_current)
        .map(|version| {
            let content = memory.read_version(version.id).unwrap();
            (version.path.to_string(), String::from_utf8(content).unwrap())
        })
        .collect();
    assert_eq!(current, model.files);
}

fn options() -> MemoryOptions {
    let mut options = MemoryOptions::default();
    options.history = true;
    options.durability = Durability::Relaxed;
    options
}

/// A store during whose next change the process is killed.
struct Killed {
    inner: Arc<dyn Store>,
    at: Mutex<Option<Moment>>,
    killed: Mutex<Option<Moment>>,
}

impl Killed {
    fn kill(&self, moment: Moment) -> Result<bool, StoreError> {
        *self.killed.lock().unwrap() = Some(moment);
        Err(StoreError::failed("a change", "killed"))
    }
}

impl Layer for Killed {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let take = || self.at.lock().unwrap().take();
        match mutation {
            Mutation::WriteUnique { .. } => self.inner.mutate(context, mutation),
            Mutation::Update { path, edit } => {
                let mut moment = None;
                let mut edit = |old: &[u8]| {
                    // The first call of the history only reads.
                    let splice = edit(old)?;
                    moment = take();
                    Some(splice).filter(|_| moment != Some(Moment::Before))
                };
                let done = self.inner.mutate(context, Mutation::Update { path, edit: &mut edit });
                moment.map_or(done, |moment| self.kill(moment))
            }
            other => match take() {
                None => self.inner.mutate(context, other),
                Some(Moment::Before) => self.kill(Moment::Before),
                Some(Moment::After) => {
                    self.inner.mutate(context, other)?;
                    self.kill(Moment::After)
                }
            },
        }
    }
}

/// Runs the actions on the store that `open` opens, each time as another process.
fn follow(open: &dyn Fn() -> Arc<dyn Store>, actions: &[Action]) {
    let begin = || {
        let (at, killed) = (Mutex::default(), Mutex::default());
        let store = Arc::new(Killed { inner: open(), at, killed });
        (Memory::with_store(Arc::clone(&store) as _, options()), store)
    };
    let ((mut memory, mut store), mut model) = (begin(), Model::default());
    for (number, action) in actions.iter().enumerate() {
        match action {
            Action::End => (memory, store) = begin(),
            // Nothing of it completes.
            Action::Kill => {
                std::mem::forget(memory);
                (memory, store) = begin();
            }
            Action::KillIn(moment) => *store.at.lock().unwrap() = Some(*moment),
            action => {
                act(&memory, &store, &mut model, action, number);
                if store.killed.lock().unwrap().is_some() {
                    std::mem::forget(memory);
                    (memory, store) = begin();
                }
            }
        }
    }
    check(&memory, &model);
    check(&begin().0, &model);
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..effort::cases(40) })]

    #[test]
    fn every_change_is_told_once_whatever_ended_in_between(actions in actions()) {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path().join("m").display().to_string();
        follow(&|| open_store(&directory, &options()).unwrap(), &actions);

        let secret = place.path().join("s").display().to_string();
        let encrypted = || {
            let mut options = options();
            options.encryption_key = Some(EncryptionKey::from_bytes([7; 32]));
            open_store(&secret, &options).unwrap()
        };
        follow(&encrypted, &actions);

        let own: Arc<dyn Store> = Arc::new(InProcess::new());
        follow(&|| Arc::clone(&own), &actions);

        let (root, below): (Arc<dyn Store>, Arc<dyn Store>) =
            (Arc::new(InProcess::new()), Arc::new(InProcess::new()));
        follow(&|| Arc::new(mounted(Arc::clone(&root), Arc::clone(&below))), &actions);
    }
}
