//! The fuzz targets: each is a function over bytes, which panics if memdir violates a promise.
//!
//! The programs in `fuzz_targets` pass these functions to libFuzzer. The project's tests run them on the
//! committed corpora, without a fuzzer. Inputs are text where possible, so a corpus can be read; fields are
//! separated by ASCII's own separators (0x1E between records, 0x1F between units).

mod addresses;
mod edits;
mod encrypted;
mod input;
mod model;
mod paths;
mod patterns;
mod search;
mod sensitive;
mod sessions;
mod tree;

pub use addresses::addresses;
pub use edits::edits;
pub use encrypted::encrypted;
pub use input::input;
pub use paths::paths;
pub use patterns::patterns;
pub use search::search;
pub use sensitive::sensitive;
pub use sessions::sessions;

/// A fuzz target.
pub type Target = fn(&[u8]);

/// All targets, with the names of their programs and of the directories of their corpora.
pub const TARGETS: [(&str, Target); 9] = [
    ("input", input),
    ("paths", paths),
    ("patterns", patterns),
    ("edits", edits),
    ("encrypted", encrypted),
    ("addresses", addresses),
    ("sensitive", sensitive),
    ("search", search),
    ("sessions", sessions),
];

/// Separates the records of an input.
const RECORD: char = '\u{1e}';
/// Separates the units of a record.
const UNIT: char = '\u{1f}';
