//! `memdir serve`: serves a web page that shows memories.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::editor::Draft;
use super::server_arguments::ServeArguments;
use super::stores::{self, StoreArgument};
use super::{Ended, Failure, history, mounts, not_served, say};
use crate::page::{self, Shown, Site};
use crate::with::with;
use memdir::history::without_journal;
use memdir::store::Store;
use memdir::{Memory, MemoryOptions};

/// The ports to try first, in this order, if none is given. So a restarted program usually gets the same port, and browsers
/// store the data of a page by its port.
const PORTS: RangeInclusive<u16> = 8767..=8776;

/// The lifetime of the file that opens the browser.
const OPENING: Duration = Duration::from_secs(60);

pub(super) fn run(wanted: &ServeArguments) -> Result<Ended, Failure> {
    if !wanted.mounts.is_empty() && wanted.stores.len() > 1 {
        return Err(Failure::Usage(
            "--mount and --mount-read-only mount stores into one STORE: give only that one"
                .to_owned(),
        ));
    }
    let memories = wanted.stores.iter().map(|store| shown(store, wanted));
    let memories = memories.collect::<Result<Vec<_>, _>>()?;
    let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let addresses = match wanted.port {
        Some(port) => vec![at(port)],
        None => PORTS.chain([0]).map(at).collect(),
    };
    let served = Site::new(memories).and_then(|site| {
        page::serve(site, &addresses, |address| {
            say(&format!("open {address}"));
            say("anyone with this address can see the memory, and change it where that is allowed; Ctrl-C ends it");
            if wanted.open {
                open_browser(address);
            }
        })
    });
    match served {
        Ok(()) => Ok(Ended::Well),
        // The port is in use.
        Err(error) => Err(not_served(&error, "another --port, or none")),
    }
}

/// A memory as the page shows it.
fn shown(store: &str, wanted: &ServeArguments) -> Result<Shown, Failure> {
    let options = wanted.flags.on(history::untrimmed(MemoryOptions::default()))?;
    let mut argument = stores::only(store, options)?;
    let mounts = mounts::parse(&wanted.mounts, &argument)?;
    let is_local = argument.is_local() && mounts.are_local();
    let may_change = !argument.options().read_only && (is_local || wanted.writable);
    if wanted.writable && argument.options().read_only {
        return Err(Failure::Usage(
            "--read-only and --writable cannot be used together: leave out one of them".to_owned(),
        ));
    }
    argument.set_read_only(!may_change);
    if may_change && mounts.is_empty() && argument.find()?.is_none() {
        say(&format!("there is no memory at {}: a new one is created", argument.shown()));
    }
    let store: Arc<dyn Store> = match (mounts.is_empty(), may_change) {
        (true, true) => argument.open()?,
        (true, false) => argument.readable()?,
        _ => mounts.open_in(&argument)?,
    };
    // A store that is not writable was opened as read-only.
    let is_read_only = !may_change || store.info().is_read_only;
    let options = with(argument.options().clone(), |options| {
        options.max_view_chars = None;
        options.read_only = is_read_only;
    });
    let keeps_history = options.history && !is_read_only;
    let with_history = |history| with(options.clone(), |options| options.history = history);
    let plain = Memory::with_store(without_journal(Arc::clone(&store)), with_history(false));
    let recorded = Memory::with_store(store, with_history(true)).acting_as(&wanted.by.name);
    let plain = plain.validated().map_err(|error| argument.error(&error))?;
    let recorded = recorded.validated().map_err(|error| argument.error(&error))?;
    Ok(Shown {
        name: argument.shown().to_owned(),
        identity: identity(&argument),
        keeps_drafts: !argument.is_encrypted(),
        plain,
        recorded,
        actor: wanted.by.name.clone(),
        keeps_history,
        is_read_only,
        without_secrets: Box::new(move |sentence| {
            mounts.without_secrets(&argument.without_secrets(sentence))
        }),
    })
}

/// Distinguishes the memory from others. The same relative path in another directory is another memory.
fn identity(argument: &StoreArgument) -> String {
    let name = argument.shown();
    let path = name.split_once(':').map_or(name, |(_, path)| path);
    let is_relative = argument.is_local() && !Path::new(path).is_absolute();
    let directory = is_relative.then(|| env::current_dir().ok()).flatten().unwrap_or_default();
    let digest = Sha256::digest(format!("{}\n{name}", directory.display()));
    data_encoding::HEXLOWER.encode(&digest[..8])
}

/// Opens the browser. Other users of this machine can see the arguments of a program, so the address is passed in a file that
/// they cannot read.
fn open_browser(address: &str) {
    let page = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url={address}\"><title>memdir</title>"
    );
    let Ok(draft) = Draft::new("memdir.html", &page) else {
        say("the browser could not be opened: open the address yourself");
        return;
    };
    let programs: &[&str] = if cfg!(target_os = "macos") {
        &["open"]
    } else if cfg!(windows) {
        &["explorer"]
    } else {
        &["xdg-open", "gio", "x-www-browser"]
    };
    let opened = programs.iter().any(|program| {
        let mut command = Command::new(program);
        if *program == "gio" {
            command.arg("open");
        }
        command.arg(draft.path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().is_ok()
    });
    if !opened {
        say("no browser was found: open the address yourself");
    }
    thread::spawn(move || {
        thread::sleep(OPENING);
        draft.remove();
    });
}
