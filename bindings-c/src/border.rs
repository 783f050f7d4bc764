//! What crosses the border: texts in, texts out, and never a panic.
#![expect(unsafe_code, reason = "pointers from C")]

use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::failure::Failure;

/// A text that the caller lends for the length of a call. Null is `None`.
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

/// Bytes that the caller lends for the length of a call. Null is none.
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

/// Where bytes begin that the caller is lent. The address of no bytes is a real one, too: some languages look at every address.
pub(crate) fn lent(content: &[u8]) -> *const u8 {
    if content.is_empty() { c"".as_ptr().cast() } else { content.as_ptr() }
}

/// A text as UTF-8, under the name of the argument.
pub(crate) fn utf8<'a>(name: &str, text: Option<&'a [u8]>) -> Result<&'a str, Failure> {
    let text = text.ok_or_else(|| Failure::usage(format!("{name} is NULL")))?;
    std::str::from_utf8(text).map_err(|_| Failure::usage(format!("{name} is not valid UTF-8")))
}

/// A text that the caller gets, and gives back to [`release`].
pub(crate) fn text(text: String) -> *mut c_char {
    // JSON has no NUL byte. Should a text have one, it ends there in C.
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
/// `given` is null, or a pointer that [`text`] returned, which nobody uses any more.
pub(crate) unsafe fn release(given: *mut c_char) {
    if !given.is_null() {
        // SAFETY: `text` made it with `into_raw`, and this is the only use that is left of it.
        drop(unsafe { CString::from_raw(given) });
    }
}

/// Writes a value to where the caller wants it, if it wants it.
///
/// # Safety
/// `place` is null, or points to memory for a value of this type.
pub(crate) unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: it is not null. `write` does not drop what was there, which may be uninitialised.
        unsafe { place.write(value) };
    }
}

/// Does the work of a function, and writes what failed to `error`, or null if nothing did. A panic is a failure.
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
        // Making the answer could panic as well, and must not end in C.
        Err(failure) => match guarded(|| Ok((otherwise(&failure), failure.json()))) {
            Ok((value, failure)) => (value, Some(failure)),
            Err(_) => std::process::abort(),
        },
    };
    // A text that nobody wants would never be freed.
    if !error.is_null() {
        // SAFETY: this function's own condition.
        unsafe { put(error, failure.map_or(std::ptr::null_mut(), text)) };
    }
    value
}

/// Stops a panic.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    // What a panic leaves half done is not used again: the tables only hold whole entries, and the core's own locks
    // are made for it.
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        // Its value may panic as well when it is dropped.
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
