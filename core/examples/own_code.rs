//! The example of `docs/guides/your-own-code.md`; `tests/readme.rs` compares both, and runs it.
#![expect(clippy::print_stdout, reason = "it shows what is in the memory")]

use memdir::store::EntryKind;
use memdir::{GrepQuery, Memory, MemoryOptions};

fn main() -> Result<(), memdir::Error> {
    let memory = Memory::open("./memory", MemoryOptions::default())?;
    memory.write("/memories/tea.md", "# Tea\n- green\n", None)?;

    // Adds a line, unless the file has changed since it was read.
    let text = memory.read("/memories/tea.md")?;
    memory.write("/memories/tea.md", &(text.clone() + "- black\n"), Some(&text))?;

    for entry in memory.list("/memories", None)? {
        if let EntryKind::File(size) = entry.kind {
            println!("{} {size}", entry.path);
        }
    }
    for found in memory.grep(&GrepQuery::text("black"), "/memories", 100)? {
        println!("{}:{} {}", found.path, found.line.unwrap_or_default(), found.text);
    }
    print!("{}", memory.index(1000)?);
    Ok(())
}
