//! Times as text in RFC 3339 format in UTC, `2026-03-14T15:09:26.535897Z`, and times in serialized values.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Serialize as _, Serializer};

use crate::micros;

/// The name of the newtype that [`serialize`] produces.
pub const TIME: &str = "memdir::Time";

/// The name of the newtype that [`serialize_duration`] produces.
pub const SECONDS: &str = "memdir::Seconds";

/// A time as text in RFC 3339 format in UTC, to the microsecond, as the history and the program `memdir` show it. A time outside the
/// supported range becomes the first or the last supported time; the first is the start of 1970.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use memdir::text::rfc3339;
///
/// assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(1_500)), "1970-01-01T00:00:01.500000Z");
/// ```
#[must_use]
pub fn rfc3339(time: SystemTime) -> String {
    // Round to the nearest microsecond, as stores do.
    let time = micros::time(micros::of(time)).unwrap_or(time);
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, since.subsec_nanos())
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
        .to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// Parses a text in RFC 3339 format, such as [`rfc3339`] returns, with a `Z` or an offset. The result is rounded to microseconds. `None`
/// for any other text.
#[must_use]
pub fn parse(text: &str) -> Option<SystemTime> {
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    micros::time(micros::of(SystemTime::from(time)))
}

/// Serializes a time: as [`rfc3339`] in a human-readable format such as JSON. In any other format, as the [microseconds](micros::of) since
/// 1970 in a newtype with the name [`TIME`], so a language can convert it into its own type.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(time: &SystemTime, to: S) -> Result<S::Ok, S::Error> {
    if to.is_human_readable() {
        return to.serialize_str(&rfc3339(*time));
    }
    to.serialize_newtype_struct(TIME, &micros::of(*time))
}

/// As [`serialize`], for a time that may be unknown.
///
/// # Errors
/// Those of the serializer.
pub fn serialize_optional<S: Serializer>(
    time: &Option<SystemTime>,
    to: S,
) -> Result<S::Ok, S::Error> {
    time.map(Known).serialize(to)
}

/// Serializes a duration: as seconds in floating point. In a format that is not human-readable, in a newtype with the name [`SECONDS`].
///
/// # Errors
/// Those of the serializer.
pub fn serialize_duration<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
    let seconds = duration.as_secs_f64();
    if to.is_human_readable() {
        return to.serialize_f64(seconds);
    }
    to.serialize_newtype_struct(SECONDS, &seconds)
}

struct Known(SystemTime);

impl serde::Serialize for Known {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, to)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_time_is_written_to_the_microsecond_on_the_days_of_the_calendar() {
        for (seconds, micros, text) in [
            (0, 0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, 1, "2000-02-29T00:00:00.000001Z"),
            (1_773_500_966, 535_897, "2026-03-14T15:09:26.535897Z"),
            (4_102_444_799, 999_999, "2099-12-31T23:59:59.999999Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(micros);
            assert_eq!(rfc3339(time), text);
            assert_eq!(parse(text), Some(time));
            for off in [1, 499].map(Duration::from_nanos) {
                assert_eq!(rfc3339(time + off), text);
                assert_eq!(rfc3339(time.checked_sub(off).unwrap_or(time)), text);
            }
        }
    }

    #[test]
    fn an_offset_is_counted_and_any_other_text_is_no_time() {
        let micros = |text| parse(text).map(micros::of);
        assert_eq!(micros("1970-01-01T02:00:00+02:00"), Some(0));
        assert_eq!(micros("1969-12-31T23:59:59.999999Z"), Some(-1));
        assert_eq!(micros("1970-01-01T00:00:00.0000014Z"), Some(1));
        for wrong in ["", "1970-01-01", "1970-01-01T00:00:00", "0", "1970-13-01T00:00:00Z", "now"] {
            assert_eq!(micros(wrong), None, "{wrong}");
        }
    }
}
