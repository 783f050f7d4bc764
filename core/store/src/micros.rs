//! Times in microseconds since 1970, as databases and other languages store them. Earlier times are negative.

use std::time::{Duration, SystemTime};

/// The nearest microsecond to `time`. Rounding is needed because a language with floating-point times returns a time that
/// is off by a few nanoseconds.
#[must_use]
pub fn of(time: SystemTime) -> i64 {
    let micros =
        |duration: Duration| i64::try_from((duration.as_nanos() + 500) / 1_000).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    }
}

/// The time `micros` microseconds after 1970; `None` if the system cannot represent it.
#[must_use]
pub fn time(micros: i64) -> Option<SystemTime> {
    let distance = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
}

/// As [`time()`], for a floating-point number from another language or format, rounded to the nearest microsecond. `None`
/// also for infinity, for NaN, and for a number outside the range of an `i64`.
#[must_use]
pub fn time_of_float(micros: f64) -> Option<SystemTime> {
    /// The first number that is too large.
    const END: f64 = 9_223_372_036_854_775_808.0;
    let micros = micros.round();
    #[expect(clippy::cast_possible_truncation, reason = "it is within the range")]
    (-END..END).contains(&micros).then_some(micros as i64).and_then(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back() {
        for micros in [0, 1, -1, 1_700_000_000_123_456, -1_000_000_000_000_001] {
            assert_eq!(time(micros).map(of), Some(micros));
            for off in [0, 1, 499].map(Duration::from_nanos) {
                assert_eq!(
                    time(micros).map(|time| (of(time + off), of(time - off))),
                    Some((micros, micros))
                );
            }
        }
    }

    #[test]
    fn a_number_that_is_no_time_is_none() {
        for (micros, expected) in
            [(0.0, 0), (-0.0, 0), (1.4, 1), (-1.6, -2), (1e17, 10_i64.pow(17))]
        {
            assert_eq!(time_of_float(micros).map(of), Some(expected), "{micros}");
        }
        let huge = [9_223_372_036_854_775_808.0, 1e19, 1e300, f64::MAX, f64::INFINITY];
        for micros in huge.into_iter().chain([f64::NAN]) {
            assert_eq!(
                (time_of_float(micros), time_of_float(-micros * 1.1)),
                (None, None),
                "{micros}"
            );
        }
    }
}
