//! The build profile of the native half. `bindings-node/scripts/pack.mjs` rejects a debug build.

/// `pack.mjs` searches the file for these bytes: it also packs binaries for other machines, which it cannot load.
const MARK: &str = if cfg!(debug_assertions) {
    "memdir-build-profile=debug;"
} else {
    "memdir-build-profile=release;"
};

/// The build profile of the native half: `debug` or `release`.
#[cfg_attr(not(target_family = "wasm"), napi_derive::napi)]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
pub(crate) fn build_profile() -> String {
    // Without the black box the optimiser may keep only parts of the text.
    let mark = std::hint::black_box(MARK);
    mark.trim_start_matches("memdir-build-profile=").trim_end_matches(';').to_owned()
}
