//! Tells words from identifiers, and finds the parts of an identifier.
//!
//! People remember a part of `max_view_chars` or `getUserById`, so each part is searched like a word.

use std::ops::Range;

use crate::scripts::is_common_letter;

/// The kinds of characters in a word.
#[derive(Debug, Default)]
pub(crate) struct Shape {
    pub(crate) letters: bool,
    pub(crate) digits: bool,
    pub(crate) apostrophes: bool,
    /// Other characters that join: dots, underscores.
    pub(crate) marks: bool,
    /// Anything but letters.
    pub(crate) others: bool,
    /// A capital after a small letter.
    pub(crate) bends: bool,
    was_lower: bool,
}

impl Shape {
    /// Takes the next character into account.
    pub(crate) fn add(&mut self, character: char) {
        if is_common_letter(character) {
            self.letters = true;
            self.bends |= self.was_lower && character.is_uppercase();
            self.was_lower = character.is_lowercase();
            return;
        }
        let is_letter = character.is_alphabetic()
            || (!character.is_ascii()
                && !character.is_numeric()
                && !matches!(character, '’' | 'ʼ' | '·'));
        let is_digit = character.is_numeric();
        self.letters |= is_letter;
        self.digits |= is_digit;
        self.apostrophes |= matches!(character, '\'' | '’' | 'ʼ');
        self.marks |= !is_letter && !is_digit && !matches!(character, '\'' | '’' | 'ʼ');
        self.others |= !is_letter;
        self.bends |= self.was_lower && character.is_uppercase();
        self.was_lower = character.is_lowercase();
    }
}

/// The parts of an identifier: between marks, at capitals, and between letters and digits.
pub(crate) fn parts(word: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq, Clone, Copy)]
    enum Class {
        Lower,
        Upper,
        Digit,
        Mark,
    }
    let class = |character: char| match character {
        _ if character.is_numeric() => Class::Digit,
        _ if character.is_uppercase() => Class::Upper,
        _ if character.is_alphabetic() || !character.is_ascii() => Class::Lower,
        _ => Class::Mark,
    };
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut before: Option<Class> = None;
    let mut last_upper = 0;
    for (at, character) in word.char_indices() {
        let now = class(character);
        let cut = match (before, now) {
            (None, _) => None,
            // `HTTPServer` is `HTTP` and `Server`.
            (Some(Class::Upper), Class::Lower) => (last_upper > start).then_some(last_upper),
            (Some(was), now) => (was != now).then_some(at),
        };
        if let Some(cut) = cut {
            parts.push(start..cut);
            start = cut;
        }
        if now == Class::Upper {
            last_upper = at;
        }
        before = Some(now);
    }
    parts.push(start..word.len());
    parts.retain(|part| {
        word[part.clone()].chars().next().is_some_and(|first| class(first) != Class::Mark)
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_identifier_has_its_words_as_parts() {
        for (word, expected) in [
            ("max_view_chars", vec!["max", "view", "chars"]),
            ("getUserById", vec!["get", "User", "By", "Id"]),
            ("HTTPServer2x", vec!["HTTP", "Server", "2", "x"]),
            ("__init__", vec!["init"]),
            ("größeÄndern", vec!["größe", "Ändern"]),
            ("1.2.3", vec!["1", "2", "3"]),
            ("___", vec![]),
        ] {
            let found: Vec<&str> = parts(word).into_iter().map(|part| &word[part]).collect();
            assert_eq!(found, expected, "{word}");
        }
    }
}
