//! The files of a memory as resources, such as `memdir:///memories/notes.md`.

use data_encoding::BASE64;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents};

use memdir::command::Command;
use memdir::path::MemoryPath;
use memdir::reply::{Content, Reply};
use memdir::store::{Entry, EntryKind};
use memdir::{Error, ErrorKind, Memory};

const SCHEME: &str = "memdir://";

/// The number of files on a page of the list.
const PAGE: usize = 500;

/// The characters that must be escaped in the path of a URI.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

pub(super) fn uri(path: &MemoryPath) -> String {
    format!("{SCHEME}{}", utf8_percent_encode(path.as_str(), ESCAPED))
}

/// The path in a URI; `None` if it is not a URI of this server.
pub(super) fn path(uri: &str) -> Option<MemoryPath> {
    let path = percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?;
    MemoryPath::parse(&path).ok().filter(|path| !path.is_reserved())
}

/// The files after `cursor`, which is the path of the last one that the client has.
pub(super) fn list(
    memory: &Memory,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let after = match cursor {
        None => None,
        Some(cursor) => Some(
            path(cursor).ok_or_else(|| ErrorData::invalid_params("The cursor is unknown", None))?,
        ),
    };
    let entries = memory.list("/memories", None).map_err(broken)?;
    let mut files = entries
        .into_iter()
        .filter(|entry| entry.is_file() && after.as_ref().is_none_or(|after| entry.path > *after));
    let page: Vec<Entry> = files.by_ref().take(PAGE).collect();
    let more = files.next().is_some();
    let mut result = ListResourcesResult::with_all_items(page.iter().map(resource).collect());
    result.next_cursor = page.last().filter(|_| more).map(|last| uri(&last.path));
    Ok(result)
}

fn resource(file: &Entry) -> Resource {
    let name = file.path.name().unwrap_or_default();
    let mut resource = Resource::new(uri(&file.path), name)
        .with_title(file.path.as_str())
        .with_mime_type(mime_type(name));
    if let EntryKind::File(bytes) = file.kind {
        resource = resource.with_size(bytes);
    }
    resource
}

/// The media type by the extension of the name.
fn mime_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
        Some("md" | "markdown") => "text/markdown",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        _ => "text/plain",
    }
}

/// A file as the model may see it, without the text that views hide.
pub(super) fn read(memory: &Memory, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let not_found = || ErrorData::resource_not_found("There is no such resource", None);
    let path = path(uri).ok_or_else(not_found)?;
    let mime_type = mime_type(path.name().unwrap_or_default());
    let refusal = |error: Error| match error {
        error if error.kind() == ErrorKind::NotFound => not_found(),
        error => broken(error),
    };
    let contents = if mime_type.starts_with("image/") {
        let view = Command::View { path: path.as_str().into(), view_range: None };
        match memory.run(&view).map_err(refusal)? {
            Content::Image { media_type, bytes } => {
                ResourceContents::blob(BASE64.encode(&bytes), uri).with_mime_type(media_type)
            }
            // The name may be that of a directory.
            _ => return Err(not_found()),
        }
    } else {
        let text = memory.read_shown(path.as_str()).map_err(refusal)?;
        ResourceContents::text(text, uri).with_mime_type(mime_type)
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// The error for the client. A refusal is a sentence that a model may read. For a failure of the store, the client only learns that
/// there was one.
fn broken(error: Error) -> ErrorData {
    match error {
        Error::Refused(refused) => ErrorData::invalid_params(refused.into_sentence(), None),
        error => {
            let reply = Reply::from(Err(error));
            ErrorData::internal_error(reply.content.into_text(), None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_and_a_path_are_the_same_file() {
        for name in ["notes.md", "a b", "ä#1?.txt", "100%", "x[1]", "q\"uote"] {
            let file = MemoryPath::root().join(name).unwrap();
            let uri = uri(&file);
            assert_eq!(path(&uri), Some(file), "{uri}");
            assert!(uri.is_ascii() || !name.is_ascii());
        }
        for foreign in [
            "file:///memories/a",
            "memdir:///etc/passwd",
            "memdir:///memories/%2e%2e/a",
            "memdir:///memories/%ff",
        ] {
            assert_eq!(path(foreign), None, "{foreign}");
        }
    }
}
