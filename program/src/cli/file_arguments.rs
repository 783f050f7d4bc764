//! The arguments of the commands that search, count and change files.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::flags::ChangeFlags;
use super::history_arguments::By;
use crate::typed_time::parse_duration;

/// Adds a paragraph about policies to the help of each command that changes files.
macro_rules! policies {
    ($examples:literal) => {
        concat!(
            $examples,
            "\n\n\
Options are not stored with a memory. Its limits, its patterns of paths and its rules for sensitive
text hold here if they are given as flags, and a line on standard error says when none is. It is
not said with --json, or if the environment variable MEMDIR_QUIET is set. If the store has a
history, the change is recorded. You can undo it: see `memdir undo --help`."
        )
    };
}

pub(super) use policies;

/// Search the names and lines of the files that a memory shows
///
/// PATTERN is a regular expression: Perl's, without look-around and back-references. Hidden files and
/// files that are not text are left out.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir grep ./memory 'tea|coffee'
  memdir grep ./memory -iF 'c++' /memories/notes -C 2
  memdir grep ./memory TODO -l | head
  memdir grep ./memory password --history

Exit codes: 0 if something is found, 1 if nothing is, 2 if the pattern or the path is wrong."
)]
pub(super) struct GrepArguments {
    /// The store to search
    pub(super) store: String,

    /// What to search for
    pub(super) pattern: String,

    /// The file or directory to search
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Treat PATTERN as plain text
    #[arg(short = 'F', long)]
    pub(super) fixed_strings: bool,

    /// Ignore case
    #[arg(short, long)]
    pub(super) ignore_case: bool,

    /// Print the paths only, each once
    #[arg(short = 'l', long, conflicts_with_all = ["context", "before_context", "after_context"])]
    pub(super) files_with_matches: bool,

    /// Print this many lines before each match
    #[arg(short = 'B', long, value_name = "LINES", allow_negative_numbers = true)]
    pub(super) before_context: Option<usize>,

    /// Print this many lines after each match
    #[arg(short = 'A', long, value_name = "LINES", allow_negative_numbers = true)]
    pub(super) after_context: Option<usize>,

    /// Print this many lines before and after each match
    #[arg(short = 'C', long, value_name = "LINES", allow_negative_numbers = true)]
    pub(super) context: Option<usize>,

    /// Also search past versions, for text that is no longer in the files
    #[arg(long)]
    pub(super) history: bool,

    /// Maximum number of results: names and lines, or paths with -l
    #[arg(short = 'n', long, value_name = "COUNT", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) limit: Option<u64>,
}

/// Change a file in an editor
///
/// The text is opened in $VISUAL, $EDITOR, vi or nano, in a temporary file that only you can read. A
/// missing file is created. If the file changes meanwhile, nothing is overwritten, and the command
/// prints where your text is.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir edit ./memory /memories/notes.md
  EDITOR='code --wait' memdir edit ./memory /memories/notes.md --max-file-bytes 10000")
)]
pub(super) struct EditArguments {
    /// The store to change
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    pub(super) path: String,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Write a file, from a file or from standard input
///
/// The file is made, with its directories, or replaced as a whole. It must be text (UTF-8). The store
/// is made if it does not exist.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir put ./memory /memories/handbook.md handbook.md
  date | memdir put ./memory /memories/today.md --as cron
  memdir show ./memory /memories/a.md > old; sed s/tea/coffee/ old > new
  memdir put ./memory /memories/a.md new --if-unchanged old")
)]
pub(super) struct PutArguments {
    /// The store to change
    pub(super) store: String,

    /// The file to write, such as /memories/notes.md
    pub(super) path: String,

    /// Where its text is; - is standard input
    #[arg(default_value = "-")]
    pub(super) file: PathBuf,

    /// Only make a new file: one that is there is not replaced
    #[arg(long)]
    pub(super) create: bool,

    /// Only replace a file that holds exactly what FILE holds
    #[arg(long, value_name = "FILE", conflicts_with = "create")]
    pub(super) if_unchanged: Option<PathBuf>,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Rename or move a file or a directory
///
/// If TO is a directory, it is moved into that. Nothing is ever overwritten.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir mv ./memory /memories/draft.md /memories/plan.md
  memdir mv ./memory /memories/plan.md /memories/archive")
)]
pub(super) struct MoveArguments {
    /// The store to change
    pub(super) store: String,

    /// The file or directory
    pub(super) from: String,

    /// Its new path, or the directory to move it into
    pub(super) to: String,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Delete files, and with -r directories
///
/// If one of the paths is not there, or is a directory and -r is not given, nothing is deleted.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir rm ./memory /memories/old.md /memories/older.md
  memdir rm ./memory -r /memories/archive --dry-run")
)]
pub(super) struct RemoveArguments {
    /// The store to change
    pub(super) store: String,

    /// What to delete
    #[arg(required = true)]
    pub(super) paths: Vec<String>,

    /// Delete directories, too, with everything in them
    #[arg(short, long)]
    pub(super) recursive: bool,

    /// Only print what would be deleted
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Show how much a memory holds, and which files are large, old or unused
///
/// Hidden files count, as they do for the limits. Limits are not stored with a memory: give those of
/// yours as flags, to see how near they are.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir stats ./memory
  memdir stats sqlite:agent.db --max-files 500 --max-total-bytes 1000000"
)]
pub(super) struct StatsArguments {
    /// The store to look at
    pub(super) store: String,

    /// The most files that the memory may hold
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_files: Option<u64>,

    /// The most bytes that all files together may hold
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_total_bytes: Option<u64>,

    /// The most bytes that a file may hold
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_file_bytes: Option<u64>,
}

/// Remove everything for good: all files, and the whole history
///
/// It removes all files, directories, records of the history, and what killed processes left,
/// whether or not a history is kept at the moment. It is not recorded and cannot be undone.
/// Only the memory that STORE names is erased: of a database one namespace, of a bucket one prefix.
/// It asks first, and refuses where it cannot ask, unless --yes is given.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir erase ./memory --dry-run
  memdir erase 'postgres://localhost/agents?namespace=user-42' --yes"
)]
pub(super) struct EraseArguments {
    /// The store to erase
    pub(super) store: String,

    /// Skip the confirmation
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Only print how much would be removed
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
}

/// Delete files that were not used for a time
///
/// A change of a file counts as a use. A view counts only if the programs record access (option
/// `record_access` or `expire_after`). Otherwise files that are only read are deleted as well, so try
/// --dry-run first. Directories are kept.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir expire ./memory --after 90d --dry-run
  memdir expire ./memory --after 90d --never /memories/handbook --never '/memories/**/*.pin.md'")
)]
pub(super) struct ExpireArguments {
    /// The store to change
    pub(super) store: String,

    /// Delete files that were not used for so long: 12h, 90d, 26w
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) after: Duration,

    /// Files that match this pattern stay, as with --never-expire
    #[arg(long, value_name = "PATTERN")]
    pub(super) never: Vec<String>,

    /// Only print what would be deleted
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Print a line for each change of a memory, as it happens
///
/// Changes by other programs are included. If the store has a history, the line names the operation
/// and the actor. Stop it with Ctrl-C.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir watch ./memory
  memdir watch sqlite:agent.db /memories/team --json --every 5s"
)]
pub(super) struct WatchArguments {
    /// The store to watch
    pub(super) store: String,

    /// The file or directory to watch
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Look so often; by default twice a second, once at a store on another machine
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) every: Option<Duration>,
}
