//! The common part of `insert` and `str_replace`: reads a file, checks every policy, and writes the change. No
//! other writer can change the file in between.

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::text;
use crate::policies::Stop;
use crate::policy::limits::Unreserved;
use crate::policy::stale_guard::ViewLog;
use crate::reply;
use crate::store::{Mutation, StoreError};
use crate::text::Splice;
use crate::unit_of_work::UnitOfWork;

/// Computes the reply, from the content before the change and the change.
pub(crate) type Answer<'e> = dyn Fn(&str, &Splice) -> Result<String, Error> + 'e;

/// The parts of an edit that differ between the commands and `write`.
pub(crate) struct EditOperation<'e> {
    /// The refusal if the file does not exist.
    pub(crate) missing: fn(&MemoryPath) -> Error,
    /// The stale-view guard's check for this command.
    pub(crate) check_view: fn(&ViewLog, &MemoryPath, &[u8]) -> Result<(), Error>,
    /// Computes the change of a content.
    pub(crate) change: &'e dyn Fn(&[u8]) -> Result<Splice, Error>,
    pub(crate) answer: &'e Answer<'e>,
    /// True if the model knows the new content, so the guard allows the model to edit it.
    pub(crate) seen_by_model: bool,
}

/// Edits the file.
pub(crate) fn edit(
    work: &UnitOfWork<'_>,
    path: &MemoryPath,
    edit: &EditOperation<'_>,
) -> Result<String, Error> {
    let (store, policies) = (work.store(), work.policies());
    let mut reservation = policies.check_edit(path)?;
    reservation.prepare(store);
    loop {
        // The result of the last call of `decide_on`. The store may call it several times.
        let mut outcome = Err(Stop::Refused((edit.missing)(path)));
        let mut snapshot = None;
        let mut decide_on = |content: &[u8]| {
            let mut decide = || -> Result<(Splice, String), Stop> {
                // The command may have waited for other writers.
                store.check().map_err(Error::Store)?;
                let old = text(path, content)?;
                let change = || (edit.change)(content);
                let (splice, note) =
                    policies.check_change(&mut reservation, path, old, edit.check_view, change)?;
                let answer = (edit.answer)(old, &splice)?;
                Ok((splice, answer + &note))
            };
            match decide() {
                Ok((splice, answer)) => {
                    if edit.seen_by_model {
                        snapshot = policies.views.writing(&splice.pieces(content));
                    }
                    outcome = Ok(answer);
                    Some(splice)
                }
                Err(stop) => {
                    reservation.release();
                    outcome = Err(stop);
                    None
                }
            }
        };
        let done = work.mutate(Mutation::Update { path, edit: &mut decide_on });
        if let Err(error) = &done {
            reservation.failed(error);
        }
        match (done, outcome) {
            (Ok(_), Ok(answer)) => {
                reservation.commit();
                if edit.seen_by_model {
                    policies.views.remember(path, snapshot);
                }
                return Ok(answer);
            }
            (Ok(_), Err(Stop::Refused(refusal))) => return Err(refusal),
            (Ok(_), Err(Stop::Unreserved(Unreserved::Full(over)))) => {
                return Err(reservation.refusal(path, over));
            }
            // The tree cannot be measured during an edit. Measure it now, then try again.
            (Ok(_), Err(Stop::Unreserved(Unreserved::Unsure))) => reservation.measure(store)?,
            // A directory counts as missing (documentation of the tool).
            (
                Err(StoreError::NotFound | StoreError::IsADirectory | StoreError::NotADirectory),
                _,
            ) => return Err((edit.missing)(path)),
            (Err(StoreError::OverLimit { bytes, files }), _) => {
                return Err(reservation.refused_by(store, path, bytes, files));
            }
            (Err(error), _) => return Err(reply::condition(path, error)),
        }
    }
}
