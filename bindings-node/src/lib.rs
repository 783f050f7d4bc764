//! The Node binding: JavaScript values on one side, the core on the other, and no decision of its
//! own in between.
//!
//! A call is decoded on JavaScript's thread ([`input`]), executed on a thread of ours ([`work`]),
//! and answered through a promise ([`answer`]), so that the event loop never waits for a disk.
//! What a JavaScript developer sees is written in TypeScript, in `ts/`, on top of the classes here.

mod answer;
mod input;
mod memory;
mod work;
