//! The frame of every page: its head, its sidebar and its foot.

use maud::{DOCTYPE, Markup, html};

use super::{MAX_QUESTION, link, shown};
use crate::page::site::{Room, Site};

/// The frame around the content of a page.
pub(in crate::page) struct Frame<'a> {
    pub(in crate::page) site: &'a Site,
    pub(in crate::page) room: &'a Room,
    pub(in crate::page) title: &'a str,
    /// The name of this page in the head.
    pub(in crate::page) here: &'a str,
    /// The search text.
    pub(in crate::page) query: &'a str,
    /// The files, in the sidebar.
    pub(in crate::page) tree: Markup,
}

impl Frame<'_> {
    pub(in crate::page) fn around(self, content: &Markup) -> Markup {
        let room = self.room.number;
        let places = [
            ("", "Overview"),
            ("file", "Files"),
            ("history", "Timeline"),
            ("sensitive", "Sensitive"),
            ("sync", "Sync"),
        ];
        document(
            self.title,
            &html! {
                body data-memory=(room) data-store=(self.room.shown.identity) data-here=(self.here) {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        button #tree-toggle type="button" hidden aria-controls="tree" { "Files" }
                        a.brand href="/" aria-label="memdir" { (logo()) span { "memdir" } }
                        (memories(self.site, self.room))
                        form.search role="search" action=(link(room, "search", &[])) {
                            input #query type="search" name="q" value=(self.query) placeholder="Search  /"
                                aria-label="Search names and contents" autocomplete="off" spellcheck="false"
                                maxlength=(MAX_QUESTION);
                            // The script shows the best files here while the user types.
                            div #best { p role="status" {} div {} }
                        }
                        nav.places aria-label="Pages" {
                            @for (page, name) in places {
                                a href=(link(room, page, &[])) aria-current=[(page == self.here).then_some("page")] {
                                    (name)
                                }
                            }
                        }
                        span #live role="status" title="Whether this page shows changes as they happen" { "not live" }
                        button #theme type="button" hidden title="Dark or light colours" aria-label="Dark or light colours" { "◐" }
                        button #keys type="button" hidden title="Keys" aria-label="Keys" { "?" }
                    }
                    div #trouble .warning role="alert" hidden {
                        p {} button type="button" { "Try again" }
                    }
                    div #drafts role="status" hidden {}
                    div.columns {
                        nav #tree aria-label="Files" { (self.tree) }
                        main #main tabindex="-1" { (content) }
                    }
                    (keys())
                }
            },
        )
    }
}

/// The name of this memory, and links to the others.
fn memories(site: &Site, room: &Room) -> Markup {
    let rooms = site.rooms();
    html! {
        @if let [_] = rooms {
            span.memory { (shown(&room.shown.name)) (read_only(room)) }
        } @else {
            nav.memories aria-label="Memories" {
                @for other in rooms {
                    a.memory href=(link(other.number, "", &[]))
                        aria-current=[(other.number == room.number).then_some("true")] {
                        (shown(&other.shown.name)) (read_only(other))
                    }
                }
            }
        }
    }
}

fn read_only(room: &Room) -> Markup {
    html! { @if room.shown.is_read_only { span.tag { "read-only" } } }
}

/// The list of keyboard shortcuts, which the script shows.
fn keys() -> Markup {
    let keys = [
        ("/", "search; the arrows go through the results, Escape leaves"),
        ("j  k", "the next and the previous entry of a list"),
        ("Enter", "open it"),
        ("o", "show or hide what it changed"),
        ("t", "go to the list of files"),
        ("h", "the timeline of this file"),
        ("e", "edit the file"),
        ("n", "a new file"),
        ("1  2  e", "on the page of a conflict: keep the file, keep the copy, merge both"),
        ("g", "the overview"),
        ("Ctrl+S", "save, in the editor"),
        ("?", "this"),
    ];
    html! {
        dialog #key-list aria-label="Keys" {
            h2 { "Keys" }
            dl { @for (key, does) in keys { dt { kbd { (key) } } dd { (does) } } }
            form method="dialog" { button { "Close" } }
        }
    }
}

fn document(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (super::odd::spelled(title)) " · memdir" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/page.css";
                script src="/assets/page.js" defer {}
            }
            (body)
        }
    }
}

/// A page with a single message, for a request that is not allowed or an address that does not exist.
pub(in crate::page) fn message(title: &str, sentence: &str) -> Markup {
    document(
        title,
        &html! {
            body.alone {
                main #main {
                    (logo())
                    h1 { (title) }
                    p { (shown(sentence)) }
                    p { a href="/" { "To the overview" } }
                }
            }
        },
    )
}

/// The page at the address with the secret, which redirects to an address without it.
pub(in crate::page) fn entrance() -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content="0; url=/";
                title { "memdir" }
                link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
            }
            body { p { a href="/" { "To the memory" } } }
        }
    }
}

fn logo() -> Markup {
    html! {
        svg.logo viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" {
            path d="M3 6a2 2 0 0 1 2-2h5l2 2.5h7a2 2 0 0 1 2 2V18a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z" {}
            path.line d="M7.5 12h9M7.5 15.5h5.5" {}
        }
    }
}
