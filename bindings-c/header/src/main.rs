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
 * Made from bindings-c/src/abi.rs by `make generate-c`.
 *
 * The rules, for all functions:
 * - A text that you hand over is UTF-8, ends with a NUL byte, and stays yours. It is read during the call only.
 * - A text that you get is UTF-8, ends with a NUL byte, and is yours: free it once, with memdir_free and nothing else.
 *   memdir_version is the exception.
 * - A memory is a number and not a pointer. 0 is none. A number is never used again, so a memory that is closed twice
 *   or used after it was closed is an error and no accident.
 * - `error` may be NULL. Otherwise it is set in every call: to NULL, or to a JSON object with \"kind\" (\"config\",
 *   \"store\", \"cancelled\", \"refused\", \"hook\", \"history\", \"copy\", \"usage\", \"internal\"), \"message\", for an option that is wrong
 *   \"option\", and for a call about the history \"history_kind\" and \"paths\".
 * - Any thread may call any function at any time. Nothing of yours is called but the store that you gave (memdir_host), and
 *   no panic or exception leaves a function.
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
