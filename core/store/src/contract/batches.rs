//! The rules about files that are written together, and about unused files that are deleted together.

use std::time::{Duration, SystemTime};

use super::access::ahead;
use super::{Checked, Holds, Tree, done, expect, path};
use crate::access::Times;
use crate::notes::Note;
use crate::path::MemoryPath;
use crate::settings::OnExisting::{self, Error, Overwrite};
use crate::{Context, FileToDelete, FileToWrite, StoreError};

/// Exceeds the number of files that any store treats specially.
const MANY: usize = 100;

pub(super) fn writing(store: &Checked<'_>) -> Holds {
    done("writing no files", store.0.write_batch(&Context::new(), &[]).map_err(|it| it.error))?;
    let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_500_000_000_123_456);
    store.write("/memories/dir/old", "old")?;
    let mut expected = store.tree()?;
    let paths: Result<Vec<_>, _> =
        (0..MANY).map(|number| path(&format!("/memories/d{}/{number}", number % 7))).collect();
    let (mut paths, old) = (paths?, path("/memories/dir/old")?);
    paths.push(old.clone());
    let contents: Vec<Vec<u8>> = (0..paths.len()).map(|n| "ü\0\r\n".repeat(n).into()).collect();
    let files = |existing| file_list(&paths, &contents, time, existing);
    let written = store.0.write_batch(&Context::new(), &files(Overwrite));
    done("writing files together", written.map_err(|failed| failed.error))?;
    for (at, content) in paths.iter().zip(&contents) {
        expected.extend(at.parent().map(|above| (above, None)));
        expected.insert(at.clone(), Some(content.clone()));
    }
    expect("the tree after writing files together", &expected, &store.tree()?)?;
    reading(store, &paths, &contents)?;

    // The time is the same as that of a file that was written alone.
    store.write("/memories/dir/alone", "alone")?;
    let alone = path("/memories/dir/alone")?;
    done("setting a time", store.0.set_modified(&alone, time))?;
    let modified = |at: &MemoryPath| done("asking for a time", store.0.modified(at));
    expect("the times are kept", modified(&alone)? == Some(time), modified(&old)? == Some(time))?;
    done("deleting", store.0.delete(&alone))?;

    ends_early(store, &mut expected, &old, &StoreError::AlreadyExists)?;
    let below = path("/memories/dir/old/below")?;
    ends_early(store, &mut expected, &below, &StoreError::NotADirectory)?;
    notes(store, &old)
}

/// Reads files together, of which one does not exist.
fn reading(store: &Checked<'_>, paths: &[MemoryPath], contents: &[Vec<u8>]) -> Holds {
    let missing = path("/memories/dir/missing")?;
    let mut all: Vec<&MemoryPath> = paths.iter().collect();
    let mut read = Vec::new();
    let whole = store.0.read_batch(&Context::new(), &all, &mut |content| read.push(content));
    done("reading files together", whole)?;
    expect(
        "that files that are read together are those that were written",
        true,
        read == contents,
    )?;
    let times = done("asking for times", store.0.read_times(&Context::new(), &all))?;
    let alone = |at: &&MemoryPath| done("asking for a time", store.0.modified(at));
    let alone: Vec<_> = all.iter().map(alone).collect::<Result<_, _>>()?;
    let together: Vec<_> = times.iter().map(|times| times.modified).collect();
    expect("that times that are asked for together are those of each file", alone, together)?;
    let (mut count, after) = (0, paths.len() / 2);
    all.insert(after, &missing);
    let ended = store.0.read_batch(&Context::new(), &all, &mut |_| count += 1);
    let is_expected = matches!(ended, Err(StoreError::NotFound));
    expect("that a missing file among others is not found", true, is_expected)?;
    let times = store.0.read_times(&Context::new(), &all);
    let is_expected = matches!(times, Err(StoreError::NotFound));
    expect("that a missing file has no times", true, is_expected)?;
    expect("the number of files before the missing one", after, count)
}

/// Writes files of which one cannot be written, each with a note: those of the written files are kept.
fn notes(store: &Checked<'_>, refused: &MemoryPath) -> Holds {
    let Some(notes) = store.0.notes() else { return Ok(()) };
    let listed = || -> Result<usize, String> {
        Ok(done("listing the notes", notes.list(&Context::new(), 0))?.len())
    };
    let before = listed()?;
    let paths = [
        path("/memories/noted/a")?,
        path("/memories/noted/b")?,
        refused.clone(),
        path("/memories/noted/c")?,
    ];
    let contents = vec![b"noted".to_vec(); paths.len()];
    let note = |number: usize| Note { id: format!("note {number}"), bytes: vec![b'n'; number + 1] };
    let kept: Vec<Note> = (0..paths.len()).map(note).collect();
    let mut files = file_list(&paths, &contents, SystemTime::UNIX_EPOCH, Error);
    files.iter_mut().zip(&kept).for_each(|(file, note)| file.note = Some(note));
    let ended = store.0.write_batch(&Context::new(), &files);
    expect(
        "the number of files before the refused one",
        Some(2),
        ended.err().map(|it| it.written),
    )?;
    expect("the number of notes of the written files", before + 2, listed()?)?;
    done("deleting", store.0.delete(&path("/memories/noted")?))?;
    expect("that no note is left for another change", before + 2, listed()?)
}

fn file_list<'f>(
    paths: &'f [MemoryPath],
    contents: &'f [Vec<u8>],
    time: SystemTime,
    existing: OnExisting,
) -> Vec<FileToWrite<'f>> {
    let times = Times { modified: Some(time), accessed: Some(time) };
    let file = |(path, content): (&'f MemoryPath, &'f Vec<u8>)| FileToWrite {
        path,
        content,
        times,
        existing,
        note: None,
    };
    paths.iter().zip(contents).map(file).collect()
}

/// Writes files of which one cannot be written: those before it stay, and the others are not written.
fn ends_early(
    store: &Checked<'_>,
    expected: &mut Tree,
    refused: &MemoryPath,
    condition: &StoreError,
) -> Holds {
    let name = refused.name().unwrap_or_default();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for number in 0..40 {
        before.push(path(&format!("/memories/before-{name}/{number}"))?);
        after.push(path(&format!("/memories/after-{name}/{number}"))?);
    }
    let paths = [&before[..], std::slice::from_ref(refused), &after].concat();
    let contents = vec![b"new".to_vec(); paths.len()];
    let files = file_list(&paths, &contents, SystemTime::UNIX_EPOCH, Error);
    match store.0.write_batch(&Context::new(), &files) {
        Ok(()) => return Err(format!("writing {refused} among other files succeeded")),
        Err(failed) => {
            let is_expected =
                std::mem::discriminant(&failed.error) == std::mem::discriminant(condition);
            expect(&format!("that {} is \"{condition}\"", failed.error), true, is_expected)?;
            expect("the number of files before the refused one", before.len(), failed.written)?;
        }
    }
    expected.extend(path(&format!("/memories/before-{name}")).map(|above| (above, None)));
    for at in before {
        expected.insert(at, Some(b"new".to_vec()));
    }
    expect("the tree after a batch that ended early", &*expected, &store.tree()?)
}

/// Deletes unused files together, among others that stay. The store keeps a note of each file that was deleted.
pub(super) fn deleting_unused(store: &Checked<'_>) -> Holds {
    if !store.0.info().tracks_access {
        return Ok(());
    }
    let since = ahead();
    let mut paths = Vec::new();
    for number in 0..MANY {
        paths.push(path(&format!("/memories/d{}/{number}", number % 7))?);
        store.write(paths[number].as_str(), "unused")?;
    }
    let viewed = path("/memories/d0/viewed")?;
    store.write(viewed.as_str(), "viewed")?;
    done("noting an access", store.0.record_access(&viewed, since))?;
    // A directory, the root, and paths that do not exist, also below a file.
    for at in ["/memories/d0", "/memories", "/memories/none", "/memories/d0/viewed/below"] {
        paths.push(path(at)?);
    }
    paths.extend([viewed, paths[0].clone()]);
    let notes: Vec<Note> = (0..paths.len())
        .map(|number| Note { id: format!("gone {number}"), bytes: vec![b'n'; number + 1] })
        .collect();
    let listed = || match store.0.notes() {
        Some(notes) => Ok(done("listing the notes", notes.list(&Context::new(), 0))?.len()),
        None => Ok::<_, String>(0),
    };
    let before = listed()?;
    let notes = store.0.notes().map(|_| &notes);
    let files: Vec<_> = paths
        .iter()
        .enumerate()
        .map(|(number, path)| FileToDelete { path, note: notes.map(|notes| &notes[number]) })
        .collect();
    // The first file is alone, and then deleted already.
    let mut expected = vec![true, false];
    expected.resize(1 + MANY, true);
    expected.resize(1 + files.len(), false);
    let mut deleted = Vec::new();
    for some in [&files[..0], &files[..1], &files] {
        let all = store.0.delete_unused_batch(&Context::new(), some, since, &mut |is_deleted| {
            deleted.push(is_deleted);
        });
        done("deleting unused files together", all)?;
    }
    expect("which files were deleted", &expected, &deleted)?;
    let kept = if notes.is_some() { MANY } else { 0 };
    expect("the number of notes of the deleted files", before + kept, listed()?)?;
    let mut left = vec![("/memories/d0/viewed", Some("viewed"))];
    let directories: Vec<String> = (0..7).map(|number| format!("/memories/d{number}")).collect();
    left.extend(directories.iter().map(|at| (at.as_str(), None)));
    store.has(&left)?;
    done("deleting", store.0.delete(&path("/memories/d0")?))?;
    expect("that no note is left for another change", before + kept, listed()?)
}
