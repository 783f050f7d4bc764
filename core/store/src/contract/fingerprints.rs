//! The rule about fingerprints, for stores that have them.

use std::collections::BTreeMap;

use super::{Checked, Holds, done, expect, path};
use crate::path::MemoryPath;
use crate::settings::OnExisting::Overwrite;
use crate::{Entry, Fingerprint, Fingerprints, Node, Splice};

/// The fingerprints of all files. Checks that every kind of listing returns the same ones.
fn all(store: &Checked<'_>) -> Result<BTreeMap<MemoryPath, Fingerprint>, String> {
    let of = |entries: Vec<Entry>| {
        let files = entries.into_iter().filter(Entry::is_file);
        let each = files.map(|file| match file.fingerprint {
            Some(fingerprint) => Ok((file.path, fingerprint)),
            None => Err(format!("{} has no fingerprint", file.path)),
        });
        each.collect::<Result<BTreeMap<_, _>, String>>()
    };
    let mut files = Vec::new();
    done("going through all files", store.0.files(&mut |file| files.push(file)))?;
    let files = of(files)?;
    let directory = path("/memories/dir")?;
    let listed = of(done("listing", store.0.list(&directory))?)?;
    expect("the fingerprints of a listing", files.clone(), listed)?;
    let Node::Directory(opened) = done("opening", store.0.open(&MemoryPath::root(), 2))? else {
        return Err("the root should open as a directory".to_owned());
    };
    expect("the fingerprints of an opened directory", files.clone(), of(opened)?)?;
    Ok(files)
}

pub(super) fn differ(store: &Checked<'_>) -> Holds {
    let fingerprints = store.0.info().fingerprints;
    if fingerprints == Fingerprints::Absent {
        return Ok(());
    }
    let [a, b, other] =
        ["a", "b", "other"].map(|name| MemoryPath::parse(&format!("/memories/dir/{name}")));
    let [a, b, other] = [a, b, other].map(|path| path.map_err(|error| error.to_string()));
    let (a, b, other) = (a?, b?, other?);
    // If fingerprints are only likely to differ, each content gets a different size.
    let content = |number: usize| match fingerprints {
        Fingerprints::Exact => format!("{number:08}"),
        _ => "+".repeat(number),
    };
    store.write(a.as_str(), &content(0))?;
    store.write(other.as_str(), "stays")?;
    let mut before = all(store)?;
    for (number, what) in (1..).zip(["writing", "updating", "updating", "deleting", "renaming"]) {
        let text = content(number);
        let modified = done("asking for a time", store.0.modified(&a))?;
        match what {
            "writing" => done(what, store.0.write(&a, text.as_bytes(), Overwrite))?,
            "updating" => {
                let mut whole = |old: &[u8]| {
                    Some(Splice { range: 0..old.len(), text: text.clone().into_bytes() })
                };
                done(what, store.0.update(&a, &mut whole))?;
            }
            "deleting" => {
                done(what, store.0.delete(&a))?;
                store.write(a.as_str(), &text)?;
            }
            _ => {
                store.write(b.as_str(), &text)?;
                done("deleting", store.0.delete(&a))?;
                done(what, store.0.rename(&b, &a))?;
            }
        }
        // Restore the time, as a copy that keeps the times of its original does.
        if let Some(modified) = modified {
            done("setting a time", store.0.set_modified(&a, modified))?;
        }
        let after = all(store)?;
        let of = |path: &MemoryPath| (before.get(path).cloned(), after.get(path).cloned());
        if let (old, new) = of(&a)
            && old == new
        {
            return Err(format!("the fingerprint is the same after {what}: {new:?}"));
        }
        let (old, new) = of(&other);
        expect("the fingerprint of a file that was not changed", old, new)?;
        store.holds(a.as_str(), &text)?;
        expect("the fingerprints after reading", &after, &all(store)?)?;
        before = after;
    }
    Ok(())
}
