//! [`Note`]: what is kept with a change, and how a listing shows it.

/// What is kept with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Names it.
    pub id: String,
    /// What is kept.
    pub bytes: Vec<u8>,
}

/// A note in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its place in the order of transactions.
    pub number: i64,
    /// The first [`HEAD`] bytes.
    pub head: Vec<u8>,
    /// How many bytes it has.
    pub len: u64,
}

/// How many bytes of a note a listing shows.
pub const HEAD: usize = 4096;
