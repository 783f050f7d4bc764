//! The number of this process.

/// Distinguishes this process from the processes that it was forked from.
pub fn id() -> u32 {
    // A WebAssembly program is one process, and a request for its id would abort it.
    if cfg!(target_family = "wasm") { 0 } else { std::process::id() }
}
