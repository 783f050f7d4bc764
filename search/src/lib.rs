//! A ranked search over the files of a memory: notes in many languages, in many forms.
//!
//! [`Index`] holds the texts in memory, [`Query`] is a question, and [`Hit`] is a file that answers it, with its best passages. This crate does
//! no I/O. The caller gives texts with their paths, and saves the index with [`Index::to_bytes`] if it wants to.
//!
//! ```
//! use memdir_search::{Index, Options, Query};
//!
//! let mut index = Index::new(Options::default());
//! index.put("/memories/people.md", "# People\n\n- Anna prefers green tea.\n- Ben prefers espresso.\n", None)?;
//! index.put("/memories/tea.md", "# Tea\n\nTea is kept in the kitchen.\n", None)?;
//!
//! let hits = index.search(&Query::parse("Which tea was preferred by Anna?"), 10);
//! assert_eq!(hits[0].path, "/memories/people.md");
//! let best = &hits[0].passages[0];
//! assert_eq!((best.first_line, best.last_line), (1, 4));
//! let found: Vec<&str> = best.matches.iter().map(|range| &best.text[range.clone()]).collect();
//! assert_eq!(found, ["Anna", "prefers", "tea", "prefers"]);
//! # Ok::<(), memdir_search::IndexFull>(())
//! ```
//!
//! The way of a text: `passages.rs` cuts it into passages, `pieces.rs` these into words, identifiers and pairs of characters, `terms.rs` makes
//! the terms of them, `drafts.rs` remembers the terms of each word, and `vocabulary.rs` keeps for each term the passages that have it. `batch.rs` does that
//! for many files on several threads. The way of a query: `plan.rs` makes terms
//! of its words, `matching.rs` sums up scores by the formulas of `rank.rs`, and `search.rs` reads the best passages.
//!
//! The [README](https://github.com/memdir/memdir/blob/main/search/README.md) lists the rules of the ranking, each with a case.

mod arithmetic;
mod batch;
mod bytes;
mod dates;
mod drafts;
mod error;
mod fold;
mod hashing;
mod hit;
mod identifier;
mod index;
mod joined;
mod language;
mod matching;
mod near;
mod options;
mod passages;
mod phrase;
mod pieces;
mod plan;
mod postings;
mod query;
mod rank;
mod scripts;
mod search;
mod stop;
mod terms;
mod vocabulary;

pub use batch::NewFile;
pub use error::{IndexFull, InvalidIndex};
pub use hit::{Hit, Passage};
pub use index::Index;
pub use joined::RankedPassage;
pub use language::Language;
pub use options::{Options, Recency};
pub use query::Query;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
