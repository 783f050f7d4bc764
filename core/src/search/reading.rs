//! Reads the texts of files for the index, as a view would show them.

use std::io::{ErrorKind, Read};

use memdir_store::Error;

use crate::image::has_image_name;
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::store::{Context, Entry, EntryKind, InContext, Node, Store as _, StoreError};

/// The size up to which files are read in batches. A larger file is read as a stream, which ends at the first byte that is not text.
const SMALL: u64 = 64 * 1024;

/// The most files and bytes that are read before they are put into the index.
const BATCH_FILES: usize = 256;
const BATCH_BYTES: u64 = 4 << 20;

/// The bytes of a stream that are read at once.
const BLOCK: usize = 64 * 1024;

/// The result of reading a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The text, up to the first byte that is not text. Empty for an image, which is found by its path.
    Text(String),
    /// The text does not fit into the index, or is too large to be shown.
    TooLarge,
    /// The file no longer exists, or cannot be read.
    Gone,
}

/// Files with their contents.
pub(super) type ReadFiles<'f> = Vec<(&'f Entry, Content)>;

/// Reads files, and calls `visit` with the contents of some at a time, in order.
///
/// # Errors
/// Failures of the store, and cancellation. Files were visited up to some file.
pub(super) fn read_each(
    store: &InContext<'_>,
    policies: &Policies,
    max_bytes: u64,
    files: &[Entry],
    visit: &mut dyn FnMut(ReadFiles<'_>),
) -> Result<(), Error> {
    let mut rest = files;
    while let Some((first, after)) = rest.split_first() {
        store.check().map_err(Error::Store)?;
        let (batch, after_batch) = rest.split_at(batch_len(rest));
        if batch.is_empty() {
            visit(vec![(first, read_one(store, policies, max_bytes, first)?)]);
            rest = after;
            continue;
        }
        let paths: Vec<_> = batch.iter().map(|file| &file.path).collect();
        let mut contents = Vec::with_capacity(batch.len());
        let context = Context::new().cancelled_by(store.cancellation());
        let read = store.read_batch(&context, &paths, &mut |content| contents.push(content));
        let read_files = contents.len().min(batch.len());
        let mut texts = Vec::with_capacity(read_files);
        for (file, content) in batch.iter().zip(contents) {
            store.check().map_err(Error::Store)?;
            texts.push((file, Content::Text(shown(policies, content))));
        }
        visit(texts);
        rest = &rest[read_files..];
        match (read, rest.split_first()) {
            (Err(error), _) if error.is_failure() => return Err(Error::Store(error)),
            // This file could not be read. The others are in the next batch.
            (Err(_), Some((file, after))) => {
                visit(vec![(file, Content::Gone)]);
                rest = after;
            }
            (Ok(()), Some((file, after))) if read_files < batch.len() => {
                visit(vec![(file, read_one(store, policies, max_bytes, file)?)]);
                rest = after;
            }
            (Ok(()), _) => rest = after_batch,
            (Err(_), None) => {}
        }
    }
    Ok(())
}

/// The number of files that are read together, from the first on; 0 if the first is read alone.
fn batch_len(files: &[Entry]) -> usize {
    let mut bytes = 0;
    let fits = |file: &&Entry| match file.kind {
        EntryKind::File(size) if size <= SMALL && !has_image_name(&file.path) => {
            bytes += size;
            bytes <= BATCH_BYTES
        }
        _ => false,
    };
    files.iter().take(BATCH_FILES).take_while(fits).count()
}

fn read_one(
    store: &InContext<'_>,
    policies: &Policies,
    max_bytes: u64,
    file: &Entry,
) -> Result<Content, Error> {
    if has_image_name(&file.path) {
        return Ok(Content::Text(String::new()));
    }
    let limit = match policies.options.max_edited_bytes() {
        Some(most) if policies.sensitive.on_view => most.min(max_bytes),
        _ => max_bytes,
    };
    match store.open(&file.path, 0) {
        Ok(Node::File(_, content)) => Ok(match text_of(store, content, limit)? {
            Some(bytes) => Content::Text(shown(policies, bytes)),
            None => Content::TooLarge,
        }),
        Ok(Node::Directory(_)) => Ok(Content::Gone),
        Err(error) if error.is_failure() => Err(Error::Store(error)),
        Err(_) => Ok(Content::Gone),
    }
}

/// Reads a content up to the first byte that is not text, and that byte. `None` if there is more text than `limit`.
fn text_of(
    store: &InContext<'_>,
    mut content: impl Read,
    limit: u64,
) -> Result<Option<Vec<u8>>, Error> {
    let mut bytes = Vec::new();
    let (mut filled, mut valid) = (0, 0);
    loop {
        if filled == bytes.len() {
            bytes.resize((2 * filled).max(BLOCK), 0);
        }
        let read = match content.read(&mut bytes[filled..]) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => {
                store.check().map_err(Error::Store)?;
                return Err(Error::Store(StoreError::failed("reading a file", error)));
            }
        };
        store.check().map_err(Error::Store)?;
        filled += read;
        let is_text = match str::from_utf8(&bytes[valid..filled]) {
            Ok(text) => {
                valid += text.len();
                true
            }
            Err(error) => {
                valid += error.valid_up_to();
                error.error_len().is_none() && read > 0
            }
        };
        if valid as u64 > limit {
            return Ok(None);
        }
        if read == 0 || !is_text {
            bytes.truncate(filled.min(valid + 1));
            return Ok(Some(bytes));
        }
    }
}

/// The text of a content as a view shows it. A view does not show a file that is not text, so nothing of it is redacted.
fn shown(policies: &Policies, content: Vec<u8>) -> String {
    match String::from_utf8(content) {
        Ok(text) if policies.sensitive.on_view => {
            sensitive::shown(&policies.sensitive, &text).into_owned()
        }
        Ok(text) => text,
        Err(_) if policies.sensitive.on_view => String::new(),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let mut bytes = error.into_bytes();
            bytes.truncate(valid);
            String::from_utf8(bytes).unwrap_or_default()
        }
    }
}
