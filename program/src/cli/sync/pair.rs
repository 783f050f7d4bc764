//! [`Pair`]: two memories that are to be made equal, and how.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::super::arguments::SyncArguments;
use super::super::stores::{self, StoreArgument};
use super::super::{Failure, history};
use super::interrupt;
use crate::with::with;
use memdir::sync::{SyncProgress, SyncSide};
use memdir::{Cancellation, Memory, MemoryOptions, Store, SyncError, SyncOptions, Synced, sync};

/// Two memories that are to be made equal, and how.
pub(super) struct Pair {
    /// Its name in a configuration file.
    pub(super) name: Option<String>,
    pub(super) a: StoreArgument,
    pub(super) b: StoreArgument,
    pub(super) options: SyncOptions,
    /// The polling interval for a memory on another machine.
    pub(super) every: Option<Duration>,
}

impl Pair {
    /// The pair of the arguments `A` and `B`.
    pub(super) fn of(a: &str, b: &str, wanted: &SyncArguments) -> Result<Self, Failure> {
        let options = history::untrimmed(MemoryOptions::default());
        let (a, b) = stores::both(a, b, &options)?;
        let options = with(SyncOptions::default(), |options| {
            options.on_conflict = wanted.on_conflict.clone();
            options.one_way = wanted.one_way;
            options.dry_run = wanted.dry_run;
            options.delete = wanted.delete;
            options.redactions = wanted.redactions;
            options.exclude.clone_from(&wanted.exclude);
            options.max_file_bytes = wanted.max_file_bytes;
        });
        Self { name: None, a, b, options, every: wanted.every }.checked()
    }

    /// The pair, if its memories are not the same. The names of conflict copies are filled in.
    pub(super) fn checked(mut self) -> Result<Self, Failure> {
        if self.a.overlaps(&self.b) {
            return Err(Failure::Usage(format!("nothing was changed: {}", SyncError::Overlapping)));
        }
        for (name, default) in self.options.names.iter_mut().zip(names(&self.a, &self.b)) {
            name.get_or_insert(default);
        }
        Ok(self)
    }

    /// Both memories. One that does not exist yet is created, or for a dry run replaced by one in this process. If both must exist, a missing
    /// one is a failure.
    pub(super) fn open(&self, must_exist: bool) -> Result<[Memory; 2], Failure> {
        let (a, b) = (&self.a, &self.b);
        match (find(a)?, find(b)?) {
            (Some(one), Some(other)) => Ok([one, other]),
            (Some(one), None) if !must_exist => Ok([one, self.create(b)?]),
            (None, Some(other)) if !must_exist && !self.options.one_way => {
                Ok([self.create(a)?, other])
            }
            (Some(_), None) => Err(b.missing()),
            (None, _) => Err(a.missing()),
        }
    }

    fn create(&self, argument: &StoreArgument) -> Result<Memory, Failure> {
        let store = if self.options.dry_run { argument.stand_in()? } else { argument.open()? };
        recorded(argument, store)
    }

    /// Makes them equal. `stop` ends the sync after the file under way. `recent` is the number of recent deletions in each memory.
    pub(super) fn sync(
        &self,
        [a, b]: &[Memory; 2],
        recent: [u64; 2],
        stop: &Cancellation,
        show: &mut dyn FnMut(SyncProgress<'_>),
    ) -> Result<Synced, Failure> {
        let mut go_on = |progress: SyncProgress<'_>| {
            show(progress);
            if stop.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = with(self.options.clone(), |options| options.recent_deletions = recent);
        sync(a, b, &options, &mut go_on).map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &SyncError) -> Failure {
        let argument = |side: &SyncSide| if *side == SyncSide::A { &self.a } else { &self.b };
        match error {
            SyncError::Overlapping => Failure::Usage(format!("nothing was changed: {error}")),
            SyncError::TooManyDeletions { side, deletions, files } => Failure::Stopped(format!(
                "nothing was changed, as {deletions} of the {files} files of {} would be deleted: they are gone from the \
                 other memory. --dry-run --delete lists them, and --delete deletes them",
                argument(side).shown()
            )),
            SyncError::ReadOnly { side } => Failure::Refused(format!(
                "nothing was changed, as {} is read-only: --one-way only reads the first memory",
                argument(side).shown()
            )),
            SyncError::Store { side, path, error } => {
                let argument = argument(side);
                let sentence = format!("{}: {path}: {error}", argument.shown());
                Failure::Store(argument.without_secrets(&sentence))
            }
            SyncError::Stopped => interrupt::failure(),
            error => Failure::Store(error.to_string()),
        }
    }
}

/// The memory, if it exists.
fn find(argument: &StoreArgument) -> Result<Option<Memory>, Failure> {
    argument.find()?.map(|store| recorded(argument, store)).transpose()
}

fn recorded(argument: &StoreArgument, store: Arc<dyn Store>) -> Result<Memory, Failure> {
    history::with_history_if_any(store, argument, argument.options().clone())
}

/// The names of both memories in conflict copies: the last parts of their addresses, or the whole ones if those are the same.
fn names(a: &StoreArgument, b: &StoreArgument) -> [String; 2] {
    let [one, other] = [a, b].map(|argument| short_name(argument.shown()));
    if one == other {
        return [a, b].map(|argument| argument.shown().to_owned());
    }
    [one, other]
}

fn short_name(shown: &str) -> String {
    let path = shown.split(['?', '#']).next().unwrap_or_default();
    let last = path.split(['/', '\\', ':']).rfind(|part| !part.is_empty() && *part != ".");
    let last = last.unwrap_or(shown);
    last.strip_suffix(".db").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::short_name;

    #[test]
    fn a_short_name_is_the_last_part_of_an_address() {
        for (address, name) in [
            ("./memory", "memory"),
            ("/home/ada/notes/", "notes"),
            ("C:\\Users\\ada\\notes", "notes"),
            ("sqlite:data/agent.db", "agent"),
            ("s3://bucket/team/notes?region=x", "notes"),
            ("postgres://db.example.com/agents", "agents"),
            (".", "."),
        ] {
            assert_eq!(short_name(address), name, "{address}");
        }
    }
}
