//! Times as databases and other languages keep them: microseconds since 1970, before it negative.

use std::time::{Duration, SystemTime};

/// The microsecond that is nearest to `time`. Nearest, because a language that counts in floating
/// point gives a time back that is a few nanoseconds off.
#[must_use]
pub fn of(time: SystemTime) -> i64 {
    let micros =
        |duration: Duration| i64::try_from((duration.as_nanos() + 500) / 1_000).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    }
}

/// The time that is so many microseconds after 1970; `None` for what the system's clock cannot show.
#[must_use]
pub fn time(micros: i64) -> Option<SystemTime> {
    let distance = Duration::from_micros(micros.unsigned_abs());
    if micros < 0 {
        SystemTime::UNIX_EPOCH.checked_sub(distance)
    } else {
        SystemTime::UNIX_EPOCH.checked_add(distance)
    }
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
}
