//! The arguments of the command line. Their comments are the help of the program; `help.rs` adds the examples.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::file_arguments::{
    ConflictsArguments, EditArguments, EraseArguments, ExpireArguments, GrepArguments,
    MoveArguments, PutArguments, RemoveArguments, ResolveArguments, SearchArguments,
    StatsArguments, WatchArguments,
};
use super::flags::ChangeFlags;
use super::history_arguments::{
    BlameArguments, By, DiffArguments, LogArguments, RedactArguments, RestoreArguments,
    UndoArguments,
};
#[cfg(feature = "mcp")]
use super::server_arguments::McpArguments;
#[cfg(feature = "page")]
use super::server_arguments::ServeArguments;
use crate::typed_time::{parse_duration, parse_time};
use memdir::policy::PathPattern;
use memdir::store::Durability;
use memdir::sync::OnConflict;

/// View, search, edit, copy and verify the memory of agents, and undo their changes
#[derive(Debug, Parser)]
#[command(name = "memdir", version)]
pub(super) struct Arguments {
    /// Print JSON, one object per line
    #[arg(long, global = true, help_heading = "Output")]
    pub(super) json: bool,

    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Tree(TreeArguments),
    Show(ShowArguments),
    Search(SearchArguments),
    Grep(GrepArguments),
    Stats(StatsArguments),
    Edit(EditArguments),
    Put(PutArguments),
    #[command(name = "mv")]
    Move(MoveArguments),
    #[command(name = "rm")]
    Remove(RemoveArguments),
    Expire(ExpireArguments),
    Watch(WatchArguments),
    Log(LogArguments),
    Diff(DiffArguments),
    Blame(BlameArguments),
    Restore(RestoreArguments),
    Undo(UndoArguments),
    Redact(RedactArguments),
    Erase(EraseArguments),
    Sync(SyncArguments),
    Conflicts(ConflictsArguments),
    Resolve(ResolveArguments),
    Copy(CopyArguments),
    Export(ExportArguments),
    Import(ImportArguments),
    Check(CheckArguments),
    Namespaces(NamespacesArguments),
    #[cfg(feature = "page")]
    Serve(ServeArguments),
    #[cfg(feature = "mcp")]
    Mcp(McpArguments),
    Completions(CompletionsArguments),
}

/// Print the completions of commands and options for a shell
///
/// The Python and the npm package include the same files, in directories where most shells look if the
/// package is installed for the whole system.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub(super) shell: Shell,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// List files with sizes and ages, now or at an earlier time
///
/// The columns are the size of a file, and the time since it was last written. Hidden entries are left
/// out, as in the agent's own listings.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct TreeArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The directory to list
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Also list hidden entries, which the agent does not see
    #[arg(short, long)]
    pub(super) all: bool,

    /// List only this many levels
    #[arg(short, long, value_name = "LEVELS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) depth: Option<u32>,

    /// List the files that existed at this time
    ///
    /// The ages are those at that time. A file that has not changed since the history began is
    /// listed as it is now, if it was last written before that time. Empty directories are not in
    /// the history.
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "History", verbatim_doc_comment)]
    pub(super) at: Option<SystemTime>,
}

/// Print a file, as it is or as it was
///
/// The output is exactly the bytes of the file. On a terminal, control characters are escaped.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ShowArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    #[arg(required_unless_present = "version")]
    pub(super) path: Option<String>,

    /// Print what the agent's `view` returns, with numbered lines
    #[arg(short, long, conflicts_with_all = ["json", "version", "at"])]
    pub(super) lines: bool,

    /// Print this version, which `memdir log` lists
    #[arg(long, value_name = "ID", conflicts_with_all = ["path", "at"], help_heading = "History")]
    pub(super) version: Option<String>,

    /// Print the content that the file had at this time
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true, help_heading = "History")]
    pub(super) at: Option<SystemTime>,
}

/// Make two memories equal, in both directions
///
/// If one memory has changed a file, the other follows. If both have, their changes are merged, line by
/// line. If the same lines differ, both contents are kept: that of the second memory gets a name that
/// says where it is from. A file is deleted only if the other memory has deleted it and this one has
/// not changed it since. At the first sync nothing is deleted. A memory that does not exist is created.
///
/// Agents may work meanwhile: a change that they make is seen, and never overwritten. After an
/// interruption, the same command does the rest. The history does not travel.
///
/// A file memdir.toml may list pairs of memories, each with options. --all syncs all of them.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct SyncArguments {
    /// The first memory. Beside it is kept what both last agreed on
    #[arg(required_unless_present = "all")]
    pub(super) a: Option<String>,

    /// The second memory
    #[arg(required_unless_present = "all")]
    pub(super) b: Option<String>,

    /// Sync all pairs of memories that memdir.toml lists
    ///
    /// It is the file of that name in this directory, or in the nearest one above it.
    #[arg(long, conflicts_with_all = ["a", "b", "one_way", "on_conflict", "redactions", "exclude", "max_file_bytes", "every"], verbatim_doc_comment)]
    pub(super) all: bool,

    /// Use this file instead of memdir.toml
    #[arg(long, value_name = "FILE", requires = "all")]
    pub(super) config: Option<PathBuf>,

    /// Keep the memories equal until Ctrl-C
    ///
    /// If a store cannot be reached, it is tried again, at least every minute.
    #[arg(short, long, conflicts_with = "dry_run", verbatim_doc_comment)]
    pub(super) watch: bool,

    /// The polling interval of --watch for a distant memory, such as 5s
    ///
    /// The default is ten seconds. A memory on this machine is polled every half second.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration, allow_hyphen_values = true, requires = "watch", verbatim_doc_comment)]
    pub(super) every: Option<Duration>,

    /// Only compare, and print what would be changed
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    /// Change only the second memory
    ///
    /// Changes there stay, and are merged with those of the first memory.
    #[arg(long, verbatim_doc_comment)]
    pub(super) one_way: bool,

    /// The winner of a conflict: keep-both, a or b
    ///
    /// A conflict is a file in which both memories have changed the same lines.
    ///
    /// - keep-both: both contents are kept, that of the second memory in a copy
    /// - a: that of the first memory
    /// - b: that of the second memory
    #[arg(
        long,
        value_name = "WORD",
        default_value = "keep-both",
        value_parser = PossibleValuesParser::new(["keep-both", "a", "b"]).try_map(|word| word.parse::<OnConflict>()),
        hide_possible_values = true,
        verbatim_doc_comment
    )]
    pub(super) on_conflict: OnConflict,

    /// Allow deletions of more than a quarter of the files, or of all
    #[arg(long)]
    pub(super) delete: bool,

    /// Redact in each history what the other one redacted
    ///
    /// If one history has redacted a content that a sync brought to the other one, it is
    /// redacted there, too. Both memories need a history.
    #[arg(long, verbatim_doc_comment)]
    pub(super) redactions: bool,

    /// Leave these paths as they are; may be repeated
    ///
    /// A pattern such as '/memories/private' also matches everything below a directory.
    #[arg(long, value_name = "PATTERN")]
    pub(super) exclude: Vec<PathPattern>,

    /// Leave files as they are that have more bytes
    #[arg(long, value_name = "BYTES")]
    pub(super) max_file_bytes: Option<u64>,
}

/// Copy everything from one store into another
///
/// Contents, times, hidden files, empty directories and the history are copied. Nothing is ever
/// deleted.
/// Both stores are compared first. If the destination has another content at any path, nothing is
/// copied, and these paths are listed. Each copy is read back and compared. After an interruption, the
/// same command copies the rest.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct CopyArguments {
    /// The store to copy from
    pub(super) from: String,

    /// The store to copy to; a directory or database is created
    pub(super) to: String,

    /// Replace files that have another content
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Only compare, and print what would be copied
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    /// Copy the files without their history
    #[arg(long, help_heading = "History")]
    pub(super) without_history: bool,

    /// Also encrypt the names, if the destination is created with a key
    ///
    /// The key is in the environment variable MEMDIR_TO_ENCRYPTION_KEY, that of an encrypted
    /// source in MEMDIR_FROM_ENCRYPTION_KEY.
    #[arg(long, help_heading = "Encryption", verbatim_doc_comment)]
    pub(super) encrypt_names: bool,

    /// The failures that a copied file survives: full or relaxed
    ///
    /// - full: a loss of power. Each file is flushed to the disk
    /// - relaxed: only a crash of the process. This is faster for many small files in a local
    ///   store
    #[arg(
        long,
        value_name = "WORD",
        default_value = "full",
        value_parser = PossibleValuesParser::new(["full", "relaxed"]).try_map(|word| word.parse::<Durability>()),
        hide_possible_values = true,
        help_heading = "Store",
        verbatim_doc_comment
    )]
    pub(super) durability: Durability,
}

/// Write a whole memory with its history into one file, an archive
///
/// The archive is a tar file with contents, times, hidden files, empty directories and the history, and
/// a manifest with the SHA-256 of each part. It is not encrypted, even if the store is.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ExportArguments {
    /// The store to export
    pub(super) store: String,

    /// The file to write; it has this name only when it is complete
    pub(super) file: PathBuf,

    /// Replace an existing file
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Export the files without their history
    #[arg(long, help_heading = "History")]
    pub(super) without_history: bool,
}

/// Import files, a directory, a tar file, or an archive of `memdir export`
///
/// Text files are written into the memory, each atomically. If the store has a history, they are
/// recorded as one change. A file that is already there with the same content stays. If there is
/// another content at any path, nothing is imported, and these paths are listed. Files that are not
/// text, links, special files, and files that a policy forbids are left out and named.
/// An archive is first read and checked as a whole. It is imported unchanged, with its history, as by
/// `memdir copy`.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ImportArguments {
    /// The directory, text file, tar file or archive
    pub(super) source: PathBuf,

    /// The store to import into; a directory or database is created
    pub(super) store: String,

    /// The directory of the memory that gets the files
    #[arg(long, value_name = "PATH", default_value = "/memories")]
    pub(super) to: String,

    /// Also import hidden files and node_modules
    #[arg(short, long)]
    pub(super) all: bool,

    /// Replace files that have another content
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Only print what would be done with each file
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    /// Import the files of an archive without their history
    ///
    /// Only then do --to, --as, --history and the policies apply to an archive.
    #[arg(long, help_heading = "History", verbatim_doc_comment)]
    pub(super) without_history: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Verify a store and its history, and report problems
///
/// Every file is read to its end. If there is a history, every record is read and every version is
/// computed. Nothing is changed. Each problem is a line, and the last line counts what was read.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct CheckArguments {
    /// The store, such as ./memory or sqlite:agent.db
    pub(super) store: String,
}

/// List the memories in a PostgreSQL database or a bucket, with their sizes
///
/// The columns are the number of files, their bytes, the bytes of the history, and the namespace.
/// Row-level security limits the list to the namespaces that the database user may see. In a bucket, if
/// there is a memory at the prefix itself, each of its directories looks like a namespace.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct NamespacesArguments {
    /// The database, or the bucket with a prefix
    pub(super) store: String,
}
