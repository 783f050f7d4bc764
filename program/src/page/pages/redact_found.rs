//! A text that was found, in a search or by the rules for sensitive text, is redacted in all versions that hold it.
//!
//! The text of a finding is in no address: that names the file, the line and the rule. The form carries the ids of the
//! versions that the person saw.

use std::collections::HashSet;

use maud::{Markup, html};

use super::searched::Searched;
use super::{Question, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{content_name, hidden, link, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::history::{HistoryId, Version};
use memdir::path::MemoryPath;
use memdir::policy::sensitive;
use memdir::text::{excerpt, line_at};

/// How many versions, and how many of their lines, are shown.
const SHOWN_VERSIONS: usize = 50;
const SHOWN_LINES: usize = 5;

/// What is looked for in a text: its places.
type Finder<'f> = dyn Fn(&str) -> Vec<std::ops::Range<usize>> + 'f;

/// The versions whose contents hold a text, newest first.
#[derive(Default)]
struct Found {
    /// Those that no file holds now.
    past: Vec<Version>,
    /// The paths of the files that hold it now.
    files: Vec<MemoryPath>,
    /// Lines that have it, each once.
    lines: Vec<String>,
}

/// Whether an address asks for all versions with a text, and not for one version.
pub(super) fn is_asked(params: &Params) -> bool {
    given(&params.id).is_none() && (given(&params.q).is_some() || given(&params.rule).is_some())
}

/// The address that asks for the versions with what the rule finds in a line.
pub(super) fn address(room: &Room, path: &MemoryPath, line: u64, rule: &str) -> String {
    let line = line.to_string();
    link(room.number, "redact", &[("path", path.as_str()), ("from", &line), ("rule", rule)])
}

pub(super) fn ask(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let found = match given(&params.rule) {
        Some(rule) => {
            let texts = texts_of(room, &path, params.from(), rule)?;
            let find = |text: &str| {
                let found = texts.iter().filter_map(|secret| {
                    let at = text.find(secret.as_str())?;
                    Some(at..at + secret.len())
                });
                found.collect()
            };
            // The secret may be in any file.
            look(room, &MemoryPath::root(), &find)?
        }
        None => {
            let searched = Searched::new(params)?;
            let Some(query) = searched.query() else {
                return Err(Refusal::wrong("Say what to look for."));
            };
            look(room, &path, &|text| in_lines(text, &|line| query.find(line)))?
        }
    };
    let content = if found.past.is_empty() {
        html! {
            header.page-head { h1 { "Nothing to redact" } }
            p { "No version that is not a file's content now has this text." }
            (files(room, &found))
        }
    } else {
        question(site, room, &path, &found)
    };
    Ok(Done::Page(framed((site, room, params), "Redact", "history", &path, &content)?))
}

pub(super) fn redact(room: &Room, ids: &str, reason: &str) -> PageAnswer {
    let ids = ids.split(',').map(str::parse::<HistoryId>);
    let ids: Result<Vec<HistoryId>, _> = ids.collect();
    let ids = ids.map_err(|_| Refusal::wrong("The form is not one of this page's."))?;
    let mut word = "nothing";
    for id in ids {
        // Of versions with the same content, the first takes it from all.
        if room.memory().redact(id, reason)?.is_some() {
            word = "redacted";
        }
    }
    Ok(Done::See(link(room.number, "history", &[("done", word)])))
}

/// The texts that a rule finds in a line of a file.
fn texts_of(
    room: &Room,
    path: &MemoryPath,
    line: usize,
    rule: &str,
) -> Result<Vec<String>, Refusal> {
    let memory = room.memory();
    let text = memory.read(path.as_str())?;
    let found = sensitive::find(&text, &memory.options().sensitive_rules);
    let is_it = |found: &&sensitive::Finding<'_>| {
        let at = line_at(text.as_bytes(), found.range.start);
        found.rule == rule && usize::try_from(at) == Ok(line)
    };
    let texts: Vec<String> =
        found.iter().filter(is_it).map(|found| text[found.range.clone()].to_owned()).collect();
    if texts.is_empty() {
        return Err(Refusal::not_found("The file was changed: look at what the rules find now."));
    }
    Ok(texts)
}

/// The first place in each line.
fn in_lines(
    text: &str,
    find: &dyn Fn(&str) -> Option<std::ops::Range<usize>>,
) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    let mut places = Vec::new();
    for line in text.split_inclusive('\n') {
        let here = line.trim_end_matches(['\n', '\r']);
        places.extend(find(here).map(|at| start + at.start..start + at.end));
        start += line.len();
    }
    places
}

fn look(room: &Room, path: &MemoryPath, find: &Finder<'_>) -> Result<Found, Refusal> {
    let snapshot = room.memory().history_snapshot()?;
    let current: HashSet<String> = snapshot
        .listed(&MemoryPath::root())
        .filter(|listed| listed.version.is_current)
        .filter_map(|listed| listed.version.sha256)
        .collect();
    let mut found = Found::default();
    for listed in snapshot.listed(path) {
        let Some(content) = snapshot.left_by(&listed)? else { continue };
        let text = String::from_utf8_lossy(&content);
        let places = find(&text);
        if places.is_empty() {
            continue;
        }
        for place in places {
            let line = line_around(&text, place);
            if found.lines.len() < SHOWN_LINES && !found.lines.contains(&line) {
                found.lines.push(line);
            }
        }
        let version = listed.version;
        if version.sha256.as_ref().is_some_and(|sha256| !current.contains(sha256)) {
            found.past.push(version);
        } else if !found.files.contains(&version.path) {
            found.files.push(version.path);
        }
    }
    Ok(found)
}

/// The line that a place is in, cut if it is long.
fn line_around(text: &str, place: std::ops::Range<usize>) -> String {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.start..].find('\n').map_or(text.len(), |at| place.start + at);
    let line = &text[start..end];
    excerpt(line, place.start - start..place.end.min(end) - start)
}

fn question(site: &Site, room: &Room, path: &MemoryPath, found: &Found) -> Markup {
    let count = found.past.len();
    let ids: Vec<String> = found.past.iter().map(|version| version.id.to_string()).collect();
    let versions = if count == 1 { "1 version".to_owned() } else { format!("{count} versions") };
    let what = html! {
        p { "This text is in " strong { (versions) } " that no file holds now:" }
        ul.concerned { @for line in &found.lines { li { code { (shown(line)) } } } }
        ul.concerned {
            @for version in found.past.iter().take(SHOWN_VERSIONS) {
                li {
                    a href=(link(room.number, "version", &[("id", &version.id.to_string())])) { (content_name(version)) }
                    " " (time(version.time))
                }
            }
        }
        @if count > SHOWN_VERSIONS { p { "and " (count - SHOWN_VERSIONS) " more" } }
        p { "The versions stay in the timeline, with your reason in the place of their contents." }
        (files(room, found))
    };
    let fields = html! {
        (hidden("ids", &ids.join(",")))
        label.wide {
            "Reason" input name="reason" required autocomplete="off" placeholder="held a password";
        }
    };
    let (title, does) = match count {
        1 => ("Redact it in 1 version?".to_owned(), "Redact it".to_owned()),
        count => {
            (format!("Redact it in all {count} versions?"), format!("Redact it in all {count}"))
        }
    };
    let question = Question {
        title: &title,
        what,
        warning: Some("The contents are then gone for good. This cannot be undone."),
        page: "redact",
        fields,
        does: &does,
    };
    question.asked(site, room, path)
}

/// The files that have the text now.
fn files(room: &Room, found: &Found) -> Markup {
    html! {
        @if !found.files.is_empty() {
            p.warning { "These files have it now. Change or delete them first, and then redact what they held:" }
            ul.concerned {
                @for path in &found.files { li { (crate::page::html::path_link(room.number, path, true)) } }
            }
        }
    }
}
