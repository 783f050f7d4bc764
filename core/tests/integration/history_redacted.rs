//! Removal by redaction: versions, a text in all versions that contain it, and names.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]
#![allow(clippy::needless_pass_by_value, reason = "each test has a store of its own")]

use std::sync::Arc;

use memdir::history::{HistoryError, HistoryErrorKind, HistoryQuery, UndoOptions, Version};
use memdir::store::InProcess;
use memdir::{GrepQuery, Memory, MemoryOptions, MemoryPath, Store};

use crate::history::{all, content, of, remembering, told};

on_every_store!(a_redaction_is_no_deletion);
fn a_redaction_is_no_deletion(store: Arc<dyn Store>) {
    let memory = remembering(store);
    memory.create("/memories/a", "secret\n").unwrap();
    memory.create("/memories/d/b", "other\n").unwrap();
    memory.delete("/memories/a").unwrap();
    let created = of(&memory, "/memories/a")[1].id;
    memory.redact(created, "a password").unwrap();
    // The version itself, and the one that records the redaction.
    let versions = of(&memory, "/memories/a");
    assert_eq!(told(&versions[..1]), ["redacted /memories/a"]);
    for id in [created, versions[0].id] {
        let error = memory.read_version(id).unwrap_err();
        assert!(matches!(&error, HistoryError::Redacted(why) if why == "a password"), "{error}");
    }
    let deletion = memory.read_version(versions[1].id);
    assert!(matches!(deletion, Err(HistoryError::NoContent(_))));

    // The file was not read since it was moved: it still has the content.
    memory.rename("/memories/d", "/memories/e").unwrap();
    let moved = of(&memory, "/memories/e/b")[0].id;
    let error = memory.redact(moved, "no").unwrap_err();
    assert!(
        matches!(&error, HistoryError::IsCurrent { path } if path.as_str() == "/memories/e/b"),
        "{error}"
    );
}

on_every_store!(what_is_redacted_is_gone_and_the_other_versions_stay);
fn what_is_redacted_is_gone_and_the_other_versions_stay(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a", "start\n").unwrap();
    memory.str_replace("/memories/a", "start", "secret-4711 here").unwrap();
    memory.str_replace("/memories/a", "secret-4711 here", "end").unwrap();
    let versions = all(memory);
    let change = memory.redact(versions[1].id, "a password").unwrap();
    assert!(change.is_some());
    assert_eq!(memory.redact(versions[1].id, "again").unwrap(), None);
    let after = all(memory);
    assert_eq!(
        told(&after),
        [
            "redacted /memories/a",
            "modified /memories/a 4 current",
            "modified /memories/a",
            "created /memories/a 6",
        ]
    );
    assert_eq!(after[2].redacted.as_deref(), Some("a password"));
    assert_eq!(after[2].sha256, None);
    assert!(matches!(memory.read_version(after[2].id), Err(HistoryError::Redacted(_))));
    assert_eq!(content(memory, &after[1]), "end\n");
    assert_eq!(content(memory, &after[3]), "start\n");
    match memory.redact(after[1].id, "no") {
        Err(HistoryError::IsCurrent { path }) => assert_eq!(path.as_str(), "/memories/a"),
        other => panic!("{other:?}"),
    }
    memory.restore(after[3].id, true).unwrap();
    assert_eq!(memory.read("/memories/a").unwrap(), "start\n");
    assert_eq!(all(memory).len(), 5);
}

on_every_store!(what_says_that_a_content_was_redacted_cannot_be_restored);
fn what_says_that_a_content_was_redacted_cannot_be_restored(store: Arc<dyn Store>) {
    let memory = &remembering(store);
    memory.create("/memories/a", "one").unwrap();
    memory.str_replace("/memories/a", "one", "two").unwrap();
    memory.redact(all(memory)[1].id, "because").unwrap();
    let versions = all(memory);
    assert_eq!(versions[0].operation.as_str(), "redacted");
    let refused = memory.restore(versions[0].id, true).unwrap_err();
    assert_eq!(refused.kind(), Some(HistoryErrorKind::Redacted), "{refused}");
    assert_eq!(memory.read("/memories/a").unwrap(), "two");
}

on_every_store!(a_text_is_redacted_in_all_versions_that_have_it);
fn a_text_is_redacted_in_all_versions_that_have_it(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    memory.create("/memories/a", "key: hunter2\nand more\n").unwrap();
    memory.insert("/memories/a", 0, "first").unwrap();
    memory.create("/memories/mounted/b", "Hunter2").unwrap();
    memory.str_replace("/memories/a", "hunter2", "none").unwrap();
    memory.insert("/memories/a", 0, "top").unwrap();
    let text = GrepQuery::text("hunter2\nand");
    let before = all(&memory);
    let dry = memory.redact_text(&text, "a key", true).unwrap();
    assert_eq!((dry.change, dry.current.len()), (None, 0));
    assert_eq!(dry.versions, [before[3].clone(), before[4].clone()]);
    assert_eq!(all(&memory), before, "nothing was changed");

    // The current content of a file is not removed.
    let both = GrepQuery::text("HUNTER2").ignoring_case();
    let dry = memory.redact_text(&both, "a key", true).unwrap();
    assert_eq!(dry.versions.len(), 3);
    assert_eq!(dry.current, [MemoryPath::parse("/memories/mounted/b").unwrap()]);
    let error = memory.redact_text(&both, "a key", false).unwrap_err();
    assert_eq!(
        (error.kind(), error.paths()),
        (Some(HistoryErrorKind::IsCurrent), dry.current.iter().collect())
    );
    assert_eq!(all(&memory), before, "nothing was changed");

    let redacted = memory.redact_text(&text, "a key", false).unwrap();
    assert_eq!(redacted.versions, [before[3].clone(), before[4].clone()]);
    let after = all(&memory);
    assert_eq!(told(&after[..2]), ["redacted /memories/a", "redacted /memories/a"]);
    for (now, then) in after[2..].iter().zip(&before) {
        let is_gone = redacted.versions.contains(then);
        assert_eq!((now.id, now.redacted.is_some()), (then.id, is_gone));
        assert_eq!(memory.read_version(now.id).is_err(), is_gone);
    }
    memory.delete("/memories/mounted/b").unwrap();
    let redacted = memory.redact_text(&both, "a key", false).unwrap();
    assert_eq!(redacted.versions.len(), 1);
    for query in [both, text, GrepQuery::text(""), GrepQuery::regex("x*").unwrap()] {
        let nothing = memory.redact_text(&query, "a key", false).unwrap();
        assert_eq!((nothing.change, nothing.versions.len()), (None, 0));
    }
    let all_of_it = GrepQuery::regex("^(first|top)$").unwrap();
    assert_eq!(memory.redact_text(&all_of_it, "", true).unwrap().current.len(), 1);
    let off = Memory::with_store(store, MemoryOptions::default());
    assert_eq!(
        off.redact_text(&all_of_it, "", true).unwrap_err().kind(),
        Some(HistoryErrorKind::Off)
    );
}

/// The paths of all versions, oldest first.
fn paths(memory: &Memory) -> Vec<String> {
    let paths = |version: &Version| {
        let old = version.old_path.as_ref().map(|old| format!("{old} -> ")).unwrap_or_default();
        format!("{} {old}{}", version.operation, version.path)
    };
    all(memory).iter().rev().map(paths).collect()
}

/// The replacement of a redacted name, taken from `example`.
fn new_name(example: &str) -> String {
    let at = example.find("redacted-").unwrap_or_else(|| panic!("{example}"));
    let name = example[at..at + "redacted-".len() + 8].to_owned();
    assert!(name["redacted-".len()..].chars().all(|digit| digit.is_ascii_hexdigit()), "{name}");
    name
}

on_every_store!(a_text_is_redacted_in_names_that_nothing_has_any_more);
fn a_text_is_redacted_in_names_that_nothing_has_any_more(store: Arc<dyn Store>) {
    let memory = remembering(Arc::clone(&store));
    let path = |path: &str| MemoryPath::parse(path).unwrap();
    memory.create("/memories/Acme/deal.md", "one\n").unwrap();
    memory.insert("/memories/Acme/deal.md", 1, "two").unwrap();
    memory.rename("/memories/Acme", "/memories/client").unwrap();
    memory.create("/memories/mounted/acme.md", "three\n").unwrap();
    memory.create("/memories/mounted/b-acme.md", "gone\n").unwrap();
    memory.delete("/memories/mounted/b-acme.md").unwrap();
    let query = GrepQuery::text("acme").ignoring_case();
    let before = all(&memory);
    let dry = memory.redact_text(&query, "a client", true).unwrap();
    assert_eq!((dry.change, dry.versions.len(), dry.current.len()), (None, 0, 0));
    assert_eq!(dry.names, ["/memories/Acme/deal.md", "/memories/mounted/b-acme.md"].map(path));
    assert_eq!(dry.kept_names, [path("/memories/mounted/acme.md")]);
    assert_eq!(all(&memory), before, "nothing was changed");

    let redacted = memory.redact_text(&query, "a client", false).unwrap();
    let change = redacted.change.unwrap();
    assert_eq!((&redacted.names, &redacted.kept_names), (&dry.names, &dry.kept_names));
    let told = paths(&memory);
    let (client, gone) = (new_name(&told[0]), new_name(&told[4]));
    assert!(client != gone);
    let in_part = format!("/memories/mounted/{gone}");
    let mut expected = vec![
        format!("created /memories/{client}/deal.md"),
        format!("modified /memories/{client}/deal.md"),
        format!("renamed /memories/{client}/deal.md -> /memories/client/deal.md"),
        "created /memories/mounted/acme.md".to_owned(),
        format!("created {in_part}"),
        format!("deleted {in_part}"),
    ];
    assert_eq!(told[..6], expected);
    // The redaction lists the versions; each has the reason.
    let after = all(&memory);
    let says: Vec<&Version> =
        after.iter().filter(|version| version.operation.as_str() == "redacted").collect();
    assert_eq!((says.len(), after.len()), (5, 11));
    for version in says {
        let error = memory.read_version(version.id).unwrap_err();
        assert!(
            matches!(&error, HistoryError::Redacted(reason) if reason == "a client"),
            "{error}"
        );
    }
    assert!(after.iter().any(|version| version.change == change));
    // The versions are unchanged, and it is one file from its creation on.
    for (now, then) in after[5..].iter().zip(&before) {
        assert_eq!((now.id, &now.sha256, now.time), (then.id, &then.sha256, then.time));
    }
    let mut of_file = HistoryQuery::default();
    of_file.path = Some("/memories/client/deal.md".to_owned());
    let of_file = memory.history(&of_file).unwrap();
    let recorded = of_file.iter().filter(|version| version.operation.as_str() != "redacted");
    assert_eq!(recorded.count(), 3);
    let lines = memory.blame("/memories/client/deal.md").unwrap();
    assert_eq!(lines.len(), 2);
    let problems = || {
        let mut problems = Vec::new();
        memory.store().inspect(&mut |problem| problems.push(problem.to_string())).unwrap();
        problems
    };
    assert_eq!(problems(), [""; 0]);

    // Nothing is left of it.
    let again = memory.redact_text(&query, "a client", false).unwrap();
    assert_eq!((again.change, again.names.len(), again.kept_names.len()), (None, 0, 1));
    // A change of such a file can be undone, under its new name.
    let deleted = before.iter().find(|version| version.operation.as_str() == "deleted").unwrap();
    memory.undo(deleted.change, UndoOptions::default()).unwrap();
    assert_eq!(memory.read(&in_part).unwrap(), "gone\n");
    expected.push(format!("restored {in_part}"));
    let told = paths(&memory);
    assert_eq!(told.last(), expected.last());
    assert_eq!(problems(), [""; 0]);
    let mut stream = Vec::new();
    memory.history_snapshot().unwrap().write_fast_import(&mut stream).unwrap();
    assert!(!String::from_utf8(stream).unwrap().contains("Acme"));

    // A text across several names redacts all of them, except those that exist now.
    memory.create("/memories/client/x/y/z.md", "four\n").unwrap();
    memory.delete("/memories/client/x").unwrap();
    let whole = memory.redact_text(&GrepQuery::text("client/x/y"), "", false).unwrap();
    assert_eq!(whole.names, [path("/memories/client/x/y/z.md")]);
    assert_eq!(whole.kept_names, [path("/memories/client")]);
    let told = paths(&memory);
    let names: Vec<&str> = told.last().unwrap().split('/').collect();
    assert_eq!(names[1..3], ["memories", "client"]);
    assert!(names[3..].iter().all(|name| new_name(name) == *name) && names.len() == 6, "{names:?}");
    // The common prefix of all paths is not part of a name.
    let nothing = memory.redact_text(&GrepQuery::text("memories"), "", false).unwrap();
    assert_eq!((nothing.names.len(), nothing.kept_names.len()), (0, 0));
}

#[test]
fn a_redacted_name_that_makes_a_path_too_long_takes_the_whole_path() {
    let memory = remembering(Arc::new(InProcess::new()));
    let deep = std::iter::repeat_n("d".repeat(255), 15).collect::<Vec<_>>().join("/");
    // It has 4096 bytes, and the new name would be longer.
    let names = 4096 - "/memories//".len() - deep.len();
    let path = &format!("/memories/{deep}/{}/Q", "x".repeat(names - 2));
    assert_eq!(path.len(), 4096);
    memory.create(path, "one\n").unwrap();
    memory.insert(path, 0, "two").unwrap();
    memory.delete(path).unwrap();
    let redacted = memory.redact_text(&GrepQuery::text("Q"), "", false).unwrap();
    assert_eq!(redacted.names.len(), 1);
    let told = paths(&memory);
    assert!(told.iter().all(|told| !told.contains('Q')), "{told:?}");
    let name = new_name(&told[0]);
    assert_eq!(
        told[..2],
        [format!("created /memories/{name}"), format!("modified /memories/{name}")]
    );
    assert_eq!(memory.redact_text(&GrepQuery::text("Q"), "", false).unwrap().change, None);
}
