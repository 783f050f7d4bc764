//! [`check`]: a check that returns all problems together, with the counts.

use std::sync::Arc;

use memdir::store::{Cancellation, Problem, Store, StoreError};
use serde::Serialize;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checked {
    /// Directories, including the root.
    pub directories: u64,
    /// Files; each was read to its end.
    pub files: u64,
    /// The bytes that were read.
    pub bytes: u64,
    /// Versions in the store's history, each computed; `None` if the store has no history.
    pub versions: Option<u64>,
    /// The problems that were found; empty if there are none.
    pub problems: Vec<Problem>,
}

/// Same as [`memdir::check_unless`].
///
/// # Errors
/// The same cases as for [`memdir::check_unless`].
pub fn check(cancellation: &Cancellation, store: &Arc<dyn Store>) -> Result<Checked, StoreError> {
    let mut problems = Vec::new();
    let found = memdir::check_unless(cancellation, store, &mut |problem| problems.push(problem))?;
    let memdir::Checked { directories, files, bytes, versions, .. } = found;
    Ok(Checked { directories, files, bytes, versions, problems })
}
