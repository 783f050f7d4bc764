//! [`GroupCommit`]: makes the edits of one file that wait for each other in a process in one write.
//!
//! A write has a price that does not depend on the number of edits in it: flushes of a disk, a transaction, a conditional
//! request. The first thread that edits a file is its writer. Threads that edit the same file meanwhile wait. When the writer
//! knows the content of the file, it applies its own edit, and passes the result to the waiting threads, one after another.
//! Each computes its own edit and its own answer. Then the writer writes the last content once, and all of them get the result
//! of this write.
//!
//! Grouping is never needed for correctness, because the store excludes other writers. So a thread that cannot take part edits
//! alone: an edit within an edit, an edit that takes long, and every edit of a group whose write failed.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::note::Note;
use crate::{Context, Edit, Splice, StoreError, process};

/// The number of edits that may join the edit of the writer.
const MOST_JOINING: usize = 63;

/// The patience of a store that locks a file, or all files, while an edit is computed.
pub const LOCKED_PATIENCE: Duration = Duration::from_millis(100);

/// How often a waiting thread checks for cancellation.
const LOOK: Duration = Duration::from_millis(20);

/// The edits of a process, by a key for the file and the settings of its store.
#[derive(Debug)]
pub struct GroupCommit<K> {
    /// The files that have a writer.
    files: Mutex<HashMap<Arc<K>, Arc<Queue>>>,
}

/// The settings of a store that limit its edits.
#[derive(Debug, Clone, Copy)]
pub struct EditLimits {
    /// How long an edit waits while no other succeeds; `None` for no limit.
    pub lock_timeout: Option<Duration>,
    /// The size limit of a file that is edited, in bytes; `None` for no limit.
    pub max_file_bytes: Option<u64>,
    /// How long a writer waits for the edits of the others in total, and how long they wait for a writer whose own edit takes
    /// long. Short if the store holds a lock meanwhile.
    pub patience: Duration,
}

/// The threads that wait for the writer of a file.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    /// Whether the writer computes its own edit.
    is_deciding: AtomicBool,
}

#[derive(Debug, Default)]
struct QueueState {
    /// In the order of their arrival.
    waiting: VecDeque<(u64, Sender<Message>)>,
    next_number: u64,
    /// When a write last succeeded.
    moved: Option<Instant>,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_waiting(&self) -> Option<Sender<Message>> {
        self.state().waiting.pop_front().map(|(_, waiting)| waiting)
    }
}

/// A message of the writer to a waiting thread.
#[derive(Debug)]
enum Message {
    /// Asks for the thread's edit of this content. If it is joined, the content contains edits that are not written yet.
    Edit { content: Arc<Vec<u8>>, is_joined: bool, answer: Sender<Decision> },
    /// The result of the write.
    Ended(Result<(), StoreError>),
    /// The thread must edit alone.
    Alone,
    /// The thread is the next writer.
    Write,
}

/// The result of an edit.
#[derive(Debug)]
struct Decision {
    /// The new content; `None` if the edit changes nothing.
    content: Option<Vec<u8>>,
    notes: Vec<Note>,
}

impl<K> Default for GroupCommit<K> {
    fn default() -> Self {
        Self { files: Mutex::default() }
    }
}

impl<K: Eq + Hash> GroupCommit<K> {
    /// Edits the file with this key, in one write with the edits that wait meanwhile. `write` is the edit as the store makes it
    /// alone. It is called again, with this edit only, if the common write is refused.
    ///
    /// # Errors
    /// As `write`; [`StoreError::Busy`] if no edit succeeds within the lock timeout; [`StoreError::Cancelled`].
    pub fn edit(
        &self,
        key: K,
        limits: EditLimits,
        context: &Context,
        edit: &mut Edit<'_>,
        write: &mut dyn FnMut(&mut Edit<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let Some(_place) = Place::take(std::ptr::from_ref(self).addr()) else { return write(edit) };
        let writer = match self.join(key) {
            Joined::Writer(writer) => writer,
            Joined::Waiting(waiting) => match waiting.wait(limits, context, edit) {
                Waited::Writer(writer) => writer,
                Waited::Alone => return write(edit),
                Waited::Ended(result) => return result,
            },
        };
        writer.write(limits, context, edit, write)
    }

    fn join(&self, key: K) -> Joined<'_, K> {
        let key = Arc::new(key);
        let mut files = self.files();
        let mut is_new = false;
        let queue = files.entry(Arc::clone(&key)).or_insert_with(|| {
            is_new = true;
            Arc::default()
        });
        let part = Part { groups: self, key, queue: Arc::clone(queue), process: process::id() };
        if is_new {
            return Joined::Writer(Writer(part));
        }
        let (sender, messages) = mpsc::channel();
        let mut state = part.queue.state();
        let number = state.next_number;
        state.next_number += 1;
        state.waiting.push_back((number, sender));
        drop(state);
        Joined::Waiting(Waiting { part, number, messages })
    }

    fn files(&self) -> MutexGuard<'_, HashMap<Arc<K>, Arc<Queue>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread's part in the edits of a file.
struct Part<'g, K: Eq + Hash> {
    groups: &'g GroupCommit<K>,
    key: Arc<K>,
    queue: Arc<Queue>,
    process: u32,
}

impl<K: Eq + Hash> Clone for Part<'_, K> {
    fn clone(&self) -> Self {
        let (key, queue) = (Arc::clone(&self.key), Arc::clone(&self.queue));
        Self { groups: self.groups, key, queue, process: self.process }
    }
}

enum Joined<'g, K: Eq + Hash> {
    Writer(Writer<'g, K>),
    Waiting(Waiting<'g, K>),
}

enum Waited<'g, K: Eq + Hash> {
    Writer(Writer<'g, K>),
    Alone,
    Ended(Result<(), StoreError>),
}

/// A thread that waits. It leaves the queue when this is dropped.
struct Waiting<'g, K: Eq + Hash> {
    part: Part<'g, K>,
    number: u64,
    messages: Receiver<Message>,
}

impl<'g, K: Eq + Hash> Waiting<'g, K> {
    fn wait(self, limits: EditLimits, context: &Context, edit: &mut Edit<'_>) -> Waited<'g, K> {
        let since = Instant::now();
        let look = limits.lock_timeout.map_or(LOOK, |timeout| timeout.min(LOOK));
        let mut deciding_since = None;
        loop {
            match self.messages.recv_timeout(look) {
                Ok(message) => return self.take_part(message, context, edit),
                Err(RecvTimeoutError::Disconnected) => return Waited::Alone,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // This may call a callback of the caller, which may fork.
            if let Err(cancelled) = context.check() {
                return Waited::Ended(Err(cancelled));
            }
            if self.part.process != process::id() {
                return Waited::Ended(Err(StoreError::Busy));
            }
            if limits
                .lock_timeout
                .is_some_and(|timeout| self.last_moved(since).elapsed() >= timeout)
            {
                return Waited::Ended(Err(StoreError::Busy));
            }
            let is_deciding = self.part.queue.is_deciding.load(Ordering::Relaxed);
            deciding_since = is_deciding.then(|| deciding_since.unwrap_or_else(Instant::now));
            if deciding_since.is_some_and(|since: Instant| since.elapsed() >= limits.patience) {
                return Waited::Alone;
            }
        }
    }

    /// Does what the writer asks for, until its write has ended.
    fn take_part(
        self,
        mut message: Message,
        context: &Context,
        edit: &mut Edit<'_>,
    ) -> Waited<'g, K> {
        loop {
            match message {
                Message::Edit { content, is_joined, answer } => {
                    if let Err(cancelled) = context.check() {
                        return Waited::Ended(Err(cancelled));
                    }
                    let Ok(decision) = decide(context, edit, &content, is_joined) else {
                        return Waited::Alone;
                    };
                    // First, so that the writer has the only one.
                    drop(content);
                    // If the writer did not wait for it, it says so.
                    let _ = answer.send(decision);
                }
                Message::Ended(result) => return Waited::Ended(result),
                Message::Alone => return Waited::Alone,
                Message::Write => return Waited::Writer(Writer(self.part.clone())),
            }
            let Ok(next) = self.messages.recv() else {
                let problem = "the thread that wrote it has panicked";
                return Waited::Ended(Err(StoreError::failed("editing a file", problem)));
            };
            message = next;
        }
    }

    fn last_moved(&self, since: Instant) -> Instant {
        self.part.queue.state().moved.map_or(since, |moved| moved.max(since))
    }
}

impl<K: Eq + Hash> Drop for Waiting<'_, K> {
    fn drop(&mut self) {
        if self.part.process != process::id() {
            return;
        }
        self.part.queue.state().waiting.retain(|(number, _)| *number != self.number);
        // From here on, no other thread makes it the next writer.
        if self.messages.try_iter().any(|message| matches!(message, Message::Write)) {
            drop(Writer(self.part.clone()));
        }
    }
}

/// The thread that writes a file. When this is dropped, the next thread writes.
struct Writer<'g, K: Eq + Hash>(Part<'g, K>);

impl<K: Eq + Hash> Writer<'_, K> {
    fn write(
        &self,
        limits: EditLimits,
        context: &Context,
        edit: &mut Edit<'_>,
        write: &mut dyn FnMut(&mut Edit<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut group = Group::default();
        let result = write(&mut |old| self.decide(&mut group, limits, context, edit, old));
        context.complete(false);
        let was_joined = !group.0.is_empty();
        match &result {
            Ok(()) => {
                if was_joined {
                    self.0.queue.state().moved = Some(Instant::now());
                }
                group.end(|| Message::Ended(Ok(())));
                return result;
            }
            Err(error) if error.may_have_changed() => {
                let problem = error.to_string();
                let failed = || StoreError::failed("editing a file", problem.clone());
                group.end(|| Message::Ended(Err(failed())));
            }
            Err(_) => group.end(|| Message::Alone),
        }
        match &result {
            // The others need not wait for each other's failures.
            Err(error) if error.is_failure() || matches!(error, StoreError::Busy) => {
                while let Some(waiting) = self.0.queue.next_waiting() {
                    let _ = waiting.send(Message::Alone);
                }
                result
            }
            // The edits of the others may be the reason.
            Err(error) if was_joined && !matches!(error, StoreError::Cancelled) => {
                context.take_notes();
                write(edit)
            }
            _ => result,
        }
    }

    /// Computes the edit of all.
    fn decide(
        &self,
        group: &mut Group,
        limits: EditLimits,
        context: &Context,
        edit: &mut Edit<'_>,
        old: &[u8],
    ) -> Option<Splice> {
        // The members of a write that lost a race.
        let mut earlier = VecDeque::from(std::mem::take(&mut group.0));
        context.take_notes();
        context.complete(false);
        self.0.queue.is_deciding.store(true, Ordering::Relaxed);
        let own = edit(old);
        self.0.queue.is_deciding.store(false, Ordering::Relaxed);
        let Some(mut next) = earlier.pop_front().or_else(|| self.0.queue.next_waiting()) else {
            return own;
        };
        let content = match &own {
            Some(splice) => splice.try_apply(old),
            None => Ok(old.to_vec()),
        };
        let Ok(content) = content else {
            // The store will find the same problem.
            earlier.push_front(next);
            Group(earlier.into()).end(|| Message::Alone);
            return own;
        };
        // Others depend on this write, so it is not cancelled with the call of the writer.
        context.complete(true);
        let (mut content, mut is_changed) = (Arc::new(content), own.is_some());
        let deadline = Instant::now() + limits.patience;
        loop {
            match ask(&next, &content, is_changed, deadline) {
                Some(decision) => {
                    context.add_notes(decision.notes);
                    if let Some(new) = decision.content {
                        (content, is_changed) = (Arc::new(new), true);
                    }
                    group.0.push(next);
                }
                None => drop(next.send(Message::Alone)),
            }
            let is_too_large =
                limits.max_file_bytes.is_some_and(|most| content.len() as u64 > most);
            if is_too_large || group.0.len() >= MOST_JOINING || Instant::now() >= deadline {
                break;
            }
            let Some(waiting) = earlier.pop_front().or_else(|| self.0.queue.next_waiting()) else {
                break;
            };
            next = waiting;
        }
        Group(earlier.into()).end(|| Message::Alone);
        if group.0.is_empty() {
            context.complete(false);
            return own;
        }
        let text = Arc::try_unwrap(content).unwrap_or_else(|content| content.to_vec());
        is_changed.then_some(Splice { range: 0..old.len(), text })
    }
}

impl<K: Eq + Hash> Drop for Writer<'_, K> {
    fn drop(&mut self) {
        let Part { groups, key, queue, process } = &self.0;
        if *process != process::id() {
            return;
        }
        queue.is_deciding.store(false, Ordering::Relaxed);
        // No thread joins meanwhile.
        let mut files = groups.files();
        while let Some(next) = queue.next_waiting() {
            if next.send(Message::Write).is_ok() {
                return;
            }
        }
        files.remove(key);
    }
}

/// The threads whose edits the write contains. If the writer panics, they notice that this was dropped.
#[derive(Default)]
struct Group(Vec<Sender<Message>>);

impl Group {
    fn end(&mut self, message: impl Fn() -> Message) {
        for waiting in self.0.drain(..) {
            // A thread that has panicked does not need it.
            let _ = waiting.send(message());
        }
    }
}

/// Asks a waiting thread for its edit; `None` if it has left, or does not answer in time.
fn ask(
    waiting: &Sender<Message>,
    content: &Arc<Vec<u8>>,
    is_joined: bool,
    deadline: Instant,
) -> Option<Decision> {
    let (answer, answers) = mpsc::channel();
    waiting.send(Message::Edit { content: Arc::clone(content), is_joined, answer }).ok()?;
    answers.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
}

fn decide(
    context: &Context,
    edit: &mut Edit<'_>,
    content: &[u8],
    is_joined: bool,
) -> Result<Decision, StoreError> {
    context.join(is_joined);
    let splice = edit(content);
    context.join(false);
    let content = splice.map(|splice| splice.try_apply(content)).transpose()?;
    Ok(Decision { content, notes: context.take_notes() })
}

thread_local! {
    /// The groups (by address) in which this thread edits or waits.
    static PLACES: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// A thread's part in a group. A thread that has one does not wait for another: the callback of an edit may edit the same file.
struct Place(usize);

impl Place {
    fn take(address: usize) -> Option<Self> {
        PLACES.with_borrow_mut(|places| {
            let is_nested = places.contains(&address);
            (!is_nested).then(|| places.push(address))
        })?;
        Some(Self(address))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        PLACES.with_borrow_mut(|places| places.retain(|place| *place != self.0));
    }
}

#[cfg(test)]
mod tests;
