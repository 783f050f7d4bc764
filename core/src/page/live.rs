//! Tells open pages what is changed, as it happens.
//!
//! One watch for each memory, on a thread of its own, for as long as somebody looks. A page gets the paths and asks for
//! itself again; what is shown is made in one place only.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::{self, Receiver, Sender};

use crate::changes::Change;
use crate::memory::Memory;

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
    told: Mutex<Option<Told>>,
}

/// The pages that are told.
struct Told {
    sender: Sender<Arc<str>>,
    /// Whether the watch has begun.
    has_begun: bool,
}

impl Live {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, told: Mutex::default() }
    }

    /// What is told from now on; and whether the watch has begun already.
    pub(super) fn listen(self: &Arc<Self>) -> (Receiver<Arc<str>>, bool) {
        let mut told = self.told();
        if let Some(told) = &*told {
            return (told.sender.subscribe(), told.has_begun);
        }
        let (sender, receiver) = broadcast::channel(KEPT);
        *told = Some(Told { sender: sender.clone(), has_begun: false });
        let live = Arc::clone(self);
        thread::spawn(move || live.tell(&sender));
        (receiver, false)
    }

    fn told(&self) -> MutexGuard<'_, Option<Told>> {
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
            match watching.changes(PAUSE) {
                Ok(changes) if changes.is_empty() => {}
                // Nobody listens any more if it cannot be sent.
                Ok(changes) => drop(sender.send(said(&changes))),
                // The store is away; the next look tells what happened meanwhile.
                Err(_) => thread::sleep(PAUSE),
            }
        }
    }
}

fn said(changes: &[Change]) -> Arc<str> {
    let paths = changes.iter().take(TOLD);
    let paths =
        paths.map(|change| json!({"kind": change.kind.as_str(), "path": change.path.as_str()}));
    let changes = paths.collect::<Vec<_>>();
    json!({ "changes": changes }).to_string().into()
}
