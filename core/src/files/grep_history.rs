//! `grep_history`: searches the history for lines and names that the files no longer have.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::str::Utf8Error;

use memdir_store::path::MemoryPath;
use serde::Serialize;

use super::grep::GrepQuery;
use crate::history::{HistoryError, HistoryReader, LinesOf, Version};
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::store::Context;
use crate::text::excerpt;

/// A line or a name that is in the history, but not in the current files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistoryMatch {
    /// The newest version that has the line or the name.
    pub version: Version,
    /// The 1-based number of the line. `None` if the name matches.
    pub line: Option<u64>,
    /// The line, or the name. A long line is cut around the match, with `…` where text is left out.
    pub text: String,
}

/// Returns the first `limit` matches, newest first.
pub(crate) fn grep_history(
    context: &Context,
    reader: &HistoryReader,
    policies: &Policies,
    path: &MemoryPath,
    query: &GrepQuery,
    limit: usize,
) -> Result<Vec<HistoryMatch>, HistoryError> {
    let reading = reader.history_snapshot(context)?;
    let mut old_lines = reading.old_lines();
    let mut found = Vec::new();
    // For each file, the lines that it has now, and those of its newer versions.
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
        let Some(lines) = old_lines.of(&listed)? else { continue };
        let first =
            lines.content[..lines.lines.start].iter().filter(|byte| **byte == b'\n').count();
        let Ok(text) = shown(policies, query, &lines) else {
            old_lines.forget(&listed);
            continue;
        };
        let known = known.entry(listed.file).or_default();
        for (line, number) in text.lines().zip(first as u64 + 1..) {
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

/// Returns the lines to search, as a view of the version shows them.
fn shown<'c>(
    policies: &Policies,
    query: &GrepQuery,
    lines: &LinesOf<'c>,
) -> Result<Cow<'c, str>, Utf8Error> {
    let text = std::str::from_utf8(&lines.content[lines.lines.clone()])?;
    let settings = &policies.sensitive;
    if !settings.on_view {
        return Ok(Cow::Borrowed(text));
    }
    // The lines around a line may decide whether it is sensitive, but checking them in all versions is slow.
    let has_match = |text: &str| text.lines().any(|line| query.find(line).is_some());
    if !has_match(text) && !has_match(&sensitive::shown(settings, text)) {
        return Ok(Cow::Borrowed(""));
    }
    let before = std::str::from_utf8(&lines.content[..lines.lines.start])?.matches('\n').count();
    let all = sensitive::shown(settings, std::str::from_utf8(lines.content)?);
    let shown = all.split_inclusive('\n').skip(before);
    Ok(Cow::Owned(shown.take(text.split_inclusive('\n').count()).collect()))
}
