//! `memdir copy`: copies everything from one store to another. An import of an archive does the same from the archive.

use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::arguments::CopyArguments;
use super::history;
use super::output::{Output, count, in_the_way};
use super::stores::{self, StoreArgument};
use super::{Ended, Failure, say};
use crate::with::with;
use memdir::copy::{Copied, CopyError, Phase, Plan, Progress, Refusal, Source, There};
use memdir::history::{HistoryError, HistoryRecords};
use memdir::store::{Durability, OnExisting, Store};
use memdir::text::human_size;
use memdir::{CopyOptions, MemoryOptions};

pub(super) fn run(wanted: &CopyArguments, output: &mut Output) -> Result<Ended, Failure> {
    let options = with(MemoryOptions::default(), |options| options.durability = wanted.durability);
    let (source, mut destination) = stores::pair(&wanted.from, &wanted.to, &options)?;
    if source.overlaps(&destination) {
        return Err(overlapping());
    }
    destination.encrypt_names(wanted.encrypt_names, stores::TO_KEY)?;
    let options = with(CopyOptions::default(), |options| {
        options.without_history = wanted.without_history;
    });
    let from = Source::new(&source.readable()?, options);
    let from = from.map_err(|error| failure(&error, Some(&source), &destination))?;
    let (overwrite, dry_run) = (wanted.overwrite, wanted.dry_run);
    let how = How { overwrite, dry_run, durability: wanted.durability };
    transfer(from, Some(&source), &destination, how, output)
}

/// The options of a transfer.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) overwrite: bool,
    pub(super) dry_run: bool,
    pub(super) durability: Durability,
}

/// Copies all files, and the history, to a store. The source is a store named by an address, or an archive.
pub(super) fn transfer(
    from: Source,
    source: Option<&StoreArgument>,
    destination: &StoreArgument,
    how: How,
    output: &mut Output,
) -> Result<Ended, Failure> {
    let existing = if how.overwrite { OnExisting::Overwrite } else { OnExisting::Error };
    // A missing destination is created only if there is something to write.
    let found = destination.find()?;
    let to = match &found {
        Some(found) => Arc::clone(found),
        None => destination.stand_in()?,
    };
    let mut bar = Bar::new();
    let failed = |error: CopyError| failure(&error, source, destination);
    let plan = Plan::compare(from, &to, existing, &mut |progress| bar.show(progress));
    bar.clear();
    let plan = plan.map_err(failed)?;
    if !plan.refused().is_empty() {
        refused(plan.refused(), how, output)?;
        return Ok(Ended::WithProblems);
    }
    let copied = if how.dry_run {
        would_copy(&plan, output)?;
        plan.outcome()
    } else {
        let to = found.map_or_else(|| destination.open(), Ok)?;
        let copied = plan.carry_out(&to, how.durability, &mut |progress| bar.show(progress));
        bar.clear();
        match copied {
            Err(CopyError::Refused(_)) => {
                return Err(Failure::Refused(
                    "another program wrote into the destination during the copy: run the same command again"
                        .to_owned(),
                ));
            }
            copied => copied.map_err(failed)?,
        }
    };
    summary(&copied, how.dry_run, output)?;
    Ok(Ended::Well)
}

/// The history of a store that is exported.
pub(super) fn carried(
    store: Arc<dyn Store>,
    source: &StoreArgument,
) -> Result<HistoryRecords, Failure> {
    HistoryRecords::of(store).map_err(|error| match error {
        HistoryError::Damaged => damaged_history(),
        error => history::failure(&error, source),
    })
}

fn damaged_history() -> Failure {
    Failure::Refused(
        "nothing was copied, as the history is damaged: see `memdir check`; --without-history copies the files alone"
            .to_owned(),
    )
}

fn other_history() -> Failure {
    Failure::Refused(
        "nothing was copied, as the destination has a history of its own: --without-history copies the files alone"
            .to_owned(),
    )
}

fn overlapping() -> Failure {
    Failure::Usage(format!("nothing was copied: {}", CopyError::Overlapping))
}

fn failure(
    error: &CopyError,
    source: Option<&StoreArgument>,
    destination: &StoreArgument,
) -> Failure {
    match error {
        CopyError::Overlapping => return overlapping(),
        CopyError::DamagedHistory => return damaged_history(),
        CopyError::OtherHistory => return other_history(),
        _ => {}
    }
    let sentence = error.to_string();
    let sentence = match source {
        Some(source) => source.without_secrets(&sentence),
        None => sentence,
    };
    Failure::Store(destination.without_secrets(&sentence))
}

/// Lists everything that is in the way.
fn refused(refusals: &[Refusal], how: How, output: &mut Output) -> Result<(), Failure> {
    for Refusal { path, there, .. } in refusals {
        if output.json {
            let there = there.as_str();
            output.object(&json!({"type": "refused", "path": path.as_str(), "there": there}))?;
        } else {
            say(&format!("{path}: the destination has {there} there"));
        }
    }
    let by_overwriting = refusals.iter().all(|refusal| refusal.there == There::AnotherContent);
    let what = if how.dry_run { "would be copied" } else { "was copied" };
    output.flush()?;
    say(&in_the_way(what, refusals.len() as u64, by_overwriting && !how.overwrite));
    Ok(())
}

fn would_copy(plan: &Plan, output: &mut Output) -> Result<(), Failure> {
    for (path, size) in plan.files() {
        if output.json {
            output.object(&json!({"type": "file", "path": path.as_str(), "size": size}))?;
        } else {
            output.line(&format!("{:>7}  {path}", human_size(size)))?;
        }
    }
    Ok(())
}

/// Prints the summary: always with `--json`, otherwise only on a terminal.
fn summary(copied: &Copied, dry_run: bool, output: &mut Output) -> Result<(), Failure> {
    for problem in &copied.left_out {
        if output.json {
            output.object(&json!({
                "type": "left-out", "kind": problem.kind.as_str(), "path": problem.path,
            }))?;
        } else {
            say(&format!("left out: {problem}"));
        }
    }
    if output.json {
        let mut summary = json!({
            "type": "summary",
            "files": copied.files,
            "bytes": copied.bytes,
            "equal": copied.equal,
            "directories": copied.directories,
            "left_out": copied.left_out.len(),
            "dry_run": dry_run,
        });
        if let Some(changes) = copied.changes {
            summary["changes"] = json!(changes);
        }
        return output.object(&summary);
    }
    if dry_run || io::stderr().is_terminal() {
        let verb = if dry_run { "would be copied" } else { "copied and compared" };
        let files = count(copied.files, "file", "files");
        let changes = match copied.changes {
            Some(changes) => format!(" and {} of the history", count(changes, "change", "changes")),
            None => String::new(),
        };
        let line = format!(
            "{files} ({}){changes} {verb}, {} there already",
            human_size(copied.bytes),
            copied.equal
        );
        if dry_run {
            return output.line(&line);
        }
        say(&line);
    }
    Ok(())
}

/// A progress bar on a terminal. Prints nothing elsewhere.
struct Bar {
    bar: ProgressBar,
    phase: Option<Phase>,
}

impl Bar {
    fn new() -> Self {
        Self { bar: ProgressBar::hidden(), phase: None }
    }

    fn show(&mut self, progress: Progress<'_>) -> ControlFlow<()> {
        let (template, message) = match progress.phase {
            Phase::Comparing => {
                ("comparing {spinner} {msg}", count(progress.of_files, "file", "files"))
            }
            Phase::Copying => (
                "copying [{bar:30}] {bytes} of {total_bytes}, {msg}",
                format!("file {} of {}", progress.files + 1, progress.of_files),
            ),
        };
        if self.phase.replace(progress.phase) != Some(progress.phase) {
            // A bar that was cleared is never shown again, so make a new one.
            self.bar = ProgressBar::new(progress.of_bytes);
            if let Ok(style) = ProgressStyle::with_template(template) {
                self.bar.set_style(style.progress_chars("=> "));
            }
        }
        self.bar.update(|state| {
            state.set_len(progress.of_bytes);
            state.set_pos(progress.bytes);
        });
        self.bar.set_message(message);
        ControlFlow::Continue(())
    }

    fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
