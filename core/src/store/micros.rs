//! Times in microseconds since 1970, as databases and other languages keep them. Earlier times are
//! negative.

use std::time::{Duration, SystemTime};

/// The nearest microsecond to `time`. It is rounded, because a language that keeps times in floating
/// point returns a time that is off by a few nanoseconds.
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
