//! Checks that a store keeps the contract of [`Store`]. Run it on your own store.
//!
//! ```
//! use std::sync::Arc;
//! use memdir::store::{InProcess, check_contract};
//!
//! check_contract(&|| Arc::new(InProcess::new())).unwrap();
//! ```

use std::collections::BTreeMap;
use std::io::Read;
use std::mem::discriminant;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

mod access;
mod batches;
mod conditions;
mod directories;
mod fingerprints;
mod listings;
mod races;

use super::{Entry, EntryKind, Node, Splice, Store, StoreError, sort_by_path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::{Error, Overwrite};

/// Creates a new, empty store on each call.
pub type Factory<'f> = dyn Fn() -> Arc<dyn Store> + 'f;

/// A rule of the contract that a store breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the store breaks the rule \"{rule}\": {what}")]
pub struct Violation {
    /// The rule, in a few words.
    pub rule: &'static str,
    /// The expected and the actual result.
    pub what: String,
}

/// Checks every rule, each on a new store, and stops at the first one that the store breaks.
///
/// # Errors
/// The [`Violation`].
pub fn check_contract(factory: &Factory<'_>) -> Result<(), Violation> {
    rules().try_for_each(|rule| rule.check(&*factory()))
}

/// The rules that [`check_contract`] checks, in its order.
pub fn rules() -> impl ExactSizeIterator<Item = Rule> {
    RULES.iter().map(|&(name, holds)| Rule { name, holds })
}

/// One rule of the contract. Use it instead of [`check_contract`] if you create the stores differently.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The rule in a few words.
    pub name: &'static str,
    holds: Check,
}

impl Rule {
    /// Checks the rule on an empty store.
    ///
    /// # Errors
    /// The [`Violation`].
    pub fn check(self, store: &dyn Store) -> Result<(), Violation> {
        (self.holds)(&Checked(store)).map_err(|what| Violation { rule: self.name, what })
    }
}

type Holds = Result<(), String>;

/// The function that checks a rule.
type Check = fn(&Checked<'_>) -> Holds;

#[rustfmt::skip]
const RULES: &[(&str, Check)] = &[
    ("an empty store has a root and nothing else", empty),
    ("a content comes back as it was written", contents),
    ("a name comes back as it was written", names),
    ("creation is exclusive, overwriting replaces", creation),
    ("writing makes missing parents, and none when it fails", parents),
    ("a listing is one level deep and complete", listings::listing),
    ("opening a directory shows visible entries as deep as asked", listings::opening),
    ("an update changes what it was asked to", updating),
    ("deleting takes what is below along, and nothing else", deleting),
    ("renaming moves what is below along", renaming),
    ("renaming never overwrites and fails whole", renaming_refused),
    ("a condition decides whether a file is deleted", conditions::deleting),
    ("a condition decides whether a file is moved", conditions::renaming),
    ("all files can be gone through, each once", listings::all_files),
    ("clearing leaves the root", clearing),
    ("a directory is made with its parents, once", making_directories),
    ("a directory is removed only if it is empty", directories::removing),
    ("a time that is set stays until the file is written", times),
    ("files that are written together are written as each alone", batches::writing),
    ("a fingerprint stays, and differs when the content does", fingerprints::differ),
    ("a recorded access stays, and does not change the file", access::times),
    ("only what is unused is deleted as unused", access::deleting),
    ("unused files that are deleted together are deleted as each alone", batches::deleting_unused),
    ("concurrent updates all count", races::updates),
    ("what is edited is not deleted as unused", access::race_with_edits),
    ("an edit that a condition has not seen is not lost", conditions::races),
    ("of concurrent creations of one path exactly one succeeds", races::creation),
    ("of concurrent renames to one path exactly one succeeds", races::renames),
    ("readers see whole contents", races::reading),
    ("a file that is created in a directory keeps it from being removed", directories::races),
];

/// A store with helpers for the rules.
struct Checked<'s>(&'s dyn Store);

/// The content of every file, and every directory as `None`, by path.
type Tree = BTreeMap<MemoryPath, Option<Vec<u8>>>;

impl Checked<'_> {
    fn write(&self, at: &str, content: &str) -> Holds {
        let written = self.0.write(&path(at)?, content.as_bytes(), Error);
        written.map_err(|error| format!("writing {at}: {error}"))
    }

    fn holds(&self, at: &str, content: &str) -> Holds {
        let read = self.0.read(&path(at)?).map_err(|error| format!("reading {at}: {error}"))?;
        expect(at, content.as_bytes().to_vec(), read)
    }

    fn tree(&self) -> Result<Tree, String> {
        let mut tree = Tree::new();
        let mut directories = vec![MemoryPath::root()];
        while let Some(directory) = directories.pop() {
            let listed = self.0.list(&directory);
            for entry in listed.map_err(|error| format!("listing {directory}: {error}"))? {
                let content = match entry.kind {
                    EntryKind::Directory => {
                        directories.push(entry.path.clone());
                        None
                    }
                    EntryKind::File(size) => {
                        let read = self.0.read(&entry.path);
                        let read =
                            read.map_err(|error| format!("reading {}: {error}", entry.path))?;
                        expect(&format!("the size of {}", entry.path), read.len() as u64, size)?;
                        self.is_at_hand_or_not(&entry.path, &read)?;
                        Some(read)
                    }
                };
                tree.insert(entry.path, content);
            }
        }
        Ok(tree)
    }

    /// Checks that an answer of `open_nowait`, if any, has this content.
    fn is_at_hand_or_not(&self, at: &MemoryPath, content: &[u8]) -> Holds {
        let Some(opened) = self.0.open_nowait(at, 2) else { return Ok(()) };
        let Node::File(size, mut stream) = done("opening without waiting", opened)? else {
            return Err(format!("{at} should open as a file, also without waiting"));
        };
        let mut streamed = Vec::new();
        stream.read_to_end(&mut streamed).map_err(|error| format!("streaming {at}: {error}"))?;
        let what = format!("what is at hand of {at}");
        expect(&what, (content.len() as u64, content.to_vec()), (size, streamed))
    }

    /// Checks that the operation fails with the given condition and leaves the tree unchanged.
    fn refuses<T>(
        &self,
        what: &str,
        condition: &StoreError,
        operation: impl FnOnce(&dyn Store) -> Result<T, StoreError>,
    ) -> Holds {
        let before = self.tree()?;
        match operation(self.0) {
            Ok(_) => return Err(format!("{what} succeeded, but should be: {condition}")),
            Err(error) if discriminant(&error) != discriminant(condition) => {
                return Err(format!("{what} failed with: {error}; it should be: {condition}"));
            }
            Err(_) => {}
        }
        expect(&format!("the tree after {what}, which failed,"), before, self.tree()?)
    }

    /// As [`refuses`](Self::refuses), for a condition of a rename's source.
    fn refuses_source<T>(
        &self,
        what: &str,
        condition: &StoreError,
        operation: impl FnOnce(&dyn Store) -> Result<T, StoreError>,
    ) -> Holds {
        let mut of_source = false;
        self.refuses(what, condition, |s| match operation(s) {
            Err(StoreError::Source(error)) => {
                of_source = true;
                Err(*error)
            }
            done => done,
        })?;
        expect(&format!("whether the error of {what} is about the source"), true, of_source)
    }

    fn has(&self, expected: &[(&str, Option<&str>)]) -> Holds {
        let mut tree = Tree::new();
        for (at, content) in expected {
            tree.insert(path(at)?, content.map(|content| content.as_bytes().to_vec()));
        }
        expect("the tree", tree, self.tree()?)
    }
}

fn path(text: &str) -> Result<MemoryPath, String> {
    MemoryPath::parse(text).map_err(|error| format!("{text}: {error}"))
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, got: T) -> Holds {
    if expected == got {
        return Ok(());
    }
    let shorten = |value: T| format!("{value:?}").chars().take(500).collect::<String>();
    Err(format!("{what} should be {}, but is {}", shorten(expected), shorten(got)))
}

fn done<T>(what: &str, result: Result<T, StoreError>) -> Result<T, String> {
    result.map_err(|error| format!("{what}: {error}"))
}

/// Sorts entries by path and removes times and fingerprints, which differ from run to run.
fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    for entry in &mut entries {
        entry.modified = None;
        entry.accessed = None;
        entry.fingerprint = None;
        entry.changed = None;
    }
    sort_by_path(&mut entries);
    entries
}

fn opened(store: &Checked<'_>, at: &str, depth: usize) -> Result<Vec<Entry>, String> {
    let as_directory = |opened| match done("opening", opened)? {
        Node::Directory(entries) => Ok(sorted(entries)),
        Node::File(..) => Err(format!("{at} should open as a directory")),
    };
    let at_path = path(at)?;
    let entries = as_directory(store.0.open(&at_path, depth))?;
    if let Some(opened) = store.0.open_nowait(&at_path, depth) {
        let what = format!("what is at hand of {at}");
        expect(&what, entries.clone(), as_directory(opened)?)?;
    }
    Ok(entries)
}

fn empty(store: &Checked<'_>) -> Holds {
    store.has(&[])?;
    expect("the entries of the root", vec![], opened(store, "/memories", 2)?)?;
    let root = MemoryPath::root();
    store.refuses("reading the root", &StoreError::IsADirectory, |s| s.read(&root))?;
    store
        .refuses("writing the root", &StoreError::AlreadyExists, |s| s.write(&root, b"", Error))?;
    let none = path("/memories/none")?;
    store.refuses("reading what is not there", &StoreError::NotFound, |s| s.read(&none))?;
    store.refuses("listing what is not there", &StoreError::NotFound, |s| s.list(&none))?;
    store.refuses("opening what is not there", &StoreError::NotFound, |s| {
        s.open(&none, 2).map(|_| ())
    })
}

fn contents(store: &Checked<'_>) -> Holds {
    let every_byte: Vec<u8> = (0..=u8::MAX).collect();
    let large = every_byte.repeat(4096);
    for (name, content) in [("empty", &[][..]), ("bytes", &every_byte), ("large", &large)] {
        let at = path(&format!("/memories/{name}"))?;
        done("writing", store.0.write(&at, content, Error))?;
        expect(name, content.to_vec(), done("reading", store.0.read(&at))?)?;
        let Node::File(size, mut stream) = done("opening", store.0.open(&at, 2))? else {
            return Err(format!("{at} should open as a file"));
        };
        let mut streamed = Vec::new();
        stream.read_to_end(&mut streamed).map_err(|error| format!("streaming {at}: {error}"))?;
        expect("the size of an opened file", content.len() as u64, size)?;
        expect("a streamed content", content.to_vec(), streamed)?;
    }
    Ok(())
}

fn names(store: &Checked<'_>) -> Holds {
    let long = "n".repeat(255);
    let wide = "猫".repeat(85);
    // A decomposed spelling of `été` if the store respects case. Otherwise a different name, because the store may equate
    // the two spellings.
    let decomposed =
        if store.0.info().folds_case { "e\u{301}ta\u{301}" } else { "e\u{301}te\u{301}" };
    let plain = ["a b", "50%25", "100%", "...", "été", decomposed, "\"'`$*?:|<>", "-", "~"];
    let mut kept = plain.to_vec();
    for name in [&*long, &*wide] {
        // A store may have a smaller limit of its own, if it reports the matching error.
        match store.0.write(&path(&format!("/memories/{name}"))?, name.as_bytes(), Error) {
            Err(StoreError::NameTooLong) => {}
            written => {
                done("writing a long name", written)?;
                kept.push(name);
            }
        }
    }
    for name in plain {
        store.write(&format!("/memories/{name}"), name)?;
        store.write(&format!("/memories/in {name}/{name}"), name)?;
    }
    for name in kept {
        store.holds(&format!("/memories/{name}"), name)?;
    }
    let listed = done("listing", store.0.list(&MemoryPath::root()))?;
    for name in plain {
        let at = path(&format!("/memories/{name}"))?;
        if !listed.iter().any(|entry| entry.path == at) {
            return Err(format!("{at} is not in the listing"));
        }
    }
    Ok(())
}

fn creation(store: &Checked<'_>) -> Holds {
    store.write("/memories/dir/a", "one")?;
    let a = path("/memories/dir/a")?;
    store.refuses("creating a file twice", &StoreError::AlreadyExists, |s| {
        s.write(&a, b"", Error)
    })?;
    done("overwriting a file", store.0.write(&a, b"two", Overwrite))?;
    store.holds("/memories/dir/a", "two")?;
    done("overwriting nothing", store.0.write(&path("/memories/b")?, b"new", Overwrite))?;
    store.holds("/memories/b", "new")?;
    let dir = path("/memories/dir")?;
    for existing in [Error, Overwrite] {
        store.refuses("writing over a directory", &StoreError::AlreadyExists, |s| {
            s.write(&dir, b"x", existing)
        })?;
    }
    Ok(())
}

fn parents(store: &Checked<'_>) -> Holds {
    store.write("/memories/a/b/c", "deep")?;
    store.has(&[
        ("/memories/a", None),
        ("/memories/a/b", None),
        ("/memories/a/b/c", Some("deep")),
    ])?;
    for below in ["/memories/a/b/c/d", "/memories/a/b/c/d/e/f"] {
        let below = path(below)?;
        for existing in [Error, Overwrite] {
            store.refuses("writing below a file", &StoreError::NotADirectory, |s| {
                s.write(&below, b"x", existing)
            })?;
        }
        store.refuses("reading below a file", &StoreError::NotFound, |s| s.read(&below))?;
        store.refuses("deleting below a file", &StoreError::NotFound, |s| s.delete(&below))?;
        store.refuses("opening below a file", &StoreError::NotFound, |s| {
            s.open(&below, 1).map(|_| ())
        })?;
    }
    Ok(())
}

fn making_directories(store: &Checked<'_>) -> Holds {
    let (deep, file) = (path("/memories/a/b/.c")?, path("/memories/a/file")?);
    done("making a directory", store.0.make_directory(&deep))?;
    store.has(&[("/memories/a", None), ("/memories/a/b", None), ("/memories/a/b/.c", None)])?;
    store.write("/memories/a/b/.c/x", "kept")?;
    for there in [&deep, &path("/memories/a")?, &MemoryPath::root()] {
        done("making a directory that is there", store.0.make_directory(there))?;
    }
    store.write("/memories/a/file", "")?;
    store.refuses("making a directory of a file", &StoreError::AlreadyExists, |s| {
        s.make_directory(&file)
    })?;
    let below = path("/memories/a/file/x")?;
    store.refuses("making a directory below a file", &StoreError::NotADirectory, |s| {
        s.make_directory(&below)
    })?;
    store.holds("/memories/a/b/.c/x", "kept")
}

fn updating(store: &Checked<'_>) -> Holds {
    store.write("/memories/dir/a", "hello world")?;
    let a = path("/memories/dir/a")?;
    let mut seen = Vec::new();
    done(
        "updating",
        store.0.update(&a, &mut |content| {
            seen = content.to_vec();
            Some(Splice { range: 0..5, text: b"goodbye".to_vec() })
        }),
    )?;
    expect("what the edit was shown", b"hello world".to_vec(), seen)?;
    store.holds("/memories/dir/a", "goodbye world")?;
    done("updating nothing", store.0.update(&a, &mut |_| None))?;
    store.holds("/memories/dir/a", "goodbye world")?;
    done(
        "emptying",
        store.0.update(&a, &mut |old| Some(Splice { range: 0..old.len(), text: Vec::new() })),
    )?;
    store.holds("/memories/dir/a", "")?;
    for (at, condition) in [
        ("/memories/none", StoreError::NotFound),
        ("/memories/none/none", StoreError::NotFound),
        ("/memories/dir/a/below", StoreError::NotFound),
        ("/memories/dir", StoreError::IsADirectory),
        ("/memories", StoreError::IsADirectory),
    ] {
        let at = path(at)?;
        store.refuses("updating what is no file", &condition, |s| {
            s.update(&at, &mut |_| Some(Splice { range: 0..0, text: b"x".to_vec() }))
        })?;
    }
    Ok(())
}

fn deleting(store: &Checked<'_>) -> Holds {
    // A separate file in either case: a store that ignores case would equate `A` with `a`.
    let other = if store.0.info().folds_case { "/memories/a-" } else { "/memories/A" };
    for at in ["a/x", "a/deep/y", "a/.h", "ab", "a.b", "keep/one"] {
        store.write(&format!("/memories/{at}"), "")?;
    }
    store.write(other, "")?;
    done("deleting a directory", store.0.delete(&path("/memories/a")?))?;
    done("deleting a file", store.0.delete(&path("/memories/keep/one")?))?;
    store.has(&[
        (other, Some("")),
        ("/memories/a.b", Some("")),
        ("/memories/ab", Some("")),
        ("/memories/keep", None),
    ])?;
    let gone = path("/memories/a")?;
    store.refuses("deleting what is not there", &StoreError::NotFound, |s| s.delete(&gone))?;
    store.write("/memories/a", "anew")
}

fn renaming(store: &Checked<'_>) -> Holds {
    store.write("/memories/file", "f")?;
    store.write("/memories/dir/x", "x")?;
    store.write("/memories/dir/.deep/y", "y")?;
    store.write("/memories/dirt", "d")?;
    let rename = |from: &str, to: &str| done("renaming", store.0.rename(&path(from)?, &path(to)?));
    rename("/memories/file", "/memories/new/parents/file")?;
    rename("/memories/dir", "/memories/new/dir")?;
    store.has(&[
        ("/memories/dirt", Some("d")),
        ("/memories/new", None),
        ("/memories/new/dir", None),
        ("/memories/new/dir/.deep", None),
        ("/memories/new/dir/.deep/y", Some("y")),
        ("/memories/new/dir/x", Some("x")),
        ("/memories/new/parents", None),
        ("/memories/new/parents/file", Some("f")),
    ])
}

/// Moves that are refused: the source relative to the root, the destination, and the error. The existing files are `file`,
/// `other`, `dir/x` and `full/y`.
const REFUSED_MOVES: [(&str, &str, StoreError); 9] = [
    ("none", "/memories/new/a", StoreError::NotFound),
    ("none", "/memories/file", StoreError::NotFound),
    ("file/below", "/memories/new", StoreError::NotFound),
    ("file", "/memories/other", StoreError::AlreadyExists),
    ("file", "/memories/file", StoreError::AlreadyExists),
    ("file", "/memories/dir", StoreError::AlreadyExists),
    ("dir/x", "/memories", StoreError::AlreadyExists),
    ("file", "/memories/other/below/it", StoreError::NotADirectory),
    ("file", "/memories/file/below", StoreError::NotADirectory),
];

fn renaming_refused(store: &Checked<'_>) -> Holds {
    for at in ["file", "other", "dir/x", "full/y"] {
        store.write(&format!("/memories/{at}"), at)?;
    }
    let of_directories = [
        ("dir", "/memories/file", StoreError::AlreadyExists),
        ("dir", "/memories/full", StoreError::AlreadyExists),
        ("dir", "/memories/dir", StoreError::AlreadyExists),
        ("dir", "/memories/dir/in/itself", StoreError::IntoItself),
        ("dir", "/memories/dir/x/below", StoreError::IntoItself),
        ("dir", "/memories/file/below", StoreError::NotADirectory),
    ];
    for (from, to, condition) in REFUSED_MOVES.iter().chain(&of_directories) {
        let (old, new) = (path(&format!("/memories/{from}"))?, path(to)?);
        let what = format!("renaming {old} to {new}");
        store.refuses(&what, condition, |s| s.rename(&old, &new))?;
    }
    // Last, because each refusal compares the whole tree.
    store.write(&format!("/memories/deep{}", "/d".repeat(60)), "deep")?;
    let (deep, to) = (path("/memories/deep")?, path("/memories/new/1/2/3/4/5")?);
    store.refuses("making paths too deep", &StoreError::NameTooLong, |s| s.rename(&deep, &to))
}

fn clearing(store: &Checked<'_>) -> Holds {
    for at in ["a", "dir/x", ".hidden/y"] {
        store.write(&format!("/memories/{at}"), at)?;
    }
    done("clearing", store.0.clear())?;
    store.has(&[])?;
    done("clearing an empty store", store.0.clear())?;
    store.write("/memories/a", "anew")
}

fn times(store: &Checked<'_>) -> Holds {
    let (a, moved) = (path("/memories/dir/a")?, path("/memories/moved/a")?);
    let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_234_567_890_123_456);
    store.write("/memories/dir/a", "content")?;
    let said = |at: &MemoryPath| done("asking for a time", store.0.modified(at));
    let before = said(&a)?;
    done("setting a time", store.0.set_modified(&a, time))?;
    let kept = said(&a)?;
    if kept != Some(time) {
        // A store may keep no times, or be unable to set them. Then setting one must do nothing.
        return expect("the time of a file whose time cannot be set", before, kept);
    }
    store.holds("/memories/dir/a", "content")?;
    done("renaming", store.0.rename(&path("/memories/dir")?, &path("/memories/moved")?))?;
    expect("the time after a rename", Some(time), said(&moved)?)?;
    done(
        "updating",
        store.0.update(&moved, &mut |_| Some(Splice { range: 0..0, text: vec![b'x'] })),
    )?;
    if said(&moved)?.is_none_or(|now| now == time) {
        return Err("an update should have set the file's time to now".to_owned());
    }
    for (at, condition) in [
        ("/memories/none", StoreError::NotFound),
        ("/memories/moved/a/below", StoreError::NotFound),
        ("/memories/moved", StoreError::IsADirectory),
        ("/memories", StoreError::IsADirectory),
    ] {
        let at = path(at)?;
        store.refuses("asking for the time of what is no file", &condition, |s| s.modified(&at))?;
        store.refuses("setting the time of what is no file", &condition, |s| {
            s.set_modified(&at, time)
        })?;
    }
    Ok(())
}
