//! Prints what a sync did, and its progress.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::super::output::{Output, count};
use super::super::{Failure, say};
use memdir::sync::{SyncChange, SyncLeftOut, SyncPhase, SyncProgress, SyncRedaction, SyncSide};
use memdir::{SyncOptions, Synced};

/// Prints results. The name of the pair comes first, if it has one.
pub(super) struct Printer<'o> {
    pub(super) output: &'o mut Output,
    pub(super) name: Option<&'o str>,
    /// Whether the sync takes redactions over. Otherwise they are only counted.
    pub(super) takes_redactions: bool,
}

impl Printer<'_> {
    /// Prints the changes, the conflicts, the files that were left out, and the redactions.
    pub(super) fn details(&mut self, synced: &Synced) -> Result<(), Failure> {
        for change in &synced.changes {
            if self.output.json {
                self.object("change", change)?;
            } else {
                self.changed(change.action.as_str(), &shown(change))?;
            }
        }
        self.output.flush()?;
        for conflict in &synced.conflicts {
            if self.output.json {
                self.object("conflict", conflict)?;
            } else {
                let (path, copy) = (&conflict.path, &conflict.copy_path);
                self.say(&format!(
                    "conflict: {path} was changed in both, and the other content is in {copy}"
                ));
            }
        }
        synced.left_out.iter().try_for_each(|left| self.left_out(left))?;
        if self.takes_redactions || self.output.json {
            return synced.redactions.iter().try_for_each(|redaction| self.redaction(redaction));
        }
        let open = synced.redactions.len() as u64;
        if open > 0 {
            let versions = count(open, "version is redacted", "versions are redacted");
            self.say(&format!("{versions} in one history only: --redactions takes that over"));
        }
        Ok(())
    }

    fn changed(&mut self, operation: &str, line: &str) -> Result<(), Failure> {
        match self.name {
            Some(name) => self.output.changed(operation, &format!("{line}  ({name})")),
            None => self.output.changed(operation, line),
        }
    }

    fn redaction(&mut self, redaction: &SyncRedaction) -> Result<(), Failure> {
        if self.output.json {
            return self.object("redaction", redaction);
        }
        let SyncRedaction { side, path, version, details, .. } = redaction;
        if let Some(details) = details {
            self.say(&format!("not redacted in {side}: {path}, version {version}: {details}"));
            return Ok(());
        }
        let line = format!("{} {path}, version {version}", arrow(*side));
        self.changed("redacted", &line)
    }

    pub(super) fn left_out(&mut self, left: &SyncLeftOut) -> Result<(), Failure> {
        if self.output.json {
            return self.object("left-out", left);
        }
        self.say(&format!("left out: {}: {}", left.path, left.details));
        Ok(())
    }

    fn object(&mut self, kind: &str, result: &impl serde::Serialize) -> Result<(), Failure> {
        self.output.result(kind, result, self.of_pair())
    }

    /// The field that says which pair a JSON object is about.
    fn of_pair(&self) -> Value {
        self.name.map_or_else(|| json!({}), |name| json!({ "sync": name }))
    }

    /// Prints a line to standard error.
    pub(super) fn say(&self, sentence: &str) {
        match self.name {
            Some(name) => say(&format!("{name}: {sentence}")),
            None => say(sentence),
        }
    }

    /// Prints the summary: always with `--json`, otherwise only on a terminal or for a dry run.
    pub(super) fn summary(
        &mut self,
        synced: &Synced,
        options: &SyncOptions,
    ) -> Result<(), Failure> {
        let dry_run = options.dry_run;
        if self.output.json {
            let summary = json!({
                "changes": synced.changes.len(),
                "conflicts": synced.conflicts.len(),
                "left_out": synced.left_out.len(),
                "redactions": synced.redactions.len(),
                "equal": synced.equal,
                "has_baseline": synced.has_baseline,
                "dry_run": dry_run,
            });
            return self.object("summary", &summary);
        }
        let changes = count(synced.changes.len() as u64, "change", "changes");
        let (conflicts, left) = (synced.conflicts.len() as u64, synced.left_out.len() as u64);
        let mut parts =
            vec![format!("{changes} {}", if dry_run { "would be made" } else { "made" })];
        if conflicts > 0 {
            parts.push(count(conflicts, "conflict", "conflicts"));
        }
        if left > 0 {
            parts.push(format!("{} left out", count(left, "file", "files")));
        }
        let redacted = synced.redactions.iter().filter(|redaction| redaction.is_done).count();
        if redacted > 0 {
            parts.push(format!("{} redacted", count(redacted as u64, "version", "versions")));
        }
        let equal = count(synced.equal, "file", "files");
        parts.push(format!("{equal} the same{}", if dry_run { " already" } else { "" }));
        let line = parts.join(", ");
        if dry_run {
            let line = self.name.map_or_else(|| line.clone(), |name| format!("{name}: {line}"));
            return self.output.line(&line);
        }
        if io::stderr().is_terminal() {
            self.say(&line);
        }
        Ok(())
    }
}

fn arrow(side: SyncSide) -> &'static str {
    if side == SyncSide::A { "<-" } else { "->" }
}

/// A change with the direction in which the content went.
fn shown(change: &SyncChange) -> String {
    let arrow = arrow(change.side);
    let from = change.old_path.as_ref().map(|old| format!(" from {old}")).unwrap_or_default();
    format!("{arrow} {}{from}", change.path)
}

/// A progress bar on a terminal. Prints nothing elsewhere.
pub(super) struct Bar {
    bar: ProgressBar,
    phase: Option<SyncPhase>,
}

impl Bar {
    pub(super) fn new() -> Self {
        Self { bar: ProgressBar::hidden(), phase: None }
    }

    pub(super) fn show(&mut self, progress: SyncProgress<'_>) {
        if self.phase.replace(progress.phase) != Some(progress.phase) {
            self.bar.finish_and_clear();
            self.bar = ProgressBar::new(progress.of_files);
            let template = "{msg} [{bar:30}] {pos} of {len}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style.progress_chars("=> "));
            }
            self.bar.set_message(progress.phase.as_str());
        }
        self.bar.update(|state| {
            state.set_len(progress.of_files);
            state.set_pos(progress.files);
        });
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
