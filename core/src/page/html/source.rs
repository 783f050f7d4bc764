//! A text with the line numbers that the model sees.

use maud::{Markup, html};

use super::odd::shown_line;

/// How many lines are shown at a time: a browser takes long for more.
pub(in crate::page) const PAGE_LINES: usize = 2_000;

/// The lines from number `first` on, at most [`PAGE_LINES`]. `marks` says what is found in a line, if anything is.
pub(in crate::page) fn source(
    text: &str,
    first: usize,
    marks: &dyn Fn(u64) -> Vec<String>,
) -> Markup {
    let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
    let wanted = (1_u64..).zip(lines).skip(first.saturating_sub(1)).take(PAGE_LINES);
    html! {
        // It scrolls, so it can be reached by the keyboard.
        div.source tabindex="0" role="region" aria-label="Source" {
            @for (number, line) in wanted {
                @let found = marks(number);
                div.line.marked[!found.is_empty()] id={ "L" (number) } {
                    span.number aria-hidden="true" data-number=(number) {}
                    code { (shown_line(line)) }
                    @for rule in found { span.rule { (rule) } }
                }
            }
        }
    }
}
