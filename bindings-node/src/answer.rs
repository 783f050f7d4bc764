//! A reply on its way to JavaScript.

use memdir::{Error, Reply};
use napi::bindgen_prelude::{JsObjectValue, JsValue, Object};
use napi::{Env, JsString, Result};

/// A reply whose text is in an encoding that the engine keeps strings in, so that JavaScript's
/// thread has nothing left to do but to copy it: there, turning UTF-8 into UTF-16 is several times
/// slower than here.
pub(crate) struct Answer {
    content: Text,
    is_error: bool,
    cause: Option<String>,
    /// Whether it was a hook that failed, and not the store.
    hook: bool,
}

enum Text {
    Ascii(String),
    Utf16(Vec<u16>),
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let text = reply.content.into_text();
        Self {
            content: match text.is_ascii() {
                true => Text::Ascii(text),
                false => Text::Utf16(text.encode_utf16().collect()),
            },
            is_error: reply.is_error,
            hook: matches!(reply.cause, Some(Error::Hook(_))),
            cause: reply.cause.map(|cause| match cause {
                Error::Store(cause) => cause.to_string(),
                other => other.to_string(),
            }),
        }
    }
}

impl Answer {
    /// The object `{ content, isError, cause, hook }`; `cause` is there only if the store or a hook
    /// broke, and `hook` only if it was a hook.
    pub(crate) fn into_object(self, env: &Env) -> Result<Object<'static>> {
        let content: JsString<'_> = match self.content {
            Text::Ascii(text) => env.create_string_latin1(text)?,
            Text::Utf16(units) => env.create_string_utf16(units)?,
        };
        let mut object = Object::new(env)?;
        object.set_named_property("content", content)?;
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
