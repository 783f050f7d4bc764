//! Recognises images, as a view does.

use memdir::Image;
use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

/// The media type of a complete PNG or JPEG image; null for anything else.
#[napi(ts_return_type = "'image/png' | 'image/jpeg' | null")]
#[cfg_attr(test, allow(dead_code, reason = "only JavaScript calls it"))]
#[must_use]
pub(crate) fn image_type(content: Uint8Array) -> Option<&'static str> {
    Image::in_bytes(&content).map(|image| image.media_type)
}
