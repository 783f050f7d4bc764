//! [`Shown`]: a result or an event for JavaScript. Its TypeScript types are generated: `results.d.cts`.

use memdir::NameCase;
use memdir_bindings_shared::plain::Plain;
use napi::bindgen_prelude::{JsObjectValue, JsValue, Null, Object, ToNapiValue, Unknown};
use napi::{Env, Result, sys};
use serde::Serialize;

use crate::times::of_date;

/// A value of the engine, taken apart. In JavaScript it is a plain object, an array or a text. A field without a value is
/// absent.
pub struct Shown(Plain);

impl Shown {
    /// Takes a value apart. Prefer to call it on one of our threads.
    pub(crate) fn of(value: impl Serialize) -> Self {
        Self(Plain::of(&value))
    }

    fn into_js(self, env: &Env) -> Result<Unknown<'_>> {
        match self.0 {
            Plain::Nothing => Null.into_unknown(env),
            Plain::Flag(flag) => flag.into_unknown(env),
            #[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
            Plain::Count(count) => (count as f64).into_unknown(env),
            Plain::Text(text) => text.into_unknown(env),
            Plain::Time(time) => Ok(env.create_date(of_date(time))?.to_unknown()),
            Plain::Number(number) => number.into_unknown(env),
            Plain::Seconds(seconds) => (seconds * 1_000.0).into_unknown(env),
            Plain::List(items) => items.into_iter().map(Self).collect::<Vec<_>>().into_unknown(env),
            Plain::Record(_, fields) => {
                let mut object = Object::new(env)?;
                for (name, value) in fields {
                    if value != Plain::Nothing {
                        object.set_named_property(&NameCase::Camel.of(name), Self(value))?;
                    }
                }
                Ok(object.to_unknown())
            }
        }
    }
}

#[expect(unsafe_code, reason = "the function of the trait is unsafe")]
impl ToNapiValue for Shown {
    unsafe fn to_napi_value(env: sys::napi_env, shown: Self) -> Result<sys::napi_value> {
        Ok(shown.into_js(&Env::from_raw(env))?.raw())
    }
}
