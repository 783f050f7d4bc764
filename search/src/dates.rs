//! Recognises dates, so that `17 March 2024` finds `2024-03-17`.
//!
//! A date becomes up to two more terms, its day and its month: `2024-03-17` and `2024-03`. A number or a month alone is no date.

use std::sync::LazyLock;

use crate::hashing::WordMap;

/// The names of months in several languages, folded, from January to December. Names with fewer than three letters are not here.
const MONTHS: [&str; 12] = [
    "january jan januar enero janvier gennaio janeiro januari январь января",
    "february feb februar febrero février febbraio fevereiro februari февраль февраля",
    "march mar märz marzo mars março maart март марта",
    "april apr abril avril aprile апрель апреля",
    "may mai mayo maggio maio mei maj май мая",
    "june jun juni junio juin giugno junho июнь июня",
    "july jul juli julio juillet luglio julho июль июля",
    "august aug agosto août augustus augusti август августа",
    "september sep sept septiembre septembre settembre setembro сентябрь сентября",
    "october oct oktober octubre octobre ottobre outubro октябрь октября",
    "november nov noviembre novembre novembro ноябрь ноября",
    "december dec dezember diciembre décembre dicembre dezembro декабрь декабря",
];

static MONTH_OF: LazyLock<WordMap<&'static str, u16>> = LazyLock::new(|| {
    let numbered = (1_u16..).zip(MONTHS);
    numbered
        .flat_map(|(number, names)| names.split_whitespace().map(move |name| (name, number)))
        .collect()
});

/// A day or a month, as a term of the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Date {
    pub(crate) year: u16,
    pub(crate) month: u16,
    /// 0 for the whole month.
    pub(crate) day: u16,
}

impl Date {
    fn of(year: u16, month: u16, day: u16) -> Option<Self> {
        let is_date = (1000..=2999).contains(&year) && (1..=12).contains(&month) && day <= 31;
        is_date.then_some(Self { year, month, day })
    }

    /// The term of the month.
    pub(crate) fn month_term(self) -> String {
        format!("{:04}-{:02}", self.year, self.month)
    }

    /// The term of the day; `None` for a whole month.
    pub(crate) fn day_term(self) -> Option<String> {
        (self.day > 0).then(|| format!("{:04}-{:02}-{:02}", self.year, self.month, self.day))
    }
}

/// Reads a date that is written in numbers alone: `2024-03-17`, `2024/3/17`, `2024-03`, `17.3.2024`, `3/17/2024`, `20240317`. `3/4/2024` is two
/// dates, because the month comes first in some countries, and the day in others.
pub(crate) fn of_numbers(text: &str) -> impl Iterator<Item = Date> {
    let dates = read_numbers(text).unwrap_or_default();
    let [first, second] = dates;
    [first, second.filter(|_| first != second)].into_iter().flatten()
}

fn read_numbers(text: &str) -> Option<[Option<Date>; 2]> {
    if text.len() > 10 || !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let day =
        |year: u16, month: u16, day: u16| Date::of(year, month, day).filter(|date| date.day > 0);
    let number = |part: &str| part.parse::<u16>().ok();
    let Some(mark) = text.chars().find(|character| !character.is_ascii_digit()) else {
        let is_compact = text.len() == 8 && (text.starts_with("19") || text.starts_with("20"));
        let date = if is_compact {
            day(number(&text[..4])?, number(&text[4..6])?, number(&text[6..])?)
        } else {
            None
        };
        return Some([date, None]);
    };
    let mut parts = text.split(mark);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let (a, b) = (number(first)?, number(second)?);
    Some(match (mark, first.len(), third) {
        ('-', 4, None) if second.len() == 2 => [Date::of(a, b, 0), None],
        ('-' | '/' | '.', 4, Some(third)) => [day(a, b, number(third)?), None],
        ('.', 1 | 2, Some(third)) if third.len() == 4 => [day(number(third)?, b, a), None],
        ('-' | '/', 1 | 2, Some(third)) if third.len() == 4 && second.len() <= 2 => {
            let year = number(third)?;
            [day(year, b, a), day(year, a, b)]
        }
        _ => [None, None],
    })
}

/// A word, as far as it matters for a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Event {
    #[default]
    Other,
    Number(u16),
    Month(u16),
    /// A number that a Chinese, Japanese or Korean word marks as a year.
    Year(u16),
    /// The year and the month, marked likewise.
    YearMonth(u16, u16),
}

/// Recognises dates in a sequence of words.
#[derive(Debug, Default)]
pub(crate) struct DateReader {
    last: [Event; 3],
}

impl DateReader {
    fn push(&mut self, event: Event) {
        self.last = [self.last[1], self.last[2], event];
    }

    /// Takes a folded word that separates dates, or not.
    pub(crate) fn word(&mut self, folded: &str) -> Option<Date> {
        if matches!(folded, "de" | "del" | "of" | "di") && self.last[2] != Event::Other {
            return None;
        }
        if let Some(number) = number(folded) {
            let date = match self.last {
                [_, Event::Number(day), Event::Month(month)]
                | [_, Event::Month(month), Event::Number(day)] => Date::of(number, month, day),
                [_, _, Event::Month(month)] => Date::of(number, month, 0),
                _ => None,
            };
            self.push(Event::Number(number));
            return date;
        }
        let event = MONTH_OF.get(folded).map_or(Event::Other, |month| Event::Month(*month));
        self.push(event);
        None
    }

    /// Takes the beginning of a run of characters without spaces, which marks the number before it.
    pub(crate) fn mark(&mut self, first: char) -> Option<Date> {
        let [before, previous, last] = self.last;
        let (event, date) = match (first, before, previous, last) {
            ('年' | '년', _, _, Event::Number(year)) => (Event::Year(year), None),
            ('月' | '월', _, Event::Year(year), Event::Number(month)) => {
                (Event::YearMonth(year, month), Date::of(year, month, 0))
            }
            ('日' | '일', _, Event::YearMonth(year, month), Event::Number(day)) => {
                (Event::Other, Date::of(year, month, day))
            }
            _ => (Event::Other, None),
        };
        if event == Event::Other {
            self.push(event);
        } else {
            // The mark belongs to its number, and a year to its month.
            self.last = [Event::Other, Event::Other, event];
        }
        date
    }
}

fn number(folded: &str) -> Option<u16> {
    if folded.len() > 4 { None } else { folded.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_numbers_are_recognised() {
        let day = Date { year: 2024, month: 3, day: 17 };
        let dates = |text: &str| of_numbers(text).collect::<Vec<_>>();
        for text in [
            "2024-03-17",
            "2024/3/17",
            "17.3.2024",
            "17.03.2024",
            "2024.03.17",
            "17/3/2024",
            "3/17/2024",
            "17-03-2024",
            "03-17-2024",
            "20240317",
        ] {
            assert_eq!(dates(text), [day], "{text}");
        }
        assert_eq!(dates("2024-03"), [Date { day: 0, ..day }]);
        let both = [Date { month: 4, day: 3, ..day }, Date { day: 4, ..day }];
        assert_eq!(dates("03/04/2024"), both);
        assert_eq!(dates("4/4/2024").len(), 1);
        for text in [
            "2024",
            "1.2.3",
            "2024-13",
            "2024-3",
            "17/13/2024",
            "1/2/34",
            "20241317",
            "30240317",
            "202403171",
            "1/2",
            "2024-03-17-1",
            "a-b",
            "2024-03-",
            "",
            "2024-03-00",
        ] {
            assert_eq!(dates(text), [], "{text}");
        }
    }

    #[test]
    fn dates_in_words_are_recognised() {
        let read = |words: &str| {
            let mut reader = DateReader::default();
            words.split(' ').filter_map(|word| reader.word(word)).last()
        };
        let day = Some(Date { year: 2024, month: 3, day: 17 });
        for words in [
            "17 march 2024",
            "march 17 2024",
            "17 de marzo de 2024",
            "am 17 märz 2024",
            "17 марта 2024",
        ] {
            assert_eq!(read(words), day, "{words}");
        }
        assert_eq!(read("in march 2024"), Some(Date { year: 2024, month: 3, day: 0 }));
        assert_eq!(read("march 2024 and 5"), Some(Date { year: 2024, month: 3, day: 0 }));
        assert_eq!(read("march 17"), None);
        assert_eq!(read("2024"), None);
    }
}
