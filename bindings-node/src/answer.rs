//! Converts replies for JavaScript.

use memdir::{Content, Error, ErrorKind, NameCase, Reply};
use napi::bindgen_prelude::{
    Buffer, Either, JsObjectValue, JsValue, Latin1String, Object, Utf16String,
};
use napi::{Env, Result};

use crate::errors::code;
use crate::thrown::Thrown;

/// A text in an encoding that the JavaScript engine uses for strings, so JavaScript's thread only copies it. Converting
/// UTF-8 to UTF-16 on that thread is several times slower than on ours.
pub(crate) type Text = Either<Latin1String, Utf16String>;

/// The text for JavaScript. Call it on one of our threads.
pub(crate) fn text(text: String) -> Text {
    match text.is_ascii() {
        true => Either::A(text.into()),
        false => Either::B(text.into()),
    }
}

/// A reply for JavaScript.
pub(crate) struct Answer {
    content: Shown,
    is_error: bool,
    kind: Option<ErrorKind>,
    cause: Option<String>,
    /// If the store failed: the code of its error, and the value that a store in JavaScript threw.
    code: Option<&'static str>,
    thrown: Option<napi::Error>,
    /// True if a hook failed, and not the store.
    hook: bool,
}

enum Shown {
    Text(Text),
    Image(&'static str, Vec<u8>),
}

impl From<Content> for Shown {
    fn from(content: Content) -> Self {
        match content {
            Content::Image { media_type, bytes } => Self::Image(media_type, bytes),
            other => Self::Text(text(other.into_text())),
        }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let of_store = match &reply.cause {
            Some(Error::Store(error)) => Some(error),
            _ => None,
        };
        Self {
            code: of_store.map(code),
            thrown: of_store.and_then(|error| Thrown::beneath(error)),
            content: reply.content.into(),
            is_error: reply.is_error,
            kind: reply.kind,
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
    /// The object `{ content, isError, kind, cause, code, thrown, hook }`. The content is a string or, for an image,
    /// `{ mediaType, bytes }`.
    ///
    /// `kind` is set only for an error, `cause` only if the store or a hook failed, `code` only if it was the store, and
    /// `hook` only if it was a hook. `thrown` is set if the store that failed is written in JavaScript.
    pub(crate) fn into_object(self, env: &Env) -> Result<Object<'static>> {
        let mut object = Object::new(env)?;
        match self.content {
            Shown::Text(text) => object.set_named_property("content", text)?,
            Shown::Image(media_type, bytes) => {
                let mut image = Object::new(env)?;
                image.set_named_property("mediaType", media_type)?;
                image.set_named_property("bytes", Buffer::from(bytes))?;
                object.set_named_property("content", image)?;
            }
        }
        object.set_named_property("isError", self.is_error)?;
        if let Some(kind) = self.kind {
            object.set_named_property("kind", kind.as_str())?;
        }
        if let Some(cause) = self.cause {
            object.set_named_property("cause", cause)?;
        }
        if let Some(code) = self.code {
            object.set_named_property("code", code)?;
        }
        if let Some(thrown) = self.thrown {
            object.set_named_property("thrown", thrown)?;
        }
        if self.hook {
            object.set_named_property("hook", true)?;
        }
        Ok(Object::from_raw(env.raw(), object.raw()))
    }
}
