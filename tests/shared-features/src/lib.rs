//! Empty: this crate is only its `Cargo.toml`, which describes its purpose.
