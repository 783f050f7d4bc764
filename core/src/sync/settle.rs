//! Looks at what a round has changed: reads each file back, remembers its fingerprint, and keeps its text for later merges.

use std::collections::{BTreeSet, HashMap, HashSet};

use memdir_store::Fingerprint;
use memdir_store::batch::in_batches;
use memdir_store::path::MemoryPath;

use super::baseline::{Baseline, Digest, TextFile, digest};
use super::both::{Both, SyncSide};
use super::error::SyncError;
use super::link::Link;
use super::side::Side;
use super::survey::{Survey, list};
use super::versions::Versions;
use super::walk::Walk;
use crate::policy::PathPattern;

/// The largest text that is kept for merges. Changes of both memories to a larger one are a conflict.
const MAX_TEXT_BYTES: u64 = 1 << 20;

/// If there are more files of texts, the smaller ones are written again as one.
const MANY_TEXT_FILES: usize = 32;
const SMALL_TEXT_FILE: u64 = 1 << 20;

/// The files of the baseline that a round has changed.
#[derive(Debug, Default)]
pub(super) struct Touched {
    /// Those whose entry is new.
    pub(super) entries: BTreeSet<MemoryPath>,
    /// Those that were written, in each memory.
    pub(super) written: Both<BTreeSet<MemoryPath>>,
}

/// Takes the fingerprints of the survey for all files that were not written since.
pub(super) fn take_fingerprints(versions: &mut Both<Versions>, survey: &Survey, touched: &Touched) {
    for side in SyncSide::ALL {
        let (mut fresh, mut files) = (Vec::new(), Walk::new(&survey.files[side]));
        for (path, version) in &*versions[side].files {
            let Some(found) = files.at(path) else { continue };
            // The content of a file that was only in one memory was read after the survey.
            let is_same = match found.digest {
                Some(digest) => version.digest() == Some(digest),
                None => touched.entries.contains(path),
            };
            let is_other = found.fingerprint.is_some() && found.fingerprint != version.fingerprint;
            if is_same && is_other && !touched.written[side].contains(path) {
                fresh.push((path.clone(), found.fingerprint.clone()));
            }
        }
        for (path, fingerprint) in fresh {
            if let Some(version) = versions[side].files_mut().get_mut(&path) {
                version.fingerprint = fingerprint;
            }
        }
    }
}

/// Reads back what was written, and keeps the texts of new entries.
pub(super) fn settle(
    sides: &Both<Side<'_>>,
    link: &Link<'_>,
    baseline: &mut Baseline,
    versions: &mut Both<Versions>,
    mut touched: Touched,
    exclude: &[PathPattern],
) -> Result<(), SyncError> {
    let rewritten = rewritten_texts(baseline);
    touched.entries.extend(rewritten.iter().map(|(path, ..)| path.clone()));
    for side in SyncSide::ALL {
        let written = &touched.written[side];
        if written.is_empty() {
            continue;
        }
        let listed = list(&sides[side], exclude)?.files(&sides[side]);
        let listed = listed.filter(|(path, ..)| written.contains(path));
        let listed: Vec<(MemoryPath, u64, Option<Fingerprint>)> = listed.collect();
        let sizes: Vec<(&MemoryPath, u64)> =
            listed.iter().map(|(path, size, _)| (path, *size)).collect();
        let same = keep_texts(&sides[side], link, baseline, &sizes)?;
        for (path, _, fingerprint) in &listed {
            let version = versions[side].files_mut().get_mut(path);
            if let Some(version) = version.filter(|_| same.contains(path)) {
                version.fingerprint.clone_from(fingerprint);
            }
        }
    }
    for side in SyncSide::ALL {
        let lacks_text = |path: &&MemoryPath| {
            !touched.written[side].contains(*path)
                && baseline.files.get(*path).is_some_and(|agreed| {
                    agreed.texts[side].is_none() && agreed.sizes[side] <= MAX_TEXT_BYTES
                        // The text of the other memory was kept, or is about to be.
                        && (!agreed.is_equal() || side == SyncSide::A && !touched.written.b.contains(*path))
                })
        };
        let paths: Vec<MemoryPath> = touched.entries.iter().filter(lacks_text).cloned().collect();
        let sizes: Vec<(&MemoryPath, u64)> = paths
            .iter()
            .map(|path| (path, baseline.files.get(path).map_or(0, |agreed| agreed.sizes[side])))
            .collect();
        keep_texts(&sides[side], link, baseline, &sizes)?;
    }
    // A file that has another content now, such as one that is still to be merged.
    for (path, side, text) in rewritten {
        if let Some(agreed) = baseline.files_mut().get_mut(&path) {
            agreed.texts[side].get_or_insert(text);
        }
    }
    baseline.drop_unused_texts();
    Ok(())
}

/// Reads files, and keeps their texts. Returns the files that have the content of the baseline.
fn keep_texts(
    side: &Side<'_>,
    link: &Link<'_>,
    baseline: &mut Baseline,
    files: &[(&MemoryPath, u64)],
) -> Result<HashSet<MemoryPath>, SyncError> {
    let mut same = HashSet::new();
    for batch in in_batches(files, |(_, size)| *size) {
        // Claimed before the contents are read.
        let name = link.claim_texts()?;
        let mut contents: Vec<Vec<u8>> = Vec::new();
        let mut kept: HashMap<Digest, Vec<MemoryPath>> = HashMap::new();
        side.read_each(batch, &mut |path, content| {
            let Ok(content) = content else { return Ok(()) };
            let Some(agreed) = baseline.files.get(path) else { return Ok(()) };
            let of_content = digest(&content);
            if of_content != agreed.digests[side.side] {
                return Ok(());
            }
            same.insert(path.clone());
            let is_text =
                content.len() as u64 <= MAX_TEXT_BYTES && str::from_utf8(&content).is_ok();
            if is_text && agreed.texts[side.side].is_none() {
                let paths = kept.entry(of_content).or_default();
                if paths.is_empty() {
                    contents.push(content);
                }
                paths.push(path.clone());
            }
            Ok(())
        })?;
        let Some(name) = name else { continue };
        if !link.keep_texts(&name, &contents)? {
            continue;
        }
        let number = baseline.text_files.len();
        let bytes = contents.iter().map(|content| content.len() as u64).sum();
        baseline.text_files.push(TextFile { name, bytes });
        for (of_content, paths) in kept {
            for path in paths {
                let Some(agreed) = baseline.files_mut().get_mut(&path) else { continue };
                for side in SyncSide::ALL {
                    if agreed.digests[side] == of_content {
                        agreed.texts[side] = Some(number);
                    }
                }
            }
        }
    }
    Ok(same)
}

/// Forgets the texts in files of which most is no longer needed, or of which there are many small ones, so they are kept again. Returns the
/// files of the memory that they belong to, and where they are.
fn rewritten_texts(baseline: &mut Baseline) -> Vec<(MemoryPath, SyncSide, usize)> {
    let mut needed = vec![0; baseline.text_files.len()];
    for agreed in baseline.files.values() {
        let [a, b] = [agreed.texts.a, agreed.texts.b];
        for (text, side) in [(a, SyncSide::A), (b.filter(|_| a != b), SyncSide::B)] {
            if let Some(text) = text {
                needed[text] += agreed.sizes[side];
            }
        }
    }
    let are_many = baseline.text_files.len() > MANY_TEXT_FILES;
    let is_rewritten: Vec<bool> = baseline
        .text_files
        .iter()
        .zip(&needed)
        .map(|(file, needed)| file.bytes > 2 * needed || are_many && file.bytes < SMALL_TEXT_FILE)
        .collect();
    if !is_rewritten.contains(&true) {
        return Vec::new();
    }
    let mut rewritten = Vec::new();
    for (path, agreed) in baseline.files_mut() {
        for side in SyncSide::ALL {
            if let Some(text) = agreed.texts[side].take_if(|text| is_rewritten[*text]) {
                rewritten.push((path.clone(), side, text));
            }
        }
    }
    rewritten
}
