//! The clock for ids and ages. With the feature `testing`, a test that simulates several processes gives each its own clock.

use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

/// The latest time in an id of this process, in 1/4096 milliseconds. The next id is later, even if the clock was set back.
static LATEST: AtomicU64 = AtomicU64::new(0);

/// Calls `work` with the current time and the latest time in an id.
pub(crate) fn read<T>(work: impl FnOnce(SystemTime, &AtomicU64) -> T) -> T {
    #[cfg(feature = "testing")]
    if let Some(clock) = simulated::current() {
        return work(clock.now(), &clock.latest);
    }
    work(SystemTime::now(), &LATEST)
}

/// The current time of this process's clock.
#[must_use]
pub fn now() -> SystemTime {
    read(|now, _| now)
}

#[cfg(feature = "testing")]
pub use simulated::SimulatedClock;

#[cfg(feature = "testing")]
mod simulated {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;
    use std::time::{Duration, SystemTime};

    thread_local! {
        static CURRENT: RefCell<Option<Arc<SimulatedClock>>> = const { RefCell::new(None) };
    }

    pub(super) fn current() -> Option<Arc<SimulatedClock>> {
        CURRENT.with_borrow(Clone::clone)
    }

    /// The clock of a simulated process, for tests. Ids made in [`run`](Self::run) have its time. They are later than all ids that the same
    /// simulated process made or saw before, independently of other simulated processes.
    #[derive(Debug)]
    pub struct SimulatedClock {
        /// Its offset from the machine's clock, in seconds.
        ahead: i64,
        pub(super) latest: AtomicU64,
    }

    impl SimulatedClock {
        /// A clock that is `seconds` ahead of the machine's, or behind it if the number is negative.
        #[must_use]
        pub fn ahead(seconds: i64) -> Arc<Self> {
            Arc::new(Self { ahead: seconds, latest: AtomicU64::new(0) })
        }

        /// Runs `work` with this clock on this thread.
        pub fn run<T>(self: &Arc<Self>, work: impl FnOnce() -> T) -> T {
            /// Restores the previous clock, also when `work` panics.
            struct Before(Option<Arc<SimulatedClock>>);
            impl Drop for Before {
                fn drop(&mut self) {
                    CURRENT.set(self.0.take());
                }
            }
            let _before = Before(CURRENT.replace(Some(Arc::clone(self))));
            work()
        }

        pub(super) fn now(&self) -> SystemTime {
            let (now, by) = (SystemTime::now(), Duration::from_secs(self.ahead.unsigned_abs()));
            if self.ahead < 0 { now - by } else { now + by }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::HistoryId;

        #[test]
        fn ids_have_the_time_of_the_process_that_makes_them() {
            const YEAR: i64 = 365 * 24 * 3600;
            let (ahead, behind) = (SimulatedClock::ahead(YEAR), SimulatedClock::ahead(-YEAR));
            let new = || HistoryId::new().unwrap();
            let later = ahead.run(|| {
                let earlier = behind.run(new);
                let later = new();
                assert!(earlier < later);
                later
            });
            let far = Duration::from_secs(YEAR.unsigned_abs() - 60);
            assert!(later.time() > SystemTime::now() + far);
            assert!(behind.run(new).time() < SystemTime::now() - far);
            // An id seen by one process does not affect another.
            let soon = SimulatedClock::ahead(30).run(new);
            let (one, other) = (SimulatedClock::ahead(0), SimulatedClock::ahead(0));
            one.run(|| soon.seen());
            assert!(one.run(new) > soon);
            assert!(other.run(new) < soon);
        }
    }
}
