//! Helpers for the tests of the command line with a history: stores with one, and running the program on them.
#![allow(dead_code, reason = "each test file uses its part")]

use std::process::Command;

use memdir::history::{HistoryQuery, Version};
use memdir::{Memory, MemoryOptions};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::program;

const KEY: &str = "hex:5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// A store of some kind, in its own directory.
pub(crate) struct Scene {
    pub(crate) place: TempDir,
    pub(crate) store: &'static str,
    is_encrypted: bool,
}

/// A local directory, a bare directory and a database, and an encrypted directory and database.
pub(crate) fn scenes() -> Vec<Scene> {
    let scene = |(store, is_encrypted)| {
        let place = tempfile::tempdir().unwrap();
        Scene { place, store, is_encrypted }
    };
    [("./m", false), ("dir:m", false), ("sqlite:m.db", false), ("./m", true), ("sqlite:m.db", true)]
        .map(scene)
        .into()
}

impl Scene {
    /// The memory at an address in the same directory.
    pub(crate) fn memory_at(&self, address: &str, history: bool) -> Memory {
        let mut options = MemoryOptions::default();
        options.history = history;
        self.memory_with(address, options)
    }

    pub(crate) fn memory_with(&self, address: &str, mut options: MemoryOptions) -> Memory {
        if self.is_encrypted {
            options.encryption_key = Some(KEY.parse().unwrap());
        }
        let place = self.place.path().to_str().unwrap();
        let address = match address.split_once(':') {
            Some((scheme, path)) => format!("{scheme}:{place}/{path}"),
            None => format!("{place}/{address}"),
        };
        Memory::open(&address, options).unwrap()
    }

    /// The memory with a history.
    pub(crate) fn memory(&self) -> Memory {
        self.memory_at(self.store, true)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program::memdir(self.place.path());
        if self.is_encrypted {
            let is_pair = matches!(arguments[0], "copy");
            let keys: &[&str] = if is_pair {
                &["MEMDIR_FROM_ENCRYPTION_KEY", "MEMDIR_TO_ENCRYPTION_KEY"]
            } else {
                &["MEMDIR_ENCRYPTION_KEY"]
            };
            command.envs(keys.iter().map(|key| (key, KEY)));
        }
        command.args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        program::said(&self.command(arguments).output().unwrap())
    }

    /// Checks that it succeeds, and prints nothing on standard error. Returns its output.
    pub(crate) fn well(&self, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.run(arguments);
        assert_eq!((code, stderr.as_str()), (0, ""), "{} {arguments:?}", self.store);
        stdout
    }

    /// As [`well`](Self::well), for binary output.
    pub(crate) fn well_bytes(&self, arguments: &[&str]) -> Vec<u8> {
        let output = self.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Vec<Value> {
        program::lines(&self.well(&[arguments, &["--json"]].concat()))
    }
}

/// All versions, newest first.
pub(crate) fn all(memory: &Memory) -> Vec<Version> {
    memory.history(&HistoryQuery::default()).unwrap()
}
