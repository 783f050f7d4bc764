//! The number of this process.

/// Tells this process from those that it is forked from.
pub fn id() -> u32 {
    // A WebAssembly program is one process, and asking for its number ends it.
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}
