//! `grep_history`: what files held once, and hold no more.

use std::collections::{HashMap, HashSet};

use memdir_store::path::MemoryPath;

use super::grep::GrepQuery;
use crate::history::{HistoryError, Recorder, Version};
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::store::Context;
use crate::text::excerpt;

/// A line or a name that is in the history, and not in the files as they are.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryMatch {
    /// The newest version that has it.
    pub version: Version,
    /// The number of the line, counted from 1; `None` if the name was found.
    pub line: Option<u64>,
    /// The line, or the name. A long line is cut around the match, with `…` where something is left out.
    pub text: String,
}

/// The first `limit` matches, newest first.
pub(crate) fn grep_history(
    context: &Context,
    recorder: &Recorder,
    policies: &Policies,
    path: &MemoryPath,
    query: &GrepQuery,
    limit: usize,
) -> Result<Vec<HistoryMatch>, HistoryError> {
    let reading = recorder.history_snapshot(context)?;
    let mut found = Vec::new();
    // What each file has now, and what newer versions of it have.
    let mut known: HashMap<usize, HashSet<String>> = HashMap::new();
    let mut names: HashSet<MemoryPath> = HashSet::new();
    for listed in reading.listed(path) {
        if found.len() >= limit {
            break;
        }
        context.check()?;
        let version = &listed.version;
        let name = version.path.name().unwrap_or_default();
        if let Some(at) = query.find(name)
            && names.insert(version.path.clone())
            && !version.is_current
        {
            let (version, text) = (version.clone(), excerpt(name, at));
            found.push(HistoryMatch { version, line: None, text });
        }
        let Some(content) = reading.left_by(&listed)? else { continue };
        let Ok(content) = std::str::from_utf8(&content) else { continue };
        let known = known.entry(listed.file).or_default();
        for (line, number) in sensitive::shown(&policies.sensitive, content).lines().zip(1..) {
            if let Some(at) = query.find(line)
                && known.insert(line.to_owned())
                && !version.is_current
            {
                let (version, text) = (version.clone(), excerpt(line, at));
                found.push(HistoryMatch { version, line: Some(number), text });
            }
        }
    }
    found.truncate(limit);
    Ok(found)
}
