//! Tells open pages what is changed, as it happens.
//!
//! One watch for each memory, on a thread of its own, for as long as somebody looks. A page gets the paths and asks for
//! itself again; what is shown is made in one place only.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender};

use memdir::{Change, Memory};

/// How many changes a slow page may be behind. What is beyond, it learns of as one.
const KEPT: usize = 64;

/// How often the watch looks whether anybody still listens, and waits after a failure.
const PAUSE: Duration = Duration::from_secs(1);

/// The most changes that are told with their paths at a time.
const TOLD: usize = 100;

/// What is told when nothing is known but that the watch sees everything from now on, or that something was missed: the
/// page then asks for itself again.
pub(super) const LOOK_AGAIN: &str = r#"{"changes":[]}"#;

/// The changes of one memory.
pub(super) struct Live {
    memory: Memory,
    told: Mutex<Option<LivePages>>,
}

/// The pages that are told.
struct LivePages {
    sender: Sender<Arc<str>>,
    /// Whether the watch has begun.
    has_begun: bool,
    /// Whether a page came since the last look was begun. It may show a file that no look has seen yet, whose deletion none
    /// would tell.
    has_newcomer: bool,
}

impl Live {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, told: Mutex::default() }
    }

    /// What is told from now on; and whether the watch has begun already.
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

    /// Watches for as long as somebody listens.
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
                // Nobody listens any more if it cannot be sent.
                Ok(changes) => {
                    if !changes.is_empty() {
                        drop(sender.send(said(&changes)));
                    }
                    if has_newcomer {
                        drop(sender.send(LOOK_AGAIN.into()));
                    }
                }
                // The store is away; the next look tells what happened meanwhile.
                Err(_) => {
                    if has_newcomer {
                        self.note_newcomer(true);
                    }
                    thread::sleep(PAUSE);
                }
            }
        }
    }

    /// Notes whether a page came since the last look was begun, and returns what was noted.
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

    /// What a page is told next, within a time that is far beyond what it takes.
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

    /// A file that is written, shown and deleted between two looks is told by neither: so a page that comes later looks again
    /// once the watch has looked.
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
