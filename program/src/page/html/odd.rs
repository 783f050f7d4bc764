//! Shows characters that are invisible or that change how others are shown.
//!
//! A model may write them to hide something from a person: control characters, marks that change the direction of writing, letters
//! without width, and the invisible copies of ASCII that some models read.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::{Range, RangeInclusive};

use maud::{Markup, html};

/// Characters that are invisible to a person or misleading, including most control characters.
const ODD: [RangeInclusive<char>; 20] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200c}',
    '\u{200e}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{3164}'..='\u{3164}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff9}'..='\u{fffb}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
    // The control characters, except line endings and tabs.
    '\0'..='\u{8}',
    '\u{b}'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
];

/// Characters that an editor reports in addition: spaces that programs do not treat as a space.
const SPACES: [RangeInclusive<char>; 5] = [
    '\u{a0}'..='\u{a0}',
    '\u{1680}'..='\u{1680}',
    '\u{2000}'..='\u{200a}',
    '\u{202f}'..='\u{202f}',
    '\u{205f}'..='\u{205f}',
];

/// Whether the character is invisible to a person or misleading.
pub(super) fn is_odd(c: char) -> bool {
    ODD.iter().any(|range| range.contains(&c))
}

fn is_odd_to_edit(c: char) -> bool {
    is_odd(c) || SPACES.iter().any(|range| range.contains(&c))
}

/// The list below an editor of the invisible characters in its text, with their lines. The script updates it during
/// typing, with the same set of characters.
pub(in crate::page) fn hidden_characters(text: &str) -> Markup {
    const NAMED: usize = 20;
    let lines = (1_usize..).zip(text.split('\n'));
    let found: Vec<_> = lines
        .flat_map(|(number, line)| {
            // The browser sends only one kind of line ending.
            let line = line.strip_suffix('\r').unwrap_or(line);
            line.chars().filter(|c| is_odd_to_edit(*c)).map(move |c| (number, c))
        })
        .collect();
    let named =
        found.iter().take(NAMED).map(|(number, c)| format!("{} in line {number}", name(*c)));
    let mut said = named.collect::<Vec<_>>().join(", ");
    if found.len() > NAMED {
        let _ = write!(said, ", and {} more", found.len() - NAMED);
    }
    let ranges = ODD.iter().chain(&SPACES).map(|range| {
        format!("\\u{{{:x}}}-\\u{{{:x}}}", u32::from(*range.start()), u32::from(*range.end()))
    });
    html! {
        p #hidden-characters .warning role="status" data-characters=(ranges.collect::<String>())
            hidden[found.is_empty()] {
            "Characters that cannot be seen: " span { (said) }
        }
    }
}

/// A text of one line, such as a name.
pub(in crate::page) fn shown(text: &str) -> Markup {
    shown_with_marks(text, &[])
}

/// The same, with the found places marked. The places must be in order.
pub(in crate::page) fn shown_with_marks(text: &str, found: &[Range<usize>]) -> Markup {
    named(text, found, |c| is_odd(c) || c == '\n' || c == '\t')
}

/// A line of a file with the found places marked. Tabs are kept.
pub(super) fn shown_line(text: &str, found: &[Range<usize>]) -> Markup {
    named(text, found, is_odd)
}

fn named(text: &str, found: &[Range<usize>], is_named: impl Fn(char) -> bool + Copy) -> Markup {
    let mut parts = Vec::new();
    let mut at = 0;
    for place in found {
        // Ignore a place that is outside the text.
        let (Some(before), Some(marked)) = (text.get(at..place.start), text.get(place.clone()))
        else {
            continue;
        };
        parts.extend([(before, false), (marked, true)]);
        at = place.end;
    }
    parts.push((text.get(at..).unwrap_or_default(), false));
    // Isolate the text, so the direction of its letters does not affect the text around it.
    html! {
        bdi {
            @for (part, is_found) in parts {
                @if is_found { mark { (pieces(part, is_named)) } } @else { (pieces(part, is_named)) }
            }
        }
    }
}

/// A text in which some characters are replaced by their names.
fn pieces(text: &str, is_named: impl Fn(char) -> bool) -> Markup {
    let pieces =
        text.split_inclusive(&is_named).map(|piece| match piece.char_indices().next_back() {
            Some((at, last)) if is_named(last) => (&piece[..at], Some(last)),
            _ => (piece, None),
        });
    html! {
        @for (plain, odd) in pieces {
            (plain)
            @if let Some(odd) = odd { span.odd { (name(odd)) } }
        }
    }
}

/// The same as plain text, where markup is not possible.
pub(in crate::page) fn spelled(text: &str) -> Cow<'_, str> {
    if !text.contains(is_odd) {
        return text.into();
    }
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if is_odd(c) { spelled.push_str(&name(c)) } else { spelled.push(c) }
    }
    spelled.into()
}

fn name(c: char) -> String {
    format!("⟨U+{:04X}⟩", u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_named_and_markup_is_text() {
        assert_eq!(
            shown("a\u{202e}<b>\n").into_string(),
            "<bdi>a<span class=\"odd\">⟨U+202E⟩</span>&lt;b&gt;<span class=\"odd\">⟨U+000A⟩</span></bdi>"
        );
        assert_eq!(
            shown_line("\tx\u{e0041}", &[]).into_string(),
            "<bdi>\tx<span class=\"odd\">⟨U+E0041⟩</span></bdi>"
        );
        assert_eq!(shown("").into_string(), "<bdi></bdi>");
        assert_eq!(spelled("é 👩‍💻\n\t"), "é 👩‍💻\n\t");
        assert!(('\0'..='\u{9f}').all(|c| is_odd(c) == (c.is_control() && c != '\n' && c != '\t')));
        assert_eq!(spelled("\u{1b}[2J\r"), "⟨U+001B⟩[2J⟨U+000D⟩");
    }

    #[test]
    fn what_is_found_has_a_mark_and_markup_in_it_is_text() {
        let shown = |text: &str, found: &[Range<usize>]| shown_line(text, found).into_string();
        assert_eq!(
            shown("a<b>\u{202e}é<b>", &[1..4, 9..12]),
            "<bdi>a<mark>&lt;b&gt;</mark><span class=\"odd\">⟨U+202E⟩</span>é<mark>&lt;b&gt;</mark></bdi>"
        );
        assert_eq!(
            shown("\u{202e}xy", &[0..4, 4..5]),
            "<bdi><mark><span class=\"odd\">⟨U+202E⟩</span>x</mark><mark>y</mark></bdi>"
        );
        // Places that are outside the text or out of order mark nothing and lose nothing.
        let (end, within) = (9..12, 1..2);
        assert_eq!(shown("é", &[end, within]), "<bdi>é</bdi>");
        assert_eq!(shown("abc", &[1..2, 0..1]), "<bdi>a<mark>b</mark>c</bdi>");
    }

    #[test]
    fn an_editor_announces_what_cannot_be_seen_in_it() {
        let shown = hidden_characters("a\u{a0}b\r\n\u{202e}c\u{200b}").into_string();
        assert!(
            shown.contains("⟨U+00A0⟩ in line 1, ⟨U+202E⟩ in line 2, ⟨U+200B⟩ in line 2<"),
            "{shown}"
        );
        let plain = hidden_characters("é 👩‍💻\r\n\t").into_string();
        assert!(plain.contains(" hidden>"), "{plain}");
        let many = hidden_characters(&"\u{feff}".repeat(25)).into_string();
        assert!(many.contains(", and 5 more<"), "{many}");
    }
}
