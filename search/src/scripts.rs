//! The writing systems that need their own treatment.
//!
//! Chinese, Japanese, Korean, Thai and their neighbours are written without spaces, or with spaces that do not separate the words to
//! search for. Their texts are indexed by pairs of adjacent characters, which needs no dictionary.

use std::sync::LazyLock;

use crate::hashing::WordSet;

/// Whether a character belongs to a script without spaces between its words.
pub(crate) fn is_unspaced(character: char) -> bool {
    let code = u32::from(character);
    // The first such character, so most texts need one comparison.
    if code < 0x0E00 {
        return false;
    }
    matches!(code,
        // Thai and Lao; Burmese; Khmer.
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF
        // Korean letters and syllables.
        | 0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF
        // Japanese, with its half-width forms, but without the middle dot.
        | 0x3005..=0x3007 | 0x3040..=0x30FA | 0x30FC..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F
        // Chinese characters.
        | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// Pairs of characters that make a question or an ending. Notes rarely have them, so they would look like rare words.
const GRAMMAR: &str = "什么 么时 是什 哪里 哪个 哪种 哪些 在哪 怎么 怎样 为什 多少 几个 谁的 是谁 \
     何が 何の 何を 何か 何で 何に 誰が 誰の 誰か 誰を \
     무엇 엇을 엇인 엇이 인가 는가 은가 나요 가요 니까 습니 입니 어디 디에 디서 언제 누구 누가 무슨 어떤 어떻 떻게 있나 하나 는지 인지 이다 한다 된다 있다";

static GRAMMAR_PAIRS: LazyLock<WordSet<&'static str>> =
    LazyLock::new(|| GRAMMAR.split_whitespace().collect());

/// Whether a folded pair of characters is mostly grammar: an interrogative, or Japanese letters for endings and particles.
pub(crate) fn is_grammar(pair: &str) -> bool {
    let is_hiragana = |character: char| matches!(u32::from(character), 0x3041..=0x309F);
    pair.chars().all(is_hiragana) || GRAMMAR_PAIRS.contains(pair)
}

/// Whether a character of a script without spaces is one cluster, in its only form, if characters like it surround it.
pub(crate) fn is_simple(character: char) -> bool {
    matches!(u32::from(character), 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x30FC | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
}

/// Whether a character is one of the letters that nearly all texts consist of. They are no numbers.
pub(crate) fn is_common_letter(character: char) -> bool {
    matches!(character, 'a'..='z' | 'A'..='Z' | 'À'..='Ö' | 'Ø'..='ö' | 'ø'..='ɏ' | 'Ѐ'..='ҁ')
        || is_simple(character)
}

/// Whether a character is a letter. The same as [`char::is_alphabetic`], which is slow for letters that are not ASCII.
pub(crate) fn is_letter(character: char) -> bool {
    is_common_letter(character) || character.is_alphabetic()
}

/// The alphabets that have a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    Latin,
    Cyrillic,
    Greek,
    Other,
}

/// The alphabet of a word, by its first character.
pub(crate) fn alphabet(word: &str) -> Alphabet {
    match word.chars().next().map_or(0, u32::from) {
        0x00..=0x24F | 0x1E00..=0x1EFF => Alphabet::Latin,
        0x370..=0x3FF | 0x1F00..=0x1FFF => Alphabet::Greek,
        0x400..=0x52F => Alphabet::Cyrillic,
        _ => Alphabet::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_those_of_unicode() {
        for character in '\0'..=char::MAX {
            assert_eq!(is_letter(character), character.is_alphabetic(), "{character:?}");
            assert!(!is_common_letter(character) || !character.is_numeric(), "{character:?}");
        }
    }
}
