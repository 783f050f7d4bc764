//! [`Note`]: data that is stored with a change, and its form in a listing.

/// Data that is stored with a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The id of the note.
    pub id: String,
    /// The content.
    pub bytes: Vec<u8>,
}

/// A note in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its position in the order of transactions.
    pub number: i64,
    /// The first [`HEAD`] bytes.
    pub head: Vec<u8>,
    /// The size of the whole note, in bytes.
    pub len: u64,
}

/// The size limit of [`Listed::head`], in bytes.
pub const HEAD: usize = 4096;
