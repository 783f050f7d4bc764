//! Queries of a memory's history, and undoing, with plain arguments.

use std::time::SystemTime;

use memdir::history::{
    FastImportError, HistoryError, HistoryId, HistoryQuery, Restored, UndoOptions,
};
use memdir::{ConfigError, Memory, StoreError};

/// Parses an id.
///
/// # Errors
/// [`HistoryError::NoId`].
pub fn id(text: &str) -> Result<HistoryId, HistoryError> {
    text.parse().map_err(|_| HistoryError::NoId(text.to_owned()))
}

/// The whole history as a stream for `git fast-import`.
///
/// # Errors
/// The same cases as for [`Memory::history_snapshot`], and unreadable records.
pub fn export(memory: &Memory) -> Result<Vec<u8>, HistoryError> {
    let mut stream = Vec::new();
    match memory.history_snapshot()?.write_fast_import(&mut stream) {
        Ok(()) => Ok(stream),
        Err(FastImportError::History(error)) => Err(error),
        Err(FastImportError::Output(error)) => {
            Err(StoreError::failed("exporting the history", error).unchanged().into())
        }
    }
}

/// The selection of versions. Its ids are texts, which may not be valid.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// A file or a directory.
    pub path: Option<String>,
    /// The most versions to return.
    pub limit: Option<usize>,
    /// Only versions older than this one.
    pub before: Option<String>,
    /// Only changes by this actor.
    pub actor: Option<String>,
    /// Only the versions of this change.
    pub change: Option<String>,
    /// Only changes made then or later.
    pub since: Option<SystemTime>,
}

impl Query {
    /// The query of the core.
    ///
    /// # Errors
    /// [`HistoryError::NoId`].
    pub fn into_core(self) -> Result<HistoryQuery, HistoryError> {
        let mut query = HistoryQuery::default();
        query.path = self.path;
        query.limit = self.limit;
        query.before = self.before.as_deref().map(id).transpose()?;
        query.actor = self.actor;
        query.change = self.change.as_deref().map(id).transpose()?;
        query.since = self.since;
        Ok(query)
    }
}

/// The changes to undo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Undo {
    /// The change with this id, or the change that made the version with this id.
    Change(String),
    /// All changes at a time or later, by this actor or by any actor.
    Since(SystemTime, Option<String>),
}

impl Undo {
    /// Either a change or a time, and with a time optionally an actor.
    ///
    /// # Errors
    /// The arguments contradict each other, or none is given.
    pub fn of(
        change: Option<String>,
        since: Option<SystemTime>,
        actor: Option<String>,
    ) -> Result<Self, ConfigError> {
        match (change, since, actor) {
            (Some(change), None, None) => Ok(Self::Change(change)),
            (None, Some(since), actor) => Ok(Self::Since(since, actor)),
            (Some(_), Some(_), _) => Err(ConfigError::of_option("since")
                .and(" must not be given together with ")
                .and_name("change")),
            (Some(_), None, Some(_)) => Err(ConfigError::of_option("actor")
                .and(" must be given together with ")
                .and_name("since")),
            (None, None, _) => Err(ConfigError::of_option("change")
                .and(" or ")
                .and_name("since")
                .and(" must be given")),
        }
    }

    /// Undoes the changes with [`Memory::undo`] or [`Memory::undo_since`].
    ///
    /// # Errors
    /// The same cases as for those methods.
    pub fn apply(&self, memory: &Memory, how: UndoOptions) -> Result<Restored, HistoryError> {
        match self {
            Self::Change(change) => memory.undo(id(change)?, how),
            Self::Since(since, actor) => memory.undo_since(*since, actor.as_deref(), how),
        }
    }
}

/// The options for undoing.
#[must_use]
pub fn undo_options(dry_run: bool, skip_conflicts: bool, merge: bool) -> UndoOptions {
    let mut options = UndoOptions::default();
    (options.dry_run, options.skip_conflicts, options.merge) = (dry_run, skip_conflicts, merge);
    options
}

#[cfg(test)]
mod tests {
    use memdir::MemoryOptions;

    use super::*;

    fn text(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_text_that_is_no_id_is_named() {
        let named = |error: HistoryError| matches!(error, HistoryError::NoId(id) if id == "tea");
        let ask = |before, change| Query { before, change, ..Query::default() }.into_core();
        assert!(named(ask(text("tea"), None).unwrap_err()));
        assert!(named(ask(None, text("tea")).unwrap_err()));
        let mut options = MemoryOptions::default();
        options.history = true;
        let memory = Memory::open("memory:", options).unwrap();
        assert!(named(
            Undo::Change("tea".to_owned()).apply(&memory, UndoOptions::default()).unwrap_err()
        ));
    }

    #[test]
    fn a_change_or_a_time_is_undone() {
        let mut options = MemoryOptions::default();
        options.history = true;
        let memory = Memory::open("memory:", options).unwrap().acting_as("me");
        let begun = SystemTime::now();
        memory.write("/memories/tea.md", "green\n", None).unwrap();
        memory.write("/memories/tea.md", "black\n", None).unwrap();
        let last = memory.history(&HistoryQuery::default()).unwrap()[0].change.to_string();
        let took = |undo: Undo| undo.apply(&memory, UndoOptions::default()).unwrap().files.len();
        assert_eq!(took(Undo::Change(last)), 1);
        assert_eq!(memory.read("/memories/tea.md").unwrap(), "green\n");
        assert_eq!(took(Undo::Since(begun, text("nobody"))), 0);
        assert_eq!(took(Undo::Since(begun, text("me"))), 1);
        assert!(!memory.exists("/memories/tea.md").unwrap());
    }

    #[test]
    fn each_option_of_undo_is_its_own() {
        for at in 0..3 {
            let given = [0, 1, 2].map(|option| option == at);
            let options = undo_options(given[0], given[1], given[2]);
            assert_eq!([options.dry_run, options.skip_conflicts, options.merge], given);
        }
    }

    #[test]
    fn either_a_change_or_a_time_is_given() {
        let now = SystemTime::now();
        assert_eq!(Undo::of(text("id"), None, None), Ok(Undo::Change("id".to_owned())));
        assert_eq!(Undo::of(None, Some(now), text("me")), Ok(Undo::Since(now, text("me"))));
        for (change, since, actor, sentence) in [
            (text("id"), Some(now), None, "since must not be given together with change"),
            (text("id"), None, text("me"), "actor must be given together with since"),
            (None, None, text("me"), "change or since must be given"),
            (None, None, None, "change or since must be given"),
        ] {
            assert_eq!(Undo::of(change, since, actor).unwrap_err().to_string(), sentence);
        }
    }

    #[test]
    fn a_history_is_exported_to_its_end_if_there_is_one() {
        let off = Memory::open("memory:", MemoryOptions::default()).unwrap();
        assert!(matches!(export(&off), Err(HistoryError::Off)));
        let mut options = MemoryOptions::default();
        options.history = true;
        let memory = Memory::open("memory:", options).unwrap();
        memory.write("/memories/tea.md", "green\n", None).unwrap();
        let stream = String::from_utf8(export(&memory).unwrap()).unwrap();
        assert!(stream.starts_with("feature done\n") && stream.ends_with("done\n"), "{stream}");
        assert!(stream.contains("green\n"), "{stream}");
    }
}
