//! Renders a unified diff as a table, in one column or in two.

use maud::{Markup, html};

use super::odd::shown_line;

/// The maximum number of lines shown of a diff.
const MAX_LINES: usize = 4_000;

/// The arrangement of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::page) enum Layout {
    Inline,
    SideBySide,
}

/// One line of a diff, with its number before and after.
#[derive(Debug, PartialEq, Eq)]
enum Line<'d> {
    /// Lines are omitted before this one.
    Gap,
    Same(usize, usize, &'d str),
    Removed(usize, &'d str),
    Added(usize, &'d str),
    /// A note about the line before.
    Note(&'d str),
}

/// Renders a diff made by `text::unified_diff`.
pub(in crate::page) fn diff(diff: &str, layout: Layout) -> Markup {
    if diff.starts_with("Binary files") {
        return html! { p.note { "The contents differ, and are not text." } };
    }
    let (lines, is_cut) = lines(diff);
    if lines.is_empty() {
        return html! { p.note { "The contents are the same." } };
    }
    html! {
        div.diff tabindex="0" role="region" aria-label="Difference" {
            table.side[layout == Layout::SideBySide] {
                @match layout {
                    Layout::Inline => colgroup { col.number; col.number; col.sign; col; },
                    Layout::SideBySide => colgroup { col.number; col; col.number; col; },
                }
                tbody {
                    @match layout {
                        Layout::Inline => (inline(&lines)),
                        Layout::SideBySide => (side_by_side(&lines)),
                    }
                }
            }
        }
        @if is_cut { p.note { "The diff is longer. Its first " (MAX_LINES) " lines are shown." } }
    }
}

fn lines(diff: &str) -> (Vec<Line<'_>>, bool) {
    let mut lines = Vec::new();
    let (mut old, mut new) = (0, 0);
    // Names are only before the first hunk. The text of a hunk may look like them.
    let mut is_within = false;
    for line in diff.split_terminator('\n') {
        if lines.len() >= MAX_LINES {
            return (lines, true);
        }
        let Some(mark) = line.chars().next() else { continue };
        let text = line.get(mark.len_utf8()..).unwrap_or_default();
        match mark {
            '@' => {
                is_within = true;
                (old, new) = starts(line).unwrap_or((0, 0));
                if old > 1 || new > 1 {
                    lines.push(Line::Gap);
                }
            }
            _ if !is_within => {}
            '-' => {
                lines.push(Line::Removed(old, text));
                old += 1;
            }
            '+' => {
                lines.push(Line::Added(new, text));
                new += 1;
            }
            '\\' => lines.push(Line::Note(text.trim())),
            _ => {
                lines.push(Line::Same(old, new, text));
                (old, new) = (old + 1, new + 1);
            }
        }
    }
    (lines, false)
}

/// The first line numbers of a hunk, from `@@ -1,2 +3,4 @@`.
fn starts(hunk: &str) -> Option<(usize, usize)> {
    let mut parts = hunk.split(' ').skip(1);
    let mut start = |sign| {
        let range = parts.next()?.strip_prefix(sign)?;
        range.split(',').next()?.parse().ok()
    };
    Some((start('-')?, start('+')?))
}

fn inline(lines: &[Line<'_>]) -> Markup {
    let row = |kind: &str, old: Option<usize>, new: Option<usize>, sign: &str, text: &str| {
        html! {
            tr.(kind) {
                td.number data-number=[old] {}
                td.number data-number=[new] {}
                td.sign { (sign) }
                td.text { code { (shown_line(text, &[])) } }
            }
        }
    };
    html! {
        @for line in lines {
            @match line {
                Line::Gap => tr.gap { td colspan="4" { "⋯" } },
                Line::Same(old, new, text) => (row("same", Some(*old), Some(*new), " ", text)),
                Line::Removed(old, text) => (row("removed", Some(*old), None, "−", text)),
                Line::Added(new, text) => (row("added", None, Some(*new), "+", text)),
                Line::Note(text) => tr.about { td colspan="3" {} td { (text) } },
            }
        }
    }
}

fn side_by_side(lines: &[Line<'_>]) -> Markup {
    let cell = |kind: &str, side: Option<&(usize, &str)>| {
        html! {
            @if let Some((number, text)) = side {
                td.number data-number=(number) {}
                td.text.(kind) { code { (shown_line(text, &[])) } }
            } @else {
                td.number {}
                td.text.nothing {}
            }
        }
    };
    let mut rows = Vec::new();
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    let pair = |removed: &mut Vec<(usize, &str)>,
                added: &mut Vec<(usize, &str)>,
                rows: &mut Vec<Markup>| {
        for at in 0..removed.len().max(added.len()) {
            rows.push(html! {
                tr { (cell("removed", removed.get(at))) (cell("added", added.get(at))) }
            });
        }
        removed.clear();
        added.clear();
    };
    for line in lines {
        match line {
            Line::Removed(number, text) => removed.push((*number, *text)),
            Line::Added(number, text) => added.push((*number, *text)),
            Line::Note(_) => {}
            Line::Gap => {
                pair(&mut removed, &mut added, &mut rows);
                rows.push(html! { tr.gap { td colspan="4" { "⋯" } } });
            }
            Line::Same(old, new, text) => {
                pair(&mut removed, &mut added, &mut rows);
                rows.push(html! {
                    tr.same { (cell("same", Some(&(*old, *text)))) (cell("same", Some(&(*new, *text)))) }
                });
            }
        }
    }
    pair(&mut removed, &mut added, &mut rows);
    html! { @for row in rows { (row) } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir::text::unified_diff;

    #[test]
    fn lines_are_read_from_a_diff_with_their_numbers() {
        let made = unified_diff("a", b"one\n-- two\nthree", "a", b"one\n++ 2\nthree\n");
        assert_eq!(
            lines(&made).0,
            [
                Line::Same(1, 1, "one"),
                Line::Removed(2, "-- two"),
                Line::Removed(3, "three"),
                Line::Note("No newline at end of file"),
                Line::Added(2, "++ 2"),
                Line::Added(3, "three"),
            ]
        );
        let shown = diff(&made, Layout::SideBySide).into_string();
        assert!(shown.contains("-- two") && shown.contains("++ 2"), "{shown}");
        let shown = diff(&made, Layout::Inline).into_string();
        assert_eq!(shown.matches("<tr class=\"removed\"").count(), 2, "{shown}");
        let note = "<tr class=\"about\"><td colspan=\"3\"></td><td>No newline at end of file</td>";
        assert!(shown.contains(note), "{shown}");
    }

    #[test]
    fn a_diff_of_nothing_and_one_of_no_text_say_so() {
        assert!(diff("", Layout::Inline).into_string().contains("are the same"));
        let binary = unified_diff("a", b"\xff", "a", b"b");
        assert!(diff(&binary, Layout::Inline).into_string().contains("not text"));
        let long: String = (0..MAX_LINES + 10).map(|number| format!("{number}\n")).collect();
        let shown =
            diff(&unified_diff("a", b"", "a", long.as_bytes()), Layout::Inline).into_string();
        assert!(shown.contains("is longer"));
    }
}
