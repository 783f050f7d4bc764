//! Renders a text with the line numbers that the model sees.

use std::ops::Range;

use maud::{Markup, html};

use super::odd::shown_line;

/// The maximum number of lines on a page, because browsers are slow with more.
pub(in crate::page) const PAGE_LINES: usize = 2_000;

/// The highlights and notes in the lines of a text.
#[derive(Clone, Copy)]
pub(in crate::page) struct Notices<'n> {
    /// The rules that match the line with this number.
    pub(in crate::page) rules: &'n dyn Fn(u64) -> Vec<String>,
    /// The places in a line that match the search, in bytes.
    pub(in crate::page) found: &'n dyn Fn(&str) -> Vec<Range<usize>>,
    /// The first and the last line of the passage that a ranked search found.
    pub(in crate::page) passage: Option<(u64, u64)>,
    /// The version that added the line with this number, in its own column.
    pub(in crate::page) origin: Option<&'n dyn Fn(u64) -> Markup>,
}

/// No highlights and no notes.
impl Default for Notices<'_> {
    fn default() -> Self {
        Self { rules: &|_| Vec::new(), found: &|_| Vec::new(), passage: None, origin: None }
    }
}

/// The number of the first line of the part that contains a line, for an address.
pub(in crate::page) fn first_of_part(line: u64) -> String {
    let lines = PAGE_LINES as u64;
    ((line - 1) / lines * lines + 1).to_string()
}

/// The lines from number `first` on, at most [`PAGE_LINES`].
pub(in crate::page) fn source(text: &str, first: usize, notices: Notices<'_>) -> Markup {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let wanted = (1_u64..).zip(lines).skip(first.saturating_sub(1)).take(PAGE_LINES);
    html! {
        // The element scrolls, so it must be reachable by keyboard.
        div.source tabindex="0" role="region" aria-label="Source" {
            @for (number, line) in wanted {
                @let rules = (notices.rules)(number);
                @let is_passage = notices.passage.is_some_and(|(first, last)| first <= number && number <= last);
                div.line.marked[!rules.is_empty()].passage[is_passage] id={ "L" (number) } {
                    @if let Some(origin) = notices.origin { span.origin { (origin(number)) } }
                    span.number aria-hidden="true" data-number=(number) {}
                    code { (shown_line(line, &(notices.found)(line))) }
                    @for rule in rules { span.rule { (rule) } }
                }
            }
        }
    }
}

/// The first lines of a text without highlights.
pub(in crate::page) fn plain_source(text: &str) -> Markup {
    source(text, 1, Notices::default())
}

/// Links to the other parts of a long text, from the part that starts with line `first`. `part` makes the address of the
/// part with a line.
pub(in crate::page) fn parts(total: usize, first: usize, part: &dyn Fn(usize) -> String) -> Markup {
    let last = total.min(first.saturating_add(PAGE_LINES - 1));
    html! {
        @if total > PAGE_LINES {
            nav.pager aria-label="Parts" {
                @if first > 1 { a href=(part(first.saturating_sub(PAGE_LINES).max(1))) { "Earlier lines" } }
                span { "Lines " (first) " to " (last) " of " (total) }
                @if last < total { a href=(part(last + 1)) { "Further lines" } }
            }
        }
    }
}
