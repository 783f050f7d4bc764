//! Nothing: this crate is its `Cargo.toml`, which says what it is for.
