//! The encrypted format: however the stored bytes change, reading returns the original content or an error.

use std::sync::{Arc, OnceLock};

use memdir::command::Decoded;
use memdir::store::{Encrypted, InProcess};
use memdir::{EncryptionKey, Memory, MemoryOptions, MemoryPath, OnExisting, Store, StoreError};

use crate::tree::{self, Tree};

/// The files of the store, one of them in a directory that was renamed.
const FILES: [(&str, &str); 3] =
    [("/memories/a.md", "alpha\n"), ("/memories/d/b.md", "beta\nbeta\n"), ("/memories/empty", "")];

/// The input is a byte that selects a store (of plain or encrypted names) and one of its stored files, and
/// changes of four bytes each: the kind, the position (two bytes), and a value.
pub fn encrypted(data: &[u8]) {
    let Some((&choice, changes)) = data.split_first() else { return };
    let kept = originals(choice & 1 == 1);
    let files: Vec<(&MemoryPath, &Vec<u8>)> =
        kept.iter().filter_map(|(path, content)| Some((path, content.as_ref()?))).collect();
    let chosen = usize::from(choice >> 1) % files.len();
    let others: Vec<&Vec<u8>> = files.iter().map(|(_, content)| *content).collect();
    let changed = changed(files[chosen].1, &others, changes);

    let inner = Arc::new(InProcess::new());
    for (path, content) in &files {
        let content = if *path == files[chosen].0 { &changed } else { *content };
        inner.write(path, content, OnExisting::Error).unwrap();
    }
    let Ok(store) = Encrypted::open(inner.clone(), &key(), false) else {
        assert_eq!(files[chosen].0.as_str(), "/memories/.memdir-encryption");
        assert_ne!(&changed, files[chosen].1);
        return;
    };
    let mut broken = 0;
    for (path, content) in FILES {
        let path = MemoryPath::parse(path).unwrap();
        match store.read(&path) {
            Ok(read) => assert_eq!(read, content.as_bytes(), "{path}"),
            Err(StoreError::Failed { .. }) => broken += 1,
            Err(other) => panic!("{path}: {other}"),
        }
    }
    let of_a_file = files[chosen].0.as_str() != "/memories/.memdir-encryption";
    assert!(!of_a_file || broken == usize::from(changed != *files[chosen].1), "{broken} broken");
    let store: Arc<dyn Store> = Arc::new(store);
    let checked = memdir::check(&store, &mut |_| {}).unwrap();
    assert_eq!((checked.files, checked.problems), ((FILES.len() - broken) as u64, broken as u64));

    // An unreadable file can be neither edited nor viewed.
    let before = inner.read(files[chosen].0).unwrap();
    let memory = Memory::with_store(store, MemoryOptions::default());
    for (path, content) in FILES {
        let viewed = memory.execute_decoded(Decoded::named("view", &fields(path)));
        assert!(
            viewed.is_error
                || viewed.content.as_text().unwrap_or_default().lines().count()
                    == 1 + content.lines().count()
        );
        let inserted = memory.insert(path, 0, "new");
        assert_eq!(inserted.is_err(), viewed.is_error, "{path}");
    }
    if of_a_file && broken > 0 {
        assert_eq!(inner.read(files[chosen].0).unwrap(), before);
    }
}

fn fields(path: &str) -> serde_json::Map<String, serde_json::Value> {
    serde_json::Map::from_iter([("path".to_owned(), path.into())])
}

fn key() -> EncryptionKey {
    EncryptionKey::from_bytes([7; 32])
}

/// The stored files of such a store. They are made once, because keys are random.
fn originals(encrypt_names: bool) -> &'static Tree {
    static PLAIN: OnceLock<Tree> = OnceLock::new();
    static ENCRYPTED: OnceLock<Tree> = OnceLock::new();
    let made = if encrypt_names { &ENCRYPTED } else { &PLAIN };
    made.get_or_init(|| {
        let inner = Arc::new(InProcess::new());
        let store = Encrypted::open(inner.clone(), &key(), encrypt_names).unwrap();
        for (path, content) in FILES {
            let path = MemoryPath::parse(&path.replace("/d/", "/before/")).unwrap();
            store.write(&path, content.as_bytes(), OnExisting::Error).unwrap();
        }
        let [before, d] =
            ["/memories/before", "/memories/d"].map(|path| MemoryPath::parse(path).unwrap());
        store.rename(&before, &d).unwrap();
        tree::of(&*inner)
    })
}

fn changed(original: &[u8], others: &[&Vec<u8>], changes: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    for change in changes.chunks_exact(4) {
        let [what, high, low, value] = *change else { continue };
        let at = usize::from(u16::from_be_bytes([high, low])) % (bytes.len() + 1);
        match what % 8 {
            0 if at < bytes.len() => bytes[at] ^= value,
            1 if at < bytes.len() => bytes[at] = value,
            2 => bytes.truncate(at),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            4 => bytes.insert(at, value),
            5 => bytes = others[usize::from(value) % others.len()].clone(),
            // The rest of another file.
            6 => {
                let other = others[usize::from(value) % others.len()];
                bytes.truncate(at);
                bytes.extend_from_slice(other.get(at..).unwrap_or_default());
            }
            7 => bytes.extend(std::iter::repeat_n(value, at % 64)),
            _ => {}
        }
    }
    bytes
}
