//! [`partners`]: the memories that a memory was synced with, and when both last agreed.
//!
//! Each memory that a sync may write has a file about the other one, `.memdir-sync/PARTNER.partner`. No sync reads anything else from it than
//! its age, so it may be lost.

use std::time::{Duration, SystemTime};

use memdir_store::time::{parse, rfc3339};
use serde::{Deserialize, Serialize};

use super::both::SyncSide;
use super::error::SyncError;
use super::place::Place;
use super::report::Synced;
use super::side::Side;
use crate::Error;
use crate::memory::Memory;
use crate::store::StoreError;

/// The end of the name of a file about a partner.
pub(super) const PARTNER: &str = ".partner";

/// A sync without changes replaces an older time. So a program that always syncs does not always write.
const MAX_AGE: Duration = Duration::from_secs(600);

/// A memory that this one was synced with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SyncPartner {
    /// Its id. A memory that was moved keeps its id.
    pub id: String,
    /// Its name in the last sync, such as `laptop`.
    pub name: String,
    /// When both last agreed: at the end of the last sync, or up to ten minutes before it if it changed nothing.
    #[serde(serialize_with = "memdir_store::time::serialize")]
    pub synced: SystemTime,
    /// The number of files that both then had with the same content.
    pub files: u64,
    /// The number of files that stayed different, such as ones that an option forbids.
    pub left_out: u64,
}

/// The content of a file about a partner.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Noted {
    name: String,
    synced: String,
    files: u64,
    left_out: u64,
}

/// Returns the memories that this one was synced with, the last one first.
///
/// A memory that was only read in a sync does not know its partner.
///
/// ```
/// use memdir::{Memory, MemoryOptions, SyncOptions};
/// use std::ops::ControlFlow;
///
/// let laptop = Memory::open("memory:", MemoryOptions::default())?;
/// let server = Memory::open("memory:", MemoryOptions::default())?;
/// laptop.create("/memories/tea.md", "green\n")?;
/// let mut options = SyncOptions::default();
/// options.names = [Some("laptop".to_owned()), Some("server".to_owned())];
/// let mut go_on = |_: memdir::sync::SyncProgress<'_>| ControlFlow::Continue(());
/// memdir::sync(&laptop, &server, &options, &mut go_on)?;
///
/// let partners = memdir::sync::partners(&laptop)?;
/// assert_eq!((partners[0].name.as_str(), partners[0].files), ("server", 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Store`].
pub fn partners(memory: &Memory) -> Result<Vec<SyncPartner>, Error> {
    let side = Side::new(SyncSide::A, memory);
    let place = Place::new(&side);
    let mut found = Vec::new();
    for name in place.list().map_err(SyncError::into_error)? {
        let Some(id) = name.strip_suffix(PARTNER) else { continue };
        let bytes = place.read(&name).map_err(SyncError::into_error)?;
        let noted: Option<Noted> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let Some(Noted { name, synced, files, left_out }) = noted else { continue };
        let Some(synced) = parse(&synced) else { continue };
        found.push(SyncPartner { id: id.to_owned(), name, synced, files, left_out });
    }
    found.sort_by(|one, other| (other.synced, &one.id).cmp(&(one.synced, &other.id)));
    Ok(found)
}

/// Notes in a memory that it now agrees with its partner.
pub(super) fn note(
    place: &Place<'_>,
    id: &str,
    name: &str,
    synced: &Synced,
) -> Result<(), SyncError> {
    let now = SystemTime::now();
    let noted = Noted {
        name: name.to_owned(),
        synced: rfc3339(now),
        files: synced.equal,
        left_out: synced.left_out.len() as u64,
    };
    let file = format!("{id}{PARTNER}");
    let Some(bytes) = place.read(&file)? else {
        return match place.write_new(&file, &noted.to_bytes()) {
            // Another sync was faster.
            Err(SyncError::Store { error: StoreError::AlreadyExists, .. }) => Ok(()),
            written => written,
        };
    };
    let known: Option<Noted> = serde_json::from_slice(&bytes).ok();
    let is_recent = known.is_some_and(|known| {
        let time = parse(&known.synced);
        // The time of a clock that was wrong may be in the future.
        let age = time.and_then(|time| now.duration_since(time).ok());
        age.is_some_and(|age| age < MAX_AGE)
            && Noted { synced: noted.synced.clone(), ..known } == noted
    });
    if is_recent && synced.changes.is_empty() {
        return Ok(());
    }
    place.fill(&file, &noted.to_bytes()).map(drop)
}

impl Noted {
    fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
