//! Executes commands for `tests/bench/run`, which measures them: with the core, or with the floor.
//!
//! Usage: `memdir-bench floor DIRECTORY`, `memdir-bench core ADDRESS`, `memdir-bench encrypted ADDRESS`,
//! `memdir-bench with-options ADDRESS`
//!
//! Reads requests from its input, one JSON object per line, and answers each with a line. `protocol.rs`
//! describes them. Another use is `memdir-bench whole ADDRESS FILES`, see `whole.rs`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for the project itself")]

use std::io;

use memdir::command::Command;
use memdir::{Memory, MemoryOptions};

#[cfg(target_os = "linux")]
mod floor;
mod protocol;
#[cfg(feature = "stores")]
mod whole;

/// An implementation of the commands.
trait Subject: Sync {
    /// Executes a command, and returns whether it succeeded.
    fn call(&self, command: &Command<'_>) -> bool;
}

impl Subject for Memory {
    fn call(&self, command: &Command<'_>) -> bool {
        std::hint::black_box(self.run(command)).is_ok()
    }
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match *arguments {
        #[cfg(target_os = "linux")]
        ["floor", directory] => protocol::serve(&floor::Floor::open(directory)?),
        ["core", address] => protocol::serve(&open(address, MemoryOptions::default())?),
        #[cfg(feature = "stores")]
        ["encrypted", address] => {
            let mut options = MemoryOptions::default();
            options.encryption_key = Some(memdir::EncryptionKey::from_bytes([1; 32]));
            protocol::serve(&open(address, options)?)
        }
        // The options that need to know about other files, or about earlier calls.
        ["with-options", address] => {
            let mut options = MemoryOptions::default();
            options.history = true;
            options.max_files = Some(1 << 40);
            options.max_total_bytes = Some(1 << 60);
            options.record_access = true;
            options.stale_guard = memdir::policy::StaleGuard::On;
            protocol::serve(&open(address, options)?)
        }
        #[cfg(feature = "stores")]
        ["whole", address, files] => {
            whole::measure(address, files.parse().map_err(io::Error::other)?);
            Ok(())
        }
        _ => Err(io::Error::other("usage: memdir-bench floor|core|encrypted|with-options ADDRESS")),
    }
}

fn open(address: &str, options: MemoryOptions) -> io::Result<Memory> {
    Memory::open(address, options).map_err(io::Error::other)
}
