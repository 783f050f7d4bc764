//! Renders times, relative and exact.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, FixedOffset, Utc};
use maud::{Markup, html};

use memdir::text::rfc3339;

/// The age, with the exact time as a tooltip. The script keeps the age up to date.
pub(in crate::page) fn time(time: SystemTime) -> Markup {
    let exact = rfc3339(time);
    let title = exact.get(..19).unwrap_or(&exact).replace('T', " ");
    html! { time datetime=(exact) title={ (title) " UTC" } { (ago(SystemTime::now(), time)) } }
}

/// A time to the second in a zone: `2026-03-14 16:09:26 UTC+01:00`.
pub(in crate::page) fn clock(time: SystemTime, zone: FixedOffset) -> String {
    let shown = DateTime::<Utc>::from(time).with_timezone(&zone).format("%Y-%m-%d %H:%M:%S");
    format!("{shown} {}", zone_name(zone))
}

/// `UTC`, or the offset of a zone from UTC: `UTC+01:00`.
pub(in crate::page) fn zone_name(zone: FixedOffset) -> String {
    if zone.local_minus_utc() == 0 { "UTC".to_owned() } else { format!("UTC{zone}") }
}

/// The age in a table, where the time may be unknown.
pub(in crate::page) fn age(known: Option<SystemTime>) -> Markup {
    html! { @if let Some(known) = known { (time(known)) } @else { span.unknown { "–" } } }
}

/// The same in short form: `3m`.
pub(in crate::page) fn short_age(time: SystemTime) -> Markup {
    let exact = rfc3339(time);
    let title = exact.get(..19).unwrap_or(&exact).replace('T', " ");
    html! { time.short datetime=(exact) title={ (title) " UTC" } { (short(SystemTime::now(), time)) } }
}

fn short(now: SystemTime, time: SystemTime) -> String {
    let seconds = now.duration_since(time).unwrap_or(Duration::ZERO).as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "s"),
        60..3_600 => (seconds / 60, "m"),
        3_600..86_400 => (seconds / 3_600, "h"),
        86_400..31_536_000 => (seconds / 86_400, "d"),
        _ => (seconds / 31_536_000, "y"),
    };
    format!("{count}{unit}")
}

/// The age in words. The script uses the same words (`assets/times.js`).
fn ago(now: SystemTime, time: SystemTime) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let seconds = now.duration_since(time).unwrap_or(Duration::ZERO).as_secs();
    let several =
        |count: u64, unit: &str| format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" });
    match seconds {
        0..10 => "just now".to_owned(),
        10..MINUTE => format!("{seconds} s ago"),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => several(seconds / HOUR, "hour"),
        DAY..2_592_000 => several(seconds / DAY, "day"),
        2_592_000..31_536_000 => several(seconds / 2_592_000, "month"),
        _ => several(seconds / 31_536_000, "year"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_as_clocks_in_a_zone_show_it() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_773_500_966_535);
        for (minutes, shown) in [
            (0, "2026-03-14 15:09:26 UTC"),
            (60, "2026-03-14 16:09:26 UTC+01:00"),
            (-930, "2026-03-13 23:39:26 UTC-15:30"),
        ] {
            assert_eq!(clock(time, FixedOffset::east_opt(minutes * 60).unwrap()), shown);
        }
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000_000);
        for (seconds, said) in [
            (0, "just now"),
            (12, "12 s ago"),
            (60, "1 min ago"),
            (3_600, "1 hour ago"),
            (86_399, "23 hours ago"),
            (86_400, "1 day ago"),
            (5_000_000, "1 month ago"),
            (70_000_000, "2 years ago"),
        ] {
            assert_eq!(ago(now, now - Duration::from_secs(seconds)), said);
        }
        assert_eq!(ago(now, now + Duration::from_secs(9)), "just now");
    }
}
