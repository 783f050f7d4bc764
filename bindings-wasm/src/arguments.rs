//! [`Arguments`]: those of one operation, by their places.

use memdir::value::Value;
use memdir::{Cancellation, Error};
use serde_json::Value as Json;

use crate::errors::Failure;
use crate::input::value;

/// The arguments of an operation. `ts/wasm.ts` hands them over as the operation expects them.
pub(crate) struct Arguments(Vec<Json>);

impl Arguments {
    pub(crate) fn new(given: Vec<Json>) -> Self {
        Self(given)
    }

    /// The argument in this place; null if it is not there.
    pub(crate) fn get(&self, place: usize) -> &Json {
        self.0.get(place).unwrap_or(&Json::Null)
    }

    /// The number of what JavaScript holds.
    pub(crate) fn number(&self, place: usize) -> u32 {
        self.get(place).as_u64().and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
    }

    /// A text.
    pub(crate) fn text(&self, place: usize) -> &str {
        self.get(place).as_str().unwrap_or_default()
    }

    /// A flag.
    pub(crate) fn flag(&self, place: usize) -> bool {
        self.get(place).as_bool().unwrap_or_default()
    }

    /// A cancellation that is cancelled already, or never.
    pub(crate) fn cancellation(&self, place: usize) -> Cancellation {
        let cancellation = Cancellation::new();
        if self.flag(place) {
            cancellation.cancel();
        }
        cancellation
    }

    /// An argument of a developer's, read as an option is.
    pub(crate) fn given<T>(
        &self,
        place: usize,
        name: &str,
        read: impl FnOnce(&str, &Value<'_>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        Ok(read(name, &value(self.get(place)))?)
    }
}
