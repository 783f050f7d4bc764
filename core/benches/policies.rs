//! The cost of the policies: disabled policies, compared with the same command without any policy
//! code; and each enabled policy, compared with the plain command.
//!
//! `cargo bench -p memdir --bench policies`. Look at the ratios. Each is the median of many ratios between
//! two consecutive runs. The bare command is written here, with the store and the text functions that the
//! handlers use. It does only the work of an edit or a view, and checks no option.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program, and not part of the library"
)]

use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memdir::policy::{StaleGuard, sensitive::SensitiveText};
use memdir::store::{Node, Splice};
use memdir::text::{Occurrences, Pager, find, snippet};
use memdir::{
    Command, Memory, MemoryHooks, MemoryOptions, MemoryPath, OnExisting, Store, open_store,
};

/// Hooks that allow everything.
struct Silent;

impl MemoryHooks for Silent {}

type Set = fn(&mut MemoryOptions);

const POLICIES: [(&str, Set); 7] = [
    ("max_total_bytes, max_files", |options| {
        options.max_total_bytes = Some(1 << 30);
        options.max_files = Some(1 << 20);
    }),
    ("read_only_paths, writable_paths", |options| {
        options.read_only_paths = vec!["/memories/handbook".parse().unwrap()];
        options.writable_paths = Some(vec!["/memories/*.md".parse().unwrap()]);
    }),
    ("stale_guard = on", |options| options.stale_guard = StaleGuard::On),
    ("stale_guard = strict", |options| options.stale_guard = StaleGuard::Strict),
    ("sensitive_text", |options| options.sensitive_text = SensitiveText::Reject),
    ("sensitive_on_view", |options| options.sensitive_on_view = true),
    ("record_access", |options| options.record_access = true),
];

fn main() {
    let prose = "- on Tuesdays Anna and Ben meet at 10:30 in room 4.12, floor 3.\n".repeat(64);
    let about_passwords =
        "- the password for the wifi is with Maria, the token is in the safe.\n".repeat(60);
    let shm = Path::new("/dev/shm");
    let place = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    for (number, (what, text)) in
        [("prose", &prose), ("text about passwords", &about_passwords)].into_iter().enumerate()
    {
        let directory = place.path().join(number.to_string());
        for address in [directory.to_str().unwrap(), "memory:"] {
            let kind = if address == "memory:" { address } else { "a local directory" };
            let store = open_store(address, &MemoryOptions::default()).unwrap();
            println!("\n4 KiB of {what}, {kind}, durability full");
            compare("str_replace", &store, text, edit, &bare_edit);
            compare("view", &store, text, view, &bare_view);
        }
    }
}

/// A command on a file. `flip` alternates, so an edit can undo the previous one.
type Run = fn(&Memory, &str, bool);
/// A contender: its name, and one run of it.
type Contender<'c> = (&'c str, Box<dyn FnMut(bool) + 'c>);
type Bare<'b> = &'b dyn Fn(&dyn Store, &str, bool);

fn compare(what: &str, store: &Arc<dyn Store>, text: &str, run: Run, bare: Bare<'_>) {
    let mut contenders: Vec<Contender<'_>> = Vec::new();
    // Each has its own file, because the guard would notice the others' edits.
    let file = |name: &str| {
        let path = format!("/memories/{name}.md");
        let content = format!("unique\n{text}");
        let given = MemoryPath::parse(&path).unwrap();
        store.write(&given, content.as_bytes(), OnExisting::Overwrite).unwrap();
        path
    };
    let add = |name: &str, set: &dyn Fn(&mut MemoryOptions), hooks: bool| -> Box<dyn FnMut(bool)> {
        let mut options = MemoryOptions::default();
        set(&mut options);
        let mut memory = Memory::with_store(Arc::clone(store), options);
        if hooks {
            memory = memory.with_hooks(Arc::new(Silent));
        }
        let path = file(&name.replace(|c: char| !c.is_ascii_alphanumeric(), ""));
        view(&memory, &path, false);
        Box::new(move |flip| run(&memory, &path, flip))
    };
    contenders.push(("all policies off", add("off", &|_| {}, false)));
    let path = file("bare");
    let bare = move |flip| bare(&**store, &path, flip);
    contenders.push(("the bare command", Box::new(bare)));
    for (name, set) in POLICIES {
        contenders.push((name, add(name, &set, false)));
    }
    contenders.push(("hooks", add("hooks", &|_| {}, true)));
    let all = |options: &mut MemoryOptions| POLICIES.iter().for_each(|(_, set)| set(options));
    contenders.push(("all of them", add("all", &all, true)));

    let times = measure(&mut contenders);
    let [plain, bare] = [&times[0], &times[1]];
    println!("  {:<34} {:>10}   ratio", what, "time");
    println!("  {:<34} {:>10.2?}", contenders[1].0, median(bare.clone()));
    let off = median(plain.iter().zip(bare).map(ratio).collect());
    println!(
        "  {:<34} {:>10.2?}   {off:.3} of the bare one",
        contenders[0].0,
        median(plain.clone())
    );
    for ((name, _), times) in contenders.iter().zip(&times).skip(2) {
        let on = median(times.iter().zip(plain).map(ratio).collect());
        println!("  {name:<34} {:>10.2?}   {on:.2} of the plain one", median(times.clone()));
    }
}

/// The time that each took for one run, by round. Other load on the machine affects all of them.
fn measure(contenders: &mut [Contender<'_>]) -> Vec<Vec<Duration>> {
    /// The number of runs that are timed together, because reading the clock takes as long as a
    /// short run. Even, because edits undo each other.
    const BATCH: u32 = 16;
    let mut times = vec![Vec::new(); contenders.len()];
    let begun = Instant::now();
    let mut round = 0;
    while begun.elapsed() < Duration::from_secs(6) {
        for turn in 0..contenders.len() {
            // Over the rounds, each one comes after every other one.
            let which = (turn + round) % contenders.len();
            let begun = Instant::now();
            for number in 0..BATCH {
                (contenders[which].1)(number % 2 == 0);
            }
            times[which].push(begun.elapsed() / BATCH);
        }
        round += 1;
    }
    times
}

fn ratio((of, to): (&Duration, &Duration)) -> f64 {
    of.as_secs_f64() / to.as_secs_f64()
}

fn median<T: PartialOrd + Copy>(mut values: Vec<T>) -> T {
    values.sort_unstable_by(|a, b| a.partial_cmp(b).unwrap());
    values[values.len() / 2]
}

fn words(flip: bool) -> (&'static str, &'static str) {
    if flip { ("unique", "UNIQUE") } else { ("UNIQUE", "unique") }
}

fn edit(memory: &Memory, path: &str, flip: bool) {
    let (old, new) = words(flip);
    black_box(memory.str_replace(path, old, new).unwrap());
}

fn view(memory: &Memory, path: &str, _: bool) {
    let command = Command::View { path: path.into(), view_range: None };
    black_box(memory.run(&command).unwrap());
}

fn bare_edit(store: &dyn Store, path: &str, flip: bool) {
    let path = MemoryPath::parse(path).unwrap();
    let (old, new) = words(flip);
    let mut answer = String::new();
    store
        .update(&path, &mut |content| {
            std::str::from_utf8(content).unwrap();
            let Occurrences::One(at) = find(content, old.as_bytes()) else { return None };
            let splice = Splice { range: at..at + old.len(), text: new.as_bytes().to_vec() };
            let around = snippet(content, &splice);
            let header = "The memory file has been edited. Here is the snippet showing the change \
                          (with line numbers):";
            let limit = Some(16_000);
            let mut pager = Pager::new(header.to_owned(), around.first, u64::MAX, limit)
                .starting_at(around.first);
            pager.feed(&around.text).unwrap();
            answer = pager.finish().unwrap().text;
            Some(splice)
        })
        .unwrap();
    assert!(!answer.is_empty());
    black_box(answer);
}

fn bare_view(store: &dyn Store, path: &str, _: bool) {
    let path = MemoryPath::parse(path).unwrap();
    let Node::File(size, mut content) = store.open(&path, 2).unwrap() else { return };
    let header = format!("Here's the content of {path} with line numbers:");
    let mut pager = Pager::new(header, 1, 999_999, Some(16_000));
    let mut window = vec![0; usize::try_from(size).unwrap() + 1];
    loop {
        let filled = content.read(&mut window).unwrap();
        if filled == 0 {
            break;
        }
        pager.feed(&window[..filled]).unwrap();
    }
    black_box(pager.finish().unwrap().text);
}
