//! The arguments of the command line, and its help.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::file_arguments::{
    EditArguments, EraseArguments, ExpireArguments, GrepArguments, MoveArguments, PutArguments,
    RemoveArguments, StatsArguments, WatchArguments, policies,
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
use crate::typed_time::parse_time;
use memdir::store::Durability;

/// View, search, edit, copy and verify the memory of agents, and undo their changes.
#[derive(Debug, Parser)]
#[command(
    name = "memdir",
    version,
    after_help = "\
STORE is one of:
  ./memory                 a local directory (any path), in the layout of the SDKs' own tools
  dir:./notes              the files of that very directory
  sqlite:agent.db          an SQLite database
  postgres://…, s3://…     the other stores that this build knows
  env:NAME                 the address in the environment variable NAME; for addresses that hold
                           passwords, as others on this machine can see a command's arguments

Keys of encrypted stores come from the environment: MEMDIR_ENCRYPTION_KEY, and for copy
MEMDIR_FROM_ENCRYPTION_KEY and MEMDIR_TO_ENCRYPTION_KEY.

TIME is a time such as 14:30, 'yesterday 9:00', today, 2026-03-14 or 2026-03-14T15:09:26Z, or how
long ago: 30m, 2h, 3d, 1w. Without a zone it is in the one of this computer (TZ); a time of the
day alone is the last such time, today's or yesterday's.
ID is the id of a version or a change, as `memdir log` shows it, or its beginning or its end, of
at least 6 digits, if no other one has the same.

Exit codes:
  0  all is well
  1  refused, or problems were found, or grep found nothing
  2  wrong arguments or configuration
  3  a store cannot be opened or reached, or failed"
)]
pub(super) struct Arguments {
    /// Print JSON, one object a line
    #[arg(long, global = true)]
    pub(super) json: bool,

    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    Tree(TreeArguments),
    Show(ShowArguments),
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

/// Print what completes memdir's commands and flags in a shell
///
/// The Python and the npm package bring the same files, in directories where most shells look if the
/// package is installed for the whole system.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir completions bash > ~/.local/share/bash-completion/completions/memdir
  memdir completions zsh > \"${fpath[1]}/_memdir\"
  memdir completions fish > ~/.config/fish/completions/memdir.fish"
)]
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

/// Show what a store holds, or held at a time: sizes, ages and names
#[derive(Debug, Args)]
#[command(after_help = "\
Example: memdir tree ./memory --at 2d")]
pub(super) struct TreeArguments {
    /// The store to look at
    pub(super) store: String,

    /// The directory to begin with
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Show hidden entries too, which the agent does not see in listings
    #[arg(short, long)]
    pub(super) all: bool,

    /// Show this many levels only
    #[arg(short, long, value_name = "LEVELS", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) depth: Option<u32>,

    /// Show what there was at this time, as the history tells
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) at: Option<SystemTime>,
}

/// Print a file's bytes, as they are or as they were
#[derive(Debug, Args)]
#[command(after_help = "\
Example: memdir show ./memory /memories/notes.md --at 2h")]
pub(super) struct ShowArguments {
    /// The store that holds it
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    #[arg(required_unless_present = "version")]
    pub(super) path: Option<String>,

    /// Print what the agent's `view` answers instead, with numbered lines
    #[arg(short, long, conflicts_with_all = ["json", "version", "at"])]
    pub(super) lines: bool,

    /// Print a version of the history instead, which `memdir log` lists
    #[arg(long, value_name = "ID", conflicts_with_all = ["path", "at"])]
    pub(super) version: Option<String>,

    /// Print what the file held at this time, as the history tells
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_hyphen_values = true)]
    pub(super) at: Option<SystemTime>,
}

/// Copy everything from one store into another
///
/// Contents, times, hidden files, empty directories and the history are copied; nothing is ever
/// deleted.
/// Both stores are compared first. If the destination holds another content anywhere, nothing
/// is copied, and the command says where. Each copy is read back and compared. After an
/// interruption, the same command does the rest.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example: memdir copy ./memory sqlite:agent.db"
)]
pub(super) struct CopyArguments {
    /// The store to copy from
    pub(super) from: String,

    /// The store to copy to; a directory or database is made
    pub(super) to: String,

    /// Replace files that have another content
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Copy the files alone
    #[arg(long)]
    pub(super) without_history: bool,

    /// If the destination is made, with a key: encrypt its names too
    #[arg(long)]
    pub(super) encrypt_names: bool,

    /// Only compare, and print what would be copied
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    /// What a copied file survives: "full" a loss of power, "relaxed" the end of the process
    #[arg(
        long,
        value_name = "WORD",
        default_value = "full",
        value_parser = PossibleValuesParser::new(["full", "relaxed"]).try_map(|word| word.parse::<Durability>()),
    )]
    pub(super) durability: Durability,
}

/// Write everything that a store holds into one file, an archive
///
/// The archive is a tar file with contents, times, hidden files, empty directories and the
/// history, and a manifest with the SHA-256 of each. It is not encrypted, also if the store is.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example: memdir export ./memory memory.tar"
)]
pub(super) struct ExportArguments {
    /// The store to export
    pub(super) store: String,

    /// The file to write; it appears when it is whole
    pub(super) file: PathBuf,

    /// Replace a file that is there
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Export the files alone
    #[arg(long)]
    pub(super) without_history: bool,
}

/// Bring files into a store, or an archive of `memdir export`
///
/// Files of text are written into the memory, each atomically, and recorded as one change if the store
/// has a history. A file that is there already with the same content stays. If one is there with
/// another content, nothing is written, and the command says where. What is not text, links, special
/// files and what a policy forbids are left out and named.
/// An archive is read and checked as a whole, and brought as it is, with its history, as by
/// `memdir copy`.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = policies!("\
Examples:
  memdir import CLAUDE.md ./memory
  memdir import ./notes ./memory --to /memories/notes --dry-run
  memdir import notes.tar sqlite:agent.db --max-file-bytes 100000 --sensitive-text reject
  memdir import memory.tar sqlite:agent.db

Exit codes: 0 if everything is there, 1 if something was left out or is in the way. What is hidden is
left out without that, unless --all is given.")
)]
pub(super) struct ImportArguments {
    /// The directory, text file, tar file or archive
    pub(super) source: PathBuf,

    /// The store to import into; a directory or database is made
    pub(super) store: String,

    /// The directory of the memory that the files go into; it is made
    #[arg(long, value_name = "PATH", default_value = "/memories")]
    pub(super) to: String,

    /// Import hidden files and node_modules, too
    #[arg(short, long)]
    pub(super) all: bool,

    /// Replace files that have another content
    #[arg(long)]
    pub(super) overwrite: bool,

    /// Of an archive, import the files alone, under the policies
    #[arg(long)]
    pub(super) without_history: bool,

    /// Only print what would be done with each file
    #[arg(short = 'n', long)]
    pub(super) dry_run: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Read all that a store and its history hold, and report what is not as it should be
#[derive(Debug, Args)]
#[command(after_help = "\
Example: memdir check sqlite:agent.db")]
pub(super) struct CheckArguments {
    /// The store to check
    pub(super) store: String,
}

/// List the memories in a PostgreSQL database or a bucket, and how much each holds
///
/// Each line has the number of files, their bytes, the bytes of the history, and the namespace.
/// Row-level security limits a list to the namespaces that the user may see. In a bucket a
/// directory of a memory that is at the prefix itself looks like a namespace.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Example: memdir namespaces postgres://localhost/agents"
)]
pub(super) struct NamespacesArguments {
    /// The database or the prefix
    pub(super) store: String,
}
