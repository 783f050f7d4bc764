//! Generates `memdir.h` from the functions of the library.
//!
//! Usage: memdir-c-header [--check]    with --check, fails if the committed header is stale

use std::error::Error;
use std::fs;
use std::path::Path;

use cbindgen::{Builder, Language, Style};

/// The rules for every caller, at the top of the header.
const RULES: &str = "/*
 * memdir: the memory directory for agents that use Claude's memory tool.
 *
 * Generated from bindings-c/src/abi.rs and bindings-c/src/host.rs by `make generate-c`.
 *
 * Rules for all functions:
 * - A text that you pass is UTF-8, ends with a NUL byte, and remains yours. The function reads it only during the call.
 * - A text that you get is UTF-8, ends with a NUL byte, and belongs to you: free it once, with memdir_free. The text of
 *   memdir_version is the exception: do not free it.
 * - A memory is a number, not a pointer. 0 means no memory. Numbers are never reused, so using a closed memory is an error
 *   and never undefined behaviour.
 * - `error` may be NULL. Otherwise every call sets it: to NULL, or to a JSON object. The object has a \"message\" and a \"kind\":
 *   \"config\", \"store\", \"cancelled\", \"refused\", \"hook\", \"history\", \"copy\", \"sync\", \"usage\" or \"internal\". An error about an
 *   option also has \"option\", an error about files \"paths\", an error about the history \"history_kind\" and \"conflicts\",
 *   and an error of a sync \"sync_kind\".
 * - Any thread may call any function at any time. The library calls only the functions of your own stores (memdir_host). No
 *   panic or exception leaves a function.
 */";

const SAFETY: &str = " *\n * # Safety\n * See the rules at the top of memdir.h.\n";

fn main() -> Result<(), Box<dyn Error>> {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut config = cbindgen::Config {
        language: Language::C,
        header: Some(RULES.to_owned()),
        include_guard: Some("MEMDIR_H".to_owned()),
        cpp_compat: true,
        style: Style::Type,
        line_length: 110,
        documentation: true,
        usize_is_size_t: true,
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        ..Default::default()
    };
    config.documentation_style = cbindgen::DocumentationStyle::Doxy;
    let mut made = Vec::new();
    Builder::new()
        .with_config(config)
        .with_src(crate_dir.join("src/host.rs"))
        .with_src(crate_dir.join("src/abi.rs"))
        .generate()?
        .write(&mut made);
    let made = String::from_utf8(made)?.replace(SAFETY, "");
    let file = crate_dir.join("include/memdir.h");
    if std::env::args().any(|argument| argument == "--check") {
        if fs::read_to_string(&file)? != made {
            return Err("bindings-c/include/memdir.h is stale: run `make generate-c`".into());
        }
    } else {
        fs::write(file, made)?;
    }
    Ok(())
}
