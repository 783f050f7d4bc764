//! The rules about access times, for stores that track them, and about deleting unused files.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use super::races::race;
use super::{Checked, Holds, done, expect, path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::Error;
use crate::{Context, FileToDelete, Splice, Store, StoreError, micros};

const MOMENT: Duration = Duration::from_micros(1);

/// A time long ago, with microseconds.
fn long_ago() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_micros(1_234_567_890_123_456)
}

/// A time in the future, rounded to microseconds because stores keep no finer times.
pub(super) fn ahead() -> SystemTime {
    let ahead = SystemTime::now() + Duration::from_secs(3600);
    micros::time(micros::of(ahead)).unwrap_or(ahead)
}

/// The paths of the files that the store reports as unused.
fn unused(store: &dyn Store, since: SystemTime) -> Result<Vec<String>, String> {
    let mut files = Vec::new();
    done("going through all files", store.files(&mut |file| files.push(file)))?;
    let unused = done("asking for unused files", store.unused(files, since))?;
    let mut paths: Vec<String> = unused.iter().map(|file| file.path.to_string()).collect();
    paths.sort();
    Ok(paths)
}

pub(super) fn times(store: &Checked<'_>) -> Holds {
    let (a, moved) = (path("/memories/dir/a")?, path("/memories/moved/a")?);
    store.write("/memories/dir/a", "content")?;
    let said = |at: &MemoryPath| done("asking for an access", store.0.accessed(at));
    if !store.0.info().tracks_access {
        let deleted = done("deleting", store.0.delete_unused(&a, ahead()))?;
        return expect("whether a store without times of access deletes by them", false, deleted);
    }
    expect("the access of a file that nobody accessed", None, said(&a)?)?;
    let modified = done("asking for a time", store.0.modified(&a))?;
    for time in [SystemTime::now(), long_ago()] {
        done("noting an access", store.0.record_access(&a, time))?;
        let off = said(&a)?
            .and_then(|kept| kept.duration_since(time).or_else(|_| time.duration_since(kept)).ok());
        if off.is_none_or(|off| off > MOMENT) {
            return Err(format!("the access should be {time:?}, but is {:?}", said(&a)?));
        }
    }
    store.holds("/memories/dir/a", "content")?;
    expect("the time after an access", modified, done("asking", store.0.modified(&a))?)?;
    done("renaming", store.0.rename(&path("/memories/dir")?, &path("/memories/moved")?))?;
    expect("the access after a rename of its directory", Some(long_ago()), said(&moved)?)?;
    done("renaming", store.0.rename(&moved, &a))?;
    expect("the access after a rename", Some(long_ago()), said(&a)?)?;
    done("deleting", store.0.delete(&a))?;
    store.write("/memories/dir/a", "another")?;
    expect("the access of a new file where an older one was", None, said(&a)?)?;
    for (at, condition) in [
        ("/memories/none", StoreError::NotFound),
        ("/memories/dir/a/below", StoreError::NotFound),
        ("/memories/dir", StoreError::IsADirectory),
        ("/memories", StoreError::IsADirectory),
    ] {
        let at = path(at)?;
        store
            .refuses("asking for the access of what is no file", &condition, |s| s.accessed(&at))?;
        store.refuses("noting an access of what is no file", &condition, |s| {
            s.record_access(&at, long_ago())
        })?;
        let before = store.tree()?;
        let deleted = done("deleting what is no file", store.0.delete_unused(&at, ahead()))?;
        expect("whether what is no file was deleted", false, deleted)?;
        expect("the tree after deleting what is no file", before, store.tree()?)?;
    }
    Ok(())
}

pub(super) fn deleting(store: &Checked<'_>) -> Holds {
    if !store.0.info().tracks_access {
        return Ok(());
    }
    for at in ["/memories/dir/changed", "/memories/dir/viewed", "/memories/.hidden/both"] {
        store.write(at, at)?;
    }
    let [changed, viewed, both] = [
        path("/memories/dir/changed")?,
        path("/memories/dir/viewed")?,
        path("/memories/.hidden/both")?,
    ];
    let (now, since) = (SystemTime::now(), ahead());
    done("noting an access", store.0.record_access(&viewed, since))?;
    done("noting an access", store.0.record_access(&both, long_ago()))?;
    expect("what is unused since long ago", Vec::<String>::new(), unused(store.0, long_ago())?)?;
    let expected = vec![both.to_string(), changed.to_string()];
    expect("what is unused since a time to come", expected, unused(store.0, since)?)?;
    for (at, since, expected) in [
        (&changed, long_ago(), false),
        (&viewed, since, false),
        (&viewed, now, false),
        (&both, long_ago() + MOMENT, false),
        (&both, since, true),
        (&both, since, false),
        (&viewed, since + MOMENT, true),
        (&changed, since, true),
    ] {
        let deleted = done("deleting what is unused", store.0.delete_unused(at, since))?;
        expect(&format!("whether {at} was deleted"), expected, deleted)?;
    }
    store.has(&[("/memories/.hidden", None), ("/memories/dir", None)])
}

/// If a file is deleted as unused and edited at the same time, either the edit is refused or the file
/// stays.
pub(super) fn race_with_edits(store: &Checked<'_>) -> Holds {
    if !store.0.info().tracks_access {
        return Ok(());
    }
    for round in 0..5 {
        let at = path(&format!("/memories/{round}"))?;
        done("writing", store.0.write(&at, b"", Error))?;
        done("setting a time", store.0.set_modified(&at, long_ago()))?;
        if done("asking for a time", store.0.modified(&at))? != Some(long_ago()) {
            // The store cannot set an old time, so there is nothing to test.
            return Ok(());
        }
        let (edits, deleted) = (AtomicUsize::new(0), AtomicBool::new(false));
        race(store, |s, racer| {
            if racer % 2 == 0 {
                let since = long_ago() + MOMENT;
                if racer % 4 == 0 {
                    let file = FileToDelete { path: &at, note: None };
                    let mut visit = |done| {
                        deleted.fetch_or(done, Ordering::SeqCst);
                    };
                    return s.delete_unused_batch(&Context::new(), &[file], since, &mut visit);
                }
                if s.delete_unused(&at, since)? {
                    deleted.store(true, Ordering::SeqCst);
                }
                return Ok(());
            }
            s.update(&at, &mut |old| {
                Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
            })?;
            edits.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })?;
        match (edits.into_inner(), deleted.into_inner()) {
            (0, true) => {
                store
                    .refuses("reading what was deleted", &StoreError::NotFound, |s| s.read(&at))?;
            }
            (edits, false) => store.holds(at.as_str(), &"+".repeat(edits))?,
            (edits, true) => {
                return Err(format!("{edits} edits were done, and the file was deleted as unused"));
            }
        }
    }
    Ok(())
}
