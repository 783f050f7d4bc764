//! Recognises images, as a view does.

use memdir::Image;
use pyo3::prelude::*;

/// The media type of a whole PNG or JPEG image: `"image/png"` or `"image/jpeg"`. `None` for anything
/// else, also for an image that is cut off, which Anthropic's API refuses. A view shows a file as an
/// image if this names one.
///
/// Args:
///     content: The content of a file. Pixels are not decoded.
///
/// >>> from memdir import image_type
/// >>> image_type(b"a text") is None
/// True
#[pyfunction]
pub(crate) fn image_type(content: &[u8]) -> Option<&'static str> {
    Image::in_bytes(content).map(|image| image.media_type)
}
