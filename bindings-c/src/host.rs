//! [`memdir_host`]: the caller's own functions, which serve the caller's own stores.
#![expect(unsafe_code, reason = "functions from C")]

use std::ffi::{CStr, c_char};

use crate::border::lent;
use crate::failure::Failure;

/// Your own functions, for a store of your own. The library calls no others. Any thread may call them at any time, also
/// concurrently, and no exception may leave them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct memdir_host {
    /// Serves a request for your store with the number `store`. Answer each request once with memdir_answer: before
    /// this function returns, or later from any thread. `asked` and the `length` bytes of `content` are valid until it
    /// returns.
    ///
    /// `asked` is a JSON object: "operation", "path", "call", "to_the_end", and the arguments of the operation. "call"
    /// is the number of the memory with which the current call was made, or null. Once that call is cancelled, it does
    /// not wait for the answer, unless "to_the_end" is true: then a change that has begun runs to its end, and the
    /// store has 5 seconds for each step.
    ///
    /// The operations, with the result of each, are listed here. docs/stores/write-a-store.md specifies their guarantees.
    ///
    /// - "info": describes the store, when a memory is opened on it: {"folds_case": false, "tracks_access": false,
    ///   "methods": []}. "methods" are the supported ones of "open", "modified", "set_modified" and "clear". The
    ///   library does without the others.
    /// - "read": the content of a file.
    /// - "list": the entries of a directory, an array of "path", and for a file "size", "modified" and "accessed".
    /// - "write" {"overwrite"}: writes `content`.
    /// - "update": reads the file, passes its content to memdir_edit, and writes the result.
    /// - "delete".
    /// - "rename" {"to"}.
    /// - "open" {"depth"}: the content of a file, with null as the result, or the entries of a directory, "depth"
    ///   levels deep.
    /// - "modified": the time of a file, or null.
    /// - "set_modified" {"time"}.
    /// - "clear": deletes everything.
    /// - "record_access" {"time"} and "delete_unused" {"since"}, which returns true or false, if the store tracks
    ///   accesses.
    /// - "embed" {"texts", "is_query"}: a vector for each text, an array of arrays of numbers, all of the same length. Only the
    ///   number that was passed to memdir_with_embedder gets this request. "is_query" is true for the words of a question.
    /// - "merge" {"a", "b", "base", "modified_a", "modified_b"}: the text that the file gets in both memories of a sync, or null to
    ///   keep both contents. "a" and "b" are its texts in the memories, and "base" is the text that both last agreed on, or null.
    ///   Only the number that was passed to memdir_with_merger gets this request. If it fails, the sync ends.
    /// - "hook" {"pending", "command"}: a change that a sync would make, for your hooks. "pending" is a call as memdir_begin begins
    ///   one, and "command" is its command, or null if it is already refused. Finish the call with memdir_finish, then answer null.
    ///   Only the number that was passed to memdir_with_hooks gets this request. If it fails, the sync ends.
    /// - "make": the number of a new, empty store. Only the number that was passed to memdir_check_contract gets this
    ///   request.
    pub serve: Option<
        unsafe extern "C" fn(
            store: u64,
            request: u64,
            asked: *const c_char,
            content: *const u8,
            length: usize,
        ),
    >,
    /// Called when the library no longer uses this store, or factory. May be NULL.
    pub release: Option<unsafe extern "C" fn(store: u64)>,
}

/// The caller's functions for its own stores.
#[derive(Clone, Copy)]
pub(crate) struct Host {
    serve: unsafe extern "C" fn(u64, u64, *const c_char, *const u8, usize),
    release: Option<unsafe extern "C" fn(u64)>,
}

impl Host {
    /// The functions that the caller passes. Null is `None`.
    ///
    /// # Safety
    /// `given` is null, or points to functions that meet the requirements of `memdir_host`, as long as a store is not
    /// released.
    pub(crate) unsafe fn of(given: *const memdir_host) -> Result<Option<Self>, Failure> {
        if given.is_null() {
            return Ok(None);
        }
        // SAFETY: it is not null, and the rest is this function's own condition.
        let memdir_host { serve, release } = unsafe { *given };
        let serve = serve.ok_or_else(|| Failure::usage("serve is NULL"))?;
        Ok(Some(Self { serve, release }))
    }

    /// Sends a request. The answer comes during this call or later.
    pub(crate) fn serve(&self, store: u64, request: u64, asked: &CStr, content: &[u8]) {
        // SAFETY: the condition of `of`; the lent memory lives until the function returns.
        unsafe { (self.serve)(store, request, asked.as_ptr(), lent(content), content.len()) };
    }

    /// Tells the caller that the store is no longer used.
    pub(crate) fn release(&self, store: u64) {
        if let Some(release) = self.release {
            // SAFETY: the condition of `of`.
            unsafe { release(store) };
        }
    }
}
