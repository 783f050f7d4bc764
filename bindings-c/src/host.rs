//! [`memdir_host`]: the caller's own functions, which answer for its own stores.
#![expect(unsafe_code, reason = "functions from C")]

use std::ffi::{CStr, c_char};

use crate::border::lent;
use crate::failure::Failure;

/// Your own functions, for a store of your own. They are the only ones that the library calls. Any thread may call them at any
/// time, also several at once, and no exception may leave them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct memdir_host {
    /// Asks a store, which you know by the number `store`, to do something. Answer each request once with memdir_answer: before this
    /// function returns, or later from any thread. `asked` and the `length` bytes of `content` are lent until it returns.
    ///
    /// `asked` is a JSON object: "operation", "path", "call", "to_the_end", and what the operation has beside them. "call" is the
    /// number of the memory that the call was made with which the store works for, or null. Once that call is cancelled, the
    /// answer is not waited for, unless "to_the_end" is true: then a change that has begun is ended, and the store has 5 seconds for each step.
    ///
    /// The operations, with the result of each. docs/stores/write-a-store.md says what they have to guarantee.
    ///
    /// - "info": what the store is, when a memory is opened on it: {"folds_case": false, "tracks_access": false, "methods": []}.
    ///   "methods" are those of "open", "modified", "set_modified" and "clear" that it has. The library does without the others.
    /// - "read": the content of a file.
    /// - "list": the entries of a directory, an array of "path", and of a file "size", "modified" and "accessed".
    /// - "write" {"overwrite"}: writes `content`.
    /// - "update": reads the file, hands its content to memdir_edit, and writes what that returns.
    /// - "delete".
    /// - "rename" {"to"}.
    /// - "open" {"depth"}: the content of a file, with null as the result, or the entries of a directory, "depth" levels deep.
    /// - "modified": the time of a file, or null.
    /// - "set_modified" {"time"}.
    /// - "clear": deletes everything.
    /// - "record_access" {"time"} and "delete_unused" {"since"}, which returns true or false, if it tracks accesses.
    /// - "make": of the number that memdir_check_contract was given: the number of a new, empty store.
    pub serve: Option<
        unsafe extern "C" fn(
            store: u64,
            request: u64,
            asked: *const c_char,
            content: *const u8,
            length: usize,
        ),
    >,
    /// The library no longer uses this store, or factory. May be NULL.
    pub release: Option<unsafe extern "C" fn(store: u64)>,
}

/// The functions of the caller's that answer for a store of its own.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    serve: unsafe extern "C" fn(u64, u64, *const c_char, *const u8, usize),
    release: Option<unsafe extern "C" fn(u64)>,
}

impl Host {
    /// Those that the caller hands over. Null is none.
    ///
    /// # Safety
    /// `given` is null, or points to functions that keep what `memdir_host` says, as long as a store is not released.
    pub(crate) unsafe fn of(given: *const memdir_host) -> Result<Option<Self>, Failure> {
        if given.is_null() {
            return Ok(None);
        }
        // SAFETY: it is not null, and the rest is this function's own condition.
        let memdir_host { serve, release } = unsafe { *given };
        let serve = serve.ok_or_else(|| Failure::usage("serve is NULL"))?;
        Ok(Some(Self { serve, release }))
    }

    /// Hands a request over. The answer comes meanwhile or later.
    pub(crate) fn serve(&self, store: u64, request: u64, asked: &CStr, content: &[u8]) {
        // SAFETY: the condition of `of`; what is lent lives until the function returns.
        unsafe { (self.serve)(store, request, asked.as_ptr(), lent(content), content.len()) };
    }

    /// The store is no longer used.
    pub(crate) fn release(&self, store: u64) {
        if let Some(release) = self.release {
            // SAFETY: the condition of `of`.
            unsafe { release(store) };
        }
    }
}
