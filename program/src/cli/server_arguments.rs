//! The arguments of the commands that serve a memory to other programs or to a browser.

use clap::Args;

#[cfg(feature = "page")]
use super::flags::ChangeFlags;
#[cfg(feature = "mcp")]
use super::flags::Flags;
#[cfg(feature = "page")]
use super::history_arguments::By;

/// Show memories on a page in the browser
///
/// The page is on this machine only. The printed address opens it, and contains a secret. You can
/// search, edit, restore, undo and redact there. Changes are recorded if the store has a history, or
/// with --history. A store on another machine can only be viewed, unless --writable is given.
#[cfg(feature = "page")]
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct ServeArguments {
    /// The stores to show
    #[arg(value_name = "STORE", default_value = "./memory")]
    pub(super) stores: Vec<String>,

    #[command(flatten)]
    pub(super) mounts: MountFlags,

    /// Allow changes of stores on other machines
    #[arg(long)]
    pub(super) writable: bool,

    /// The port of the page
    ///
    /// The default is the first free one of 8767 to 8776, or any other if none of them is free.
    #[arg(long, value_name = "NUMBER", verbatim_doc_comment)]
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
/// Without --http it serves one program, on standard input and output. The six commands are tools, the
/// files are resources. The store is created if it does not exist.
#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(super) struct McpArguments {
    /// The store, such as ./memory or sqlite:agent.db
    #[arg(default_value = "./memory")]
    pub(super) store: String,

    #[command(flatten)]
    pub(super) mounts: MountFlags,

    /// The prefix of the tools' names, such as memory_
    #[arg(long, default_value = "")]
    pub(super) prefix: String,

    /// Leave out the tool search, whose index holds the texts in memory
    #[arg(long)]
    pub(super) no_search: bool,

    /// Serve over HTTP instead, at a loopback address
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:8765", require_equals = true)]
    pub(super) http: Option<std::net::SocketAddr>,

    #[command(flatten)]
    pub(super) flags: Flags,
}

/// The stores that are mounted into another one.
#[derive(Debug, Args)]
pub(super) struct MountFlags {
    /// Mount another store into the first one; can be repeated
    #[arg(long, help_heading = "Mounts", value_name = "PATH=STORE")]
    pub(super) mount: Vec<String>,

    /// Mount another existing store that can only be viewed
    #[arg(long, help_heading = "Mounts", value_name = "PATH=STORE")]
    pub(super) mount_read_only: Vec<String>,
}

#[cfg(feature = "page")]
impl MountFlags {
    pub(super) fn is_empty(&self) -> bool {
        self.mount.is_empty() && self.mount_read_only.is_empty()
    }
}
