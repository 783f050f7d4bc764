//! [`Served`]: what a server serves, and what a model is told that it may do with it.

use std::fmt::Write as _;

use crate::command::{KEEP, LOOK};
use crate::memory::Memory;
use crate::path::MemoryPath;
use crate::policy::PathPattern;

/// A memory, and which of its mounts cannot be changed.
pub(crate) struct Served {
    pub(crate) memory: Memory,
    pub(crate) read_only_mounts: Vec<MemoryPath>,
}

impl Served {
    /// Whether no command can change anything.
    pub(super) fn is_read_only(&self) -> bool {
        let options = self.memory.options();
        let root = MemoryPath::root();
        self.memory.is_read_only()
            || options.read_only_paths.iter().any(|pattern| pattern.matches(&root))
            || options.writable_paths.as_ref().is_some_and(Vec::is_empty)
    }

    /// What a model should do with the memory.
    pub(super) fn instructions(&self, prefix: &str) -> String {
        let mut said = format!(
            "This server is a memory that lasts between conversations: a directory of text files under /memories. Call \
             {prefix}view with the path /memories to see what is there. {LOOK} "
        );
        if self.is_read_only() {
            said.push_str("The memory can be viewed but not changed.");
            return said;
        }
        said.push_str(KEEP);
        let options = self.memory.options();
        if let Some(writable) = &options.writable_paths {
            // Writing to a text cannot fail.
            let _ = write!(said, " Only these paths can be changed: {}.", patterns(writable));
        }
        let fixed = options.read_only_paths.iter().map(PathPattern::as_str);
        let fixed = fixed.chain(self.read_only_mounts.iter().map(MemoryPath::as_str));
        let fixed: Vec<_> = fixed.collect();
        if !fixed.is_empty() {
            let _ = write!(said, " These can be viewed but not changed: {}.", fixed.join(", "));
        }
        said
    }
}

fn patterns(patterns: &[PathPattern]) -> String {
    patterns.iter().map(PathPattern::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::MemoryOptions;

    fn served(set: impl FnOnce(&mut MemoryOptions)) -> Served {
        let mut options = MemoryOptions::default();
        set(&mut options);
        let memory = Memory::open("memory:", options).unwrap();
        Served { memory, read_only_mounts: Vec::new() }
    }

    fn pattern(pattern: &str) -> PathPattern {
        PathPattern::all("test", [pattern]).unwrap().remove(0)
    }

    #[test]
    fn instructions_ask_only_for_what_can_be_done() {
        let free = served(|_| {}).instructions("memory_");
        assert!(free.contains("memory_view with the path /memories"));
        assert!(free.contains("Note what is worth keeping"));
        assert!(!free.contains("not changed") && !free.contains("can be changed"));

        let nothing_writable: [fn(&mut MemoryOptions); 4] = [
            |options| options.read_only = true,
            |options| options.read_only_paths = vec![pattern("/memories")],
            |options| options.read_only_paths = vec![pattern("/memories/**")],
            |options| options.writable_paths = Some(Vec::new()),
        ];
        for set in nothing_writable {
            let fixed = served(set);
            let said = fixed.instructions("");
            assert!(said.ends_with("The memory can be viewed but not changed."), "{said}");
            assert!(said.contains("view /memories to see what was noted earlier"));
            assert!(!said.contains("worth keeping") && !said.contains("delete"), "{said}");
            assert_eq!(super::super::tools::tools(&fixed, "").unwrap().len(), 1);
        }
    }

    #[test]
    fn instructions_name_what_cannot_be_changed() {
        let mut some = served(|options| {
            options.read_only_paths = vec![pattern("/memories/rules"), pattern("/memories/*.txt")];
            options.writable_paths = Some(vec![pattern("/memories/notes")]);
        });
        some.read_only_mounts = vec![MemoryPath::parse("/memories/handbook").unwrap()];
        let said = some.instructions("");
        assert!(said.contains("Note what is worth keeping"));
        assert!(said.contains("Only these paths can be changed: /memories/notes."), "{said}");
        let fixed = "These can be viewed but not changed: /memories/rules, /memories/*.txt, /memories/handbook.";
        assert!(said.ends_with(fixed), "{said}");
        assert_eq!(super::super::tools::tools(&some, "").unwrap().len(), 6);
    }
}
