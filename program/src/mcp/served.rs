//! [`Served`]: the memory that a server serves, and the instructions for the model.

use std::fmt::Write as _;

use memdir::Memory;
use memdir::command::{KEEP_NOTES, VIEW_FIRST};
use memdir::path::MemoryPath;
use memdir::policy::PathPattern;

/// A memory, and the mount points of its stores.
pub(crate) struct Served {
    pub(crate) memory: Memory,
    /// Every mount point, and whether its store is read-only. Empty for a memory with one store.
    pub(crate) mount_points: Vec<(MemoryPath, bool)>,
    /// Whether the server has the tool `search`.
    pub(crate) has_search: bool,
}

impl Served {
    /// Whether no command can change anything.
    pub(super) fn is_read_only(&self) -> bool {
        let options = self.memory.options();
        let is_each_fixed = || {
            let is_fixed =
                |(at, is_read_only): &(_, _)| *is_read_only || self.is_read_only_path(at);
            !self.mount_points.is_empty() && self.mount_points.iter().all(is_fixed)
        };
        self.memory.is_read_only()
            || self.is_read_only_path(&MemoryPath::root())
            || options.writable_paths.as_ref().is_some_and(Vec::is_empty)
            || is_each_fixed()
    }

    /// Whether an option makes a path and everything below it read-only.
    fn is_read_only_path(&self, path: &MemoryPath) -> bool {
        self.memory.options().read_only_paths.iter().any(|pattern| pattern.matches(path))
    }

    /// The mount points of read-only stores, each with the mount points of writable stores inside it.
    fn fixed_places(&self) -> impl Iterator<Item = String> {
        let fixed = self.mount_points.iter().filter(|(_, is_read_only)| *is_read_only);
        fixed.map(|(at, _)| {
            let free = self.mount_points.iter().filter(|(inner, is_read_only)| {
                !is_read_only && self.outer(inner) == Some(at) && !self.is_read_only_path(inner)
            });
            let free: Vec<_> = free.map(|(inner, _)| inner.as_str()).collect();
            if free.is_empty() {
                at.to_string()
            } else {
                format!("{at} (except {})", free.join(", "))
            }
        })
    }

    /// The mount point of the store that another one is mounted into.
    fn outer(&self, inner: &MemoryPath) -> Option<&MemoryPath> {
        let above = self.mount_points.iter().map(|(at, _)| at).filter(|at| at.is_above(inner));
        above.max_by_key(|at| at.names().count())
    }

    /// The instructions for the model.
    pub(super) fn instructions(&self, prefix: &str) -> String {
        let mut said = format!(
            "This server is a memory that lasts between conversations: a directory of text files under /memories. Call \
             {prefix}view with the path /memories to see what is there. {VIEW_FIRST} "
        );
        if self.is_read_only() {
            said.push_str("The memory can be viewed but not changed.");
            return said;
        }
        said.push_str(KEEP_NOTES);
        let options = self.memory.options();
        if let Some(writable) = &options.writable_paths {
            // Writing to a string cannot fail.
            let _ = write!(said, " Only these paths can be changed: {}.", patterns(writable));
        }
        let fixed = options.read_only_paths.iter().map(|pattern| pattern.as_str().to_owned());
        let fixed: Vec<_> = fixed.chain(self.fixed_places()).collect();
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
    use memdir::MemoryOptions;

    fn served(set: impl FnOnce(&mut MemoryOptions)) -> Served {
        let mut options = MemoryOptions::default();
        set(&mut options);
        let memory = Memory::open("memory:", options).unwrap();
        Served { memory, mount_points: Vec::new(), has_search: true }
    }

    fn pattern(pattern: &str) -> PathPattern {
        PathPattern::all("test", [pattern]).unwrap().remove(0)
    }

    fn mount_points(all: &[(&str, bool)]) -> Vec<(MemoryPath, bool)> {
        all.iter().map(|(at, fixed)| (MemoryPath::parse(at).unwrap(), *fixed)).collect()
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
            assert_eq!(super::super::tools::tools(&fixed, "").unwrap().len(), 2);
        }
    }

    #[test]
    fn instructions_name_what_cannot_be_changed() {
        let mut some = served(|options| {
            options.read_only_paths = vec![pattern("/memories/rules"), pattern("/memories/*.txt")];
            options.writable_paths = Some(vec![pattern("/memories/notes")]);
        });
        some.mount_points = mount_points(&[("/memories", false), ("/memories/handbook", true)]);
        let said = some.instructions("");
        assert!(said.contains("Note what is worth keeping"));
        assert!(said.contains("Only these paths can be changed: /memories/notes."), "{said}");
        let fixed = "These can be viewed but not changed: /memories/rules, /memories/*.txt, /memories/handbook.";
        assert!(said.ends_with(fixed), "{said}");
        assert_eq!(super::super::tools::tools(&some, "").unwrap().len(), 7);
        some.has_search = false;
        assert_eq!(super::super::tools::tools(&some, "").unwrap().len(), 6);
    }

    #[test]
    fn instructions_name_what_can_be_changed_within_what_cannot() {
        let said = |all: &[(&str, bool)], read_only: &[&str]| {
            let mut some = served(|options| {
                options.read_only_paths = read_only.iter().map(|path| pattern(path)).collect();
            });
            some.mount_points = mount_points(all);
            let said = some.instructions("");
            assert_eq!(said.contains("worth keeping"), !some.is_read_only(), "{said}");
            said
        };
        let root = [("/memories", true), ("/memories/docs", true), ("/memories/team", false)];
        let named = "not changed: /memories (except /memories/team), /memories/docs.".to_owned();
        let told = said(&root, &[]);
        assert!(told.ends_with(&named), "{told}");
        assert!(!told.contains("The memory can be viewed but not changed"), "{told}");

        let nested = [
            ("/memories", false),
            ("/memories/a", true),
            ("/memories/a/b", false),
            ("/memories/a/b/c", true),
            ("/memories/a/b/c/d", false),
            ("/memories/a/b/x", false),
        ];
        let named = "not changed: /memories/a (except /memories/a/b), /memories/a/b/c (except /memories/a/b/c/d).";
        assert!(said(&nested, &[]).ends_with(named), "{}", said(&nested, &[]));

        // An option takes precedence over a mount.
        let nothing = "The memory can be viewed but not changed.";
        assert!(said(&root, &["/memories/team"]).ends_with(nothing));
        assert!(said(&[("/memories", true), ("/memories/docs", true)], &[]).ends_with(nothing));
        let told = said(&nested, &["/memories/a/b"]);
        assert!(
            told.ends_with("not changed: /memories/a/b, /memories/a, /memories/a/b/c."),
            "{told}"
        );
    }
}
