//! Recognises images by the same rule as a view.

use memdir::Image;
use pyo3::prelude::*;

use crate::hints::{self, Hinted};
use crate::options::bytes;

/// Returns the media type of a complete PNG or JPEG image: `"image/png"` or `"image/jpeg"`. Returns
/// `None` for anything else, including a truncated image, which Anthropic's API refuses. A view
/// shows a file as an image if this returns a type.
///
/// Args:
///     content: The content of a file. Pixels are not decoded.
///
/// >>> from memdir import image_type
/// >>> image_type(b"a text") is None
/// True
#[pyfunction]
pub(crate) fn image_type(content: Hinted<'_, hints::Bytes>) -> PyResult<Option<&'static str>> {
    let content = bytes("content", &content.into_inner())?;
    Ok(Image::in_bytes(&content).map(|image| image.media_type))
}
