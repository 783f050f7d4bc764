//! `undo` and `restore` with obstacles at their paths.
#![cfg(all(unix, feature = "sqlite"))]

use crate::common::{program, remembering};
use memdir::{Memory, MemoryOptions};
use serde_json::json;

/// The program reports the paths in the way, and that it changed nothing.
#[test]
fn the_program_says_what_is_in_the_way() {
    let place = tempfile::tempdir().unwrap();
    for store in ["./m", "sqlite:m.db"] {
        let mut options = MemoryOptions::default();
        options.history = true;
        let path = place.path().to_str().unwrap();
        let address = match store.strip_prefix("sqlite:") {
            Some(name) => format!("sqlite:{path}/{name}"),
            None => format!("{path}/m"),
        };
        let memory = Memory::open(&address, options).unwrap();
        memory.create("/memories/b/c.txt", "one").unwrap();
        memory.create("/memories/a", "one").unwrap();
        memory.delete("/memories/b").unwrap();
        let change = remembering::all(&memory)[0].change.to_string();
        memory.create("/memories/b", "two").unwrap();
        let run = |arguments: &[&str]| {
            program::run(place.path(), &[&arguments[..1], &[store], &arguments[1..]].concat())
        };
        let stderr = "memdir: /memories/b: in the way\n\
             memdir: nothing was changed, as 1 path is in the way: rename or delete what is in the way first\n";
        let asked: [&[&str]; 3] =
            [&["undo", &change], &["restore", &change], &["restore", &change, "--overwrite"]];
        for asked in asked {
            assert_eq!(run(asked), (1, String::new(), stderr.to_owned()), "{asked:?}");
            let (code, stdout, _) = run(&[asked, &["--json"]].concat());
            let conflict: serde_json::Value = serde_json::from_str(&stdout).unwrap();
            let expected = json!({"type": "conflict", "path": "/memories/b", "in_the_way": true});
            assert_eq!((code, conflict), (1, expected));
        }
    }
}
