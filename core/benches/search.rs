//! The cost of a search over 10,000 files, on a store in the process, a local directory and SQLite. The first search is compared with
//! reading all files, and with the first one that has a kept index. A search after which nothing has changed is compared with a listing, and with the revision.
//! A search by meaning, with an embedder that takes no time, is compared with one by words.
//!
//! `cargo bench -p memdir --features search --bench search`. Each search alternates with its floor; look at the ratios. Set
//! `MEMDIR_POSTGRES` to the address of an empty namespace to measure PostgreSQL alone, compared with one prepared `select`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use memdir::path::MAX_LEVELS;
use memdir::store::{Entry, Node};
use memdir::{
    Durability, Embedder, EmbedderError, Memory, MemoryOptions, MemoryPath, OnExisting, Store,
    open_store,
};

const FILES: usize = 10_000;
const ROUNDS: usize = 21;
const FIRST_ROUNDS: usize = 3;
/// Of one file in a thousand, and of every file.
const QUESTIONS: [&str; 2] = ["kettle 137", "which tea is kept in the kitchen?"];

fn main() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().join("memory");
    let mut addresses = vec![
        ("in the process", "memory:".to_owned()),
        ("local directory", base.to_str().unwrap().to_owned()),
        ("SQLite", format!("sqlite:{}", place.path().join("a.db").display())),
    ];
    if let Ok(address) = std::env::var("MEMDIR_POSTGRES") {
        addresses = vec![("PostgreSQL", address)];
    }
    println!(
        "{:<34} {:>10} {:>10} {:>7}",
        "10,000 files, milliseconds", "search", "floor", "ratio"
    );
    for (name, address) in &addresses {
        let mut options = MemoryOptions::default();
        options.durability = Durability::Relaxed;
        let store = open_store(address, &options).unwrap();
        fill(&*store);
        // The change of each file is over for long enough to be trusted.
        std::thread::sleep(Duration::from_secs(4));
        first(name, &store);
        kept(name, &store);
        for question in QUESTIONS {
            warm(name, &store, question);
            #[cfg(all(unix, feature = "postgres"))]
            if address.starts_with("postgres") {
                select::compare(address, &store, question);
            }
        }
        if address == "memory:" {
            by_meaning(name, &store);
        }
    }
}

fn fill(store: &dyn Store) {
    let words = ["green", "black", "kettle", "cup", "kitchen", "garden", "Anna", "Ben", "meeting"];
    for number in 0..FILES {
        let fact = |line: usize| {
            let word = words[(number * 7 + line * 5) % words.len()];
            format!("- the {word} number {} of tea {}\n", (number * 31 + line) % 1_000, line % 7)
        };
        let text = format!("# File {number}\n\n") + &(0..55).map(fact).collect::<String>();
        let path = format!("/memories/d{}/file-{number}.md", number % 100);
        let path = MemoryPath::parse(&path).unwrap();
        store.write(&path, text.as_bytes(), OnExisting::Error).unwrap();
    }
}

/// The first search of a process, compared with reading all files.
fn first(name: &str, store: &Arc<dyn Store>) {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..FIRST_ROUNDS {
        let memory = Memory::with_store(Arc::clone(store), MemoryOptions::default());
        ours.push(timed(|| search(&memory, QUESTIONS[0])));
        floor.push(timed(|| {
            let read = |entry: Entry| store.read(&entry.path).unwrap().len();
            assert!(
                listed(&**store).into_iter().filter(Entry::is_file).map(read).sum::<usize>() > 0
            );
        }));
    }
    show(&format!("{name}: first, against reading"), ours, floor);
}

/// The first search of a process with an index that was kept, compared with the first one without, with one after which nothing has
/// changed, and with a listing and a read of the index.
fn kept(name: &str, store: &Arc<dyn Store>) {
    let mut options = MemoryOptions::default();
    options.search_keep = true;
    let keeping = || Memory::with_store(Arc::clone(store), options.clone());
    let plain = || Memory::with_store(Arc::clone(store), MemoryOptions::default());
    let directory = MemoryPath::parse("/memories/.memdir-search").unwrap();
    let (mut saving, mut without) = (Vec::new(), Vec::new());
    for _ in 0..FIRST_ROUNDS {
        let _ = store.delete(&directory);
        saving.push(timed(|| search(&keeping(), QUESTIONS[0])));
        without.push(timed(|| search(&plain(), QUESTIONS[0])));
    }
    let warm = keeping();
    search(&warm, QUESTIONS[0]);
    let (mut first, mut warms, mut reads) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        first.push(timed(|| search(&keeping(), QUESTIONS[0])));
        warms.push(timed(|| search(&warm, QUESTIONS[0])));
        reads.push(timed(|| {
            let files = store.list(&directory).unwrap();
            assert!(store.read(&files[0].path).unwrap().len() > FILES);
            assert!(listed(&**store).len() >= FILES);
        }));
    }
    show(&format!("{name}: saves, against first"), saving, without.clone());
    show(&format!("{name}: kept, against first"), first.clone(), without);
    show(&format!("{name}: kept, against warm"), first.clone(), warms);
    show(&format!("{name}: kept, against reading it"), first, reads);
    let _ = store.delete(&directory);
}

/// A search after which nothing has changed, compared with a listing, or with the revision if the store has one.
fn warm(name: &str, store: &Arc<dyn Store>, question: &str) {
    let memory = Memory::with_store(Arc::clone(store), MemoryOptions::default());
    search(&memory, question);
    let (mut ours, mut lists, mut revisions) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| search(&memory, question)));
        lists.push(timed(|| assert!(listed(&**store).len() >= FILES)));
        revisions.push(timed(|| drop(store.revision().unwrap())));
    }
    show(&format!("{name}: {question:.10}…, listing"), ours.clone(), lists);
    if store.revision().unwrap().is_some() {
        show(&format!("{name}: {question:.10}…, revision"), ours, revisions);
    }
}

/// The numbers of a vector: those of a model of middle size.
const DIMENSIONS: usize = 768;

/// Vectors that depend on the bytes of the text.
struct Hashed;

impl Embedder for Hashed {
    fn embed(&self, texts: &[String], _: bool) -> Result<Vec<Vec<f32>>, EmbedderError> {
        let vector = |text: &String| {
            let mut state = text
                .bytes()
                .fold(7_u32, |state, byte| state.wrapping_mul(16_777_619) ^ u32::from(byte));
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                f32::from(u16::try_from(state >> 17).unwrap_or(0)) - 16_384.0
            };
            (0..DIMENSIONS).map(|_| next()).collect()
        };
        Ok(texts.iter().map(vector).collect())
    }
}

/// A search with an embedder, compared with one by words.
fn by_meaning(name: &str, store: &Arc<dyn Store>) {
    let mut options = MemoryOptions::default();
    options.embedder_name = Some("hashed".into());
    options.embedder_timeout = None;
    let words = Memory::with_store(Arc::clone(store), options.clone());
    let memory = words.clone().with_embedder(Arc::new(Hashed)).unwrap();
    search(&words, QUESTIONS[0]);
    let first = timed(|| search(&memory, QUESTIONS[0]));
    println!("{name}: first with vectors {:.0} ms", first.as_secs_f64() * 1_000.0);
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.push(timed(|| search(&memory, QUESTIONS[0])));
        floor.push(timed(|| search(&words, QUESTIONS[0])));
    }
    show(&format!("{name}: meaning, against words"), ours, floor);
}

/// A search after which nothing has changed, and its parts: the question whether anything has, and the ranking. Each is compared with a
/// prepared `select` of the row that has the newest change, over the same driver.
#[cfg(all(unix, feature = "postgres"))]
mod select {
    use super::*;

    const SELECT: &str = "SELECT changes[1]::text FROM memdir.node WHERE namespace = $1 AND parent = 0 AND name = ''";
    const ROUNDS: usize = 201;

    pub(super) fn compare(address: &str, store: &Arc<dyn Store>, question: &str) {
        let (server, namespace) = address.split_once("?namespace=").unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let connecting = tokio_postgres::connect(server, tokio_postgres::NoTls);
        let (client, connection) = runtime.block_on(connecting).unwrap();
        runtime.spawn(connection);
        let statement = runtime.block_on(client.prepare(SELECT)).unwrap();
        let memory = Memory::with_store(Arc::clone(store), MemoryOptions::default());
        search(&memory, question);
        // The same files, without a server.
        let copy: Arc<dyn Store> = Arc::new(memdir::store::InProcess::new());
        fill(&*copy);
        let alone = Memory::with_store(copy, MemoryOptions::default());
        search(&alone, question);
        let (mut ours, mut asked, mut ranked, mut floor) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(timed(|| search(&memory, question)));
            asked.push(timed(|| drop(store.revision().unwrap())));
            ranked.push(timed(|| search(&alone, question)));
            floor.push(timed(|| {
                drop(runtime.block_on(client.query(&statement, &[&namespace])).unwrap());
            }));
        }
        show("PostgreSQL: search, select", ours, floor.clone());
        show("PostgreSQL: revision, select", asked, floor.clone());
        show("PostgreSQL: ranking alone, select", ranked, floor);
    }
}

fn search(memory: &Memory, question: &str) {
    assert_eq!(memory.search(question, "/memories", 10).unwrap().hits.len(), 10);
}

fn listed(store: &dyn Store) -> Vec<Entry> {
    match store.open(&MemoryPath::root(), MAX_LEVELS).unwrap() {
        Node::Directory(entries) => entries,
        Node::File(..) => Vec::new(),
    }
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn show(what: &str, ours: Vec<Duration>, floor: Vec<Duration>) {
    let median = |mut times: Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64() * 1_000.0
    };
    let (ours, floor) = (median(ours), median(floor));
    println!("{what:<34} {ours:>10.2} {floor:>10.3} {:>7.2}", ours / floor);
}
