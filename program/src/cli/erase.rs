//! `memdir erase`: removes a memory and its history for good.

use std::io::{self, IsTerminal, Write};

use serde_json::json;

use super::file_arguments::EraseArguments;
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::style::escaped;
use super::{Ended, Failure};
use memdir::history::Erased;
use memdir::text::human_size;
use memdir::{Memory, MemoryOptions};

pub(super) fn run(wanted: &EraseArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = Memory::with_store(argument.existing()?, argument.options().clone());
    let erase = |dry_run| memory.erase(dry_run).map_err(|error| argument.error(&error));
    if !wanted.dry_run && !wanted.yes {
        confirm(&argument, &erase(true)?)?;
    }
    let erased = erase(wanted.dry_run)?;
    if output.json {
        output.result("summary", &erased, json!({ "dry_run": wanted.dry_run }))?;
        return Ok(Ended::Well);
    }
    let verb = if wanted.dry_run { "would be erased" } else { "erased" };
    output.line(&format!("{} {verb}", shown(&erased)))?;
    Ok(Ended::Well)
}

/// Asks the user to confirm. Fails without a terminal.
fn confirm(argument: &StoreArgument, erased: &Erased) -> Result<(), Failure> {
    let (store, what) = (escaped(argument.shown()), shown(erased));
    if !io::stdin().is_terminal() {
        return Err(Failure::Refused(format!(
            "nothing was erased: {store} has {what}; --yes removes that for good"
        )));
    }
    let mut prompt = io::stderr();
    write!(prompt, "memdir: {store} has {what}. Remove that for good? [y/N] ")?;
    prompt.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    match answer.trim().to_lowercase().as_str() {
        "y" | "yes" => Ok(()),
        _ => Err(Failure::Refused("nothing was erased".to_owned())),
    }
}

fn shown(erased: &Erased) -> String {
    format!(
        "{} ({}) and {} ({})",
        count(erased.files, "file", "files"),
        human_size(erased.bytes),
        count(erased.versions, "version", "versions"),
        human_size(erased.history_bytes),
    )
}
