//! The memory of the module, which it shares with JavaScript, and the one function of JavaScript that it calls.
#![expect(unsafe_code, reason = "the module's memory is JavaScript's as well")]

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

use serde_json::{Value as Json, json};

use crate::errors::Failure;

#[link(wasm_import_module = "memdir")]
unsafe extern "C" {
    /// Calls JavaScript with a JSON text. The answer is a JSON text after its length.
    safe fn ask(text: *const u8, length: usize) -> *mut u8;
}

fn layout(length: usize) -> Layout {
    // JavaScript cannot have a length that is too large for the memory, either.
    Layout::array::<u8>(length).unwrap_or(Layout::new::<u8>())
}

/// Allocates `length` bytes, which JavaScript fills.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn memdir_alloc(length: usize) -> *mut u8 {
    if length == 0 {
        return NonNull::dangling().as_ptr();
    }
    // SAFETY: the layout has a size.
    unsafe { alloc(layout(length)) }
}

/// Frees memory that `memdir_alloc` returned, or whose address an answer contained.
///
/// # Safety
/// The address and the length are those of one such allocation, which is no longer used.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memdir_free(at: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: this function's own condition.
        unsafe { dealloc(at, layout(length)) };
    }
}

/// Takes bytes that JavaScript has put into the module's memory.
///
/// # Safety
/// They are `length` bytes at this address, allocated with `memdir_alloc`, and are no longer used.
pub(crate) unsafe fn taken(at: *mut u8, length: usize) -> Vec<u8> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: `memdir_alloc` uses the same layout.
    unsafe { Vec::from_raw_parts(at, length, length) }
}

/// An edit of a file's content, which a store in JavaScript requests while it updates the file.
type Edited<'e> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'e;

thread_local! {
    /// The edit of the running update.
    static EDIT: Cell<Option<NonNull<Edited<'static>>>> = const { Cell::new(None) };
}

/// Same as [`asked`]. Until JavaScript has answered, it may request the edit of a content.
pub(crate) fn asked_with_edit(question: &Json, edit: &mut Edited<'_>) -> Json {
    // SAFETY: only the lifetime changes. `memdir_edit` uses the pointer, which is removed below, before the borrow
    // ends. No panic can prevent that, because a panic ends the module.
    let edit: NonNull<Edited<'static>> =
        unsafe { std::mem::transmute(NonNull::<Edited<'_>>::from(edit)) };
    let before = EDIT.replace(Some(edit));
    let answer = asked(question);
    EDIT.set(before);
    answer
}

/// Applies the edit to a content. Returns the address of the new content, null to leave the file unchanged, or false if
/// there is no update.
///
/// # Safety
/// The content is at this address, and was allocated with `memdir_alloc`. This function takes ownership of it.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memdir_edit(content: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: this function's own condition.
    let content = unsafe { taken(content, length) };
    // An edit cannot request itself.
    let Some(mut edit) = EDIT.take() else { return behind_its_length(&false.into()) };
    // SAFETY: `asked_with_edit` has not returned, since it would have removed this value, and no other code has taken
    // it.
    let edited = unsafe { edit.as_mut() }(&content);
    EDIT.set(Some(edit));
    behind_its_length(&edited.map_or(Json::Null, placed))
}

pub(crate) fn behind_its_length(json: &Json) -> *mut u8 {
    let text = json.to_string().into_bytes();
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes();
    let whole: Vec<u8> = length.into_iter().chain(text).collect();
    Box::into_raw(whole.into_boxed_slice()).cast()
}

/// Calls JavaScript, which answers with JSON.
pub(crate) fn asked(question: &Json) -> Json {
    let question = question.to_string();
    let at = ask(question.as_ptr(), question.len());
    // SAFETY: JavaScript made the answer with `memdir_alloc`, its length first.
    let answer = unsafe {
        let length = usize::try_from(at.cast::<u32>().read_unaligned()).unwrap_or_default();
        taken(at, length + 4)
    };
    serde_json::from_slice(answer.get(4..).unwrap_or_default()).unwrap_or(Json::Null)
}

/// The address and length of bytes that JavaScript takes.
pub(crate) fn placed(bytes: Vec<u8>) -> Json {
    let bytes = bytes.into_boxed_slice();
    let length = bytes.len();
    json!({ "at": Box::into_raw(bytes).cast::<u8>() as usize, "length": length })
}

/// The bytes that JavaScript has put at this address. They can be taken once.
pub(crate) fn bytes(place: &Json) -> Result<Vec<u8>, Failure> {
    let number = |name: &str| place[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let (Some(at), Some(length)) = (number("at"), number("length")) else {
        return Err(Failure::internal("no bytes where bytes are expected"));
    };
    // SAFETY: only `ts/wasm.ts` makes such a value, after it has filled the memory.
    Ok(unsafe { taken(std::ptr::with_exposed_provenance_mut(at), length) })
}
