//! Executes the six commands, with one file for each.
//!
//! A handler gets valid paths. It returns the text of the reply, or the sentence of the refusal. It does all
//! I/O through the store, and does not depend on a host language.

mod create;
mod delete;
pub(crate) mod edit;
mod insert;
mod rename;
mod str_replace;
pub(crate) mod view;

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use crate::command::{Command, ValidCommand};
use crate::policies::Policies;
use crate::reply::{self, Content};
use crate::store::{Effect, Store};
use crate::unit_of_work::UnitOfWork;

/// Executes a command.
pub(crate) fn execute(work: &UnitOfWork<'_>, command: &ValidCommand<'_>) -> Result<Content, Error> {
    let done = match command {
        // Only a view can return content other than text.
        Command::View { path, view_range } => {
            return view::view(work.store(), work.policies(), path, view_range.as_ref())
                .map_err(|error| error.with_effect(Effect::Read));
        }
        Command::Create { path, file_text } => create::create(work, path, file_text),
        Command::StrReplace { path, old_str, new_str } => {
            str_replace::str_replace(work, path, old_str, new_str)
        }
        Command::Insert { path, insert_line, insert_text } => {
            insert::insert(work, path, *insert_line, insert_text)
        }
        Command::Delete { path } => delete::delete(work, path),
        Command::Rename { old_path, new_path } => rename::rename(work, old_path, new_path),
    };
    done.map(Content::Text)
}

/// Like [`execute`], but only for a view, and only if no step can block.
pub(crate) fn execute_nowait(
    store: &dyn Store,
    policies: &Policies,
    command: &ValidCommand<'_>,
) -> Option<Result<Content, Error>> {
    let Command::View { path, view_range } = command else { return None };
    let shown = view::view_nowait(store, policies, path, view_range.as_ref())?;
    Some(shown.map_err(|error| error.with_effect(Effect::Read)))
}

/// Returns the text of an editable file.
fn text<'c>(path: &MemoryPath, content: &'c [u8]) -> Result<&'c str, Error> {
    std::str::from_utf8(content).map_err(|_| reply::not_text(path))
}
