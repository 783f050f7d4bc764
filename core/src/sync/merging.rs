//! Merges the changes that both memories made to a file.

use super::baseline::{Agreed, Baseline};
use super::both::{Both, SyncSide};
use super::error::SyncError;
use super::link::Link;
use crate::text::{merge, union};

/// The contents of both memories with the changes of both; `None` if both changed the same lines in different ways, or one of them is not text.
///
/// Both results are the same, unless one of the memories has redacted a part. Then each memory gets the changes that the other one made to its
/// own content, and so neither a redaction nor the redacted text.
pub(super) fn merged(
    link: &Link<'_>,
    baseline: &Baseline,
    agreed: Option<&Agreed>,
    contents: &Both<Vec<u8>>,
) -> Result<Option<Both<String>>, SyncError> {
    let Some(agreed) = agreed else { return Ok(None) };
    let (Ok(a), Ok(b)) = (str::from_utf8(&contents.a), str::from_utf8(&contents.b)) else {
        return Ok(None);
    };
    let base = |of: SyncSide| -> Result<Option<String>, SyncError> {
        let file = agreed.texts[of].and_then(|text| baseline.text_files.get(text));
        file.map_or(Ok(None), |file| link.text(&file.name, &agreed.digests[of]))
    };
    let Some(base_a) = base(SyncSide::A)? else { return Ok(None) };
    let for_b = merged_texts(&base_a, a, b);
    let for_a = if agreed.is_equal() {
        for_b.clone()
    } else {
        base(SyncSide::B)?.and_then(|base_b| merged_texts(&base_b, a, b))
    };
    Ok(for_a.zip(for_b).map(|(a, b)| Both { a, b }))
}

fn merged_texts(base: &str, a: &str, b: &str) -> Option<String> {
    if let (Some(added), Some(also)) = (added(base, a), added(base, b)) {
        let kept = &a[..a.len() - added.len()];
        return Some(format!("{kept}{}", union(added, also)));
    }
    let merged = merge(base, a, b);
    (merged.conflicts == 0).then_some(merged.text)
}

/// The lines that were only added at the end; `None` if anything else was changed.
fn added<'t>(base: &str, text: &'t str) -> Option<&'t str> {
    let rest = text.strip_prefix(base)?;
    if base.is_empty() || base.ends_with('\n') { Some(rest) } else { rest.strip_prefix('\n') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_merged() {
        let merged = merged_texts("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n");
        assert_eq!(merged.as_deref(), Some("A\nb\nC\n"));
    }

    #[test]
    fn lines_that_both_add_at_the_end_are_all_kept() {
        for (base, a, b, both) in [
            ("a\n", "a\nx\n", "a\ny\n", "a\nx\ny\n"),
            ("", "x\n", "y\n", "x\ny\n"),
            ("a", "a\nx", "a\ny", "a\nx\ny"),
            ("a\n", "a\nx\n", "a\nx\ny\n", "a\nx\ny\n"),
            ("a\n", "a\nx\ny\n", "a\nz\nx\ny\n", "a\nz\nx\ny\n"),
        ] {
            assert_eq!(merged_texts(base, a, b).as_deref(), Some(both));
        }
    }

    #[test]
    fn different_changes_of_the_same_line_are_not_merged() {
        assert_eq!(merged_texts("a\n", "b\n", "c\n"), None);
        // Neither is a longer last line.
        assert_eq!(merged_texts("a", "ab", "ac"), None);
    }
}
