//! The rules about removing a directory if it is empty.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{Checked, Holds, done, expect, path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::Error;
use crate::{Store, StoreError};

/// Whether the store can remove directories. The default of [`Store::remove_directory`] never does.
fn can_remove(store: &Checked<'_>) -> Result<bool, String> {
    let probe = path("/memories/probe")?;
    done("making a directory", store.0.make_directory(&probe))?;
    let removed = done("removing an empty directory", store.0.remove_directory(&probe))?;
    if !removed {
        done("deleting a directory", store.0.delete(&probe))?;
    }
    Ok(removed)
}

pub(super) fn removing(store: &Checked<'_>) -> Holds {
    let can_remove = can_remove(store)?;
    store.has(&[])?;
    store.write("/memories/full/file", "kept")?;
    store.write("/memories/hidden/.file", "")?;
    store.write("/memories/file", "")?;
    for directory in ["/memories/outer/inner/empty", "/memories/outer/.second"] {
        done("making a directory", store.0.make_directory(&path(directory)?))?;
    }
    let before = store.tree()?;
    for directory in ["full", "hidden", "outer", "outer/inner"] {
        let at = path(&format!("/memories/{directory}"))?;
        let removed = done("removing a directory with an entry", store.0.remove_directory(&at))?;
        expect(&format!("whether {at}, which has an entry, was removed"), false, removed)?;
    }
    expect("the tree after directories with entries were not removed", before, store.tree()?)?;
    if !can_remove {
        return Ok(());
    }
    for (at, condition) in [
        ("/memories/none", StoreError::NotFound),
        ("/memories/none/none", StoreError::NotFound),
        ("/memories/file/below", StoreError::NotFound),
        ("/memories/file", StoreError::NotADirectory),
        ("/memories/full/file", StoreError::NotADirectory),
    ] {
        let at = path(at)?;
        let what = format!("removing the directory {at}");
        store.refuses(&what, &condition, |s| s.remove_directory(&at))?;
    }
    let remove = |at: &str| {
        let removed = done("removing an empty directory", store.0.remove_directory(&path(at)?))?;
        expect(&format!("whether {at}, which is empty, was removed"), true, removed)
    };
    remove("/memories/outer/inner/empty")?;
    remove("/memories/outer/.second")?;
    store.has(&[
        ("/memories/file", Some("")),
        ("/memories/full", None),
        ("/memories/full/file", Some("kept")),
        ("/memories/hidden", None),
        ("/memories/hidden/.file", Some("")),
        ("/memories/outer", None),
        ("/memories/outer/inner", None),
    ])?;
    remove("/memories/outer/inner")?;
    // A directory whose last file was deleted.
    done("deleting", store.0.delete(&path("/memories/full/file")?))?;
    remove("/memories/full")?;
    store.write("/memories/full", "a file now")?;
    store.holds("/memories/full", "a file now")
}

/// One thread creates files in a directory, and another removes it whenever it is empty.
pub(super) fn races(store: &Checked<'_>) -> Holds {
    const FILES: usize = 40;
    if !can_remove(store)? {
        return Ok(());
    }
    let directory = path("/memories/dir/below")?;
    let is_finished = AtomicBool::new(false);
    let (created, removing) = thread::scope(|scope| {
        let remover = scope.spawn(|| remove_until(store.0, &directory, &is_finished));
        let created = create_and_delete(store.0, &directory, FILES);
        is_finished.store(true, Ordering::SeqCst);
        (created, remover.join().unwrap_or(Err("panicked".to_owned())))
    });
    removing?;
    created
}

fn remove_until(store: &dyn Store, directory: &MemoryPath, is_finished: &AtomicBool) -> Holds {
    while !is_finished.load(Ordering::SeqCst) {
        for at in [Some(directory.clone()), directory.parent()].into_iter().flatten() {
            match store.remove_directory(&at) {
                Ok(_) | Err(StoreError::NotFound | StoreError::Busy) => {}
                Err(error) => return Err(format!("removing {at}: {error}")),
            }
        }
    }
    Ok(())
}

/// Each file stays for a moment and is then deleted, so the directory is often empty.
fn create_and_delete(store: &dyn Store, directory: &MemoryPath, files: usize) -> Holds {
    const PAUSE: Duration = Duration::from_millis(1);
    for number in 0..files {
        let at = directory.join(&number.to_string()).map_err(|error| error.to_string())?;
        match store.write(&at, b"kept", Error) {
            Ok(()) => {}
            // The store refuses instead of waiting. Then nothing was acknowledged.
            Err(StoreError::Busy) => continue,
            Err(error) => return Err(format!("creating a file beside a removal: {error}")),
        }
        thread::sleep(PAUSE);
        let read = done("reading a file that was created beside a removal", store.read(&at))?;
        expect("a file that was created beside a removal", b"kept".to_vec(), read)?;
        done("deleting a file beside a removal of its directory", store.delete(&at))?;
        thread::sleep(PAUSE);
    }
    Ok(())
}
