//! Parses times and durations as people type them, for the command line and the page: `14:30`, `yesterday 9:00`, `2026-03-14`,
//! RFC 3339, or an age.
//!
//! The syntax depends on neither language nor locale. A time without a zone is in the user's zone: on the command line the
//! zone of this machine (`TZ`), on the page the browser's.

use std::env;
use std::ffi::OsString;
#[cfg(unix)]
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{
    DateTime, Datelike as _, FixedOffset, Local, MappedLocalTime, NaiveDate, NaiveDateTime,
    NaiveTime, TimeDelta, TimeZone, Utc,
};

/// The accepted forms of times, for the error message.
pub(crate) const TIME_FORMS: &str = "a time such as 14:30, yesterday 9:00, today, 2026-03-14 or 2026-03-14T15:09:26Z, or how \
                                     long ago, such as 30m, 2h, 3d, 1w";

/// Parses a time with [`time_in`], relative to now and in the zone of this machine.
pub(crate) fn parse_time(text: &str) -> Result<SystemTime, String> {
    let refused = || format!("use {TIME_FORMS}");
    let time = time_in(text, SystemTime::now(), &Local).ok_or_else(refused)?;
    // Without this check an unknown zone would count as UTC.
    if needs_zone(text)
        && let Some(zone) = unknown_zone(env::var_os("TZ"))
    {
        return Err(format!("TZ names no time zone that this computer knows: {zone:?}"));
    }
    Ok(time)
}

/// Whether the time of a text depends on the zone.
fn needs_zone(text: &str) -> bool {
    let text = text.trim_matches(' ');
    ago(text).is_none() && with_zone(text).is_none()
}

/// The zone that `TZ` names, if this computer does not know it. As in POSIX, it is a name, the path of a file, or a rule such as
/// `CET-1CEST,M3.5.0,M10.5.0/3`.
#[cfg(unix)]
fn unknown_zone(given: Option<OsString>) -> Option<OsString> {
    const FILES: [&str; 4] =
        ["/usr/share/zoneinfo", "/share/zoneinfo", "/etc/zoneinfo", "/usr/share/lib/zoneinfo"];
    let given = given?;
    let name = given.to_string_lossy();
    let name = name.strip_prefix(':').unwrap_or(&name);
    let is_rule = || {
        let letters = match name.strip_prefix('<') {
            Some(rest) => rest.find('>').map(|end| end + 2),
            None => name.find(|c: char| !c.is_ascii_alphabetic()).filter(|end| *end >= 3),
        };
        let rest = letters.and_then(|end| name.get(end..)).unwrap_or_default();
        rest.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
    };
    let is_file = || FILES.iter().any(|files| Path::new(files).join(name).is_file());
    let is_known =
        matches!(name, "" | "UTC" | "UTC0" | "GMT" | "localtime") || is_file() || is_rule();
    (!is_known).then_some(given)
}

/// On Windows the zone is a system setting.
#[cfg(not(unix))]
fn unknown_zone(_: Option<OsString>) -> Option<OsString> {
    None
}

/// Parses a time in a zone. Spaces around the text are ignored. `None` if the text has none of these forms:
///
/// - an age: `45s`, `30m`, `2h`, `3d`, `1w`, also written as `-2h`;
/// - a day, a time of the day, or both: `today`, `yesterday`, `2026-03-14`, `14:30`, `9:00:30`, `yesterday 9:00`,
///   `2026-03-14T15:09:26.5`. A day alone means its beginning. A time of day alone means its last occurrence: yesterday's if
///   today's is later than `now`;
/// - any of the second form with its own zone: `14:30Z`, `yesterday 9:00 UTC`, `2026-03-14T15:09:26+02:00`.
///
/// If clocks skip a time, it is moved forward by the length of the gap. If clocks show a time twice, it is the first occurrence.
/// No time is before 1970.
pub(crate) fn time_in(text: &str, now: SystemTime, zone: &impl TimeZone) -> Option<SystemTime> {
    let text = text.trim_matches(' ');
    let time = match ago(text) {
        Some(ago) => now.checked_sub(ago).unwrap_or(UNIX_EPOCH),
        None => match with_zone(text) {
            Some((text, zone)) => on_calendar(text, now, &zone)?,
            None => on_calendar(text, now, zone)?,
        },
    };
    Some(time.max(UNIX_EPOCH))
}

/// An age. It may have a minus sign, as in `-2h`.
fn ago(text: &str) -> Option<Duration> {
    duration(text.strip_prefix('-').unwrap_or(text))
}

/// The zone of a text such as `+02:00`, `Z` or `UTC`.
pub(crate) fn zone(text: &str) -> Option<FixedOffset> {
    if matches!(text, "Z" | "z" | "UTC") {
        return FixedOffset::east_opt(0);
    }
    let (sign, offset) = text.split_at_checked(1)?;
    let (hours, minutes) = offset.split_once(':')?;
    let (hours, minutes) = (number(hours, 2..=2)?, number(minutes, 2..=2)?);
    let seconds = i32::try_from(hours * 3600 + minutes * 60).ok().filter(|_| minutes < 60)?;
    match sign {
        "+" => FixedOffset::east_opt(seconds),
        "-" => FixedOffset::west_opt(seconds),
        _ => None,
    }
}

/// Splits a text that ends with a zone into the text before it and the zone.
fn with_zone(text: &str) -> Option<(&str, FixedOffset)> {
    [1, 3, 6].into_iter().find_map(|length| {
        let (before, end) = text.split_at_checked(text.len().checked_sub(length)?)?;
        Some((before.trim_end_matches(' '), zone(end)?))
    })
}

/// A day, a time of day, or both.
fn on_calendar(text: &str, now: SystemTime, zone: &impl TimeZone) -> Option<SystemTime> {
    let today = DateTime::<Utc>::from(now).with_timezone(zone).date_naive();
    if let Some(clock) = time_of_day(text) {
        return at(today, clock, zone)
            .filter(|time| *time <= now)
            .or_else(|| at(today.pred_opt()?, clock, zone));
    }
    let after = |word: &str| {
        let (start, rest) = text.split_at_checked(word.len())?;
        start.eq_ignore_ascii_case(word).then_some(rest)
    };
    let (day, rest, may_be_joined) = if let Some(rest) = after("today") {
        (today, rest, false)
    } else if let Some(rest) = after("yesterday") {
        (today.pred_opt()?, rest, false)
    } else {
        let (day, rest) = text.split_at_checked(10)?;
        (date(day)?, rest, true)
    };
    if rest.is_empty() {
        return at(day, TimeDelta::zero(), zone);
    }
    let clock = match rest.strip_prefix(['T', 't']) {
        Some(clock) if may_be_joined => clock,
        _ => rest.strip_prefix(' ')?.trim_start_matches(' '),
    };
    at(day, time_of_day(clock)?, zone)
}

/// A date such as `2026-03-14`.
fn date(text: &str) -> Option<NaiveDate> {
    let mut parts = text.split('-');
    let mut part = |digits: usize| number(parts.next()?, digits..=digits);
    let (year, month, day) = (i32::try_from(part(4)?).ok()?, part(2)?, part(2)?);
    let date = NaiveDate::from_ymd_opt(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)?;
    (parts.next().is_none() && date.year() >= 1970).then_some(date)
}

/// The time since midnight of `9:05`, `15:09:26` or `15:09:26.535897`.
fn time_of_day(text: &str) -> Option<TimeDelta> {
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 1..=2)?;
    let minute = number(parts.next()?, 2..=2)?;
    let (second, fraction) = match parts.next() {
        None => (0, None),
        Some(seconds) => match seconds.split_once('.') {
            None => (number(seconds, 2..=2)?, None),
            Some((second, fraction)) => (number(second, 2..=2)?, Some(fraction)),
        },
    };
    // A second of 60 is a leap second.
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let nanos = match fraction {
        None => 0,
        Some(digits) => number(digits, 1..=9)? * 10_i64.pow(9 - u32::try_from(digits.len()).ok()?),
    };
    Some(TimeDelta::seconds(hour * 3600 + minute * 60 + second) + TimeDelta::nanoseconds(nanos))
}

/// A number whose count of ASCII digits is in `digits`.
fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<i64> {
    let is_one = digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| text.parse().ok()).flatten()
}

/// The instant at which clocks in the zone show this time.
fn at(day: NaiveDate, clock: TimeDelta, zone: &impl TimeZone) -> Option<SystemTime> {
    let shown = NaiveDateTime::new(day, NaiveTime::MIN).checked_add_signed(clock)?;
    let time = match zone.from_local_datetime(&shown) {
        MappedLocalTime::Single(time) | MappedLocalTime::Ambiguous(time, _) => time.to_utc(),
        // Move it forward by the length of the gap.
        MappedLocalTime::None => {
            let day_before = TimeDelta::days(1);
            let before = zone.from_local_datetime(&(shown - day_before)).earliest()?;
            before.to_utc().checked_add_signed(day_before)?
        }
    };
    Some(time.into())
}

/// A duration such as `30m`, `2h`, `3d` or `1w`. Zero is an error.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    duration(text).filter(|duration| !duration.is_zero()).ok_or_else(|| {
        "use a number of seconds, minutes, hours, days or weeks, such as 45s, 30m, 2h, 3d, 1w"
            .to_owned()
    })
}

fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let seconds: u64 = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(Duration::from_secs(digits.parse::<u64>().ok()?.checked_mul(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use memdir::text::rfc3339;

    /// Noon on a Saturday.
    const NOW: &str = "2026-03-14T12:00:00Z";

    fn utc(text: &str) -> SystemTime {
        time_in(text, UNIX_EPOCH, &Utc).unwrap()
    }

    /// The result of parsing a text at a time, in a zone this many minutes ahead of UTC.
    fn meant(text: &str, now: &str, minutes: i32) -> Option<String> {
        let zone = FixedOffset::east_opt(minutes * 60).unwrap();
        time_in(text, utc(now), &zone).map(rfc3339)
    }

    #[test]
    fn a_time_is_how_long_ago() {
        for (text, seconds) in [
            ("0s", 0),
            ("45s", 45),
            ("30m", 1800),
            ("2h", 7200),
            (" 3d ", 259_200),
            ("-2h", 7200),
            ("1w", 604_800),
        ] {
            let time = time_in(text, utc(NOW), &Utc).unwrap();
            assert_eq!(utc(NOW).duration_since(time).unwrap().as_secs(), seconds, "{text}");
        }
        assert_eq!(parse_time("90000000w"), Ok(UNIX_EPOCH));
    }

    #[cfg(unix)]
    #[test]
    fn a_zone_that_is_not_known_is_named() {
        let is_known = |zone: &str| unknown_zone(Some(zone.into())).is_none();
        let known =
            ["", "UTC", ":UTC", "UTC0", "CET-1CEST", "<+0330>-3:30", "EST5EDT,M3.2.0,M11.1.0"];
        for zone in known {
            assert!(is_known(zone), "{zone}");
        }
        for zone in ["Nonsense", "Europe/Atlantis", "X", "/dev/null/x", "<+03", "é", "CET-"] {
            assert!(!is_known(zone), "{zone}");
        }
        assert_eq!(unknown_zone(None), None);
        for (text, needs) in
            [("2h", false), ("-2h", false), ("14:30Z", false), ("14:30", true), (" today ", true)]
        {
            assert_eq!(needs_zone(text), needs, "{text}");
        }
    }

    #[test]
    fn a_day_and_a_time_of_the_day_are_in_the_persons_zone() {
        for (text, in_utc, two_hours_ahead) in [
            ("today", "2026-03-14T00:00", "2026-03-13T22:00"),
            ("Yesterday", "2026-03-13T00:00", "2026-03-12T22:00"),
            ("yesterday 9:00", "2026-03-13T09:00", "2026-03-13T07:00"),
            ("yesterday  09:00", "2026-03-13T09:00", "2026-03-13T07:00"),
            ("today 23:59", "2026-03-14T23:59", "2026-03-14T21:59"),
            ("2026-03-14", "2026-03-14T00:00", "2026-03-13T22:00"),
            ("2026-03-14 15:09", "2026-03-14T15:09", "2026-03-14T13:09"),
            ("2026-03-14T15:09", "2026-03-14T15:09", "2026-03-14T13:09"),
            ("9:05", "2026-03-14T09:05", "2026-03-14T07:05"),
        ] {
            let in_full = |time: &str| Some(format!("{time}:00.000000Z"));
            assert_eq!(meant(text, NOW, 0), in_full(in_utc), "{text}");
            assert_eq!(meant(text, NOW, 120), in_full(two_hours_ahead), "{text}");
        }
    }

    #[test]
    fn a_time_of_the_day_alone_is_the_last_one() {
        for (text, now, minutes, time) in [
            ("12:00", NOW, 0, "2026-03-14T12:00:00.000000Z"),
            ("12:01", NOW, 0, "2026-03-13T12:01:00.000000Z"),
            ("12:00:00.000001", NOW, 0, "2026-03-13T12:00:00.000001Z"),
            ("14:30", NOW, 0, "2026-03-13T14:30:00.000000Z"),
            ("14:30", NOW, 240, "2026-03-14T10:30:00.000000Z"),
            ("0:00", NOW, 0, "2026-03-14T00:00:00.000000Z"),
            ("23:59:59", "2026-03-01T00:00:00Z", 0, "2026-02-28T23:59:59.000000Z"),
            // In the user's zone it is already the next day, or still the previous one.
            ("1:00", "2026-03-14T13:00:00Z", 14 * 60, "2026-03-14T11:00:00.000000Z"),
            ("23:00", "2026-03-14T01:00:00Z", -60, "2026-03-14T00:00:00.000000Z"),
            // With its own zone, its last occurrence there.
            ("12:30Z", NOW, 120, "2026-03-13T12:30:00.000000Z"),
            ("9:00 UTC", NOW, 120, "2026-03-14T09:00:00.000000Z"),
            ("13:59+02:00", NOW, 0, "2026-03-14T11:59:00.000000Z"),
        ] {
            assert_eq!(meant(text, now, minutes).as_deref(), Some(time), "{text} at {now}");
        }
    }

    #[test]
    fn a_time_of_rfc_3339_is_that_very_time_in_every_zone() {
        for (text, time) in [
            ("1970-01-01T00:00:00.000000Z", "1970-01-01T00:00:00.000000Z"),
            ("2000-02-29T00:00:00.000001Z", "2000-02-29T00:00:00.000001Z"),
            ("2026-03-14T15:09:26.535897Z", "2026-03-14T15:09:26.535897Z"),
            ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
            ("2026-03-14Z", "2026-03-14T00:00:00.000000Z"),
            ("2026-03-14T15:09Z", "2026-03-14T15:09:00.000000Z"),
            ("2026-03-14 15:09:26z", "2026-03-14T15:09:26.000000Z"),
            ("2026-03-14 15:09:26 UTC", "2026-03-14T15:09:26.000000Z"),
            ("2026-03-14T15:09:26.5+02:00", "2026-03-14T13:09:26.500000Z"),
            ("2026-03-14t15:09:26.123456789+00:00", "2026-03-14T15:09:26.123457Z"),
            ("2026-03-14T23:30-01:30", "2026-03-15T01:00:00.000000Z"),
            ("2026-06-30T23:59:60Z", "2026-07-01T00:00:00.000000Z"),
            // No time is before 1970.
            ("1970-01-01T00:00+01:00", "1970-01-01T00:00:00.000000Z"),
        ] {
            for minutes in [0, 330, -720] {
                assert_eq!(meant(text, NOW, minutes).as_deref(), Some(time), "{text}");
            }
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_sentence_that_names_the_forms() {
        for text in [
            "",
            " ",
            "h",
            "2",
            "--2h",
            "-",
            "-2",
            "+2h",
            "2 h",
            "2.5h",
            "2H",
            "2é",
            "99999999999999999999s",
            "now",
            "gestern",
            "tomorrow",
            "todayish",
            "today9:00",
            "todayT9:00",
            "today 9",
            "yesterday yesterday",
            "yesterday 9:00 9:00",
            "9:00 yesterday",
            "9",
            "9:5",
            "9am",
            "24:00",
            "23:60",
            "23:59:61",
            "123:00",
            ":30",
            "12:30:",
            "12:30:00:00",
            "12:30:00.",
            "-1:00",
            "１２:30",
            "2026-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-3-14",
            "2026-03-14T",
            "2026-03-14T15Z",
            "2026-03-14T24:00Z",
            "2026-03-14T15:09:26.Z1",
            "1969-12-31",
            "2026-03-14T15:09:26.1234567890Z",
            "2026-03-14T15:09:26+0200",
            "2026-03-14T15:09:26+24:00",
            "2026-03-14T15:09:26+02:60",
            "2026-03-14T15:09:26+02:00Z",
            "２０26-03-14",
            "2026-03-1é",
            "UTC",
            "Z",
            "+02:00",
            "14:30 CET",
            "14:30\n",
        ] {
            assert_eq!(meant(text, NOW, 0), None, "{text:?}");
        }
        let refused = parse_time("gestern").unwrap_err();
        for form in ["14:30", "yesterday 9:00", "today", "2026-03-14", "T15:09:26Z", "2h", "1w"] {
            assert!(refused.contains(form), "{refused}");
        }
    }

    #[test]
    fn a_zone_is_an_offset_of_less_than_a_day() {
        for (text, seconds) in [
            ("Z", 0),
            ("UTC", 0),
            ("+00:00", 0),
            ("-00:00", 0),
            ("+05:30", 19_800),
            ("-12:00", -43_200),
            ("+23:59", 86_340),
        ] {
            assert_eq!(zone(text).map(|zone| zone.local_minus_utc()), Some(seconds), "{text}");
        }
        for text in ["", "+", "05:30", "+5:30", "+0530", "+24:00", "+00:60", "utc", "Europe/Berlin"]
        {
            assert_eq!(zone(text), None, "{text}");
        }
    }

    /// Clocks go forward from 2 to 3 on 29 March 2026, and back from 3 to 2 on 25 October, as in Berlin.
    #[derive(Clone)]
    struct Berlin;

    impl TimeZone for Berlin {
        type Offset = FixedOffset;

        fn from_offset(_: &FixedOffset) -> Self {
            Self
        }

        fn offset_from_local_date(&self, _: &NaiveDate) -> MappedLocalTime<FixedOffset> {
            unreachable!("only times are asked for")
        }

        fn offset_from_local_datetime(
            &self,
            local: &NaiveDateTime,
        ) -> MappedLocalTime<FixedOffset> {
            let hours = |hours: i32| FixedOffset::east_opt(hours * 3600).unwrap();
            let fits = |offset: &FixedOffset| {
                self.offset_from_utc_datetime(&(*local - *offset)) == *offset
            };
            let (summer, winter) = (hours(2), hours(1));
            match (fits(&summer), fits(&winter)) {
                (true, true) => MappedLocalTime::Ambiguous(summer, winter),
                (true, false) => MappedLocalTime::Single(summer),
                (false, true) => MappedLocalTime::Single(winter),
                (false, false) => MappedLocalTime::None,
            }
        }

        fn offset_from_utc_date(&self, _: &NaiveDate) -> FixedOffset {
            unreachable!("only times are asked for")
        }

        fn offset_from_utc_datetime(&self, utc: &NaiveDateTime) -> FixedOffset {
            let change = |month, day| {
                NaiveDate::from_ymd_opt(2026, month, day).unwrap().and_hms_opt(1, 0, 0).unwrap()
            };
            let is_summer = (change(3, 29)..change(10, 25)).contains(utc);
            FixedOffset::east_opt(if is_summer { 7200 } else { 3600 }).unwrap()
        }
    }

    #[test]
    fn a_time_that_clocks_skip_or_show_twice_is_one_time() {
        for (text, now, time) in [
            ("2026-03-29 01:59", NOW, "2026-03-29T00:59:00.000000Z"),
            ("2026-03-29 02:30", NOW, "2026-03-29T01:30:00.000000Z"),
            ("2026-03-29 03:30", NOW, "2026-03-29T01:30:00.000000Z"),
            ("2026-10-25 02:30", NOW, "2026-10-25T00:30:00.000000Z"),
            ("2026-10-25 03:00", NOW, "2026-10-25T02:00:00.000000Z"),
            // Between the two occurrences, the first one is the last that has passed.
            ("2:30", "2026-10-25T01:00:00Z", "2026-10-25T00:30:00.000000Z"),
            ("yesterday 9:00", "2026-03-29T10:00:00Z", "2026-03-28T08:00:00.000000Z"),
            ("today", "2026-03-29T10:00:00Z", "2026-03-28T23:00:00.000000Z"),
        ] {
            assert_eq!(
                time_in(text, utc(now), &Berlin).map(rfc3339).as_deref(),
                Some(time),
                "{text}"
            );
        }
    }

    #[test]
    fn a_duration_is_not_nothing() {
        assert_eq!(parse_duration("90d"), Ok(Duration::from_secs(90 * 86_400)));
        for text in ["", "0s", "14:30", "today", "s"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
