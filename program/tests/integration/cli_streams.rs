//! The program `memdir` and its environment: closed pipes, non-blocking pipes, terminals, kills.
#![cfg(all(unix, feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::common::program::{lines, memdir, place, run, said, well, write};
use serde_json::{Value, json};

#[test]
fn who_stops_reading_ends_it_quietly() {
    let place = place();
    let large = File::create(place.path().join("a/memories/large")).unwrap();
    large.set_len(50 << 20).unwrap();
    let mut child = memdir(place.path())
        .args(["show", "a", "/memories/large"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdout.take().unwrap();
    pipe.read_exact(&mut [0; 1000]).unwrap();
    drop(pipe);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr.as_slice()), (Some(0), &b""[..]));
    // Any other failure of the output is reported.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ended = memdir(place.path()).args(["tree", "a"]).stdout(full).output().unwrap();
    let (code, _, stderr) = said(&ended);
    assert_eq!(code, 3);
    assert!(stderr.starts_with("memdir: the output cannot be written: "), "{stderr}");
}

/// npm and other Node programs pass on such pipes.
#[test]
fn a_pipe_that_does_not_block_gets_everything() {
    let place = place();
    let content: Vec<u8> = (0..=250).cycle().take(3 << 20).collect();
    fs::write(place.path().join("a/memories/large"), &content).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    rustix::fs::fcntl_setfl(&writer, rustix::fs::OFlags::NONBLOCK).unwrap();
    let mut child =
        memdir(place.path()).args(["show", "a", "/memories/large"]).stdout(writer).spawn().unwrap();
    let mut read = Vec::new();
    let mut window = vec![0; 30_000];
    loop {
        match reader.read(&mut window).unwrap() {
            0 => break,
            some => read.write_all(&window[..some]).unwrap(),
        }
    }
    assert!(child.wait().unwrap().success());
    assert!(read == content, "{} of {} bytes", read.len(), content.len());
}

/// Runs it with a terminal as standard error. Returns the output on the terminal as well.
#[cfg(target_os = "linux")]
fn on_a_terminal(place: &Path, arguments: &[&str]) -> (Output, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap();
    let theirs = File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let child = memdir(place)
        .args(arguments)
        .env("TERM", "xterm")
        .stdout(Stdio::piped())
        .stderr(theirs)
        .spawn()
        .unwrap();
    let reader = std::thread::spawn(move || {
        let mut read = Vec::new();
        // The read ends with an error after every process has closed the other end.
        let _ = File::from(ours).read_to_end(&mut read);
        String::from_utf8_lossy(&read).into_owned()
    });
    (child.wait_with_output().unwrap(), reader.join().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_bar_is_shown_on_a_terminal_and_is_gone_at_the_end() {
    let place = place();
    for number in 0..200 {
        write(&place.path().join(format!("a/memories/many/{number}")), "content\n", 0);
    }
    let (output, terminal) =
        on_a_terminal(place.path(), &["copy", "a", "sqlite:b.db", "--durability=relaxed"]);
    assert!(output.status.success() && output.stdout.is_empty(), "{terminal}");
    assert!(terminal.contains("comparing"), "{terminal:?}");
    // The length of the bar depends on the duration of the copy.
    assert!(terminal.contains("copying ["), "{terminal:?}");
    assert!(terminal.contains(" of 204"), "{terminal:?}");
    let (_, end) = terminal.rsplit_once("\u{1b}[2K").unwrap();
    assert_eq!(
        end.trim_start_matches('\r'),
        "memdir: 204 files (3.1K) copied and compared, 0 there already\r\n"
    );
    // A pipe gets no bar, as other tests check; with --json the end is on its stream.
    let (output, terminal) =
        on_a_terminal(place.path(), &["copy", "a", "c", "--json", "--durability=relaxed"]);
    assert_eq!(lines(&String::from_utf8(output.stdout).unwrap())[0]["files"], 204);
    assert!(!terminal.contains("copied and compared"), "{terminal:?}");
}

/// A copy that is killed again and again leaves complete files, and the next one completes it.
#[test]
fn a_copy_that_is_killed_is_finished_by_the_next() {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("from/memories");
    for number in 0..200 {
        let content = format!("{number}\n").repeat(1 + number * 7 % 4000);
        write(&root.join(format!("d{}/.h/f{number}", number % 7)), &content, number as u64 * 1000);
    }
    fs::create_dir_all(root.join("x/empty")).unwrap();
    let all = |store: &str| lines(&well(place.path(), &["tree", "--all", "--json", store]));
    let expected = all("from");
    for to in ["to", "sqlite:to.db"] {
        let mut killed = 0;
        for delay in (1..500).step_by(29) {
            let mut child = memdir(place.path())
                .args(["copy", "from", to])
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(delay));
            if child.try_wait().unwrap().is_some_and(|status| status.success()) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
            // The existing files are complete. If it was killed at the very start, there may be
            // none.
            let (code, stdout, stderr) = run(place.path(), &["tree", "--all", "--json", to]);
            if code == 3 {
                assert!(stderr.contains("there is no memory"), "{stderr}");
                continue;
            }
            for found in lines(&stdout).iter().filter(|object| object["type"] == "file") {
                let same = |other: &&Value| other["path"] == found["path"];
                let original = expected.iter().find(same).unwrap();
                assert_eq!(found["size"], original["size"], "{found}");
            }
        }
        assert!(killed > 0, "{to}: no copy was killed");
        well(place.path(), &["copy", "from", to]);
        assert_eq!(all(to), expected, "{to}");
        let (code, stdout, _) = run(place.path(), &["check", to]);
        assert_eq!(code, 0, "{stdout}");
        let again = lines(&well(place.path(), &["copy", "--json", "from", to]));
        assert_eq!((&again[0]["files"], &again[0]["equal"]), (&json!(0), &json!(200)));
    }
}
