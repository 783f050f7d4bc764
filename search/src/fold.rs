//! One form for words that a reader takes for the same word.
//!
//! Folding ignores case, width and composition (NFKC): `ＣＡＦÉ` and `café` are one word. Diacritics are removed in a second step,
//! because `resume` is a weaker match of `résumé`.

use unicode_normalization::char::is_combining_mark;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use crate::scripts::{Alphabet, alphabet};

/// Appends the folded form of `word`.
pub(crate) fn fold_into(word: &str, folded: &mut String) {
    if word.is_ascii() {
        let start = folded.len();
        folded.push_str(word);
        folded[start..].make_ascii_lowercase();
        return;
    }
    let start = folded.len();
    if word.chars().all(|letter| folded_letter(letter).map(|letter| folded.push(letter)).is_some())
    {
        return;
    }
    folded.truncate(start);
    fold_slowly(word, folded);
}

fn fold_slowly(word: &str, folded: &mut String) {
    if is_nfkc_quick(word.chars()) == IsNormalized::Yes {
        word.chars().flat_map(char::to_lowercase).for_each(|character| push(character, folded));
    } else {
        word.nfkc()
            .flat_map(char::to_lowercase)
            .nfkc()
            .for_each(|character| push(character, folded));
    }
}

/// The folded form of a letter, if it is one of those whose neighbours do not matter. Nearly all words in Latin and Cyrillic letters consist of
/// them, and the tables of Unicode are slow.
fn folded_letter(letter: char) -> Option<char> {
    match letter {
        'a'..='z' | '0'..='9' | 'à'..='ö' | 'ø'..='ÿ' | 'а'..='я' => Some(letter),
        'A'..='Z' | 'À'..='Ö' | 'Ø'..='Þ' | 'А'..='Я' => {
            char::from_u32(u32::from(letter) + 0x20)
        }
        'ё' | 'Ё' => Some('е'),
        _ => None,
    }
}

fn push(character: char, folded: &mut String) {
    match character {
        'ß' => folded.push_str("ss"),
        // The form of sigma at the end of a word, and letters that are often written without their dots.
        'ς' => folded.push('σ'),
        'ё' => folded.push('е'),
        '’' | 'ʼ' => folded.push('\''),
        // The dot that remains of a Turkish capital I.
        '\u{307}' => {}
        // Marks without a form of their own: the soft hyphen, joiners, and those for the direction of writing.
        '\u{ad}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => {}
        _ => folded.push(character),
    }
}

/// Appends a folded word without its diacritics, and returns whether it had any. Only Latin and Greek letters lose them: in other scripts
/// a mark makes another letter.
pub(crate) fn plain_into(folded: &str, plain: &mut String) -> bool {
    if folded.is_ascii() || !matches!(alphabet(folded), Alphabet::Latin | Alphabet::Greek) {
        plain.push_str(folded);
        return false;
    }
    let start = plain.len();
    for character in folded.nfd() {
        match character {
            'ø' => plain.push('o'),
            'ł' => plain.push('l'),
            'đ' | 'ð' => plain.push('d'),
            'ı' => plain.push('i'),
            'ħ' => plain.push('h'),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            _ if is_combining_mark(character) => {}
            _ => plain.push(character),
        }
    }
    plain[start..] != *folded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(word: &str) -> String {
        let mut folded = String::new();
        fold_into(word, &mut folded);
        folded
    }

    fn plain(word: &str) -> String {
        let mut plain = String::new();
        plain_into(&folded(word), &mut plain);
        plain
    }

    #[test]
    fn words_that_look_alike_fold_to_one() {
        assert_eq!(folded("ＣＡＦÉ"), "café");
        assert_eq!(folded("cafe\u{301}"), "café");
        assert_eq!(folded("STRASSE"), folded("Straße"));
        assert_eq!(folded("ΟΔΟΣ"), folded("οδος"));
        assert_eq!(folded("Ёлка"), "елка");
        assert_eq!(folded("İstanbul"), "istanbul");
        for invisible in ['\u{ad}', '\u{200b}', '\u{200d}', '\u{202e}', '\u{2066}', '\u{feff}'] {
            assert_eq!(folded(&format!("poi{invisible}son{invisible}")), "poison");
        }
    }

    #[test]
    fn the_fast_way_to_fold_is_right() {
        let letters: Vec<char> =
            ('\0'..='\u{ffff}').filter(|letter| folded_letter(*letter).is_some()).collect();
        assert!(letters.len() > 180);
        for first in &letters {
            for second in &letters {
                let word: String = [*first, *second].into_iter().collect();
                let mut slowly = String::new();
                fold_slowly(&word, &mut slowly);
                assert_eq!(folded(&word), slowly);
            }
        }
    }

    #[test]
    fn diacritics_are_removed_from_latin_and_greek_letters_alone() {
        assert_eq!(plain("Crème"), "creme");
        assert_eq!(plain("Łódź"), "lodz");
        assert_eq!(plain("Ærø"), "aero");
        assert_eq!(plain("Αθήνα"), "αθηνα");
        assert_eq!(plain("йога"), "йога");
        assert_eq!(plain("が"), "が");
    }
}
