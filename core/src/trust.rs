//! The rule by which a search or a sync believes that a file has not changed, without reading it.
//!
//! An exact fingerprint is enough. A fingerprint of a file system holds the time of the last change, and a clock that ticks: two contents that
//! are written within one tick may have the same fingerprint. So a content that was read within the tick of its last change is not believed by
//! the next search. Git has the same rule for its index.
//!
//! The content is believed if the tick was over when it was read. There are two ways to know that:
//!
//! - The wall clock is well past the time of the last change. This takes the clock of the file system for that of this machine.
//! - The same fingerprint was already seen a while ago, by a clock that cannot be set. This also works if the file system's clock is ahead.

use std::time::{Duration, Instant, SystemTime};

use crate::store::{Entry, Fingerprint, Fingerprints};

/// Longer than a tick of the clock of any common file system: FAT has the longest, two seconds.
pub(crate) const TICK: Duration = Duration::from_secs(3);

/// Two clocks, read at the same moment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) wall: SystemTime,
    pub(crate) steady: Instant,
}

impl Moment {
    pub(crate) fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }
}

/// The fingerprint of the content that was read, and how far it can be trusted.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    fingerprint: Option<Fingerprint>,
    /// The end of the first listing that had this fingerprint.
    since: Instant,
    is_trusted: bool,
}

impl Seen {
    /// For a content that is read after a listing, which began and ended at these moments. `before` is what was known of the file.
    pub(crate) fn new(
        entry: &Entry,
        kind: Fingerprints,
        (began, ended): (Moment, Moment),
        before: Option<&Self>,
    ) -> Self {
        let fingerprint = entry.fingerprint.clone();
        let before =
            before.filter(|before| fingerprint.is_some() && before.fingerprint == fingerprint);
        let since = before.map_or(ended.steady, |before| before.since);
        let is_past = |changed: SystemTime| {
            began.wall.duration_since(changed).is_ok_and(|passed| passed >= TICK)
        };
        let is_trusted = fingerprint.is_some()
            && (kind == Fingerprints::Exact
                || entry.changed.is_some_and(is_past)
                || began.steady.saturating_duration_since(since) >= TICK);
        Self { fingerprint, since, is_trusted }
    }

    /// The fingerprint, if it is proof of the content.
    pub(crate) fn trusted(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref().filter(|_| self.is_trusted)
    }
}

/// For searches, which keep this for each file.
#[cfg(feature = "search")]
impl Seen {
    /// For a content that another process has read. A fingerprint that it trusted stays proof of the content. Nothing else that it
    /// knew can be used, because its clocks are not ours.
    pub(crate) fn kept(fingerprint: Option<Fingerprint>) -> Self {
        let is_trusted = fingerprint.is_some();
        Self { fingerprint, since: Instant::now(), is_trusted }
    }

    /// Whether the fingerprint is proof of the content.
    pub(crate) fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    /// Whether the file certainly has the content that was read.
    pub(crate) fn is_current(&self, entry: &Entry) -> bool {
        self.is_trusted && self.has_fingerprint_of(entry)
    }

    /// Whether the fingerprint says that the file has the content that was read.
    pub(crate) fn has_fingerprint_of(&self, entry: &Entry) -> bool {
        self.fingerprint.is_some() && self.fingerprint == entry.fingerprint
    }
}

#[cfg(feature = "search")]
#[cfg(test)]
mod tests {
    use memdir_store::MemoryPath;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn entry(number: u64, changed: Option<SystemTime>) -> Entry {
        let path = MemoryPath::parse("/memories/a.md").unwrap();
        let file = Entry::file(path, 1).changed_at(changed);
        file.with_fingerprint(Some(Fingerprint::of_numbers(&[number])))
    }

    fn after(moment: Moment, passed: Duration) -> Moment {
        Moment { wall: moment.wall + passed, steady: moment.steady + passed }
    }

    #[test]
    fn an_exact_fingerprint_is_trusted_at_once_and_another_one_is_not_current() {
        let now = Moment::now();
        let seen = Seen::new(&entry(1, None), Fingerprints::Exact, (now, now), None);
        assert!(seen.is_current(&entry(1, None)) && !seen.is_current(&entry(2, None)));
    }

    #[test]
    fn a_likely_fingerprint_is_trusted_once_its_tick_is_over() {
        let now = Moment::now();
        for (passed, is_trusted) in [
            (Duration::ZERO, false),
            (TICK - Duration::from_nanos(1), false),
            (TICK, true),
            (1000 * SECOND, true),
        ] {
            let entry = entry(1, Some(now.wall));
            let listed = (after(now, passed), after(now, passed + 10 * SECOND));
            let seen = Seen::new(&entry, Fingerprints::Likely, listed, None);
            assert_eq!(seen.is_current(&entry), is_trusted, "{passed:?}");
        }
    }

    #[test]
    fn a_time_in_the_future_or_none_is_trusted_by_the_clock_that_cannot_be_set() {
        let now = Moment::now();
        for changed in [None, Some(now.wall + 1_000_000 * SECOND)] {
            for kind in [Fingerprints::Absent, Fingerprints::Likely] {
                let entry = entry(1, changed);
                // The listing took long. Only its end is a moment at which the fingerprint was there.
                let first = Seen::new(&entry, kind, (now, after(now, 5 * SECOND)), None);
                assert!(!first.is_current(&entry));
                let again = |at: Duration| {
                    Seen::new(&entry, kind, (after(now, at), after(now, at)), Some(&first))
                };
                assert!(!again(5 * SECOND + TICK - Duration::from_nanos(1)).is_current(&entry));
                assert!(again(5 * SECOND + TICK).is_current(&entry));
                // The time of the first sight stays while the fingerprint does.
                let soon = again(6 * SECOND);
                let at = after(now, 5 * SECOND + TICK);
                assert!(Seen::new(&entry, kind, (at, at), Some(&soon)).is_current(&entry));
            }
        }
    }

    #[test]
    fn a_new_fingerprint_begins_anew() {
        let now = Moment::now();
        let first = Seen::new(&entry(1, None), Fingerprints::Likely, (now, now), None);
        let later = after(now, 100 * SECOND);
        let other = Seen::new(&entry(2, None), Fingerprints::Likely, (later, later), Some(&first));
        assert!(!other.is_current(&entry(2, None)));
    }

    #[test]
    fn a_clock_that_was_set_back_is_no_proof() {
        let now = Moment::now();
        let back = Moment { wall: now.wall - 1000 * SECOND, steady: now.steady + SECOND };
        let entry = entry(1, Some(now.wall));
        let seen = Seen::new(&entry, Fingerprints::Likely, (back, back), None);
        assert!(!seen.is_current(&entry));
    }

    #[test]
    fn a_file_without_a_fingerprint_is_always_read() {
        let now = Moment::now();
        let without = entry(1, None).with_fingerprint(None);
        let first = Seen::new(&without, Fingerprints::Absent, (now, now), None);
        let later = after(now, 1000 * SECOND);
        let again = Seen::new(&without, Fingerprints::Absent, (later, later), Some(&first));
        assert!(!again.is_current(&without) && !again.has_fingerprint_of(&without));
    }
}
