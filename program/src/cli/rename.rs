//! `memdir mv`: renames or moves a file or a directory.

use super::changing::{Changing, Missing};
use super::file_arguments::MoveArguments;
use super::output::Output;
use super::{Ended, Failure, stores};
use memdir::store::StoreError;

pub(super) fn run(wanted: &MoveArguments, output: &mut Output) -> Result<Ended, Failure> {
    let (from, mut to) = (stores::path(&wanted.from)?, stores::path(&wanted.to)?);
    let MoveArguments { store, flags, by, .. } = wanted;
    let changing = Changing::new(store, Missing::AnError, flags, by, output)?;
    let is_directory =
        to.is_root() || matches!(changing.visible().modified(&to), Err(StoreError::IsADirectory));
    if is_directory
        && to != from
        && let Some(name) = from.name()
    {
        to = to.join(name).map_err(|error| Failure::Usage(format!("TO is wrong: {error}")))?;
    }
    let renamed = changing.memory.rename(from.as_str(), to.as_str());
    let (visible, argument) = (changing.visible(), &changing.argument);
    renamed.map_err(|error| argument.error_in(visible, &from, &error))?;
    output.file("renamed", to.as_str(), Some(from.as_str()))?;
    Ok(Ended::Well)
}
