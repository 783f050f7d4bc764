//! [`ClientSessions`]: gives each client its own session of the memory, so a view by one client does not allow edits by another.
//!
//! A client that introduced itself has a session for as long as it is connected. Since version 2026-07-28 of the protocol, requests are
//! independent and carry only the name of their program. Then all requests with the same name share one session.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use memdir::Memory;

/// The maximum number of names with a session. One more name resets all sessions, and their views are forgotten.
const MAX_NAMES: usize = 256;

pub(super) struct ClientSessions {
    memory: Memory,
    by_name: Mutex<HashMap<Option<String>, Memory>>,
}

impl ClientSessions {
    pub(super) fn new(memory: Memory) -> Self {
        Self { memory, by_name: Mutex::default() }
    }

    /// The session of the client with this name. `own` is the session of the connection, if the client introduced itself on it.
    pub(super) fn of(&self, name: Option<String>, own: Option<&OnceLock<Memory>>) -> Memory {
        if let Some(own) = own {
            return own.get_or_init(|| self.begin(name.as_deref())).clone();
        }
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = by_name.get(&name) {
            return session.clone();
        }
        if by_name.len() >= MAX_NAMES {
            by_name.clear();
        }
        let session = self.begin(name.as_deref());
        by_name.insert(name, session.clone());
        session
    }

    /// Starts a session. The option `actor` of the server wins. Otherwise the actor is the client program, never the model.
    fn begin(&self, name: Option<&str>) -> Memory {
        match name.filter(|_| self.memory.options().actor.is_none()) {
            Some(name) => self.memory.acting_as(name),
            None => self.memory.session(),
        }
    }
}

#[cfg(test)]
mod tests {
    use memdir::MemoryOptions;
    use memdir::policy::StaleGuard;

    use super::*;

    fn sessions() -> ClientSessions {
        let mut options = MemoryOptions::default();
        options.stale_guard = StaleGuard::Strict;
        let memory = Memory::open("memory:", options).unwrap();
        memory.create("/memories/a.md", "a\n").unwrap();
        ClientSessions::new(memory)
    }

    fn may_edit(session: &Memory) -> bool {
        session.str_replace("/memories/a.md", "a", "a").is_ok()
    }

    #[test]
    fn what_a_client_was_shown_is_its_own() {
        let sessions = sessions();
        let name = |name: &str| Some(name.to_owned());
        let (one, other) = (OnceLock::new(), OnceLock::new());
        sessions.of(name("one"), Some(&one)).view("/memories/a.md", None).unwrap();
        assert!(may_edit(&sessions.of(name("one"), Some(&one))));
        // Another connection of the same program, another program, and one without a name.
        assert!(!may_edit(&sessions.of(name("one"), Some(&other))));
        assert!(!may_edit(&sessions.of(name("one"), None)));
        sessions.of(None, None).view("/memories/a.md", None).unwrap();
        assert!(may_edit(&sessions.of(None, None)));
        assert!(!may_edit(&sessions.of(name("two"), None)));
    }

    #[test]
    fn names_are_not_kept_without_end() {
        let sessions = sessions();
        for number in 0..10 * MAX_NAMES {
            sessions.of(Some(number.to_string()), None);
            assert!(sessions.by_name.lock().unwrap().len() <= MAX_NAMES);
        }
    }
}
