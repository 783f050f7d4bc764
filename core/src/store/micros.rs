//! Times as databases keep them: microseconds since 1970, before it negative.

use std::time::{Duration, SystemTime};

pub(crate) fn of(time: SystemTime) -> i64 {
    let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) => micros(since),
        Err(before) => -micros(before.duration()),
    }
}

/// `None` for what the system's clock cannot show.
#[cfg(any(test, feature = "postgres", feature = "sqlite"))]
pub(super) fn time(micros: i64) -> Option<SystemTime> {
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
        }
    }
}
