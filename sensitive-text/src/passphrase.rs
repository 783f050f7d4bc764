//! Recognises a passphrase such as `correct-horse-battery-staple-9`: several words, joined by the same separator, or each
//! with a capital letter.
//!
//! It is applied only to the value of a name such as `password`. A name in code, a path and a remark can have the same form;
//! their [`words`](super::words) distinguish them.

use super::words::{Kind, kind};

/// The minimum number of words, without and with a number among them.
const FEWEST_WORDS: usize = 4;
const FEWEST_WORDS_WITH_NUMBER: usize = 3;

/// The maximum number of words. A wallet's recovery phrase has 24.
const MOST_WORDS: usize = 24;

/// The maximum number of digits of a number. A longer one is an identifier or a date.
const MOST_DIGITS: usize = 4;

/// One in this number of words and numbers may be a computing term by chance.
const WORDS_FOR_EACH_OF_COMPUTING: usize = 4;

/// The position of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The value ends at the next blank.
    Word,
    /// The value is delimited, so blanks may join its words.
    Delimited,
    /// The value is the rest of a line, so blanks join its words. Without delimiters, prose is likely.
    Line,
}

/// How the words of a value are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    Mark(char),
    /// `CorrectHorseBatteryStaple`.
    Capitals,
}

impl Joint {
    /// The joint of a value, if it may be a passphrase.
    fn of(value: &str, position: Position) -> Option<Self> {
        match value.chars().find(|c| !c.is_alphanumeric()) {
            None if position != Position::Line && value.starts_with(char::is_uppercase) => {
                Some(Self::Capitals)
            }
            // A hyphen, including non-breaking ones, and dashes.
            Some(mark @ ('-' | '\u{2010}'..='\u{2014}' | '_' | '.' | '/'))
                if position != Position::Line =>
            {
                Some(Self::Mark(mark))
            }
            Some(' ') if position != Position::Word => Some(Self::Mark(' ')),
            _ => None,
        }
    }

    fn split(self, value: &str) -> Vec<&str> {
        match self {
            Self::Mark(mark) => value.split(mark).take(MOST_PARTS).collect(),
            Self::Capitals => {
                let starts =
                    value.char_indices().filter(|(_, c)| c.is_uppercase()).map(|(at, _)| at);
                let starts: Vec<usize> = starts.chain([value.len()]).take(MOST_PARTS).collect();
                starts.windows(2).map(|pair| &value[pair[0]..pair[1]]).collect()
            }
        }
    }

    /// Whether code and paths use this joint.
    fn is_of_code(self) -> bool {
        matches!(self, Self::Capitals | Self::Mark('_' | '.' | '/'))
    }

    /// Names in code that are joined by separators have short parts.
    fn fewest_letters(self) -> usize {
        if matches!(self, Self::Mark('_' | '.' | '/')) { 4 } else { 3 }
    }
}

/// Exceeds the parts of any passphrase: the words, two numbers, and one more.
const MOST_PARTS: usize = MOST_WORDS + 3;

/// Whether the whole value of a name such as `password` is a passphrase.
pub(super) fn is_passphrase(value: &str, position: Position) -> bool {
    let Some(joint) = Joint::of(value, position) else { return false };
    let (mut words, mut letters, mut numbers, mut years) = (Vec::new(), 0, 0, 0);
    for part in joint.split(value) {
        let word = part.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &part[word.len()..];
        if digits.len() > MOST_DIGITS || part.is_empty() {
            return false;
        }
        numbers += usize::from(!digits.is_empty());
        years += usize::from(is_year(digits));
        if word.is_empty() {
            continue;
        }
        let length = word.chars().count();
        if length < joint.fewest_letters() || !is_word(word) {
            return false;
        }
        letters += length;
        words.push(word);
    }
    // `trip-photos-italy-2024` is the name of a file.
    let fewest = if numbers > years { FEWEST_WORDS_WITH_NUMBER } else { FEWEST_WORDS };
    (fewest..=MOST_WORDS).contains(&words.len())
        && numbers <= 2
        && letters >= 4 * words.len()
        && !is_sentence(joint, &words)
        && !is_constant(joint, &words)
        && are_drawn(joint, position, &words, numbers)
}

/// Whether the words look randomly drawn: none belongs to a remark, and computing terms are few enough to occur by chance.
fn are_drawn(joint: Joint, position: Position, words: &[&str], numbers: usize) -> bool {
    let by_chance = if joint.is_of_code() || position == Position::Line {
        0
    } else {
        (words.len() + numbers) / WORDS_FOR_EACH_OF_COMPUTING
    };
    let mut computing = 0;
    words.iter().all(|word| match kind(word) {
        Kind::Remark => false,
        Kind::Computing => {
            computing += 1;
            computing <= by_chance
        }
        Kind::Other => true,
    })
}

/// Whether a value consists of words and a year, as names of files and albums do: `summer-trip-2024`.
pub(super) fn is_dated_name(value: &str) -> bool {
    let Some(joint) = value.chars().find(|c| !c.is_alphanumeric()) else { return false };
    matches!(joint, '-' | '_' | '.')
        && value.split(joint).any(is_year)
        && value.split(joint).all(|part| is_year(part) || is_word(part))
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
}

/// Whether a text is a word: letters in lower case, in upper case, or with a capital first letter. It must have a vowel,
/// because abbreviations often have none.
fn is_word(text: &str) -> bool {
    let is_vowel = |c: char| !c.is_ascii() || "aeiouyAEIOUY".contains(c);
    let rest = || text.chars().skip(1);
    text.chars().all(char::is_alphabetic)
        && (rest().all(char::is_lowercase) || is_capitals(text))
        && text.contains(is_vowel)
}

fn is_capitals(word: &str) -> bool {
    word.chars().all(char::is_uppercase)
}

/// Whether the words look like a sentence: the first one starts with a capital letter, and another one does not.
fn is_sentence(joint: Joint, words: &[&str]) -> bool {
    let is_capital = |word: &&str| word.starts_with(char::is_uppercase);
    joint == Joint::Mark(' ')
        && words.first().is_some_and(is_capital)
        && !words.iter().all(is_capital)
}

/// `NAME_OF_A_VARIABLE`.
fn is_constant(joint: Joint, words: &[&str]) -> bool {
    joint == Joint::Mark('_') && words.iter().all(|word| is_capitals(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_passphrase_if_nothing_says_otherwise() {
        for found in [
            "correct-horse-battery-staple-9",
            "correct-horse-battery-staple",
            "Correct-Horse-Battery-Staple",
            "Correct-horse-battery-staple",
            "CORRECT-HORSE-BATTERY-STAPLE",
            "correct-HORSE-battery-staple",
            "correct_horse_battery_staple",
            "correct.horse.battery.staple",
            "correct/horse/battery/staple",
            "correct–horse–battery–staple",
            "CorrectHorseBatteryStaple",
            "7-lantern-otter-velvet",
            "lantern-otter7-velvet",
            "lantern-otter-velvet-walrus-2024",
            "lantern-otter-window-velvet",
            "lantern-otter7-window",
            "apfel-birne-kürbis-möhre",
        ] {
            assert!(is_passphrase(found, Position::Word), "{found}");
        }
        for clean in [
            "",
            "-",
            "correct",
            "correct-horse",
            "correct-horse-battery",
            "correct-horse--battery-staple",
            "correct-horse_battery-staple",
            "correct horse battery staple",
            "CORRECT_HORSE_BATTERY_STAPLE",
            "correctHorseBatteryStaple",
            "CorrectHorseBattery",
            "CorrectHTTPBatteryStaple",
            "correct-horse-battery-20240105",
            "correct-horse-battery-2024",
            "1-2-3-lantern-otter-velvet",
            "lantern-otter-velvet-v2",
            "lantern-otter-velvet-tls",
            "see-the-team-vault",
            "lantern-otter-velvet-vaults",
            "lantern-otter-table-window",
            "lantern_otter_velvet_window",
            "LanternOtterVelvetWindow",
            "/lantern/otter/velvet/walrus",
            "one-two-six-ten-abe",
            "ab_cd_ef_gh",
        ] {
            assert!(!is_passphrase(clean, Position::Word), "{clean}");
        }
    }

    #[test]
    fn words_and_a_year_are_a_name() {
        for name in ["anna-birthday-2024", "2023-Berlin", "summer_trip_1999"] {
            assert!(is_dated_name(name), "{name}");
        }
        for other in [
            "",
            "2024",
            "-",
            "anna-birthday-24",
            "anna-birthday-2124",
            "anna-b3-2024",
            "annabirthday2024",
        ] {
            assert!(!is_dated_name(other), "{other}");
        }
    }

    #[test]
    fn blanks_join_words_between_marks_and_at_the_end_of_a_line() {
        for (value, delimited, line) in [
            ("correct horse battery staple", true, true),
            ("CORRECT HORSE BATTERY STAPLE", true, true),
            ("correct horse battery window", true, false),
            ("Correct horse battery staple", false, false),
            ("correct horse battery", false, false),
            ("correct-horse-battery-staple", true, false),
        ] {
            assert_eq!(is_passphrase(value, Position::Delimited), delimited, "{value}");
            assert_eq!(is_passphrase(value, Position::Line), line, "{value}");
            assert!(!value.contains(' ') || !is_passphrase(value, Position::Word), "{value}");
        }
    }

    #[test]
    fn the_numbers_of_words_have_limits() {
        for (mark, word) in [("-", "lantern"), ("", "Lantern")] {
            let of = |count: usize| is_passphrase(&vec![word; count].join(mark), Position::Word);
            assert!(!of(FEWEST_WORDS - 1) && of(FEWEST_WORDS), "{word}");
            assert!(
                of(MOST_WORDS) && !of(MOST_WORDS + 1) && !of(MOST_PARTS + 1) && !of(1000),
                "{word}"
            );
        }
        // Two numbers are allowed in addition to the words; three are too many.
        let most = ["lantern"; MOST_WORDS].join("-");
        assert!(is_passphrase(&format!("7-{most}-7"), Position::Word));
        assert!(!is_passphrase(&format!("7-{most}-lantern-7"), Position::Word));
        assert!(!is_passphrase("7-lantern-otter-velvet-7-7", Position::Word));
    }

    #[test]
    fn one_in_four_words_may_be_of_computing() {
        for (computing, others, found) in [(1, 3, true), (2, 3, false), (2, 6, true), (2, 5, false)]
        {
            let words = [vec!["window"; computing], vec!["otter"; others]].concat();
            assert_eq!(is_passphrase(&words.join("-"), Position::Word), found, "{words:?}");
        }
    }
}
