//! The expired files that a search leaves out before they are removed.

use std::time::SystemTime;

use memdir_store::access::is_unused;
use memdir_store::path::MemoryPath;

use super::Expiry;
use crate::policy::write_patterns::WritePatterns;
use crate::store::{Context, InContext, Store as _, StoreError, Times};

impl Expiry {
    /// Returns for each file whether it has reached the age of `expire_after`, so the next memory removes it before its first command.
    /// A file that no longer exists has. Without the option none has, and the store is not asked.
    ///
    /// # Errors
    /// Only failures of the store.
    pub(crate) fn are_expired(
        &self,
        store: &InContext<'_>,
        patterns: &WritePatterns,
        paths: &[&MemoryPath],
    ) -> Result<Vec<bool>, StoreError> {
        let since = self.settings.expire_after.and_then(|age| SystemTime::now().checked_sub(age));
        let Some(since) = since else { return Ok(vec![false; paths.len()]) };
        let context = Context::new().cancelled_by(store.cancellation());
        let is_unused = |times: Times| is_unused(times.modified, times.accessed, since);
        let unused = match store.read_times(&context, paths) {
            Ok(times) => times.into_iter().map(is_unused).collect(),
            Err(error) if error.is_failure() => return Err(error),
            // One of them is gone, so each is tried alone.
            Err(_) => {
                let unused = paths.iter().map(|path| match store.read_times(&context, &[path]) {
                    Ok(times) => Ok(times.into_iter().all(is_unused)),
                    Err(error) if error.is_failure() => Err(error),
                    Err(_) => Ok(true),
                });
                unused.collect::<Result<Vec<_>, _>>()?
            }
        };
        let all = paths.iter().zip(unused);
        Ok(all.map(|(path, is_unused)| is_unused && self.may_go(patterns, path)).collect())
    }
}
