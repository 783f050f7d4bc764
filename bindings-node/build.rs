//! Tells the linker what a Node addon needs on each platform.

fn main() {
    napi_build::setup();
}
