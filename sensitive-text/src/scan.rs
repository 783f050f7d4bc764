//! Finds sensitive text, and replaces it by marks.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::built_in;
use super::custom_rules::SensitiveRule;
use super::{cards, keywords, steps};

/// A piece of sensitive text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding<'r> {
    /// The id of the rule that found it. If several rules did, the one with the highest precedence.
    pub rule: &'r str,
    /// The range of the secret itself, in bytes. Findings are ascending and do not overlap.
    pub range: Range<usize>,
    /// The range of the secret with its context, such as the name that it is assigned to.
    pub extent: Range<usize>,
    /// The position of the rule in the order of precedence.
    rank: usize,
}

impl Finding<'_> {
    /// The same finding in a text that starts `by` bytes later.
    pub(super) fn moved_back(&self, by: usize) -> Self {
        let moved = |range: &Range<usize>| range.start.saturating_sub(by)..range.end - by;
        Self { range: moved(&self.range), extent: moved(&self.extent), ..self.clone() }
    }
}

/// Finds the sensitive text in `text`, with the built-in rules and the custom rules `own`, which take precedence.
///
/// The time is linear in the length of the text, whatever the text is.
///
/// ```
/// use memdir_sensitive_text::find;
///
/// let text = "staging: postgres://app:t7Kq-9zLw2@db/app";
/// let found = find(text, &[]);
/// assert_eq!((found[0].rule, &text[found[0].range.clone()]), ("url-password", "t7Kq-9zLw2"));
/// ```
#[must_use]
pub fn find<'r>(text: &str, own: &'r [SensitiveRule]) -> Vec<Finding<'r>> {
    let mut found = Vec::new();
    for (rank, rule) in own.iter().enumerate() {
        find_own(text, rank, rule, &mut found);
    }
    let first = own.len();
    // The end of each rule's last finding.
    let mut done = vec![0; built_in::count()];
    keywords::each(text, |number, keyword| {
        if keyword.start < done[number] {
            return;
        }
        let Some(rule) = built_in::rule(number) else { return };
        if let Some((extent, range)) = rule.look(text, &keyword) {
            done[number] = extent.end;
            found.push(Finding { rule: rule.id, range, extent, rank: first + number });
        }
    });
    cards::each(text, |range| {
        let extent = range.clone();
        found.push(Finding { rule: cards::ID, range, extent, rank: usize::MAX });
    });
    merged(found)
}

fn find_own<'r>(text: &str, rank: usize, rule: &'r SensitiveRule, found: &mut Vec<Finding<'r>>) {
    rule.each_match(text, |extent, range| {
        if !range.is_empty() {
            found.push(Finding { rule: rule.id(), range, extent, rank });
        }
    });
}

/// Merges overlapping findings, so no part of a secret is missed.
fn merged(mut found: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    steps::add(found.len());
    found.sort_by_key(|a| (a.range.start, a.rank));
    let mut merged: Vec<Finding<'_>> = Vec::with_capacity(found.len());
    for finding in found {
        match merged.last_mut() {
            Some(last) if finding.range.start < last.range.end => {
                last.range.end = last.range.end.max(finding.range.end);
                last.extent.start = last.extent.start.min(finding.extent.start);
                last.extent.end = last.extent.end.max(finding.extent.end);
                if finding.rank < last.rank {
                    (last.rule, last.rank) = (finding.rule, finding.rank);
                }
            }
            _ => merged.push(finding),
        }
    }
    merged
}

/// The line of each finding in `text`, counted from 1, and its rule. It is the line where the finding starts.
///
/// `findings` are some or all of those that [`find`] returned for this text, in their order.
#[must_use]
pub fn numbered<'r>(text: &str, findings: &[Finding<'r>]) -> Vec<(u64, &'r str)> {
    numbered_after(0, text, findings)
}

/// As [`numbered`], for a text after `lines_before` other lines. The findings are ascending, so one pass counts the
/// lines.
pub(super) fn numbered_after<'r>(
    lines_before: u64,
    text: &str,
    findings: &[Finding<'r>],
) -> Vec<(u64, &'r str)> {
    let (mut line, mut at) = (lines_before + 1, 0);
    let mut number = |found: &Finding<'r>| {
        let passed = &text.as_bytes()[at..found.range.start];
        steps::add(passed.len());
        line += memchr_iter(b'\n', passed).count() as u64;
        at = found.range.start;
        (line, found.rule)
    };
    findings.iter().map(&mut number).collect()
}

/// The mark for a finding of `rule`: `[REDACTED:rule]`.
#[must_use]
pub fn mark(rule: &str) -> String {
    format!("{MARK}{rule}]")
}

/// Whether a text contains the start of a [`mark`], so it may come from a redacted text.
#[must_use]
pub fn has_mark(text: &str) -> bool {
    text.contains(MARK)
}

/// The start of each mark.
const MARK: &str = "[REDACTED:";

/// The text with `[REDACTED:rule]` instead of everything that [`find`] finds in it. The line numbers stay the same.
#[must_use]
pub fn redacted<'t>(text: &'t str, own: &[SensitiveRule]) -> Cow<'t, str> {
    let findings = find(text, own);
    if findings.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(redact(text, &findings)) }
}

/// The text with `[REDACTED:rule]` instead of each finding. A finding of several lines gets the mark on each of them,
/// so the line numbers stay the same.
///
/// `findings` are some or all of those that [`find`] returned for this text.
#[must_use]
pub fn redact(text: &str, findings: &[Finding<'_>]) -> String {
    steps::add(text.len());
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.push_str(&text[at..finding.range.start]);
        for line in text[finding.range.clone()].split_inclusive('\n') {
            let body = line.strip_suffix("\r\n").or(line.strip_suffix('\n')).unwrap_or(line);
            if !body.is_empty() {
                out.push_str(&mark(finding.rule));
            }
            out.push_str(&line[body.len()..]);
        }
        at = finding.range.end;
    }
    out.push_str(&text[at..]);
    out
}
