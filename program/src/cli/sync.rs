//! `memdir sync`: makes two memories equal, or prints what that would change.

mod config;
mod interrupt;
mod keep;
mod pair;
mod print;

pub(super) use self::interrupt::INTERRUPTED;

use self::pair::Pair;
use self::print::{Bar, Printer};
use super::arguments::SyncArguments;
use super::output::Output;
use super::{Ended, Failure};
use memdir::sync::SyncRedaction;

pub(super) fn run(wanted: &SyncArguments, output: &mut Output) -> Result<Ended, Failure> {
    let pairs = match (&wanted.a, &wanted.b) {
        (Some(a), Some(b)) => vec![Pair::of(a, b, wanted)?],
        _ => config::pairs(wanted)?,
    };
    if wanted.watch {
        return keep::keep(&pairs, output);
    }
    let mut outcome = Outcome::default();
    for pair in &pairs {
        match once(pair, output) {
            Err(failure @ (Failure::Output(_) | Failure::Interrupted(_))) => return Err(failure),
            ended => outcome.add(pair, ended),
        }
    }
    outcome.ended()
}

/// The outcome of several pairs. A failure of one does not keep the others from their sync.
#[derive(Default)]
struct Outcome {
    has_problems: bool,
    failure: Option<Failure>,
}

impl Outcome {
    fn add(&mut self, pair: &Pair, ended: Result<Ended, Failure>) {
        let failure = match ended {
            Ok(Ended::Well) => return,
            Ok(Ended::WithProblems) => return self.has_problems = true,
            Err(failure) => failure,
        };
        let failure = match &pair.name {
            Some(name) => Failure::Told(failure.tell_of(name)),
            None => failure,
        };
        let before = self.failure.take().filter(|before| before.code() >= failure.code());
        self.failure = Some(before.unwrap_or(failure));
    }

    fn ended(self) -> Result<Ended, Failure> {
        match self.failure {
            Some(failure) => Err(failure),
            None if self.has_problems => Ok(Ended::WithProblems),
            None => Ok(Ended::Well),
        }
    }
}

fn once(pair: &Pair, output: &mut Output) -> Result<Ended, Failure> {
    let stop = interrupt::stop();
    let memories = pair.open(false)?;
    let mut bar = Bar::new();
    let synced = pair.sync(&memories, [0; 2], &stop, &mut |progress| bar.show(progress));
    bar.finish();
    let synced = synced?;
    let takes_redactions = pair.options.redactions;
    let mut printer = Printer { output, name: pair.name.as_deref(), takes_redactions };
    printer.details(&synced)?;
    printer.summary(&synced, &pair.options)?;
    let without = memories
        .iter()
        .zip([&pair.a, &pair.b])
        .find(|(memory, _)| takes_redactions && !memory.options().history);
    if let Some((_, argument)) = without {
        let shown = argument.shown();
        printer.say(&format!("no redactions are taken over, because {shown} has no history"));
    }
    let is_open = |redaction: &SyncRedaction| takes_redactions && !redaction.is_done;
    let is_equal = synced.conflicts.is_empty()
        && synced.left_out.is_empty()
        && without.is_none()
        && !synced.redactions.iter().any(is_open);
    Ok(if is_equal { Ended::Well } else { Ended::WithProblems })
}
