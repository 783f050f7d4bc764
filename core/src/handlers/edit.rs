//! What `insert` and `str_replace` have in common: a file's content is looked at, and changed if every
//! policy allows it, while no other writer can come between.

use crate::cancel;
use crate::error::Error;
use crate::path::MemoryPath;
use crate::policy::limits::{Change, NoRoom, Room};
use crate::policy::{Policies, write_patterns};
use crate::reply;
use crate::store::{Splice, Store, StoreError};

/// Says what becomes of a content, and what the reply is.
pub(super) type Decide<'d> = dyn FnMut(&[u8]) -> Result<(Splice, String), Error> + 'd;

/// Edits the file; `missing` is the refusal where there is none.
pub(super) fn edit(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    missing: fn(&MemoryPath) -> Error,
    decide: &mut Decide<'_>,
) -> Result<String, Error> {
    write_patterns::judge(&policies.options, path)?;
    let mut room = Room::new(policies);
    room.prepare(store);
    loop {
        // What the last call of the edit came to; the store may make several.
        let mut outcome = Err(Stop::Refused(missing(path)));
        let mut sight = None;
        let done = store.update(path, &mut |content| {
            // Other writers may have been waited for.
            let awaited = cancel::check().map_err(|error| Stop::Refused(Error::Store(error)));
            let decided = awaited.and_then(|()| decide(content).map_err(Stop::Refused));
            let decided = decided.and_then(|(splice, answer)| {
                let after = splice.len_after(content.len()) as u64;
                let change = Change { before: Some(content.len() as u64), after };
                room.take(path, change).map_err(Stop::NoRoom)?;
                Ok((splice, answer))
            });
            match decided {
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
            ) => return Err(missing(path)),
            (Err(StoreError::OverLimit { bytes, files }), _) => {
                return Err(room.refused_by(store, path, bytes, files));
            }
            (Err(error), _) => return Err(reply::condition(path, error)),
        }
    }
}

/// Why an edit does not change anything.
enum Stop {
    Refused(Error),
    NoRoom(NoRoom),
}
