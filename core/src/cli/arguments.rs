//! The arguments of the command line, and its help.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::store::Durability;

/// Look at, copy and check the memory of agents.
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

Exit codes:
  0  all is well
  1  refused, or problems were found
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
    Tree(Tree),
    Show(Show),
    Copy(Copy),
    Check(Check),
    #[cfg(feature = "mcp")]
    Mcp(Mcp),
}

/// Show what a store holds: sizes, ages and names
#[derive(Debug, Args)]
pub(super) struct Tree {
    /// The store to look at
    pub(super) store: String,

    /// The directory to begin with
    #[arg(default_value = "/memories")]
    pub(super) path: String,

    /// Show hidden entries too, which the agent does not see in listings
    #[arg(short, long)]
    pub(super) all: bool,

    /// Show so many levels only
    #[arg(short, long, value_name = "LEVELS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) depth: Option<u32>,
}

/// Print a file's bytes
#[derive(Debug, Args)]
pub(super) struct Show {
    /// The store that holds it
    pub(super) store: String,

    /// The file, such as /memories/notes.md
    pub(super) path: String,

    /// Print what the agent's `view` answers instead, with numbered lines
    #[arg(short, long, conflicts_with = "json")]
    pub(super) lines: bool,
}

/// Copy everything from one store into another
///
/// Contents, times, hidden files and empty directories are copied; nothing is ever deleted.
/// Both stores are compared first. If the destination holds another content anywhere, nothing
/// is copied, and the command says where. Each copy is read back and compared. After an
/// interruption, the same command does the rest.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Copy {
    /// The store to copy from
    pub(super) from: String,

    /// The store to copy to; a directory or database is made
    pub(super) to: String,

    /// Replace files that have another content
    #[arg(long)]
    pub(super) overwrite: bool,

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

/// Read everything that a store holds, and report what is not as it should be
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The store to check
    pub(super) store: String,
}

/// Serve a memory to programs that speak the Model Context Protocol (MCP)
///
/// Without --http it serves one program, on its standard input and output. The six commands are tools, the files are
/// resources. The store is made if it does not exist.
#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Mcp {
    /// The store of the memory
    #[arg(default_value = "./memory")]
    pub(super) store: String,

    /// What the names of the tools begin with, such as memory_
    #[arg(long, default_value = "")]
    pub(super) prefix: String,

    /// Serve over HTTP instead, at a loopback address
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765", require_equals = true)]
    pub(super) http: Option<std::net::SocketAddr>,

    #[command(flatten)]
    pub(super) flags: super::flags::Flags,
}
