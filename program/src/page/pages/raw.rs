//! Serves a file itself: an image for a page, or a download.

use crate::page::answer::{Done, PageAnswer, Refusal};
use crate::page::params::Params;
use crate::page::site::{Room, Site};
use memdir::Image;
use memdir::path::MemoryPath;
use memdir::store::StoreError;

/// An image, if it is of a type that the model can see.
pub(in crate::page) fn image(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    let bytes = bytes(room, &params.path()?)?;
    match Image::in_bytes(&bytes) {
        Some(image) => Ok(Done::Image(image.media_type, bytes)),
        None => Err(Refusal::not_found("The file is not an image.")),
    }
}

/// The bytes of a file, which the browser saves instead of showing them.
pub(in crate::page) fn download(_: &Site, room: &Room, params: &Params) -> PageAnswer {
    let path = params.path()?;
    let bytes = bytes(room, &path)?;
    Ok(Done::File(path.name().unwrap_or("memory").to_owned(), bytes))
}

fn bytes(room: &Room, path: &MemoryPath) -> Result<Vec<u8>, Refusal> {
    room.memory().store().read(path).map_err(|error| match error {
        StoreError::Failed { .. } | StoreError::Busy | StoreError::Cancelled => {
            memdir::Error::Store(error).into()
        }
        error => Refusal::not_found(format!("{path}: {error}")),
    })
}
