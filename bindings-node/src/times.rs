//! Times as in JavaScript, in milliseconds since 1970. WebAssembly (`bindings-wasm`) shares this file.

use std::time::SystemTime;

use memdir::Error;
use memdir::store::micros;
use memdir::value::Value;
use memdir_bindings_shared::arguments::wrong;

/// The milliseconds of the latest possible `Date`. The earliest is as far before 1970.
const LAST_DATE: f64 = 8.64e15;

/// Milliseconds, with the microseconds as their fraction.
#[expect(clippy::cast_precision_loss, reason = "exact until the year 2109")]
pub(crate) fn to_millis(time: SystemTime) -> f64 {
    micros::of(time) as f64 / 1_000.0
}

/// `None` for a number that is not a time.
pub(crate) fn from_millis(millis: f64) -> Option<SystemTime> {
    micros::time_of_float(millis * 1_000.0)
}

/// Reads an argument that is a time, in milliseconds since 1970.
pub(crate) fn millis(name: &str, given: &Value<'_>) -> Result<SystemTime, Error> {
    let number = match given {
        #[expect(clippy::cast_precision_loss, reason = "exact for 285,000 years of milliseconds")]
        Value::Integer(number) => Some(*number as f64),
        Value::Number(number) => Some(*number),
        _ => None,
    };
    let time = number.and_then(from_millis);
    time.ok_or_else(|| wrong(name, " must be a number of milliseconds since 1970", given))
}

/// The milliseconds of a `Date`, which are whole. A time outside the range of `Date` becomes the last or the first one,
/// because an invalid `Date` throws an error when it is formatted.
pub(crate) fn of_date(time: SystemTime) -> f64 {
    to_millis(time).floor().clamp(-LAST_DATE, LAST_DATE)
}

/// The nanoseconds to add to a `Date` to reach the end of its millisecond. Changes within the millisecond then count as
/// done at that time, so restoring to a version's time includes the version.
pub(crate) const LAST_NANOS: u64 = 999_999;
