//! The arguments of the commands that serve a memory to other programs or to a browser.

use clap::Args;

#[cfg(feature = "page")]
use super::flags::ChangeFlags;
#[cfg(feature = "mcp")]
use super::flags::Flags;
#[cfg(feature = "page")]
use super::history_arguments::By;

/// Show memories on a page in the browser: what the agent remembers, and who changed it
///
/// The page is on this machine only, and is opened by the address that is printed, which holds a
/// secret. A person can search, edit, restore, undo and redact there; changes are recorded if the
/// store has a history, or with --history. What is not on this machine is only shown, unless
/// --writable is given.
#[cfg(feature = "page")]
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir serve ./memory --open
  memdir serve ./memory sqlite:team.db --as 'Ann'
  memdir serve ./memory --mount-read-only /memories/handbook=./docs
  memdir serve env:TEAM_MEMORY --writable"
)]
pub(super) struct ServeArguments {
    /// The stores to show, ./memory if none is given; several are shown beside each other
    #[arg(value_name = "STORE", default_value = "./memory")]
    pub(super) stores: Vec<String>,

    #[command(flatten)]
    pub(super) mounts: MountFlags,

    /// Also change what is not on this machine
    #[arg(long)]
    pub(super) writable: bool,

    /// The port; by default the first of 8767 to 8776 that is free, or another one if none is
    #[arg(long, value_name = "NUMBER")]
    pub(super) port: Option<u16>,

    /// Open the page in the browser
    #[arg(long)]
    pub(super) open: bool,

    #[command(flatten)]
    pub(super) by: By,

    #[command(flatten)]
    pub(super) flags: ChangeFlags,
}

/// Serve a memory to programs that speak the Model Context Protocol (MCP)
///
/// Without --http it serves one program, on its standard input and output. The six commands are tools, the files are
/// resources. The store is made if it does not exist.
#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "\
Examples:
  memdir mcp ./memory --max-total-bytes 1000000 --history
  memdir mcp sqlite:agent.db --http --read-only
  memdir mcp ./memory --mount /memories/team=sqlite:team.db --mount-read-only /memories/handbook=./docs"
)]
pub(super) struct McpArguments {
    /// The store of the memory, ./memory if none is given
    #[arg(default_value = "./memory")]
    pub(super) store: String,

    #[command(flatten)]
    pub(super) mounts: MountFlags,

    /// What the names of the tools begin with, such as memory_
    #[arg(long, default_value = "")]
    pub(super) prefix: String,

    /// Serve over HTTP instead, at a loopback address
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765", require_equals = true)]
    pub(super) http: Option<std::net::SocketAddr>,

    #[command(flatten)]
    pub(super) flags: Flags,
}

/// The stores that are mounted into another one.
#[derive(Debug, Args)]
pub(super) struct MountFlags {
    /// Mount another store into the first one
    #[arg(long, value_name = "PATH=STORE")]
    pub(super) mount: Vec<String>,

    /// Mount another store, which exists, and can be viewed but not changed
    #[arg(long, value_name = "PATH=STORE")]
    pub(super) mount_read_only: Vec<String>,
}

#[cfg(feature = "page")]
impl MountFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.mount.is_empty() && self.mount_read_only.is_empty()
    }
}
