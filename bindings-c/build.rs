//! The name under which applications that are linked against the library look for it: with the version of its
//! interface.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let part = |name| env::var(name).unwrap_or_default();
    let (major, minor) = (part("CARGO_PKG_VERSION_MAJOR"), part("CARGO_PKG_VERSION_MINOR"));
    // Before 1.0 each minor version may change the interface.
    let version = if major == "0" { format!("0.{minor}") } else { major };
    match part("CARGO_CFG_TARGET_OS").as_str() {
        "macos" => {
            println!(
                "cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libmemdir_c.{version}.dylib"
            );
        }
        "linux" | "freebsd" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmemdir_c.so.{version}");
        }
        _ => {}
    }
}
