//! [`Memory::sync`]: makes two memories equal.
#![allow(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]

use std::ops::ControlFlow;
use std::sync::Arc;

use memdir::sync::SyncError;
use memdir::{
    ConfigError, Error, OnConflict as CoreOnConflict, StoreError as CoreStoreError, SyncOptions,
};
use memdir_bindings_shared::sync::exclude as patterns;

use crate::border::MemdirText;
use crate::error::MemdirError;
use crate::files::count;
use crate::memory::Memory;
use crate::option_values::texts;
use crate::results::{SyncErrorKind, SyncMerge, SyncProgress, Synced};
use crate::store::StoreError;

/// The content that wins a conflict of a sync.
#[derive(uniffi::Enum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnConflict {
    /// Both contents are kept: that of the first memory, and that of the second one in a copy whose name says
    /// where it is from.
    KeepBoth,
    /// The content of the first memory replaces the other one.
    A,
    /// The content of the second memory replaces the other one.
    B,
}

impl From<OnConflict> for CoreOnConflict {
    fn from(wins: OnConflict) -> Self {
        match wins {
            OnConflict::KeepBoth => Self::KeepBoth,
            OnConflict::A => Self::A,
            OnConflict::B => Self::B,
        }
    }
}

/// Receives the progress of a sync.
#[uniffi::export(rust, foreign)]
pub trait SyncWatch: Send + Sync {
    /// Called before each file, or group of files. If it returns false or throws, the sync stops. The changes that
    /// were made before stay, and the next sync makes the others.
    fn syncing(&self, progress: SyncProgress) -> Result<bool, StoreError>;
}

/// Merges the conflicts of a sync.
#[uniffi::export(rust, foreign)]
pub trait SyncMerger: Send + Sync {
    /// Merges the texts of a file that both memories changed in ways that cannot be merged line by line. Returns the text
    /// that both memories get; null keeps both contents. If it throws, the sync ends.
    ///
    /// The calls come one after another, in the thread of the sync, and in a dry run as well. A call may take long, and may
    /// use both memories: if one of the texts is changed meanwhile, it is called again. It is not called for contents that
    /// are not text, which are both kept.
    fn merge(&self, file: SyncMerge) -> Result<Option<MemdirText>, StoreError>;
}

/// The way in which conflicts end.
fn ending(
    word: Option<OnConflict>,
    merger: Option<Arc<dyn SyncMerger>>,
) -> Result<CoreOnConflict, MemdirError> {
    let Some(merger) = merger else { return Ok(word.map(Into::into).unwrap_or_default()) };
    if word.is_some() {
        return Err(ConfigError::of_option("merger")
            .and(" and onConflict exclude each other")
            .into());
    }
    Ok(CoreOnConflict::merge(move |file| {
        let text = merger.merge(file.clone().into())?;
        text.map(|text| Ok(str::from_utf8(text.as_bytes())?.to_owned())).transpose()
    }))
}

#[uniffi::export]
impl Memory {
    /// Makes this memory and `other` equal. In the result this memory is `a`, and `other` is `b`. The model cannot
    /// call this.
    ///
    /// Both memories are compared with what they last agreed on. If one has changed a file, the other follows. If both
    /// have, their changes are merged line by line. If the same lines differ, both contents are kept. A file is deleted
    /// only if the other memory has deleted it, and this one has not changed it since. The first sync deletes nothing.
    /// The options of each memory hold for what is written to it, and its hooks are asked about each change. Its history shows the sync as one change with the
    /// actor `sync`.
    ///
    /// - `on_conflict`: the content that wins if the changes cannot be merged; null keeps both.
    /// - `merger`: merges such contents itself.
    /// - `one_way`: only `other` is changed.
    /// - `dry_run`: nothing is changed, and the result says what would be.
    /// - `delete`: allows the sync to delete more than a quarter of a memory's files, or all of them.
    /// - `redactions`: also takes redactions over: the content of a version that was redacted in one history is redacted
    ///   in the other one, if a sync brought it there. Both memories need a history.
    /// - `exclude`: patterns of paths that stay as they are in both memories.
    /// - `max_file_bytes`: larger files stay as they are; null is no limit.
    /// - `names`: two names for the memories in those of conflict copies, such as `laptop` and `server`; null is the
    ///   name of the directory, or `a` and `b`.
    /// - `watch`: receives the progress, and can stop the sync.
    ///
    /// Throws `Sync`, whose `kind` says why, `Config` if an option is wrong, `Store` if a store failed, or `watch` or
    /// `merger` threw, `Hook` if a hook failed.
    /// After a stop or a failure, the changes that were made before stay, and the next sync makes the others.
    #[uniffi::method(default(
        on_conflict = None,
        merger = None,
        one_way = false,
        dry_run = false,
        delete = false,
        redactions = false,
        exclude = [],
        max_file_bytes = None,
        names = None,
        watch = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "both languages name the arguments of a call")]
    pub fn sync(
        &self,
        other: Arc<Self>,
        on_conflict: Option<OnConflict>,
        merger: Option<Arc<dyn SyncMerger>>,
        one_way: bool,
        dry_run: bool,
        delete: bool,
        redactions: bool,
        exclude: Vec<MemdirText>,
        max_file_bytes: Option<i64>,
        names: Option<Vec<MemdirText>>,
        watch: Option<Arc<dyn SyncWatch>>,
    ) -> Result<Synced, MemdirError> {
        let mut options = SyncOptions::default();
        options.on_conflict = ending(on_conflict, merger)?;
        (options.one_way, options.dry_run, options.delete) = (one_way, dry_run, delete);
        options.redactions = redactions;
        options.exclude = patterns(&texts("exclude", exclude)?)?;
        let max = max_file_bytes.map(|bytes| count("max_file_bytes", bytes)).transpose()?;
        options.max_file_bytes = max.map(|bytes| bytes as u64);
        if let Some(names) = names {
            options.names = two(texts("names", names)?)?.map(Some);
        }
        let mut thrown = None;
        let mut go_on = |progress: memdir::sync::SyncProgress<'_>| match &watch {
            None => ControlFlow::Continue(()),
            Some(watch) => match watch.syncing(progress.into()) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(failure) => {
                    thrown = Some(failure);
                    ControlFlow::Break(())
                }
            },
        };
        let synced = memdir::sync(&self.core, &other.core, &options, &mut go_on);
        match thrown {
            Some(failure) => Err(CoreStoreError::failed("syncing", failure).into()),
            None => Ok(synced?.into()),
        }
    }
}

/// The names of both memories.
fn two(names: Vec<String>) -> Result<[String; 2], ConfigError> {
    names.try_into().map_err(|names: Vec<String>| {
        ConfigError::of_option("names").and(" must be two names").got(format!("{names:?}"))
    })
}

impl From<SyncError> for MemdirError {
    fn from(error: SyncError) -> Self {
        let (reason, kind) = (error.to_string(), error.kind());
        match (error, kind) {
            (SyncError::Store { error, .. }, _) => {
                let kind = error.kind().into();
                Self::Store { reason, answer: Self::from(error).reply().content, kind }
            }
            (SyncError::Merge { path, error }, _) => {
                CoreStoreError::failed(format!("merging {path}"), error).into()
            }
            (SyncError::Hook { error, .. }, _) => Error::Hook(error).into(),
            (_, kind) => {
                Self::Sync { reason, kind: kind.map_or(SyncErrorKind::Stopped, Into::into) }
            }
        }
    }
}
