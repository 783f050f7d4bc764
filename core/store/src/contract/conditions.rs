//! The rules about conditional deletion and conditional moves of a file.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::races::race;
use super::{Checked, Holds, REFUSED_MOVES, done, expect, path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::Error;
use crate::{Condition, Splice, Store, StoreError};

/// A conditional operation on a file.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Deletion,
    Move,
}

impl Kind {
    fn of(
        self,
        store: &dyn Store,
        at: &MemoryPath,
        to: &MemoryPath,
        condition: &mut Condition<'_>,
    ) -> Result<bool, StoreError> {
        match self {
            Self::Deletion => store.delete_if(at, condition),
            Self::Move => store.rename_if(at, to, condition),
        }
    }
}

/// Runs the operation with a condition that returns `answer`, and checks the content passed to the condition.
fn decide(
    store: &Checked<'_>,
    kind: Kind,
    (at, to): (&MemoryPath, &MemoryPath),
    content: &str,
    answer: bool,
) -> Holds {
    let mut seen = None;
    let decided = kind.of(store.0, at, to, &mut |content| {
        seen = Some(content.to_vec());
        answer
    });
    expect("whether it was done", answer, done("asking a condition", decided)?)?;
    expect("what the condition was shown", Some(content.as_bytes().to_vec()), seen)
}

pub(super) fn deleting(store: &Checked<'_>) -> Holds {
    store.write("/memories/dir/a", "one")?;
    store.write("/memories/dir/b", "two")?;
    let (a, to) = (path("/memories/dir/a")?, MemoryPath::root());
    let before = store.tree()?;
    decide(store, Kind::Deletion, (&a, &to), "one", false)?;
    expect("the tree after a condition said no", before, store.tree()?)?;
    decide(store, Kind::Deletion, (&a, &to), "one", true)?;
    store.has(&[("/memories/dir", None), ("/memories/dir/b", Some("two"))])?;
    for (at, condition) in [
        ("/memories/none", StoreError::NotFound),
        ("/memories/dir/a", StoreError::NotFound),
        ("/memories/dir/b/below", StoreError::NotFound),
        ("/memories/dir", StoreError::IsADirectory),
        ("/memories", StoreError::IsADirectory),
    ] {
        let at = path(at)?;
        for answer in [true, false] {
            let what = format!("deleting {at} on a condition");
            store.refuses(&what, &condition, |s| s.delete_if(&at, &mut |_| answer))?;
        }
    }
    Ok(())
}

pub(super) fn renaming(store: &Checked<'_>) -> Holds {
    for at in ["file", "other", "dir/x", "full/y"] {
        store.write(&format!("/memories/{at}"), at)?;
    }
    for (from, to, condition) in &REFUSED_MOVES {
        let (from, to) = (path(&format!("/memories/{from}"))?, path(to)?);
        let what = format!("renaming {from} to {to} on a condition");
        store.refuses(&what, condition, |s| s.rename_if(&from, &to, &mut |_| true))?;
    }
    let (file, new) = (path("/memories/file")?, path("/memories/new/file")?);
    for directory in ["/memories/dir", "/memories/full"] {
        let from = path(directory)?;
        for to in [&new, &file] {
            let what = format!("renaming {from} to {to} on a condition");
            store.refuses_source(&what, &StoreError::IsADirectory, |s| {
                s.rename_if(&from, to, &mut |_| true)
            })?;
        }
    }
    let before = store.tree()?;
    // If the condition is false, the state of the destination must not matter.
    for to in [&new, &path("/memories/other")?] {
        decide(store, Kind::Move, (&file, to), "file", false)?;
        expect("the tree after a condition said no", before.clone(), store.tree()?)?;
    }
    decide(store, Kind::Move, (&file, &new), "file", true)?;
    store.has(&[
        ("/memories/dir", None),
        ("/memories/dir/x", Some("dir/x")),
        ("/memories/full", None),
        ("/memories/full/y", Some("full/y")),
        ("/memories/new", None),
        ("/memories/new/file", Some("file")),
        ("/memories/other", Some("other")),
    ])
}

fn add_one(store: &dyn Store, at: &MemoryPath) -> Result<(), StoreError> {
    store.update(at, &mut |old| Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() }))
}

/// For stores with atomic conditions: each successful edit is in the file, or in the content that the condition
/// accepted.
pub(super) fn races(store: &Checked<'_>) -> Holds {
    if !store.0.info().conditions_are_atomic {
        return Ok(());
    }
    for kind in [Kind::Deletion, Kind::Move] {
        edit_while_asked(store, kind)?;
        for round in 0..3 {
            edit_beside(store, kind, round)?;
        }
    }
    Ok(())
}

/// Edits the file while its condition is running. The store may delay the edit, refuse it, or call the condition again.
fn edit_while_asked(store: &Checked<'_>, kind: Kind) -> Holds {
    /// How long the condition waits for an edit. If the store delays the edit, the condition waits for all of this time.
    const PATIENCE: Duration = Duration::from_millis(100);
    let (at, to) = (path(&format!("/memories/{kind:?}"))?, path("/memories/while/asked")?);
    done("writing", store.0.write(&at, b"", Error))?;
    let (is_asked, edited) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut accepted = Vec::new();
    let (is_done, edit) = thread::scope(|scope| {
        let editor = scope.spawn(|| {
            while !is_asked.load(Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(1));
            }
            let edit = add_one(store.0, &at);
            edited.store(edit.is_ok(), Ordering::SeqCst);
            edit
        });
        let is_done = kind.of(store.0, &at, &to, &mut |content| {
            accepted = content.to_vec();
            let asked = Instant::now();
            is_asked.store(true, Ordering::SeqCst);
            while !edited.load(Ordering::SeqCst) && asked.elapsed() < PATIENCE {
                thread::sleep(Duration::from_millis(1));
            }
            true
        });
        is_asked.store(true, Ordering::SeqCst);
        (is_done, editor.join().unwrap_or(Err(StoreError::Busy)))
    });
    let edits = match edit {
        Ok(()) => 1,
        Err(StoreError::NotFound | StoreError::Busy) => 0,
        Err(error) => return Err(format!("editing a file whose condition is asked: {error}")),
    };
    let is_done = done("asking a condition", is_done)?;
    expect("whether it was done on a condition that says yes", true, is_done)?;
    settled(store, kind, (&at, &to), edits, Some(accepted))
}

/// Some threads edit the file. Others read it, and delete or move it if it still has that content.
fn edit_beside(store: &Checked<'_>, kind: Kind, round: usize) -> Holds {
    const EACH: usize = 3;
    let at = path(&format!("/memories/{kind:?}-{round}"))?;
    let to = path(&format!("/memories/to/{round}"))?;
    done("writing", store.0.write(&at, b"", Error))?;
    let (edits, accepted) = (AtomicUsize::new(0), Mutex::new(None));
    race(store, |s, racer| {
        for _ in 0..EACH {
            if racer % 2 == 1 {
                add_one(s, &at)?;
                edits.fetch_add(1, Ordering::SeqCst);
                continue;
            }
            let seen = s.read(&at)?;
            if kind.of(s, &at, &to, &mut |content| content == seen)? {
                *accepted.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
            }
        }
        Ok(())
    })?;
    let accepted = accepted.into_inner().unwrap_or_else(PoisonError::into_inner);
    settled(store, kind, (&at, &to), edits.into_inner(), accepted)
}

/// Checks that every edit is in the file, or in the content that was accepted when it was deleted or moved.
fn settled(
    store: &Checked<'_>,
    kind: Kind,
    (at, to): (&MemoryPath, &MemoryPath),
    edits: usize,
    accepted: Option<Vec<u8>>,
) -> Holds {
    let edited = "+".repeat(edits);
    let Some(accepted) = accepted else { return store.holds(at.as_str(), &edited) };
    expect("the edits in the content that the condition accepted", edits, accepted.len())?;
    store.refuses("reading what is gone", &StoreError::NotFound, |s| s.read(at))?;
    match kind {
        Kind::Deletion => Ok(()),
        Kind::Move => store.holds(to.as_str(), &edited),
    }
}
