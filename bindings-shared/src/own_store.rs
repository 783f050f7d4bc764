//! [`Wait`]: how long a call waits for a store in the host's language, and what it may say when it is cancelled.
//!
//! Such a store may never answer, so a cancelled call stops waiting. Its outcome then depends on the request to the store:
//!
//! - **Nothing was changed** by a read, by an update that was not given its new content, and by a request that the store had not
//!   looked at. Whatever the store does later, these change nothing.
//! - **Unknown** is everything else. The store may make the change later, so it does not help to look at its files
//!   ([`StoreError::is_unanswered`]).
//!
//! A request that is to be made although the call is cancelled, because it would leave a change half done, has [`PATIENCE`]. If the call
//! has asked for no change, nothing can be half done, and no request has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use memdir::{Cancellation, StoreError};

/// How long a store has to answer a request of a cancelled call that would otherwise leave a change half done. A store that
/// answers at all does so within seconds; a person who cancelled the call should not wait longer.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// A call, as the stores that it asks see it.
#[derive(Debug)]
pub struct HostCall {
    cancellation: Cancellation,
    /// Whether a store was asked to change something for it.
    has_written: AtomicBool,
}

impl HostCall {
    /// A call that has asked for no change so far.
    #[must_use]
    pub const fn new(cancellation: Cancellation) -> Self {
        Self { cancellation, has_written: AtomicBool::new(false) }
    }

    /// The cancellation of this call.
    #[must_use]
    pub const fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Whether it is cancelled, and nothing can be half done.
    fn has_gone_before_a_change(&self) -> bool {
        self.cancellation.is_cancelled() && !self.has_written.load(Ordering::SeqCst)
    }
}

/// How far a request has come. The store's side and the waiting side settle by this one value which of them was first.
#[derive(Debug)]
pub struct Progress(AtomicU8);

/// The store has not looked at the request.
const SENT: u8 = 0;
/// The store's method is called.
const CALLED: u8 = 1;
/// The update has its new content.
const EDITED: u8 = 2;
/// No call waits for the answer now.
const GIVEN_UP: u8 = 3;

impl Progress {
    /// The store has yet to look at the request.
    #[must_use]
    pub const fn sent() -> Self {
        Self(AtomicU8::new(SENT))
    }

    /// The store's method is called at once.
    #[must_use]
    pub const fn called() -> Self {
        Self(AtomicU8::new(CALLED))
    }

    /// For the store's side, once: whether the method is to be called.
    pub fn begins(&self) -> bool {
        self.0.compare_exchange(SENT, CALLED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// For the store's side: whether an update may have its new content.
    pub fn edits(&self) -> bool {
        let edited = |now| (now != GIVEN_UP).then_some(EDITED);
        self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, edited).is_ok()
    }

    /// Whether the call has stopped waiting.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.now() == GIVEN_UP
    }

    fn now(&self) -> u8 {
        self.0.load(Ordering::SeqCst)
    }

    /// How far it has come. It comes no further.
    fn give_up(&self) -> u8 {
        self.0.swap(GIVEN_UP, Ordering::SeqCst)
    }
}

/// A call that waits for the answer to a request.
#[derive(Debug)]
pub struct Wait<'w> {
    operation: &'static str,
    /// That of the request, which may have to be made although the call is cancelled.
    cancellation: &'w Cancellation,
    call: Option<Arc<HostCall>>,
    progress: Arc<Progress>,
    until: Option<Instant>,
}

impl<'w> Wait<'w> {
    /// The wait for a request that is about to be made for `call`, if it is known. From now on the host tells of a cancellation of
    /// the call by [`cancelled`](Self::cancelled).
    ///
    /// # Errors
    /// [`StoreError::Cancelled`] if the store is not to be asked.
    pub fn begin(
        operation: &'static str,
        cancellation: &'w Cancellation,
        call: Option<Arc<HostCall>>,
        progress: Arc<Progress>,
    ) -> Result<Self, StoreError> {
        let mut begun = Self { operation, cancellation, call, progress, until: None };
        if begun.is_over(SENT) {
            return Err(StoreError::Cancelled);
        }
        if begun.call.as_ref().is_some_and(|call| call.cancellation.is_cancelled()) {
            begun.until = Some(Instant::now() + PATIENCE);
        }
        begun.note_change(CALLED);
        Ok(begun)
    }

    /// When the wait ends, if it ends by itself: then [give it up](Self::give_up).
    #[must_use]
    pub const fn until(&self) -> Option<Instant> {
        self.until
    }

    /// The call was cancelled: ends the wait, or sets its end.
    ///
    /// # Errors
    /// The outcome that the call may report, if the wait ends here.
    pub fn cancelled(&mut self) -> Result<(), StoreError> {
        if self.is_over(self.progress.now()) {
            return Err(self.give_up());
        }
        self.until.get_or_insert_with(|| Instant::now() + PATIENCE);
        Ok(())
    }

    /// Hands the new content to an update, where that is done by the thread that waits.
    ///
    /// # Errors
    /// The outcome that the call may report, if it is cancelled and the update has no content yet.
    pub fn edit<T>(&self, edit: impl FnOnce() -> Option<T>) -> Result<Option<T>, StoreError> {
        let progress = self.progress.now();
        if progress != EDITED && self.is_over(progress) {
            return Err(self.give_up());
        }
        let edited = edit();
        if edited.is_some() && self.progress.edits() {
            self.note_change(EDITED);
        }
        Ok(edited)
    }

    /// The result of the request, for this answer of the store.
    ///
    /// # Errors
    /// That of the store; [`StoreError::Cancelled`] in its place if the call is cancelled and nothing was changed: the store may have failed
    /// because it heard of that.
    pub fn answered<T>(self, answer: Result<T, StoreError>) -> Result<T, StoreError> {
        let progress = self.progress.now();
        self.note_change(progress);
        match answer {
            Err(StoreError::Failed { .. })
                if self.is_over(progress) && !self.may_have_changed(progress) =>
            {
                Err(StoreError::Cancelled)
            }
            answer => answer,
        }
    }

    /// Ends the wait. The error says whether it is known that nothing was changed.
    #[must_use]
    pub fn give_up(&self) -> StoreError {
        let progress = self.progress.give_up();
        self.note_change(progress);
        let may_have_changed = self.may_have_changed(progress);
        if self.is_over(progress) && !may_have_changed {
            return StoreError::Cancelled;
        }
        let unanswered = StoreError::unanswered(asked(self.operation));
        if may_have_changed { unanswered } else { unanswered.unchanged() }
    }

    /// Whether the call is cancelled, and this is not a request that is to be made all the same.
    fn is_over(&self, progress: u8) -> bool {
        let has_gone = |call: &Arc<HostCall>| progress != EDITED && call.has_gone_before_a_change();
        self.cancellation.is_cancelled() || self.call.as_ref().is_some_and(has_gone)
    }

    /// Whether the store may have changed something, or may yet.
    fn may_have_changed(&self, progress: u8) -> bool {
        match self.operation {
            "info" | "list" | "make" | "merge" | "modified" | "open" | "read" => false,
            "update" => progress == EDITED,
            _ => progress != SENT,
        }
    }

    /// Records that requests from now on may complete a change.
    fn note_change(&self, progress: u8) {
        if self.may_have_changed(progress)
            && let Some(call) = &self.call
        {
            call.has_written.store(true, Ordering::SeqCst);
        }
    }
}

/// Names the operation of a store, for an error.
#[must_use]
pub fn asked(operation: &str) -> String {
    format!("{operation} of a store of your own")
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: [&str; 7] = ["info", "list", "make", "merge", "modified", "open", "read"];
    const CHANGES: [&str; 7] =
        ["write", "delete", "rename", "clear", "set_modified", "record_access", "delete_unused"];

    /// The outcome of a call that gives up.
    #[derive(Debug, PartialEq, Eq)]
    enum Said {
        Cancelled,
        Unchanged,
        Unknown,
    }

    fn said(error: &StoreError) -> Said {
        match error {
            StoreError::Cancelled => Said::Cancelled,
            error => {
                assert!(error.is_unanswered(), "{error}");
                if error.may_have_changed() { Said::Unknown } else { Said::Unchanged }
            }
        }
    }

    fn call() -> Arc<HostCall> {
        Arc::new(HostCall::new(Cancellation::new()))
    }

    fn called() -> Arc<Progress> {
        Arc::new(Progress::called())
    }

    /// A call that has asked for a change, and is not cancelled.
    fn call_that_writes() -> Arc<HostCall> {
        let call = call();
        Wait::begin("write", &call.cancellation.clone(), Some(Arc::clone(&call)), called())
            .unwrap()
            .answered(Ok(()))
            .unwrap();
        call
    }

    #[test]
    fn a_cancelled_call_says_what_it_knows_of_the_request() {
        for operation in READS.iter().chain(&CHANGES).chain(&["update"]).copied() {
            for progress in [SENT, CALLED, EDITED] {
                if progress == EDITED && operation != "update" {
                    continue;
                }
                let call = call();
                let own = call.cancellation.clone();
                let known = Arc::new(Progress(AtomicU8::new(progress)));
                let mut wait =
                    Wait::begin(operation, &own, Some(Arc::clone(&call)), known).unwrap();
                assert_eq!(wait.until(), None);
                call.cancellation.cancel();
                let may_be_made = match operation {
                    "update" => progress == EDITED,
                    other => CHANGES.contains(&other) && progress == CALLED,
                };
                let expected = if may_be_made { Said::Unknown } else { Said::Cancelled };
                let error = wait.cancelled().unwrap_err();
                assert_eq!(said(&error), expected, "{operation} {progress}");
                // Later answers are ignored, and get nothing.
                assert!(wait.progress.is_given_up() && !wait.progress.edits());
                assert!(!wait.progress.begins());
            }
        }
    }

    #[test]
    fn a_call_that_has_gone_asks_for_nothing() {
        let gone = call();
        gone.cancellation.cancel();
        let never = Cancellation::never();
        for operation in READS.iter().chain(&CHANGES).copied() {
            // Also what is asked without the cancellation: nothing can be half done.
            for cancellation in [&gone.cancellation, &never] {
                let wait = Wait::begin(operation, cancellation, Some(Arc::clone(&gone)), called());
                assert!(matches!(wait, Err(StoreError::Cancelled)), "{operation}");
            }
        }
        let unknown = Wait::begin("read", &gone.cancellation, None, called());
        assert!(matches!(unknown, Err(StoreError::Cancelled)));
        assert!(Wait::begin("read", &never, None, called()).is_ok());
    }

    #[test]
    fn a_step_that_completes_a_change_has_seconds_and_then_says_what_it_knows() {
        let never = Cancellation::never();
        let (reads, changes) = (READS.iter(), CHANGES.iter());
        let expected = reads.map(|read| (*read, Said::Unchanged));
        for (operation, expected) in expected.chain(changes.map(|change| (*change, Said::Unknown)))
        {
            for is_before in [true, false] {
                let call = call_that_writes();
                let cancel = || call.cancellation.cancel();
                is_before.then(cancel);
                let begun = Instant::now();
                let mut wait =
                    Wait::begin(operation, &never, Some(Arc::clone(&call)), called()).unwrap();
                assert_eq!(wait.until().is_some(), is_before);
                cancel();
                wait.cancelled().unwrap();
                let until = wait.until().unwrap();
                assert!(until >= begun + PATIENCE && until <= Instant::now() + PATIENCE);
                // A second cancellation does not prolong it.
                wait.cancelled().unwrap();
                assert_eq!(wait.until(), Some(until));
                assert_eq!(said(&wait.give_up()), expected, "{operation}");
            }
        }
    }

    #[test]
    fn a_step_with_the_cancellation_of_its_call_ends_at_once() {
        let call = call_that_writes();
        let own = call.cancellation.clone();
        let mut wait = Wait::begin("rename", &own, Some(Arc::clone(&call)), called()).unwrap();
        call.cancellation.cancel();
        assert_eq!(said(&wait.cancelled().unwrap_err()), Said::Unknown);
    }

    #[test]
    fn what_follows_an_update_that_has_its_content_may_complete_a_change() {
        let never = Cancellation::never();
        for is_given_up in [true, false] {
            let call = call();
            let own = call.cancellation.clone();
            let progress = called();
            let shared = Arc::clone(&progress);
            let mut wait = Wait::begin("update", &own, Some(Arc::clone(&call)), shared).unwrap();
            // By another thread.
            assert!(progress.edits() && progress.edits());
            call.cancellation.cancel();
            if is_given_up {
                assert_eq!(said(&wait.cancelled().unwrap_err()), Said::Unknown);
            } else {
                wait.answered(Ok(())).unwrap();
            }
            let next = Wait::begin("delete", &never, Some(Arc::clone(&call)), called()).unwrap();
            assert!(next.until().is_some());
        }
    }

    #[test]
    fn an_edit_is_computed_unless_the_call_is_cancelled_before_the_first() {
        let never = Cancellation::never();
        let begin = |call: &Arc<HostCall>| {
            Wait::begin("update", &never, Some(Arc::clone(call)), called()).unwrap()
        };
        let gone = call();
        let wait = begin(&gone);
        assert_eq!(wait.edit(|| None::<u8>).unwrap(), None);
        gone.cancellation.cancel();
        assert_eq!(said(&wait.edit(|| Some(1)).unwrap_err()), Said::Cancelled);

        let late = call();
        let mut wait = begin(&late);
        assert_eq!(wait.edit(|| Some(1)).unwrap(), Some(1));
        late.cancellation.cancel();
        wait.cancelled().unwrap();
        assert_eq!(wait.edit(|| Some(2)).unwrap(), Some(2));
        assert_eq!(said(&wait.give_up()), Said::Unknown);
    }

    #[test]
    fn a_failure_of_a_cancelled_call_counts_only_if_something_may_have_changed() {
        let failed = || Err::<(), _>(StoreError::failed("test", "aborted"));
        for (operation, is_cancelled, expected) in [
            ("read", true, "cancelled before anything was changed"),
            ("update", true, "cancelled before anything was changed"),
            ("write", true, "test: aborted"),
            ("read", false, "test: aborted"),
        ] {
            let call = call();
            let own = call.cancellation.clone();
            let wait = Wait::begin(operation, &own, Some(Arc::clone(&call)), called()).unwrap();
            if is_cancelled {
                call.cancellation.cancel();
            }
            let error = wait.answered(failed()).unwrap_err();
            assert_eq!(error.to_string(), expected, "{operation}");
        }
        // A condition is an answer.
        let call = call();
        let own = call.cancellation.clone();
        let wait = Wait::begin("read", &own, Some(Arc::clone(&call)), called()).unwrap();
        call.cancellation.cancel();
        let answer = wait.answered(Err::<(), _>(StoreError::NotFound));
        assert!(matches!(answer, Err(StoreError::NotFound)));
    }
}
