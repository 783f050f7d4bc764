//! Checks the paths and texts of commands for sensitive text.
//!
//! For an edit, the whole file that would result is checked, or the part of it that can matter
//! (`context_window`). So an edit that completes a secret is found. Only findings that the edit introduces
//! count: a secret that is already in the file, even right beside the new text, does not prevent the edit.

use std::borrow::Cow;

use memchr::memchr_iter;

use super::context_window::ContextWindow;
use super::scan::{Finding, MARK, find, mark, redact};
use super::{SensitiveText, Settings, steps};
use crate::error::Error;
use crate::path::MemoryPath;
use crate::reply;
use crate::text::Splice;
use crate::text::{Snippet, count_lines};

/// The text to write instead, and the line of the reply that says so.
pub(crate) struct Redacted<T> {
    pub(crate) instead: T,
    pub(crate) note: String,
}

/// Checks a new path. It is never redacted, because the model did not ask for a file of another name.
pub(crate) fn check_path(settings: &Settings, path: &MemoryPath) -> Result<(), Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(());
    }
    let findings = find(path.as_str(), &settings.rules);
    if findings.is_empty() { Ok(()) } else { Err(reply::sensitive_path(&rules(&findings))) }
}

/// A path for logs, spans and events of hooks. If an option about sensitive text is set, a mark replaces each
/// finding.
pub(crate) fn redact_path(settings: &Settings, path: MemoryPath) -> MemoryPath {
    if settings.mode == SensitiveText::Off && !settings.on_view {
        return path;
    }
    let findings = find(path.as_str(), &settings.rules);
    let Some(first) = findings.first() else { return path };
    let name = mark(first.rule);
    // A path with marks may be too long, and a finding may begin before the first name.
    MemoryPath::parse(&redact(path.as_str(), &findings))
        .or_else(|_| MemoryPath::root().join(&name))
        .unwrap_or_else(|_| MemoryPath::root())
}

/// The details of a failure for a log, with `[REDACTED:rule]` in the place of each finding.
#[cfg(feature = "tracing")]
pub(crate) fn redact_details(settings: &Settings, details: String) -> String {
    if settings.mode == SensitiveText::Off && !settings.on_view {
        return details;
    }
    redact(&details, &find(&details, &settings.rules))
}

/// Checks the content of a new file; `None` if it may be written as it is.
pub(crate) fn check_content(
    settings: &Settings,
    path: &MemoryPath,
    content: &str,
) -> Result<Option<Redacted<String>>, Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(None);
    }
    let findings = find(content, &settings.rules);
    if findings.is_empty() {
        return Ok(None);
    }
    let note = note_or_refusal(settings, path, 0, content, &findings)?;
    Ok(Some(Redacted { instead: redact(content, &findings), note }))
}

/// Checks a change of `old`; `None` if it may be made as it is.
pub(crate) fn check_splice(
    settings: &Settings,
    path: &MemoryPath,
    old: &str,
    splice: &Splice,
) -> Result<Option<Redacted<Splice>>, Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(None);
    }
    let window = ContextWindow::around(old.as_bytes(), splice, &settings.rules);
    check_window(settings, path, old, splice, &window)
}

pub(super) fn check_window(
    settings: &Settings,
    path: &MemoryPath,
    old: &str,
    splice: &Splice,
    window: &ContextWindow,
) -> Result<Option<Redacted<Splice>>, Error> {
    let new = std::str::from_utf8(&window.new).map_err(|_| reply::not_text(path))?;
    let mut findings = find(new, &settings.rules);
    keep_made(&mut findings, settings, old, splice, window);
    let (Some(first), Some(last)) = (findings.first(), findings.last()) else { return Ok(None) };
    let before = count_lines(&old.as_bytes()[..window.old.start]);
    let note = note_or_refusal(settings, path, before, new, &findings)?;

    // The new text, and the parts of the findings on either side of it.
    let inserted = &window.inserted;
    let from = inserted.start.min(first.range.start);
    let to = inserted.end.max(last.range.end);
    let shifted: Vec<Finding<'_>> = findings.iter().map(|found| found.moved_back(from)).collect();
    let instead = Splice {
        range: window.old.start + from..splice.range.end + (to - inserted.end),
        text: redact(&new[from..to], &shifted).into_bytes(),
    };
    Ok(Some(Redacted { instead, note }))
}

/// Keeps the findings that the change introduced: those that touch the new text and were not there before.
fn keep_made(
    findings: &mut Vec<Finding<'_>>,
    settings: &Settings,
    old: &str,
    splice: &Splice,
    window: &ContextWindow,
) {
    let inserted = &window.inserted;
    findings
        .retain(|found| found.extent.start <= inserted.end && found.extent.end >= inserted.start);
    // A finding that only adjoins the new text may have been there before.
    let beside = |found: &Finding<'_>| {
        found.extent.end <= inserted.start || found.extent.start >= inserted.end
    };
    if !findings.iter().any(beside) {
        return;
    }
    let before = find(&old[window.old.clone()], &settings.rules);
    let replaced_end = splice.range.end - window.old.start;
    findings.retain(|found| {
        let after = found.extent.start >= inserted.end;
        let was_at = |place: usize| if after { place - inserted.end + replaced_end } else { place };
        let range = was_at(found.range.start)..was_at(found.range.end);
        !beside(found) || !before.iter().any(|was| was.rule == found.rule && was.range == range)
    });
}

/// The line about redacted text, or the refusal; `before` is the number of lines before `text`.
fn note_or_refusal(
    settings: &Settings,
    path: &MemoryPath,
    before: u64,
    text: &str,
    findings: &[Finding<'_>],
) -> Result<String, Error> {
    let named = numbered(before, text, findings);
    match settings.mode {
        SensitiveText::Redact => Ok(reply::redacted(&named)),
        _ => Err(reply::sensitive(path, &named)),
    }
}

/// Each finding's rule, with the number of the line where it begins. The findings are ascending, so one pass
/// counts the lines.
fn numbered<'r>(before: u64, text: &str, findings: &[Finding<'r>]) -> Vec<(u64, &'r str)> {
    let (mut line, mut at) = (before + 1, 0);
    let mut number = |found: &Finding<'r>| {
        let passed = &text.as_bytes()[at..found.range.start];
        steps::add(passed.len());
        line += memchr_iter(b'\n', passed).count() as u64;
        at = found.range.start;
        (line, found.rule)
    };
    findings.iter().map(&mut number).collect()
}

fn rules<'r>(findings: &[Finding<'r>]) -> Vec<&'r str> {
    let mut rules: Vec<&str> = findings.iter().map(|found| found.rule).collect();
    rules.dedup();
    rules
}

/// The text with marks, as a view shows it. Its lines keep their numbers.
pub(crate) fn shown<'t>(settings: &Settings, text: &'t str) -> Cow<'t, str> {
    if !settings.on_view {
        return Cow::Borrowed(text);
    }
    let findings = find(text, &settings.rules);
    if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(redact(text, &findings)) }
}

/// A snippet of the file after a change, as a view shows its lines.
pub(crate) fn shown_lines(
    settings: &Settings,
    path: &MemoryPath,
    old: &[u8],
    splice: &Splice,
    snippet: Snippet,
) -> Result<Snippet, Error> {
    if !settings.on_view {
        return Ok(snippet);
    }
    let text = |bytes| std::str::from_utf8(bytes).map_err(|_| reply::not_text(path));
    if ContextWindow::lines_alone(old, splice, &snippet, &settings.rules) {
        let shown = shown(settings, text(&snippet.text)?).into_owned().into_bytes();
        return Ok(Snippet { text: shown, ..snippet });
    }
    let new = splice.apply(old);
    let new = shown(settings, text(&new)?);
    let skipped = usize::try_from(snippet.first - 1).unwrap_or(usize::MAX);
    let count = usize::try_from(count_lines(&snippet.text)).unwrap_or(usize::MAX);
    let lines: String = new.split_inclusive('\n').skip(skipped).take(count).collect();
    Ok(Snippet { first: snippet.first, text: lines.into_bytes() })
}

/// Whether a text that is not in the file may come from a view with marks.
pub(crate) fn has_mark(settings: &Settings, text: &str) -> bool {
    settings.on_view && text.contains(MARK)
}
