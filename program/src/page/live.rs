//! Notifies open pages of changes as they happen.
//!
//! There is one watch for each memory, on its own thread, while at least one page listens. A page gets the changed paths and then
//! requests itself again, so there is only one place that renders pages.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender};

use memdir::{Change, Memory};

/// The maximum number of pending messages for a slow page. Further ones are merged into one.
const KEPT: usize = 64;

/// The interval at which the watch checks for listeners, and the pause after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// The maximum number of changes in a message that are listed with their paths.
const TOLD: usize = 100;

/// The message without paths: the watch sees everything from now on, or something was missed. The page then requests itself
/// again.
pub(super) const LOOK_AGAIN: &str = r#"{"changes":[]}"#;

/// The changes of one memory.
pub(super) struct Live {
    memory: Memory,
    told: Mutex<Option<LivePages>>,
}

/// The pages that are notified.
struct LivePages {
    sender: Sender<Arc<str>>,
    /// Whether the watch has started.
    has_begun: bool,
    /// Whether a page was added since the last poll started. It may show a file that no poll has seen yet, so no poll would report
    /// its deletion.
    has_newcomer: bool,
}

impl Live {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, told: Mutex::default() }
    }

    /// The messages from now on, and whether the watch has already started.
    pub(super) fn listen(self: &Arc<Self>) -> (Receiver<Arc<str>>, bool) {
        let mut told = self.told();
        if let Some(told) = &mut *told {
            told.has_newcomer = true;
            return (told.sender.subscribe(), told.has_begun);
        }
        let (sender, receiver) = broadcast::channel(KEPT);
        *told = Some(LivePages { sender: sender.clone(), has_begun: false, has_newcomer: false });
        let live = Arc::clone(self);
        thread::spawn(move || live.tell(&sender));
        (receiver, false)
    }

    fn told(&self) -> MutexGuard<'_, Option<LivePages>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches while at least one page listens.
    fn tell(&self, sender: &Sender<Arc<str>>) {
        let mut watch = None;
        loop {
            if let told @ Some(_) = &mut *self.told()
                && sender.receiver_count() == 0
            {
                *told = None;
                return;
            }
            let Some(watching) = &mut watch else {
                match self.memory.watch("/memories", None) {
                    Ok(begun) => watch = Some(begun),
                    Err(_) => thread::sleep(PAUSE),
                }
                if let (Some(_), Some(told)) = (&watch, &mut *self.told()) {
                    told.has_begun = true;
                    drop(sender.send(LOOK_AGAIN.into()));
                }
                continue;
            };
            let has_newcomer = self.note_newcomer(false);
            match watching.changes(PAUSE) {
                // If sending fails, there are no listeners left.
                Ok(changes) => {
                    if !changes.is_empty() {
                        drop(sender.send(said(&changes)));
                    }
                    if has_newcomer {
                        drop(sender.send(LOOK_AGAIN.into()));
                    }
                }
                // The store is unavailable. The next poll includes the changes until then.
                Err(_) => {
                    if has_newcomer {
                        self.note_newcomer(true);
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Sets whether a page was added since the last poll started, and returns the previous value.
    fn note_newcomer(&self, is_one: bool) -> bool {
        let mut told = self.told();
        told.as_mut().is_some_and(|told| std::mem::replace(&mut told.has_newcomer, is_one))
    }
}

fn said(changes: &[Change]) -> Arc<str> {
    let paths = changes.iter().take(TOLD);
    let paths =
        paths.map(|change| json!({"kind": change.kind.as_str(), "path": change.path.as_str()}));
    let changes = paths.collect::<Vec<_>>();
    json!({ "changes": changes }).to_string().into()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use memdir::MemoryOptions;

    /// The next message for a page, with a timeout that is far longer than it takes.
    fn next(receiver: &mut Receiver<Arc<str>>) -> Option<Arc<str>> {
        let begun = Instant::now();
        while begun.elapsed() < 60 * PAUSE {
            if let Ok(told) = receiver.try_recv() {
                return Some(told);
            }
            thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// A file that is written, shown and deleted between two polls is reported by neither. So a page that is added later loads again
    /// after the next poll.
    #[test]
    fn a_page_that_comes_later_looks_again_after_the_next_look() {
        let memory = Memory::open("memory:", MemoryOptions::default()).unwrap();
        let live = Arc::new(Live::new(memory));
        let (mut first, has_begun) = live.listen();
        assert!(!has_begun);
        assert_eq!(next(&mut first).as_deref(), Some(LOOK_AGAIN));
        let (mut second, has_begun) = live.listen();
        assert!(has_begun);
        assert_eq!(next(&mut second).as_deref(), Some(LOOK_AGAIN));
    }
}
