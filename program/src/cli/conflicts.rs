//! `memdir conflicts` and `memdir resolve`: the conflict copies that a sync has made, and how one of them ends.

use serde_json::json;

use super::changing::{Changing, Missing};
use super::editor::Draft;
use super::file_arguments::{ConflictsArguments, ResolveArguments};
use super::output::Output;
use super::stores::{self, StoreArgument};
use super::{Ended, Failure, history};
use memdir::path::MemoryPath;
use memdir::sync::{ConflictCopy, Resolution, conflicts, resolve};
use memdir::text::{count_conflict_marks, merge_without_base, unified_diff};
use memdir::{Error, Memory, MemoryOptions};

pub(super) fn run(wanted: &ConflictsArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let memory = history::reading_memory(&argument)?;
    let found = conflicts(&memory).map_err(|error| argument.error(&error))?;
    for conflict in &found {
        if output.json {
            output.result("conflict", conflict, json!({}))?;
        } else {
            output.line(&format!("{}  {}", conflict.path, conflict.copy_path))?;
        }
        if wanted.diff && !output.json {
            let [path, copy] = [&conflict.path, &conflict.copy_path];
            let contents = [content(&memory, &argument, path)?, content(&memory, &argument, copy)?];
            let [original, other] = contents.map(Option::unwrap_or_default);
            output.diff(&unified_diff(path.as_str(), &original, copy.as_str(), &other))?;
        }
    }
    Ok(if found.is_empty() { Ended::Well } else { Ended::WithProblems })
}

pub(super) fn end(wanted: &ResolveArguments, output: &mut Output) -> Result<Ended, Failure> {
    let given = stores::path(&wanted.path)?;
    let ResolveArguments { store, flags, by, .. } = wanted;
    let changing = Changing::new(store, Missing::AnError, flags, by, output)?;
    let conflict = find(&changing, &given)?;
    let (copy, memory) = (&conflict.copy_path, &changing.memory);
    let failed = |error: &Error| changing.argument.error_in(changing.visible(), copy, error);
    match &wanted.keep {
        Some(keep) => {
            let resolution = match keep.as_str() {
                "copy" => Resolution::KeepCopy,
                _ => Resolution::KeepOriginal,
            };
            resolve(memory, copy, resolution, None).map_err(|error| failed(&error))?;
        }
        None => edit(&changing, &conflict)?,
    }
    output.file("resolved", conflict.path.as_str(), None)?;
    Ok(Ended::Well)
}

/// The conflict of a copy, or of a file that has only one copy.
fn find(changing: &Changing, given: &MemoryPath) -> Result<ConflictCopy, Failure> {
    let found = conflicts(&changing.memory).map_err(|error| changing.argument.error(&error))?;
    if let Some(conflict) = found.iter().find(|conflict| conflict.copy_path == *given) {
        return Ok(conflict.clone());
    }
    let mut of: Vec<ConflictCopy> =
        found.into_iter().filter(|conflict| conflict.path == *given).collect();
    match (of.len(), of.pop()) {
        (1, Some(conflict)) => Ok(conflict),
        (0, _) => Err(Failure::Refused(format!(
            "{given} has no conflict: `memdir conflicts` lists the conflicts"
        ))),
        (number, _) => Err(Failure::Refused(format!(
            "{given} has {number} conflict copies: name one of them, which `memdir conflicts` lists"
        ))),
    }
}

/// Lets the user merge both contents in an editor.
fn edit(changing: &Changing, conflict: &ConflictCopy) -> Result<(), Failure> {
    let (path, copy) = (&conflict.path, &conflict.copy_path);
    let failed = |error: &Error| changing.argument.error_in(changing.visible(), copy, error);
    let seen = conflict.read(&changing.memory).map_err(|error| failed(&error))?;
    let seen = seen.ok_or_else(|| Failure::Refused(format!("{copy} no longer exists")))?;
    let original = seen.original.as_deref().unwrap_or_default();
    let (Ok(mine), Ok(theirs)) = (str::from_utf8(original), str::from_utf8(&seen.copy)) else {
        return Err(Failure::Refused(format!(
            "{path} or its copy is not text: use --keep original or --keep copy"
        )));
    };
    let merged = merge_without_base(mine, theirs).text;
    let draft = Draft::new(path.name().unwrap_or("memory"), &merged)?;
    draft.open_in_editor(&merged)?;
    let text = draft.text()?;
    if count_conflict_marks(&text) > 0 {
        return Err(Failure::Refused(format!(
            "nothing was changed, as the text still has lines such as `<<<<<<<`. It is in {}",
            draft.keep()
        )));
    }
    let resolution = Resolution::Merged(text.as_bytes());
    if let Err(error) = resolve(&changing.memory, copy, resolution, Some(&seen)) {
        let kept = draft.keep();
        let sentence = changing.argument.without_secrets(&error.to_string());
        let sentence = sentence.strip_prefix("Error: ").unwrap_or(&sentence);
        return Err(Failure::Refused(format!("{sentence}. Your text is in {kept}")));
    }
    draft.remove();
    Ok(())
}

/// The content of a file; `None` if there is none.
fn content(
    memory: &Memory,
    argument: &StoreArgument,
    path: &MemoryPath,
) -> Result<Option<Vec<u8>>, Failure> {
    match memory.store().read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.is_failure() => Err(argument.failed(&Error::Store(error))),
        Err(_) => Ok(None),
    }
}
