//! The web page of `memdir serve`: shows what an agent remembers, who changed it and when, and undoes changes.
//!
//! It uses only the public methods of [`Memory`](memdir::Memory), because other developers need the same methods. HTML is rendered
//! on the server, so the page works and can be tested without a script. The script only adds functions that a page cannot have
//! by itself, such as following changes.
//!
//! How a request is processed:
//!
//! ```text
//!  a connection from this machine
//!    ▼  server    hyper, and the router                              server.rs
//!    ▼  guard     accepts only the user's own browser                guard.rs, secret.rs
//!    ▼  routes    selects the page                                   routes.rs
//!    ▼  pages     one file for each page: reads the memory           pages/<page>.rs
//!    ▲  html      the parts of a page                                html/<part>.rs
//! ```
//!
//! A memory is written by a model, and may contain any text. So no content becomes markup: [`html`] escapes it, Markdown is
//! rendered without its HTML and then sanitized ([`html::markdown`]), and the browser may run and load only
//! the two files of `assets/`.

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
