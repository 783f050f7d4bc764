//! `memdir mcp`: serves a memory to clients of the Model Context Protocol.

use std::sync::Arc;

use super::server_arguments::McpArguments;
use super::{Ended, Failure, mounts, not_served, say, stores};
use crate::mcp::{self, NotServed, Served};
use crate::with::with;
use memdir::store::Store;
use memdir::{Memory, MemoryOptions};

pub(super) fn run(wanted: &McpArguments) -> Result<Ended, Failure> {
    let options = with(MemoryOptions::default(), |options| {
        options.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    });
    let argument = stores::any(&wanted.store, wanted.flags.clone().on(options)?)?;
    let mounts = mounts::parse(&wanted.mounts, &argument)?;
    let (store, mount_points) = if mounts.is_empty() {
        (argument.open()?, Vec::new())
    } else {
        let mounts = mounts.open_in(&argument)?;
        let mount_points =
            mounts.mounted().map(|(at, store)| (at.clone(), store.info().is_read_only)).collect();
        (mounts as Arc<dyn Store>, mount_points)
    };
    let memory = Memory::with_store(store, argument.options().clone())
        .validated()
        .map_err(|error| argument.error(&error))?;
    let memory = Served { memory, mount_points, has_search: !wanted.no_search };
    let served = match wanted.http {
        None => mcp::serve_stdio(memory, &wanted.prefix),
        Some(address) if !address.ip().is_loopback() => {
            return Err(Failure::Usage(format!(
                "--http serves only this machine, because anyone who reaches it can change the memory: {address} is not \
                 a loopback address such as 127.0.0.1:8765"
            )));
        }
        Some(address) => mcp::serve_http(memory, &wanted.prefix, address, |address| {
            say(&format!("serving http://{address}/mcp"));
        }),
    };
    match served {
        Ok(()) => Ok(Ended::Well),
        Err(NotServed::Options(error)) => Err(argument.error(&error)),
        Err(NotServed::Client(error)) => Err(Failure::Refused(format!(
            "the client does not speak MCP: {error}. A client starts this command itself: see `memdir help mcp`"
        ))),
        // The port is in use, or the streams are closed.
        Err(NotServed::Io(error)) => Err(not_served(&error, "--http=127.0.0.1:0")),
    }
}
