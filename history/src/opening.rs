//! Opens the history of a store. For a tree of mounts, it opens the history of each store.

use std::sync::Arc;

use memdir_store::{Durability, Store};

use super::journal::Journal;
use super::kept_files::{self, KeptFiles};
use super::log_file::LogFile;
use super::mounted;
use super::moved_journal::MovedJournal;
use super::noted::Noted;
use super::record_form::RecordForm;
use super::recorder::Recorder;
use super::retention::Retention;

impl Recorder {
    /// The history of `store`. In a tree of mounts each store has its own history, and they are read as one.
    pub fn new(store: Arc<dyn Store>, durability: Durability, retention: Retention) -> Self {
        match store.mounts() {
            None => Self::of_one(store, durability, retention),
            Some(mounts) => mounted::recorder(&*store, mounts, retention, |store| {
                Self::new(store, durability, retention)
            }),
        }
    }

    /// The history of one store: beside the files if it is a local directory, otherwise in the store itself.
    pub(super) fn of_one(
        store: Arc<dyn Store>,
        durability: Durability,
        retention: Retention,
    ) -> Self {
        // An encrypted store keeps its records where the underlying store keeps its own, unless that one is a tree of mounts.
        let beneath = store.sealing().map(|sealing| Arc::clone(sealing.beneath()));
        let beneath = beneath.filter(|beneath| beneath.mounts().is_none());
        let form = match &beneath {
            Some(_) => RecordForm::Sealed(Arc::clone(&store)),
            None => RecordForm::Plain,
        };
        let keeps = beneath.as_ref().unwrap_or(&store);
        let kept = || KeptFiles::new(Arc::clone(&store));
        let (journal, is_inside): (Arc<dyn Journal>, _) =
            match (place_beside(&**keeps), Noted::new(keeps, form.clone())) {
                (Some(place), _) => {
                    let log = LogFile::new(place.directory, durability, form);
                    (Arc::new(log), place.is_inside)
                }
                (None, Some(noted)) => (Arc::new(noted), false),
                (None, None) => {
                    return Self::with(Arc::clone(&store), Arc::new(kept()), true, retention);
                }
            };
        if beneath.is_none() {
            return Self::with(store, journal, is_inside, retention);
        }
        let moved = MovedJournal::new(journal, kept(), Arc::clone(&store));
        Self::with(store, Arc::new(moved), true, retention)
    }

    /// A history without limits.
    pub fn untrimmed(store: Arc<dyn Store>, durability: Durability) -> Self {
        Self::new(store, durability, Retention::default())
    }
}

/// The location of a local directory's journal.
struct Beside {
    directory: std::path::PathBuf,
    /// Whether the location is below the directory of the files.
    is_inside: bool,
}

fn place_beside(store: &dyn Store) -> Option<Beside> {
    let files = store.info().directory?;
    // In the layout of the SDKs' tools, the parent directory of the files is ours.
    if files.file_name().is_some_and(|name| name == "memories") {
        let directory = files.parent()?.join("history");
        return Some(Beside { directory, is_inside: false });
    }
    Some(Beside { directory: files.join(kept_files::NAME), is_inside: true })
}
