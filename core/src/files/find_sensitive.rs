//! `find_sensitive`: finds places where a rule for sensitive text matches.

use memdir_store::Error;
use memdir_store::path::{MAX_LEVELS, MemoryPath};
use serde::Serialize;

use crate::policies::Policies;
use crate::policy::sensitive;
use crate::store::{InContext, Store as _, StoreError};

/// A place where a rule matches sensitive text. It does not contain the text itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SensitiveMatch {
    /// The path of the file, or of the entry whose name matches.
    pub path: MemoryPath,
    /// The 1-based number of the line. `None` if the match is in the name.
    pub line: Option<u64>,
    /// The id of the rule.
    pub rule: String,
}

/// Returns the first `limit` findings, ordered by path and line.
pub(crate) fn find_sensitive(
    store: &InContext<'_>,
    policies: &Policies,
    path: &MemoryPath,
    limit: usize,
) -> Result<Vec<SensitiveMatch>, Error> {
    let rules = &policies.sensitive.rules;
    let mut found = Vec::new();
    for entry in super::list(store, path, MAX_LEVELS)? {
        if found.len() >= limit {
            break;
        }
        store.check().map_err(Error::Store)?;
        let name = entry.path.name().unwrap_or_default();
        for finding in sensitive::find(name, rules) {
            let (path, rule) = (entry.path.clone(), finding.rule.to_owned());
            found.push(SensitiveMatch { path, line: None, rule });
        }
        if entry.is_file()
            && let Some(text) = text(store, &entry.path)?
        {
            let findings = sensitive::find(&text, rules);
            for (line, rule) in sensitive::numbered(&text, &findings) {
                let (path, rule) = (entry.path.clone(), rule.to_owned());
                found.push(SensitiveMatch { path, line: Some(line), rule });
            }
        }
    }
    found.truncate(limit);
    Ok(found)
}

/// Returns the text of a file, or `None` if it was removed, cannot be read, or is not text.
fn text(store: &InContext<'_>, path: &MemoryPath) -> Result<Option<String>, Error> {
    match store.read(path) {
        Ok(content) => Ok(String::from_utf8(content).ok()),
        Err(error @ (StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled)) => {
            Err(Error::Store(error))
        }
        Err(_) => Ok(None),
    }
}
