//! Stores that ignore case: another spelling of a path bypasses no policy, and shows the same content.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::common::folding_store::FoldingStore;
use crate::common::store_helpers::{at, copy_all, in_process, key, put, refusal, shown, tree};
use memdir::copy::There;
use memdir::policy::sensitive::SensitiveText;
use memdir::policy::{PathPattern, StaleGuard};
use memdir::store::{Encrypted, InProcess, Mounts, ReadOnly, check_contract};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

/// Both kinds, and spellings of `été/Notes.md` that they treat as one name.
fn kinds() -> [(FoldingStore, &'static str); 2] {
    [
        (FoldingStore::like_windows(), "/memories/ÉTÉ/nOTES.MD"),
        (FoldingStore::like_macos(), "/memories/E\u{301}TE\u{301}/NOTES.md"),
    ]
}

const PLACE: &str = "/memories/été/Notes.md";

fn patterns(patterns: &[&str]) -> Vec<PathPattern> {
    PathPattern::all("a", patterns).unwrap()
}

fn memory(store: impl Store + 'static, set: impl FnOnce(&mut MemoryOptions)) -> Memory {
    let mut options = MemoryOptions::default();
    set(&mut options);
    Memory::with_store(Arc::new(store), options)
}

#[test]
fn the_doubles_keep_the_contract() {
    check_contract(&|| Arc::new(FoldingStore::like_windows())).unwrap();
    check_contract(&|| Arc::new(FoldingStore::like_macos())).unwrap();
}

#[test]
fn a_read_only_path_is_read_only_by_every_spelling() {
    for (store, other) in kinds() {
        put(&store, PLACE, "rules\n");
        put(&store, "/memories/free", "free\n");
        let before = tree(&store, "/memories");
        let store: Arc<dyn Store> = Arc::new(store);
        for pattern in ["/memories/été/**", "/memories/e\u{301}te\u{301}", "/memories/**/notes.MD"]
        {
            let memory = memory(ReadOnlyNot(Arc::clone(&store)), |options| {
                options.read_only_paths = patterns(&[pattern]);
                options.on_existing = OnExisting::Overwrite;
            });
            for path in [PLACE, other] {
                let sentence =
                    format!("Error: {path} is read-only: it can be viewed but not changed");
                assert_eq!(refusal(memory.insert(path, 0, "x")), sentence);
                assert_eq!(refusal(memory.str_replace(path, "rules", "x")), sentence);
                assert_eq!(refusal(memory.create(path, "x")), sentence);
                assert_eq!(refusal(memory.delete(path)), sentence);
                assert_eq!(refusal(memory.rename(path, "/memories/new")), sentence);
                assert_eq!(refusal(memory.rename("/memories/free", path)), sentence);
            }
            let directory = at(other).parent().unwrap();
            refusal(memory.delete(directory.as_str()));
            refusal(memory.rename(directory.as_str(), "/memories/elsewhere"));
        }
        assert_eq!(tree(&*store, "/memories"), before);
    }
}

/// A store that several memories use, one after the other.
struct ReadOnlyNot(Arc<dyn Store>);

impl memdir::store::Layer for ReadOnlyNot {
    fn inner(&self) -> &dyn Store {
        &*self.0
    }
}

#[test]
fn a_read_only_name_of_one_character_is_so_by_its_longer_spellings() {
    let pattern = |text: &str| text.parse::<PathPattern>().unwrap().folding_case(true);
    for (text, path, matches) in [
        ("/memories/?", "/memories/e\u{301}", true),
        ("/memories/[é]", "/memories/E\u{301}", true),
        ("/memories/strasse", "/memories/STRAßE", true),
        ("/memories/Straße", "/memories/strasse", true),
        ("/memories/ß?", "/memories/ẞ1", true),
        ("/memories/é", "/memories/e", false),
        ("/memories/[!é]", "/memories/e\u{301}", false),
    ] {
        assert_eq!(pattern(text).matches(&at(path)), matches, "{text} {path}");
    }
}

#[test]
fn a_writable_path_is_writable_in_upper_and_lower_case() {
    let memory = memory(FoldingStore::like_windows(), |options| {
        options.writable_paths = Some(patterns(&["/memories/Été", "/memories/strasse"]));
    });
    memory.create("/memories/ÉTÉ/a", "a").unwrap();
    // NTFS treats these as two directories, and the model may write into one of them.
    assert!(refusal(memory.create("/memories/straße/a", "a")).contains("is read-only: only "));
}

#[test]
fn what_was_viewed_by_one_spelling_was_viewed_by_all() {
    for (store, other) in kinds() {
        put(&store, PLACE, "one\n");
        let store = Arc::new(store);
        let memory = memory(ReadOnlyNot(store.clone()), |options| {
            options.stale_guard = StaleGuard::Strict;
        });
        assert_eq!(
            refusal(memory.insert(other, 0, "x")),
            format!(
                "Error: You have not viewed the file {other} yet. Nothing was changed: view it first, then try again."
            )
        );
        memory.view(PLACE, None).unwrap();
        memory.insert(other, 0, "two").unwrap();
        memory.insert(PLACE, 0, "three").unwrap();
        store.write(&at(other), b"by somebody else\n", OnExisting::Overwrite).unwrap();
        for path in [PLACE, other] {
            let refused = refusal(memory.insert(path, 0, "x"));
            assert!(refused.contains("has changed since you last viewed"), "{refused}");
        }
        memory.view(other, None).unwrap();
        memory.insert(PLACE, 0, "four").unwrap();
        // Also when the directory is moved by its other spelling and only the case of its own name changes.
        let directory = at(other).parent().unwrap();
        memory.rename(directory.as_str(), "/memories/moved").unwrap();
        memory.insert("/memories/MOVED/notes.md", 0, "five").unwrap();
        memory.rename("/memories/moved", "/memories/Moved").unwrap();
        memory.insert("/memories/moved/notes.md", 0, "six").unwrap();
        // A file that another process deleted and created again was not viewed.
        memory.delete("/memories/MOVED").unwrap();
        put(&*store, "/memories/moved/notes.md", "new\n");
        let refused = refusal(memory.insert("/memories/moved/Notes.md", 0, "x"));
        assert!(refused.contains("You have not viewed"), "{refused}");
    }
}

#[test]
fn a_file_counts_once_by_all_of_its_spellings() {
    for (store, other) in kinds() {
        let memory = memory(store, |options| {
            options.max_files = Some(1);
            options.max_total_bytes = Some(10);
            options.on_existing = OnExisting::Overwrite;
        });
        memory.create(PLACE, "12345678").unwrap();
        memory.create(other, "1234567890").unwrap();
        assert!(refusal(memory.create(other, "12345678901")).contains("may hold 10 bytes"));
        assert!(refusal(memory.create("/memories/second", "")).contains("1 file"));
        memory.str_replace(other, "1234567890", "12").unwrap();
        memory.insert(PLACE, 0, "345").unwrap();
        assert_eq!(shown(&memory, other), "     1\t345\n     2\t12");
        // In a full memory, too, the refusal is about the existing file.
        let mut options = memory.options().clone();
        options.on_existing = OnExisting::Error;
        let full = Memory::with_store(Arc::clone(memory.store()), options);
        let exists = format!("Error: File {other} already exists");
        assert_eq!(refusal(full.create(other, "12345678901")), exists);
        let above = at(other).parent().unwrap();
        let exists = format!("Error: File {above} already exists");
        assert_eq!(refusal(full.create(above.as_str(), "12345678901")), exists);
    }
}

#[test]
fn a_pinned_file_is_pinned_by_every_spelling() {
    for (store, other) in kinds() {
        put(&store, PLACE, "pinned\n");
        put(&store, "/memories/old", "old\n");
        let long_ago = SystemTime::now() - Duration::from_secs(10_000);
        for path in [PLACE, "/memories/old"] {
            store.set_modified(&at(path), long_ago).unwrap();
        }
        let store = Arc::new(store);
        let pattern = at(other);
        let memory = memory(ReadOnlyNot(store.clone()), |options| {
            options.record_access = true;
            options.never_expire = patterns(&[pattern.as_str()]);
        });
        let go_on = &mut |_| ControlFlow::Continue(());
        let expired = memory.expire(Duration::from_secs(5000), false, go_on).unwrap();
        assert_eq!(expired.len(), 1);
        assert_eq!(store.read(&at(PLACE)).unwrap(), b"pinned\n");
        // A view by another spelling counts as use of the file.
        memory.view(other, None).unwrap();
        assert!(store.accessed(&at(PLACE)).unwrap().is_some());
    }
}

#[test]
fn a_mount_point_is_there_by_every_spelling() {
    for (root, _) in kinds() {
        // Behind the mount point.
        put(&root, "/memories/Team/hidden", "hidden");
        let team: Arc<dyn Store> = Arc::new(InProcess::new());
        let deep: Arc<dyn Store> = Arc::new(ReadOnly::new(InProcess::new()));
        let mounts = Mounts::new(Arc::new(root))
            .mount(at("/memories/team"), Arc::clone(&team))
            .and_then(|mounts| mounts.mount(at("/memories/SHARED/Handbook"), deep))
            .unwrap();
        let memory = memory(mounts, |_| ());
        memory.create("/memories/TEAM/plan.md", "plan\n").unwrap();
        assert_eq!(team.read(&at("/memories/plan.md")).unwrap(), b"plan\n");
        assert_eq!(
            shown(&memory, "/memories"),
            "4.0K\t/memories\n4.0K\t/memories/SHARED\n4.0K\t/memories/SHARED/Handbook\n4.0K\t/memories/team\n5B\t/memories/team/plan.md"
        );
        assert_eq!(
            shown(&memory, "/memories/TEAM"),
            "4.0K\t/memories/TEAM\n5B\t/memories/TEAM/plan.md"
        );
        let fixed = |path: &str| {
            format!(
                "Error: {path} is or holds a fixed directory of this memory, which can be neither deleted nor renamed"
            )
        };
        for path in ["/memories/Team", "/memories/shared", "/memories/shared/HANDBOOK"] {
            assert_eq!(refusal(memory.delete(path)), fixed(path));
            assert_eq!(refusal(memory.rename(path, "/memories/x")), fixed(path));
            assert_eq!(
                refusal(memory.create(path, "x")),
                format!("Error: File {path} already exists")
            );
        }
        let refused = refusal(memory.create("/memories/shared/handbook/x", "x"));
        assert!(refused.contains("is read-only"), "{refused}");
        // The mounted store is case-sensitive.
        memory.create("/memories/Team/PLAN.md", "other\n").unwrap();
        assert_eq!(team.list(&MemoryPath::root()).unwrap().len(), 2);
    }
}

#[test]
fn two_stores_are_not_mounted_at_two_spellings_of_one_path() {
    let other = || Arc::new(InProcess::new());
    let mounts = |root: Arc<dyn Store>| {
        Mounts::new(root)
            .mount(at("/memories/team"), other())
            .and_then(|mounts| mounts.mount(at("/memories/TEAM"), other()))
    };
    let error = mounts(Arc::new(FoldingStore::like_windows())).unwrap_err().to_string();
    assert!(error.contains("two stores"), "{error}");
    assert!(mounts(other()).is_ok());
}

#[test]
fn an_encrypted_file_is_read_by_every_spelling() {
    for (store, other) in kinds() {
        let store: Arc<dyn Store> = Arc::new(store);
        let open = || Encrypted::open(Arc::clone(&store), &key(1), false).unwrap();
        let encrypted = open();
        assert!(encrypted.info().folds_case);
        put(&encrypted, PLACE, "one\n");
        assert_eq!(encrypted.read(&at(other)).unwrap(), b"one\n");
        encrypted.write(&at(other), b"two\n", OnExisting::Overwrite).unwrap();
        let beside = at(other).parent().unwrap().join("Beside").unwrap();
        put(&encrypted, beside.as_str(), "beside\n");
        let memory = memory(encrypted, |_| ());
        memory.insert(other, 0, "three").unwrap();
        memory.rename(other, "/memories/été/MOVED.md").unwrap();
        memory.rename("/memories/été/moved.md", "/memories/été/Moved.md").unwrap();
        // By the spelling of a listing, and in a store that was just opened.
        let expected = [("Beside", "beside\n"), ("Moved.md", "three\ntwo\n")];
        for (name, content) in expected {
            let path = at("/memories/été").join(name).unwrap();
            assert_eq!(open().read(&path).unwrap(), content.as_bytes());
        }
        assert_eq!(tree(&open(), "/memories/été").len(), 2);
        assert_eq!(shown(&memory, "/memories/ÉTÉ/MOVED.MD"), "     1\tthree\n     2\ttwo");
    }
}

#[test]
fn encrypted_names_keep_their_cases_apart() {
    let inner = Arc::new(FoldingStore::like_windows());
    let store = Encrypted::open(inner, &key(1), true).unwrap();
    assert!(!store.info().folds_case);
    put(&store, "/memories/Notes.md", "one");
    put(&store, "/memories/notes.md", "two");
    assert_eq!(store.read(&at("/memories/Notes.md")).unwrap(), b"one");
    assert!(matches!(store.read(&at("/memories/NOTES.md")), Err(StoreError::NotFound)));
}

#[test]
fn a_reserved_name_is_reserved_by_every_spelling() {
    let memory = memory(FoldingStore::like_macos(), |_| ());
    for name in [".memdir-x", ".MEMDIR-x", ".memd\u{131}r-x", ".\u{200D}memdir-x", ".mEmdir%2Dx"] {
        let refused = refusal(memory.create(&format!("/memories/{name}"), "x"));
        assert!(refused.contains("is reserved"), "{refused}");
    }
}

#[test]
fn a_copy_refuses_two_files_that_would_become_one() {
    for (to, other) in kinds() {
        let (from, to): (_, Arc<dyn Store>) = (in_process(), Arc::new(to));
        put(&*from, PLACE, "one\n");
        put(&*from, "/memories/été/notes.md", "two\n");
        let error = copy_all(&from, &to).unwrap_err();
        let memdir::CopyError::Refused(refused) = &error else { panic!("{error}") };
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert_eq!(
            (refused[0].path.as_str(), refused[0].there),
            ("/memories/été/notes.md", There::SameName)
        );
        assert!(error.to_string().contains("ignores case"), "{error}");
        assert!(tree(&*to, "/memories").is_empty());
        from.delete(&at("/memories/été/notes.md")).unwrap();
        // An existing file under another spelling is compared, and not overwritten.
        put(&*to, other, "mine\n");
        let error = copy_all(&from, &to).unwrap_err();
        assert!(error.to_string().contains("holds something else at"), "{error}");
        to.write(&at(other), b"one\n", OnExisting::Overwrite).unwrap();
        let copied = copy_all(&from, &to).unwrap();
        assert_eq!((copied.files, copied.equal), (0, 1));
    }
}

#[test]
fn sensitive_text_and_existing_files_are_refused_by_every_spelling() {
    for (store, other) in kinds() {
        let memory = memory(store, |options| options.sensitive_text = SensitiveText::Reject);
        memory.create(PLACE, "one\n").unwrap();
        assert_eq!(
            refusal(memory.create(other, "two\n")),
            format!("Error: File {other} already exists")
        );
        memory.create("/memories/a", "a").unwrap();
        assert_eq!(
            refusal(memory.rename("/memories/a", other)),
            format!("Error: The destination {other} already exists")
        );
        memory.delete(other).unwrap();
        assert!(refusal(memory.delete(PLACE)).contains("does not exist"));
    }
}
