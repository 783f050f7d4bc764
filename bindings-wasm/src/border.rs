//! The memory of the module, which is JavaScript's as well, and the one function that it calls.
#![expect(unsafe_code, reason = "the module's memory is JavaScript's as well")]

use std::alloc::{Layout, alloc, dealloc};
use std::cell::Cell;
use std::ptr::NonNull;

use serde_json::{Value as Json, json};

use crate::errors::Failure;

#[link(wasm_import_module = "memdir")]
unsafe extern "C" {
    /// Asks JavaScript, with a JSON text. The answer is one as well, behind its length.
    safe fn ask(text: *const u8, length: usize) -> *mut u8;
}

fn layout(length: usize) -> Layout {
    // A length that is too large for the memory is one that JavaScript cannot have either.
    Layout::array::<u8>(length).unwrap_or(Layout::new::<u8>())
}

/// Memory for `length` bytes, which JavaScript fills.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn memdir_alloc(length: usize) -> *mut u8 {
    if length == 0 {
        return NonNull::dangling().as_ptr();
    }
    // SAFETY: the layout has a size.
    unsafe { alloc(layout(length)) }
}

/// Gives back memory that `memdir_alloc` returned, or whose place an answer named.
///
/// # Safety
/// The address and the length are those of one such piece, and nobody uses it any more.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memdir_free(at: *mut u8, length: usize) {
    if length > 0 {
        // SAFETY: this function's own condition.
        unsafe { dealloc(at, layout(length)) };
    }
}

/// Bytes that JavaScript has put into the module's memory.
///
/// # Safety
/// They are `length` bytes at this address, made with `memdir_alloc`, and nobody uses them any more.
pub(crate) unsafe fn taken(at: *mut u8, length: usize) -> Vec<u8> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: `memdir_alloc` has this very layout.
    unsafe { Vec::from_raw_parts(at, length, length) }
}

/// An edit of a file's content, which a store in JavaScript asks for while it updates the file.
type Edited<'e> = dyn FnMut(&[u8]) -> Option<Vec<u8>> + 'e;

thread_local! {
    /// The edit of the update that is under way.
    static EDIT: Cell<Option<NonNull<Edited<'static>>>> = const { Cell::new(None) };
}

/// As [`asked`]. Until JavaScript has answered, it may ask for the edit of a content.
pub(crate) fn asked_with_edit(question: &Json, edit: &mut Edited<'_>) -> Json {
    // SAFETY: only the lifetime is another one. The pointer is used by `memdir_edit`, and gone before the borrow ends: below,
    // and no panic comes between, as one ends the module.
    let edit: NonNull<Edited<'static>> =
        unsafe { std::mem::transmute(NonNull::<Edited<'_>>::from(edit)) };
    let before = EDIT.replace(Some(edit));
    let answer = asked(question);
    EDIT.set(before);
    answer
}

/// The edit of a content: where the new one is, null to leave the file as it is, or false if there is no update.
///
/// # Safety
/// The content is at this address, and was made with `memdir_alloc`. It is taken.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn memdir_edit(content: *mut u8, length: usize) -> *mut u8 {
    // SAFETY: this function's own condition.
    let content = unsafe { taken(content, length) };
    // An edit does not ask for itself.
    let Some(mut edit) = EDIT.take() else { return behind_its_length(&false.into()) };
    // SAFETY: `asked_with_edit` has not returned, since it would have taken this away, and nobody else has taken it.
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

/// Asks JavaScript, which answers with JSON.
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

/// Where bytes are that JavaScript takes.
pub(crate) fn placed(bytes: Vec<u8>) -> Json {
    let bytes = bytes.into_boxed_slice();
    let length = bytes.len();
    json!({ "at": Box::into_raw(bytes).cast::<u8>() as usize, "length": length })
}

/// The bytes that JavaScript has put where this says. They can be taken once.
pub(crate) fn bytes(place: &Json) -> Result<Vec<u8>, Failure> {
    let number = |name: &str| place[name].as_u64().and_then(|number| usize::try_from(number).ok());
    let (Some(at), Some(length)) = (number("at"), number("length")) else {
        return Err(Failure::internal("no bytes where bytes are expected"));
    };
    // SAFETY: nothing but `ts/wasm.ts` makes such a value, which it does after it has filled the memory.
    Ok(unsafe { taken(std::ptr::with_exposed_provenance_mut(at), length) })
}
