//! The conformance cases on every store, and the tables that all languages share against the code: one program.

mod cases;
mod fuzz_corpora;
mod hidden;
mod hostile;
mod kinds;
mod layers;
mod mounts;
mod operations;
mod options;
mod results;
mod rust;
