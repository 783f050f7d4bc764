//! The border, tested from the Rust side: conversions, and that nothing is lost in them.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::sync::Arc;
use std::time::SystemTime;

use memdir_ffi::{
    Cancellation, Command, Edit, Entry, HookDecision, MemdirError, MemdirKey, MemdirText, Memory,
    MemoryOptions, OnConflict, OnExisting, Outcome, Store, StoreError, StoreFactory, SyncErrorKind,
    SyncMerge, SyncMerger, SyncProgress, SyncWatch, Synced, cancelled_reply, check_contract,
    open_store, rekey_store,
};

fn defaults() -> MemoryOptions {
    let core = memdir::MemoryOptions::default();
    MemoryOptions {
        max_view_chars: core.max_view_chars.map(|limit| i64::try_from(limit).unwrap()),
        max_file_bytes: core.max_file_bytes.map(|limit| i64::try_from(limit).unwrap()),
        max_total_bytes: None,
        max_files: None,
        max_image_bytes: None,
        on_existing: None,
        durability: None,
        lock_timeout: core.lock_timeout.map(Into::into),
        namespace: None,
        encryption_key: None,
        encrypt_names: false,
        read_only: false,
        read_only_paths: None,
        writable_paths: None,
        stale_guard: None,
        sensitive_text: None,
        sensitive_rules: None,
        sensitive_on_view: false,
        expire_after: None,
        record_access: false,
        never_expire: None,
        event_content: false,
        history: false,
        history_max_age: core.history_max_age.map(Into::into),
        history_max_versions: None,
        history_max_bytes: None,
        search_language: None,
        search_max_bytes: core.search_max_bytes.map(|limit| i64::try_from(limit).unwrap()),
        search_keep: false,
        search_recency: None,
        embedder_name: None,
        embedder_timeout: core.embedder_timeout.map(Into::into),
        actor: None,
    }
}

struct BuiltIn;

impl StoreFactory for BuiltIn {
    fn make(&self) -> Result<Arc<dyn Store>, StoreError> {
        open_store("memory:".into(), defaults())
            .map_err(|error| StoreError::Failed { reason: error.to_string() })
    }
}

#[test]
fn a_built_in_store_keeps_the_contract_there_and_back() {
    assert_eq!(check_contract(Arc::new(BuiltIn)), Ok(None));
}

struct Nothing;

impl StoreFactory for Nothing {
    fn make(&self) -> Result<Arc<dyn Store>, StoreError> {
        Err(StoreError::Full)
    }
}

#[test]
fn a_factory_that_fails_is_no_store_that_passes() {
    assert_eq!(check_contract(Arc::new(Nothing)), Err(StoreError::Full));
}

/// A store whose answers are all wrong.
struct Wrong {
    listed: Entry,
}

impl Store for Wrong {
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError> {
        match path.as_str() {
            "/memories" => Err(StoreError::IsADirectory),
            _ => Ok(b"one\n".to_vec()),
        }
    }

    fn list(&self, _: String) -> Result<Vec<Entry>, StoreError> {
        Ok(vec![self.listed.clone()])
    }

    fn write(&self, _: String, _: Vec<u8>, _: bool) -> Result<(), StoreError> {
        Err(StoreError::Failed { reason: "no route to db.internal".to_owned() })
    }

    fn update(&self, _: String, _: Arc<dyn Edit>) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete(&self, _: String) -> Result<(), StoreError> {
        Err(StoreError::PermissionDenied)
    }

    fn rename(&self, _: String, _: String) -> Result<(), StoreError> {
        Err(StoreError::Full)
    }

    fn set_modified(&self, _: String, _: SystemTime) -> Result<(), StoreError> {
        Ok(())
    }

    fn tracks_access(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn folds_case(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn record_access(&self, _: String, _: SystemTime) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete_unused(&self, _: String, _: SystemTime) -> Result<bool, StoreError> {
        Ok(false)
    }
}

fn wrong(path: &str, size: Option<i64>) -> Memory {
    let listed = Entry { path: path.to_owned(), size, modified: None, accessed: None };
    Memory::with_store(Arc::new(Wrong { listed }), defaults(), None).unwrap()
}

#[test]
fn what_a_store_does_wrong_is_told_to_the_developer_alone() {
    for (path, size) in [
        ("/memories", None),
        ("/etc/passwd", Some(1)),
        ("/memories/a/b", Some(1)),
        ("/memories/a", Some(-1)),
    ] {
        let reply = wrong(path, size).execute(r#"{"command":"view","path":"/memories"}"#.into());
        assert!(reply.is_error && reply.cause.is_some(), "{path}: {reply:?}");
        assert!(!reply.content.contains("passwd"), "{}", reply.content);
    }
    // A name that is not valid in a path is hidden, as everywhere.
    assert_eq!(
        wrong("/memories/a\nb", Some(1)).view("/memories".into(), None).unwrap().lines().count(),
        2
    );

    let memory = wrong("/memories/a", Some(1));
    let unedited =
        memory.str_replace("/memories/a".into(), "one".into(), Some("two".into())).unwrap_err();
    assert!(unedited.to_string().contains("did not apply the edit"), "{unedited}");
    let MemdirError::Store { reason, answer, kind } =
        memory.create("/memories/b".into(), "x".into()).unwrap_err()
    else {
        panic!("a broken store is no mistake of the model's");
    };
    assert!(reason.contains("db.internal"));
    let reply = MemdirError::Store { reason: reason.clone(), answer, kind }.reply();
    assert!(reply.is_error && !reply.content.contains("db.internal"), "{}", reply.content);
    assert_eq!(reply.cause, Some(reason));
    assert!(matches!(memory.delete("/memories/a".into()), Err(MemdirError::Refused { reason, .. })
        if reason.contains("Permission denied")));
}

/// A store in which another writer comes between the read and the update, once.
struct Raced {
    store: Arc<dyn Store>,
    other: std::sync::Once,
}

impl Store for Raced {
    fn read(&self, path: String) -> Result<Vec<u8>, StoreError> {
        self.store.read(path)
    }

    fn list(&self, path: String) -> Result<Vec<Entry>, StoreError> {
        self.store.list(path)
    }

    fn write(&self, path: String, content: Vec<u8>, overwrite: bool) -> Result<(), StoreError> {
        self.store.write(path, content, overwrite)
    }

    fn update(&self, path: String, edit: Arc<dyn Edit>) -> Result<(), StoreError> {
        self.other.call_once(|| {
            self.store.write(path.clone(), b"zero\none\n".to_vec(), true).unwrap();
        });
        self.store.update(path, edit)
    }

    fn delete(&self, path: String) -> Result<(), StoreError> {
        self.store.delete(path)
    }

    fn rename(&self, source: String, destination: String) -> Result<(), StoreError> {
        self.store.rename(source, destination)
    }

    fn set_modified(&self, path: String, time: SystemTime) -> Result<(), StoreError> {
        self.store.set_modified(path, time)
    }

    fn tracks_access(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn folds_case(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    fn record_access(&self, _: String, _: SystemTime) -> Result<(), StoreError> {
        Ok(())
    }

    fn delete_unused(&self, _: String, _: SystemTime) -> Result<bool, StoreError> {
        Ok(false)
    }
}

#[test]
fn an_edit_is_made_anew_when_another_writer_was_faster() {
    let store = open_store("memory:".into(), defaults()).unwrap();
    store.write("/memories/a".to_owned(), b"one\n".to_vec(), false).unwrap();
    let raced = Raced { store: Arc::clone(&store), other: std::sync::Once::new() };
    let memory = Memory::with_store(Arc::new(raced), defaults(), None).unwrap();
    memory.str_replace("/memories/a".into(), "one".into(), Some("two".into())).unwrap();
    assert_eq!(store.read("/memories/a".to_owned()).unwrap(), b"zero\ntwo\n");
}

#[test]
fn options_are_taken_over_and_wrong_ones_refused() {
    let options = MemoryOptions { on_existing: Some(OnExisting::Overwrite), ..defaults() };
    let memory = Memory::new(Some("memory:".into()), options, None).unwrap();
    memory.create("/memories/a".into(), "one".into()).unwrap();
    memory.create("/memories/a".into(), "two".into()).unwrap();
    for options in [
        MemoryOptions { max_view_chars: Some(-1), ..defaults() },
        MemoryOptions { max_file_bytes: Some(i64::MIN), ..defaults() },
    ] {
        assert!(matches!(
            Memory::new(Some("memory:".into()), options, None),
            Err(MemdirError::Config { .. })
        ));
    }
    assert!(matches!(
        Memory::new(Some("nosuch://x".into()), defaults(), None),
        Err(MemdirError::Config { .. })
    ));
}

#[test]
fn a_wrong_option_is_told_by_its_name_in_kotlin_and_swift() {
    let options = MemoryOptions { record_access: true, read_only: true, ..defaults() };
    for (options, sentence) in [
        (
            MemoryOptions { max_files: Some(-1), ..defaults() },
            "maxFiles must be a whole number from 0 on, or null, got -1",
        ),
        (
            MemoryOptions { read_only_paths: Some(vec!["notes".into()]), ..defaults() },
            "readOnlyPaths: the pattern \"notes\" does not start with /memories",
        ),
        (
            options,
            "recordAccess cannot be set together with readOnly, because a read-only memory does \
             not record accesses",
        ),
    ] {
        let Err(MemdirError::Config { reason, .. }) =
            Memory::new(Some("memory:".into()), options, None)
        else {
            panic!("{sentence}")
        };
        assert_eq!(reason, sentence);
    }
}

#[test]
fn a_range_that_is_none_has_the_sentence_that_execute_gives() {
    let memory = Memory::new(Some("memory:".into()), defaults(), None).unwrap();
    memory.create("/memories/a".into(), "one\ntwo\nthree\n".into()).unwrap();
    assert!(
        memory.view("/memories/a".into(), Some(vec![2, -1])).unwrap().ends_with("     3\tthree")
    );
    for range in [vec![], vec![1], vec![1, 2, 3], vec![0, 1]] {
        let input = format!(r#"{{"command":"view","path":"/memories/a","view_range":{range:?}}}"#);
        let error = memory.view("/memories/a".into(), Some(range)).unwrap_err();
        assert_eq!(error.reply(), memory.execute(input.as_str().into()));
    }
}

fn encrypted(store: Arc<dyn Store>, key: MemdirKey) -> Result<Memory, MemdirError> {
    let options = MemoryOptions { encryption_key: Some(key), ..defaults() };
    Memory::with_store(store, options, None)
}

#[cfg(not(feature = "encryption"))]
#[test]
fn a_key_is_an_error_where_the_library_has_no_encryption() {
    let store = open_store("memory:".into(), defaults()).unwrap();
    let key = MemdirKey::of_bytes(&[7; 32]);
    let error = encrypted(Arc::clone(&store), key.clone()).unwrap_err().to_string();
    assert!(error.starts_with("encryptionKey is for encryption"), "{error}");
    assert!(rekey_store(store, key.clone(), key).unwrap_err().to_string().starts_with("oldKey"));
}

#[cfg(feature = "encryption")]
#[test]
fn a_key_encrypts_a_store_of_the_hosts_and_is_shown_nowhere() {
    let store = open_store("memory:".into(), defaults()).unwrap();
    let key = MemdirKey::of_text("correct horse battery staple");
    let memory = encrypted(Arc::clone(&store), key.clone()).unwrap();
    memory.create("/memories/a.md".into(), "Anna likes tea\n".into()).unwrap();
    let stored = store.read("/memories/a.md".to_owned()).unwrap();
    assert!(!stored.windows(4).any(|bytes| bytes == b"Anna"));
    assert!(encrypted(Arc::clone(&store), MemdirKey::of_bytes(&[7; 32])).is_err());

    let new = MemdirKey::of_bytes(&[8; 32]);
    assert_eq!(rekey_store(Arc::clone(&store), key.clone(), new.clone()).unwrap(), 1);
    assert!(encrypted(Arc::clone(&store), new).is_ok());
    assert_eq!(format!("{key:?}"), "EncryptionKey(…)");
    for wrong in [MemdirKey::of_bytes(&[7; 31]), MemdirKey::of_text("hex:07")] {
        let error = encrypted(Arc::clone(&store), wrong).unwrap_err();
        assert!(error.to_string().starts_with("encryptionKey must have"), "{error}");
    }
}

#[test]
fn an_image_is_data_with_the_option_and_refused_otherwise() {
    let png = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plan.png")).unwrap();
    let store = open_store("memory:".into(), defaults()).unwrap();
    store.write("/memories/plan.png".to_owned(), png.clone(), false).unwrap();
    let view = r#"{"command": "view", "path": "/memories/plan.png"}"#;

    let options = MemoryOptions { max_image_bytes: Some(1_000), ..defaults() };
    let memory = Memory::with_store(Arc::clone(&store), options, None).unwrap();
    let reply = memory.execute(view.into());
    let image = reply.image.unwrap();
    assert_eq!((image.media_type.as_str(), image.bytes), ("image/png", png.clone()));
    assert_eq!(reply.content, format!("[image/png, {} bytes]", png.len()));
    let refused = memory.view("/memories/plan.png".into(), None).unwrap_err().to_string();
    assert!(refused.ends_with("images cannot be shown here."), "{refused}");

    let reply = Memory::with_store(store, defaults(), None).unwrap().execute(view.into());
    assert_eq!((reply.content, reply.image), (refused, None));
}

#[test]
fn a_pending_call_ends_once() {
    let memory = Memory::new(Some("memory:".into()), defaults(), None).unwrap();
    let json = r#"{"command": "create", "path": "/memories/a", "file_text": "one"}"#;
    let call = memory.begin_execute(json.into());
    let create = Command::Create { path: "/memories/a".to_owned(), file_text: "one".to_owned() };
    assert_eq!(call.command(), Some(create));
    assert!(!call.is_view());
    assert!(call.event().is_none() && call.reply().is_none() && call.text().unwrap().is_none());

    call.cancel();
    call.finish(HookDecision::Allow, Arc::new(Cancellation::new()));
    call.fail_hook("late".into());
    call.no_thread("late".into());
    assert_eq!(call.event().unwrap().outcome, Outcome::Cancelled);
    assert_eq!(call.command(), None);
    assert_eq!(call.reply(), Some(cancelled_reply()));
    assert_eq!(call.reply(), None);
    assert!(!memory.exists("/memories/a".into()).unwrap());

    let refused = memory.begin_execute("no JSON".into());
    assert!(refused.is_view() && refused.command().is_none());
    refused.fail_hook("asked about nothing".into());
    assert_eq!(refused.event().unwrap().outcome, Outcome::Refused);
    assert!(matches!(refused.text(), Err(MemdirError::Refused { .. })));
}

/// Answers a sync that asks whether to continue.
struct Watching(Result<bool, StoreError>);

impl SyncWatch for Watching {
    fn syncing(&self, _: SyncProgress) -> Result<bool, StoreError> {
        self.0.clone()
    }
}

#[test]
fn a_sync_has_errors_of_its_own_and_those_of_its_watch() {
    let memory = || Arc::new(Memory::new(Some("memory:".into()), defaults(), None).unwrap());
    let (one, other) = (memory(), memory());
    one.create("/memories/a".into(), "one".into()).unwrap();
    let sync = |memory: &Arc<Memory>, watch: Option<Watching>| {
        let watch = watch.map(|watch| Arc::new(watch) as Arc<dyn SyncWatch>);
        let keep = Some(OnConflict::KeepBoth);
        let other = Arc::clone(memory);
        one.sync(other, keep, None, false, false, false, false, vec![], None, None, watch)
    };
    let kind = |synced: Result<Synced, MemdirError>| match synced.unwrap_err() {
        MemdirError::Sync { kind, .. } => kind,
        error => panic!("{error:?}"),
    };
    assert_eq!(kind(sync(&one, None)), SyncErrorKind::Overlapping);
    assert_eq!(kind(sync(&other, Some(Watching(Ok(false))))), SyncErrorKind::Stopped);
    let failed = StoreError::Failed { reason: "no more".to_owned() };
    let error = sync(&other, Some(Watching(Err(failed)))).unwrap_err();
    assert!(matches!(&error, MemdirError::Store { reason, .. } if reason.contains("no more")));
    let synced = sync(&other, Some(Watching(Ok(true)))).unwrap();
    assert_eq!((synced.changes.len(), synced.equal), (1, 1));
    let names = Some(vec!["laptop".into()]);
    let wrong = one
        .sync(other, None, None, false, false, false, false, vec![], None, names, None)
        .unwrap_err();
    assert!(
        matches!(&wrong, MemdirError::Config { option: Some(option), .. } if option == "names")
    );
    assert_eq!(wrong.to_string(), "names must be two names, got [\"laptop\"]");
}

/// Answers with this text.
struct Merging(Result<Option<&'static str>, StoreError>);

impl SyncMerger for Merging {
    fn merge(&self, file: SyncMerge) -> Result<Option<MemdirText>, StoreError> {
        assert_eq!((&*file.path, &*file.a, &*file.b), ("/memories/a", "one", "two"));
        self.0.clone().map(|text| text.map(Into::into))
    }
}

#[test]
fn a_merger_ends_conflicts() {
    let sync = |answer, word| {
        let memory = || Arc::new(Memory::new(Some("memory:".into()), defaults(), None).unwrap());
        let (one, other) = (memory(), memory());
        one.create("/memories/a".into(), "one".into()).unwrap();
        other.create("/memories/a".into(), "two".into()).unwrap();
        let merger = Some(Arc::new(Merging(answer)) as Arc<dyn SyncMerger>);
        let end = Arc::clone(&other);
        let synced =
            one.sync(end, word, merger, false, false, false, false, vec![], None, None, None);
        (synced, other.read("/memories/a".into()).unwrap())
    };
    let (synced, text) = sync(Ok(Some("both")), None);
    assert_eq!((synced.unwrap().changes.len(), &*text), (2, "both"));
    let (synced, text) = sync(Ok(None), None);
    assert_eq!((synced.unwrap().conflicts.len(), &*text), (1, "one"));
    let failed = StoreError::Failed { reason: "no model".to_owned() };
    for (answer, word, says) in [
        (Err(failed), None, "no model"),
        (Ok(None), Some(OnConflict::A), "merger and onConflict exclude each other"),
    ] {
        let (synced, text) = sync(answer, word);
        let error = synced.unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
        assert_eq!(text, "two");
    }
}
