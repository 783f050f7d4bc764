//! Replies for JavaScript.

use memdir::{Content, Error, NameCase, Reply};
use napi::bindgen_prelude::{Buffer, JsObjectValue, JsValue, Object};
use napi::{Env, Result};

/// A reply whose text has an encoding that the JavaScript engine uses for strings, so JavaScript's
/// thread only copies it. To convert UTF-8 to UTF-16 there is several times slower than here.
pub(crate) struct Answer {
    content: Shown,
    is_error: bool,
    cause: Option<String>,
    /// Whether it was a hook that failed, and not the store.
    hook: bool,
}

enum Shown {
    Ascii(String),
    Utf16(Vec<u16>),
    Image(&'static str, Vec<u8>),
}

impl From<Content> for Shown {
    fn from(content: Content) -> Self {
        match content {
            Content::Image { media_type, bytes } => Self::Image(media_type, bytes),
            text => {
                let text = text.into_text();
                match text.is_ascii() {
                    true => Self::Ascii(text),
                    false => Self::Utf16(text.encode_utf16().collect()),
                }
            }
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        Self {
            content: reply.content.into(),
            is_error: reply.is_error,
            hook: matches!(reply.cause, Some(Error::Hook(_))),
            cause: reply.cause.map(|cause| match cause {
                Error::Store(cause) => cause.to_string(),
                Error::Config(cause) => cause.in_case(NameCase::Camel),
                other => other.to_string(),
            }),
        }
    }
}

impl Answer {
    /// The object `{ content, isError, cause, hook }`. `cause` is set only if the store or a hook
    /// failed, and `hook` only if it was a hook. The content is a string or, for an image,
    /// `{ mediaType, bytes }`.
    pub(crate) fn into_object(self, env: &Env) -> Result<Object<'static>> {
        let mut object = Object::new(env)?;
        match self.content {
            Shown::Ascii(text) => {
                object.set_named_property("content", env.create_string_latin1(text)?)?;
            }
            Shown::Utf16(units) => {
                object.set_named_property("content", env.create_string_utf16(units)?)?;
            }
            Shown::Image(media_type, bytes) => {
                let mut image = Object::new(env)?;
                image.set_named_property("mediaType", media_type)?;
                image.set_named_property("bytes", Buffer::from(bytes))?;
                object.set_named_property("content", image)?;
            }
        }
        object.set_named_property("isError", self.is_error)?;
        if let Some(cause) = self.cause {
            object.set_named_property("cause", cause)?;
        }
        if self.hook {
            object.set_named_property("hook", true)?;
        }
        Ok(Object::from_raw(env.raw(), object.raw()))
    }
}
