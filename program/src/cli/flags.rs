//! The options of a memory as flags of a command, such as `--max-files 100`.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value as Json};

use super::Failure;
use memdir::MemoryOptions;

/// One option.
struct Flag {
    /// Its name in Rust.
    name: &'static str,
    /// Its name on the command line.
    flag: &'static str,
    kind: Kind,
    /// Its meaning in one sentence.
    about: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole number, or `none`.
    Number,
    /// A flag without a value.
    Flag,
    Word,
    Text,
    /// `90`, `15m`, `30d`, or `none`.
    Duration,
    /// Given once for each pattern.
    Patterns,
    /// `id=pattern`, given once for each rule.
    Rules,
}

/// Made from core/options.json by `make generate`.
#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    Flag { name: "max_view_chars", flag: "max-view-chars", kind: Kind::Number, about: "The most characters (Unicode scalar values) that one view shows" },
    Flag { name: "max_file_bytes", flag: "max-file-bytes", kind: Kind::Number, about: "The most bytes that a file may have after a command" },
    Flag { name: "max_total_bytes", flag: "max-total-bytes", kind: Kind::Number, about: "The most bytes that all files together may have, including hidden ones" },
    Flag { name: "max_files", flag: "max-files", kind: Kind::Number, about: "The most files that the memory may have, including hidden ones" },
    Flag { name: "max_image_bytes", flag: "max-image-bytes", kind: Kind::Number, about: "The most bytes of a .png, .jpg or .jpeg file that a view shows as an image" },
    Flag { name: "on_existing", flag: "on-existing", kind: Kind::Word, about: "Selects how create treats an existing file: \"error\" refuses, \"overwrite\" replaces the whole content atomically" },
    Flag { name: "read_only", flag: "read-only", kind: Kind::Flag, about: "The memory can be viewed but not changed" },
    Flag { name: "read_only_paths", flag: "read-only-paths", kind: Kind::Patterns, about: "Patterns of paths that no command may change, such as \"/memories/handbook\", including everything below them" },
    Flag { name: "writable_paths", flag: "writable-paths", kind: Kind::Patterns, about: "Patterns of the only paths that commands may change, including everything below them" },
    Flag { name: "stale_guard", flag: "stale-guard", kind: Kind::Word, about: "Refuses an edit that is based on an outdated view" },
    Flag { name: "sensitive_text", flag: "sensitive-text", kind: Kind::Word, about: "Controls keys, tokens, passwords and payment cards in text that a command would write: \"off\" does nothing, \"reject\" refuses the command, \"redact\" writes [REDACTED:rule] instead of them" },
    Flag { name: "sensitive_rules", flag: "sensitive-rules", kind: Kind::Rules, about: "Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's regex-lite, which has no look-around and no back-references" },
    Flag { name: "sensitive_on_view", flag: "sensitive-on-view", kind: Kind::Flag, about: "Views show [REDACTED:rule] instead of sensitive text" },
    Flag { name: "expire_after", flag: "expire-after", kind: Kind::Duration, about: "Before its first command, the memory removes files that have not been used for this long" },
    Flag { name: "record_access", flag: "record-access", kind: Kind::Flag, about: "Records each view and each rename of a file as a use of the file" },
    Flag { name: "never_expire", flag: "never-expire", kind: Kind::Patterns, about: "Patterns of files that never expire, such as \"/memories/handbook\", including everything below them" },
    Flag { name: "history", flag: "history", kind: Kind::Flag, about: "Records every change before it is made, so changes can be listed and undone" },
    Flag { name: "history_max_age", flag: "history-max-age", kind: Kind::Duration, about: "The history removes versions that are older than this, except the last ten of a file that exists" },
    Flag { name: "history_max_versions", flag: "history-max-versions", kind: Kind::Number, about: "The maximum number of versions that are kept of each file; a file that exists keeps at least ten" },
    Flag { name: "history_max_bytes", flag: "history-max-bytes", kind: Kind::Number, about: "The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists" },
    Flag { name: "actor", flag: "actor", kind: Kind::Text, about: "The actor of this memory's changes, for its history: a session, a user, the id of a tool call" },
    Flag { name: "durability", flag: "durability", kind: Kind::Word, about: "The failures that an acknowledged command survives: \"full\" a loss of power, \"relaxed\" only a crash of the process" },
    Flag { name: "lock_timeout", flag: "lock-timeout", kind: Kind::Duration, about: "The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)" },
    Flag { name: "namespace", flag: "namespace", kind: Kind::Text, about: "Selects one of several memories in one PostgreSQL database or one bucket" },
    Flag { name: "encrypt_names", flag: "encrypt-names", kind: Kind::Flag, about: "Also encrypts the names in a store that is created with a key" },
];

/// The given flags, as the JSON object of options.
#[cfg_attr(
    not(feature = "mcp"),
    allow(dead_code, reason = "the server's, which takes all of them")
)]
#[derive(Debug, Clone, Default)]
pub(super) struct Flags(Map<String, Json>);

/// The given flags of a command that makes one change. It replaces some of them by its own flags: `--as`, `--overwrite`, `--after`.
#[derive(Debug, Clone, Default)]
pub(super) struct ChangeFlags(Map<String, Json>);

/// The options that [`ChangeFlags`] omits.
const NOT_OF_A_CHANGE: &[&str] = &["actor", "expire_after", "on_existing"];

/// The options that forbid something.
const POLICIES: &[&str] = &[
    "max_file_bytes",
    "max_total_bytes",
    "max_files",
    "read_only",
    "read_only_paths",
    "writable_paths",
    "sensitive_text",
    "never_expire",
];

impl ChangeFlags {
    /// `options`, changed by the flags.
    pub(super) fn on(&self, options: MemoryOptions) -> Result<MemoryOptions, Failure> {
        on(self.0.clone(), options)
    }

    /// Whether the flag of this option was given.
    pub(super) fn is_given(&self, option: &str) -> bool {
        self.0.contains_key(option)
    }

    /// Whether one of the given flags forbids something.
    pub(super) fn have_policies(&self) -> bool {
        POLICIES.iter().any(|name| self.0.contains_key(*name))
    }
}

#[cfg(feature = "mcp")]
impl Flags {
    /// `options`, changed by the flags.
    pub(super) fn on(self, options: MemoryOptions) -> Result<MemoryOptions, Failure> {
        on(self.0, options)
    }
}

fn on(flags: Map<String, Json>, options: MemoryOptions) -> Result<MemoryOptions, Failure> {
    options
        .with_json(&Json::Object(flags).to_string())
        .map_err(|error| Failure::Usage(error.to_string()))
}

/// All flags except those of these options.
fn flags(but: &'static [&'static str]) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(|flag| !but.contains(&flag.name))
}

fn argument(flag: &'static Flag) -> Arg {
    let arg =
        Arg::new(flag.name).long(flag.flag).help(flag.about).help_heading("Options of the memory");
    match flag.kind {
        Kind::Flag => arg.action(ArgAction::SetTrue),
        Kind::Patterns => arg.action(ArgAction::Append).value_name("PATTERN"),
        Kind::Rules => arg.action(ArgAction::Append).value_name("ID=PATTERN"),
        Kind::Number => arg.value_name("NUMBER").allow_negative_numbers(true),
        Kind::Word => arg.value_name("WORD"),
        Kind::Text => arg.value_name("TEXT"),
        Kind::Duration => arg.value_name("DURATION").allow_hyphen_values(true),
    }
}

/// The given values, as the JSON object of options.
fn given(matches: &ArgMatches, but: &'static [&'static str]) -> Map<String, Json> {
    let value = |flag: &Flag| match flag.kind {
        Kind::Flag => matches.get_flag(flag.name).then_some(Json::Bool(true)),
        Kind::Patterns | Kind::Rules => matches
            .get_many::<String>(flag.name)
            .map(|given| several(flag.kind, given.map(String::as_str))),
        _ => matches.get_one::<String>(flag.name).map(|given| one(flag.kind, given)),
    };
    flags(but).filter_map(|flag| Some((flag.name.to_owned(), value(flag)?))).collect()
}

impl Args for Flags {
    fn augment_args(command: Command) -> Command {
        command.args(flags(&[]).map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(matches, &[])))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(given(matches, &[]));
        Ok(())
    }
}

impl Args for ChangeFlags {
    fn augment_args(command: Command) -> Command {
        // There are many of them, and few are needed, so `-h` hides them.
        command.args(
            flags(NOT_OF_A_CHANGE)
                .map(|flag| argument(flag).hide_short_help(true).long_help(flag.about)),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ChangeFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(given(matches, NOT_OF_A_CHANGE)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.extend(given(matches, NOT_OF_A_CHANGE));
        Ok(())
    }
}

/// Converts a value to JSON. An invalid value stays text, so the error comes from the options.
fn one(kind: Kind, given: &str) -> Json {
    match kind {
        Kind::Number | Kind::Duration if given == "none" => Json::Null,
        Kind::Number => given.parse::<u64>().map_or_else(|_| given.into(), Json::from),
        Kind::Duration => seconds(given).map_or_else(|| given.into(), Json::from),
        _ => given.into(),
    }
}

fn several<'g>(kind: Kind, given: impl Iterator<Item = &'g str>) -> Json {
    if kind == Kind::Patterns {
        return given.collect();
    }
    let rules = given.map(|rule| {
        let (id, pattern) = rule.split_once('=').unwrap_or((rule, ""));
        (id.to_owned(), Json::from(pattern))
    });
    Json::Object(rules.collect())
}

/// Parses a number of seconds, minutes (`15m`), hours (`2h`) or days (`30d`).
fn seconds(given: &str) -> Option<f64> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0)];
    let (number, unit) = units
        .into_iter()
        .find_map(|(ending, unit)| Some((given.strip_suffix(ending)?, unit)))
        .unwrap_or((given, 1.0));
    number.parse::<f64>().ok().map(|number| number * unit).filter(|seconds| seconds.is_finite())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn options(arguments: &[&str]) -> Result<MemoryOptions, String> {
        let command = Flags::augment_args(Command::new("x").no_binary_name(true));
        let matches = command.try_get_matches_from(arguments).map_err(|error| error.to_string())?;
        let flags = Flags::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        on(flags.0, MemoryOptions::default()).map_err(|failure| format!("{failure:?}"))
    }

    #[test]
    fn every_kind_of_option_has_a_flag() {
        let set = options(&[
            "--max-files",
            "3",
            "--max-view-chars",
            "none",
            "--read-only",
            "--sensitive-text",
            "redact",
            "--lock-timeout",
            "1.5",
            "--expire-after",
            "30d",
            "--never-expire",
            "/memories/a",
            "--never-expire",
            "/memories/b",
            "--sensitive-rules",
            "id=x=y",
            "--namespace",
            "ann",
        ])
        .unwrap();
        assert_eq!((set.max_files, set.max_view_chars), (Some(3), None));
        assert_eq!(set.lock_timeout, Some(Duration::from_millis(1500)));
        assert_eq!(set.expire_after, Some(Duration::from_secs(30 * 86_400)));
        assert_eq!(set.never_expire.len(), 2);
        assert_eq!(set.namespace.as_deref(), Some("ann"));
        assert!(set.read_only);
    }

    #[test]
    fn each_flag_that_is_named_apart_is_one() {
        for name in NOT_OF_A_CHANGE.iter().chain(POLICIES) {
            assert!(FLAGS.iter().any(|flag| flag.name == *name), "{name}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_the_option() {
        for (arguments, part) in [
            (["--max-files", "many"], "max_files must be a whole number"),
            (["--lock-timeout", "soon"], "lock_timeout must be a number of seconds"),
            (["--stale-guard", "maybe"], "stale_guard must be"),
            (["--never-expire", "notes"], "never_expire"),
        ] {
            let said = options(&arguments).unwrap_err();
            assert!(said.contains(part), "{said}");
        }
    }
}
