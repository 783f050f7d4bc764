//! Times as text, in the form of RFC 3339 in UTC: `2026-03-14T15:09:26.535897Z`.
//!
//! Only what the history says and is asked needs them. Every app carries the core, and a crate for calendars is several
//! times as large as all else of the history.

#[cfg(any(feature = "cli", test))]
use std::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

/// The time, to the microsecond.
pub(crate) fn to_text(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, micros) = (since.as_secs(), since.subsec_micros());
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The time that a text of this form says: a date, or a date and a time with `Z` or an offset; the seconds and their
/// fraction may be missing. `None` for any other text.
#[cfg(any(feature = "cli", test))]
pub(crate) fn from_text(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.split_at_checked(10)?;
    let number = |text: &str, digits: usize| {
        let all = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        all.then(|| text.parse::<u64>().ok()).flatten()
    };
    let (year, month, day) =
        (number(date.get(..4)?, 4)?, number(date.get(5..7)?, 2)?, number(date.get(8..)?, 2)?);
    let dashes = date.as_bytes().get(4) == Some(&b'-') && date.as_bytes().get(7) == Some(&b'-');
    if !dashes
        || year < 1970
        || !(1..=12).contains(&month)
        || day == 0
        || day > days_of(year, month)
    {
        return None;
    }
    let midnight = UNIX_EPOCH + Duration::from_secs(days_since(year, month, day) * 86_400);
    if rest.is_empty() {
        return Some(midnight);
    }
    let clock = rest.strip_prefix(['T', 't', ' '])?;
    let zone_at = clock.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = clock.split_at(zone_at);
    let mut parts = clock.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2)?;
    let (second, fraction) = match parts.next() {
        None => (0, ""),
        Some(seconds) => match seconds.split_once('.') {
            None => (number(seconds, 2)?, ""),
            Some((second, fraction)) => (number(second, 2)?, fraction),
        },
    };
    let nanos = match fraction.len() {
        0 => 0,
        digits @ 1..=9 => number(fraction, digits)? * 10_u64.pow(9 - u32::try_from(digits).ok()?),
        _ => return None,
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let local = midnight
        + Duration::from_secs(hour * 3600 + minute * 60 + second)
        + Duration::from_nanos(nanos);
    if zone.eq_ignore_ascii_case("z") {
        return Some(local);
    }
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let offset = Duration::from_secs(number(hours, 2)? * 3600 + number(minutes, 2)? * 60);
    if zone.starts_with('+') { local.checked_sub(offset) } else { local.checked_add(offset) }
}

fn is_leap(year: u64) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn days_of(year: u64, month: u64) -> u64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(any(feature = "cli", test))]
fn days_since(year: u64, month: u64, day: u64) -> u64 {
    let years: u64 = (1970..year).map(|year| if is_leap(year) { 366 } else { 365 }).sum();
    years + (1..month).map(|month| days_of(year, month)).sum::<u64>() + day - 1
}

/// Year, month and day of a day since 1970.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let (mut year, mut month) = (1970, 1);
    loop {
        let of_year = if is_leap(year) { 366 } else { 365 };
        if days < of_year {
            break;
        }
        days -= of_year;
        year += 1;
    }
    while days >= days_of(year, month) {
        days -= days_of(year, month);
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_read_as_it_is_written() {
        for (seconds, micros, text) in [
            (0, 0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000001Z"),
            (1_773_500_966, 535_897, "2026-03-14T15:09:26.535897Z"),
            (4_102_444_799, 999_999, "2099-12-31T23:59:59.999999Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(micros);
            assert_eq!(to_text(time), text);
            assert_eq!(from_text(text), Some(time), "{text}");
        }
    }

    #[test]
    fn the_other_forms_are_understood_and_what_is_none_is_refused() {
        let at = |text: &str| from_text(text).map(to_text);
        for (given, time) in [
            ("2026-03-14", "2026-03-14T00:00:00.000000Z"),
            ("2026-03-14T15:09Z", "2026-03-14T15:09:00.000000Z"),
            ("2026-03-14 15:09:26z", "2026-03-14T15:09:26.000000Z"),
            ("2026-03-14T15:09:26.5+02:00", "2026-03-14T13:09:26.500000Z"),
            ("2026-03-14T23:30-01:30", "2026-03-15T01:00:00.000000Z"),
        ] {
            assert_eq!(at(given).as_deref(), Some(time), "{given}");
        }
        for given in [
            "",
            "now",
            "2026-02-29",
            "2026-13-01",
            "2026-3-14",
            "2026-03-14T",
            "2026-03-14T15Z",
            "2026-03-14T15:09",
            "2026-03-14T24:00Z",
            "2026-03-14T15:09:26.Z1",
            "1969-12-31",
            "2026-03-14T15:09:26.1234567890Z",
            "2026-03-14T15:09:26+0200",
            "２０26-03-14",
            "2026-03-1é",
        ] {
            assert_eq!(at(given), None, "{given}");
        }
    }
}
