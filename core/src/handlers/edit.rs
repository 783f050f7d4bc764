//! What `insert` and `str_replace` have in common: a file's content is looked at, and changed if every
//! policy allows it, while no other writer can come between.

use super::text;
use crate::cancel;
use crate::error::Error;
use crate::path::MemoryPath;
use crate::policies::{Policies, Stop};
use crate::policy::limits::NoRoom;
use crate::policy::stale_guard::Seen;
use crate::reply;
use crate::store::{Store, StoreError};
use crate::text::Splice;

/// The reply, given the content before and the change.
pub(super) type Answer<'e> = dyn Fn(&[u8], &Splice) -> Result<String, Error> + 'e;

/// What a command says of its edit.
pub(super) struct Edit<'e> {
    /// The refusal where there is no file.
    pub(super) missing: fn(&MemoryPath) -> Error,
    /// Which views of the file are new enough.
    pub(super) check_view: fn(&Seen, &MemoryPath, &[u8]) -> Result<(), Error>,
    /// What becomes of a content.
    pub(super) change: &'e dyn Fn(&[u8]) -> Result<Splice, Error>,
    pub(super) answer: &'e Answer<'e>,
}

/// Edits the file.
pub(super) fn edit(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    edit: &Edit<'_>,
) -> Result<String, Error> {
    let mut room = policies.check_edit(path)?;
    room.prepare(store);
    loop {
        // What the last call of the edit came to; the store may make several.
        let mut outcome = Err(Stop::Refused((edit.missing)(path)));
        let mut sight = None;
        let done = store.update(path, &mut |content| {
            let mut decide = || -> Result<(Splice, String), Stop> {
                // Other writers may have been waited for.
                cancel::check().map_err(Error::Store)?;
                let old = text(path, content)?;
                let change = || (edit.change)(content);
                let (splice, note) =
                    policies.check_change(&mut room, path, old, edit.check_view, change)?;
                let answer = (edit.answer)(content, &splice)?;
                Ok((splice, answer + &note))
            };
            match decide() {
                Ok((splice, answer)) => {
                    sight = policies.seen.writing(&splice.pieces(content));
                    outcome = Ok(answer);
                    Some(splice)
                }
                Err(stop) => {
                    room.give_back();
                    outcome = Err(stop);
                    None
                }
            }
        });
        if let Err(error) = &done {
            room.leave(error);
        }
        match (done, outcome) {
            (Ok(()), Ok(answer)) => {
                room.fill();
                policies.seen.remember(path, sight);
                return Ok(answer);
            }
            (Ok(()), Err(Stop::Refused(refusal))) => return Err(refusal),
            (Ok(()), Err(Stop::NoRoom(NoRoom::Full(over)))) => {
                return Err(room.refusal(path, over));
            }
            // The store cannot be asked within its own edit. Then the answer is final.
            (Ok(()), Err(Stop::NoRoom(NoRoom::Unsure))) => room.measure(store)?,
            // A directory counts as missing (documentation of the tool).
            (
                Err(StoreError::NotFound | StoreError::IsADirectory | StoreError::NotADirectory),
                _,
            ) => return Err((edit.missing)(path)),
            (Err(StoreError::OverLimit { bytes, files }), _) => {
                return Err(room.refused_by(store, path, bytes, files));
            }
            (Err(error), _) => return Err(reply::condition(path, error)),
        }
    }
}
