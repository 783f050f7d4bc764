//! `memdir import` of tar files: those of other programs, hostile ones, and archives of `memdir export`.
#![cfg(all(unix, feature = "encryption", feature = "sqlite"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::fs;
use std::os::unix::fs::symlink;

use crate::common::import::{files, notes, of_type, tar};
use crate::common::program::{lines, run, well};

#[test]
fn a_tar_file_of_another_program_is_imported() {
    let place = notes();
    let place = place.path();
    symlink("/etc/passwd", place.join("notes/link")).unwrap();
    fs::hard_link(place.join("notes/CLAUDE.md"), place.join("notes/hard.md")).unwrap();
    let long = format!("notes/{}.md", "n".repeat(180));
    fs::write(place.join(&long), "long\n").unwrap();
    for format in ["gnu", "pax"] {
        if !tar(place, &["-c", "-H", format, "-f", "n.tar", "-C", "notes", "--sort=name", "."]) {
            return;
        }
        let (code, stdout, stderr) =
            run(place, &["import", "n.tar", format, "--to", "/memories/x"]);
        assert_eq!(code, 1, "{stderr}");
        assert_eq!(stderr.matches("is a symbolic link").count(), 1, "{stderr}");
        assert!(stdout.contains("6 files"), "{stdout}");
        let hard = well(place, &["show", format, "/memories/x/hard.md"]);
        assert_eq!(hard, well(place, &["show", format, "/memories/x/CLAUDE.md"]));
        assert_eq!(well(place, &["show", format, "/memories/x/drinks/été.txt"]), "iced\n");
        assert_eq!(
            well(place, &["show", format, &format!("/memories/x/{}", &long[6..])]),
            "long\n"
        );
        fs::remove_dir_all(place.join(format)).unwrap();
    }
    // A truncated file is not imported in part.
    let whole = fs::read(place.join("n.tar")).unwrap();
    for len in (0..whole.len() - 10 * 1024).step_by(512).chain([whole.len() / 2 + 77]) {
        fs::write(place.join("cut.tar"), &whole[..len]).unwrap();
        let (code, stdout, stderr) = run(place, &["import", "cut.tar", "m"]);
        let is_end = whole[len..].iter().all(|byte| *byte == 0);
        assert!(
            code == 1 && stdout.is_empty() && stderr.starts_with("memdir: cut.tar: ") || is_end,
            "{len} {stderr}"
        );
        assert!(!place.join("m").exists() || is_end);
    }
    assert!(tar(place, &["-czf", "n.tar.gz", "notes"]));
    let (code, _, stderr) = run(place, &["import", "n.tar.gz", "m"]);
    assert_eq!(
        (code, stderr.as_str()),
        (1, "memdir: n.tar.gz is compressed (gzip): decompress it first\n")
    );
}

/// It would be imported as plain files, without its history.
#[test]
fn an_archive_to_which_something_was_added_is_refused() {
    let place = notes();
    let place = place.path();
    well(place, &["import", "notes", "m", "--history"]);
    well(place, &["export", "m", "e.tar"]);
    if !tar(place, &["-rf", "e.tar", "-C", "notes", "CLAUDE.md"]) {
        return;
    }
    let (code, stdout, stderr) = run(place, &["import", "e.tar", "new"]);
    assert_eq!((code, stdout.as_str()), (1, ""), "{stderr}");
    assert!(stderr.contains("CLAUDE.md"), "{stderr}");
    assert!(!place.join("new").exists());
}

/// A tar file with entries of these names and types. No program creates some of them.
fn tar_of(names: &[(&str, u8)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, kind) in names {
        let content: &[u8] = if *kind == b'0' { b"text\n" } else { b"" };
        let mut header = [0_u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[148..156].copy_from_slice(b"        ");
        header[156] = *kind;
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        bytes.extend(header);
        bytes.extend(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}

#[test]
fn names_of_a_tar_file_lead_nowhere_else() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let names = [
        ("../outside.md", b'0'),
        ("a/../../outside.md", b'0'),
        ("/etc/absolute.md", b'0'),
        ("%2e%2e/x.md", b'0'),
        ("a\\b.md", b'0'),
        ("a\x1b[2J.md", b'0'),
        (".memdir-encryption", b'0'),
        ("./here\\.md", b'0'),
        ("fifo", b'6'),
        ("device", b'3'),
        ("link", b'2'),
        ("good/./a.md", b'0'),
        ("twice.md", b'0'),
        ("twice.md", b'0'),
    ];
    fs::write(place.join("odd"), tar_of(&names)).unwrap();
    let (code, stdout, stderr) = run(place, &["import", "odd", "m", "--all", "--json"]);
    assert_eq!((code, stderr.as_str()), (1, ""));
    let objects = lines(&stdout);
    let left: Vec<_> = of_type(&objects, "left-out")
        .iter()
        .map(|it| (it["path"].as_str().unwrap(), it["kind"].as_str().unwrap()))
        .collect();
    for expected in [
        ("twice.md", "replaced"),
        // The same as for the names in a directory.
        ("a\\\\b.md", "bad-name"),
        ("a\\u{1b}[2J.md", "bad-name"),
        ("here\\\\.md", "bad-name"),
    ] {
        assert!(left.contains(&expected), "{left:?}");
    }
    assert_eq!(left.len(), 12, "{stdout}");
    assert!(!stdout.contains('\x1b'));
    assert_eq!(files(place, "m"), ["/memories/good/a.md", "/memories/twice.md"]);
    fs::write(place.join("both.tar"), tar_of(&[("a", b'0'), ("a/b", b'0')])).unwrap();
    let (code, _, stderr) = run(place, &["import", "both.tar", "n"]);
    assert_eq!(
        (code, stderr.as_str()),
        (1, "memdir: both.tar: a is both a file and a directory\n")
    );
    for (name, content) in [("none.tar", tar_of(&[])), ("zip.tar", b"PK\x03\x04".repeat(200))] {
        fs::write(place.join(name), content).unwrap();
        let (code, stdout, stderr) = run(place, &["import", name, "n"]);
        assert!(code == 1 && stdout.is_empty() && stderr.contains(name), "{stderr}");
    }
    assert!(!place.join("n").exists());
}

#[test]
fn an_archive_is_brought_as_it_is_unless_its_files_alone_are_asked_for() {
    let place = notes();
    let place = place.path();
    well(place, &["import", "notes", "m", "--history"]);
    well(place, &["export", "m", "m.tar"]);
    for flags in [
        &["--max-file-bytes", "10"][..],
        &["--to", "/memories/x"],
        &["--as", "Ann"],
        &["--history"],
    ] {
        let (code, _, stderr) = run(place, &[&["import", "m.tar", "n"], flags].concat());
        assert_eq!((code, stderr.contains("--without-history")), (2, true), "{flags:?} {stderr}");
        assert!(!place.join("n").exists());
    }
    let limited = ["import", "m.tar", "n", "--without-history", "--max-file-bytes", "10"];
    let (code, _, stderr) = run(place, &limited);
    assert!(code == 1 && stderr.contains("left out: CLAUDE.md has 18 bytes"), "{stderr}");
    assert_eq!(files(place, "n").len(), 3);
    well(place, &["import", "m.tar", "o", "--durability", "relaxed"]);
    assert_eq!(well(place, &["log", "o"]), well(place, &["log", "m"]));
}

/// Its files would be imported like any others, and its history would be lost.
#[test]
fn an_archive_that_was_packed_again_or_unpacked_is_refused() {
    let place = notes();
    let place = place.path();
    well(place, &["import", "notes", "m", "--history"]);
    well(place, &["export", "m", "e.tar"]);
    fs::create_dir_all(place.join("deep/x")).unwrap();
    if !tar(place, &["-xf", "e.tar", "-C", "deep/x"]) {
        return;
    }
    assert!(tar(place, &["-cf", "again.tar", "deep/x"]));
    assert!(tar(place, &["-cf", "x.tar", "-C", "deep", "x"]));
    for source in ["again.tar", "x.tar", "deep", "deep/x"] {
        let (code, stdout, stderr) = run(place, &["import", source, "new"]);
        assert_eq!((code, stdout.as_str()), (1, ""), "{source} {stderr}");
        assert!(stderr.contains("are those of an archive of `memdir export`"), "{stderr}");
        assert!(!place.join("new").exists());
    }
    // An option imports only the files. A file that merely has the name of a manifest is an ordinary file.
    run(place, &["import", "deep", "new", "--without-history"]);
    assert!(files(place, "new").contains(&"/memories/x/memories/CLAUDE.md".to_owned()));
    fs::write(place.join("notes/manifest.jsonl"), "{\"format\":\"mine\"}\n").unwrap();
    well(place, &["import", "notes", "other"]);
}

#[test]
fn a_long_name_of_a_tar_file_is_cut_and_a_malformed_record_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path();
    let pax = |record: &[u8]| {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::XHeader);
        header.set_size(record.len() as u64);
        header.set_path("PaxHeaders/x").unwrap();
        header.set_cksum();
        builder.append(&header, record).unwrap();
        let mut header = tar::Header::new_ustar();
        header.set_size(5);
        header.set_path("plain.md").unwrap();
        header.set_cksum();
        builder.append(&header, &b"text\n"[..]).unwrap();
        builder.into_inner().unwrap()
    };
    let name = "n".repeat(1_000_000);
    // The length includes itself, the space and the line break.
    let record = format!("{} path={name}\n", name.len() + 14);
    fs::write(place.join("long.tar"), pax(record.as_bytes())).unwrap();
    let (code, _, stderr) = run(place, &["import", "long.tar", "m"]);
    assert!(code == 1 && stderr.contains("nnn… has a name that no path can hold"), "{stderr:.200}");
    assert!(stderr.len() < 2_000, "{}", stderr.len());
    for record in ["99 path=other.md\n", "x path=other.md\n", "12 no equals\n"] {
        fs::write(place.join("bad.tar"), pax(record.as_bytes())).unwrap();
        let (code, stdout, stderr) = run(place, &["import", "bad.tar", "m"]);
        assert_eq!((code, stdout.as_str()), (1, ""), "{record} {stderr}");
        assert!(stderr.contains("this is no tar file, or is damaged"), "{record} {stderr}");
    }
}
