//! The command line `memdir`: shows, searches, edits, checks and copies the memory of an agent, and undoes the changes
//! of the agent.
//!
//! All packages share this program: the binary of this crate and the scripts of the Python and npm
//! packages all call [`run`]. The logic is in [`copy`](mod@memdir::copy), [`check`](memdir::check()) and
//! the stores. `docs/reference/command-line.md` documents its output and exit codes.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::FromArgMatches;
use clap::error::{ContextKind, ContextValue};

use memdir::store::redact_address;

mod archive;
mod arguments;
mod blame;
mod changing;
mod check;
mod completions;
mod conflicts;
mod copy;
mod diff;
mod edit;
mod editor;
mod erase;
mod expire;
mod file_arguments;
mod fixed_files;
mod flags;
mod grep;
mod help;
mod help_texts;
mod history;
mod history_arguments;
mod import;
mod log;
#[cfg(feature = "mcp")]
mod mcp;
#[cfg(any(feature = "mcp", feature = "page"))]
mod mounts;
mod namespaces;
mod output;
// The generated files are those of a build with all commands.
#[cfg(test)]
#[cfg(all(unix, feature = "mcp", feature = "page"))]
mod pages;
mod put;
mod remove;
mod rename;
mod restore;
mod search;
#[cfg(feature = "page")]
mod serve;
#[cfg(any(feature = "mcp", feature = "page"))]
mod server_arguments;
mod show;
mod similar;
mod stats;
mod stores;
mod style;
mod sync;
mod tree;
mod watch;

use arguments::{Arguments, Command};
use output::Output;

/// Runs one command on the standard streams of this process, and returns its exit code. The first argument is the
/// name of the program.
///
/// 0: success. 1: refused, or problems were found. 2: wrong arguments. 3: a store failed. 4: a sync stopped, because it would delete too much.
/// 130: Ctrl-C stopped a sync.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let parsed = help::program()
        .try_get_matches_from(&arguments)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return refuse(error, &arguments),
    };
    let mut output = Output::new(arguments.json);
    let done = match &arguments.command {
        Command::Tree(wanted) => tree::run(wanted, &mut output),
        Command::Show(wanted) => show::run(wanted, &mut output),
        Command::Search(wanted) => search::run(wanted, &mut output),
        Command::Grep(wanted) => grep::run(wanted, &mut output),
        Command::Stats(wanted) => stats::run(wanted, &mut output),
        Command::Edit(wanted) => edit::run(wanted, &mut output),
        Command::Put(wanted) => put::run(wanted, &mut output),
        Command::Move(wanted) => rename::run(wanted, &mut output),
        Command::Remove(wanted) => remove::run(wanted, &mut output),
        Command::Expire(wanted) => expire::run(wanted, &mut output),
        Command::Watch(wanted) => watch::run(wanted, &mut output),
        Command::Log(wanted) => log::run(wanted, &mut output),
        Command::Diff(wanted) => diff::run(wanted, &mut output),
        Command::Blame(wanted) => blame::run(wanted, &mut output),
        Command::Restore(wanted) => restore::restore(wanted, &mut output),
        Command::Undo(wanted) => restore::undo(wanted, &mut output),
        Command::Redact(wanted) => restore::redact(wanted, &mut output),
        Command::Erase(wanted) => erase::run(wanted, &mut output),
        Command::Sync(wanted) => sync::run(wanted, &mut output),
        Command::Conflicts(wanted) => conflicts::run(wanted, &mut output),
        Command::Resolve(wanted) => conflicts::end(wanted, &mut output),
        Command::Copy(wanted) => copy::run(wanted, &mut output),
        Command::Export(wanted) => archive::export(wanted, &mut output),
        Command::Import(wanted) => import::run(wanted, &mut output),
        Command::Check(wanted) => check::run(wanted, &mut output),
        Command::Namespaces(wanted) => namespaces::run(wanted, &mut output),
        #[cfg(feature = "page")]
        Command::Serve(wanted) => serve::run(wanted),
        #[cfg(feature = "mcp")]
        Command::Mcp(wanted) => mcp::run(wanted),
        Command::Completions(wanted) => completions::run(wanted, &mut output),
    };
    match done.and_then(|ended| output.flush().map(|()| ended)) {
        Ok(Ended::Well) => 0,
        Ok(Ended::WithProblems) => 1,
        Err(failure) => failure.tell(),
    }
}

/// The result of a command that did not fail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Well,
    WithProblems,
}

/// Why a command failed, in one sentence.
#[derive(Debug)]
enum Failure {
    /// The command is refused, or the path does not exist.
    Refused(String),
    /// The arguments or the configuration are wrong.
    Usage(String),
    /// A store cannot be opened, cannot be reached or is broken.
    Store(String),
    /// A sync would delete too much.
    Stopped(String),
    /// The output cannot be written.
    Output(io::Error),
    /// A signal ended the command.
    Interrupted(String),
    /// The sentence was printed already; the exit code.
    Told(u8),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Failure {
    /// Prints the sentence and returns the exit code.
    fn tell(self) -> u8 {
        let code = self.code();
        if let Some(sentence) = self.sentence() {
            say(&sentence);
        }
        code
    }

    /// The same, for one of several tasks.
    fn tell_of(self, task: &str) -> u8 {
        let code = self.code();
        if let Some(sentence) = self.sentence() {
            say(&format!("{task}: {sentence}"));
        }
        code
    }

    fn code(&self) -> u8 {
        match self {
            Self::Refused(_) => 1,
            Self::Usage(_) => 2,
            Self::Store(_) => 3,
            Self::Stopped(_) => 4,
            // The reader of the output has closed it, as `head` does.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
            Self::Output(_) => 3,
            Self::Interrupted(_) => sync::INTERRUPTED,
            Self::Told(code) => *code,
        }
    }

    fn sentence(self) -> Option<String> {
        match self {
            Self::Refused(sentence)
            | Self::Usage(sentence)
            | Self::Store(sentence)
            | Self::Stopped(sentence)
            | Self::Interrupted(sentence) => Some(sentence),
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => None,
            Self::Output(error) => Some(format!("the output cannot be written: {error}")),
            Self::Told(_) => None,
        }
    }
}

/// The failure of a server that cannot start. `address` is what to use instead if the address is in use.
#[cfg(any(feature = "mcp", feature = "page"))]
fn not_served(error: &io::Error, address: &str) -> Failure {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => format!(": use {address}"),
        _ => String::new(),
    };
    Failure::Store(format!("nothing can be served: {error}{advice}"))
}

/// Prints one line to standard error, without control characters. Ignores errors, for example if it is closed.
fn say(sentence: &str) {
    let _ = writeln!(io::stderr(), "memdir: {}", style::escaped_lines(sentence));
}

/// Prints the help, the version, or an error about the arguments, and returns the exit code.
fn refuse(mut error: clap::Error, arguments: &[OsString]) -> u8 {
    if !error.use_stderr() {
        let printed = io::stdout().write_all(error.render().to_string().as_bytes());
        return printed.map_or_else(|error| Failure::Output(error).tell(), |()| 0);
    }
    // The invalid argument may be an address with a secret.
    let texts: Vec<(ContextKind, String)> = error
        .context()
        .filter_map(|(kind, value)| match value {
            ContextValue::String(text) => Some((kind, redact_address(text))),
            _ => None,
        })
        .collect();
    for (kind, text) in texts {
        error.insert(kind, ContextValue::String(text));
    }
    // These suggestions repeat the argument.
    error.remove(ContextKind::Suggested);
    help::suggest_command(&mut error);
    let text = help::with_command(&error.render().to_string(), arguments);
    // An argument may be the name of a file that the shell expanded, so it may contain control characters.
    let _ = io::stderr().write_all(style::escaped_lines(&text).as_bytes());
    2
}
