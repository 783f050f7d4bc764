//! [`Truth`]: the expected files, and the versions that a history must report, as whole copies.
//!
//! The stores themselves report which changes they made ([`Witness`](super::witness::Witness)), so the truth is correct
//! whatever interrupted a command. It uses none of the history's code.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// The number of versions that the options of a [`Trim`](super::What::Trim) keep of a deleted file.
pub(super) const KEPT_OF_GONE: usize = 2;
/// The number of versions that are always kept of an existing file, as `docs/guides/history.md` specifies.
pub(super) const ALWAYS_KEPT: usize = 10;

/// The path of the second store, in a tree of mounts.
pub(super) const MOUNTED: &str = "/memories/other";

pub(super) type Tree = BTreeMap<String, String>;

/// A version that a history must report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expected {
    pub(super) operation: &'static str,
    pub(super) path: String,
    pub(super) old_path: Option<String>,
    /// The content of the file after it; `None` if the file is gone.
    pub(super) content: Option<String>,
    /// Whether that content was removed from the history.
    pub(super) is_redacted: bool,
    /// Unique for each command.
    pub(super) actor: String,
    /// The file of the version; `None` for the note that a version was redacted.
    pub(super) file: Option<usize>,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, path, old_path, content, is_redacted, actor, .. } = self;
        write!(f, "{actor} {operation} {path}")?;
        if let Some(old) = old_path {
            write!(f, " from {old}")?;
        }
        write!(f, ": {content:?}{}", if *is_redacted { ", redacted" } else { "" })
    }
}

#[derive(Debug, Clone, Default)]
pub(super) struct Truth {
    /// The files that a reader sees.
    pub(super) tree: Tree,
    /// The number of the file at each path.
    files: BTreeMap<String, usize>,
    /// Temporary files with reserved names, during a move from one store into another.
    on_the_way: Tree,
    next_file: usize,
    /// In the order of the changes.
    pub(super) versions: Vec<Expected>,
    /// Whether another store is at [`MOUNTED`].
    pub(super) has_mounts: bool,
    /// Whether something was trimmed, so a part of the past is no longer known.
    pub(super) is_trimmed: bool,
}

/// A change made by a store, with the paths of the whole tree.
#[derive(Debug, Clone)]
pub(super) enum Made {
    /// Created or replaced.
    Content(String, String),
    /// A file or directory was deleted.
    Gone(String),
    /// A whole store at a path of the tree was cleared, except for the stores mounted in it.
    Cleared(String),
    Moved(String, String),
}

fn is_reserved(path: &str) -> bool {
    path.contains("/.memdir-")
}

/// Whether a path equals another one, or is below it.
pub(super) fn is_within(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn take_within(tree: &mut Tree, top: &str) -> Vec<(String, String)> {
    let paths: Vec<String> = tree.keys().filter(|path| is_within(path, top)).cloned().collect();
    paths.into_iter().map(|path| (path.clone(), tree.remove(&path).unwrap())).collect()
}

impl Truth {
    /// Records a change of a store. `operation` returns the name in its versions, given the usual name.
    pub(super) fn saw(
        &mut self,
        made: Made,
        actor: &str,
        operation: &dyn Fn(&'static str) -> &'static str,
    ) {
        match made {
            Made::Content(path, content) if is_reserved(&path) => {
                self.on_the_way.insert(path, content);
            }
            Made::Content(path, content) => {
                let usual = if self.tree.contains_key(&path) { "modified" } else { "created" };
                self.put(&path, None, content, actor, operation(usual));
            }
            Made::Cleared(top) => {
                let is_of_store = |path: &String| {
                    is_within(path, &top)
                        && (top == MOUNTED || !is_within(path, MOUNTED) || !self.has_mounts)
                };
                let paths: Vec<String> =
                    self.tree.keys().filter(|path| is_of_store(path)).cloned().collect();
                for path in paths {
                    self.saw(Made::Gone(path), actor, operation);
                }
            }
            Made::Gone(top) => {
                take_within(&mut self.on_the_way, &top);
                for (path, _) in take_within(&mut self.tree, &top) {
                    self.gone(path, actor, operation("deleted"));
                }
            }
            Made::Moved(from, to) => {
                for (old, content) in take_within(&mut self.on_the_way, &from) {
                    let new = old.replacen(&from, &to, 1);
                    if is_reserved(&new) {
                        self.on_the_way.insert(new, content);
                    } else {
                        self.put(&new, None, content, actor, operation("created"));
                    }
                }
                for (old, content) in take_within(&mut self.tree, &from) {
                    let new = old.replacen(&from, &to, 1);
                    if is_reserved(&new) {
                        self.gone(old, actor, operation("deleted"));
                        self.on_the_way.insert(new, content);
                    } else {
                        self.put(&new, Some(old), content, actor, operation("renamed"));
                    }
                }
            }
        }
    }

    fn put(
        &mut self,
        path: &str,
        old_path: Option<String>,
        content: String,
        actor: &str,
        operation: &'static str,
    ) {
        let before = self.files.remove(old_path.as_deref().unwrap_or(path));
        let file = before.unwrap_or_else(|| {
            self.next_file += 1;
            self.next_file
        });
        self.files.insert(path.to_owned(), file);
        self.tree.insert(path.to_owned(), content.clone());
        self.versions.push(Expected {
            operation,
            path: path.to_owned(),
            old_path,
            content: Some(content),
            is_redacted: false,
            actor: actor.to_owned(),
            file: Some(file),
        });
    }

    fn gone(&mut self, path: String, actor: &str, operation: &'static str) {
        let file = self.files.remove(&path);
        self.versions.push(Expected {
            operation,
            path,
            old_path: None,
            content: None,
            is_redacted: false,
            actor: actor.to_owned(),
            file,
        });
    }

    /// The versions of a file, oldest first, by their numbers.
    fn chain(&self, file: usize) -> Vec<usize> {
        let all = 0..self.versions.len();
        all.filter(|number| self.versions[*number].file == Some(file)).collect()
    }

    fn is_there(&self, file: usize) -> bool {
        self.files.values().any(|there| *there == file)
    }

    /// Removes a content from all versions of the history.
    pub(super) fn redacted(&mut self, content: &str) {
        for version in &mut self.versions {
            version.is_redacted |= version.content.as_deref() == Some(content);
        }
    }

    /// Adds the version that reports the redaction.
    pub(super) fn noted_redaction(&mut self, number: usize, actor: &str) {
        let path = self.versions[number].path.clone();
        self.versions.push(Expected {
            operation: "redacted",
            path,
            old_path: None,
            content: None,
            is_redacted: false,
            actor: actor.to_owned(),
            file: None,
        });
    }

    /// The versions that a trim may remove.
    pub(super) fn may_be_trimmed(&self) -> BTreeSet<usize> {
        let mut may_go: BTreeSet<usize> = (0..self.versions.len()).collect();
        for file in 1..=self.next_file {
            let most = if self.is_there(file) { ALWAYS_KEPT } else { KEPT_OF_GONE };
            for number in self.chain(file).iter().rev().take(most) {
                may_go.remove(number);
            }
        }
        may_go
    }

    /// The expected files after the change of an actor is undone; `None` if some of the past is no longer known.
    pub(super) fn after_undo(&self, actor: &str) -> Option<Tree> {
        let (mut tree, mut brought_back) = (self.tree.clone(), Tree::new());
        for file in 1..=self.next_file {
            let chain = self.chain(file);
            let Some(first) = chain.iter().position(|number| self.versions[*number].actor == actor)
            else {
                continue;
            };
            if let Some((path, _)) = self.files.iter().find(|(_, there)| **there == file) {
                tree.remove(path);
            }
            if let Some(before) = first.checked_sub(1) {
                let before = &self.versions[chain[before]];
                if let Some(content) = &before.content {
                    brought_back.insert(before.path.clone(), content.clone());
                }
            } else if self.is_trimmed {
                return None;
            }
        }
        tree.append(&mut brought_back);
        Some(tree)
    }

    /// Whether the change of an actor is the last one, so it can be undone.
    pub(super) fn is_last(&self, actor: &str) -> bool {
        let last = self.versions.iter().rev().take_while(|version| version.actor == actor);
        last.clone().count() > 0
            && last.count() == self.versions.iter().filter(|version| version.actor == actor).count()
    }

    /// The expected files after a version is restored.
    pub(super) fn after_restore(&self, number: usize) -> Option<Tree> {
        let version = &self.versions[number];
        let chain = self.chain(version.file?);
        let at = chain.iter().position(|of| *of == number)?;
        let brought_back = match &version.content {
            Some(_) => number,
            None => *chain.get(at.checked_sub(1)?)?,
        };
        let content = self.versions[brought_back].content.clone()?;
        let there = self.files.iter().find(|(_, there)| Some(**there) == version.file);
        let path = there.map_or(&self.versions[brought_back].path, |(path, _)| path);
        let mut tree = self.tree.clone();
        tree.insert(path.clone(), content);
        Some(tree)
    }
}
