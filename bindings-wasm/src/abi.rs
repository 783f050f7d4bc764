//! The function through which JavaScript calls the module, and the dispatch to the operations.
#![expect(unsafe_code, reason = "the name, and a text in the module's memory")]

use memdir::{ConfigError, Image};
use serde_json::{Value as Json, json};

use crate::arguments::Arguments;
use crate::border::{behind_its_length, bytes, taken};
use crate::build_profile::build_profile;
use crate::errors::{Failure, unknown};
use crate::options::{span, string};
use crate::stores::elsewhere;
use crate::{engine, memories, stores, watch};

/// Executes the operation of a JSON text, which is an array of the operation and its arguments. The answer is a JSON
/// text after its length.
///
/// # Safety
/// The text is at this address, and was allocated with `memdir_alloc`. This function takes ownership of it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memdir_perform(text: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: this function's own condition.
    let text = unsafe { taken(text, length) };
    let done = match serde_json::from_slice(&text) {
        Ok(Json::Array(mut given)) if !given.is_empty() => {
            let operation = given.remove(0);
            let given = Arguments::new(given);
            dispatch(operation.as_str().unwrap_or_default(), &given)
        }
        _ => Err(Failure::internal("a call that is none")),
    };
    let answer = match done {
        Ok(value) => json!({ "value": value }),
        Err(failure) => json!({ "error": failure.into_json() }),
    };
    behind_its_length(&answer)
}

/// Executes an operation for JavaScript.
fn dispatch(operation: &str, given: &Arguments) -> Result<Json, Failure> {
    match operation.split_once('.') {
        Some(("engine", method)) => engine::perform(method, given),
        Some(("memory", method)) => memories::perform(method, given),
        Some(("store", method)) => stores::perform(method, given),
        Some(("watch", method)) => watch::perform(method, given),
        None if operation == "buildProfile" => Ok(json!(build_profile())),
        None if operation == "imageType" => {
            let image = Image::in_bytes(&bytes(given.get(0))?);
            Ok(image.map(|image| image.media_type).into())
        }
        None if operation == "unknownOption" => {
            let known = given.get(1).as_array().into_iter().flatten().filter_map(Json::as_str);
            let known: Vec<_> = known.collect();
            Ok(ConfigError::unknown_option(given.text(0), &known).to_string().into())
        }
        None if operation == "checkSpan" => {
            given.given(1, given.text(0), span)?;
            Ok(Json::Null)
        }
        None if operation == "keyFromFile" => {
            given.given(0, "path", string)?;
            Err(elsewhere("a key file needs a file system").into())
        }
        _ => Err(unknown(operation)),
    }
}
