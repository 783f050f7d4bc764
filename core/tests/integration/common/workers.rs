//! Processes that work on one memory at once, some of which are killed, and checks of the result.
//! Every store that supports several processes runs the same tests.

use std::collections::BTreeSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, SystemTime};

use memdir::{Memory, MemoryOptions};

use super::effort::times;
use super::process;
use super::store_helpers::at;

/// The job of a process, from its environment.
pub(crate) struct Job {
    pub(crate) name: String,
    /// The address of the memory that all processes use.
    pub(crate) address: String,
    /// A directory where the processes record what they did.
    pub(crate) place: PathBuf,
    /// The name of this process.
    pub(crate) me: String,
}

impl Job {
    /// `None` if this is the process of the tests themselves.
    pub(crate) fn of_this_process() -> Option<Self> {
        let [name, address, place, me] =
            ["MEMDIR_JOB", "MEMDIR_ADDRESS", "MEMDIR_PLACE", "MEMDIR_ME"].map(std::env::var);
        let name = name.ok()?;
        let (address, place, me) = (address.unwrap(), place.unwrap().into(), me.unwrap());
        Some(Self { name, address, place, me })
    }

    /// Does one of the jobs that all stores share.
    pub(crate) fn run(&self, memory: &Memory) {
        let me = &self.me;
        match self.name.as_str() {
            "insert" => insert(memory, me, edits()),
            "create" => {
                let wins = (0..CREATIONS)
                    .filter(|number| memory.create(&format!("/memories/new/{number}"), me).is_ok())
                    .count();
                fs::write(self.place.join(format!("wins-{me}")), wins.to_string()).unwrap();
            }
            "expire" => {
                until(|| self.place.join("go").exists());
                let memory = recording(memory);
                let watch = &mut |_| ControlFlow::Continue(());
                let expired = memory.expire(AN_HOUR, false, watch).unwrap();
                let paths = expired.iter().map(|file| format!("{}\n", file.path));
                fs::write(self.place.join(format!("expired-{me}")), paths.collect::<String>())
                    .unwrap();
            }
            // Reports which files it could still use. The files expire in order, so it starts from the other end.
            "use" => {
                until(|| self.place.join("go").exists());
                let files = memory.store().list(&at("/memories/old")).unwrap();
                let paths = files.iter().rev().map(|file| file.path.as_str());
                let used = paths.filter(|path| memory.insert(path, 0, "used").is_ok());
                let used = used.map(|path| format!("{path}\n")).collect::<String>();
                fs::write(self.place.join("used"), used).unwrap();
            }
            "insert-and-acknowledge" => self.insert_and_acknowledge(memory),
            "search" => crate::search_races::search(memory, &self.place, me),
            other => panic!("no such job: {other}"),
        }
    }

    /// Runs until it is killed: each line is acknowledged in a separate file before the next one. Two other threads insert
    /// lines at the same moments, so some edits are written together.
    fn insert_and_acknowledge(&self, memory: &Memory) {
        let me = &self.me;
        let [done, aside] = ["done", "aside"].map(|it| self.place.join(format!("{it}-{me}")));
        let start = &Barrier::new(3);
        thread::scope(|scope| {
            for companion in ["1", "2"].map(|it| format!("{me}.{it}")) {
                scope.spawn(move || {
                    let memory = memory.acting_as(&companion);
                    for number in 0_u64.. {
                        start.wait();
                        let line = format!("{companion} {number}");
                        memory.insert("/memories/log", 0, &line).unwrap();
                    }
                });
            }
            for number in 0_u64.. {
                start.wait();
                memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
                fs::write(&aside, number.to_string()).unwrap();
                fs::rename(&aside, &done).unwrap();
                let [directory, moved] = directories(me);
                memory.create(&format!("{directory}/sub/file"), "x").unwrap();
                memory.rename(&directory, &moved).unwrap();
                memory.delete(&moved).unwrap();
            }
        });
    }
}

const AN_HOUR: Duration = Duration::from_secs(3600);

/// A memory on the same store that records when its files were last viewed.
fn recording(memory: &Memory) -> Memory {
    let mut options = MemoryOptions::default();
    options.record_access = true;
    Memory::with_store(Arc::clone(memory.store()), options)
}

/// The number of edits per process.
fn edits() -> usize {
    times(40)
}

/// The number of paths that each process tries to create.
const CREATIONS: usize = 20;

pub(crate) fn insert(memory: &Memory, me: &str, count: usize) {
    for number in 0..count {
        memory.insert("/memories/log", 0, &format!("{me} {number}")).unwrap();
    }
}

/// Where a process that will be killed makes a directory, and where it moves it to.
pub(crate) fn directories(me: &str) -> [String; 2] {
    ["", "-moved"].map(|end| format!("/memories/dir-{me}{end}"))
}

/// A process that never outlives the test, even if the test fails.
pub(crate) struct Worker(Child);

impl Worker {
    /// Starts this program as a separate process that runs the test `worker`.
    pub(crate) fn start(worker: &str, address: &str, place: &Path, job: &str, me: &str) -> Self {
        let place = place.to_str().unwrap();
        let job = [
            ("MEMDIR_JOB", job),
            ("MEMDIR_ADDRESS", address),
            ("MEMDIR_PLACE", place),
            ("MEMDIR_ME", me),
        ];
        Self(process(worker, &job))
    }

    pub(crate) fn succeeds(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It may have ended already, as it should.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for another process, with a time limit.
pub(crate) fn until(ready: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if ready() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("a process does not get on");
}

pub(crate) fn text(memory: &Memory, path: &str) -> String {
    let content = memory.store().read(&at(path)).unwrap();
    String::from_utf8(content).unwrap()
}

/// The number of lines in the log. Checks that each occurs once.
pub(crate) fn lines(memory: &Memory) -> usize {
    let log = text(memory, "/memories/log");
    let distinct: BTreeSet<&str> = log.lines().collect();
    assert_eq!(distinct.len(), log.lines().count());
    distinct.len()
}

/// The number of log lines that `me` wrote, newest first. Checks that they have no gap.
pub(crate) fn numbers(log: &str, me: &str) -> u64 {
    let numbers: Vec<u64> = log
        .lines()
        .filter_map(|line| line.strip_prefix(&format!("{me} ")))
        .map(|number| number.parse().unwrap())
        .collect();
    let newest = numbers.len() as u64;
    assert!(numbers.iter().copied().eq((0..newest).rev()), "{me}: {numbers:?}");
    newest
}

/// Eight processes edit one file.
pub(crate) fn edit_one_file(worker: &str, address: &str, memory: &Memory) {
    let place = tempfile::tempdir().unwrap();
    memory.create("/memories/log", "").unwrap();
    let mut workers: Vec<Worker> = (0..8)
        .map(|me| Worker::start(worker, address, place.path(), "insert", &me.to_string()))
        .collect();
    assert!(workers.iter_mut().all(Worker::succeeds));
    assert_eq!(lines(memory), 8 * edits());
}

/// Six processes create the same paths, and open the store at once to do so.
pub(crate) fn create_the_same_paths(worker: &str, address: &str, memory: impl FnOnce() -> Memory) {
    let place = tempfile::tempdir().unwrap();
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut workers = names.map(|me| Worker::start(worker, address, place.path(), "create", me));
    assert!(workers.iter_mut().all(Worker::succeeds));
    let wins = |me| fs::read_to_string(place.path().join(format!("wins-{me}"))).unwrap();
    let wins = names.map(|me| wins(me).parse::<usize>().unwrap());
    assert_eq!(wins.iter().sum::<usize>(), CREATIONS, "{wins:?}");
    let memory = memory();
    for number in 0..CREATIONS {
        let content = text(&memory, &format!("/memories/new/{number}"));
        assert!(names.contains(&content.as_str()), "{content:?}");
    }
}

/// Three processes expire the same `count` unused files while a fourth one uses them. Each file goes
/// once, or stays with what was written to it.
pub(crate) fn expire_at_once(worker: &str, address: &str, memory: &Memory, count: usize) {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let store = memory.store();
    let long_ago = SystemTime::now() - 10 * AN_HOUR;
    let paths: BTreeSet<String> =
        (0..count).map(|number| format!("/memories/old/{number:03}")).collect();
    for path in &paths {
        memory.create(path, "old\n").unwrap();
        store.set_modified(&at(path), long_ago).unwrap();
    }
    memory.create("/memories/new", "new\n").unwrap();
    let names = ["a", "b", "c"];
    let mut workers: Vec<Worker> =
        names.iter().map(|me| Worker::start(worker, address, place, "expire", me)).collect();
    workers.push(Worker::start(worker, address, place, "use", ""));
    fs::write(place.join("go"), "").unwrap();
    assert!(workers.iter_mut().all(Worker::succeeds));

    let told = |name: String| -> Vec<String> {
        let told = fs::read_to_string(place.join(name)).unwrap();
        told.lines().map(ToOwned::to_owned).collect()
    };
    let expired: Vec<String> = names.iter().flat_map(|me| told(format!("expired-{me}"))).collect();
    let used: BTreeSet<String> = told("used".to_owned()).into_iter().collect();
    let gone: BTreeSet<String> = expired.iter().cloned().collect();
    assert_eq!(gone.len(), expired.len(), "a file expired twice: {expired:?}");
    assert_eq!(gone, paths.difference(&used).cloned().collect(), "used: {used:?}");
    for path in &paths {
        assert_eq!(store.read(&at(path)).is_ok(), used.contains(path), "{path}");
    }
    for path in &used {
        assert_eq!(text(memory, path), "used\nold\n");
    }
    assert_eq!(text(memory, "/memories/new"), "new\n");
}

/// Kills two processes at random moments, again and again. No acknowledged change is lost, and none
/// is torn. `after` gets the names of the killed processes. Returns how many of them had changed something.
pub(crate) fn kill_at_any_moment(
    worker: &str,
    address: &str,
    memory: &Memory,
    rounds: u64,
    mut after: impl FnMut(&[String; 2]),
) -> u64 {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    memory.create("/memories/log", "start\n").unwrap();
    let done = |me: &String| place.join(format!("done-{me}"));
    let mut lived = 0;
    for round in 0..rounds {
        let names = [format!("r{round}"), format!("r{round}b")];
        let mut victims = names
            .clone()
            .map(|me| Worker::start(worker, address, place, "insert-and-acknowledge", &me));
        // The start time of a process depends on the machine. Every third round does not wait for it.
        if round % 3 > 0 {
            until(|| names.iter().any(|me| done(me).exists()));
        }
        std::thread::sleep(Duration::from_millis(round * 7 % 83));
        for victim in &mut victims {
            victim.kill();
        }
        let log = text(memory, "/memories/log");
        assert!(log.ends_with("start\n"), "torn: {log:?}");
        for me in &names {
            let newest = numbers(&log, me);
            if let Ok(acknowledged) = fs::read_to_string(done(me)) {
                let acknowledged: u64 = acknowledged.parse().unwrap();
                assert!(acknowledged < newest, "{acknowledged} of {newest}");
                lived += 1;
            }
        }
        after(&names);
    }
    assert!(lived > rounds / 2, "the processes were killed before they did anything: {lived}");
    lived
}
