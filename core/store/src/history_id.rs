//! [`HistoryId`]: the id of a change and of each of its versions. Ids sort by time.
//!
//! An id is a UUID of version 7 (RFC 9562). In the id of a record of the journal the last 24 bits are zero; in the id of a
//! version they are its number within the record. So a version's id contains its position, which needs no field of its own.
//! This number, and times that always increase within a process, are the reason not to use the `uuid` crate's own
//! constructor.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use uuid::fmt::Hyphenated;
use uuid::{Builder, Uuid, Variant, Version};

use crate::{StoreError, clock};

/// The number of bits that number the versions of one record.
const COUNTER_BITS: u32 = 24;
const COUNTER: u128 = (1 << COUNTER_BITS) - 1;

/// The id of a `Version`, or of a change, which consists of one or more versions that were made together.
///
/// Ids sort by time, as values and as texts.
///
/// ```
/// use memdir::history::HistoryId;
///
/// let id: HistoryId = "01990a3c-7c00-7123-8456-789abc000001".parse()?;
/// assert_eq!(id.to_string(), "01990a3c-7c00-7123-8456-789abc000001");
/// assert!("yesterday".parse::<HistoryId>().is_err());
/// # Ok::<(), memdir::history::NoHistoryId>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HistoryId(Uuid);

/// The text is not the id of a version or a change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the id of a version or a change")]
pub struct NoHistoryId;

impl HistoryId {
    /// The smallest id, before all others.
    pub const EARLIEST: Self = Self(Uuid::from_u128(0x7 << 76 | 0x8 << 60));

    /// A new id for a record, later than all other ids of this process.
    pub fn new() -> Result<Self, StoreError> {
        let ticks = clock::read(|now, latest| {
            let ticks = ticks_of(now);
            let later = |latest| (latest >= ticks).then_some(latest + 1).or(Some(ticks));
            let updated = latest.fetch_update(Ordering::SeqCst, Ordering::SeqCst, later);
            updated.map_or(ticks, |latest| ticks.max(latest + 1))
        });
        let (millis, fraction) = (ticks >> 12, (ticks & 0xfff) as u16);
        // The counter is zero, and the bits between it and the time are random.
        let mut rest = [0; 10];
        rest[..2].copy_from_slice(&fraction.to_be_bytes());
        getrandom::fill(&mut rest[2..7]).map_err(|error| {
            StoreError::failed("drawing a random number", std::io::Error::other(error)).unchanged()
        })?;
        Ok(Self(Builder::from_unix_timestamp_millis(millis, &rest).into_uuid()))
    }

    /// Makes all ids created from now on later than this one. Ignores an id from a clock that is more than a minute ahead,
    /// because its error would spread.
    pub fn seen(self) {
        const MINUTE: u64 = 60 * 1_000 * 4096;
        let ticks = self.ticks();
        clock::read(|now, latest| {
            if ticks <= ticks_of(now) + MINUTE {
                latest.fetch_max(ticks, Ordering::SeqCst);
            }
        });
    }

    /// The id of the version with this number within the record.
    pub fn numbered(self, number: usize) -> Self {
        Self(Uuid::from_u128(self.record().0.as_u128() | (number as u128 & COUNTER)))
    }

    /// The number of the version within the record.
    pub fn number(self) -> usize {
        (self.0.as_u128() & COUNTER) as usize
    }

    /// Another id of the same time, for a record that also exists in another place. For 0 it is the same id.
    pub fn beside(self, place: usize) -> Self {
        const RANDOM_BITS: u32 = 62 - COUNTER_BITS;
        let random = (place as u128 & ((1 << RANDOM_BITS) - 1)) << COUNTER_BITS;
        Self(Uuid::from_u128(self.0.as_u128() ^ random))
    }

    /// The id of the record that this id belongs to.
    pub fn record(self) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() & !COUNTER))
    }

    /// The time when the id was created, by the clock of that machine. It has whole microseconds, so a language that counts
    /// microseconds keeps it exactly.
    #[must_use]
    pub fn time(self) -> SystemTime {
        let ticks = self.ticks();
        UNIX_EPOCH
            + Duration::from_millis(ticks >> 12)
            + Duration::from_micros((ticks & 0xfff) * 1_000 / 4096)
    }

    /// The time when the id was created, in 1/4096 milliseconds since 1970.
    fn ticks(self) -> u64 {
        let (high, _) = self.0.as_u64_pair();
        high >> 16 << 12 | high & 0xfff
    }
}

/// A time, in 1/4096 milliseconds since 1970.
fn ticks_of(time: SystemTime) -> u64 {
    let now = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let ticks = u64::try_from(now.as_nanos() * 4096 / 1_000_000).unwrap_or(u64::MAX);
    ticks & ((1 << 60) - 1)
}

impl fmt::Display for HistoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for HistoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for HistoryId {
    type Err = NoHistoryId;

    fn from_str(text: &str) -> Result<Self, NoHistoryId> {
        // Only the form with dashes has this length.
        let id = Uuid::try_parse(text).ok().filter(|_| text.len() == Hyphenated::LENGTH);
        let id = id.filter(|id| {
            id.get_version() == Some(Version::SortRand) && id.get_variant() == Variant::RFC4122
        });
        id.map(Self).ok_or(NoHistoryId)
    }
}

impl serde::Serialize for HistoryId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for HistoryId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::micros;

    #[test]
    fn ids_sort_by_time_as_values_and_as_texts() {
        let ids: Vec<HistoryId> = (0..10_000).map(|_| HistoryId::new().unwrap()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        let texts: Vec<String> = ids.iter().map(ToString::to_string).collect();
        assert!(texts.is_sorted_by(|a, b| a < b));
        // Another test has moved the time of ids ahead.
        let time = HistoryId::new().unwrap().time();
        assert!(time > SystemTime::now() - Duration::from_secs(60));
    }

    #[test]
    fn an_id_is_read_as_it_is_written() {
        let id = HistoryId::new().unwrap();
        assert_eq!(id.record(), id);
        let third = id.numbered(3);
        assert_eq!(third.record(), id);
        assert_ne!(third, id);
        for id in [id, third, id.numbered(usize::MAX)] {
            assert_eq!(id.to_string().parse(), Ok(id));
            assert_eq!(id.to_string().to_uppercase().parse(), Ok(id));
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        let good = HistoryId::new().unwrap().to_string();
        let no_dash = good.replace('-', "0");
        let version_4 = "936da01f-9abd-4d9d-80c7-02af85c822a8";
        for text in ["", "1", &good[1..], &no_dash, version_4, &format!("{good}0"), "é"] {
            assert_eq!(text.parse::<HistoryId>(), Err(NoHistoryId), "{text}");
        }
    }

    #[test]
    fn a_time_in_microseconds_is_the_same_time() {
        for _ in 0..1_000 {
            let time = HistoryId::new().unwrap().time();
            assert_eq!(micros::time(micros::of(time)), Some(time));
        }
    }

    #[test]
    fn a_clock_that_went_back_does_not_bring_earlier_ids() {
        let id = HistoryId::new().unwrap();
        let ahead = HistoryId(Uuid::from_u128(id.0.as_u128() + (60_000 << 80)));
        ahead.seen();
        assert!(HistoryId::new().unwrap() > ahead);
    }

    #[test]
    fn a_clock_that_is_far_ahead_does_not_bring_later_ids() {
        let id = HistoryId::new().unwrap();
        let ahead = HistoryId(Uuid::from_u128(id.0.as_u128() + (200_000 << 80)));
        ahead.seen();
        assert!(HistoryId::new().unwrap() < ahead);
        assert!(HistoryId::EARLIEST < id);
        assert_eq!(HistoryId::EARLIEST.to_string().parse(), Ok(HistoryId::EARLIEST));
        assert_eq!(HistoryId::EARLIEST.time(), UNIX_EPOCH);
    }
}
