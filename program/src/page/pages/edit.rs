//! The editor of a file, which an agent may change at the same time. Concurrent changes are never overwritten silently: both
//! changes are merged, and the person decides where both changed the same lines.

use maud::{Markup, html};
use sha2::{Digest, Sha256};

use super::{changeable, done, framed};
use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::html::{self, Layout, form, hidden, link, plain_source, trail};
use crate::page::params::{Params, given};
use crate::page::site::{Room, Site};
use memdir::path::MemoryPath;
use memdir::text::unified_diff;
use memdir::text::{Merged, count_conflict_marks, merge};
use memdir::{Error, ErrorKind};

/// The maximum size in bytes of a file that browsers can edit well.
const MAX_EDITED: usize = 2 << 20;

/// The line endings of a file. A form always sends one kind, whatever the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    Lf,
    CrLf,
}

pub(in crate::page) fn edit(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    let text = match room.memory().read(path.as_str()) {
        Ok(text) => text,
        // There may still be a draft for it.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let content = missing(site, room, &path, "", &error.to_string());
            return Ok(Done::Missing(framed(
                (site, room, params),
                "Edit",
                "file",
                &path,
                &content,
            )?));
        }
        Err(error) => return Err(error.into()),
    };
    editable(&text)?;
    let opened = Opened::new(&text);
    let content = editor(site, room, &path, &text, &opened, None);
    Ok(Done::Page(framed((site, room, params), "Edit", "file", &path, &content)?))
}

pub(in crate::page) fn save(site: &Site, room: &Room, params: &Params) -> PageAnswer {
    changeable(room)?;
    let path = params.path()?;
    let memory = room.memory();
    let mine = unified(params.text.as_deref().unwrap_or_default());
    let opened = Opened {
        base: params.base.clone().unwrap_or_default(),
        was: unified(params.was.as_deref().unwrap_or_default()),
    };
    let unchanged = |content: Markup| -> PageAnswer {
        Ok(Done::Unchanged(framed((site, room, params), "Edit", "file", &path, &content)?))
    };
    let is_gone =
        "Not saved: the file was deleted or moved while you edited it. Your text is still here.";
    let theirs = match memory.read(path.as_str()) {
        Ok(theirs) => theirs,
        Err(Error::Refused(_)) => return unchanged(missing(site, room, &path, &mine, is_gone)),
        Err(error) => return Err(error.into()),
    };
    if fingerprint(&theirs) != opened.base {
        return unchanged(conflict(site, room, &path, &theirs, &mine, &opened));
    }
    let has_marks = count_conflict_marks(&mine) > count_conflict_marks(&unified(&theirs));
    if has_marks && given(&params.marks).is_none() {
        return unchanged(editor(site, room, &path, &mine, &opened, Some(Problem::Marks)));
    }
    let text = match editable(&theirs)? {
        Ending::Lf => mine.clone(),
        Ending::CrLf => mine.replace('\n', "\r\n"),
    };
    if text == theirs {
        let unchanged = [("path", path.as_str()), ("done", "nothing")];
        return Ok(Done::See(link(room.number, "file", &unchanged)));
    }
    match memory.write(path.as_str(), &text, Some(&theirs)) {
        Ok(()) => Ok(done(room, "file", &path, "saved")),
        Err(Error::Refused(refused)) => match memory.read(path.as_str()) {
            // The file was changed between the read and the write.
            Ok(now) if now != theirs => {
                unchanged(conflict(site, room, &path, &now, &mine, &opened))
            }
            Err(Error::Refused(_)) => unchanged(missing(site, room, &path, &mine, is_gone)),
            _ => {
                let problem = Problem::Refused(refused.sentence());
                unchanged(editor(site, room, &path, &mine, &opened, Some(problem)))
            }
        },
        Err(error) => Err(error.into()),
    }
}

/// The text that was opened in the editor. The form contains it, because there may be no history: concurrent changes
/// are merged with it as the base.
struct Opened {
    /// The fingerprint of the file's content.
    base: String,
    /// The content, with the line endings of a form.
    was: String,
}

impl Opened {
    fn new(text: &str) -> Self {
        Self { base: fingerprint(text), was: unified(text) }
    }

    /// The text, if it matches the fingerprint.
    fn text(&self) -> Option<&str> {
        let is_it = fingerprint(&self.was) == self.base
            || fingerprint(self.was.replace('\n', "\r\n")) == self.base;
        is_it.then_some(&self.was)
    }

    fn fields(&self) -> Markup {
        html! {
            (hidden("base", &self.base))
            textarea name="was" hidden aria-label="The text that was opened" autocomplete="off" { "\n" (self.was) }
        }
    }
}

/// Why a text that is based on the present file was not saved.
#[derive(Clone, Copy)]
enum Problem<'p> {
    Refused(&'p str),
    /// The text has conflict marks.
    Marks,
}

/// Identifies a content.
pub(super) fn fingerprint(content: impl AsRef<[u8]>) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(content))
}

/// The text of a form, with line feeds as line endings.
pub(super) fn unified(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The line endings, if the text survives a form without unintended changes.
pub(super) fn editable(text: &str) -> Result<Ending, Refusal> {
    let refused = |why: &str| {
        Err(Refusal::wrong(format!(
            "This file cannot be edited in a browser: {why}. Use memdir edit."
        )))
    };
    if text.len() > MAX_EDITED {
        return refused("it is too large");
    }
    if text.contains('\0') {
        return refused("a form cannot carry its NUL characters");
    }
    let crlf = text.matches("\r\n").count();
    match (text.matches('\r').count(), text.matches('\n').count()) {
        (0, _) => Ok(Ending::Lf),
        (returns, feeds) if returns == crlf && feeds == crlf => Ok(Ending::CrLf),
        _ => refused("its lines end in several ways"),
    }
}

pub(super) fn area(text: &str, label: &str) -> Markup {
    html! {
        // The browser drops the first line ending of a text area. This is that one.
        textarea #text name="text" spellcheck="false" autocomplete="off" autofocus aria-label=(label) { "\n" (unified(text)) }
        (html::hidden_characters(text))
    }
}

/// The part of a page with the editor. The script keeps a draft of the text, if that is allowed.
fn editing(room: &Room, path: &MemoryPath, form: &Markup) -> Markup {
    let draft = room.shown.keeps_drafts.then_some(path.as_str());
    html! {
        p #stale .warning role="alert" hidden {
            "The file was changed meanwhile. Save, and the changes of both are merged: nothing is lost."
        }
        div.editor data-editing=(path.as_str()) data-draft=[draft] { (form) }
    }
}

fn editor(
    site: &Site,
    room: &Room,
    path: &MemoryPath,
    text: &str,
    opened: &Opened,
    problem: Option<Problem<'_>>,
) -> Markup {
    let has_marks = matches!(problem, Some(Problem::Marks));
    let fields = html! {
        (hidden("path", path.as_str()))
        (opened.fields())
        (area(text, "Text of the file"))
        div.buttons {
            button.primary type="submit" { "Save" }
            @if has_marks {
                button type="submit" name="marks" value="1" { "Save with the conflict marks" }
            }
            a.button href=(html::link_to(room.number, path)) { "Cancel" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        @match problem {
            Some(Problem::Refused(sentence)) => p.warning role="alert" { "Not saved: " (sentence) },
            Some(Problem::Marks) => (has_conflict_marks()),
            None => {}
        }
        (editing(room, path, &form(site, room, "edit", &fields)))
    }
}

/// Why a text with conflict marks was not saved.
pub(super) fn has_conflict_marks() -> Markup {
    html! {
        p.warning role="alert" {
            "Not saved: the text still has conflict marks, the lines that begin with " code { "<<<<<<<" } ", "
            code { "=======" } " and " code { ">>>>>>>" }
            ". Decide what stays between them, delete the marks, and save again."
        }
    }
}

/// The file was changed since it was opened: shows a merge of both texts, as far as possible.
fn conflict(
    site: &Site,
    room: &Room,
    path: &MemoryPath,
    theirs: &str,
    mine: &str,
    opened: &Opened,
) -> Markup {
    let now = Opened::new(theirs);
    let Some(was) = opened.text() else {
        return two_texts(site, room, path, &now, mine);
    };
    let Merged { text, conflicts, .. } = merge(was, mine, &now.was);
    let fields = html! {
        (hidden("path", path.as_str()))
        (now.fields())
        (area(&text, "Merged text"))
        div.buttons {
            button.primary type="submit" { "Save the merged text" }
            a.button href=(html::link_to(room.number, path)) { "Keep the current text" }
        }
    };
    let difference = unified_diff("there", now.was.as_bytes(), "merged", text.as_bytes());
    html! {
        header.page-head { (trail(room.number, path)) }
        p.warning role="alert" {
            "Not saved: the file was changed while you edited it. "
            @if conflicts == 0 {
                "The changes are on different lines, so the text below has both. Check it and save it."
            } @else {
                "The text below has both sets of changes. In " (conflicts)
                @if conflicts == 1 { " place" } @else { " places" }
                " they are on the same lines: the text has both versions there, between lines that begin with "
                code { "<<<<<<<" } " and " code { ">>>>>>>" } ". Decide what stays, delete the marks, and save."
            }
        }
        (editing(room, path, &form(site, room, "edit", &fields)))
        section { h2 { "From the current text to the merged text" } (html::diff(&difference, Layout::SideBySide)) }
        details.content { summary { "Current text" } (plain_source(theirs)) }
        details.content { summary { "Your text" } (yours(site, room, path, &now, mine)) }
    }
}

/// The user's own text without the merge, as an alternative.
fn yours(site: &Site, room: &Room, path: &MemoryPath, now: &Opened, mine: &str) -> Markup {
    let fields = html! {
        (hidden("path", path.as_str()))
        (now.fields())
        textarea #mine name="text" spellcheck="false" aria-label="Your text" { "\n" (mine) }
        div.buttons { (ways(room, path)) }
    };
    html! { div.editor { (form(site, room, "edit", &fields)) } }
}

/// The actions for a text that was not saved because of a concurrent change.
fn ways(room: &Room, path: &MemoryPath) -> Markup {
    let beside = beside(path);
    html! {
        button type="submit" name="to" value=(beside) formaction=(link(room.number, "new", &[])) {
            "Save it as " (beside)
        }
        button type="submit" { "Overwrite with your text" }
    }
}

/// Both texts, if their common base is unknown.
fn two_texts(site: &Site, room: &Room, path: &MemoryPath, now: &Opened, mine: &str) -> Markup {
    let difference = unified_diff("theirs", now.was.as_bytes(), "yours", mine.as_bytes());
    let fields = html! {
        (hidden("path", path.as_str()))
        (now.fields())
        (area(mine, "Your text"))
        div.buttons {
            (ways(room, path))
            a.button href=(html::link_to(room.number, path)) { "Keep the current text" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        p.warning role="alert" {
            "Not saved: the file was changed while you edited it. Below are its current text and yours. Copy what you "
            "want to keep into yours and save it, or keep both."
        }
        section { h2 { "From the current text to yours" } (html::diff(&difference, Layout::SideBySide)) }
        div.sides {
            section { h2 { "Current text" } (plain_source(&now.was)) }
            section { h2 { "Yours" } (editing(room, path, &form(site, room, "edit", &fields))) }
        }
    }
}

/// The file does not exist or no longer exists.
fn missing(site: &Site, room: &Room, path: &MemoryPath, mine: &str, sentence: &str) -> Markup {
    let fields = html! {
        (hidden("to", path.as_str()))
        (area(mine, "Your text"))
        div.buttons {
            button.primary type="submit" { "Create the file again" }
            a.button href=(html::link_to(room.number, path)) { "Leave it deleted" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        p.warning role="alert" { (html::shown(sentence)) }
        (editing(room, path, &form(site, room, "new", &fields)))
    }
}

/// A path for a second text beside a file: `/memories/notes.mine.md`.
fn beside(path: &MemoryPath) -> String {
    match path.as_str().rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.ends_with('/') => {
            format!("{stem}.mine.{extension}")
        }
        _ => format!("{path}.mine"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_edited_only_if_a_form_can_carry_it() {
        assert_eq!(editable("").ok(), Some(Ending::Lf));
        assert_eq!(editable("a\nb").ok(), Some(Ending::Lf));
        assert_eq!(editable("a\r\nb\r\n").ok(), Some(Ending::CrLf));
        for text in ["a\r\nb\n", "a\rb", "a\0", "\n\r"] {
            assert!(editable(text).is_err(), "{text:?}");
        }
        assert!(editable(&"a".repeat(MAX_EDITED + 1)).is_err());
    }

    #[test]
    fn a_second_text_has_a_name_of_its_own() {
        for (path, wanted) in [
            ("/memories/a.md", "/memories/a.mine.md"),
            ("/memories/v1.2/notes", "/memories/v1.2/notes.mine"),
            ("/memories/.hidden", "/memories/.hidden.mine"),
        ] {
            assert_eq!(beside(&MemoryPath::parse(path).unwrap()), wanted);
        }
    }
}
