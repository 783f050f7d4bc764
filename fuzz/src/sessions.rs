//! Whole sessions: sequences of commands on the in-process store, with limits and policies, compared with a model
//! that is a map from paths to contents.

use std::collections::BTreeMap;

use memdir::policy::StaleGuard;
use memdir::policy::sensitive::SensitiveText;
use memdir::text::human_size;
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting, Reply};
use serde_json::json;

use crate::tree::{self, Tree};
use crate::{RECORD, UNIT, model};

/// The paths of a session that are not written out.
const PATHS: [&str; 16] = [
    "/memories",
    "/memories/a",
    "/memories/b.md",
    "/memories/d",
    "/memories/d/a",
    "/memories/d/e/f",
    "/memories/d/e",
    "/memories/.hidden",
    "/memories/node_modules/x",
    "/memories/ro",
    "/memories/ro/a",
    "/memories/d/x.lock",
    "/memories/.memdir-x",
    "/memories/../a",
    "/memories/open/a",
    "/memories/p.png",
];

const MOST_COMMANDS: usize = 40;

/// The input is records: the options (units of a letter and a number), then commands, each with a letter, a
/// path and further units. A path is written out from `/` on, or is a character that selects one of `PATHS`.
pub fn sessions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if text.len() > 8_000 {
        return;
    }
    let mut records = text.split(RECORD);
    let rules = Rules::new(records.next().unwrap_or(""));
    let memory = Memory::open("memory:", rules.options()).unwrap();
    let mut session =
        Session { rules, memory, tree: Tree::new(), seen: BTreeMap::new(), begun: false };
    for record in records.take(MOST_COMMANDS) {
        session.step(record);
    }
}

fn path_of(unit: &str) -> &str {
    match unit.bytes().next() {
        Some(b'/') => unit,
        Some(byte) => PATHS[usize::from(byte) % PATHS.len()],
        None => "",
    }
}

#[derive(Debug, Default)]
struct Rules {
    overwrite: bool,
    file_bytes: Option<u64>,
    total_bytes: Option<u64>,
    files: Option<u64>,
    view_chars: Option<usize>,
    stale: u64,
    sensitive: u64,
    read_only_paths: bool,
    writable_paths: bool,
}

impl Rules {
    fn new(text: &str) -> Self {
        let mut rules = Self::default();
        for unit in text.split(UNIT) {
            let number = unit.get(1..).and_then(|number| number.parse::<u64>().ok());
            match unit.chars().next() {
                Some('o') => rules.overwrite = true,
                Some('f') => rules.file_bytes = number,
                Some('t') => rules.total_bytes = number,
                Some('n') => rules.files = number,
                Some('v') => {
                    rules.view_chars = number.and_then(|number| usize::try_from(number).ok())
                }
                Some('g') => rules.stale = number.unwrap_or(0),
                Some('s') => rules.sensitive = number.unwrap_or(0),
                Some('p') => rules.read_only_paths = true,
                Some('w') => rules.writable_paths = true,
                _ => {}
            }
        }
        // A mark may be longer or shorter than the text it replaces.
        if rules.sensitive >= 2 {
            (rules.file_bytes, rules.total_bytes, rules.files) = (None, None, None);
        }
        rules
    }

    fn options(&self) -> MemoryOptions {
        let mut options = MemoryOptions::default();
        options.on_existing =
            if self.overwrite { OnExisting::Overwrite } else { OnExisting::Error };
        options.max_file_bytes = self.file_bytes;
        options.max_total_bytes = self.total_bytes;
        options.max_files = self.files;
        options.max_view_chars = self.view_chars;
        options.stale_guard =
            [StaleGuard::Off, StaleGuard::On, StaleGuard::Strict][self.stale.min(2) as usize];
        options.sensitive_text = [SensitiveText::Off, SensitiveText::Reject, SensitiveText::Redact]
            [self.sensitive.min(2) as usize];
        if self.read_only_paths {
            options.read_only_paths =
                ["/memories/ro", "/memories/**/*.lock"].map(|it| it.parse().unwrap()).to_vec();
        }
        if self.writable_paths {
            options.writable_paths = Some(vec!["/memories/{d,open,ro}/**".parse().unwrap()]);
        }
        options
    }

    /// Whether the path itself may be changed.
    fn allow(&self, path: &MemoryPath) -> bool {
        let names: Vec<&str> = path.names().collect();
        let read_only =
            names.first() == Some(&"ro") || names.iter().any(|name| name.ends_with(".lock"));
        let writable = names.len() > 1 && ["d", "open", "ro"].contains(&names[0]);
        !(self.read_only_paths && read_only) && (!self.writable_paths || writable)
    }

    /// Whether the limits allow this change of the tree.
    fn have_room(&self, before: &Tree, after: &Tree, path: &MemoryPath) -> bool {
        let held = |tree: &Tree, path: &MemoryPath| {
            tree.get(path).cloned().flatten().map(|content| content.len() as u64)
        };
        let bytes =
            |tree: &Tree| tree.values().flatten().map(|content| content.len() as u64).sum::<u64>();
        let files = |tree: &Tree| tree.values().flatten().count() as u64;
        let (was, is) = (held(before, path), held(after, path).unwrap_or(0));
        let over = |limit: Option<u64>, before: u64, after: u64| {
            limit.is_some_and(|limit| after > limit && after > before)
        };
        let too_large =
            self.file_bytes.is_some_and(|limit| is > limit) && was.is_none_or(|was| is > was);
        !too_large
            && !over(self.total_bytes, bytes(before), bytes(after))
            && !over(self.files, files(before), files(after))
    }
}

struct Session {
    rules: Rules,
    memory: Memory,
    /// The expected content of the store.
    tree: Tree,
    /// For each file, the content that was last shown or written.
    seen: BTreeMap<MemoryPath, Vec<u8>>,
    /// Whether the memory has executed a command.
    begun: bool,
}

impl Session {
    fn step(&mut self, record: &str) {
        let Some(command) = record.chars().next() else { return };
        let units: Vec<&str> = record[command.len_utf8()..].split(UNIT).collect();
        let unit = |number: usize| units.get(number).copied().unwrap_or("");
        let (path, to) = (path_of(unit(0)), path_of(unit(1)));
        let line = unit(1).parse::<i64>().unwrap_or(0);
        let input = match command {
            'c' => json!({"command": "create", "path": path, "file_text": unit(1)}),
            'r' => {
                json!({"command": "str_replace", "path": path, "old_str": unit(1), "new_str": unit(2)})
            }
            'i' => {
                json!({"command": "insert", "path": path, "insert_line": line, "insert_text": unit(2)})
            }
            'd' => json!({"command": "delete", "path": path}),
            'm' => json!({"command": "rename", "old_path": path, "new_path": to}),
            'v' => json!({"command": "view", "path": path}),
            'o' => return self.other_writer(path, unit(1)),
            _ => return,
        };
        let expected = named(path).and_then(|at| match command {
            'c' => self.create(&at, unit(1)),
            'r' => self.edit(&at, true, |old| {
                model::replaced("", old, unit(1), unit(2), None).ok().map(|(_, new)| new)
            }),
            'i' => self.edit(&at, false, |old| model::inserted(old, line, unit(2)).ok()),
            'd' => self.delete(&at),
            'm' => self.rename(&at, &named(to)?),
            _ => {
                self.begun = true;
                let reply = self.memory.execute_value(&input);
                self.view(&at, &reply);
                None
            }
        });
        if command == 'v' {
            return self.assert_tree(&input);
        }
        self.begun = true;
        let reply = self.memory.execute_value(&input);
        let text = reply.content.as_text().unwrap_or_default();
        assert!(!text.is_empty() && reply.cause.is_none(), "{input}: {reply:?}");
        match expected {
            Some(after) if !reply.is_error => self.changed(command, after, path, to, text),
            // Another target tests sensitive text.
            Some(_) if self.rules.sensitive > 0 => {
                assert!(text.contains("sensitive text"), "{input}: {text}");
            }
            expected => {
                assert_eq!(reply.is_error, expected.is_none(), "{input}: {text} {:?}", self.rules)
            }
        }
        self.assert_tree(&input);
    }

    fn assert_tree(&self, input: &serde_json::Value) {
        let stored = tree::of(&**self.memory.store());
        assert_eq!(stored, self.tree, "{input} {:?}", self.rules);
    }

    /// Applies the effect of a successful command.
    fn changed(&mut self, command: char, mut after: Tree, path: &str, to: &str, text: &str) {
        let path = named(path).unwrap();
        if matches!(command, 'c' | 'r' | 'i') {
            if self.rules.sensitive >= 2 && text.contains("\n[Sensitive text was not written") {
                let stored = self.memory.store().read(&path).unwrap();
                assert!(String::from_utf8_lossy(&stored).contains("[REDACTED:"), "{text}");
                after.insert(path.clone(), Some(stored));
            }
            let content = after[&path].clone().unwrap();
            self.seen.insert(path, content);
        } else {
            let seen = std::mem::take(&mut self.seen);
            let to = named(to);
            for (at, content) in seen {
                match &to {
                    _ if at != path && !path.is_above(&at) => drop(self.seen.insert(at, content)),
                    Some(to) if command == 'm' => {
                        drop(self.seen.insert(at.moved(&path, to).unwrap(), content))
                    }
                    _ => {}
                }
            }
        }
        self.tree = after;
    }

    /// Another process writes to the store, without policies.
    fn other_writer(&mut self, path: &str, text: &str) {
        let Some(path) = named(path) else { return };
        // A memory notices writes by others only some time after it measured the tree.
        if self.begun && (self.rules.total_bytes.is_some() || self.rules.files.is_some()) {
            return;
        }
        // Including binary content.
        let content: Vec<u8> =
            text.bytes().map(|byte| if byte == b'~' { 0xff } else { byte }).collect();
        if self.memory.store().write(&path, &content, OnExisting::Overwrite).is_ok() {
            self.tree = with_parents(&self.tree, &path).unwrap();
            self.tree.insert(path, Some(content));
        }
    }

    fn create(&self, path: &MemoryPath, text: &str) -> Option<Tree> {
        let there = self.tree.get(path);
        if path.is_root()
            || !self.rules.allow(path)
            || there.is_some_and(|it| it.is_none() || !self.rules.overwrite)
        {
            return None;
        }
        let mut after = with_parents(&self.tree, path)?;
        after.insert(path.clone(), Some(text.into()));
        let fits = self.rules.file_bytes.is_none_or(|limit| text.len() as u64 <= limit);
        (fits && self.rules.have_room(&self.tree, &after, path)).then_some(after)
    }

    fn edit(
        &self,
        path: &MemoryPath,
        strictly: bool,
        change: impl FnOnce(&str) -> Option<String>,
    ) -> Option<Tree> {
        let content = self.tree.get(path)?.as_ref()?;
        if !self.rules.allow(path) {
            return None;
        }
        let stale = match self.seen.get(path) {
            None => self.rules.stale >= 2,
            Some(seen) => seen != content && self.rules.stale >= if strictly { 2 } else { 1 },
        };
        let new = change(std::str::from_utf8(content).ok()?)?;
        let mut after = self.tree.clone();
        after.insert(path.clone(), Some(new.into_bytes()));
        (!stale && self.rules.have_room(&self.tree, &after, path)).then_some(after)
    }

    fn delete(&self, path: &MemoryPath) -> Option<Tree> {
        let within = |at: &MemoryPath| at == path || path.is_above(at);
        let allowed = self.tree.keys().filter(|at| within(at)).all(|at| self.rules.allow(at));
        let possible = !path.is_root() && self.tree.contains_key(path) && allowed;
        possible.then(|| {
            self.tree
                .iter()
                .filter(|(at, _)| !within(at))
                .map(|(at, it)| (at.clone(), it.clone()))
                .collect()
        })
    }

    fn rename(&self, from: &MemoryPath, to: &MemoryPath) -> Option<Tree> {
        if from.is_root()
            || !self.tree.contains_key(from)
            || self.tree.contains_key(to)
            || to.is_root()
            || from.is_above(to)
        {
            return None;
        }
        if !self.rules.allow(to) {
            return None;
        }
        let mut after = with_parents(&self.tree, to)?;
        for (at, content) in &self.tree {
            if at == from || from.is_above(at) {
                let moved = format!("{to}{}", &at.as_str()[from.as_str().len()..]);
                let moved = MemoryPath::parse(&moved).ok()?;
                if !self.rules.allow(at) || !self.rules.allow(&moved) {
                    return None;
                }
                after.remove(at);
                after.insert(moved, content.clone());
            }
        }
        Some(after)
    }

    fn view(&mut self, path: &MemoryPath, reply: &Reply) {
        let text = reply.content.as_text().unwrap_or_default();
        let root = path.is_root();
        match self.tree.get(path) {
            None if !root => assert!(
                reply.is_error
                    && text
                        == format!("The path {path} does not exist. Please provide a valid path.")
            ),
            None | Some(None) => {
                assert!(!reply.is_error, "{text}");
                if self.rules.view_chars.is_none() {
                    let expected = self.listing(path);
                    let rest = text
                        .strip_prefix(&expected)
                        .unwrap_or_else(|| panic!("{text}\n is not\n{expected}"));
                    let limited = self.rules.total_bytes.is_some() || self.rules.files.is_some();
                    assert!(
                        rest.is_empty() || limited && rest.starts_with("\n[The memory "),
                        "{rest}"
                    );
                }
            }
            Some(Some(_)) if path.as_str().ends_with(".png") => assert!(reply.is_error),
            Some(Some(content)) => match std::str::from_utf8(content) {
                Err(_) => assert!(reply.is_error),
                Ok(lines) => {
                    let expected = model::view(path.as_str(), lines, None, self.rules.view_chars);
                    assert_eq!(Ok(text.to_owned()), expected);
                    self.seen.insert(path.clone(), content.clone());
                }
            },
        }
    }

    fn listing(&self, path: &MemoryPath) -> String {
        let mut listing = format!(
            "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items and node_modules:\n4.0K\t{path}"
        );
        for (at, content) in self.tree.iter().filter(|(at, _)| path.is_above(at)) {
            let below: Vec<&str> = at.names().skip(path.names().count()).collect();
            let hidden = |name: &&str| name.starts_with('.') || *name == "node_modules";
            if below.len() <= 2 && !below.iter().any(hidden) {
                let size = content
                    .as_ref()
                    .map_or("4.0K".to_owned(), |content| human_size(content.len() as u64));
                listing += &format!("\n{size}\t{at}");
            }
        }
        listing
    }
}

/// A path that a command may name.
fn named(path: &str) -> Option<MemoryPath> {
    MemoryPath::parse(path).ok().filter(|path| !path.is_reserved())
}

/// The tree with the directories above the path; `None` if one is a file.
fn with_parents(tree: &Tree, path: &MemoryPath) -> Option<Tree> {
    let mut tree = tree.clone();
    let mut above = path.parent()?;
    while !above.is_root() {
        if tree.entry(above.clone()).or_insert(None).is_some() {
            return None;
        }
        above = above.parent()?;
    }
    Some(tree)
}
