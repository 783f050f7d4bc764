//! The rules about listings of a directory and of the whole tree.

use super::{Checked, Holds, done, expect, opened, path, sorted};
use crate::path::MemoryPath;
use crate::{Entry, StoreError};

pub(super) fn listing(store: &Checked<'_>) -> Holds {
    for at in ["/memories/b", "/memories/a/x", "/memories/a/deep/y", "/memories/.hidden"] {
        store.write(at, "12345")?;
    }
    expect(
        "the entries of /memories",
        vec![
            Entry::file(path("/memories/.hidden")?, 5),
            Entry::directory(path("/memories/a")?),
            Entry::file(path("/memories/b")?, 5),
        ],
        sorted(done("listing", store.0.list(&MemoryPath::root()))?),
    )?;
    let b = path("/memories/b")?;
    store.refuses("listing a file", &StoreError::NotADirectory, |s| s.list(&b))
}

pub(super) fn opening(store: &Checked<'_>) -> Holds {
    for at in ["a/x", "a/deep/y", "a/.h", ".hidden/z", "node_modules/m", "b", "a/node_modules/q"] {
        store.write(&format!("/memories/{at}"), "12345")?;
    }
    let all = [
        Entry::directory(path("/memories/a")?),
        Entry::directory(path("/memories/a/deep")?),
        Entry::file(path("/memories/a/deep/y")?, 5),
        Entry::file(path("/memories/a/x")?, 5),
        Entry::file(path("/memories/b")?, 5),
    ];
    for depth in [1, 2, 3, usize::MAX] {
        let expected: Vec<Entry> =
            all.iter().filter(|entry| entry.path.names().count() <= depth).cloned().collect();
        let what = format!("what /memories shows {depth} deep");
        expect(&what, expected, opened(store, "/memories", depth)?)?;
    }
    let below: Vec<Entry> = all[1..=3].to_vec();
    expect("all that /memories/a shows", below, opened(store, "/memories/a", usize::MAX)?)?;
    // If a hidden directory is the path itself, its entries are shown.
    let z = Entry::file(path("/memories/.hidden/z")?, 5);
    expect("what /memories/.hidden shows", vec![z], opened(store, "/memories/.hidden", 2)?)
}

pub(super) fn all_files(store: &Checked<'_>) -> Holds {
    expect("the files of an empty store", vec![], files(store)?)?;
    let all = [".h", "a/.deep/x/y", "a/b", "c", "d/e", "node_modules/m"];
    for at in all {
        store.write(&format!("/memories/{at}"), at)?;
    }
    store.write("/memories/d/gone", "")?;
    done("deleting", store.0.delete(&path("/memories/d/gone")?))?;
    done("renaming", store.0.rename(&path("/memories/d")?, &path("/memories/.d")?))?;
    let named = all.map(|at| if at == "d/e" { (".d/e", 3) } else { (at, at.len()) });
    let mut expected = Vec::new();
    for (at, size) in named {
        expected.push(Entry::file(path(&format!("/memories/{at}"))?, size as u64));
    }
    expect("all files", sorted(expected), files(store)?)
}

fn files(store: &Checked<'_>) -> Result<Vec<Entry>, String> {
    let mut files = Vec::new();
    done("going through all files", store.0.files(&mut |file| files.push(file)))?;
    Ok(sorted(files))
}
