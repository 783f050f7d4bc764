//! [`Arguments`]: the arguments of one operation, by position.

use memdir::value::Value;
use memdir::{Cancellation, Error};
use serde_json::Value as Json;

use crate::errors::Failure;
use crate::input::value;

/// The arguments of an operation, in the order in which `ts/wasm.ts` passes them.
pub(crate) struct Arguments(Vec<Json>);

impl Arguments {
    pub(crate) fn new(given: Vec<Json>) -> Self {
        Self(given)
    }

    /// The argument at this position; null if it is absent.
    pub(crate) fn get(&self, place: usize) -> &Json {
        self.0.get(place).unwrap_or(&Json::Null)
    }

    /// The number of a value that JavaScript holds.
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

    /// A cancellation that is already cancelled, or that never will be.
    pub(crate) fn cancellation(&self, place: usize) -> Cancellation {
        let cancellation = Cancellation::new();
        if self.flag(place) {
            cancellation.cancel();
        }
        cancellation
    }

    /// An argument from the developer, read like an option.
    pub(crate) fn given<T>(
        &self,
        place: usize,
        name: &str,
        read: impl FnOnce(&str, &Value<'_>) -> Result<T, Error>,
    ) -> Result<T, Failure> {
        Ok(read(name, &value(self.get(place)))?)
    }
}
