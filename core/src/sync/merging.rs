//! Merges the changes that both memories made to a file: line by line, or else by a function of the application.

use memdir_store::path::MemoryPath;

use super::baseline::{Agreed, Baseline, Digest, digest};
use super::both::{Both, SyncSide};
use super::carry_out::Carrying;
use super::change::{Change, Outcome};
use super::clock::Clock;
use super::effects::{Effects, Origin};
use super::error::SyncError;
use super::link::Link;
use super::on_conflict::{MergeFunction, SyncMerge};
use super::report::SyncAction;
use crate::text::{merge, union};

/// The changes that are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merging {
    All,
    /// Only lines that were added at the end.
    Added,
}

/// The contents of both memories, and what each is after a merge.
type Compared = (Both<Vec<u8>>, Option<Both<String>>);

impl Carrying<'_, '_> {
    /// Merges a file. A conflict is left to [`merge_conflicts`](Self::merge_conflicts) if there is a function for it.
    pub(super) fn merge(
        &self,
        path: &MemoryPath,
        digests: &Both<Digest>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let Some((contents, merged)) = self.compare(Both::new(|_| path), path, digests)? else {
            effects.disturbed.push(path.clone());
            return Ok(());
        };
        match merged {
            Some(texts) => {
                let mut now = *digests;
                self.write_merged(path, &mut now, &contents, &texts, effects)
            }
            None if self.options.on_conflict.function().is_some() => {
                effects.to_merge.push((path.clone(), *digests));
                Ok(())
            }
            // Another sync may have merged them meanwhile, and have removed the text that both last agreed on.
            None if !self.still_has(path, digests, SyncSide::ALL)? => {
                effects.disturbed.push(path.clone());
                Ok(())
            }
            None => self.keep_both(path, digests, &contents, effects),
        }
    }

    /// Merges the files that are left to the function of the application, in the thread of the sync. Each is read again, because only its name
    /// was kept.
    pub(super) fn merge_conflicts(&self, effects: &mut Effects) -> Result<(), SyncError> {
        let Some(function) = self.options.on_conflict.function() else { return Ok(()) };
        let mut files = std::mem::take(&mut effects.to_merge);
        files.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, digests) in &files {
            self.check()?;
            let Some((contents, _)) = self.compare(Both::new(|_| path), path, digests)? else {
                effects.disturbed.push(path.clone());
                continue;
            };
            let merged = self.merged_by(function, path, &contents)?;
            // The function may have taken long.
            if !self.still_has(path, digests, SyncSide::ALL)? {
                effects.disturbed.push(path.clone());
                continue;
            }
            match merged {
                Some(text) => self.write_text(path, digests, &contents, text, effects)?,
                None => self.keep_both(path, digests, &contents, effects)?,
            }
        }
        Ok(())
    }

    /// The text that the function makes of both contents. `None` if both contents are to be kept, or one is not text.
    pub(super) fn merged_by(
        &self,
        function: &MergeFunction,
        path: &MemoryPath,
        contents: &Both<Vec<u8>>,
    ) -> Result<Option<String>, SyncError> {
        let (Ok(a), Ok(b)) = (str::from_utf8(&contents.a), str::from_utf8(&contents.b)) else {
            return Ok(None);
        };
        let digests = Both::new(|side| digest(&contents[side]));
        // A sync that was killed has written the text to one memory, and not to the other one.
        if let Some(marked) = self.link.merge_mark()? {
            for (side, text) in [(SyncSide::A, a), (SyncSide::B, b)] {
                if marked == mark(path, side, &digests) {
                    return Ok(Some(text.to_owned()));
                }
            }
        }
        let modified = |side: SyncSide| self.found(side, path).and_then(|found| found.modified);
        let base = self
            .agreed_before(path)
            .filter(|_| !self.is_stale(path, &digests))
            .map_or(Ok(None), |agreed| base(self.link, self.baseline, agreed, SyncSide::A))?;
        let conflict = SyncMerge {
            path: path.clone(),
            a: a.to_owned(),
            b: b.to_owned(),
            base,
            modified_a: modified(SyncSide::A),
            modified_b: modified(SyncSide::B),
        };
        let merged = function(&conflict).map_err(|error| SyncError::of_merge(path, error))?;
        self.check()?;
        Ok(merged)
    }

    /// Writes what a file was merged to, if both memories still have the contents `now`, which then is what they have.
    fn write_merged(
        &self,
        path: &MemoryPath,
        now: &mut Both<Digest>,
        contents: &Both<Vec<u8>>,
        texts: &Both<String>,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let compared = *now;
        let mut sizes = Both::new(|side| contents[side].len() as u64);
        let mut origin = Origin::Made;
        for side in self.asking_first() {
            let text = texts[side].as_bytes();
            let is_there = contents[side] == text;
            if is_there || self.options.one_way && side == SyncSide::A {
                continue;
            }
            let theirs = compared[side.other()];
            let written = self.sides[side].replace(path, compared[side], text, theirs)?;
            if matches!(written, Outcome::Done(new, _) if new != digest(text)) {
                origin = Origin::Partly;
            }
            match written {
                // The difference may be only what this memory redacts.
                Outcome::Done(new, _) if new == compared[side] => {}
                Outcome::Done(new, size) => {
                    effects.changed(path, side, SyncAction::Merged);
                    (now[side], sizes[side]) = (new, size);
                }
                other => {
                    effects.not_done(path, side, other);
                    return Ok(());
                }
            }
        }
        effects.agreed.push((path.clone(), Agreed::new(*now, sizes), origin));
        Ok(())
    }

    /// Writes the text of the function to both memories, or to none. It was made of two contents, so it must not stay in one memory alone: the
    /// function would get it as one of both in the next round or sync.
    fn write_text(
        &self,
        path: &MemoryPath,
        compared: &Both<Digest>,
        contents: &Both<Vec<u8>>,
        text: String,
        effects: &mut Effects,
    ) -> Result<(), SyncError> {
        let is_written = |side: &SyncSide| {
            contents[*side] != text.as_bytes() && !(self.options.one_way && *side == SyncSide::A)
        };
        for side in SyncSide::ALL.into_iter().filter(is_written) {
            let theirs = compared[side.other()];
            let change = Change::replace(path, compared[side], text.as_bytes(), theirs);
            if let Some(refusal) = self.sides[side].writer.refusal_of(&change)? {
                effects.not_done(path, side, Outcome::Refused(refusal));
                return Ok(());
            }
        }
        if !self.options.one_way {
            let [first, _] = self.asking_first();
            let mut written = *compared;
            written[first] = digest(text.as_bytes());
            self.link.mark_merge(&mark(path, first, &written))?;
        }
        let (mut now, mut written) = (*compared, Effects::default());
        let texts = Both { a: text.clone(), b: text };
        let result = self.write_merged(path, &mut now, contents, &texts, &mut written);
        // A memory that had the text already may have got another one.
        let unwritten = SyncSide::ALL.into_iter().filter(|side| now[*side] == compared[*side]);
        let is_written = !written.agreed.is_empty();
        // After a failure it is not known what was written. A hook that fails has written nothing.
        let is_unknown = matches!(&result, Err(error) if !matches!(error, SyncError::Hook { .. }));
        if is_unknown || is_written && self.still_has(path, compared, unwritten)? {
            effects.add(written);
            return result;
        }
        let mut result = result;
        for change in std::mem::take(&mut written.changes) {
            let (side, old) = (change.side, &contents[change.side]);
            match self.sides[side].restore(path, now[side], old) {
                Ok(Outcome::Done(..)) => {}
                // Something has changed it once more.
                Ok(_) => written.changes.push(change),
                Err(error) => {
                    written.changes.push(change);
                    result = Err(error);
                }
            }
        }
        if is_written {
            written.agreed.clear();
            written.disturbed.push(path.clone());
        }
        effects.add(written);
        result
    }

    /// Whether these memories have the contents that were compared.
    fn still_has(
        &self,
        path: &MemoryPath,
        compared: &Both<Digest>,
        sides: impl IntoIterator<Item = SyncSide>,
    ) -> Result<bool, SyncError> {
        for side in sides {
            let content = self.sides[side].read(path)?;
            if content.is_none_or(|content| digest(&content) != compared[side]) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The contents of both memories at these paths, and what they are merged. `None` if one of them is no longer what was compared.
    pub(super) fn compare(
        &self,
        at: Both<&MemoryPath>,
        path: &MemoryPath,
        digests: &Both<Digest>,
    ) -> Result<Option<Compared>, SyncError> {
        let contents = Both::try_new(|side| self.sides[side].read(at[side]))?;
        let (Some(a), Some(b)) = (contents.a, contents.b) else { return Ok(None) };
        let contents = Both { a, b };
        if SyncSide::ALL.into_iter().any(|side| digest(&contents[side]) != digests[side]) {
            return Ok(None);
        }
        let how = if self.is_stale(path, digests) { Merging::Added } else { Merging::All };
        let text = merged(self.link, self.baseline, self.agreed_before(path), &contents, how)?;
        Ok(Some((contents, text)))
    }

    fn agreed_before(&self, path: &MemoryPath) -> Option<&Agreed> {
        self.baseline.files.get(self.old_path(path))
    }

    pub(super) fn old_path<'p>(&'p self, path: &'p MemoryPath) -> &'p MemoryPath {
        self.old_paths.get(path).unwrap_or(path)
    }

    /// Whether the entry of a file says nothing of who has removed a line: both have agreed on another content since, or one of them has come
    /// back to the old content.
    fn is_stale(&self, path: &MemoryPath, digests: &Both<Digest>) -> bool {
        let before = self.old_path(path);
        let clock = |side: SyncSide| self.versions[side].files.get(before).map(|it| &it.clock);
        let (Some(agreed), Some(a), Some(b)) =
            (self.agreed_before(path), clock(SyncSide::A), clock(SyncSide::B))
        else {
            return false;
        };
        let is_back = |side: SyncSide, clock: &Clock| {
            digests[side] == agreed.digests[side] && !clock.is_within(&agreed.known)
        };
        a.common(b).any(|id| !agreed.known.contains(id))
            || before == path && (is_back(SyncSide::A, a) || is_back(SyncSide::B, b))
    }
}

/// Identifies a text at a path that `side` has, and that is to replace the content of the other memory. `digests` are those of both.
fn mark(path: &MemoryPath, side: SyncSide, digests: &Both<Digest>) -> Digest {
    digest(&[path.as_str().as_bytes(), &digests[side], &digests[side.other()]].concat())
}

/// The contents of both memories with the changes of both; `None` if both changed the same lines in different ways, or one of them is not text.
///
/// Both results are the same, unless one of the memories has redacted a part. Then each memory gets the changes that the other one made to its
/// own content, and so neither a redaction nor the redacted text.
fn merged(
    link: &Link<'_>,
    baseline: &Baseline,
    agreed: Option<&Agreed>,
    contents: &Both<Vec<u8>>,
    how: Merging,
) -> Result<Option<Both<String>>, SyncError> {
    let Some(agreed) = agreed else { return Ok(None) };
    let (Ok(a), Ok(b)) = (str::from_utf8(&contents.a), str::from_utf8(&contents.b)) else {
        return Ok(None);
    };
    let base = |of: SyncSide| base(link, baseline, agreed, of);
    let Some(base_a) = base(SyncSide::A)? else { return Ok(None) };
    let for_b = merged_texts(&base_a, a, b, how);
    let for_a = if agreed.is_equal() {
        for_b.clone()
    } else {
        base(SyncSide::B)?.and_then(|base_b| merged_texts(&base_b, a, b, how))
    };
    Ok(for_a.zip(for_b).map(|(a, b)| Both { a, b }))
}

/// The text that a memory had when both last agreed; `None` if it was not kept.
fn base(
    link: &Link<'_>,
    baseline: &Baseline,
    agreed: &Agreed,
    of: SyncSide,
) -> Result<Option<String>, SyncError> {
    let file = agreed.texts[of].and_then(|text| baseline.text_files.get(text));
    file.map_or(Ok(None), |file| link.text(&file.name, &agreed.digests[of]))
}

fn merged_texts(base: &str, a: &str, b: &str, how: Merging) -> Option<String> {
    if let (Some(added), Some(also)) = (added(base, a), added(base, b)) {
        let kept = &a[..a.len() - added.len()];
        return Some(format!("{kept}{}", union(added, also)));
    }
    if how == Merging::Added {
        return None;
    }
    let merged = merge(base, a, b);
    (merged.conflicts == 0).then_some(merged.text)
}

/// The lines that were only added at the end; `None` if anything else was changed.
fn added<'t>(base: &str, text: &'t str) -> Option<&'t str> {
    let rest = text.strip_prefix(base)?;
    if base.is_empty() || base.ends_with('\n') { Some(rest) } else { rest.strip_prefix('\n') }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_are_merged() {
        let merged = merged_texts("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", Merging::All);
        assert_eq!(merged.as_deref(), Some("A\nb\nC\n"));
    }

    #[test]
    fn lines_that_both_add_at_the_end_are_all_kept() {
        for (base, a, b, both) in [
            ("a\n", "a\nx\n", "a\ny\n", "a\nx\ny\n"),
            ("", "x\n", "y\n", "x\ny\n"),
            ("a", "a\nx", "a\ny", "a\nx\ny"),
            ("a\n", "a\nx\n", "a\nx\ny\n", "a\nx\ny\n"),
            ("a\n", "a\nx\ny\n", "a\nz\nx\ny\n", "a\nz\nx\ny\n"),
        ] {
            assert_eq!(merged_texts(base, a, b, Merging::Added).as_deref(), Some(both));
        }
    }

    #[test]
    fn different_changes_of_the_same_line_are_not_merged() {
        assert_eq!(merged_texts("a\n", "b\n", "c\n", Merging::All), None);
        // Neither is a longer last line.
        assert_eq!(merged_texts("a", "ab", "ac", Merging::All), None);
    }
}
