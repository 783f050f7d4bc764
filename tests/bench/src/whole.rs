//! Work on a whole store of many files, each kind once: `memdir-bench whole ADDRESS FILES`.
//!
//! It prints the name and the duration of each, in nanoseconds, as one JSON array. The memory has a history and records accesses. The store must be
//! empty before, and is empty after.

use std::ops::ControlFlow;
use std::time::{Duration, Instant, SystemTime};

use memdir::history::UndoOptions;
use memdir::import::{Import, ImportedFile, MAX_BATCH_FILES};
use memdir::store::OnExisting;
use memdir::{CopyOptions, Memory, MemoryOptions, MemoryPath, copy, open_store};
use serde_json::json;

/// The directory that contains the files, with a hundred files in each of its directories.
const ALL: &str = "/memories/all";

/// Measures each operation on `files` files, and prints the durations.
pub(crate) fn measure(address: &str, files: usize) {
    let mut times = Times::default();
    let mut options = MemoryOptions::default();
    options.record_access = true;
    let plain = Memory::open(address, options.clone()).unwrap();
    options.history = true;
    let memory = Memory::open(address, options).unwrap();
    let notes = notes(files);

    times.of("create each", || {
        for (path, text) in &notes {
            plain.create(path.as_str(), text).unwrap();
        }
    });
    times.of("delete all", || plain.delete(ALL).unwrap());
    times.of("import", || import(&plain, &notes));
    times.of("list", || assert!(plain.list("/memories", None).unwrap().len() > files));
    times.of("copy into another store", || {
        let to = open_store("memory:", &MemoryOptions::default()).unwrap();
        let mut go_on = |_: memdir::copy::Progress<'_>| ControlFlow::Continue(());
        copy(plain.store(), &to, CopyOptions::default(), &mut go_on).unwrap();
    });
    times.of("expire", || {
        std::thread::sleep(Duration::from_millis(1));
        let mut go_on = |_: memdir::policy::expiry::Progress| ControlFlow::Continue(());
        let expired = plain.expire(Duration::from_micros(1), false, &mut go_on).unwrap();
        assert_eq!(expired.len(), files);
    });
    plain.delete(ALL).unwrap();

    times.of("import, with history", || import(&memory, &notes));
    let there = SystemTime::now();
    times.of("delete all, with history", || memory.delete(ALL).unwrap());
    times.of("restore_all", || {
        assert_eq!(memory.restore_all(there, false).unwrap().files.len(), files);
    });
    let (before_edits, green) = (SystemTime::now(), "colour: green");
    for (path, _) in &notes[..notes.len() / 10] {
        memory.str_replace(path.as_str(), "colour: blue", green).unwrap();
    }
    times.of("undo the edits of a tenth", || {
        let undone = memory.undo_since(before_edits, None, UndoOptions::default()).unwrap();
        assert_eq!(undone.files.len(), notes.len() / 10);
    });
    memory.delete(ALL).unwrap();
    println!("{}", json!(times.0));
}

#[derive(Default)]
struct Times(Vec<(&'static str, u64)>);

impl Times {
    fn of<T>(&mut self, what: &'static str, work: impl FnOnce() -> T) {
        let begun = Instant::now();
        work();
        let nanoseconds = u64::try_from(begun.elapsed().as_nanos()).unwrap();
        self.0.push((what, nanoseconds));
    }
}

/// Notes of 1.7 KB.
fn notes(files: usize) -> Vec<(MemoryPath, String)> {
    let note = |number: usize| {
        let path = format!("{ALL}/d{}/note-{number}.md", number / 100);
        let facts = format!("- fact {number:06} of this note, in sixty-four characters or so.\n");
        let text = format!("colour: blue\n{}", facts.repeat(26));
        (MemoryPath::parse(&path).unwrap(), text)
    };
    (0..files).map(note).collect()
}

/// Plans and writes the files, as `memdir import` does.
fn import(memory: &Memory, notes: &[(MemoryPath, String)]) {
    let mut plan = memory.plan_import(OnExisting::Error);
    for (path, text) in notes {
        plan.add(path, text).unwrap();
    }
    drop(plan);
    let write = |import: &Import<'_>| {
        for batch in notes.chunks(MAX_BATCH_FILES) {
            let files: Vec<_> = batch
                .iter()
                .map(|(path, text)| ImportedFile { path, text, existing: OnExisting::Error })
                .collect();
            import.write_batch(&files).unwrap();
        }
    };
    memory.import(write);
}
