//! Each language offers exactly the operations of the table `core/operations.json`: every name in it is
//! public there, and every public function and method is in it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails where it cannot go on")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn read(file: &str) -> String {
    let file = Path::new(PROJECT).join(file);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The names in the table for a language.
fn in_table(language: &str) -> BTreeSet<String> {
    let table: Value = serde_json::from_str(&read("core/operations.json")).unwrap();
    let groups = table["groups"].as_array().unwrap();
    let operations = groups.iter().flat_map(|group| group["operations"].as_array().unwrap());
    let mut names = BTreeSet::new();
    for operation in operations {
        let cell = &operation[language];
        match cell.as_array() {
            Some(listed) => {
                names.extend(listed.iter().map(|name| name.as_str().unwrap().to_owned()));
            }
            // Another way, or the reason why there is none.
            None => assert!(cell["how"].is_string() || cell["none"].is_string(), "{operation}"),
        }
    }
    names
}

/// The part of `text` between `start` and the next `end`.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let from = text.find(start).unwrap_or_else(|| panic!("there is no {start:?}"));
    let rest = &text[from + start.len()..];
    &rest[..rest.find(end).unwrap_or_else(|| panic!("there is no {end:?} after {start:?}"))]
}

/// The names that follow `mark` at the beginnings of lines.
fn named(text: &str, mark: &str) -> BTreeSet<String> {
    let after = text.lines().filter_map(|line| line.strip_prefix(mark));
    let names = after.map(|rest| {
        let rest = rest.trim_start_matches('`');
        rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    });
    names.filter(|name| !name.is_empty()).collect()
}

fn methods(names: BTreeSet<String>, separator: &str) -> impl Iterator<Item = String> {
    names.into_iter().map(move |name| format!("Memory{separator}{name}"))
}

/// The functions that create a key, with their type as a prefix.
fn keys(names: BTreeSet<String>, separator: &str) -> impl Iterator<Item = String> {
    names.into_iter().map(move |name| format!("EncryptionKey{separator}{name}"))
}

fn is_function(name: &str) -> bool {
    name.starts_with(char::is_lowercase)
}

/// Checks that the language has these functions and methods, and these types besides.
fn compare(language: &str, operations: &BTreeSet<String>, types: &str) {
    let table = in_table(language);
    let missing: Vec<_> = operations.difference(&table).collect();
    assert!(missing.is_empty(), "public in {language}, and not in the table: {missing:?}");
    for name in table.difference(operations) {
        let stands_there =
            types.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|word| word == name);
        assert!(stands_there, "in the table, and not public in {language}: {name}");
    }
}

#[test]
fn python_has_the_operations_of_the_table() {
    let all = read("bindings-python/python/memdir/__init__.py");
    let all = between(&all, "__all__ = [", "]");
    let mut found: BTreeSet<String> =
        all.split('"').filter(|name| is_function(name)).map(str::to_owned).collect();
    let stub = read("bindings-python/python/memdir/_memdir.pyi");
    let memory = between(&stub, "\nclass Memory(", "\n@final");
    let public = named(memory, "    def ").into_iter().filter(|name| !name.starts_with('_'));
    found.extend(methods(public.collect(), "."));
    found.extend(
        named(&read("bindings-python/python/memdir/testing.py"), "def ")
            .into_iter()
            .map(|name| format!("testing.{name}")),
    );
    compare("python", &found, all);
}

#[test]
fn typescript_has_the_operations_of_the_table() {
    let index = read("bindings-node/ts/index.ts");
    let exported: Vec<&str> = index
        .lines()
        .filter_map(|line| line.strip_prefix("export {"))
        .flat_map(|line| line.split('}').next().unwrap().split(','))
        .map(str::trim)
        .collect();
    let functions = exported.iter().filter(|name| is_function(name));
    let mut found: BTreeSet<String> = functions.map(|name| (*name).to_owned()).collect();
    let memory = read("bindings-node/ts/memory.ts");
    let class = between(&memory, "\nexport class Memory", "\n}\n").replace("  async ", "  ");
    let is_declared =
        |name: &str| ["(", "<"].iter().any(|after| class.contains(&format!("\n  {name}{after}")));
    let public =
        named(&class, "  ").into_iter().filter(|name| name != "constructor" && is_declared(name));
    found.extend(methods(public.collect(), "."));
    let testing = named(&read("bindings-node/ts/testing.ts"), "export async function ");
    found.extend(testing.into_iter().map(|name| format!("testing.{name}")));
    compare("typescript", &found, &exported.join(" "));
}

#[test]
fn kotlin_has_the_operations_of_the_table() {
    let generated = read("bindings-uniffi/kotlin/src/generated/kotlin/dev/memdir/memdir.kt");
    let written = ["Stores", "SuspendingMemory", "MemdirHandler"]
        .map(|file| read(&format!("bindings-uniffi/kotlin/src/main/kotlin/dev/memdir/{file}.kt")))
        .concat();
    let memory = between(&generated, "\npublic interface MemoryInterface {", "\n}\n");
    let mut found: BTreeSet<String> = methods(named(memory, "    fun "), ".").collect();
    found.extend(methods(named(&written, "public val Memory."), "."));
    found.extend(methods(named(&written, "public suspend fun Memory.Companion."), "."));
    let functions = named(&generated, "    @Throws(MemdirException::class) fun ")
        .into_iter()
        .chain(named(&generated, "    @Throws(StoreException::class) fun "))
        .chain(named(&generated, "    @JvmOverloads @Throws(MemdirException::class) fun "));
    found.extend(functions.filter(|name| name != "keyFromFile"));
    let key = read("bindings-uniffi/kotlin/src/main/kotlin/dev/memdir/EncryptionKey.kt");
    found.extend(keys(named(&key, "        public fun "), "."));
    compare("kotlin", &found, &(written + &generated));
}

#[test]
fn swift_has_the_operations_of_the_table() {
    let generated = read("bindings-uniffi/swift/Sources/Memdir/Generated.swift");
    let memory =
        between(&generated, "\npublic protocol MemoryProtocol: AnyObject, Sendable {", "\n}\n");
    let mut found: BTreeSet<String> = methods(named(memory, "    func "), ".").collect();
    let functions = named(&generated, "public func ").into_iter();
    let asynchronous = read("bindings-uniffi/swift/Sources/Memdir/Async.swift");
    for mark in ["    public static func ", "    public var "] {
        found.extend(methods(named(&asynchronous, mark), "."));
    }
    let key = read("bindings-uniffi/swift/Sources/Memdir/EncryptionKey.swift");
    for mark in ["    public static func ", "        public static func "] {
        found.extend(keys(named(&key, mark), "."));
    }
    // A method of the errors, one that Kotlin needs from UniFFI, and UniFFI's own.
    let internal = ["reply", "cancelledReply", "uniffiEnsureMemdirFfiInitialized"];
    found.extend(functions.filter(|name| is_function(name) && !internal.contains(&name.as_str())));
    compare("swift", &found, &generated);
}

#[test]
fn rust_has_the_operations_of_the_table() {
    let (import, copy) = (read("core/src/import.rs"), read("core/src/copy.rs"));
    let memory = read("core/src/memory.rs")
        + &read("core/src/memory/files.rs")
        + &read("core/src/memory/history.rs")
        + &read("core/src/memory/search.rs")
        + between(&import, "\nimpl Memory {", "\n}\n")
        + between(&copy, "\nimpl Memory {", "\n}\n");
    let mut found: BTreeSet<String> = methods(named(&memory, "    pub fn "), "::").collect();
    let library = read("core/src/lib.rs");
    // A long one takes several lines.
    let exported: Vec<&str> =
        library.split("\npub use ").skip(1).map(|rest| between(rest, "", ";")).collect();
    for path in &exported {
        let names = path.rsplit("::").next().unwrap();
        let names = names.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        // The paths of a memory are a module.
        found.extend(names.filter(|name| is_function(name) && *name != "path").map(str::to_owned));
    }
    let key = named(&read("stores/encrypted/src/key.rs"), "    pub fn ");
    found.extend(keys(key, "::").filter(|name| name == "EncryptionKey::from_file"));
    let re_exports = |source: &str| -> String {
        let source = read(source);
        let parts = source.split("\npub use ").skip(1);
        parts.map(|rest| between(rest, "", ";").to_owned() + "\n").collect()
    };
    let mut types = String::new();
    for (module, source) in [("store::", "core/src/store/mod.rs"), ("sync::", "core/src/sync.rs")] {
        let of_module = re_exports(source);
        let public: BTreeSet<&str> =
            of_module.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        for name in in_table("rust").iter().filter_map(|name| name.strip_prefix(module)) {
            assert!(public.contains(name), "{module}{name} is not public");
            found.insert(format!("{module}{name}"));
        }
        types += &of_module;
    }
    compare("rust", &found, &(types + &exported.join(" ")));
}

#[test]
fn go_has_the_operations_of_the_table() {
    let mut found = BTreeSet::new();
    for file in [
        "memdir", "copy", "embedder", "files", "history", "past", "stats", "store", "sync", "watch",
    ] {
        let source = read(&format!("bindings-go/{file}.go"));
        found.extend(methods(named(&source, "func (m *Memory) "), "."));
        found.extend(named(&source, "func "));
    }
    for file in ["search", "tool"] {
        let source = read(&format!("bindings-go/memorytool/{file}.go"));
        found.extend(named(&source, "func ").into_iter().map(|name| format!("memorytool.{name}")));
    }
    // Without those of the package only, and without the version of the library, which every language has.
    let public = |name: &String| {
        let last = name.rsplit('.').next().unwrap();
        last.starts_with(char::is_uppercase) && last != "LibraryVersion"
    };
    found.retain(public);
    compare("go", &found, "");
}

#[test]
fn c_has_the_operations_of_the_table() {
    let header = read("bindings-c/include/memdir.h");
    let mut found: BTreeSet<String> = header
        .lines()
        .filter(|line| !line.starts_with(' ') && !line.starts_with('/'))
        .filter_map(|line| line.split_once('('))
        .filter_map(|(before, _)| before.rsplit([' ', '*']).next())
        .map(str::to_owned)
        .collect();
    // Not operations by themselves: the answers of a store, for example, are a part of opening a memory on it.
    for name in ["memdir_answer", "memdir_call", "memdir_edit", "memdir_free", "memdir_version"] {
        assert!(found.remove(name), "{name}");
    }
    compare("c", &found, "");
    // The header lists the operations of `memdir_call`.
    let operations = read("core/operations.json");
    for named in operations.split(r#"`memdir_call`: `\""#).skip(1) {
        let name = named.split('\\').next().unwrap();
        assert!(
            header.contains(&format!("\"{name}\" {{"))
                || header.contains(&format!("\"{name}\" and "))
                || header.contains(&format!("and \"{name}\"")),
            "{name}"
        );
    }
}
