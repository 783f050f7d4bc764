//! The local directory gives exactly the same answers on every system: random commands from a fixed seed are executed on one
//! system and recorded with their replies, then executed on another.
//!
//! By default the test does both here. With `MEMDIR_REPLAY_TO` it writes the file, with `MEMDIR_REPLAY_FROM` it reads
//! one. `tests/platforms/run` passes the file between systems.
#![cfg(any(unix, windows))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use crate::common::store_helpers::tree;
use memdir::store::LocalDirectory;
use memdir::{Durability, Memory, MemoryOptions, OnExisting};
use serde_json::{Value, json};

/// The number of sequences, and the number of commands in each.
const SEQUENCES: usize = 200;
const COMMANDS: usize = 16;
const SEED: u64 = 20_261_122;

/// Numbers that are the same on every system (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).unwrap()
    }

    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }

    /// Few names, so commands often hit each other's files and directories. Some are invalid on Windows. No two
    /// differ only in case.
    fn path(&mut self) -> String {
        const COMMON: &[&str] = &["a", "b", "a", "b", "c", ".h"];
        const RARE: &[&str] = &[
            "aux.txt",
            "con",
            "a:b",
            "end.",
            "space ",
            "what?",
            "x*",
            "été",
            "猫",
            "node_modules",
            "a~1",
            "..",
            "%2e%2e",
            "a\\b",
            ".memdir-x",
            "\u{7}",
            ".",
            "",
            "\u{F03A}",
            "50%25",
            "\"<|>",
        ];
        let mut path = "/memories".to_owned();
        for _ in 0..self.below(4) {
            path.push('/');
            path += if self.below(6) == 0 { self.one_of(RARE) } else { self.one_of(COMMON) };
        }
        match self.below(40) {
            0 => path.trim_start_matches('/').to_owned(),
            1 => path + "/",
            2 => format!("{path}/{}", "n".repeat(256)),
            3 => format!("{path}/{}", "n".repeat(200)),
            _ => path,
        }
    }

    fn text(&mut self) -> String {
        const PIECES: &[&str] = &["x", "y", "\n", "\r\n", "é", "猫", "\u{2028}", "x\n", "  ", "\t"];
        (0..self.below(6)).map(|_| self.one_of(PIECES)).collect()
    }

    fn number(&mut self) -> i64 {
        i64::try_from(self.below(7)).unwrap() - 2
    }

    fn command(&mut self) -> Value {
        let path = self.path();
        match self.below(10) {
            0 | 1 => json!({"command": "view", "path": path}),
            2 => {
                json!({"command": "view", "path": path, "view_range": [self.number(), self.number()]})
            }
            3..=5 => json!({"command": "create", "path": path, "file_text": self.text()}),
            6 => {
                let (old, new) = (self.text(), self.text());
                json!({"command": "str_replace", "path": path, "old_str": old, "new_str": new})
            }
            7 => {
                let (line, text) = (self.number(), self.text());
                json!({"command": "insert", "path": path, "insert_line": line, "insert_text": text})
            }
            8 => json!({"command": "delete", "path": path}),
            _ => json!({"command": "rename", "old_path": path, "new_path": self.path()}),
        }
    }
}

/// A memory in a fresh directory, with options that vary between sequences.
fn memory(place: &Path, sequence: usize) -> Memory {
    let mut options = MemoryOptions::default();
    options.durability = Durability::Relaxed;
    if sequence % 3 == 1 {
        options.on_existing = OnExisting::Overwrite;
    }
    if sequence % 5 == 2 {
        options.max_view_chars = Some(120);
        options.max_file_bytes = Some(12);
    }
    let store = LocalDirectory::open(place, options.durability).unwrap();
    Memory::with_store(std::sync::Arc::new(store), options)
}

/// The replies to each command of a sequence, and the final tree.
fn execute(sequence: usize, commands: &[Value]) -> Value {
    let place = tempfile::tempdir().unwrap();
    let memory = memory(place.path(), sequence);
    let replies: Vec<Value> = commands
        .iter()
        .map(|command| {
            let reply = memory.execute_value(command);
            assert!(reply.cause.is_none(), "{command}: {:?}", reply.cause);
            json!([reply.content.as_text(), reply.is_error])
        })
        .collect();
    let there: Vec<Value> = tree(&**memory.store(), "/memories")
        .into_iter()
        .map(|(path, content)| json!([path, content.map(|it| String::from_utf8(it).unwrap())]))
        .collect();
    json!({"sequence": sequence, "commands": commands, "replies": replies, "tree": there})
}

fn write(file: &Path, sequences: usize) {
    let mut random = Random(SEED);
    let mut file = BufWriter::new(File::create(file).unwrap());
    for sequence in 0..sequences {
        let commands: Vec<Value> = (0..COMMANDS).map(|_| random.command()).collect();
        writeln!(file, "{}", execute(sequence, &commands)).unwrap();
    }
    file.flush().unwrap();
}

/// Replays a file, and checks that all replies are the same. Returns the number of its sequences.
fn replay(file: &Path) -> usize {
    let lines = BufReader::new(File::open(file).unwrap()).lines();
    let mut replayed = 0;
    for line in lines {
        let expected: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let sequence = usize::try_from(expected["sequence"].as_u64().unwrap()).unwrap();
        let got = execute(sequence, expected["commands"].as_array().unwrap());
        let both =
            expected["replies"].as_array().unwrap().iter().zip(got["replies"].as_array().unwrap());
        for (number, (expected_reply, reply)) in both.enumerate() {
            assert_eq!(
                reply, expected_reply,
                "sequence {sequence}, command {number}: {}",
                expected["commands"][number]
            );
        }
        assert_eq!(got, expected, "sequence {sequence}");
        replayed += 1;
    }
    replayed
}

#[test]
fn the_same_commands_have_the_same_replies() {
    if let Some(file) = std::env::var_os("MEMDIR_REPLAY_TO") {
        return write(Path::new(&file), SEQUENCES);
    }
    if let Some(file) = std::env::var_os("MEMDIR_REPLAY_FROM") {
        assert_eq!(replay(Path::new(&file)), SEQUENCES);
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("replies");
    write(&file, 40);
    assert_eq!(replay(&file), 40);
    // A single different reply is detected.
    let text =
        fs::read_to_string(&file).unwrap().replacen("File created successfully", "File made", 1);
    fs::write(&file, text).unwrap();
    assert!(std::panic::catch_unwind(|| replay(&file)).is_err());
}
