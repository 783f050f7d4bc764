//! The stores that `memdir mcp` and `memdir serve` mount into another one.

use std::sync::Arc;

use super::Failure;
use super::server_arguments::MountFlags;
use super::stores::{self, Place};
use crate::path::MemoryPath;
use crate::store::{Mount, Store, open_mounts};

/// Mounts as they were asked for.
pub(super) struct Mounts(Vec<Mounted>);

struct Mounted {
    path: String,
    place: Place,
    is_read_only: bool,
}

/// The mounts that flags name, with the options of the store that they are mounted into.
pub(super) fn parse(given: &MountFlags, root: &Place) -> Result<Mounts, Failure> {
    let mount = |(given, is_read_only): (&String, bool)| {
        let flag = if is_read_only { "--mount-read-only" } else { "--mount" };
        let (path, store) = given
            .split_once('=')
            .ok_or_else(|| Failure::Usage(format!("{flag} is wrong: use PATH=STORE")))?;
        let place = stores::only(store, root.options().clone())?;
        Ok(Mounted { path: path.to_owned(), place, is_read_only })
    };
    let writable = given.mount.iter().map(|given| (given, false));
    let fixed = given.mount_read_only.iter().map(|given| (given, true));
    writable.chain(fixed).map(mount).collect::<Result<_, _>>().map(Mounts)
}

impl Mounts {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of them are on this machine.
    #[cfg(feature = "page")]
    pub(super) fn are_local(&self) -> bool {
        self.0.iter().all(|mounted| mounted.place.is_local())
    }

    /// The store at `root`, with the others mounted into it.
    pub(super) fn open_in(&self, root: &Place) -> Result<Arc<dyn Store>, Failure> {
        let others = self.0.iter().map(|mounted| {
            let mount = Mount::new(mounted.path.as_str(), mounted.place.address());
            if mounted.is_read_only { mount.read_only() } else { mount }
        });
        let all = std::iter::once(Mount::new("/memories", root.address())).chain(others);
        match open_mounts(all, root.options()) {
            Ok(mounts) => Ok(Arc::new(mounts)),
            Err(error) => Err(match root.error(&error) {
                Failure::Usage(said) => Failure::Usage(self.without_secrets(&said)),
                Failure::Store(said) => Failure::Store(self.without_secrets(&said)),
                other => other,
            }),
        }
    }

    /// The places that cannot be changed.
    #[cfg(feature = "mcp")]
    pub(super) fn read_only(&self) -> Vec<MemoryPath> {
        let fixed = self.0.iter().filter(|mounted| mounted.is_read_only);
        fixed.filter_map(|mounted| MemoryPath::parse(&mounted.path).ok()).collect()
    }

    /// Removes their addresses from a sentence.
    pub(super) fn without_secrets(&self, sentence: &str) -> String {
        let places = self.0.iter().map(|mounted| &mounted.place);
        places.fold(sentence.to_owned(), |said, place| place.without_secrets(&said))
    }
}
