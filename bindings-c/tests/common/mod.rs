//! The functions of the library as Rust calls them, for the tests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

use memdir_c::*;
use serde_json::Value;

/// Takes a text that the library made.
pub(crate) fn taken(text: *mut c_char) -> Option<Value> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is a text of the library, and this is its last use.
    unsafe {
        let json = serde_json::from_slice(CStr::from_ptr(text).to_bytes()).unwrap();
        memdir_free(text);
        Some(json)
    }
}

/// Calls a function that takes a place for its error.
pub(crate) fn with_error<T>(call: impl FnOnce(*mut *mut c_char) -> T) -> (T, Option<Value>) {
    // Not null, because the library has to set it.
    let mut error = std::ptr::dangling_mut();
    let value = call(&raw mut error);
    (value, taken(error))
}

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

pub(crate) fn open(address: &str, options: &str) -> Result<u64, Value> {
    let (address, options) = (text(address), text(options));
    // SAFETY: both texts live until the call has ended.
    let (memory, error) =
        with_error(|error| unsafe { memdir_open(address.as_ptr(), options.as_ptr(), error) });
    assert_eq!(memory == 0, error.is_some());
    error.map_or(Ok(memory), Err)
}

pub(crate) fn execute(memory: u64, input: &str) -> (Value, Option<Value>) {
    let input = text(input);
    // SAFETY: the text lives until the call has ended.
    let (reply, error) =
        with_error(|error| unsafe { memdir_execute(memory, input.as_ptr(), error) });
    (taken(reply).unwrap(), error)
}

pub(crate) fn operation(memory: u64, name: &str, arguments: &str) -> Result<Value, Value> {
    let (name, arguments) = (text(name), text(arguments));
    // SAFETY: both texts live until the call has ended.
    let (result, error) = with_error(|error| unsafe {
        memdir_call(memory, name.as_ptr(), arguments.as_ptr(), error)
    });
    taken(result).ok_or_else(|| error.unwrap())
}

/// A call that is begun and finished.
pub(crate) fn decided(
    memory: u64,
    input: &str,
    decision: &str,
) -> (Option<Value>, Value, Value, Option<Value>) {
    let (input, decision) = (text(input), text(decision));
    let (mut pending, mut event) = (0, null_mut());
    // SAFETY: the texts live until both calls have ended.
    unsafe {
        let command = taken(memdir_begin(memory, input.as_ptr(), &raw mut pending, null_mut()));
        assert_ne!(pending, 0);
        let (reply, error) =
            with_error(|error| memdir_finish(pending, decision.as_ptr(), &raw mut event, error));
        // A call can be finished only once.
        assert_eq!(
            taken(memdir_finish(pending, null(), null_mut(), null_mut())).unwrap()["is_error"],
            true
        );
        (command, taken(reply).unwrap(), taken(event).unwrap(), error)
    }
}
