//! The engine: a core [`memdir::Memory`] as a JavaScript class.

use memdir::{Memory, Options};
use napi::bindgen_prelude::{Object, Unknown};
use napi::{Env, Error, Result};
use napi_derive::napi;

use crate::answer::Answer;
use crate::input::Input;
use crate::work;

/// A memory directory; the class `Memory` of the package is written on top of it.
#[napi]
pub struct Engine {
    memory: Memory,
}

#[napi]
#[allow(clippy::needless_pass_by_value, reason = "JavaScript's strings arrive owned")]
impl Engine {
    /// Opens the store that `address` names.
    #[napi(constructor)]
    pub fn new(address: String) -> Result<Self> {
        let memory = Memory::open(&address, Options::default())
            .map_err(|error| Error::from_reason(error.to_string()))?;
        Ok(Self { memory })
    }

    /// Executes one tool call.
    #[napi(ts_return_type = "Promise<Answer>")]
    pub fn execute<'env>(&self, env: &'env Env, input: Unknown<'_>) -> Result<Object<'env>> {
        let input = Input::decode(&self.memory, input)?;
        let memory = self.memory.clone();
        work::promise(
            env,
            move || Answer::from(input.execute(&memory)),
            |env, answer| answer.into_object(&env),
        )
    }
}
