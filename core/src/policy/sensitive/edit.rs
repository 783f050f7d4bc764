//! What sensitive text means for a command: what is judged, and what comes of it.
//!
//! An edit is judged by the whole file that would result, so that one which only completes a secret
//! is noticed. What counts are the findings that it made: somebody else's secret elsewhere in the
//! file, or right beside the new text, does not stand in the way.

use std::borrow::Cow;

use super::Sensitive;
use super::scan::{Finding, MARK, find, redact};
use crate::error::Error;
use crate::options::Options;
use crate::path::MemoryPath;
use crate::reply;
use crate::store::Splice;
use crate::text::line_at;

/// What is to be written instead, and the sentence that says so.
pub(crate) struct Redacted<T> {
    pub(crate) instead: T,
    pub(crate) note: String,
}

/// Judges a path that is to be made. No mode changes it: a file of another name is not what the
/// model asked for.
pub(crate) fn judge_path(options: &Options, path: &MemoryPath) -> Result<(), Error> {
    if options.sensitive == Sensitive::Off {
        return Ok(());
    }
    let findings = find(path.as_str(), &options.sensitive_rules);
    if findings.is_empty() { Ok(()) } else { Err(reply::sensitive_path(&rules(&findings))) }
}

/// Judges the content of a new file; `None` if it may be written as it is.
pub(crate) fn judge_content(
    options: &Options,
    path: &MemoryPath,
    content: &str,
) -> Result<Option<Redacted<String>>, Error> {
    if options.sensitive == Sensitive::Off {
        return Ok(None);
    }
    let findings = find(content, &options.sensitive_rules);
    if findings.is_empty() {
        return Ok(None);
    }
    let note = verdict(options, path, content, &findings)?;
    Ok(Some(Redacted { instead: redact(content, &findings), note }))
}

/// Judges a change of `old`; `None` if it may be made as it is.
pub(crate) fn judge_splice(
    options: &Options,
    path: &MemoryPath,
    old: &str,
    splice: &Splice,
) -> Result<Option<Redacted<Splice>>, Error> {
    if options.sensitive == Sensitive::Off {
        return Ok(None);
    }
    let new = String::from_utf8(splice.apply(old.as_bytes())).map_err(|_| reply::not_text(path))?;
    let mut findings = find(&new, &options.sensitive_rules);
    keep_made(&mut findings, options, old, splice);
    let (Some(first), Some(last)) = (findings.first(), findings.last()) else { return Ok(None) };
    let note = verdict(options, path, &new, &findings)?;

    // The new text, and what of the findings lies on either side of it.
    let inserted = splice.range.start..splice.range.start + splice.text.len();
    let from = inserted.start.min(first.range.start);
    let to = inserted.end.max(last.range.end);
    let shifted: Vec<Finding<'_>> = findings.iter().map(|found| found.moved_back(from)).collect();
    let instead = Splice {
        range: from..splice.range.end + (to - inserted.end),
        text: redact(&new[from..to], &shifted).into_bytes(),
    };
    Ok(Some(Redacted { instead, note }))
}

/// Keeps the findings that the change made: which touch the new text, and were not there before.
fn keep_made(findings: &mut Vec<Finding<'_>>, options: &Options, old: &str, splice: &Splice) {
    let inserted = splice.range.start..splice.range.start + splice.text.len();
    findings
        .retain(|found| found.extent.start <= inserted.end && found.extent.end >= inserted.start);
    // One that only adjoins the new text may have been there already.
    let beside = |found: &Finding<'_>| {
        found.extent.end <= inserted.start || found.extent.start >= inserted.end
    };
    if !findings.iter().any(beside) {
        return;
    }
    let before = find(old, &options.sensitive_rules);
    findings.retain(|found| {
        let after = found.extent.start >= inserted.end;
        let was_at =
            |place: usize| if after { place - inserted.end + splice.range.end } else { place };
        let range = was_at(found.range.start)..was_at(found.range.end);
        !beside(found) || !before.iter().any(|was| was.rule == found.rule && was.range == range)
    });
}

/// The note about what was redacted, or the refusal.
fn verdict(
    options: &Options,
    path: &MemoryPath,
    text: &str,
    findings: &[Finding<'_>],
) -> Result<String, Error> {
    let named: Vec<(u64, &str)> = findings
        .iter()
        .map(|found| (line_at(text.as_bytes(), found.range.start), found.rule))
        .collect();
    match options.sensitive {
        Sensitive::Redact => Ok(reply::redacted(&named)),
        _ => Err(reply::sensitive(path, &named)),
    }
}

fn rules<'r>(findings: &[Finding<'r>]) -> Vec<&'r str> {
    let mut rules: Vec<&str> = findings.iter().map(|found| found.rule).collect();
    rules.dedup();
    rules
}

/// The text as a view shows it. Its lines keep their numbers.
pub(crate) fn shown<'t>(options: &Options, text: &'t str) -> Cow<'t, str> {
    if !options.sensitive_on_view {
        return Cow::Borrowed(text);
    }
    let findings = find(text, &options.sensitive_rules);
    if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(redact(text, &findings)) }
}

/// Whether a text that the file does not hold was copied from a view that hid something.
pub(crate) fn has_mark(options: &Options, text: &str) -> bool {
    options.sensitive_on_view && text.contains(MARK)
}
