//! `view`: shows a directory two levels deep, the numbered lines of a file, or an image.

use std::fmt::Write as _;
use std::io::Read;

use memdir_store::Error;
use memdir_store::path::MemoryPath;

use super::text;
use crate::command::ViewRange;
use crate::image::{Image, MAX_IMAGE_SIDE, has_image_name};
use crate::options::MemoryOptions;
use crate::policies::Policies;
use crate::policy::sensitive;
use crate::policy::stale_guard::Fingerprinter;
use crate::reply::{self, Content};
use crate::store::{Entry, EntryKind, Node, Store, StoreError, sort_by_path};
use crate::text::{Ending, MAX_LINES, Pager, human_size};

/// The number of levels that a listing shows (documentation of the tool, "view").
const LISTED_LEVELS: usize = 2;

/// The number of bytes of a file that are in memory at a time.
const WINDOW: usize = 256 * 1024;

pub(super) fn view(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    range: Option<&ViewRange>,
) -> Result<Content, Error> {
    let fingerprinter = policies.views.fingerprinter();
    show(store, policies, path, range, store.open(path, LISTED_LEVELS), fingerprinter)
}

/// Like `view`, but returns `None` if a step might block.
pub(super) fn view_nowait(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    range: Option<&ViewRange>,
) -> Option<Result<Content, Error>> {
    // Recording an access is a write, and a search for sensitive text is slow.
    if policies.expiry.records_access() || policies.sensitive.on_view {
        return None;
    }
    let fingerprinter = policies.views.fingerprinter();
    let opened = store.open_nowait(path, LISTED_LEVELS)?;
    // The notice in a listing may need a walk through the tree.
    if matches!(opened, Ok(Node::Directory(_))) && policies.limits.are_set() {
        return None;
    }
    Some(show(store, policies, path, range, opened, fingerprinter))
}

fn show(
    store: &dyn Store,
    policies: &Policies,
    path: &MemoryPath,
    range: Option<&ViewRange>,
    opened: Result<Node<'_>, StoreError>,
    mut fingerprinter: Option<Fingerprinter>,
) -> Result<Content, Error> {
    let options = &policies.options;
    let shown = match opened {
        // The documentation's own example sends a range with a directory, so the range is ignored.
        Ok(Node::Directory(entries)) => {
            let notice = policies.limits.notice(store);
            return Ok(Content::Text(listing(options, path, entries, notice)));
        }
        Ok(Node::File(size, content)) if has_image_name(path) => {
            image(options, path, size, content)?
        }
        Ok(Node::File(size, content)) => {
            let content = match &mut fingerprinter {
                Some(fingerprinter) => fingerprinter.through(content),
                None => content,
            };
            let shown = file(policies, path, range, size, content)?;
            policies.views.remember(path, fingerprinter.map(Fingerprinter::end));
            Content::Text(shown)
        }
        Err(StoreError::NotFound | StoreError::NotADirectory) => {
            return Err(reply::view_missing(path));
        }
        Err(error) => return Err(reply::condition(path, error)),
    };
    policies.expiry.record(store, path)?;
    Ok(shown)
}

fn file(
    policies: &Policies,
    path: &MemoryPath,
    range: Option<&ViewRange>,
    size: u64,
    content: Box<dyn Read + '_>,
) -> Result<String, Error> {
    let options = &policies.options;
    if policies.sensitive.on_view {
        let content = whole(policies, path, size, content, reply::too_large_to_redact)?;
        return numbered(options, path, range, content.len() as u64, Box::new(content.as_bytes()));
    }
    numbered(options, path, range, size, content)
}

/// Formats a listing. `notice` is the last line; entries are left out to make room for it.
fn listing(
    options: &MemoryOptions,
    path: &MemoryPath,
    mut entries: Vec<Entry>,
    notice: Option<String>,
) -> String {
    let notice = notice.unwrap_or_default();
    let limit = options.max_view_chars.map(|limit| limit.saturating_sub(notice.chars().count()));
    sort_by_path(&mut entries);
    let mut out = reply::directory_header(path);
    push_entry(&mut out, &Entry::directory(path.clone()));
    let mut chars = out.chars().count();
    for (shown, entry) in entries.iter().enumerate() {
        let start = out.len();
        push_entry(&mut out, entry);
        chars += out[start..].chars().count();
        if limit.is_some_and(|limit| chars > limit) {
            out.truncate(start);
            out += &reply::more_entries(entries.len() - shown);
            break;
        }
    }
    out + &notice
}

fn push_entry(out: &mut String, entry: &Entry) {
    let _ = match entry.kind {
        EntryKind::File(bytes) => write!(out, "\n{}\t{}", human_size(bytes), entry.path),
        // A directory's own size differs between stores and means nothing, so it is always the figure of the
        // documentation's example.
        EntryKind::Directory => write!(out, "\n4.0K\t{}", entry.path),
    };
}

/// Returns the whole image, whatever the range. Reads no more than the limit.
fn image(
    options: &MemoryOptions,
    path: &MemoryPath,
    size: u64,
    content: Box<dyn Read + '_>,
) -> Result<Content, Error> {
    let limit = options.max_image_bytes.ok_or_else(|| reply::image(path))?;
    let mut bytes = Vec::new();
    if size <= limit {
        let mut start = content.take(limit.saturating_add(1));
        start
            .read_to_end(&mut bytes)
            .map_err(|error| Error::Store(StoreError::failed("reading a file", error)))?;
    }
    // Some stores know a file's size only after reading it.
    let size = size.max(bytes.len() as u64);
    if size > limit {
        return Err(reply::image_too_large(path, size, limit));
    }
    if bytes.is_empty() {
        return Err(reply::empty_image(path));
    }
    let image = Image::in_bytes(&bytes).ok_or_else(|| reply::not_an_image(path))?;
    if image.width.max(image.height) > MAX_IMAGE_SIDE {
        return Err(reply::image_too_wide(path, image.width, image.height, MAX_IMAGE_SIDE));
    }
    Ok(Content::Image { media_type: image.media_type, bytes })
}

/// The lines of a range, 1-based and inclusive. Without `last`, up to the end of the file.
#[derive(Clone, Copy)]
struct Lines {
    first: u64,
    last: Option<u64>,
}

/// Validates the range as far as possible without the file. `None` if it is invalid for every file.
fn wanted(range: Option<&ViewRange>) -> Option<Lines> {
    match range {
        None => Some(Lines { first: 1, last: None }),
        Some(ViewRange::Malformed(_)) => None,
        Some(&ViewRange::Lines(first, last)) => {
            let first = u64::try_from(first).ok().filter(|&first| first > 0)?;
            // A backward range is validated when the file's length is known.
            let last = (last != -1).then(|| u64::try_from(last).unwrap_or(0));
            Some(Lines { first, last })
        }
    }
}

/// Returns the whole content, redacted if views are. A key that spans several lines is recognised by its first
/// line, so reading a part of the file is not enough.
///
/// # Errors
/// The error from `too_large`, if the file is larger than commands can edit.
pub(crate) fn whole(
    policies: &Policies,
    path: &MemoryPath,
    size: u64,
    content: Box<dyn Read + '_>,
    too_large: fn(&MemoryPath, u64) -> Error,
) -> Result<String, Error> {
    let limit = policies.options.max_edited_bytes().unwrap_or(u64::MAX);
    let mut whole = Vec::new();
    let size_hint = usize::try_from(size).unwrap_or(usize::MAX);
    if size > limit || whole.try_reserve_exact(size_hint).is_err() {
        return Err(too_large(path, size));
    }
    content
        .take(limit)
        .read_to_end(&mut whole)
        .map_err(|error| Error::Store(StoreError::failed("reading a file", error)))?;
    Ok(sensitive::shown(&policies.sensitive, text(path, &whole)?).into_owned())
}

fn numbered(
    options: &MemoryOptions,
    path: &MemoryPath,
    range: Option<&ViewRange>,
    size: u64,
    mut content: Box<dyn Read + '_>,
) -> Result<String, Error> {
    let lines = wanted(range);
    // The file is also read for an invalid range, because the error says how many lines the file has.
    let Lines { first, last } = lines.unwrap_or(Lines { first: u64::MAX, last: None });
    let header = reply::file_header(path);
    // Lines beyond the limit are never shown, so they are not collected.
    let until = last.unwrap_or(MAX_LINES).min(MAX_LINES);
    let mut pager = Pager::new(header, first, until, options.max_view_chars);

    // One byte more than the file's size, so a small file is read in one call.
    let size_hint = usize::try_from(size).unwrap_or(WINDOW).saturating_add(1).clamp(1, WINDOW);
    pager.reserve(size_hint + size_hint / 2);
    let mut window = vec![0; size_hint];
    loop {
        let filled = match content.read(&mut window) {
            Ok(0) => break,
            Ok(filled) => filled,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Error::Store(StoreError::failed("reading a file", error)));
            }
        };
        pager.feed(&window[..filled]).map_err(|_| reply::not_text(path))?;
    }
    let page = pager.finish().map_err(|_| reply::not_text(path))?;

    let total = page.last_line;
    if total > MAX_LINES {
        return Err(reply::too_many_lines(path));
    }
    let valid = lines.is_some_and(|Lines { first, last }| {
        // For an empty file, every range that starts at line 1 is valid.
        if total == 0 {
            first == 1
        } else {
            first <= total && last.is_none_or(|last| last >= first)
        }
    });
    if !valid {
        let range = match range {
            Some(ViewRange::Lines(first, last)) => format!("[{first}, {last}]"),
            Some(ViewRange::Malformed(shown)) => shown.clone(),
            None => String::new(),
        };
        return Err(reply::invalid_view_range(&range, total));
    }
    let mut text = page.text;
    // A range that ends after the last line is cut to the end of the file.
    let end = last.filter(|&last| last < total);
    match (page.ending, page.last_shown) {
        (Ending::More, Some(shown)) => text += &reply::more_lines(first, shown, total, end),
        (Ending::CutLine(chars), Some(shown)) => {
            text += &reply::cut_line(shown, chars, total, end);
        }
        _ => {}
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_known_by_their_ending() {
        for (name, image) in [
            ("a.png", true),
            ("a.b.JPG", true),
            ("a.jpeg", true),
            ("png", false),
            ("a.png.md", false),
            (".png", true),
        ] {
            let path = MemoryPath::root().join(name).unwrap();
            assert_eq!(has_image_name(&path), image, "{name}");
        }
    }
}
