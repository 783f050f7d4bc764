//! The arguments of the commands about the history.

use std::time::SystemTime;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, ValueEnum};

use crate::typed_time::parse_time;

/// List the changes in the history, newest first
///
/// The columns are the id of the version, its time, the actor, the operation, the size and the path.
/// The operation is `external` if another program made the change.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct LogArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// Only changes of this file, or of everything in this directory
    pub(super) path: Option<String>,

    /// Also print each change as a unified diff
    #[arg(short, long, help_heading = "Output")]
    pub(super) patch: bool,

    /// Only changes by this actor
    #[arg(long, value_name = "NAME")]
    pub(super) actor: Option<String>,

    /// Only changes at this time or later, such as 2h or yesterday
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) since: Option<SystemTime>,

    /// Print at most this many versions
    #[arg(
        short = 'n',
        long,
        help_heading = "Output",
        value_name = "COUNT",
        allow_negative_numbers = true
    )]
    pub(super) limit: Option<usize>,

    /// Only versions before this one, such as the last one printed
    #[arg(long, value_name = "ID")]
    pub(super) before: Option<String>,

    /// Print the whole history for another program: git-fast-import
    #[arg(
        long,
        help_heading = "Output",
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

/// Show what a version changed, or the difference between two versions
///
/// The output is a unified diff.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct DiffArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The id of a version, or of a change for all its versions
    pub(super) id: String,

    /// The id of another version to compare with
    pub(super) other: Option<String>,
}

/// Show who added each line of a file, and when
///
/// The columns are the end of the version's id, the actor, the time, the line number and the line. A ^
/// before the id says that the line may be older than the version: another program added it, or earlier
/// versions were removed. A line without an id was added after the file's last version.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct BlameArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    pub(super) path: String,
}

/// Restore a version of a file, or everything as it was at a time
///
/// The id of a deletion restores the deleted files. If a file has changed since that version, nothing
/// is changed, unless --overwrite is given. With --all, every file gets the content that it had at
/// the time. The restore is itself a change, which can be undone.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    group = ArgGroup::new("what").required(true).args(["id", "all"])
)]
pub(super) struct RestoreArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The id of a version, or of a change for all its versions
    pub(super) id: Option<String>,

    /// Also replace files that have changed since
    #[arg(long, conflicts_with = "all")]
    pub(super) overwrite: bool,

    /// Restore everything as it was at a time (--at)
    #[arg(long, requires = "at")]
    pub(super) all: bool,

    /// The time for --all, such as 2h, 14:30 or 2026-03-14
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
    group = ArgGroup::new("what").required(true).args(["change", "since"])
)]
pub(super) struct UndoArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The id of a change, or of one of its versions
    pub(super) change: Option<String>,

    /// Undo all changes since this time, such as 2h or yesterday
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) since: Option<SystemTime>,

    /// With --since: only changes by this actor
    #[arg(long, value_name = "NAME", requires = "since", conflicts_with = "change")]
    pub(super) actor: Option<String>,

    /// Skip files that later changes depend on, and undo the rest
    #[arg(long)]
    pub(super) skip_conflicts: bool,

    /// Keep later changes of lines that the undone change does not touch
    #[arg(long)]
    pub(super) merge: bool,

    /// Only print what would be changed; merged files as a unified diff
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,
}

/// Remove a content, or every content with a text, from the history for good
///
/// The version stays, with the reason instead of its content. If a file has the content now, the
/// command refuses: change or delete the file first.
/// With --text, every version with the text is redacted, and every name with it that no file or
/// directory has now: it becomes "redacted-" and random digits. Without --yes, the matches are only
/// listed.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    group = ArgGroup::new("what").required(true).args(["id", "text"])
)]
pub(super) struct RedactArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The id of a version, or of a change for all its versions
    pub(super) id: Option<String>,

    /// Redact every version and name with this text
    ///
    /// Other users of the machine can see the text while the command runs.
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new(), allow_hyphen_values = true, verbatim_doc_comment)]
    pub(super) text: Option<String>,

    /// Treat the text as a regular expression, as in grep
    #[arg(long, requires = "text", conflicts_with = "id")]
    pub(super) regex: bool,

    /// Ignore case
    #[arg(short, long, requires = "text", conflicts_with = "id")]
    pub(super) ignore_case: bool,

    /// Remove the matches instead of only listing them
    #[arg(short, long, requires = "text", conflicts_with = "id")]
    pub(super) yes: bool,

    /// The reason, shown to anyone who later asks for the content
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) reason: String,

    #[command(flatten)]
    pub(super) by: By,
}

#[derive(Debug, Args)]
pub(super) struct By {
    /// The actor that the history records for this change
    #[arg(long = "as", help_heading = "History", value_name = "NAME", default_value = "memdir", value_parser = NonEmptyStringValueParser::new())]
    pub(super) name: String,
}
