//! The API for front ends: a planned import, the records of a history, prefixes of ids. The program `memdir` is one.

use std::sync::Arc;

use memdir::history::{
    HistoryQuery, HistoryRecords, HistoryRecordsBuilder, Operation, ResolvedId, SHORTEST_ID_PART,
    has_history,
};
use memdir::import::{Fate, InTheWay};
use memdir::{
    Durability, Error, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError, open_store,
};

fn at(path: &str) -> MemoryPath {
    MemoryPath::parse(path).unwrap()
}

/// A memory with a history on a store.
fn on(store: &Arc<dyn Store>) -> Memory {
    let mut options = MemoryOptions::default();
    options.history = true;
    Memory::with_store(Arc::clone(store), options)
}

fn remembering() -> Memory {
    on(&open_store("memory:", &MemoryOptions::default()).unwrap())
}

#[test]
fn an_import_is_planned_with_what_is_there_and_with_its_own_files() {
    let memory = remembering();
    memory.create("/memories/same", "one").unwrap();
    memory.create("/memories/other", "one").unwrap();
    memory.create("/memories/dir/a", "one").unwrap();
    let plan = |existing| {
        let mut plan = memory.plan_import(existing);
        let paths = ["same", "other", "dir", "same/below", "new", "new", ".memdir-x"];
        paths.map(|name| plan.add(&at(&format!("/memories/{name}")), name).unwrap().fate)
    };
    let [same, other, dir, below, new, again, reserved] = plan(OnExisting::Error);
    assert_eq!(same, Fate::Conflict(InTheWay::AnotherContent));
    assert_eq!(other, Fate::Conflict(InTheWay::AnotherContent));
    assert_eq!(dir, Fate::Conflict(InTheWay::Directory));
    assert_eq!(below, Fate::Conflict(InTheWay::File));
    assert_eq!((new, again), (Fate::Created, Fate::Conflict(InTheWay::SameName)));
    assert!(matches!(reserved, Fate::Refused(_)), "{reserved:?}");
    assert_eq!(plan(OnExisting::Overwrite)[1], Fate::Overwritten);
    let mut equal = memory.plan_import(OnExisting::Error);
    assert_eq!(equal.add(&at("/memories/same"), "one").unwrap().fate, Fate::Unchanged);
    assert_eq!(memory.history(&HistoryQuery::default()).unwrap().len(), 3);
}

#[test]
fn an_import_is_one_change_and_writes_under_the_rules_of_every_write() {
    let memory = remembering().acting_as("ann");
    let (written, change) = memory.import(|import| {
        import.write(&at("/memories/a"), "one", OnExisting::Error)?;
        import.write(&at("/memories/b/c"), "two", OnExisting::Error)?;
        let refused = import.write(&at("/memories/a"), "three", OnExisting::Error);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        let refused = import.write(&at("/memories/.memdir-x"), "four", OnExisting::Overwrite);
        assert!(matches!(refused, Err(Error::Refused(_))), "{refused:?}");
        Ok::<(), Error>(())
    });
    written.unwrap();
    let versions = memory.history(&HistoryQuery::default()).unwrap();
    assert_eq!(versions.len(), 2);
    for version in &versions {
        assert_eq!(version.operation, Operation::Imported);
        assert_eq!((Some(version.change), version.actor.as_deref()), (change, Some("ann")));
    }
    assert_eq!(memory.import(|_| ()).1, None);
}

#[test]
fn records_go_into_another_store_by_themselves_or_as_bytes() {
    let store = || open_store("memory:", &MemoryOptions::default()).unwrap();
    let (old, new) = (store(), store());
    let memory = on(&old);
    memory.create("/memories/a", "one").unwrap();
    memory.delete("/memories/a").unwrap();
    assert!(has_history(&old).unwrap() && !has_history(&new).unwrap());
    let records = HistoryRecords::of(Arc::clone(&old)).unwrap();
    assert_eq!(records.len(), 2);
    assert!(matches!(records.read(2), Err(StoreError::NotFound)));

    let bytes: Vec<Vec<u8>> = (0..2).map(|number| records.read(number).unwrap()).collect();
    let mut builder = HistoryRecordsBuilder::default();
    assert_eq!(builder.add(&bytes.concat()).unwrap().len(), 2);
    assert!(HistoryRecordsBuilder::default().add(&bytes.concat()[1..]).is_none());
    let mut twice = HistoryRecordsBuilder::default();
    assert!(twice.add(&bytes[0]).is_some() && twice.add(&bytes[0]).is_some());
    assert!(twice.finish(|_| Err(StoreError::NotFound)).is_none());

    let records = builder.finish(move |number| Ok(bytes[number].clone())).unwrap();
    assert_eq!(records.missing_in(&new).unwrap().unwrap(), [0, 1]);
    // As after an interruption.
    records.append_to(&new, &[0], Durability::Relaxed).unwrap();
    assert_eq!(records.missing_in(&new).unwrap().unwrap(), [1]);
    records.append_to(&new, &[1], Durability::Relaxed).unwrap();
    let versions = |store| on(store).history(&HistoryQuery::default()).unwrap();
    assert_eq!((versions(&new).len(), versions(&new)), (2, versions(&old)));
    assert!(records.append_to(&new, &[2], Durability::Relaxed).is_err());

    let other = store();
    on(&other).create("/memories/b", "").unwrap();
    assert_eq!(records.missing_in(&other).unwrap(), None);
}

#[test]
fn a_part_of_an_id_is_its_beginning_or_its_end() {
    let memory = remembering();
    memory.create("/memories/a", "one").unwrap();
    let id = memory.history(&HistoryQuery::default()).unwrap()[0].id;
    let (whole, snapshot) = (id.to_string(), memory.history_snapshot().unwrap());
    let end = &whole[whole.len() - SHORTEST_ID_PART..];
    for part in [&whole, end, &whole[..12], &whole.to_uppercase(), &whole.replace('-', "")] {
        assert_eq!(snapshot.resolve(part), ResolvedId::Version(id), "{part}");
    }
    for (part, expected) in [
        (&whole[whole.len() - SHORTEST_ID_PART + 1..], ResolvedId::NoId),
        ("", ResolvedId::NoId),
        ("/memories/a", ResolvedId::NoId),
        ("00000000000000", ResolvedId::Unknown),
        (&"0".repeat(33), ResolvedId::NoId),
    ] {
        assert_eq!(snapshot.resolve(part), expected, "{part}");
    }
}

/// Other ways of reading show a model no more of a file than a view does.
#[test]
fn a_text_is_shown_as_a_view_shows_it() {
    let mut options = MemoryOptions::default();
    options.sensitive_on_view = true;
    let memory = Memory::open("memory:", options).unwrap();
    let secret = "url: postgres://app:t7Kq-9zLw2@db/app\n";
    memory.create("/memories/a", secret).unwrap();
    assert!(!memory.read_shown("/memories/a").unwrap().contains("t7Kq-9zLw2"));
    for path in ["/memories", "/memories/missing", "/memories/.memdir-x", "../a", "a"] {
        assert!(matches!(memory.read_shown(path), Err(Error::Refused(_))), "{path}");
    }
}
