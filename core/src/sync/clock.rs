//! [`Clock`]: the changes of a file that a version includes. `versions` says why.

use std::cmp::Ordering;

use memdir_store::path::MemoryPath;
use sha2::{Digest as _, Sha256};

/// The number of changes before the last ones that are kept of a file.
const MOST_CHANGES: usize = 64;

/// Identifies a change of a file.
pub(super) type ChangeId = [u8; 8];

/// Makes the ids of the changes that a sync finds in one memory.
pub(super) type SessionId = [u8; 16];

/// The changes of a file that a version includes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Clock {
    /// The last changes: one, or several after memories agreed that had changed the file without each other. Sorted.
    pub(super) last: Vec<ChangeId>,
    /// Changes before those, the oldest first.
    pub(super) before: Vec<ChangeId>,
}

impl Clock {
    /// Compares which changes are included. `None` if each clock has a change that the other lacks.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        let lacks = |one: &Self, other: &Self| other.last.iter().any(|id| !one.includes(id));
        match (lacks(self, other), lacks(other, self)) {
            (false, false) => Some(Ordering::Equal),
            (true, false) => Some(Ordering::Less),
            (false, true) => Some(Ordering::Greater),
            (true, true) => None,
        }
    }

    pub(super) fn includes(&self, id: &ChangeId) -> bool {
        self.last.contains(id) || self.before.contains(id)
    }

    /// The changes that it includes, as far as they are kept.
    pub(super) fn ids(&self) -> impl Iterator<Item = &ChangeId> {
        self.before.iter().chain(&self.last)
    }

    /// Whether its last changes are among these.
    pub(super) fn is_within(&self, known: &[ChangeId]) -> bool {
        self.last.iter().all(|id| known.contains(id))
    }

    /// The changes that both include.
    pub(super) fn common<'c>(&'c self, other: &'c Self) -> impl Iterator<Item = &'c ChangeId> {
        self.ids().filter(|id| other.includes(id))
    }

    /// The changes that at least one of both includes.
    #[must_use]
    pub(super) fn joined(&self, other: &Self) -> Self {
        let last_of = |one: &Self, other: &Self| -> Vec<ChangeId> {
            one.last.iter().filter(|id| !other.before.contains(id)).copied().collect()
        };
        let mut last = [last_of(self, other), last_of(other, self)].concat();
        last.sort_unstable();
        last.dedup();
        let mut before = other.before.clone();
        before.retain(|id| !self.before.contains(id));
        before.extend(&self.before);
        Self { last, before }.shortened()
    }

    /// The same changes and one more, which is found in this session.
    #[must_use]
    pub(super) fn next(&self, session: &SessionId, path: &MemoryPath) -> Self {
        self.after("", session, path)
    }

    /// The same changes and one more, which the sync of this session makes. Its id is not that of the next change that is found: an agent may
    /// change the file of the memory to which the session belongs, before it has this one.
    #[must_use]
    pub(super) fn made(&self, session: &SessionId, path: &MemoryPath) -> Self {
        self.after("made", session, path)
    }

    fn after(&self, origin: &str, session: &SessionId, path: &MemoryPath) -> Self {
        let mut hash = Sha256::new();
        hash.update(origin);
        hash.update(session);
        hash.update(path.as_str());
        self.last.iter().for_each(|id| hash.update(id));
        let mut id = ChangeId::default();
        id.copy_from_slice(&hash.finalize()[..8]);
        let before = [&self.before[..], &self.last[..]].concat();
        Self { last: vec![id], before }.shortened()
    }

    fn shortened(mut self) -> Self {
        self.before.drain(..self.before.len().saturating_sub(MOST_CHANGES));
        self
    }
}

pub(super) fn ids(bytes: &[u8]) -> Option<Vec<ChangeId>> {
    let (ids, rest) = bytes.as_chunks::<8>();
    rest.is_empty().then(|| ids.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> MemoryPath {
        MemoryPath::parse(path).unwrap()
    }

    #[test]
    fn a_clock_says_which_version_includes_which() {
        let (one, two, a) = ([1; 16], [2; 16], path("/memories/a"));
        let first = Clock::default().next(&one, &a);
        let (here, there) = (first.next(&one, &a), first.next(&two, &a));
        assert_eq!(first.compare(&first), Some(Ordering::Equal));
        assert_eq!(first.compare(&here), Some(Ordering::Less));
        assert_eq!(there.compare(&Clock::default()), Some(Ordering::Greater));
        assert_eq!(here.compare(&there), None);
        let both = here.joined(&there);
        assert_eq!(both.compare(&there.joined(&here)), Some(Ordering::Equal));
        assert_eq!(both.joined(&here), both);
        assert_eq!(both.compare(&here), Some(Ordering::Greater));
        assert_eq!(both.compare(&there), Some(Ordering::Greater));
        // The same change in another session is another change, as after a restore from a backup.
        let again = first.next(&[3; 16], &a);
        assert_eq!(again.next(&one, &a).compare(&here), None);
        assert_eq!(both.next(&one, &a).compare(&both), Some(Ordering::Greater));
        // A change that the sync makes is not the one that an agent makes meanwhile.
        assert_eq!(first.made(&one, &a).compare(&here), None);
        assert_eq!(first.made(&one, &a).compare(&first), Some(Ordering::Greater));
    }

    #[test]
    fn only_the_last_changes_are_kept() {
        let (a, mut clock) =
            (path("/memories/a"), Clock::default().next(&[1; 16], &path("/memories/a")));
        let mut before = Vec::new();
        for _ in 0..MOST_CHANGES + 1 {
            before.push(clock.clone());
            clock = clock.next(&[1; 16], &a);
        }
        assert_eq!(clock.before.len(), MOST_CHANGES);
        assert_eq!(before[0].compare(&clock), None);
        assert!(before[1..].iter().all(|old| old.compare(&clock) == Some(Ordering::Less)));
    }
}
