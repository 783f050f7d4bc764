//! The values that cross the border: texts in both directions. Panics never cross it.
#![expect(unsafe_code, reason = "pointers from C")]

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::failure::Failure;

/// A text that the caller lends for the duration of a call. Null is `None`.
///
/// # Safety
/// `text` is null, or points to bytes that end with a NUL byte and do not change during `'a`.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the rest is this function's own condition.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Bytes that the caller lends for the duration of a call. Null is an empty slice.
///
/// # Safety
/// `start` is null, or points to `length` bytes that do not change during `'a`.
pub(crate) unsafe fn content<'a>(start: *const u8, length: usize) -> &'a [u8] {
    if start.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: it is not null, and the rest is this function's own condition.
    unsafe { slice::from_raw_parts(start, length) }
}

/// The address of bytes that are lent to the caller. It is a valid address even for no bytes, because some
/// languages inspect every address.
pub(crate) fn lent(content: &[u8]) -> *const u8 {
    if content.is_empty() { c"".as_ptr().cast() } else { content.as_ptr() }
}

/// A text as UTF-8, under the name of the argument.
pub(crate) fn utf8<'a>(name: &str, text: Option<&'a [u8]>) -> Result<&'a str, Failure> {
    let text = text.ok_or_else(|| Failure::usage(format!("{name} is NULL")))?;
    std::str::from_utf8(text).map_err(|_| Failure::usage(format!("{name} is not valid UTF-8")))
}

/// A text that the caller gets, and passes to [`release`] later.
pub(crate) fn text(text: String) -> *mut c_char {
    // JSON contains no NUL byte. If a text has one, the text ends there in C.
    let text = CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        let mut bytes = error.into_vec();
        bytes.truncate(end);
        CString::new(bytes).unwrap_or_default()
    });
    text.into_raw()
}

/// Frees a text.
///
/// # Safety
/// `given` is null, or a pointer that [`text`] returned and that is no longer used.
pub(crate) unsafe fn release(given: *mut c_char) {
    if !given.is_null() {
        // SAFETY: `text` made it with `into_raw`, and this is its last use.
        drop(unsafe { CString::from_raw(given) });
    }
}

/// Writes a value to the caller's place, if there is one.
///
/// # Safety
/// `place` is null, or points to memory for a value of this type.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not null. `write` does not drop the previous value, which may be uninitialised.
        unsafe { place.write(value) };
    }
}

/// Does the work of a function, and writes the failure to `error`, or null if there is none. A panic is a failure.
///
/// # Safety
/// `error` is null, or points to memory for a pointer.
pub(crate) unsafe fn call<T>(
    error: *mut *mut c_char,
    otherwise: impl FnOnce(&Failure) -> T,
    work: impl FnOnce() -> Result<T, Failure>,
) -> T {
    let (value, failure) = match guarded(work) {
        Ok(value) => (value, None),
        // Computing this answer could panic as well, and that panic must not reach C.
        Err(failure) => match guarded(|| Ok((otherwise(&failure), failure.json()))) {
            Ok((value, failure)) => (value, Some(failure)),
            Err(_) => std::process::abort(),
        },
    };
    // A text for a caller without `error` would never be freed.
    if !error.is_null() {
        // SAFETY: this function's own condition.
        unsafe { put(error, failure.map_or(std::ptr::null_mut(), text)) };
    }
    value
}

/// Catches a panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // State that a panic leaves incomplete is not used again: the tables contain only complete entries, and the
    // core's own locks tolerate a panic.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        // The panic's value may panic as well when it is dropped.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
            std::mem::forget(again);
        }
        Err(Failure::internal(words.as_deref().unwrap_or("unknown")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_failure() {
        let failed = guarded::<()>(|| panic!("number {}", 7)).unwrap_err();
        assert_eq!(
            failed.json(),
            r#"{"kind":"internal","message":"memdir has a fault: number 7"}"#
        );
    }

    #[test]
    fn a_text_with_a_nul_byte_ends_there() {
        let made = text("one\0two".to_owned());
        // SAFETY: `text` made it, and it is freed once, after its last use.
        unsafe {
            assert_eq!(bytes(made), Some(&b"one"[..]));
            release(made);
        }
    }
}
