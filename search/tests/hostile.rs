//! Texts that are made to be expensive: memory is in proportion to their length.
//!
//! The allocator counts, so this is a program of its own.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use memdir_search::{Index, Options, Query};

struct Counting;

thread_local! {
    /// The bytes that this thread has allocated, and the most at one time.
    static NOW: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(change: isize) {
    let _ = NOW.try_with(|cell| {
        let (now, most) = cell.get();
        cell.set((now + change, most.max(now + change)));
    });
}

// SAFETY: every call goes to the system's allocator, and a `Cell` of this thread counts without allocating.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the rules of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-layout.size().cast_signed());
        // SAFETY: the caller keeps the rules of this call.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The bytes that `made` holds, the most while it is made, and itself.
fn counted<T>(make: impl FnOnce() -> T) -> (usize, usize, T) {
    let (before, _) = NOW.get();
    NOW.set((before, before));
    let made = make();
    let (now, most) = NOW.get();
    ((now - before).max(0).cast_unsigned(), (most - before).cast_unsigned(), made)
}

fn index_of(text: &[u8]) -> Index {
    let mut index = Index::new(Options::default());
    index.put("file.md", text, None).unwrap();
    index
}

/// Generates a text of about a number of bytes.
type Shape = (&'static str, fn(usize) -> Vec<u8>);

const SHAPES: &[Shape] = &[
    ("one line without spaces", |size| b"x".repeat(size)),
    ("one line of words", |size| b"word and tea ".repeat(size / 13)),
    ("headings", |size| b"# a\n".repeat(size / 4)),
    ("nested headings", |size| {
        b"# a b c d e f\n## g h i j k l\n### m n o p q r\ns\n".repeat(size / 49)
    }),
    ("items", |size| b"- a\n".repeat(size / 4)),
    ("empty items", |size| b"-\n".repeat(size / 2)),
    ("empty lines", |size| b"a\n\n".repeat(size / 3)),
    ("fences", |size| b"```\n".repeat(size / 4)),
    ("distinct words", |size| {
        (0..size / 8).flat_map(|at| format!("w{at:06x} ").into_bytes()).collect()
    }),
    ("distinct letters", |size| {
        (0..size / 8)
            .flat_map(|at| {
                let letters =
                    (0..7).map(|place| b'a' + u8::try_from(at / 26_usize.pow(place) % 26).unwrap());
                letters.chain([b' ']).collect::<Vec<u8>>()
            })
            .collect()
    }),
    ("identifiers", |size| b"aB".repeat(size / 2)),
    ("joined words", |size| b"a.b@c-d/e_".repeat(size / 10)),
    ("apostrophes", |size| b"l'a'".repeat(size / 4)),
    ("numbers", |size| b"2024-03-17 ".repeat(size / 11)),
    ("Chinese", |size| "会议在北京举行".as_bytes().repeat(size / 21)),
    ("Thai", |size| "สวัสดี".as_bytes().repeat(size / 18)),
    ("marks", |size| ["a".as_bytes(), &"\u{301}".as_bytes().repeat(size / 2)].concat()),
    ("ligatures", |size| "\u{fdfa}".as_bytes().repeat(size / 3)),
    ("flags", |size| "🇩🇪".as_bytes().repeat(size / 8)),
    ("not UTF-8", |size| b"tea \xff".repeat(size / 5)),
    ("zeros", |size| vec![0; size]),
    ("indents", |size| b"    - a\n".repeat(size / 8)),
];

/// Makes the tables that all indexes share: who first needs one makes it, and they belong to no index.
fn make_shared_tables() {
    for (_, shape) in SHAPES {
        index_of(&shape(200)).search(&Query::parse("tea word \"a a\" -zzz 会议"), 1);
    }
}

#[test]
fn the_memory_of_a_hostile_text_is_in_proportion_to_its_length() {
    make_shared_tables();
    const SMALL: usize = 20_000;
    for (name, shape) in SHAPES {
        let measure = |size: usize| {
            let text = shape(size);
            let (held, most, index) = counted(|| index_of(&text));
            // The longest distinct words are the worst: each has an entry, and a place in the table.
            assert!(held <= 20 * size + 4_000, "{name}: {held} bytes for {size}");
            assert!(most <= 32 * size + 20_000, "{name}: {most} bytes at one time for {size}");
            let estimated = index.memory();
            let near = held.abs_diff(estimated) <= held / 5 + 4_000;
            assert!(near, "{name}: {held} bytes, estimated as {estimated}");
            let (_, while_searching, hits) =
                counted(|| index.search(&Query::parse("tea word \"a a\" -zzz 会议"), 10));
            drop(hits);
            assert!(
                while_searching <= 40 * size + 100_000,
                "{name}: {while_searching} bytes for a search"
            );
            held
        };
        let (small, large) = (measure(SMALL), measure(4 * SMALL));
        assert!(large <= 6 * small + 10_000, "{name}: {small} bytes, then {large}");
    }
}

#[test]
fn a_removed_text_leaves_no_memory() {
    make_shared_tables();
    let mut index = Index::new(Options::default());
    index.put("kept.md", "tea", None).unwrap();
    let round = |index: &mut Index| {
        for at in 0..300 {
            index
                .put(
                    "file.md",
                    format!(
                        "# {at}\n\n{}",
                        format!("- item{at} with tea and some words\n\n").repeat(40)
                    ),
                    None,
                )
                .unwrap();
        }
        index.remove("file.md");
    };
    round(&mut index);
    let (held, _, ()) = counted(|| (0..3).for_each(|_| round(&mut index)));
    assert!(held <= 600_000, "{held} bytes");
}

#[test]
fn a_limit_is_kept() {
    make_shared_tables();
    for (name, shape) in SHAPES {
        let limit = 300_000;
        let text = shape(250_000);
        let (held, most, result) = counted(|| {
            let mut index = Index::new(Options::default().max_bytes(limit));
            index.put("small.md", "tea", None).unwrap();
            let result = index.put("large.md", &text, None);
            (index, result)
        });
        let (index, result) = result;
        assert!(index.memory() <= limit && held <= limit * 5 / 4, "{name}: {held} bytes");
        // A buffer doubles, and the text is copied.
        assert!(most <= 4 * limit, "{name}: {most} bytes at one time");
        assert_eq!(index.len(), if result.is_ok() { 2 } else { 1 }, "{name}");
        assert_eq!(index.search(&Query::parse("path:large"), 1).is_empty(), result.is_err());
        assert_eq!(
            index
                .search(&Query::parse("tea"), 10)
                .iter()
                .filter(|hit| hit.path == "small.md")
                .count(),
            1
        );
    }
}
