//! Shared by the commands about the history: opening the memory, resolving ids, and errors.

use std::sync::Arc;

use super::stores::StoreArgument;
use super::style::escaped;
use super::{Failure, say};
use crate::with::with;
use memdir::history::{HistoryError, HistoryId, HistorySnapshot, ResolvedId, has_history};
use memdir::store::Store;
use memdir::{Memory, MemoryOptions};

/// The maximum number of ids that an error lists.
const NAMED: usize = 20;

/// The memory of a command that reads the history.
pub(super) fn reading_memory(argument: &StoreArgument) -> Result<Memory, Failure> {
    Ok(Memory::with_store(argument.readable()?, options(argument)))
}

/// A memory that uses the history of the store, if there is one.
pub(super) fn with_history_if_any(
    store: Arc<dyn Store>,
    argument: &StoreArgument,
    mut options: MemoryOptions,
) -> Result<Memory, Failure> {
    options.history |= has_history(&store).map_err(|error| failure(&error, argument))?;
    Ok(Memory::with_store(store, options))
}

/// The memory of a command that changes the history, as this actor.
pub(super) fn changing_memory(argument: &StoreArgument, actor: &str) -> Result<Memory, Failure> {
    Ok(Memory::with_store(argument.existing()?, options(argument)).acting_as(actor))
}

fn options(argument: &StoreArgument) -> MemoryOptions {
    with(untrimmed(argument.options().clone()), |options| options.history = true)
}

/// Removes the limits of the history, because they belong to the program that uses the memory.
pub(super) fn untrimmed(options: MemoryOptions) -> MemoryOptions {
    with(options, |options| {
        options.history_max_age = None;
        options.history_max_versions = None;
        options.history_max_bytes = None;
    })
}

/// The history of a memory. Fails if there is none.
pub(super) fn reading<'m>(
    memory: &'m Memory,
    argument: &StoreArgument,
) -> Result<HistorySnapshot<'m>, Failure> {
    match memory.history_snapshot() {
        Ok(reading) if !reading.is_empty() => Ok(reading),
        Ok(_) | Err(HistoryError::Off) => Err(Failure::Refused(format!(
            "{} has no history: the option `history` of your program begins one, and so does `memdir put --history`",
            argument.shown()
        ))),
        Err(error) => Err(failure(&error, argument)),
    }
}

/// Resolves the version or change that an argument names.
pub(super) fn named(reading: &HistorySnapshot<'_>, given: &str) -> Result<ResolvedId, Failure> {
    match reading.resolve(given) {
        ResolvedId::Unknown => {
            let given = escaped(given);
            Err(Failure::Refused(format!("there is no version or change {given} in this history: `memdir log` lists them")))
        }
        // Do not repeat the argument, because it may be an address.
        ResolvedId::NoId => Err(Failure::Usage(
            "ID is wrong: use an id that `memdir log` prints, or at least 6 digits of its beginning or its end"
                .to_owned(),
        )),
        ResolvedId::Ambiguous(ids) => {
            for id in ids.iter().take(NAMED) {
                say(&id.to_string());
            }
            let more = ids.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let given = escaped(given);
            Err(Failure::Refused(format!("{given} stands for each of these ids{more}: give more digits")))
        }
        named => Ok(named),
    }
}

/// Resolves one version or change, for a command that takes either.
pub(super) fn id(reading: &HistorySnapshot<'_>, given: &str) -> Result<HistoryId, Failure> {
    match named(reading, given)? {
        ResolvedId::Change(change, _) => Ok(change),
        ResolvedId::Version(id) => Ok(id),
        _ => Err(Failure::Refused(HistoryError::NoId(escaped(given)).to_string())),
    }
}

/// Resolves one version.
pub(super) fn version(reading: &HistorySnapshot<'_>, given: &str) -> Result<HistoryId, Failure> {
    match named(reading, given)? {
        ResolvedId::Version(id) => Ok(id),
        ResolvedId::Change(_, versions) => {
            for id in versions.iter().take(NAMED) {
                say(&id.to_string());
            }
            let count = versions.len();
            Err(Failure::Refused(format!(
                "this change made {count} versions: give the id of one of them"
            )))
        }
        _ => Err(Failure::Refused(HistoryError::NoId(escaped(given)).to_string())),
    }
}

/// The failure for an error of the history.
pub(super) fn failure(error: &HistoryError, argument: &StoreArgument) -> Failure {
    let sentence = escaped(&argument.without_secrets(&error.to_string()));
    match error {
        // A condition of the tree, such as a directory that is not writable.
        HistoryError::Store(error) if !error.is_failure() => Failure::Refused(sentence),
        HistoryError::Store(_) | HistoryError::Partly { .. } => Failure::Store(sentence),
        _ => Failure::Refused(sentence),
    }
}
