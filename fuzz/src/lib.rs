//! What is fuzzed: a function over bytes for each target, which panics where memdir does something else than it
//! promises.
//!
//! The programs in `fuzz_targets` give these functions to libFuzzer. The tests of the project give them the
//! committed corpora, without any fuzzer. An input is text where that is possible, so that a corpus can be
//! read; fields are separated by ASCII's own separators (0x1E between records, 0x1F between units).

mod addresses;
mod edits;
mod encrypted;
mod input;
mod model;
mod paths;
mod patterns;
mod sensitive;
mod sessions;
mod tree;

pub use addresses::addresses;
pub use edits::edits;
pub use encrypted::encrypted;
pub use input::input;
pub use paths::paths;
pub use patterns::patterns;
pub use sensitive::sensitive;
pub use sessions::sessions;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets, with the names of their programs and of the directories of their corpora.
pub const TARGETS: [(&str, Target); 8] = [
    ("input", input),
    ("paths", paths),
    ("patterns", patterns),
    ("edits", edits),
    ("encrypted", encrypted),
    ("addresses", addresses),
    ("sensitive", sensitive),
    ("sessions", sessions),
];

/// Stands between the records of an input.
const RECORD: char = '\u{1e}';
/// Stands between the units of a record.
const UNIT: char = '\u{1f}';
