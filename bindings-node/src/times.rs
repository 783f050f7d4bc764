//! Times as JavaScript counts them, in milliseconds since 1970. WebAssembly has the same (`bindings-wasm`).

use std::time::SystemTime;

use memdir::store::micros;

/// The milliseconds of the last `Date`; the first one has as many before 1970.
const LAST_DATE: f64 = 8.64e15;

/// Milliseconds; the microseconds are their fraction.
#[expect(clippy::cast_precision_loss, reason = "exact until the year 2109")]
pub(crate) fn to_millis(time: SystemTime) -> f64 {
    micros::of(time) as f64 / 1_000.0
}

/// `None` for a number that is not a time.
pub(crate) fn from_millis(millis: f64) -> Option<SystemTime> {
    micros::time_of_float(millis * 1_000.0)
}

/// The milliseconds of a `Date`, which are whole. A time that no `Date` reaches becomes the last or the first one, because an
/// invalid `Date` throws an error when it is shown.
pub(crate) fn of_date(time: SystemTime) -> f64 {
    to_millis(time).floor().clamp(-LAST_DATE, LAST_DATE)
}

/// The nanoseconds after a `Date` within its millisecond. What was done then belongs to it, so the time of a version is a time
/// with this version.
pub(crate) const LAST_NANOS: u64 = 999_999;
