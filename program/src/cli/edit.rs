//! `memdir edit`: changes a file in an editor. It never overwrites concurrent changes.

use super::changing::{Changing, Missing};
use super::editor::Draft;
use super::file_arguments::EditArguments;
use super::output::Output;
use super::{Ended, Failure, stores};
use memdir::Error;
use memdir::path::MemoryPath;

pub(super) fn run(wanted: &EditArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let EditArguments { store, flags, by, .. } = wanted;
    let changing = Changing::new(store, Missing::AnError, flags, by, output)?;
    let (memory, failed) = (&changing.memory, |error: &Error| changing.argument.error(error));
    let before = match memory.exists(path.as_str()).map_err(|error| failed(&error))? {
        true => Some(memory.read(path.as_str()).map_err(|error| failed(&error))?),
        false => None,
    };
    let old = before.as_deref().unwrap_or_default();
    let draft = Draft::new(path.name().unwrap_or("memory"), old)?;
    draft.open_in_editor(old)?;
    let text = with_the_same_end(old, draft.text()?);
    if before.as_deref().unwrap_or_default() == text {
        draft.remove();
        output.file("unchanged", path.as_str(), None)?;
        return Ok(Ended::Well);
    }
    let written = match &before {
        Some(old) => memory.write(path.as_str(), &text, Some(old)),
        // Fails if the file was created meanwhile.
        None => memory.create(path.as_str(), &text).map(drop),
    };
    if let Err(error) = written {
        let is_conflict =
            matches!(error, Error::Refused(_)) && is_another(&changing, &path, &before);
        let kept = draft.keep();
        return Err(if is_conflict {
            Failure::Refused(format!(
                "{path} was changed meanwhile, and nothing was overwritten. Your text is in {kept}. Compare it with \
                 `memdir show`, then edit the file again, or replace it with `memdir put`"
            ))
        } else {
            with_place(failed(&error), &kept)
        });
    }
    draft.remove();
    changing.tell_redaction(path.as_str(), &text, output);
    output.file(if before.is_some() { "modified" } else { "created" }, path.as_str(), None)?;
    Ok(Ended::Well)
}

/// Many editors end every file with a newline. Removes it if the old text had none.
fn with_the_same_end(old: &str, mut text: String) -> String {
    let had_none = !old.is_empty() && !old.ends_with('\n');
    if had_none && text.ends_with('\n') {
        text.pop();
        if old.contains("\r\n") && text.ends_with('\r') {
            text.pop();
        }
    }
    text
}

/// Whether the file has changed.
fn is_another(changing: &Changing, path: &MemoryPath, before: &Option<String>) -> bool {
    match changing.memory.read(path.as_str()) {
        Ok(now) => before.as_ref() != Some(&now),
        Err(Error::Refused(_)) => match changing.memory.exists(path.as_str()) {
            Ok(is_there) => is_there || before.is_some(),
            Err(_) => false,
        },
        Err(_) => false,
    }
}

fn with_place(failure: Failure, kept: &str) -> Failure {
    let with = |sentence: String| format!("{sentence}. Your text is in {kept}");
    match failure {
        Failure::Refused(sentence) => Failure::Refused(with(sentence)),
        Failure::Usage(sentence) => Failure::Usage(with(sentence)),
        Failure::Store(sentence) => Failure::Store(with(sentence)),
        // The others are not about a file.
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_newline_at_its_end_keeps_having_none() {
        for (old, text, kept) in [
            ("a", "ab\n", "ab"),
            ("a", "ab", "ab"),
            ("a", "a\n\n", "a\n"),
            ("a\n", "b\n", "b\n"),
            ("a\n", "b", "b"),
            ("", "a\n", "a\n"),
            ("a\r\nb", "a\r\nc\r\n", "a\r\nc"),
            ("a\nb", "a\nc\r\n", "a\nc\r"),
        ] {
            assert_eq!(with_the_same_end(old, text.to_owned()), kept, "{old:?} {text:?}");
        }
    }
}
