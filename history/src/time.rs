//! Times as text, in the form of RFC 3339 in UTC: `2026-03-14T15:09:26.535897Z`.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat, Utc};

/// A time as text, to the microsecond, in the form of RFC 3339 in UTC: as the history and the program `memdir` show it. A time that
/// the calendar does not reach becomes its first or last, of which the first is 1970.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
/// use memdir::text::rfc3339;
///
/// assert_eq!(rfc3339(UNIX_EPOCH + Duration::from_millis(1_500)), "1970-01-01T00:00:01.500000Z");
/// ```
#[must_use]
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    DateTime::from_timestamp(seconds, since.subsec_nanos())
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
        .to_rfc3339_opts(SecondsFormat::Micros, true)
}

/// The same for a field of a serialized value.
pub(crate) fn optional_as_text<S: serde::Serializer>(
    time: &Option<SystemTime>,
    to: S,
) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&time.map(rfc3339), to)
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
        }
    }
}
