//! Converts rows into entries of the tree, and changes of the tree into statements.

use std::collections::HashMap;
use std::time::SystemTime;

use memdir_store::path::{MAX_LEVELS, MAX_PATH_BYTES, MemoryPath};
use memdir_store::total::Total;
use memdir_store::{Entry, Fingerprint, StoreError, micros};
use tokio_postgres::Row;

use super::session::{ChangeTransaction, Extent, Parameter};
use super::statements::{self, FoundRow, Way};
use super::total::Growth;

/// The size limit of a file, in bytes: PostgreSQL's values end at 1 GiB, and a row contains more than one.
const MAX_CONTENT_BYTES: usize = 1_000_000_000;

/// The result of [`statements::OPEN`].
pub(super) enum Opened {
    File(Vec<u8>),
    Directory(Vec<Entry>),
}

impl Opened {
    /// The rows of the node at `path`, and of the entries below it.
    pub(super) fn of(path: &MemoryPath, rows: Vec<Row>) -> Result<Self, tokio_postgres::Error> {
        let depth = |row: Row| Ok((row.try_get::<_, i32>(8)?, row));
        let mut rows: Vec<(i32, Row)> =
            rows.into_iter().map(depth).collect::<Result<_, tokio_postgres::Error>>()?;
        // Every directory before its entries.
        rows.sort_by_key(|(depth, _)| *depth);
        let Some(((_, node), below)) = rows.split_first() else {
            return Ok(Self::Directory(Vec::new()));
        };
        if let Some(content) = node.try_get(5)? {
            return Ok(Self::File(content));
        }
        let mut directories: HashMap<i64, MemoryPath> = HashMap::new();
        directories.insert(node.try_get(1)?, path.clone());
        let mut entries = Vec::with_capacity(below.len());
        for (_, row) in below {
            // Another program created a name that no path can contain.
            let above = directories.get(&row.try_get(0)?);
            let Some(path) = above.and_then(|above| above.join(row.try_get(2).ok()?).ok()) else {
                continue;
            };
            entries.push(match row.try_get::<_, Option<i32>>(3)? {
                Some(size) => {
                    let size = u64::try_from(size).unwrap_or(0);
                    let (id, written): (i64, i64) = (row.try_get(1)?, row.try_get(7)?);
                    let modified: Option<SystemTime> = row.try_get(4)?;
                    // Transaction ids repeat after four billion, but then the time differs.
                    let time = modified.map_or(0, micros::of);
                    let [id, written, time] = [id, written, time].map(i64::cast_unsigned);
                    let fingerprint = Fingerprint::of_numbers(&[written, id, time, size]);
                    Entry::file(path, size)
                        .modified_at(modified)
                        .accessed_at(row.try_get(6)?)
                        .with_fingerprint(Some(fingerprint))
                }
                None => {
                    directories.insert(row.try_get(1)?, path.clone());
                    Entry::directory(path)
                }
            });
        }
        Ok(Self::Directory(entries))
    }
}

/// The existing directory on the path, and the missing names below it.
pub(super) fn missing<'p>(
    way: &Way,
    path: &'p MemoryPath,
) -> Result<(i64, Vec<&'p str>), StoreError> {
    match way.last() {
        Some((last, levels)) if last.is_directory => {
            Ok((last.id, path.names().skip(levels).collect()))
        }
        Some(_) => Err(StoreError::NotADirectory),
        // The lock has created the root, so this is an error.
        None => {
            let gone = "the root of the namespace is gone";
            Err(StoreError::failed("looking for the root", gone).unchanged())
        }
    }
}

/// The file at the end of the path.
pub(super) fn file(way: Way) -> Result<FoundRow, StoreError> {
    match way.end() {
        None => Err(StoreError::NotFound),
        Some(found) if found.is_directory => Err(StoreError::IsADirectory),
        Some(found) => Ok(found),
    }
}

/// The file at the end of the path and its content, if it is not too large for an edit.
pub(super) fn whole_file(way: Way) -> Result<(FoundRow, Vec<u8>), StoreError> {
    let mut file = file(way)?;
    match file.content.take() {
        Some(content) => Ok((file, content)),
        None => Err(StoreError::TooLarge { size: file.size.unwrap_or(0) }),
    }
}

/// Removes a file or a directory. `total` is set if the total is kept.
pub(super) fn remove(found: &FoundRow, total: Option<Total>) -> ChangeTransaction {
    let statement = if total.is_some() { &statements::REMOVE_COUNTED } else { &statements::REMOVE };
    ChangeTransaction::new(statement, vec![Box::new(found.id)]).growing(Growth::Counted)
}

/// Moves the file or directory at `from` to `to`.
pub(super) fn rename(
    &FoundRow { id, is_directory, .. }: &FoundRow,
    from: &MemoryPath,
    destination: Option<(Way, Extent)>,
    to: &MemoryPath,
) -> Result<ChangeTransaction, StoreError> {
    let Some((destination, extent)) = destination else {
        let problem = "the destination was not looked for";
        return Err(StoreError::failed("renaming", problem).unchanged());
    };
    if destination.has_end() {
        return Err(StoreError::AlreadyExists);
    }
    if is_directory && from.is_above(to) {
        return Err(StoreError::IntoItself);
    }
    let (parent, names) = missing(&destination, to)?;
    let too_long = to.as_str().len() + extent.bytes > MAX_PATH_BYTES
        || to.names().count() + extent.levels > MAX_LEVELS;
    if is_directory && too_long {
        return Err(StoreError::NameTooLong);
    }
    let Some((name, new)) = names.split_last() else {
        return Err(StoreError::AlreadyExists);
    };
    let (name, new) = ((*name).to_owned(), owned(new));
    let parameters: Vec<Parameter> =
        vec![Box::new(id), Box::new(parent), Box::new(new), Box::new(name)];
    Ok(ChangeTransaction::new(&statements::MOVE, parameters))
}

/// Adds a file or directory at the end of the path, and its missing parents.
pub(super) fn add(
    way: &Way,
    path: &MemoryPath,
    content: Option<Vec<u8>>,
) -> Result<ChangeTransaction, StoreError> {
    let (parent, names) = missing(way, path)?;
    let growth = content.as_ref().map_or(Growth::NONE, |new| Growth::of_file(None, new.len()));
    let parameters: Vec<Parameter> =
        vec![Box::new(parent), Box::new(owned(&names)), Box::new(content)];
    Ok(ChangeTransaction::new(&statements::ADD, parameters).growing(growth))
}

/// Replaces the content of a file.
pub(super) fn replace(file: &FoundRow, content: Vec<u8>) -> Result<ChangeTransaction, StoreError> {
    check_length(&content)?;
    let growth = Growth::of_file(file.size.or(Some(0)), content.len());
    let parameters: Vec<Parameter> = vec![Box::new(file.id), Box::new(content)];
    Ok(ChangeTransaction::new(&statements::REPLACE, parameters).growing(growth))
}

pub(super) fn check_length(content: &[u8]) -> Result<(), StoreError> {
    if content.len() > MAX_CONTENT_BYTES {
        let problem = format!("PostgreSQL keeps no more than {MAX_CONTENT_BYTES} bytes in a file");
        return Err(StoreError::failed("writing a file", problem).unchanged());
    }
    Ok(())
}

pub(super) fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
