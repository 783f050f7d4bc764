//! Keeps both contents of a conflict: one of them in a copy, whose name says where it is from.

use memdir_store::path::MemoryPath;

use super::baseline::{Digest, digest};
use super::both::{Both, SyncSide};
use super::carry_out::{Carrying, agreed, renamed};
use super::change::{NewFile, Outcome};
use super::effects::{Effects, Origin};
use super::error::SyncError;
use super::names::copy_of;
use super::report::{SyncAction, SyncConflict, SyncLeftOut, SyncReason};

/// The most copies of a file with the same origin and time.
const MOST_COPIES: usize = 100;

/// A copy of a content that both memories have.
struct PlacedCopy {
    path: MemoryPath,
    /// The memories in which it was made now, and what they have written.
    made: Vec<(SyncSide, Digest)>,
    /// Whether these memories have the content as it was, and no hook or policy has changed it.
    is_whole: bool,
    /// The effects of making it.
    effects: Effects,
}

impl Carrying<'_, '_> {
    /// Ends a conflict as the options say.
    pub(super) fn keep_both(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        contents: &Both<Vec<u8>>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let loser = self.loser();
        if self.options.one_way && loser == SyncSide::A {
            effects.left_out.push(SyncLeftOut::new(path.clone(), SyncSide::B, SyncReason::OneWay));
            return Ok(());
        }
        let mut copy = None;
        if self.options.on_conflict.keeps_both() {
            copy = self.place_copy(path, loser, &contents[loser], effects)?;
            if copy.is_none() {
                return Ok(());
            }
        }
        let (old, content) = (digests[loser], &contents[loser.other()]);
        let mut replaced = Effects::default();
        let result = self.replace(loser, path, old, content, Origin::Made, &mut replaced);
        if let Some(copy) = copy {
            // After a failure of a store it is not known what was written.
            let is_refused = matches!(&result, Ok(()) | Err(SyncError::Hook { .. }))
                && replaced.agreed.is_empty();
            if is_refused && !copy.is_whole {
                // The next sync would not know it again, and make another one.
                self.take_back(&copy.path, &copy.made)?;
            } else {
                effects.add(copy.effects);
            }
        }
        effects.add(replaced);
        result
    }

    /// Writes a copy of a content of `side` to both memories. `None` if that was not possible.
    fn place_copy(
        &self,
        path: &MemoryPath,
        side: SyncSide,
        content: &[u8],
        effects: &mut Effects,
    ) -> Result<Option<PlacedCopy>, SyncError> {
        let of_content = digest(content);
        let modified = self.found(side, path).and_then(|found| found.modified);
        let is_written = |to: &SyncSide| !(self.options.one_way && *to == SyncSide::A);
        'names: for number in 0..MOST_COPIES {
            let copy = copy_of(path, &self.names[side], modified, &of_content, number);
            let Some(copy) = copy else { break };
            if copy == *path {
                continue;
            }
            let new = NewFile { path: &copy, from: path, content, modified };
            for to in SyncSide::ALL.into_iter().filter(is_written) {
                if let Some(refusal) = self.sides[to].writer.refusal_of(&new.into())? {
                    effects.not_done(path, to, Outcome::Refused(refusal));
                    return Ok(None);
                }
            }
            let mut results = Both::new(|_| None);
            let mut made = Vec::new();
            for to in self.asking_first().into_iter().filter(is_written) {
                let outcome = self.sides[to].create(&[new])?.pop();
                match outcome.unwrap_or(Outcome::Changed) {
                    Outcome::Done(digest, size) => {
                        made.push((to, digest));
                        results[to] = Some((digest, size));
                    }
                    // A sync that was killed has made it, or it is another file.
                    Outcome::Changed | Outcome::Exists => match self.sides[to].read(&copy)? {
                        Some(there) if there == content => {
                            results[to] = Some((of_content, content.len() as u64));
                        }
                        _ => {
                            self.take_back(&copy, &made)?;
                            continue 'names;
                        }
                    },
                    other => {
                        // A copy in one memory alone would be followed by another one at each sync.
                        self.take_back(&copy, &made)?;
                        effects.not_done(path, to, other);
                        return Ok(None);
                    }
                }
            }
            let mut effects = Effects::default();
            for (to, _) in &made {
                effects.changed(&copy, *to, SyncAction::Created);
            }
            if let (Some(a), Some(b)) = (results.a, results.b) {
                let agreed = agreed(SyncSide::A, a, b);
                effects.agreed.push((copy.clone(), agreed, Origin::Made));
            }
            let (path, copy_path) = (path.clone(), copy.clone());
            effects.conflicts.push(SyncConflict { path, copy_path, side, modified });
            let is_whole = made.iter().all(|(_, written)| *written == of_content);
            return Ok(Some(PlacedCopy { path: copy, made, is_whole, effects }));
        }
        effects.disturbed.push(path.clone());
        Ok(None)
    }

    /// Removes a copy from the memories in which it was made a moment ago.
    fn take_back(&self, copy: &MemoryPath, made: &[(SyncSide, Digest)]) -> Result<(), SyncError> {
        made.iter()
            .try_for_each(|(side, digest)| self.sides[*side].take_back(copy, *digest).map(drop))
    }

    /// Renames a file that is in the way of a directory.
    pub(super) fn move_aside(
        &self,
        side: SyncSide,
        path: &MemoryPath,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some(content) = self.sides[side].read(path)? else {
            effects.disturbed.push(path.clone());
            return Ok(());
        };
        let of_content = digest(&content);
        let modified = self.found(side, path).and_then(|found| found.modified);
        for number in 0..MOST_COPIES {
            let copy = copy_of(path, &self.names[side], modified, &of_content, number);
            let Some(copy) = copy else { break };
            let is_free = self.sides[side].read(&copy)?.is_none()
                && self.sides[side.other()].read(&copy)?.is_none_or(|there| there == content);
            if !is_free {
                continue;
            }
            match self.sides[side].rename(path, &copy, of_content, content.len() as u64)? {
                Outcome::Done(..) => {}
                Outcome::Changed | Outcome::Exists => break,
                other => {
                    effects.not_done(path, side, other);
                    return Ok(());
                }
            }
            effects.changes.push(renamed(path, &copy, side));
            effects.gone.push(path.clone());
            let (original, copied) = (path.clone(), copy.clone());
            effects.conflicts.push(SyncConflict {
                path: original,
                copy_path: copied,
                side,
                modified,
            });
            let to = side.other();
            let new = NewFile { path: &copy, from: path, content: &content, modified };
            if let Some(Outcome::Done(digest, size)) = self.sides[to].create(&[new])?.pop() {
                effects.changed(&copy, to, SyncAction::Created);
                let source = (of_content, content.len() as u64);
                let agreed = agreed(to, (digest, size), source);
                effects.agreed.push((copy, agreed, Origin::Made));
            }
            return Ok(());
        }
        effects.disturbed.push(path.clone());
        Ok(())
    }
}
