//! `--watch`: keeps the memories of each pair equal until the process is stopped.
//!
//! Each pair has a thread, which syncs, waits for a change in one of its memories, and syncs again. If a store cannot be reached, the thread
//! waits with growing pauses. Only the main thread prints.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::super::output::Output;
use super::super::{Ended, Failure};
use super::Outcome;
use super::interrupt;
use super::pair::Pair;
use super::print::Printer;
use memdir::store::StoreError;
use memdir::sync::{SyncAction, SyncLeftOut, SyncRedaction, SyncSide, original_of};
use memdir::{Cancellation, Error, Memory, Synced};

/// The polling interval for a memory on another machine.
const ELSEWHERE: Duration = Duration::from_secs(10);

/// The pause between a change and the sync. Several files are often changed at once.
const SETTLING: Duration = Duration::from_millis(200);

/// The longest time without a sync, for changes that keep the size and the time of a file.
const AT_LEAST: Duration = Duration::from_secs(300);

/// The first and the longest pause of an outage.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// The time for which a deletion counts as one of the next syncs.
const RECENT: Duration = Duration::from_secs(600);

/// The interval at which a wait looks for the end of the process.
const TICK: Duration = Duration::from_millis(50);

/// The number of ticks after a signal, before the user is told what the process waits for.
const PATIENCE: u32 = 20;

/// A report of a pair.
enum Report {
    Synced(Synced),
    /// A store cannot be reached.
    Outage(String),
    /// The sync would delete too much.
    Refused(String),
    /// The first sync after an outage.
    Over,
    /// The pair is no longer kept equal.
    Ended(Result<(), Failure>),
}

/// Keeps all pairs equal. Returns when each of them has ended.
pub(super) fn keep(pairs: &[Pair], output: &mut Output) -> Result<Ended, Failure> {
    let stop = interrupt::stop();
    let (reports, received) = mpsc::channel();
    thread::scope(|scope| {
        for (number, pair) in pairs.iter().enumerate() {
            let (reports, stop) = (reports.clone(), &stop);
            scope.spawn(move || {
                let ended = Keeping { pair, number, reports: &reports, stop }.keep();
                let _ = reports.send((number, Report::Ended(ended)));
            });
        }
        drop(reports);
        let printed = print(pairs, &received, &stop, output);
        // The output is closed. Otherwise all have ended already.
        stop.cancel();
        printed
    })
}

fn print(
    pairs: &[Pair],
    received: &Receiver<(usize, Report)>,
    stop: &Cancellation,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let mut left_out: Vec<Vec<SyncLeftOut>> = vec![Vec::new(); pairs.len()];
    let mut redactions: Vec<Vec<SyncRedaction>> = vec![Vec::new(); pairs.len()];
    let mut outcome = Outcome::default();
    let mut ticks = 0;
    loop {
        let (number, report) = match received.recv_timeout(TICK) {
            Ok(report) => report,
            Err(RecvTimeoutError::Timeout) => {
                ticks += u32::from(stop.is_cancelled());
                if ticks == PATIENCE {
                    interrupt::say_ending();
                }
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        let name = pairs[number].name.as_deref();
        let takes_redactions = pairs[number].options.redactions;
        let mut printer = Printer { output, name, takes_redactions };
        match report {
            Report::Synced(mut synced) => {
                // A file that stays left out is reported once.
                let now = synced.left_out.clone();
                synced.left_out.retain(|left| !left_out[number].contains(left));
                left_out[number] = now;
                // The same holds for a redaction that is not taken over.
                synced.redactions.retain(|it| !redactions[number].contains(it));
                redactions[number].extend(synced.redactions.iter().cloned());
                let is_new = !synced.changes.is_empty() || !synced.left_out.is_empty();
                printer.details(&synced)?;
                if is_new {
                    printer.summary(&synced, &pairs[number].options)?;
                }
                output.flush()?;
            }
            Report::Outage(sentence) => printer
                .say(&format!("{sentence}; the sync tries again until the store can be reached")),
            Report::Refused(sentence) => {
                printer.say(&format!("{sentence}. The sync tries again and again"));
            }
            Report::Over => printer.say("the sync continues"),
            Report::Ended(Ok(()) | Err(Failure::Interrupted(_))) => {}
            Report::Ended(Err(failure)) => outcome.add(&pairs[number], Err(failure)),
        }
    }
    outcome.ended()
}

struct Keeping<'k> {
    pair: &'k Pair,
    number: usize,
    reports: &'k Sender<(usize, Report)>,
    stop: &'k Cancellation,
}

impl Keeping<'_> {
    fn keep(&self) -> Result<(), Failure> {
        let mut outage = Outage { pause: None };
        // A memory that is missing later is not created: its drive may be away.
        let mut has_run = false;
        let mut deletions = Deletions::default();
        while !self.stop.is_cancelled() {
            let followed = self.pair.open(has_run).and_then(|memories| {
                self.follow(&memories, &mut deletions, &mut || {
                    has_run = true;
                    if outage.pause.take().is_some() {
                        self.report(Report::Over);
                    }
                })
            });
            let report = match followed {
                Err(Failure::Store(sentence)) => Report::Outage(sentence),
                // The files may come back, or a person allows it with a sync of its own.
                Err(Failure::Stopped(sentence)) => Report::Refused(sentence),
                ended => return ended,
            };
            if outage.pause.is_none() {
                self.report(report);
            }
            rest(outage.next_pause(), self.stop);
        }
        Ok(())
    }

    /// Syncs after each change, until a store fails.
    fn follow(
        &self,
        memories: &[Memory; 2],
        deletions: &mut Deletions,
        has_synced: &mut dyn FnMut(),
    ) -> Result<(), Failure> {
        let ended = Cancellation::new();
        let until = self.stop.or(&ended);
        let (changed, changes) = mpsc::channel();
        // A new memory exists for the watches only after this.
        self.sync(memories, deletions)?;
        has_synced();
        thread::scope(|scope| {
            let result = (|| {
                for argument in [&self.pair.a, &self.pair.b] {
                    // Otherwise a directory that is away would be created by the next poll.
                    let memory = argument.read_only()?;
                    let every = if argument.is_local() {
                        None
                    } else {
                        self.pair.every.or(Some(ELSEWHERE))
                    };
                    let mut watch =
                        memory.watch("/memories", every).map_err(|error| argument.error(&error))?;
                    let (changed, until) = (changed.clone(), &until);
                    scope.spawn(move || {
                        loop {
                            match watch.changes_unless(until, AT_LEAST) {
                                Ok(_) => {
                                    if changed.send(Ok(())).is_err() {
                                        return;
                                    }
                                }
                                Err(Error::Store(StoreError::Cancelled)) => return,
                                Err(error) => {
                                    let _ = changed.send(Err(argument.error(&error)));
                                    return;
                                }
                            }
                        }
                    });
                }
                loop {
                    self.check_that_they_exist()?;
                    self.sync(memories, deletions)?;
                    if !self.wait(&changes)? {
                        return Ok(());
                    }
                }
            })();
            ended.cancel();
            result
        })
    }

    fn sync(&self, memories: &[Memory; 2], deletions: &mut Deletions) -> Result<(), Failure> {
        let synced = self.pair.sync(memories, deletions.recent(), self.stop, &mut |_| {})?;
        deletions.add(&synced);
        self.report(Report::Synced(synced));
        Ok(())
    }

    /// A directory whose drive is away must not be created again at its mount point.
    fn check_that_they_exist(&self) -> Result<(), Failure> {
        for argument in [&self.pair.a, &self.pair.b] {
            if !argument.exists()? {
                return Err(argument.missing());
            }
        }
        Ok(())
    }

    /// Waits for a change, and for those that follow at once. Returns false if the process is to end.
    fn wait(&self, changes: &Receiver<Result<(), Failure>>) -> Result<bool, Failure> {
        loop {
            match changes.recv_timeout(TICK) {
                Ok(changed) => {
                    changed?;
                    rest(SETTLING, self.stop);
                    for more in changes.try_iter() {
                        more?;
                    }
                    return Ok(!self.stop.is_cancelled());
                }
                Err(RecvTimeoutError::Timeout) if !self.stop.is_cancelled() => {}
                Err(_) => return Ok(false),
            }
        }
    }

    fn report(&self, report: Report) {
        // If the output is closed, the process ends.
        if self.reports.send((self.number, report)).is_err() {
            self.stop.cancel();
        }
    }
}

/// The deletions of the last minutes. Otherwise a slow deletion of all files would be many small ones, none of them too much.
#[derive(Default)]
struct Deletions(VecDeque<(Instant, SyncSide)>);

impl Deletions {
    fn add(&mut self, synced: &Synced) {
        let now = Instant::now();
        // A conflict copy is deleted when a person has resolved the conflict.
        let deleted = synced.changes.iter().filter(|change| {
            change.action == SyncAction::Deleted && original_of(&change.path).is_none()
        });
        self.0.extend(deleted.map(|change| (now, change.side)));
    }

    /// The number of them in each memory.
    fn recent(&mut self) -> [u64; 2] {
        while self.0.front().is_some_and(|(at, _)| at.elapsed() > RECENT) {
            self.0.pop_front();
        }
        SyncSide::ALL.map(|of| self.0.iter().filter(|(_, side)| *side == of).count() as u64)
    }
}

/// The pauses of an outage.
struct Outage {
    pause: Option<Duration>,
}

impl Outage {
    /// The next pause: each is twice as long as the one before.
    fn next_pause(&mut self) -> Duration {
        let [first, longest] = PAUSES;
        let pause = self.pause.map_or(first, |pause| (pause * 2).min(longest));
        self.pause = Some(pause);
        pause
    }
}

fn rest(pause: Duration, stop: &Cancellation) {
    let until = Instant::now() + pause;
    while !stop.is_cancelled() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(TICK));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pauses_of_an_outage_grow_to_a_minute() {
        let mut outage = Outage { pause: None };
        let pauses: Vec<u64> = (0..9).map(|_| outage.next_pause().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }
}
