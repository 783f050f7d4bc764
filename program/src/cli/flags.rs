//! The options of a memory as flags of a command, such as `--max-files 100`.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value as Json};

use super::Failure;
use memdir::{ConfigError, Error, MemoryOptions};

/// One option.
struct Flag {
    /// Its name in Rust.
    name: &'static str,
    /// Its name on the command line.
    flag: &'static str,
    kind: Kind,
    /// The group of options that it belongs to.
    section: &'static str,
    /// Its meaning in a few words, for completions.
    about: &'static str,
    /// Its whole meaning for the long help, in lines that fit on a screen, with one for each word.
    details: &'static str,
    /// The words that it can be, with their meanings.
    words: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A whole number, or `none`.
    Number,
    /// A flag without a value.
    Flag,
    Word,
    Text,
    /// `90`, `15m`, `30d`, `26w`, or `none`.
    Duration,
    /// Given once for each pattern.
    Patterns,
    /// `id=pattern`, given once for each rule.
    Rules,
}

/// Made from core/options.json by `make generate`.
#[rustfmt::skip]
const FLAGS: &[Flag] = &[
    Flag { name: "max_view_chars", flag: "max-view-chars", kind: Kind::Number, section: "Limits", about: "The most characters (Unicode scalar values) that one view shows", details: "The most characters (Unicode scalar values) that one view shows. A longer view is cut,\nand its last line says how to continue. \"none\" removes the limit.", words: &[] },
    Flag { name: "max_file_bytes", flag: "max-file-bytes", kind: Kind::Number, section: "Limits", about: "The most bytes that a file may have after a command", details: "The most bytes that a file may have after a command. A larger file that another\nprogram wrote can be viewed. If it has at most 16 MiB, it can be edited to become\nsmaller. \"none\" removes the limit.", words: &[] },
    Flag { name: "max_total_bytes", flag: "max-total-bytes", kind: Kind::Number, section: "Limits", about: "The most bytes that all files together may have, including hidden ones", details: "The most bytes that all files together may have, including hidden ones. \"none\" sets no\nlimit.", words: &[] },
    Flag { name: "max_files", flag: "max-files", kind: Kind::Number, section: "Limits", about: "The most files that the memory may have, including hidden ones", details: "The most files that the memory may have, including hidden ones. \"none\" sets no limit.", words: &[] },
    Flag { name: "max_image_bytes", flag: "max-image-bytes", kind: Kind::Number, section: "Limits", about: "The most bytes of a .png, .jpg or .jpeg file that a view shows as an image", details: "The most bytes of a .png, .jpg or .jpeg file that a view shows as an image. Claude\naccepts at most 3,932,160. \"none\" turns images off.", words: &[] },
    Flag { name: "on_existing", flag: "on-existing", kind: Kind::Word, section: "Commands", about: "Selects how create treats an existing file", details: "Selects how create treats an existing file\n\n- error: Refuses with the documented error\n- overwrite: Replaces the whole content atomically", words: &[("error", "Refuses with the documented error"), ("overwrite", "Replaces the whole content atomically")] },
    Flag { name: "read_only", flag: "read-only", kind: Kind::Flag, section: "Commands", about: "The memory can be viewed but not changed", details: "The memory can be viewed but not changed. The directory or database must exist.\nNothing is created in a directory.", words: &[] },
    Flag { name: "read_only_paths", flag: "read-only-paths", kind: Kind::Patterns, section: "Commands", about: "Patterns of paths that no command may change", details: "Patterns of paths that no command may change, such as \"/memories/handbook\", including\neverything below them. They take precedence over --writable-paths. The flag can be\nrepeated.", words: &[] },
    Flag { name: "writable_paths", flag: "writable-paths", kind: Kind::Patterns, section: "Commands", about: "Patterns of the only paths that commands may change, including everything below them", details: "Patterns of the only paths that commands may change, including everything below them.\nThe flag can be repeated.", words: &[] },
    Flag { name: "stale_guard", flag: "stale-guard", kind: Kind::Word, section: "Commands", about: "Refuses an edit that is based on an outdated view", details: "Refuses an edit that is based on an outdated view\n\n- off: Edits are never refused\n- on: Refuses an insert into a file that has changed since this session of the memory\n  last showed or wrote it\n- strict: Also refuses such a str_replace, and both commands for a file that it has\n  never shown or written", words: &[("off", "Edits are never refused"), ("on", "Refuses an insert into a file that has changed since this session of the memory last showed or wrote it"), ("strict", "Also refuses such a str_replace, and both commands for a file that it has never shown or written")] },
    Flag { name: "sensitive_text", flag: "sensitive-text", kind: Kind::Word, section: "Sensitive text", about: "Controls keys, tokens, passwords and payment cards in text that a command would write", details: "Controls keys, tokens, passwords and payment cards in text that a command would write\n\n- off: The text is written unchanged\n- reject: The command is refused\n- redact: [REDACTED:rule] is written instead of the text", words: &[("off", "The text is written unchanged"), ("reject", "The command is refused"), ("redact", "[REDACTED:rule] is written instead of the text")] },
    Flag { name: "sensitive_rules", flag: "sensitive-rules", kind: Kind::Rules, section: "Sensitive text", about: "Your own rules, in addition to the built-in ones", details: "Your own rules, in addition to the built-in ones: patterns in the syntax of Rust's\nregex-lite, which has no look-around and no back-references. The flag can be repeated.", words: &[] },
    Flag { name: "sensitive_on_view", flag: "sensitive-on-view", kind: Kind::Flag, section: "Sensitive text", about: "Views show [REDACTED:rule] instead of sensitive text", details: "Views show [REDACTED:rule] instead of sensitive text. The file is not changed. Such a\nview reads the whole file into memory.", words: &[] },
    Flag { name: "expire_after", flag: "expire-after", kind: Kind::Duration, section: "Expiry", about: "Before its first command, the memory removes files that have not been used for this long", details: "Before its first command, the memory removes files that have not been used for this\nlong. Must be more than 0. The store must keep times of access.", words: &[] },
    Flag { name: "record_access", flag: "record-access", kind: Kind::Flag, section: "Expiry", about: "Records each view and each rename of a file as a use of the file", details: "Records each view and each rename of a file as a use of the file. Each record costs a\nwrite. --expire-after turns this on.", words: &[] },
    Flag { name: "never_expire", flag: "never-expire", kind: Kind::Patterns, section: "Expiry", about: "Patterns of files that never expire, such as \"/memories/handbook\", including everything below them", details: "Patterns of files that never expire, such as \"/memories/handbook\", including\neverything below them. The flag can be repeated.", words: &[] },
    Flag { name: "history", flag: "history", kind: Kind::Flag, section: "History", about: "Records every change before it is made, so changes can be listed and undone", details: "Records every change before it is made, so changes can be listed and undone", words: &[] },
    Flag { name: "history_max_age", flag: "history-max-age", kind: Kind::Duration, section: "History", about: "The history removes versions that are older than this, except the last ten of a file that exists", details: "The history removes versions that are older than this, except the last ten of a file\nthat exists. \"none\" keeps versions of any age.", words: &[] },
    Flag { name: "history_max_versions", flag: "history-max-versions", kind: Kind::Number, section: "History", about: "The maximum number of versions that are kept of each file; a file that exists keeps at least ten", details: "The maximum number of versions that are kept of each file; a file that exists keeps at\nleast ten. \"none\" sets no limit.", words: &[] },
    Flag { name: "history_max_bytes", flag: "history-max-bytes", kind: Kind::Number, section: "History", about: "The approximate maximum size of the history in bytes", details: "The approximate maximum size of the history in bytes; beyond it the oldest versions\nare removed, except the last ten of a file that exists. \"none\" sets no limit.", words: &[] },
    Flag { name: "actor", flag: "actor", kind: Kind::Text, section: "History", about: "The actor of this memory's changes, for its history", details: "The actor of this memory's changes, for its history: a session, a user, the id of a\ntool call", words: &[] },
    Flag { name: "search_language", flag: "search-language", kind: Kind::Word, section: "Search", about: "Selects the language of texts in Latin letters, whose endings search ignores", details: "Selects the language of texts in Latin letters, whose endings search ignores\n\n- auto: The language of each file is detected\n- none: No language: a word is found only in the form of the query\n- danish: Danish\n- dutch: Dutch\n- english: English\n- finnish: Finnish\n- french: French\n- german: German\n- italian: Italian\n- norwegian: Norwegian\n- polish: Polish\n- portuguese: Portuguese\n- spanish: Spanish\n- swedish: Swedish\n- turkish: Turkish", words: &[("auto", "The language of each file is detected"), ("none", "No language: a word is found only in the form of the query"), ("danish", "Danish"), ("dutch", "Dutch"), ("english", "English"), ("finnish", "Finnish"), ("french", "French"), ("german", "German"), ("italian", "Italian"), ("norwegian", "Norwegian"), ("polish", "Polish"), ("portuguese", "Portuguese"), ("spanish", "Spanish"), ("swedish", "Swedish"), ("turkish", "Turkish")] },
    Flag { name: "search_max_bytes", flag: "search-max-bytes", kind: Kind::Number, section: "Search", about: "The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size", details: "The most bytes of memory for the index of search, which holds the texts and takes\nabout 1.7 times their size. If not all files fit, the first search takes the newest,\nand each result says how many are left out. \"none\" sets no limit.", words: &[] },
    Flag { name: "search_keep", flag: "search-keep", kind: Kind::Flag, section: "Search", about: "Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed", details: "Keeps the index of search in hidden files of the store, so the first search of a\nprocess reads only the files that have changed. It has the texts of the files, and is\nencrypted if the store is. A store of several mounted stores keeps none.", words: &[] },
    Flag { name: "search_recency", flag: "search-recency", kind: Kind::Duration, section: "Search", about: "Makes search prefer files that were written recently", details: "Makes search prefer files that were written recently: the score of the newest file is\nhalf as large again, and a file that is older by this duration gets half of that\nbonus. Must be more than 0. \"none\" gives time no influence.", words: &[] },
    Flag { name: "durability", flag: "durability", kind: Kind::Word, section: "The store", about: "The failures that an acknowledged command survives", details: "The failures that an acknowledged command survives. Object storage is always durable.\n\n- full: A loss of power: data and directory are flushed before the command is\n  acknowledged\n- relaxed: A crash of the process. The operating system decides when to write to the\n  disk", words: &[("full", "A loss of power: data and directory are flushed before the command is acknowledged"), ("relaxed", "A crash of the process. The operating system decides when to write to the disk")] },
    Flag { name: "lock_timeout", flag: "lock-timeout", kind: Kind::Duration, section: "The store", about: "The time that a change waits for other writers of the same store", details: "The time that a change waits for other writers of the same store (local directory,\nSQLite, PostgreSQL). After that the command is refused, and nothing is changed. \"none\"\nwaits without limit.", words: &[] },
    Flag { name: "namespace", flag: "namespace", kind: Kind::Text, section: "The store", about: "Selects one of several memories in one PostgreSQL database or one bucket", details: "Selects one of several memories in one PostgreSQL database or one bucket. Any text,\nsuch as a user's name. Pass untrusted values in this option, never in an address. On\nevery other store this option is an error.", words: &[] },
    Flag { name: "encrypt_names", flag: "encrypt-names", kind: Kind::Flag, section: "The store", about: "Also encrypts the names in a store that is created with a key", details: "Also encrypts the names in a store that is created with a key. An existing store keeps\nits setting.", words: &[] },
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
        .map_err(|error| Failure::Usage(sentence(&error)))
}

/// The sentence of an error, with the names of flags in place of the names of options.
pub(super) fn sentence(error: &Error) -> String {
    match error {
        Error::Config(config) => with_flags(config),
        error => error.to_string(),
    }
}

fn with_flags(error: &ConfigError) -> String {
    let mut sentence = error.to_string();
    for flag in FLAGS {
        // Names of one word may also be other words of the sentence, except at its beginning.
        if let Some(rest) = sentence.strip_prefix(flag.name)
            && (flag.name.contains('_') || error.option() == Some(flag.name))
            && !rest.starts_with('_')
        {
            sentence = format!("--{}{rest}", flag.flag);
        } else if flag.name.contains('_') {
            sentence = sentence.replace(&format!(" {} ", flag.name), &format!(" --{} ", flag.flag));
        }
    }
    sentence
}

/// All flags except those of these options.
fn flags(but: &'static [&'static str]) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(|flag| !but.contains(&flag.name))
}

/// `-h` hides these flags, because there are many of them, and few are needed.
fn argument(flag: &'static Flag) -> Arg {
    let arg = Arg::new(flag.name)
        .long(flag.flag)
        .help(flag.about)
        .long_help(flag.details)
        .help_heading(heading(flag))
        .hide_short_help(true);
    match flag.kind {
        Kind::Flag => arg.action(ArgAction::SetTrue),
        Kind::Patterns => arg.action(ArgAction::Append).value_name("PATTERN"),
        Kind::Rules => arg.action(ArgAction::Append).value_name("ID=PATTERN"),
        Kind::Number => {
            arg.value_name("NUMBER").allow_negative_numbers(true).value_parser(number_text)
        }
        Kind::Word => {
            let words =
                flag.words.iter().map(|(word, about)| PossibleValue::new(*word).help(*about));
            // The long help has them in lines that fit on a screen.
            arg.value_name("WORD")
                .value_parser(PossibleValuesParser::new(words))
                .hide_possible_values(true)
        }
        Kind::Text => arg.value_name("TEXT"),
        Kind::Duration => {
            arg.value_name("DURATION").allow_hyphen_values(true).value_parser(duration_text)
        }
    }
}

fn heading(flag: &Flag) -> &'static str {
    match (flag.name, flag.section) {
        ("encrypt_names", _) => "Encryption",
        (_, "Commands" | "Sensitive text") => "Policies",
        (_, "The store") => "Store",
        (_, section) => section,
    }
}

/// Checks the text of a number.
fn number_text(given: &str) -> Result<String, String> {
    let is_valid = given == "none" || given.parse::<u64>().is_ok();
    is_valid.then(|| given.to_owned()).ok_or_else(|| "use a whole number, or none".to_owned())
}

/// Checks the text of a duration.
fn duration_text(given: &str) -> Result<String, String> {
    let is_valid = given == "none" || seconds(given).is_some_and(|seconds| seconds >= 0.0);
    is_valid.then(|| given.to_owned()).ok_or_else(|| {
        "use a number of seconds, or a duration such as 15m, 2h, 30d or 26w, or none".to_owned()
    })
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
        command.args(flags(NOT_OF_A_CHANGE).map(argument))
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

/// Converts a value to JSON.
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

/// Parses a number of seconds, minutes (`15m`), hours (`2h`), days (`30d`) or weeks (`26w`).
fn seconds(given: &str) -> Option<f64> {
    let units = [("s", 1.0), ("m", 60.0), ("h", 3_600.0), ("d", 86_400.0), ("w", 604_800.0)];
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
    fn a_wrong_value_is_named_by_its_flag() {
        for (arguments, part) in [
            (["--max-files", "many"], "'--max-files <NUMBER>': use a whole number"),
            (["--max-files", "-1"], "'--max-files <NUMBER>': use a whole number"),
            (["--lock-timeout", "soon"], "'--lock-timeout <DURATION>': use a number of seconds"),
            (["--lock-timeout", "-1s"], "'--lock-timeout <DURATION>': use a number of seconds"),
            (["--stale-guard", "strikt"], "a similar value exists: 'strict'"),
            (["--never-expire", "notes"], "--never-expire"),
        ] {
            let error = options(&arguments).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn options_in_a_sentence_become_flags() {
        for (error, sentence) in [
            (ConfigError::of_option("max_files").and(" is wrong"), "--max-files is wrong"),
            (ConfigError::of_option("history").and(" keeps history"), "--history keeps history"),
            (ConfigError::from("history is off".to_owned()), "history is off"),
            (
                ConfigError::of_option("history_max_age").and(" needs history"),
                "--history-max-age needs history",
            ),
            (
                ConfigError::from("this store has no record_access times".to_owned()),
                "this store has no --record-access times",
            ),
        ] {
            assert_eq!(with_flags(&error), sentence);
        }
    }
}
