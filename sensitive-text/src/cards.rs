//! Payment card numbers. They have no keyword; their format, their issuer's digits and their check digit
//! identify them.

use std::ops::Range;

use super::steps;

pub(super) const ID: &str = "payment-card";

/// The number of digits of a card number.
const DIGITS: std::ops::RangeInclusive<usize> = 13..=19;

/// The maximum length, with a separator between each two of five groups.
const MAX_BYTES: usize = 19 + 4;

/// Calls `found` with the range of each card number.
pub(super) fn each(text: &str, mut found: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(skipped) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + skipped;
        let end = end_of_number(bytes, start);
        steps::add(end - at);
        in_groups(text, start..end, &mut found);
        at = end;
    }
}

/// Finds the cards in groups of digits. Other numbers, such as a date, may precede one.
fn in_groups(text: &str, groups: Range<usize>, found: &mut impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let Range { mut start, end } = groups;
    // A number that continues a word, such as an IBAN, or continues groups of four, is not a card number.
    let of_a_word = !begins_alone(bytes, start);
    let mut may_be_groups = !of_a_word;
    while start < end && end - start >= *DIGITS.start() {
        steps::add(MAX_BYTES);
        let group = digits_end(bytes, start);
        let ends = if may_be_groups {
            // A year or a check value may follow; it is not a part of the number.
            number_ends(&text[start..end.min(start + MAX_BYTES + 1)])
        } else {
            [group - start; 4]
        };
        let card = ends.map(|length| start + length).into_iter().find(|&end| {
            begins_alone(bytes, start) && ends_alone(bytes, end) && is_card(&text[start..end])
        });
        if let Some(end) = card {
            found(start..end);
        }
        may_be_groups = card.is_some() || !of_a_word && group - start != 4;
        // The separator between two groups is one byte.
        start = card.unwrap_or(group) + 1;
    }
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The lengths of the numbers that end after the first, third, fourth and fifth group of digits.
fn number_ends(digits: &str) -> [usize; 4] {
    let after = |groups: usize| {
        let mut marks = digits.match_indices([' ', '-']).map(|(at, _)| at);
        marks.nth(groups - 1).unwrap_or(digits.len())
    };
    [after(5), after(4), after(3), after(1)]
}

/// The end of the digits that start at `start`, with at most one space or hyphen between two of them.
fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        match (bytes.get(end), bytes.get(end + 1)) {
            (Some(digit), _) if digit.is_ascii_digit() => end += 1,
            (Some(b' ' | b'-'), Some(digit)) if digit.is_ascii_digit() => end += 2,
            _ => return end,
        }
    }
}

/// Whether the number starts outside of a word, a decimal fraction and a longer number. A comma counts as a
/// separator: a number with so many digits is more often in a table than in a fraction.
fn begins_alone(bytes: &[u8], start: usize) -> bool {
    match &bytes[..start] {
        [.., digit, b'.'] => !digit.is_ascii_digit(),
        [.., b'\\', b'n' | b'r' | b't'] => true,
        before => !before.last().is_some_and(joins),
    }
}

fn ends_alone(bytes: &[u8], end: usize) -> bool {
    match &bytes[end..] {
        [b'.', digit, ..] => !digit.is_ascii_digit(),
        after => !after.first().is_some_and(joins),
    }
}

/// Whether a character joins the adjacent digits into a word.
fn joins(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+')
}

fn is_card(number: &str) -> bool {
    if number.len() > MAX_BYTES {
        return false;
    }
    let digits: Vec<u8> =
        number.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    DIGITS.contains(&digits.len())
        && digits.iter().any(|digit| *digit != digits[0])
        && grouped_as_printed(number)
        && issued(&digits)
        && luhn(&digits)
}

/// Whether the number is unseparated, or grouped as on cards with the same separator everywhere.
fn grouped_as_printed(number: &str) -> bool {
    let Some(mark) = number.chars().find(|c| !c.is_ascii_digit()) else { return true };
    let groups: Vec<usize> = number.split(mark).map(str::len).collect();
    number.chars().all(|c| c == mark || c.is_ascii_digit())
        && matches!(groups.as_slice(), [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4] | [4, 4, 4, 4, 3])
}

/// Whether an issuer uses this length with these first digits.
fn issued(digits: &[u8]) -> bool {
    let start = |length: usize| digits[..length].iter().fold(0, |n, &d| n * 10 + u32::from(d));
    match digits.len() {
        13 | 19 if start(1) == 4 => true,
        // Visa, Mastercard, Discover, JCB.
        16 if start(1) == 4 => true,
        16 => {
            matches!(start(2), 51..=55 | 65)
                || matches!(start(4), 2221..=2720 | 3528..=3589 | 6011)
                || matches!(start(3), 644..=649)
                || start(2) == 62
        }
        // American Express; Diners Club; UnionPay.
        15 => matches!(start(2), 34 | 37),
        14 => matches!(start(2), 36 | 38) || matches!(start(3), 300..=305),
        17..=19 => start(2) == 62,
        _ => false,
    }
}

/// The check digit: every second digit from the right counts double, and the sum must end in 0.
fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| match (place % 2, u32::from(digit) * 2) {
            (0, twice) => twice / 2,
            (_, twice) => twice / 10 + twice % 10,
        })
        .sum();
    sum.is_multiple_of(10)
}
