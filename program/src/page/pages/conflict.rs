//! The page of a conflict of a sync: both contents side by side, and the ways to end it.

use maud::{Markup, html};

use super::edit::{Ending, area, editable, fingerprint, has_conflict_marks, unified};
use super::{MAX_SHOWN, changeable, done, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{self, Layout, age, form, hidden, link, path_link, shown, trail};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::Error;
use memdir::path::MemoryPath;
use memdir::sync::{
    ConflictContents, ConflictCopy, Resolution, conflicts, original_of, resolve as end,
};
use memdir::text::{CONFLICT_MARKS, count_conflict_marks, merge_without_base, unified_diff};

const CHANGED: &str = "Nothing was changed: one of the two files has another content than this page showed. This is what they have now.";

pub(in crate::page) fn conflict(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let Some(open) = Open::read(room, &params.path()?)? else {
        return missing(site, room, params);
    };
    let content = match given(&params.view) {
        Some("edit") => {
            changeable(room)?;
            open.editor(site, room, &open.merged()?, &html! {})
        }
        _ => open.shown(site, room, None),
    };
    Ok(Done::Page(open.framed(site, room, params, &content)?))
}

/// Ends a conflict, if both files still have the contents that the page showed.
pub(in crate::page) fn resolve(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let keep = given(&params.keep);
    let text = params.text.as_deref().filter(|_| keep.is_none()).map(unified);
    let Some(open) = Open::read(room, &params.path()?)? else {
        return missing(site, room, params);
    };
    let again = |open: &Open, why: &Markup| -> PageAnswer {
        let content = match &text {
            Some(text) => open.editor(site, room, text, why),
            None => open.shown(site, room, Some(why)),
        };
        Ok(Done::Unchanged(open.framed(site, room, params, &content)?))
    };
    let shown = [given(&params.base), given(&params.copy)].map(Option::unwrap_or_default);
    if open.fingerprints() != shown {
        return again(&open, &alert(CHANGED));
    }
    let merged;
    let resolution = match (keep, &text) {
        (Some("original"), _) => Resolution::KeepOriginal,
        (Some("copy"), _) => Resolution::KeepCopy,
        (None, Some(text)) => {
            if count_conflict_marks(text) > 0 && given(&params.marks).is_none() {
                return again(&open, &has_conflict_marks());
            }
            merged = open.with_endings(text)?;
            Resolution::Merged(&merged)
        }
        _ => return Err(Refusal::wrong("This form is not from this page. Nothing was changed.")),
    };
    let copy = &open.conflict.copy_path;
    match end(room.memory(), copy, resolution, Some(&open.contents)) {
        // The copy is gone in each case, so its last change is the one to undo.
        Ok(_) => Ok(done(room, "sync", copy, "resolved")),
        Err(Error::Refused(refused)) => {
            let sentence = refused.sentence();
            let sentence = sentence.strip_prefix("Error: ").unwrap_or(sentence);
            let why = alert(&format!("Not resolved: {sentence}"));
            match Open::read(room, copy)? {
                Some(now) => again(&now, &why),
                None => missing(site, room, params),
            }
        }
        Err(error) => Err(error.into()),
    }
}

/// A link to the conflict, on the page of a copy.
pub(super) fn note(room: &Room, path: &MemoryPath) -> Markup {
    let page = link(room.number, "conflict", &[("path", path.as_str())]);
    html! {
        @if let Some(original) = original_of(path) {
            p.warning {
                "This is a conflict copy of " (shown(original.relative())) ", which a sync has made. " a href=(page) { "Resolve the conflict" }
            }
        }
    }
}

/// The number of conflicts, on the overview.
pub(super) fn number_of(room: &Room) -> Result<Markup, Refusal> {
    let number = conflicts(room.memory())?.len();
    Ok(html! {
        @if number > 0 {
            p.warning {
                a href=(link(room.number, "sync", &[])) { (number) @if number == 1 { " conflict" } @else { " conflicts" } }
                " of a sync to be resolved"
            }
        }
    })
}

fn alert(sentence: &str) -> Markup {
    html! { p.warning role="alert" { (shown(sentence)) } }
}

fn missing(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    let content = html! {
        header.page-head { h1 { "No conflict" } }
        p.warning role="alert" { "There is no such conflict: it was resolved, or its copy was renamed or deleted." }
        p { a href=(link(room.number, "sync", &[])) { "All conflicts" } }
        @if let Some(text) = given(&params.text) {
            div.editor { textarea readonly aria-label="Your text" { "\n" (text) } }
        }
    };
    let root = MemoryPath::root();
    Ok(Done::Missing(framed((site, room, params), "No conflict", "sync", &root, &content)?))
}

/// A conflict, with both contents.
struct Open {
    conflict: ConflictCopy,
    contents: ConflictContents,
}

impl Open {
    /// Reads both files; `None` if there is no such copy.
    fn read(room: &Room, copy: &MemoryPath) -> Result<Option<Self>, Refusal> {
        let found = conflicts(room.memory())?;
        let Some(conflict) = found.into_iter().find(|conflict| conflict.copy_path == *copy) else {
            return Ok(None);
        };
        let contents = conflict.read(room.memory())?;
        Ok(contents.map(|contents| Self { conflict, contents }))
    }

    /// The content of the file.
    fn original(&self) -> &[u8] {
        self.contents.original.as_deref().unwrap_or_default()
    }

    fn has_original(&self) -> bool {
        self.contents.original.is_some()
    }

    fn fingerprints(&self) -> [String; 2] {
        [
            self.contents.original.as_ref().map(fingerprint).unwrap_or_default(),
            fingerprint(&self.contents.copy),
        ]
    }

    /// Both texts, if a form can carry them.
    fn texts(&self) -> Result<[&str; 2], Refusal> {
        let text = |bytes| match str::from_utf8(bytes) {
            Ok(text) => editable(text).map(|_| text),
            Err(_) => Err(Refusal::wrong("A file that is not text cannot be merged.")),
        };
        Ok([text(self.original())?, text(&self.contents.copy)?])
    }

    /// Both texts as one. Where they differ, it has both sides between conflict marks.
    fn merged(&self) -> Result<String, Refusal> {
        let [original, copy] = self.texts()?;
        Ok(match self.has_original() {
            true => merge_without_base(&unified(original), &unified(copy)).text,
            false => unified(copy),
        })
    }

    /// The text of a form, with the line endings of the file.
    fn with_endings(&self, text: &str) -> Result<Vec<u8>, Refusal> {
        let [original, copy] = self.texts()?;
        let of = if original.contains('\n') { original } else { copy };
        Ok(match editable(of)? {
            Ending::Lf => text.to_owned(),
            Ending::CrLf => text.replace('\n', "\r\n"),
        }
        .into_bytes())
    }

    fn framed(
        &self,
        site: &Site,
        room: &Room,
        params: &Params,
        content: &Markup,
    ) -> Result<Markup, Refusal> {
        framed((site, room, params), "Conflict", "sync", &self.conflict.path, content)
    }

    fn head(&self, room: &Room) -> Markup {
        html! {
            header.page-head {
                h1 { "Conflict" }
                (trail(room.number, &self.conflict.path))
                div.actions { a.button href=(link(room.number, "sync", &[])) { "All conflicts" } }
            }
        }
    }

    /// The fields that say which contents the page shows.
    fn fields(&self) -> Markup {
        let [original, copy] = self.fingerprints();
        html! {
            (hidden("path", self.conflict.copy_path.as_str()))
            (hidden("base", &original))
            (hidden("copy", &copy))
        }
    }

    fn difference(&self) -> Markup {
        let (original, theirs) = (self.original(), &self.contents.copy);
        if original.len().max(theirs.len()) as u64 > MAX_SHOWN {
            return html! { p.note { "The contents are too large to be shown here: download both files." } };
        }
        let [path, copy] = [&self.conflict.path, &self.conflict.copy_path].map(MemoryPath::as_str);
        html! {
            div.columns-of-diff aria-hidden="true" {
                span { "The file" }
                span { "The copy from " (shown(&self.conflict.origin)) }
            }
            (html::diff(&unified_diff(path, original, copy, theirs), Layout::SideBySide))
        }
    }

    /// Both contents side by side, and a button for each way out.
    fn shown(&self, site: &Site, room: &Room, problem: Option<&Markup>) -> Markup {
        let origin = &self.conflict.origin;
        html! {
            (self.head(room))
            @if let Some(problem) = problem { (problem) }
            p {
                @if self.conflict.is_directory {
                    "One memory had a file of this name, and the other one a directory. So the file has the name of a copy. "
                    "Rename it or delete it: " (path_link(room.number, &self.conflict.copy_path, true)) ". It is from "
                } @else if self.has_original() {
                    "Two memories changed the same lines. The file has the content at the left. The copy at the right has the one from "
                } @else {
                    "The file does not exist. Only the copy has a content, which is from "
                }
                strong { (shown(origin)) }
                @if let Some(time) = self.conflict.modified { ", written " (age(Some(time))) }
                "."
            }
            @if !room.shown.is_read_only && !self.conflict.is_directory { (form(site, room, "conflict", &self.ways(room))) }
            (self.difference())
        }
    }

    fn ways(&self, room: &Room) -> Markup {
        let can_undo = room.has_history();
        let edit = link(
            room.number,
            "conflict",
            &[("path", self.conflict.copy_path.as_str()), ("view", "edit")],
        );
        // Without a history, the content that does not stay is lost.
        let way = |key: &str, keep: &str, label: &str| {
            html! {
                button.danger[!can_undo] type="submit" name="keep" value=(keep) aria-keyshortcuts=(key) {
                    (label) " " kbd aria-hidden="true" { (key) }
                }
            }
        };
        html! {
            (self.fields())
            div.buttons {
                @if self.has_original() { (way("1", "original", "Keep the file")) }
                (way("2", "copy", "Keep the copy"))
                @if self.texts().is_ok() {
                    a.button #edit href=(edit) aria-keyshortcuts="e" { "Merge both " kbd aria-hidden="true" { "e" } }
                }
            }
            p.note {
                "The copy is deleted in each case."
                @if !can_undo { " This memory has no history, so you cannot undo this." }
            }
        }
    }

    /// An editor with a text made from both.
    fn editor(&self, site: &Site, room: &Room, text: &str, problem: &Markup) -> Markup {
        let has_marks = count_conflict_marks(text) > 0;
        let back = link(room.number, "conflict", &[("path", self.conflict.copy_path.as_str())]);
        let fields = html! {
            (self.fields())
            (area(text, "Merged text"))
            div.buttons {
                button.primary type="submit" { "Save, and delete the copy" }
                @if has_marks { button type="submit" name="marks" value="1" { "Save with the conflict marks" } }
                a.button href=(back) { "Cancel" }
            }
        };
        html! {
            (self.head(room))
            (problem)
            p {
                "Where both have other lines at the same place, the text has both, between the lines " code { (CONFLICT_MARKS[0]) } " and "
                code { (CONFLICT_MARKS[2]) } ": first those of the file, then those of the copy. Decide what stays, and delete the marks."
            }
            div.editor { (form(site, room, "conflict", &fields)) }
            section { h2 { "Both contents" } (self.difference()) }
        }
    }
}
