//! Characters that cannot be seen, or that change how others are shown: they become visible.
//!
//! A model may write them to hide something from a person: controls, marks that turn the direction of writing, letters
//! without width, and the invisible copies of ASCII that some models read.

use std::borrow::Cow;

use maud::{Markup, html};

/// Whether a person would not see the character, or see something else because of it.
pub(super) fn is_odd(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{200c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        c => c.is_control(),
    }
}

/// A text of one line, such as a name.
pub(in crate::page) fn shown(text: &str) -> Markup {
    marked(text, |c| is_odd(c) || c == '\n' || c == '\t')
}

/// A line of a file, whose tabs are what they are.
pub(super) fn shown_line(text: &str) -> Markup {
    marked(text, is_odd)
}

fn marked(text: &str, is_marked: impl Fn(char) -> bool) -> Markup {
    let pieces =
        text.split_inclusive(&is_marked).map(|piece| match piece.char_indices().next_back() {
            Some((at, last)) if is_marked(last) => (&piece[..at], Some(last)),
            _ => (piece, None),
        });
    // A part of its own, whatever the direction of its letters.
    html! {
        bdi {
            @for (plain, odd) in pieces {
                (plain)
                @if let Some(odd) = odd { span.odd { (name(odd)) } }
            }
        }
    }
}

/// The same as plain text, for where no markup may be.
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
            shown_line("\tx\u{e0041}").into_string(),
            "<bdi>\tx<span class=\"odd\">⟨U+E0041⟩</span></bdi>"
        );
        assert_eq!(shown("").into_string(), "<bdi></bdi>");
        assert_eq!(spelled("é 👩‍💻\n\t"), "é 👩‍💻\n\t");
        assert_eq!(spelled("\u{1b}[2J\r"), "⟨U+001B⟩[2J⟨U+000D⟩");
    }
}
