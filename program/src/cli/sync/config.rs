//! `memdir.toml`: the pairs of memories that `memdir sync --all` makes equal.
//!
//! The file contains no credentials. An address with a password and a key are named by their environment variables.

use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;
use toml::Value;

use super::super::arguments::SyncArguments;
use super::super::stores::{self, A_KEY, B_KEY, KEY, StoreArgument};
use super::super::{Failure, history};
use super::pair::Pair;
use crate::typed_time::parse_duration;
use crate::with::with;
use memdir::store::redact_address;
use memdir::sync::OnConflict;
use memdir::{Error, MemoryOptions, SyncOptions};

const FILE: &str = "memdir.toml";
/// Names a variable instead of the value.
const VARIABLE: &str = "env:";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "tables [[sync]]")]
struct Configuration {
    #[serde(default)]
    sync: Vec<Entry>,
}

/// A table `[[sync]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table [[sync]]")]
struct Entry {
    name: Option<String>,
    a: Value,
    b: Value,
    #[serde(default)]
    one_way: bool,
    on_conflict: Option<String>,
    #[serde(default)]
    redactions: bool,
    #[serde(default)]
    exclude: Vec<String>,
    max_file_bytes: Option<u64>,
    every: Option<String>,
}

/// A memory: an address alone, or a table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with an address")]
struct Memory {
    address: String,
    name: Option<String>,
    encryption_key: Option<String>,
    #[serde(default)]
    options: toml::Table,
}

/// The pairs of the configuration file.
pub(super) fn pairs(wanted: &SyncArguments) -> Result<Vec<Pair>, Failure> {
    if let Some(key) = [KEY, A_KEY, B_KEY].into_iter().find(|key| env::var_os(key).is_some()) {
        return Err(Failure::Usage(format!(
            "{key} does not say which memory it is for: unset it, and name another variable in {FILE}, as in \
             encryption_key = \"env:TEAM_KEY\""
        )));
    }
    let file = find(wanted.config.as_deref())?;
    let text = fs::read_to_string(&file)
        .map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", file.display())))?;
    let failure = |sentence: &str| Failure::Usage(format!("{}: {sentence}", file.display()));
    let configuration = parse(&text).map_err(|sentence| failure(&sentence))?;
    if configuration.sync.is_empty() {
        return Err(failure("it has no table [[sync]]"));
    }
    // Relative paths are those from the directory of the file, wherever the program is started.
    if let Some(directory) = file.parent().filter(|directory| !directory.as_os_str().is_empty()) {
        env::set_current_dir(directory).map_err(|error| failure(&error.to_string()))?;
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for (index, entry) in configuration.sync.into_iter().enumerate() {
        let number = index + 1;
        let pair = entry.pair(number, wanted).map_err(|error| match error {
            Failure::Usage(sentence) => failure(&format!("[[sync]] number {number}: {sentence}")),
            other => other,
        })?;
        if pairs.iter().any(|before| before.name == pair.name) {
            let name = pair.name.unwrap_or_default();
            return Err(failure(&format!("two tables [[sync]] have the name \"{name}\"")));
        }
        pairs.push(pair);
    }
    Ok(pairs)
}

/// The file that was named, or the nearest one.
fn find(named: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let here = env::current_dir().unwrap_or_default();
    let found = here.ancestors().map(|directory| directory.join(FILE)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Failure::Usage(format!(
            "there is no {FILE} in this directory or above it: create one, or name it with --config"
        ))
    })
}

fn parse(text: &str) -> Result<Configuration, String> {
    toml::from_str(text).map_err(|error| {
        // Without the line itself, which might contain a secret.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        format!("line {line}: {}", without_values(error.message()))
    })
}

/// The message of an error without the value that it is about, which might be a secret.
fn without_values(message: &str) -> String {
    if let Some((_, expected)) = message.split_once(", expected ") {
        let what = message.split([':', '`']).next().unwrap_or_default().trim_end();
        let name = message.split('`').nth(1).filter(|_| message.starts_with("unknown field"));
        let is_plain = |name: &&str| {
            name.len() <= 40
                && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        };
        let name = name.filter(is_plain).map(|name| format!(" `{name}`")).unwrap_or_default();
        return format!("{what}{name}, expected {expected}");
    }
    message.to_owned()
}

impl Entry {
    fn pair(self, number: usize, wanted: &SyncArguments) -> Result<Pair, Failure> {
        let (a, b) = (memory("a", self.a)?, memory("b", self.b)?);
        let name = self.name.unwrap_or_else(|| number.to_string());
        if name.is_empty()
            || name.len() > 64
            || name.contains("://")
            || name.chars().any(char::is_control)
        {
            let rule =
                "name must be a text of 1 to 64 bytes, without control characters, and no address";
            return Err(Failure::Usage(rule.to_owned()));
        }
        let on_conflict = self.on_conflict.as_deref().unwrap_or("keep-both").parse::<OnConflict>();
        let exclude = self.exclude.iter().map(|pattern| pattern.parse()).collect::<Result<_, _>>();
        let every = self.every.as_deref().map(parse_duration).transpose();
        let options = with(SyncOptions::default(), |options| {
            options.one_way = self.one_way;
            options.dry_run = wanted.dry_run;
            options.delete = wanted.delete;
            options.redactions = self.redactions;
            options.max_file_bytes = self.max_file_bytes;
            options.names = [a.name.clone(), b.name.clone()];
        });
        let mut pair = Pair {
            name: Some(name),
            a: a.argument("a")?,
            b: b.argument("b")?,
            options,
            every: every.map_err(|error| Failure::Usage(format!("every: {error}")))?,
        };
        pair.options.on_conflict = on_conflict.map_err(|error| usage(&error))?;
        pair.options.exclude = exclude.map_err(|error| usage(&error))?;
        pair.checked()
    }
}

fn usage(error: &Error) -> Failure {
    Failure::Usage(error.to_string())
}

fn memory(field: &str, given: Value) -> Result<Memory, Failure> {
    if let Value::String(address) = given {
        return Ok(Memory {
            address,
            name: None,
            encryption_key: None,
            options: toml::Table::new(),
        });
    }
    given.try_into().map_err(|error: toml::de::Error| {
        let problem = without_values(error.message());
        Failure::Usage(format!("{field} must be an address, or a table: {problem}"))
    })
}

impl Memory {
    fn argument(&self, field: &str) -> Result<StoreArgument, Failure> {
        let failure = |sentence: String| Failure::Usage(format!("{field}: {sentence}"));
        if redact_address(&self.address) != self.address {
            return Err(failure(format!(
                "the address contains a secret: put it into an environment variable, and write \"{VARIABLE}NAME\""
            )));
        }
        let key = match &self.encryption_key {
            None => None,
            Some(given) => Some(given.strip_prefix(VARIABLE).ok_or_else(|| {
                failure(format!(
                    "encryption_key must name an environment variable, as in \"{VARIABLE}TEAM_KEY\""
                ))
            })?),
        };
        if self.options.contains_key("encryption_key") {
            return Err(failure("encryption_key belongs beside the address".to_owned()));
        }
        let json = serde_json::to_string(&self.options).unwrap_or_default();
        let options = MemoryOptions::default().with_json(&json);
        let options = options.map_err(|error| failure(error.to_string()))?;
        stores::configured(&self.address, key, history::untrimmed(options))
    }
}
