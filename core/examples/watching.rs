//! The second example of `docs/guides/your-own-code.md`; `tests/readme.rs` compares both, and runs it.
#![expect(clippy::print_stdout, reason = "it shows what is changed")]

use std::error::Error;
use std::time::Duration;

use memdir::{GrepQuery, Memory, MemoryOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = MemoryOptions::default();
    options.history = true;
    let memory = Memory::open("memory:", options)?;
    memory.write("/memories/plan.md", "- water\n- tea\n", None)?;

    let mut watch = memory.watch("/memories", None)?;
    // Also reports changes by other processes, such as an editor.
    memory.write("/memories/plan.md", "- water\n", None)?;
    for change in watch.changes(Duration::from_secs(10))? {
        println!("{} is {}", change.path, change.kind);
    }

    for found in memory.grep_history(&GrepQuery::text("tea"), "/memories", 100)? {
        let line = found.line.unwrap_or_default();
        println!("{}:{line} was: {}", found.version.path, found.text);
    }
    let stats = memory.stats()?;
    println!("{} file, {} bytes", stats.files, stats.bytes);
    Ok(())
}
