//! Times from the host.

use std::time::SystemTime;

use memdir::store::micros;

/// The microsecond that the host meant. Swift's `Date` is a floating-point number, so it may be off
/// by a few nanoseconds.
pub(crate) fn meant(time: SystemTime) -> SystemTime {
    micros::time(micros::of(time)).unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_the_nearest_microsecond() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_micros(1_234_567_890_123_456);
        for off in [0, 120, 499].map(Duration::from_nanos) {
            assert_eq!((meant(time - off), meant(time + off)), (time, time));
        }
    }
}
