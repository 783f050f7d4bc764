//! The stores that `memdir mcp` and `memdir serve` mount into another store.

use std::sync::Arc;

use super::Failure;
use super::server_arguments::MountFlags;
use super::stores::{self, StoreArgument};
use memdir::Error;
use memdir::path::MemoryPath;
use memdir::store::{self, Mount, open_mounts};

/// The requested mounts.
pub(super) struct Mounts(Vec<Mounted>);

struct Mounted {
    path: String,
    argument: StoreArgument,
    is_read_only: bool,
}

/// Parses the flags for mounts. Mounted stores get the options of the root store.
pub(super) fn parse(given: &MountFlags, root: &StoreArgument) -> Result<Mounts, Failure> {
    let mount = |(given, is_read_only): (&String, bool)| {
        let flag = if is_read_only { "--mount-read-only" } else { "--mount" };
        let (path, store) = given.split_once('=').ok_or_else(|| {
            Failure::Usage(format!(
                "{flag} is wrong: use PATH=STORE, such as /memories/team=sqlite:team.db"
            ))
        })?;
        let argument = stores::only(store, root.options().clone())?;
        Ok(Mounted { path: path.to_owned(), argument, is_read_only })
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
        self.0.iter().all(|mounted| mounted.argument.is_local())
    }

    /// Opens the store at `root` with the other stores mounted into it.
    pub(super) fn open_in(&self, root: &StoreArgument) -> Result<Arc<store::Mounts>, Failure> {
        let others = self.0.iter().map(|mounted| {
            let mount = Mount::new(mounted.path.as_str(), mounted.argument.address());
            if mounted.is_read_only { mount.read_only() } else { mount }
        });
        let all = std::iter::once(Mount::new("/memories", root.address())).chain(others);
        match open_mounts(all, root.options()) {
            Ok(mounts) => Ok(Arc::new(mounts)),
            Err(error) => {
                Err(self.absent(root, &error).unwrap_or_else(|| match root.error(&error) {
                    Failure::Usage(said) => Failure::Usage(self.without_secrets(&said)),
                    Failure::Store(said) => Failure::Store(self.without_secrets(&said)),
                    other => other,
                }))
            }
        }
    }

    /// The failure for a store that does not exist, if that is why the stores could not be opened.
    fn absent(&self, root: &StoreArgument, error: &Error) -> Option<Failure> {
        let all_read_only = root.options().read_only;
        root.absent_at(&MemoryPath::root(), all_read_only, error).or_else(|| {
            self.0.iter().find_map(|mounted| {
                let at = MemoryPath::parse(&mounted.path).ok()?;
                mounted.argument.absent_at(&at, all_read_only || mounted.is_read_only, error)
            })
        })
    }

    /// Removes the addresses of the mounts from a message.
    pub(super) fn without_secrets(&self, sentence: &str) -> String {
        let arguments = self.0.iter().map(|mounted| &mounted.argument);
        arguments.fold(sentence.to_owned(), |said, argument| argument.without_secrets(&said))
    }
}
