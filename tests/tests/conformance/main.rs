//! The conformance cases on every store, and the tables that all languages share compared with the code. They
//! are one program.

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
