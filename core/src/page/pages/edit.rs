//! A person edits a file beside the agent. What the agent does meanwhile is never overwritten unseen: then both sides are
//! shown, and neither is lost.

use maud::{Markup, html};
use sha2::{Digest, Sha256};

use super::{changeable, done, framed};
use crate::Error;
use crate::page::answer::{Answer, Done, Refusal};
use crate::page::html::{self, Layout, form, hidden, link, source, trail};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use crate::path::MemoryPath;
use crate::text::unified_diff;

/// The largest file that a browser edits well.
const MAX_EDITED: usize = 2 << 20;

/// How the lines of a file end. A form sends one kind only, whatever they were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Lf,
    CrLf,
}

pub(in crate::page) fn edit(site: &Site, room: &Room, params: &Params) -> Answer {
    changeable(room)?;
    let path = params.path()?;
    let text = room.memory().read(path.as_str())?;
    editable(&text)?;
    let content = editor(site, room, &path, &text, &fingerprint(&text), None);
    Ok(Done::Page(framed((site, room, params), "Edit", "file", &path, &content)?))
}

pub(in crate::page) fn save(site: &Site, room: &Room, params: &Params) -> Answer {
    changeable(room)?;
    let path = params.path()?;
    let memory = room.memory();
    let mine = unified(params.text.as_deref().unwrap_or_default());
    let base = params.base.as_deref().unwrap_or_default();
    let unchanged = |content: Markup| -> Answer {
        Ok(Done::Unchanged(framed((site, room, params), "Edit", "file", &path, &content)?))
    };
    let theirs = match memory.read(path.as_str()) {
        Ok(theirs) => theirs,
        Err(Error::Refused(_)) => return unchanged(gone(site, room, &path, &mine)),
        Err(error) => return Err(error.into()),
    };
    if fingerprint(&theirs) != base {
        return unchanged(conflict(site, room, &path, &theirs, &mine));
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
        Err(Error::Refused(sentence)) => match memory.read(path.as_str()) {
            // Between the look and the write.
            Ok(now) if now != theirs => unchanged(conflict(site, room, &path, &now, &mine)),
            Err(Error::Refused(_)) => unchanged(gone(site, room, &path, &mine)),
            _ => unchanged(editor(site, room, &path, &mine, base, Some(&sentence))),
        },
        Err(error) => Err(error.into()),
    }
}

/// What tells one text from another.
fn fingerprint(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text))
}

/// The text of a form, whose lines end as in most files.
pub(super) fn unified(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// How the lines end, if a form can carry the text without changing what nobody changed.
fn editable(text: &str) -> Result<Ending, Refusal> {
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

fn area(text: &str, label: &str) -> Markup {
    html! {
        // The browser drops the first line ending of a text area, which is this one.
        textarea #text name="text" spellcheck="false" aria-label=(label) { "\n" (unified(text)) }
    }
}

fn editor(
    site: &Site,
    room: &Room,
    path: &MemoryPath,
    text: &str,
    base: &str,
    problem: Option<&str>,
) -> Markup {
    let fields = html! {
        (hidden("path", path.as_str()))
        (hidden("base", base))
        (area(text, "Text of the file"))
        div.buttons {
            button.primary type="submit" { "Save" }
            a.button href=(html::link_to(room.number, path)) { "Cancel" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        @if let Some(problem) = problem { p.warning role="alert" { "Not saved: " (problem) } }
        p #stale .warning role="alert" hidden {
            "The file was changed meanwhile. Save, and both versions are shown: nothing is lost."
        }
        div.editor data-editing=(path.as_str()) { (form(site, room, "edit", &fields)) }
    }
}

fn conflict(site: &Site, room: &Room, path: &MemoryPath, theirs: &str, mine: &str) -> Markup {
    let difference = unified_diff("theirs", unified(theirs).as_bytes(), "yours", mine.as_bytes());
    let beside = beside(path);
    let fields = html! {
        (hidden("path", path.as_str()))
        (hidden("base", &fingerprint(theirs)))
        (area(mine, "Your text"))
        div.buttons {
            button.primary type="submit" { "Save this over it" }
            button type="submit" name="to" value=(beside)
                formaction=(link(room.number, "new", &[])) { "Save it as " (beside) }
            a.button href=(html::link_to(room.number, path)) { "Keep what is there" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        p.warning role="alert" {
            "Not saved: the file was changed while you edited it. Below is what it holds now, and your text. Put into yours "
            "what you want to keep of the other, and save it; or keep both."
        }
        section { h2 { "From what is there to yours" } (html::diff(&difference, Layout::SideBySide)) }
        div.sides {
            section { h2 { "What is there now" } (source(theirs, 1, &|_| Vec::new())) }
            section.editor { h2 { "Yours" } (form(site, room, "edit", &fields)) }
        }
    }
}

fn gone(site: &Site, room: &Room, path: &MemoryPath, mine: &str) -> Markup {
    let fields = html! {
        (hidden("to", path.as_str()))
        (area(mine, "Your text"))
        div.buttons {
            button.primary type="submit" { "Make the file again" }
            a.button href=(html::link_to(room.number, path)) { "Leave it deleted" }
        }
    };
    html! {
        header.page-head { (trail(room.number, path)) }
        p.warning role="alert" { "Not saved: the file was deleted or moved while you edited it. Your text is still here." }
        div.editor { (form(site, room, "new", &fields)) }
    }
}

/// A path beside another one, for a second text: `/memories/notes.mine.md`.
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
