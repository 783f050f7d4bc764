//! [`AgeClock`]: the time that decides which records are too old to be kept.
//!
//! A removed version is gone for good, and the clock of a machine may be wrong by a year. So this clock starts at the newest record
//! that a process finds, and no jump of the machine's clock counts for more than a day. If the machine's clock is right, the
//! process's own records prove it to the next process.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use memdir_store::HistoryId;
use memdir_store::clock;

use super::journal::Stored;

/// The longest accepted jump of the clock between two readings: a night during which the machine sleeps.
const LEAP: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Debug, Clone, Copy)]
pub(super) struct AgeClock {
    believed: SystemTime,
    /// The machine's clock at the last reading, and the instant of that reading.
    own: SystemTime,
    looked: Instant,
}

impl AgeClock {
    /// The clock of a process that finds these records.
    pub(super) fn new(records: &[Stored]) -> Self {
        Self::starting(records, clock::now(), Instant::now())
    }

    fn starting(records: &[Stored], own: SystemTime, looked: Instant) -> Self {
        let newest = believable(records, own).max();
        let believed = newest.map_or(own, |newest| own.min(newest + LEAP));
        Self { believed, own, looked }
    }

    /// The current time.
    pub(super) fn now(&mut self) -> SystemTime {
        self.at(clock::now(), Instant::now())
    }

    fn at(&mut self, own: SystemTime, looked: Instant) -> SystemTime {
        let passed = looked.saturating_duration_since(self.looked);
        let leap = own.duration_since(self.own).unwrap_or_default();
        self.believed += leap.min(passed.max(LEAP));
        (self.own, self.looked) = (own, looked);
        self.believed.min(own)
    }

    /// Whether the machine's clock is ahead of this clock.
    pub(super) fn is_doubted(&self) -> bool {
        self.believed < self.own
    }
}

fn believable(records: &[Stored], now: SystemTime) -> impl Iterator<Item = SystemTime> {
    records.iter().map(|stored| stored.header.id.time()).filter(move |time| *time <= now)
}

/// An upper bound of the time of each record. If a clock was behind, its records count as no older than the records before
/// them. Times in the future are ignored.
pub(super) fn times(records: &[Stored], now: SystemTime) -> HashMap<HistoryId, SystemTime> {
    let mut latest = SystemTime::UNIX_EPOCH;
    let mut times = HashMap::new();
    for stored in records {
        let time = stored.header.id.time();
        if time <= now {
            latest = latest.max(time);
        }
        let is_known = latest > SystemTime::UNIX_EPOCH;
        times.insert(stored.header.id, if is_known { latest } else { time });
    }
    times
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::place::Place;
    use crate::record::Record;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn day(number: u32) -> SystemTime {
        SystemTime::UNIX_EPOCH + DAY * number
    }

    /// Records that were written on these days.
    fn records(days: &[u32]) -> Vec<Stored> {
        let stored = |day: &u32| {
            let millis = u64::from(*day) * 24 * 60 * 60 * 1_000;
            let (high, low) = (millis >> 16, millis & 0xffff);
            let id: HistoryId =
                format!("{high:08x}-{low:04x}-7000-8000-000000000000").parse().unwrap();
            let header = Arc::new(Record::new(id, id, None).header);
            Stored { header, place: Place::default(), len: 0 }
        };
        days.iter().map(stored).collect()
    }

    #[test]
    fn a_clock_that_agrees_with_the_records_is_believed() {
        let start = Instant::now();
        let mut clock = AgeClock::starting(&records(&[100, 101]), day(102), start);
        assert_eq!(clock.at(day(102), start), day(102));
        // A night during which the machine slept, and a week during which it ran.
        assert_eq!(clock.at(day(103), start), day(103));
        assert_eq!(clock.at(day(110), start + 7 * DAY), day(110));
        assert!(!clock.is_doubted());
    }

    #[test]
    fn a_clock_that_is_a_year_ahead_is_not_believed_but_goes_on() {
        let start = Instant::now();
        let mut clock = AgeClock::starting(&records(&[100, 101]), day(101 + 365), start);
        assert_eq!(clock.at(day(101 + 365), start), day(102));
        assert!(clock.is_doubted());
        assert_eq!(clock.at(day(104 + 365), start + 3 * DAY), day(105));
        // The clock is corrected.
        assert_eq!(clock.at(day(104), start + 3 * DAY), day(104));
        assert!(
            AgeClock::starting(&records(&[101 + 365]), day(101 + 365), start).believed
                == day(101 + 365)
        );
    }

    #[test]
    fn a_leap_within_a_process_counts_for_a_day() {
        let start = Instant::now();
        let mut clock = AgeClock::starting(&[], day(100), start);
        assert_eq!(clock.at(day(465), start), day(101));
        // The clock is behind, so nothing is old.
        assert_eq!(clock.at(day(50), start), day(50));
    }

    #[test]
    fn a_record_is_as_new_as_those_before_it() {
        let records = records(&[100, 465, 10, 102, 101]);
        let times = times(&records, day(103));
        let times: Vec<SystemTime> =
            records.iter().map(|stored| times[&stored.header.id]).collect();
        assert_eq!(times, [100, 100, 100, 102, 102].map(day));
    }
}
