//! The Rust runners: every case on every kind of store.

use std::sync::Arc;
use std::time::SystemTime;

use memdir::store::{Edit, Encrypted, Entry, InProcess, StoreInfo};
use memdir::{
    EncryptionKey, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError, open_store,
};
use memdir_conformance::cases;
use memdir_conformance::runner::{self, Opened};

fn passes(ran: Result<(), String>) {
    let failures = ran.err().unwrap_or_default();
    assert!(failures.is_empty(), "{failures}");
}

/// The store at that address, without limits if the store itself enforces them.
fn without_options(address: &str) -> Result<Arc<dyn Store>, String> {
    open_store(address, &MemoryOptions::default()).map_err(|error| error.to_string())
}

#[test]
fn rust_memory() {
    passes(runner::run("rust-memory", |options| {
        let memory = Memory::open("memory:", options).map_err(|error| error.to_string())?;
        Ok(Opened::of(memory, None))
    }));
}

/// The model sees the same with a history.
#[test]
fn rust_history() {
    passes(runner::run("rust-history", |mut options| {
        options.history = true;
        let memory = Memory::open("memory:", options).map_err(|error| error.to_string())?;
        Ok(Opened::of(memory, None))
    }));
}

/// A store with only the required methods: opening and clearing use the trait's default methods.
struct Plain(InProcess);

impl Store for Plain {
    fn read(&self, path: &MemoryPath) -> Result<Vec<u8>, StoreError> {
        self.0.read(path)
    }

    fn list(&self, path: &MemoryPath) -> Result<Vec<Entry>, StoreError> {
        self.0.list(path)
    }

    fn write(
        &self,
        path: &MemoryPath,
        content: &[u8],
        existing: OnExisting,
    ) -> Result<(), StoreError> {
        self.0.write(path, content, existing)
    }

    fn update(&self, path: &MemoryPath, edit: &mut Edit<'_>) -> Result<(), StoreError> {
        self.0.update(path, edit)
    }

    fn delete(&self, path: &MemoryPath) -> Result<(), StoreError> {
        self.0.delete(path)
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Result<(), StoreError> {
        self.0.rename(from, to)
    }

    fn set_modified(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.0.set_modified(path, time)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { tracks_access: true, ..StoreInfo::default() }
    }

    fn record_access(&self, path: &MemoryPath, time: SystemTime) -> Result<(), StoreError> {
        self.0.record_access(path, time)
    }

    fn delete_unused(&self, path: &MemoryPath, since: SystemTime) -> Result<bool, StoreError> {
        self.0.delete_unused(path, since)
    }
}

#[test]
fn rust_default_open() {
    passes(runner::run("rust-default-open", |options| {
        Ok(Opened::on(Plain(InProcess::new()), options))
    }));
}

#[test]
fn rust_sqlite() {
    passes(runner::run("rust-sqlite", |options| {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = place.path().join("agent.db");
        let file = file.to_str().ok_or("a temporary directory without a name")?;
        let address = format!("sqlite:{file}");
        let memory = Memory::open(&address, options).map_err(|error| error.to_string())?;
        let store = without_options(&address)?;
        // The directory exists as long as the check.
        let check =
            Box::new(move |_: &_| place.path().metadata().map(drop).map_err(|e| e.to_string()));
        Ok(Opened { memory, store, secret: Some(file.to_owned()), check })
    }));
}

fn encrypted(options: MemoryOptions, names: bool) -> Result<Opened, String> {
    let key = EncryptionKey::from_bytes([1; 32]);
    let store = Encrypted::open(Arc::new(InProcess::new()), &key, names);
    Ok(Opened::on(store.map_err(|error| error.to_string())?, options))
}

#[test]
fn rust_encrypted() {
    passes(runner::run("rust-encrypted", |options| encrypted(options, false)));
}

/// Its names and paths have lower limits than in other stores (`docs/stores/encryption.md`), so two cases
/// do not apply. Therefore it is not one of the runners whose counts are compared.
#[test]
fn rust_encrypted_names() {
    const TOO_LONG: [&str; 2] = ["a name of 255 bytes", "a path of 4,096 bytes"];
    let mut files = cases::load().unwrap();
    let count =
        |files: &[cases::CaseFile]| files.iter().map(|file| file.cases.len()).sum::<usize>();
    let all = count(&files);
    for file in &mut files {
        file.cases.retain(|case| !TOO_LONG.contains(&case.name.as_str()));
    }
    assert_eq!(count(&files), all - TOO_LONG.len());
    let failures = runner::failures(&files, |options| encrypted(options, true));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[cfg(unix)]
use memdir_test_support::{clouds, postgres};

#[cfg(unix)]
#[test]
fn rust_postgres() {
    let Some(server) = postgres::server() else { return };
    passes(runner::run("rust-postgres", |options| {
        let address = server.fresh();
        let memory = Memory::open(&address, options).map_err(|error| error.to_string())?;
        let (_, host) = server.base().split_once('@').ok_or("an address without a host")?;
        let store = without_options(&address)?;
        Ok(Opened { store, ..Opened::of(memory, Some(host.to_owned())) })
    }));
}

#[cfg(unix)]
fn on_object_storage(runner: &str, cloud: Option<&clouds::Cloud>) {
    /// A part of the error if the server, and not memdir, was too slow. On a busy machine one has stopped for a minute.
    const TOO_SLOW: &str = "the endpoint does not answer in time";

    let Some(cloud) = cloud else { return };
    let open = |options| {
        let prefix = clouds::prefix();
        let address = cloud.address(&prefix);
        let memory = Memory::open(&address, options).map_err(|error| error.to_string())?;
        Ok(Opened::of(memory, Some(prefix)))
    };
    let Err(failures) = runner::run(runner, open) else { return };
    // Repeats those cases, if there was no other failure.
    let mut files = cases::load().unwrap_or_default();
    for file in &mut files {
        file.cases.retain(|case| failures.contains(&format!("case \"{}\"", case.name)));
    }
    let again: usize = files.iter().map(|file| file.cases.len()).sum();
    assert!((1..=3).contains(&again) && failures.matches(TOO_SLOW).count() == again, "{failures}");
    let failures = runner::failures(&files, open);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[cfg(unix)]
#[test]
fn rust_s3() {
    on_object_storage("rust-s3", clouds::s3());
}

#[cfg(unix)]
#[test]
fn rust_azure() {
    on_object_storage("rust-azure", clouds::azure());
}

#[cfg(any(unix, windows))]
mod local {
    use std::fs;
    use std::path::Path;

    use memdir::{Memory, MemoryOptions, MemoryPath};
    use memdir_conformance::runner::{self, Opened};
    use memdir_conformance::tree::{self, Tree};

    fn open(options: MemoryOptions) -> Result<Opened, String> {
        let place = tempfile::tempdir().map_err(|error| error.to_string())?;
        let address = place.path().to_str().ok_or("a temporary directory without a name")?;
        let memory = Memory::open(address, options).map_err(|error| error.to_string())?;
        let secret = Some(address.to_owned());
        let check = Box::new(move |tree: &_| on_disk(place.path(), tree));
        Ok(Opened { check, ..Opened::of(memory, secret) })
    }

    /// This store does not keep access times yet (`docs/reference/behaviour.md`), so the cases of expiry are skipped.

    #[test]
    fn rust_local() {
        super::passes(runner::run("rust-local", open));
    }

    /// The files are where the SDKs' own tools keep them, and there are no other ones.
    fn on_disk(base: &Path, tree: &Tree) -> Result<(), String> {
        if cfg!(windows) {
            // There some names are spelled differently.
            return base.metadata().map(drop).map_err(|error| error.to_string());
        }
        let mut found = Tree::new();
        let mut names = Vec::new();
        for entry in fs::read_dir(base).map_err(|error| error.to_string())? {
            names.push(entry.map_err(|error| error.to_string())?.file_name());
        }
        if names != ["memories"] {
            return Err(format!("beside the memories there is {names:?}"));
        }
        walk(&base.join("memories"), &MemoryPath::root(), &mut found)
            .map_err(|error| error.to_string())?;
        match tree::difference(tree, &found) {
            None => Ok(()),
            Some(difference) => Err(format!("on disk there is something else{difference}")),
        }
    }

    fn walk(
        directory: &Path,
        path: &MemoryPath,
        found: &mut Tree,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let entries: Vec<_> = fs::read_dir(directory)?.collect::<Result<_, _>>()?;
        if entries.is_empty() && !path.is_root() {
            found.insert(path.clone(), None);
        }
        for entry in entries {
            let name = entry.file_name();
            let name = name.to_str().ok_or("a name that is not text")?;
            let below = path.join(name).map_err(|error| format!("{name:?} was left: {error}"))?;
            if entry.file_type()?.is_dir() {
                walk(&entry.path(), &below, found)?;
            } else {
                found.insert(below, Some(fs::read(entry.path())?));
            }
        }
        Ok(())
    }
}

#[test]
fn input_that_is_not_json_is_an_error_like_any_other() {
    let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
    let deep = "[".repeat(100_000);
    for input in ["", " ", "{", "{\"command\"", "view", "{} {}", "{'command': 'view'}", &deep] {
        let reply = memory.execute(input);
        assert!(reply.is_error, "{input:?}");
        let content = reply.content.as_text().unwrap_or_default();
        assert!(content.starts_with("Error: The input is not valid JSON: "), "{content}");
        assert!(content.len() < 300, "{content}");
    }
}
