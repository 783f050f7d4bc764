//! Finds the sensitive text that an edit introduces.
//!
//! The whole text after the edit is checked, or the part of it that can matter (`context_window`). So an edit that completes a
//! secret is found. Only findings that the edit introduces count. A secret that was already in the text does not, even directly
//! beside the new part.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memchr_iter;

use super::context_window::ContextWindow;
use super::custom_rules::SensitiveRule;
use super::edit::Edit;
use super::scan::{Finding, find, numbered_after, redact, redacted};

/// The sensitive text that an [`Edit`] introduces: one finding or more.
#[derive(Debug, Clone)]
pub struct Introduced<'r> {
    window: ContextWindow,
    /// The findings in the window, in ascending order.
    findings: Vec<Finding<'r>>,
    /// The number of lines before the window.
    lines_before: u64,
    /// The end of the range that the edit replaces.
    replaced_end: usize,
}

/// An edit of the same text that inserts marks instead of sensitive text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedEdit {
    /// The bytes to replace. The original edit may replace fewer, because a secret may start before the new text.
    pub range: Range<usize>,
    /// The new text.
    pub text: String,
}

impl Edit<'_> {
    /// Finds the sensitive text that the edit introduces, with the built-in rules and the custom rules `own`. `None` if there is
    /// no such text.
    ///
    /// The time is linear in both texts.
    ///
    /// ```
    /// use memdir_sensitive_text::Edit;
    ///
    /// let old = "user: anna\nENV q7Lw4Xt9Rb1Vc6Ny\n";
    /// // A name before a value makes it a secret.
    /// let edit = Edit::new(old, 11..14, "api_key:").unwrap();
    /// let introduced = edit.find(&[]).unwrap();
    /// assert_eq!(introduced.numbered(), [(2, "secret-assignment")]);
    /// let redacted = introduced.redacted();
    /// assert_eq!((redacted.range, &*redacted.text), (11..31, "api_key: [REDACTED:secret-assignment]"));
    /// ```
    #[must_use]
    pub fn find<'r>(&self, own: &'r [SensitiveRule]) -> Option<Introduced<'r>> {
        self.find_in(ContextWindow::around(self, own), own)
    }

    pub(super) fn find_in<'r>(
        &self,
        window: ContextWindow,
        own: &'r [SensitiveRule],
    ) -> Option<Introduced<'r>> {
        let mut findings = find(&window.new, own);
        self.keep_introduced(&mut findings, &window, own);
        if findings.is_empty() {
            return None;
        }
        // The window starts at the start of a line.
        let before = &self.old.as_bytes()[..window.old.start];
        let lines_before = memchr_iter(b'\n', before).count() as u64;
        Some(Introduced { window, findings, lines_before, replaced_end: self.range.end })
    }

    /// Keeps the findings that the edit introduces: those that touch the new text and did not exist before.
    fn keep_introduced(
        &self,
        findings: &mut Vec<Finding<'_>>,
        window: &ContextWindow,
        own: &[SensitiveRule],
    ) {
        let inserted = &window.inserted;
        findings.retain(|found| {
            found.extent.start <= inserted.end && found.extent.end >= inserted.start
        });
        // A finding that only adjoins the new text may have existed before.
        let beside = |found: &Finding<'_>| {
            found.extent.end <= inserted.start || found.extent.start >= inserted.end
        };
        if !findings.iter().any(beside) {
            return;
        }
        let before = find(&self.old[window.old.clone()], own);
        let replaced_end = self.range.end - window.old.start;
        findings.retain(|found| {
            let after = found.extent.start >= inserted.end;
            let was_at =
                |place: usize| if after { place - inserted.end + replaced_end } else { place };
            let range = was_at(found.range.start)..was_at(found.range.end);
            !beside(found) || !before.iter().any(|was| was.rule == found.rule && was.range == range)
        });
    }

    /// Some lines of the text after the edit, with marks instead of all sensitive text, including text that the edit did not
    /// introduce. The result equals the same lines of [`redacted`] for the whole text.
    ///
    /// `lines` are whole lines of the text after the edit and must include all lines that the edit changes. `first` is the
    /// number of the first one, counted from 1.
    ///
    /// ```
    /// use memdir_sensitive_text::Edit;
    ///
    /// let edit = Edit::new("one\npassword: hunter22\nthree\n", 0..3, "1").unwrap();
    /// let shown = edit.redacted_lines(1, "1\npassword: hunter22\n", &[]);
    /// assert_eq!(shown, "1\npassword: [REDACTED:password-assignment]\n");
    /// ```
    #[must_use]
    pub fn redacted_lines<'l>(
        &self,
        first: u64,
        lines: &'l str,
        own: &[SensitiveRule],
    ) -> Cow<'l, str> {
        if ContextWindow::lines_alone(self, lines, own) {
            return redacted(lines, own);
        }
        let new = self.pieces().concat();
        let new = redacted(&new, own);
        let skipped = usize::try_from(first.saturating_sub(1)).unwrap_or(usize::MAX);
        let count = lines.split_inclusive('\n').count();
        Cow::Owned(new.split_inclusive('\n').skip(skipped).take(count).collect())
    }
}

impl<'r> Introduced<'r> {
    /// The line of each finding in the text after the edit, counted from 1, and its rule, in ascending order.
    #[must_use]
    pub fn numbered(&self) -> Vec<(u64, &'r str)> {
        numbered_after(self.lines_before, &self.window.new, &self.findings)
    }

    /// The edit to make instead. It replaces the new text, and the parts of the findings on either side of it.
    #[must_use]
    pub fn redacted(&self) -> RedactedEdit {
        let Self { window, findings, replaced_end, .. } = self;
        let inserted = &window.inserted;
        let from = findings.first().map_or(inserted.start, |f| f.range.start.min(inserted.start));
        let to = findings.last().map_or(inserted.end, |f| f.range.end.max(inserted.end));
        let shifted: Vec<_> = findings.iter().map(|found| found.moved_back(from)).collect();
        RedactedEdit {
            range: window.old.start + from..replaced_end + (to - inserted.end),
            text: redact(&window.new[from..to], &shifted),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_in_the_text_after_the_edit() {
        let old = "one\ntwo\nthree\nfour\n";
        let edit = Edit::new(old, 8..13, "a\nb\npwd: a1b2c3!\nc\npwd: d4e5f6!").unwrap();
        let introduced = edit.find(&[]).unwrap();
        assert_eq!(introduced.numbered(), [(5, "password-assignment"), (7, "password-assignment")]);
        let RedactedEdit { range, text } = introduced.redacted();
        assert_eq!(range, 8..13);
        let mark = "[REDACTED:password-assignment]";
        assert_eq!(text, format!("a\nb\npwd: {mark}\nc\npwd: {mark}"));
        let harmless = Edit::new(old, 8..13, "3").unwrap();
        assert!(harmless.find(&[]).is_none());
    }
}
