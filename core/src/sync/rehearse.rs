//! Finds what the steps of a plan would do, for a dry run.

use memdir_store::path::MemoryPath;

use super::baseline::{Digest, digest};
use super::both::{Both, SyncSide};
use super::carry_out::{Carrying, renamed};
use super::effects::Effects;
use super::error::SyncError;
use super::names::copy_of;
use super::plan::Step;
use super::report::{SyncAction, SyncConflict, SyncLeftOut, SyncReason};

impl Carrying<'_, '_> {
    /// Finds what the steps would do, without doing it.
    pub(super) fn rehearse(&self, steps: &[Step], effects: &mut Effects) -> Result<(), SyncError> {
        for step in steps {
            match step {
                Step::Rename { side, from, to, .. } => {
                    effects.changes.push(renamed(from, to, *side));
                }
                Step::MoveAside { side, path } => self.would_move_aside(*side, path, effects)?,
                Step::Delete { side, path, .. } => {
                    effects.changed(path, *side, SyncAction::Deleted);
                }
                Step::Create { side, path } => effects.changed(path, *side, SyncAction::Created),
                Step::Replace { side, path, .. } => {
                    effects.changed(path, *side, SyncAction::Replaced);
                }
                Step::Merge { path, digests } => self.would_merge(path, digests, effects)?,
                Step::Agree { .. } | Step::Forget { .. } => {}
            }
        }
        Ok(())
    }

    fn would_move_aside(
        &self,
        side: SyncSide,
        path: &MemoryPath,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some(content) = self.sides[side].read(path)? else { return Ok(()) };
        let modified = self.found(side, path).and_then(|found| found.modified);
        let copy = copy_of(path, &self.names[side], modified, &digest(&content), 0);
        let Some(copy) = copy else { return Ok(()) };
        effects.changes.push(renamed(path, &copy, side));
        effects.changed(&copy, side.other(), SyncAction::Created);
        effects.conflicts.push(SyncConflict {
            path: path.clone(),
            copy_path: copy,
            side,
            modified,
        });
        Ok(())
    }

    fn would_merge(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        // A file that would be renamed before still has its old path.
        let at = |side: SyncSide| match self.survey.files[side].contains_key(path) {
            true => path,
            false => self.old_path(path),
        };
        let Some((contents, mut merged)) = self.compare(Both::new(at), path, digests)? else {
            return Ok(());
        };
        if let Some(function) = self.options.on_conflict.function().filter(|_| merged.is_none()) {
            let text = self.merged_by(function, path, &contents)?;
            merged = text.map(|text| Both { a: text.clone(), b: text });
        }
        let is_written = |side: SyncSide| !(self.options.one_way && side == SyncSide::A);
        if let Some(texts) = merged {
            let changed =
                |side: &SyncSide| contents[*side] != texts[*side].as_bytes() && is_written(*side);
            for side in SyncSide::ALL.into_iter().filter(changed) {
                effects.changed(path, side, SyncAction::Merged);
            }
            return Ok(());
        }
        let loser = self.loser();
        if !is_written(loser) {
            effects.left_out.push(SyncLeftOut::new(path.clone(), SyncSide::B, SyncReason::OneWay));
            return Ok(());
        }
        if self.options.on_conflict.keeps_both() {
            let modified = self.found(loser, path).and_then(|found| found.modified);
            let copy = copy_of(path, &self.names[loser], modified, &digests[loser], 0);
            let Some(copy) = copy else { return Ok(()) };
            for side in SyncSide::ALL.into_iter().filter(|side| is_written(*side)) {
                effects.changed(&copy, side, SyncAction::Created);
            }
            let path = path.clone();
            effects.conflicts.push(SyncConflict { path, copy_path: copy, side: loser, modified });
        }
        effects.changed(path, loser, SyncAction::Replaced);
        Ok(())
    }
}
