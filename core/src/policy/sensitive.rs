//! Sensitive text: keeps keys, tokens, passwords, private keys and payment cards out of the memory, or out of
//! views.
//!
//! The crate `memdir-sensitive-text` finds it. This module applies the options to the texts that commands write
//! and show, and has the reply of each refusal.

use std::borrow::Cow;

use memdir_sensitive_text::{Edit, mark, redacted};
pub use memdir_sensitive_text::{
    Finding, InvalidRule, SensitiveRule, find, numbered, redact, rule_ids,
};

use memdir_store::path::MemoryPath;
use memdir_store::{ConfigError, Error};

use crate::reply;
use crate::text::{Snippet, Splice};

/// The treatment of a command that would write sensitive text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SensitiveText {
    /// The text is written unchanged.
    #[default]
    Off,
    /// The command is refused and nothing is written. The model reads which rules matched, and on which lines.
    Reject,
    /// The text is written with `[REDACTED:rule]` instead of each finding, and the reply says so.
    Redact,
}

/// The options of a memory about sensitive text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) mode: SensitiveText,
    /// Rules in addition to the built-in ones.
    pub(crate) rules: Vec<SensitiveRule>,
    /// True if views redact sensitive text.
    pub(crate) on_view: bool,
}

impl std::str::FromStr for SensitiveText {
    type Err = Error;

    /// Parses `"off"`, `"reject"` or `"redact"`.
    fn from_str(word: &str) -> Result<Self, Error> {
        ConfigError::parse_word(
            "sensitive_text",
            &[("off", Self::Off), ("reject", Self::Reject), ("redact", Self::Redact)],
            word,
        )
    }
}

/// Creates the rules for the option [`sensitive_rules`](crate::MemoryOptions::sensitive_rules) from ids and
/// patterns. They are sorted by id.
///
/// ```
/// use memdir::MemoryOptions;
/// use memdir::policy::sensitive::custom_rules;
///
/// let mut options = MemoryOptions::default();
/// options.sensitive_rules = custom_rules([("staff-badge", r"\bEMP-\d{6}\b")])?;
/// let wrong = custom_rules([("staff-badge", "(")]).unwrap_err().to_string();
/// assert!(wrong.starts_with("sensitive_rules: the pattern of \"staff-badge\" is not usable: "));
/// # Ok::<(), memdir::Error>(())
/// ```
///
/// # Errors
/// [`Error::Config`], with the message of [`SensitiveRule::new`], if a rule is invalid.
pub fn custom_rules<I, S>(patterns: I) -> Result<Vec<SensitiveRule>, Error>
where
    I: IntoIterator<Item = (S, S)>,
    S: AsRef<str>,
{
    SensitiveRule::all(patterns).map_err(|error| {
        ConfigError::of_option("sensitive_rules").and(": ").and(error.to_string()).into()
    })
}

/// A redacted text, and the line of the reply that says so.
pub(crate) struct Redacted<T> {
    pub(crate) instead: T,
    pub(crate) note: String,
}

/// Checks a new path. It is never redacted, because the model did not ask for a file with another name.
pub(crate) fn check_path(settings: &Settings, path: &MemoryPath) -> Result<(), Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(());
    }
    let findings = find(path.as_str(), &settings.rules);
    let mut rules: Vec<&str> = findings.iter().map(|found| found.rule).collect();
    rules.dedup();
    if rules.is_empty() { Ok(()) } else { Err(reply::sensitive_path(&rules)) }
}

/// Returns a path for logs, spans and events of hooks. If an option about sensitive text is set, a mark
/// replaces each finding.
pub(crate) fn redact_path(settings: &Settings, path: MemoryPath) -> MemoryPath {
    if settings.mode == SensitiveText::Off && !settings.on_view {
        return path;
    }
    let findings = find(path.as_str(), &settings.rules);
    let Some(first) = findings.first() else { return path };
    let name = mark(first.rule);
    // A path with marks may be too long, and a finding may start before the first name.
    MemoryPath::parse(&redact(path.as_str(), &findings))
        .or_else(|_| MemoryPath::root().join(&name))
        .unwrap_or_else(|_| MemoryPath::root())
}

/// Returns the details of a failure for a log, with `[REDACTED:rule]` instead of each finding.
#[cfg(feature = "tracing")]
pub(crate) fn redact_details(settings: &Settings, details: String) -> String {
    if settings.mode == SensitiveText::Off && !settings.on_view {
        return details;
    }
    redacted(&details, &settings.rules).into_owned()
}

/// Checks the content of a new file. `None` if it may be written unchanged.
pub(crate) fn check_content(
    settings: &Settings,
    path: &MemoryPath,
    content: &str,
) -> Result<Option<Redacted<String>>, Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(None);
    }
    let findings = find(content, &settings.rules);
    if findings.is_empty() {
        return Ok(None);
    }
    let note = note_or_refusal(settings, path, &numbered(content, &findings))?;
    Ok(Some(Redacted { instead: redact(content, &findings), note }))
}

/// Returns the text that a command writes, if all of it is new.
pub(crate) fn stored<'t>(settings: &Settings, text: &'t str) -> Cow<'t, str> {
    if settings.mode == SensitiveText::Redact {
        redacted(text, &settings.rules)
    } else {
        Cow::Borrowed(text)
    }
}

/// Checks a change of `old`. `None` if it may be made unchanged.
pub(crate) fn check_splice(
    settings: &Settings,
    path: &MemoryPath,
    old: &str,
    splice: &Splice,
) -> Result<Option<Redacted<Splice>>, Error> {
    if settings.mode == SensitiveText::Off {
        return Ok(None);
    }
    let edit = edit(path, old, splice)?;
    let Some(introduced) = edit.find(&settings.rules) else { return Ok(None) };
    let note = note_or_refusal(settings, path, &introduced.numbered())?;
    let redacted = introduced.redacted();
    let instead = Splice { range: redacted.range, text: redacted.text.into_bytes() };
    Ok(Some(Redacted { instead, note }))
}

/// Returns the line about redacted text, or the refusal.
fn note_or_refusal(
    settings: &Settings,
    path: &MemoryPath,
    numbered: &[(u64, &str)],
) -> Result<String, Error> {
    match settings.mode {
        SensitiveText::Redact => Ok(reply::redacted(numbered)),
        _ => Err(reply::sensitive(path, numbered)),
    }
}

fn edit<'t>(path: &MemoryPath, old: &'t str, splice: &'t Splice) -> Result<Edit<'t>, Error> {
    let text = text(path, &splice.text)?;
    Edit::new(old, splice.range.clone(), text).ok_or_else(|| reply::not_text(path))
}

fn text<'t>(path: &MemoryPath, bytes: &'t [u8]) -> Result<&'t str, Error> {
    std::str::from_utf8(bytes).map_err(|_| reply::not_text(path))
}

/// Returns the text with marks, as a view shows it. Its lines keep their numbers.
pub(crate) fn shown<'t>(settings: &Settings, text: &'t str) -> Cow<'t, str> {
    if settings.on_view { redacted(text, &settings.rules) } else { Cow::Borrowed(text) }
}

/// Returns a snippet of the file after a change, as a view shows its lines.
pub(crate) fn shown_lines(
    settings: &Settings,
    path: &MemoryPath,
    old: &str,
    splice: &Splice,
    snippet: Snippet,
) -> Result<Snippet, Error> {
    if !settings.on_view {
        return Ok(snippet);
    }
    let edit = edit(path, old, splice)?;
    let lines = text(path, &snippet.text)?;
    let shown = edit.redacted_lines(snippet.first, lines, &settings.rules);
    Ok(Snippet { first: snippet.first, text: shown.into_owned().into_bytes() })
}

/// Returns whether a text that is not in the file may come from a view with marks.
pub(crate) fn has_mark(settings: &Settings, text: &str) -> bool {
    settings.on_view && memdir_sensitive_text::has_mark(text)
}
