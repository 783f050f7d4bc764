//! The arguments of the commands that search, count and change files.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::flags::ChangeFlags;
use super::history_arguments::By;
use crate::typed_time::parse_duration;

/// Find the files that answer a question best
///
/// A file is found if it has any word of the question, whatever its ending. For each file its path
/// and its best passages are printed, the best file first.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct SearchArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The question: words, "a phrase", path:part, and after -- also -excluded
    #[arg(required = true, num_args = 1..)]
    pub(super) words: Vec<String>,

    /// The file or directory to search
    #[arg(long, default_value = "/memories")]
    pub(super) path: String,

    /// Print at most this many files
    #[arg(short = 'n', long, help_heading = "Output", value_name = "COUNT", default_value_t = 10)]
    pub(super) limit: u64,
}

/// Search the names and lines of files
///
/// PATTERN is a regular expression in Perl's syntax, without look-around and back-references. Hidden
/// files and files that are not text are left out. For a matching name the path is printed, for a
/// matching line also its number and the line.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct GrepArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The regular expression to search for
    pub(super) pattern: String,

    /// The file or directory to search
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Treat PATTERN as literal text
    #[arg(short = 'F', long)]
    pub(super) fixed_strings: bool,

    /// Ignore case: of ASCII letters, or with -F of every letter
    #[arg(short, long)]
    pub(super) ignore_case: bool,

    /// Print only the paths, each once
    #[arg(short = 'l', long, help_heading = "Output", conflicts_with_all = ["context", "before_context", "after_context"])]
    pub(super) files_with_matches: bool,

    /// Print this many lines before each match
    #[arg(
        short = 'B',
        long,
        help_heading = "Output",
        value_name = "LINES",
        allow_negative_numbers = true
    )]
    pub(super) before_context: Option<usize>,

    /// Print this many lines after each match
    #[arg(
        short = 'A',
        long,
        help_heading = "Output",
        value_name = "LINES",
        allow_negative_numbers = true
    )]
    pub(super) after_context: Option<usize>,

    /// Print this many lines before and after each match
    #[arg(
        short = 'C',
        long,
        help_heading = "Output",
        value_name = "LINES",
        allow_negative_numbers = true
    )]
    pub(super) context: Option<usize>,

    /// Also search earlier versions, for matches that the files no longer have
    ///
    /// Each of these lines begins with the id of the newest version that contains the match,
    /// which `memdir show --version` prints.
    #[arg(long, help_heading = "History", verbatim_doc_comment)]
    pub(super) history: bool,

    /// Print at most this many results: names and lines, or paths with -l
    #[arg(
        short = 'n',
        long,
        help_heading = "Output",
        value_name = "COUNT",
        allow_negative_numbers = true
    )]
    pub(super) limit: Option<u64>,
}

/// Change a file in an editor
///
/// The text is opened in $VISUAL, $EDITOR, vi or nano, in a temporary file that only you can read. A
/// missing file is created. If the file is changed in the meantime, nothing is overwritten, and the
/// command prints where your text is.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct EditArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    pub(super) path: String,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Write a whole file, from a file or from standard input
///
/// The file is created, with its directories, or replaced as a whole. The content must be text (UTF-8).
/// The store is created if it does not exist.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct PutArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The file to write, such as /memories/notes.md
    pub(super) path: String,

    /// The file with its new content; - is standard input
    #[arg(default_value = "-")]
    pub(super) file: PathBuf,

    /// Only create a new file, and never replace an existing one
    #[arg(long)]
    pub(super) create: bool,

    /// Replace the file only if its content equals that of FILE
    ///
    /// FILE is a copy of what you read before. If the file has changed since, nothing is written.
    #[arg(long, value_name = "FILE", conflicts_with = "create", verbatim_doc_comment)]
    pub(super) if_unchanged: Option<PathBuf>,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Rename or move a file or a directory
///
/// If TO is a directory, FROM moves into it. Nothing is ever overwritten.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct MoveArguments {
    /// The store, such as ./memory or sqlite:agent.db
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

/// List the conflicts that a sync has kept
///
/// Each line has a file that two memories had changed in the same lines, and the copy with the other
/// content.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ConflictsArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// Also print the difference between both files
    #[arg(short, long)]
    pub(super) diff: bool,
}

/// End a conflict that a sync has kept
///
/// The file gets its final content, and the copy is deleted. The next sync takes this to the other
/// memories. With a history, `memdir undo` brings both back.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment, group = clap::ArgGroup::new("way").required(true).args(["keep", "edit"]))]
pub(super) struct ResolveArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The copy, or the file if it has only one copy
    pub(super) path: String,

    /// The content to keep: original, that of the file, or copy
    #[arg(long, value_name = "WORD", value_parser = ["original", "copy"], hide_possible_values = true)]
    pub(super) keep: Option<String>,

    /// Merge both contents in the editor
    #[arg(long)]
    pub(super) edit: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Delete files, and directories with -r
///
/// If one of the paths does not exist, or is a directory and -r is not given, nothing is deleted.
/// With a history, `memdir undo` brings the files back.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct RemoveArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The files or directories to delete
    #[arg(required = true)]
    pub(super) paths: Vec<String>,

    /// Also delete directories, with everything in them
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

/// Show how much a memory holds, and its largest, oldest and least used files
///
/// Hidden files count, as they do for the limits. Limits are not stored with a memory: pass those of
/// your program to see how near they are.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct StatsArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The most files that the memory may have
    #[arg(long, help_heading = "Limits", value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_files: Option<u64>,

    /// The most bytes that all files together may have
    #[arg(long, help_heading = "Limits", value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_total_bytes: Option<u64>,

    /// The most bytes that a file may have
    #[arg(long, help_heading = "Limits", value_name = "NUMBER", allow_negative_numbers = true)]
    pub(super) max_file_bytes: Option<u64>,
}

/// Remove all files and the whole history for good
///
/// This removes all files, all directories, all records of the history, and the leftovers of killed
/// processes, whether or not a history is kept at the moment. It is not recorded and cannot be undone.
/// Only the memory that STORE names is erased: one namespace of a database, or one prefix of a bucket.
/// On a terminal the command asks first. Elsewhere it needs --yes.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct EraseArguments {
    /// The store to erase
    pub(super) store: String,

    /// Skip the confirmation
    #[arg(short, long)]
    pub(super) yes: bool,

    /// Only count what would be removed
    #[arg(short = 'n', long, conflicts_with = "yes")]
    pub(super) dry_run: bool,
}

/// Delete files that have not been used for a while
///
/// A change of a file counts as a use. A view counts only if the programs that use the memory record
/// it (option `record_access` or `expire_after`). Otherwise files that are only read are deleted as
/// well, so try --dry-run first. Directories are kept.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ExpireArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// Delete files that have not been used for this long: 12h, 90d, 26w
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true)]
    pub(super) after: Duration,

    /// Keep files that match this pattern; can be repeated
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

/// Print each change of a memory as it happens
///
/// Changes by other programs are included. If the store has a history, the line names the operation
/// and the actor. Stop it with Ctrl-C.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct WatchArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The file or directory to watch
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// The polling interval, such as 5s
    ///
    /// The default is half a second, or one second for a store on another machine.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true, verbatim_doc_comment)]
    pub(super) every: Option<Duration>,
}
