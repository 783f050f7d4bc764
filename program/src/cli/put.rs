//! `memdir put`: writes a file from a file or from standard input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::changing::{Changing, Missing};
use super::file_arguments::PutArguments;
use super::output::Output;
use super::style::escaped;
use super::{Ended, Failure, stores};
use memdir::ErrorKind;
use memdir::store::redact_address;

pub(super) fn run(wanted: &PutArguments, output: &mut Output) -> Result<Ended, Failure> {
    let path = stores::path(&wanted.path)?;
    let before = wanted.if_unchanged.as_deref().map(text).transpose()?;
    let text = text(&wanted.file)?;
    let PutArguments { store, flags, by, .. } = wanted;
    let changing = Changing::new(store, Missing::Made, flags, by, output)?;
    let (memory, path) = (&changing.memory, path.as_str());
    let failed = |error| changing.argument.error(&error);
    let is_there = memory.exists(path).map_err(failed)?;
    if wanted.create {
        memory.create(path, &text).map_err(|error| match error.kind() {
            ErrorKind::Exists => with_advice(failed(error), ": leave out --create to replace it"),
            _ => failed(error),
        })?;
    } else {
        let written = memory.write(path, &text, before.as_deref());
        written.map_err(|error| match error.kind() {
            ErrorKind::Changed => with_advice(failed(error), ": read it again with `memdir show`"),
            _ => failed(error),
        })?;
    }
    let operation = if is_there { "modified" } else { "created" };
    changing.tell_redaction(path, &text, output);
    output.file(operation, path, None)?;
    Ok(Ended::Well)
}

fn with_advice(failure: Failure, advice: &str) -> Failure {
    match failure {
        Failure::Refused(sentence) => {
            Failure::Refused(sentence.trim_end_matches('.').to_owned() + advice)
        }
        failure => failure,
    }
}

/// The text of a file, or of standard input.
fn text(file: &Path) -> Result<String, Failure> {
    let (shown, read) = if file == Path::new("-") {
        let mut bytes = Vec::new();
        ("standard input".to_owned(), io::stdin().read_to_end(&mut bytes).map(|_| bytes))
    } else {
        // The user may have typed an address instead of a file.
        (redact_address(&escaped(&file.to_string_lossy())), fs::read(file))
    };
    let bytes = read.map_err(|error| Failure::Usage(format!("{shown} cannot be read: {error}")))?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::Refused(format!(
            "nothing was written, as {shown} is not text (UTF-8): convert it first"
        ))
    })
}
