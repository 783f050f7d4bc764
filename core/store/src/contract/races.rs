//! The rules about concurrent calls: each call's result is correct, and nothing acknowledged is lost.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::{Checked, Holds, done, expect, path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::{Error, Overwrite};
use crate::{Splice, Store, StoreError};

/// Runs `each` on several threads at once and counts the successful calls; a condition counts as not
/// successful.
pub(super) fn race(
    store: &Checked<'_>,
    each: impl Fn(&dyn Store, usize) -> Result<(), StoreError> + Sync,
) -> Result<usize, String> {
    const THREADS: usize = 8;
    let successes = AtomicUsize::new(0);
    let broken = thread::scope(|scope| {
        let racers: Vec<_> = (0..THREADS)
            .map(|racer| {
                let (each, successes) = (&each, &successes);
                scope.spawn(move || match each(store.0, racer) {
                    Ok(()) => {
                        successes.fetch_add(1, Ordering::Relaxed);
                        None
                    }
                    Err(StoreError::Failed { operation, source, .. }) => {
                        Some(format!("{operation}: {source}"))
                    }
                    Err(_) => None,
                })
            })
            .collect();
        racers.into_iter().find_map(|racer| racer.join().unwrap_or(Some("panicked".to_owned())))
    });
    match broken {
        Some(broken) => Err(broken),
        None => Ok(successes.load(Ordering::Relaxed)),
    }
}

pub(super) fn updates(store: &Checked<'_>) -> Holds {
    const EACH: usize = 10;
    store.write("/memories/count", "")?;
    let at = path("/memories/count")?;
    let succeeded = race(store, |s, _| {
        (0..EACH).try_for_each(|_| {
            s.update(&at, &mut |old| {
                Some(Splice { range: old.len()..old.len(), text: b"+".to_vec() })
            })
        })
    })?;
    store.holds("/memories/count", &"+".repeat(succeeded * EACH))?;
    expect("how many threads could update", 8, succeeded)
}

pub(super) fn creation(store: &Checked<'_>) -> Holds {
    for round in 0..5 {
        let at = path(&format!("/memories/new {round}/file"))?;
        let winners = race(store, |s, racer| s.write(&at, racer.to_string().as_bytes(), Error))?;
        expect("how many creations of one path succeeded", 1, winners)?;
    }
    Ok(())
}

pub(super) fn renames(store: &Checked<'_>) -> Holds {
    let sources: Vec<MemoryPath> = (0..8)
        .map(|racer| {
            let at = format!("/memories/{racer}");
            store.write(&at, &at)?;
            path(&at)
        })
        .collect::<Result<_, String>>()?;
    let to = path("/memories/to/one")?;
    let winners = race(store, |s, racer| s.rename(&sources[racer], &to))?;
    expect("how many renames to one path succeeded", 1, winners)?;
    let files = store.tree()?.into_values().flatten().count();
    expect("how many of the files are there after the renames", sources.len(), files)
}

pub(super) fn reading(store: &Checked<'_>) -> Holds {
    let contents = [b"a".repeat(100_000), b"bb".repeat(70_000)];
    let at = path("/memories/file")?;
    done("writing", store.0.write(&at, &contents[0], Error))?;
    let torn = AtomicUsize::new(0);
    race(store, |s, racer| {
        for round in 0..8 {
            if racer == 0 {
                s.write(&at, &contents[round % 2], Overwrite)?;
            } else if !contents.contains(&s.read(&at)?) {
                torn.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    })
    .and_then(|finished| expect("how many threads could read and write", 8, finished))?;
    expect("how many contents were torn", 0, torn.into_inner())
}
