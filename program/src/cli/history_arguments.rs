//! The arguments of the commands about the history.

use std::time::SystemTime;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, ValueEnum};

use crate::typed_time::parse_time;

/// Show the changes of a memory with history, newest first
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  memdir log ./memory /memories/notes.md -p --since 2d
  memdir log ./memory --format git-fast-import | git -C repository fast-import")]
pub(super) struct LogArguments {
    /// The store to look at
    pub(super) store: String,

    /// Only the versions of this file, or of everything in this directory
    pub(super) path: Option<String>,

    /// Show what each change did to the file, too, as a unified diff
    #[arg(short, long)]
    pub(super) patch: bool,

    /// Only the versions that this actor made
    #[arg(long, value_name = "NAME")]
    pub(super) actor: Option<String>,

    /// Only the versions that were made at this time or later
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) since: Option<SystemTime>,

    /// The most versions
    #[arg(short = 'n', long, value_name = "COUNT", allow_negative_numbers = true)]
    pub(super) limit: Option<usize>,

    /// Only the versions before this one, such as the last one shown
    #[arg(long, value_name = "ID")]
    pub(super) before: Option<String>,

    /// Print a stream for another program instead: git-fast-import
    #[arg(
        long,
        value_enum,
        hide_possible_values = true,
        conflicts_with_all = ["path", "patch", "actor", "since", "limit", "before", "json"]
    )]
    pub(super) format: Option<Format>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    GitFastImport,
}

/// Show what changed between two versions, or with one, what it changed
#[derive(Debug, Args)]
#[command(after_help = "\
Example: memdir diff ./memory 4f1c90000002")]
pub(super) struct DiffArguments {
    /// The store to look at
    pub(super) store: String,

    /// The version; of a change, all of its versions
    pub(super) id: String,

    /// Another version, to compare with
    pub(super) other: Option<String>,
}

/// Show which change brought each line of a file, who made it and when
///
/// The columns are: the end of the version's id, the actor, the time, the number of the line, its
/// text. A ^ before the id says that the line may be older: another program brought it, or earlier
/// versions were removed. Without an id, the file was changed since its last version.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example: memdir blame ./memory /memories/notes.md"
)]
pub(super) struct BlameArguments {
    /// The store to look at
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    pub(super) path: String,
}

/// Bring back a version of a file, or everything as it was at a time
///
/// A deleted file is made again. A file that was changed since is left as it is, and nothing is
/// brought back, unless --overwrite is given. With --all, every file becomes what it was at the
/// time. What this changes is a change of its own, which can be undone.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    group = ArgGroup::new("what").required(true).args(["id", "all"]),
    after_help = "\
Examples:
  memdir restore ./memory 4f1c90000002
  memdir restore ./memory --all --at 2026-03-14T15:09Z --dry-run"
)]
pub(super) struct RestoreArguments {
    /// The store to change
    pub(super) store: String,

    /// The version to bring back; of a change, all of its versions
    pub(super) id: Option<String>,

    /// Also over what was changed since
    #[arg(long, conflicts_with = "all")]
    pub(super) overwrite: bool,

    /// Bring back everything as it was at a time
    #[arg(long, requires = "at")]
    pub(super) all: bool,

    /// The time
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, requires = "all")]
    pub(super) at: Option<SystemTime>,

    /// Only print what would be changed
    #[arg(long, requires = "all")]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,
}

/// Undo a change, or all changes since a time
///
/// Every file of the change is restored to its state before. If later changes depend on it, nothing is
/// changed and they are listed, unless --skip-conflicts or --merge is given. The undo is itself a
/// change, which can be undone.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    group = ArgGroup::new("what").required(true).args(["change", "since"]),
    after_help = "\
Examples:
  memdir undo ./memory 4f1c90000000
  memdir undo ./memory 4f1c90000000 --merge --dry-run
  memdir undo ./memory --since 2h --actor 'session 7' --dry-run"
)]
pub(super) struct UndoArguments {
    /// The store to change
    pub(super) store: String,

    /// The change, or a version for its change
    pub(super) change: Option<String>,

    /// Undo all changes since this time
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) since: Option<SystemTime>,

    /// Only what this actor changed
    #[arg(long, value_name = "NAME", requires = "since", conflicts_with = "change")]
    pub(super) actor: Option<String>,

    /// Skip files that later changes depend on, and undo the rest
    #[arg(long)]
    pub(super) skip_conflicts: bool,

    /// Keep later changes of other lines that do not touch the undone lines
    #[arg(long)]
    pub(super) merge: bool,

    /// Only print the changes; merged files as a unified diff
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,
}

/// Remove a version's content, or all contents with a text, from the history for good
///
/// The version stays, with the reason instead of its content. A content that a file has now cannot be
/// redacted: change or delete the file first.
/// With --text, all versions with the text are redacted, and all names with it that no file or
/// directory has now: they become "redacted-" and random digits. Without --yes, the matches are only
/// listed.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    group = ArgGroup::new("what").required(true).args(["id", "text"]),
    after_help = "\
Examples:
  memdir redact ./memory 4f1c90000002 --reason 'held a password'
  memdir redact ./memory --text hunter2 --reason 'a password'
  memdir redact ./memory --text hunter2 --reason 'a password' --yes"
)]
pub(super) struct RedactArguments {
    /// The store to change
    pub(super) store: String,

    /// The version; of a change, all of its versions
    pub(super) id: Option<String>,

    /// Every version and name with this text. Other users of the machine may see it meanwhile
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new(), allow_hyphen_values = true)]
    pub(super) text: Option<String>,

    /// The text is a regular expression, as for grep
    #[arg(long, requires = "text", conflicts_with = "id")]
    pub(super) regex: bool,

    /// Upper and lower case are the same
    #[arg(short, long, requires = "text", conflicts_with = "id")]
    pub(super) ignore_case: bool,

    /// Remove what has the text, and do not only print it
    #[arg(short, long, requires = "text", conflicts_with = "id")]
    pub(super) yes: bool,

    /// Reason, shown to anyone who later asks for the content
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) reason: String,

    #[command(flatten)]
    pub(super) by: By,
}

#[derive(Debug, Args)]
pub(super) struct By {
    /// Who makes this change, for the history
    #[arg(long = "as", value_name = "NAME", default_value = "memdir", value_parser = NonEmptyStringValueParser::new())]
    pub(super) name: String,
}
