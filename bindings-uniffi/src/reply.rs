//! [`Reply`]: the answer to a tool call.

use memdir::{Content, Image, NameCase};

use crate::results::ErrorKind;

/// The answer to one tool call.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The text for the model. If the reply is an image, a short description of it.
    pub content: String,
    /// True if the command failed: the `is_error` of the `tool_result`.
    pub is_error: bool,
    /// The kind of error; null if there is no error.
    #[uniffi(default = None)]
    pub kind: Option<ErrorKind>,
    /// The error, if the store itself or a hook failed. Write it to your log and never show it to the model.
    #[uniffi(default = None)]
    pub cause: Option<String>,
    /// The image for the model, to be sent instead of the text; null if the reply is text. It is always null unless
    /// `max_image_bytes` is set.
    #[uniffi(default = None)]
    pub image: Option<ReplyImage>,
}

/// An image that a view shows. The bytes are those of a complete PNG or JPEG file.
#[derive(uniffi::Record, Debug, Clone, PartialEq, Eq)]
pub struct ReplyImage {
    /// `image/png` or `image/jpeg`, according to the content and not the name.
    pub media_type: String,
    /// The file's content.
    pub bytes: Vec<u8>,
}

/// The media type of a complete PNG or JPEG image: `image/png` or `image/jpeg`, or null for anything else. A truncated
/// image is also null, because Anthropic's API rejects it. A view shows a file as an image only if this returns a type.
/// Pixels are not decoded.
#[uniffi::export]
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "UniFFI hands over what it has made")]
pub fn image_type(content: Vec<u8>) -> Option<String> {
    Image::in_bytes(&content).map(|image| image.media_type.to_owned())
}

impl From<memdir::Reply> for Reply {
    fn from(reply: memdir::Reply) -> Self {
        let (content, image) = match reply.content {
            Content::Image { media_type, bytes } => {
                let words = format!("[{media_type}, {} bytes]", bytes.len());
                (words, Some(ReplyImage { media_type: media_type.to_owned(), bytes }))
            }
            other => (other.into_text(), None),
        };
        Self {
            content,
            image,
            is_error: reply.is_error,
            kind: reply.kind.map(ErrorKind::from),
            cause: reply.cause.map(|cause| match cause {
                memdir::Error::Store(cause) => cause.to_string(),
                other => sentence(&other),
            }),
        }
    }
}

/// An error's message, with the names of options as Kotlin and Swift write them.
pub(crate) fn sentence(error: &memdir::Error) -> String {
    match error {
        memdir::Error::Config(error) => error.in_case(NameCase::Camel),
        other => other.to_string(),
    }
}
