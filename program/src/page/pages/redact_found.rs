//! The page that redacts a text, found by a search or by the rules for sensitive text, in all versions that contain it.
//!
//! Addresses never contain the text of a finding. They contain the file, the line and the rule. The form contains the ids of the
//! versions that the person saw.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use maud::{Markup, html};

use super::searched::{Searched, carried};
use super::{Question, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{content_name, hidden, link, shown, time};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::GrepQuery;
use memdir::history::{HistoryId, Version};
use memdir::path::MemoryPath;
use memdir::policy::sensitive;
use memdir::text::{excerpt, line_at};

/// The maximum number of versions shown, and the maximum number of their lines.
const SHOWN_VERSIONS: usize = 50;
const SHOWN_LINES: usize = 5;

/// The text to redact.
struct Wanted {
    query: GrepQuery,
    /// The text, if it may span several lines.
    text: Option<String>,
}

impl Wanted {
    /// The first place in a content, or in each line of it.
    fn places(&self, content: &str) -> Vec<Range<usize>> {
        match &self.text {
            Some(text) => content.find(text).map(|at| at..at + text.len()).into_iter().collect(),
            None => in_lines(content, &|line| self.query.find(line)),
        }
    }
}

/// The result of a search for the text: the matches to redact, and those that are kept.
#[derive(Default)]
struct Found {
    /// The versions whose content no file has now, newest first.
    past: Vec<Version>,
    /// The paths of the files that contain it now.
    files: BTreeSet<MemoryPath>,
    /// `names`: paths with names that no file has now. `kept_names`: paths with names that a file has now.
    names: BTreeSet<MemoryPath>,
    kept_names: BTreeSet<MemoryPath>,
    /// Lines that contain it, without duplicates.
    lines: Vec<String>,
}

impl Found {
    fn ids(&self) -> String {
        let ids: Vec<String> = self.past.iter().map(|version| version.id.to_string()).collect();
        ids.join(",")
    }
}

/// Whether an address is about all versions with a text, and not about one version.
pub(super) fn is_asked(params: &Params) -> bool {
    given(&params.id).is_none() && (given(&params.q).is_some() || given(&params.rule).is_some())
}

/// The address for the versions that contain the rule's findings in a line.
pub(super) fn address(room: &Room, path: &MemoryPath, line: u64, rule: &str) -> String {
    let line = line.to_string();
    link(room.number, "redact", &[("path", path.as_str()), ("from", &line), ("rule", rule)])
}

pub(super) fn ask(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path_or_root()?;
    let wanted = wanted(room, &path, params)?;
    let mut found = look(room, &wanted)?;
    found.lines = lines(room, &wanted, &found.past);
    let content = if found.past.is_empty() && found.names.is_empty() {
        html! {
            header.page-head { h1 { "Nothing to redact" } }
            p { "No past version contains this text." }
            (files(room, &found))
        }
    } else {
        question(site, room, (&path, params), &found)
    };
    Ok(Done::Page(framed((site, room, params), "Redact", "history", &path, &content)?))
}

/// `ids` are the versions that the person saw.
pub(super) fn redact(room: &Room, params: &Params, ids: &str, reason: &str) -> PageAnswer {
    if !is_asked(params)
        || !ids.split(',').all(|id| id.is_empty() || id.parse::<HistoryId>().is_ok())
    {
        return Err(Refusal::wrong("This form is not from this page."));
    }
    let wanted = wanted(room, &params.path_or_root()?, params)?;
    if look(room, &wanted)?.ids() != ids {
        return Err(Refusal::wrong(
            "Other versions contain the text by now. Nothing was changed: check the list again.",
        ));
    }
    let mut word = "nothing";
    for wanted in wanted {
        if room.memory().redact_past_text(&wanted.query, reason, false)?.change.is_some() {
            word = "redacted";
        }
    }
    Ok(Done::See(link(room.number, "history", &[("done", word)])))
}

/// The findings of the rule in the line, or the search text.
fn wanted(room: &Room, path: &MemoryPath, params: &Params) -> Result<Vec<Wanted>, Refusal> {
    if let Some(rule) = given(&params.rule) {
        let texts = texts_of(room, path, params.from(), rule)?;
        let wanted = texts.into_iter();
        return Ok(wanted
            .map(|text| Wanted { query: GrepQuery::text(&text), text: Some(text) })
            .collect());
    }
    let searched = Searched::new(params)?;
    let query = searched.query().ok_or_else(|| Refusal::wrong("Enter a text to search for."))?;
    Ok(vec![Wanted { query: query.clone(), text: None }])
}

/// The texts that a rule finds in a line of a file.
fn texts_of(
    room: &Room,
    path: &MemoryPath,
    line: usize,
    rule: &str,
) -> Result<BTreeSet<String>, Refusal> {
    let memory = room.memory();
    let text = memory.read(path.as_str())?;
    let found = sensitive::find(&text, &memory.options().sensitive_rules);
    let is_it = |found: &&sensitive::Finding<'_>| {
        let at = line_at(text.as_bytes(), found.range.start);
        found.rule == rule && usize::try_from(at) == Ok(line)
    };
    let texts: BTreeSet<String> =
        found.iter().filter(is_it).map(|found| text[found.range.clone()].to_owned()).collect();
    if texts.is_empty() {
        return Err(Refusal::not_found("The file was changed: look at what the rules find now."));
    }
    Ok(texts)
}

/// The first place in each line.
fn in_lines(text: &str, find: &dyn Fn(&str) -> Option<Range<usize>>) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut places = Vec::new();
    for line in text.split_inclusive('\n') {
        let here = line.trim_end_matches(['\n', '\r']);
        places.extend(find(here).map(|at| start + at.start..start + at.end));
        start += line.len();
    }
    places
}

/// Finds what would be redacted, in the whole memory, because a secret may be in any file.
fn look(room: &Room, wanted: &[Wanted]) -> Result<Found, Refusal> {
    let (mut found, mut seen) = (Found::default(), HashSet::new());
    for wanted in wanted {
        let redacted = room.memory().redact_past_text(&wanted.query, "", true)?;
        found.past.extend(redacted.versions.into_iter().filter(|version| seen.insert(version.id)));
        found.files.extend(redacted.current);
        found.names.extend(redacted.names);
        found.kept_names.extend(redacted.kept_names);
    }
    Ok(found)
}

/// Some lines of the versions that contain it.
fn lines(room: &Room, wanted: &[Wanted], versions: &[Version]) -> Vec<String> {
    let mut lines = Vec::new();
    for version in versions.iter().take(SHOWN_VERSIONS) {
        let Ok(content) = room.memory().read_version(version.id) else { continue };
        let text = String::from_utf8_lossy(&content);
        for place in wanted.iter().flat_map(|wanted| wanted.places(&text)) {
            let line = line_around(&text, place);
            if lines.len() == SHOWN_LINES {
                return lines;
            }
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// The line that contains a place, shortened if it is long.
fn line_around(text: &str, place: Range<usize>) -> String {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.start..].find('\n').map_or(text.len(), |at| place.start + at);
    let line = &text[start..end];
    excerpt(line, place.start - start..place.end.min(end) - start)
}

fn question(
    site: &Site,
    room: &Room,
    (path, params): (&MemoryPath, &Params),
    found: &Found,
) -> Markup {
    let counted = |count: usize, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {more}"),
    };
    let (count, names) = (found.past.len(), found.names.len());
    let what = html! {
        @if count > 0 {
            p { "This text is in " strong { (counted(count, "version", "versions")) } " in the history:" }
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
            p { "The versions stay in the timeline, with your reason instead of their contents." }
        }
        @if names > 0 {
            p { "It is in " strong { (counted(names, "name", "names")) } " in the history, which memdir will replace with random names:" }
            ul.concerned { @for path in found.names.iter().take(SHOWN_VERSIONS) { li { (shown(path.relative())) } } }
            @if names > SHOWN_VERSIONS { p { "and " (names - SHOWN_VERSIONS) " more" } }
        }
        @if !found.kept_names.is_empty() {
            p.warning { "These files have it in their current names. Rename or delete them:" }
            ul.concerned {
                @for path in &found.kept_names { li { (crate::page::html::path_link(room.number, path, true)) } }
            }
        }
        (files(room, found))
    };
    let asked = [
        ("rule", given(&params.rule)),
        ("from", given(&params.from)),
        ("path", Some(path.as_str())),
    ];
    let asked = asked.into_iter().filter_map(|(name, value)| Some((name, value?)));
    let fields = html! {
        @for (name, value) in asked.chain(carried(params)) { (hidden(name, value)) }
        (hidden("ids", &found.ids()))
        label.wide {
            "Reason" input name="reason" required autocomplete="off" placeholder="held a password";
        }
    };
    let (title, does) = match (count, names) {
        (0, _) => ("Redact it in names?".to_owned(), "Redact it".to_owned()),
        (1, _) => ("Redact it in 1 version?".to_owned(), "Redact it".to_owned()),
        (count, _) => {
            (format!("Redact it in all {count} versions?"), format!("Redact it in all {count}"))
        }
    };
    let question = Question {
        title: &title,
        what,
        warning: Some("Redacted content is permanently removed. You cannot undo this."),
        page: "redact",
        fields,
        does: &does,
    };
    question.asked(site, room, path)
}

/// The files that contain the text now.
fn files(room: &Room, found: &Found) -> Markup {
    html! {
        @if !found.files.is_empty() {
            p.warning { "These files contain it now. Change or delete them first, then redact their earlier contents:" }
            ul.concerned {
                @for path in &found.files { li { (crate::page::html::path_link(room.number, path, true)) } }
            }
        }
    }
}
