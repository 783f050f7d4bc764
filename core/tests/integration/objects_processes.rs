//! One bucket or container and several processes: that edit one file, create one path, are killed, or are forked.
#![cfg(all(unix, feature = "object-storage"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::clouds::{Cloud, SECRETS};
use crate::common::effort::times;
use crate::common::fork::{child, succeeded};
use crate::common::store_helpers::open_memory;
use crate::common::workers::{self, Job, Worker, directories, insert, lines};
use memdir::{Memory, MemoryOptions, MemoryPath, OnExisting};

const WORKER: &str = here!("worker");

/// Not a real test: the work of the processes that the tests below start.
#[test]
fn worker() {
    let Some(job) = Job::of_this_process() else { return };
    if job.name == "open in vain" {
        let error = Memory::open(&job.address, MemoryOptions::default()).err().unwrap().to_string();
        assert!(error.contains(&job.me), "{error}");
        assert!(!SECRETS.iter().any(|secret| error.contains(secret)), "{error}");
        return;
    }
    match job.name.as_str() {
        "fork" => while_connected(&open_memory(&job.address)),
        _ => job.run(&open_memory(&job.address)),
    }
}

fn processes_that_edit_one_file_lose_nothing(cloud: &'static Cloud) {
    let address = cloud.fresh();
    workers::edit_one_file(WORKER, &address, &open_memory(&address));
}

fn of_processes_that_create_one_path_one_wins(cloud: &'static Cloud) {
    let address = cloud.fresh();
    workers::create_the_same_paths(WORKER, &address, || open_memory(&address));
}

fn of_processes_that_expire_one_file_one_does_and_none_that_is_used_meanwhile(
    cloud: &'static Cloud,
) {
    let address = cloud.fresh();
    workers::expire_at_once(WORKER, &address, &open_memory(&address), times(cloud.few(30, 10)));
}

fn a_kill_at_any_moment_loses_nothing_acknowledged(cloud: &'static Cloud) {
    let address = cloud.fresh();
    let (memory, rounds) = (open_memory(&address), times(5));
    let lived = workers::kill_at_any_moment(WORKER, &address, &memory, rounds, |names| {
        for me in names {
            // Its directory is at one of its two paths, at both, or gone. The rename can be completed.
            let [old, new] = directories(me);
            let _ = memory.rename(&old, &new);
            for path in [&old, &new] {
                let _ = memory.delete(path);
                let path = MemoryPath::parse(path).unwrap();
                assert!(memory.store().list(&path).is_err(), "{path} is left");
            }
        }
        memory.create(&format!("/memories/after/{}", names[0]), "it answers").unwrap();
    });
    let mut out = std::io::stdout();
    writeln!(out, "object storage: {} kills, {lived} after an edit", 2 * rounds).unwrap();
}

fn a_forked_process_goes_on_with_connections_of_its_own(cloud: &'static Cloud) {
    let address = cloud.fresh();
    assert!(Worker::start(WORKER, &address, Path::new(""), "fork", "").succeeds());
    // The parent's and two children's, and those of a grandchild.
    assert_eq!(lines(&open_memory(&address)), 4 * 20);
}

/// Opens the store in a separate process with another environment, and checks that its error
/// contains `words`.
fn is_told(cloud: &Cloud, words: &str, environment: impl Fn(&mut Command) -> &mut Command) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let told = environment(&mut command)
        .args(["--exact", WORKER, "--nocapture"])
        .envs([("MEMDIR_JOB", "open in vain"), ("MEMDIR_PLACE", ""), ("MEMDIR_ME", words)])
        .env("MEMDIR_ADDRESS", cloud.address("p"))
        .stdout(Stdio::null())
        .status();
    assert!(told.unwrap().success());
}

fn missing_credentials_are_said_to_be_missing(cloud: &'static Cloud) {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let variable = if cloud.is_azure() { "AZURE_STORAGE_ACCOUNT_KEY" } else { "AWS_ACCESS_KEY_ID" };
    let words = "no credentials were found: set the environment variables of the service, such as";
    is_told(cloud, &format!("{words} {variable}"), |command| {
        command
            .env_remove("AWS_ACCESS_KEY_ID")
            .env_remove("AWS_SECRET_ACCESS_KEY")
            .env_remove("AZURE_STORAGE_ACCOUNT_KEY")
            // On a cloud machine, credentials would come from this address.
            .env("AWS_METADATA_ENDPOINT", format!("http://{nobody}"))
            .env("AZURE_MSI_ENDPOINT", format!("http://{nobody}/metadata/identity/oauth2/token"))
    });
}

/// Only this server checks keys. In the cloud the error says that they were refused.
fn a_wrong_key_is_told(cloud: &'static Cloud) {
    is_told(cloud, "the credentials do not allow to list the bucket", |command| {
        command.env("AZURE_STORAGE_ACCOUNT_KEY", "YW5vdGhlciBrZXk=")
    });
    is_told(cloud, "AZURE_STORAGE_ACCOUNT_KEY is not in Base64", |command| {
        command.env("AZURE_STORAGE_ACCOUNT_KEY", "Eby8vdM02 is no key")
    });
}

/// In a separate process: the parent has open connections and a partly read file, and continues to use them.
fn while_connected(memory: &Memory) {
    let store = memory.store();
    let large = MemoryPath::parse("/memories/large").unwrap();
    let content = vec![b'x'; 3_000_000];
    store.write(&large, &content, OnExisting::Error).unwrap();
    memory.create("/memories/log", "").unwrap();
    let memdir::store::Node::File(_, mut stream) = store.open(&large, 1).unwrap() else {
        panic!("a directory")
    };
    stream.read_exact(&mut [0; 1000]).unwrap();
    let children = ["a", "b"].map(|me| {
        child(|| {
            insert(memory, me, 20);
            if me == "a" {
                let grandchild = child(|| insert(memory, "below a", 20));
                assert!(succeeded(grandchild));
            } else {
                // A child cannot use the parent's stream.
                assert!(stream.read_to_end(&mut Vec::new()).is_err());
            }
        })
    });
    insert(memory, "parent", 20);
    assert!(children.into_iter().all(succeeded));
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len() + 1000, content.len());
}

memdir_test_support::on_servers! {
    all:
        processes_that_edit_one_file_lose_nothing,
        of_processes_that_create_one_path_one_wins,
        of_processes_that_expire_one_file_one_does_and_none_that_is_used_meanwhile,
        a_kill_at_any_moment_loses_nothing_acknowledged,
        a_forked_process_goes_on_with_connections_of_its_own,
        missing_credentials_are_said_to_be_missing;
    azure:
        a_wrong_key_is_told;
}
