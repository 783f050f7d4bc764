//! The page that `memdir serve` shows: what an agent remembers, who changed it and when, and how it is taken back.
//!
//! It is a user of [`Memory`](memdir::Memory) like any other, and calls its public methods only: what the page needs, developers need,
//! too. HTML is made here and not in the browser, so that it works without a script and can be tested without one; the
//! script only adds what a page cannot do by itself, such as to follow changes.
//!
//! The way of a request:
//!
//! ```text
//!  a connection from this machine
//!    ▼  server    hyper, and the router                              server.rs
//!    ▼  guard     the user's own browser, or nothing is answered     guard.rs, secret.rs
//!    ▼  routes    which page it is                                   routes.rs
//!    ▼  pages     one file for each: asks the memory                 pages/<page>.rs
//!    ▲  html      the parts of a page                                html/<part>.rs
//! ```
//!
//! A memory is written by a model, and may hold anything. So no content becomes markup: [`html`] escapes it, Markdown is
//! rendered without its HTML and then cleaned ([`html::markdown`]), and the browser is told to run and to load nothing
//! but the two files of `assets/`.

mod answer;
mod follow;
mod guard;
mod html;
mod live;
mod pages;
mod params;
mod routes;
mod secret;
mod server;
mod site;

pub(crate) use server::serve;
pub(crate) use site::{Shown, Site};
