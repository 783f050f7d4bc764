//! The functions that C sees, from which `memdir.h` is made. Each hands its arguments on, and stops a panic.
#![expect(unsafe_code, reason = "the names and pointers of C")]

use std::ffi::c_char;
use std::ptr::{null, null_mut};

use memdir::command::Decoded;
use memdir::{Cancellation, EncryptionKey, MemoryOptions, open_store};
use serde_json::json;

use crate::border::{bytes, call, content, guarded, lent, put, release, text, utf8};
use crate::failure::Failure;
use crate::handles::{MEMORIES, Opened};
use crate::hooks::{self, PENDING, Pending};
use crate::host::{Host, memdir_host};
use crate::request::{REQUESTS, Request};
use crate::{operations, own_store, places, reply, results};

/// Opens a memory on the store that `address` names: a directory such as "./memory", "sqlite:agent.db", "memory:".
///
/// `options` is a JSON object of options by their names, such as {"max_files": 100}; NULL sets none.
///
/// Returns the memory's number, to be closed with memdir_close, or 0 if it failed.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_open(
    address: *const c_char,
    options: *const c_char,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends both texts for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let address = utf8("address", bytes(address))?;
                let options = set(bytes(options))?;
                Opened::open(open_store(address, &options)?, options)
            },
        )
    }
}

/// Opens a memory on a store of your own, or on several stores that are mounted into one tree.
///
/// `place` is JSON: the text of an address as memdir_open takes it; {"address": "…", "read_only": false}; {"own": 7, "read_only": false}
/// for the store that you know by the number 7; or {"mounts": [{"path": "/memories", "address": "./memory"}, {"path":
/// "/memories/team", "own": 7}]}. One of the mounts is at "/memories". Below, an address without a scheme is that very directory.
///
/// `host` has the functions for stores of your own, and is read during the call only. It may be NULL if there are none.
///
/// Returns the memory's number, to be closed with memdir_close, or 0 if it failed. A store is released when the memory and
/// all further numbers of it are closed, also if it failed.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_open_place(
    place: *const c_char,
    options: *const c_char,
    host: *const memdir_host,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends the texts and `host` for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let place = utf8("place", bytes(place))?;
                let options = set(bytes(options))?;
                let store = places::open(place, &options, Host::of(host)?)?;
                Opened::open(store, options)
            },
        )
    }
}

/// The answer to a request of memdir_host.serve.
///
/// `result` is JSON, as the operation has it; NULL stands for null. If the method failed, it is {"errno": "ENOENT"} for a condition, by
/// its name in errno.h: ENOENT nothing is there, EEXIST something is there, EISDIR, ENOTDIR, EINVAL a move into itself, ENAMETOOLONG, EACCES,
/// EROFS, ENOSPC, EAGAIN other writers took too long and nothing was changed, ECANCELED nothing was done. Otherwise {"failed": "…", "number": 7}
/// says that the store is broken. The number, which may be left out, comes back as "own" in the error of the call.
///
/// `content` has `length` bytes, for "read" and for "open" of a file. NULL stands for none.
///
/// Returns whether the call still waited for it.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_answer(
    request: u64,
    result: *const c_char,
    content: *const u8,
    length: usize,
) -> bool {
    // SAFETY: the caller lends the text and the bytes for this call.
    let (result, content) = unsafe { (bytes(result), self::content(content, length)) };
    guarded(|| Ok(Request::answer(request, result, content))).unwrap_or(false)
}

/// The new content for the file of a request for "update", whose content is the `length` bytes of `content`.
///
/// Returns where it begins, and writes its length to `new_length`. It is lent until you answer the request. Returns NULL if
/// nothing is to be written: the file was changed since, and you are asked again, or the call was cancelled. Call it while no other writer can
/// come between; if one did, call it again with the newer content.
///
/// # Safety
/// See the rules at the top of memdir.h. `new_length` points to memory for a length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_edit(
    request: u64,
    content: *const u8,
    length: usize,
    new_length: *mut usize,
) -> *const u8 {
    // SAFETY: the caller lends the bytes for this call.
    let content = unsafe { self::content(content, length) };
    let edited = guarded(|| {
        let edited = REQUESTS.find(request).and_then(|request| {
            // The table keeps the request, and with it the new content, until it is answered.
            request.edit(content).map(|new| (lent(new), new.len()))
        });
        Ok(edited)
    });
    let (new, length) = edited.ok().flatten().unwrap_or((null(), 0));
    // SAFETY: `new_length` is null or the caller's place for a length.
    unsafe { put(new_length, length) };
    new
}

/// Checks that a store of your own keeps the contract of docs/stores/write-a-store.md, for your tests. `factory` is a number of yours: it is asked to
/// "make" a new, empty store for each rule, and is released at the end.
///
/// Returns the first rule that is broken and how, or NULL if all are kept, or if it failed.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_check_contract(
    factory: u64,
    host: *const memdir_host,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends `host` for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| null_mut(),
            || {
                let host = Host::of(host)?.ok_or_else(|| Failure::usage("host is NULL"))?;
                Ok(own_store::broken_rule(host, factory)?.map_or(null_mut(), text))
            },
        )
    }
}

/// The key in the file at `path`, for the option "encryption_key". If nothing is there, a random key is generated, and the
/// file is made for it, which only its owner may read. If several threads or processes make the first call at the same
/// time, all get the same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
///
/// Returns "hex:" and 64 digits, to be freed with memdir_free, or NULL if the file does not have exactly 32 bytes, or cannot
/// be read or made.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_key_from_file(
    path: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends the text for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| null_mut(),
            || {
                let key = EncryptionKey::bytes_from_file(utf8("path", bytes(path))?)?;
                Ok(text(key.iter().fold("hex:".to_owned(), |hex, byte| format!("{hex}{byte:02x}"))))
            },
        )
    }
}

/// A further number for the same memory, whose calls memdir_cancel cancels. To be closed with memdir_close, too.
/// Returns 0 if there is no such memory.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_cancellable(memory: u64) -> u64 {
    let made = guarded(|| {
        let opened = MEMORIES.get(memory)?;
        Ok(opened.add(opened.memory.cancelled_by(&Cancellation::new()), true))
    });
    made.unwrap_or(0)
}

/// Cancels the calls of a number that memdir_cancellable returned, those that run and those that follow. A call that
/// has not begun to write then changes nothing, and its reply says so. A call that has begun goes on to its end, unless it
/// waits for a store of your own: then it ends, and its reply says that the change may or may not have been saved.
///
/// Returns whether it is such a number.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_cancel(memory: u64) -> bool {
    let cancelled = guarded(|| {
        let opened = MEMORIES.get(memory)?;
        if opened.cancellable {
            opened.memory.cancellation().cancel();
            Request::wake_cancelled();
        }
        Ok(opened.cancellable)
    });
    cancelled.unwrap_or(false)
}

/// A further number: a session of the same memory, for a conversation of its own. Its changes are recorded as this actor's,
/// with "history", such as an agent or a user, and with "stale_guard" only what it was shown itself counts. Everything else is
/// shared. It replaces the option "actor". Never take it from a model's input. To be closed with memdir_close, too.
///
/// Returns 0 if it failed.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_acting_as(
    memory: u64,
    actor: *const c_char,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends the text for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let opened = MEMORIES.get(memory)?;
                Ok(opened.add(opened.memory.acting_as(utf8("actor", bytes(actor))?), false))
            },
        )
    }
}

/// Closes a memory. Calls that run on other threads go on to their end. Closing it again does nothing.
///
/// Returns whether the memory was open.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_close(memory: u64) -> bool {
    guarded(|| Ok(MEMORIES.take(memory).is_some())).unwrap_or(false)
}

/// Executes one tool call, given as the JSON text of its "input".
///
/// Returns a JSON object that is never NULL: "content" and "is_error" of the tool_result. "content" is a string, or
/// for an image an array with an image block. A model's mistake is such a reply, too, and no error.
///
/// `error` is set if the store itself or the call failed. It is for your log and never for the model.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_execute(
    memory: u64,
    input: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends the text for this call, and `error` is null or its place for a pointer.
    unsafe {
        answer(error, || {
            let opened = MEMORIES.get(memory)?;
            let decoded = Decoded::parse(given("input", bytes(input))?);
            Ok(reply::parts(opened.call(|Opened { memory, .. }| memory.execute_decoded(decoded))))
        })
    }
}

/// The first half of memdir_execute, for a program with hooks. Nothing is executed yet.
///
/// Returns the command for your hook "before", a JSON object, or NULL if there is none because the call is already
/// refused. Writes the number of the call to `pending`: hand it to memdir_finish, also if there is no command.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_begin(
    memory: u64,
    input: *const c_char,
    pending: *mut u64,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends the text for this call; `pending` and `error` are null or places for their types.
    unsafe {
        put(pending, 0);
        call(
            error,
            |_| null_mut(),
            || {
                let opened = MEMORIES.get(memory)?;
                if pending.is_null() {
                    return Err(Failure::usage("pending is NULL"));
                }
                let decoded = Decoded::parse(given("input", bytes(input))?).into_owned();
                let begun = opened.memory.begin(decoded);
                let command = hooks::command(&begun);
                put(pending, PENDING.add(Pending { opened, call: begun }));
                Ok(command.map_or(null_mut(), text))
            },
        )
    }
}

/// What a hook may know of a call between its halves, beside the command.
///
/// Returns a JSON object: "actor", who acts, or null; "session", another one for each memory and for each number of
/// memdir_acting_as; "tool_use_id", the id of the tool_use block, or null if the input was not a whole block. Returns "null" if
/// the call is already refused, and NULL with an error if there is no such call.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_hook_call(pending: u64, error: *mut *mut c_char) -> *mut c_char {
    // SAFETY: `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| null_mut(),
            || {
                let known = hooks::call(pending)?.map(|call| {
                    let (actor, id) = (call.actor(), call.tool_use_id());
                    json!({ "actor": actor, "session": call.session(), "tool_use_id": id })
                });
                Ok(text(json!(known).to_string()))
            },
        )
    }
}

/// What the command of a call between its halves would change, as a unified diff of the texts as they would be stored.
///
/// It reads the file or lists the directory, and leaves no trace. An approval holds for this diff: if what it is based on has changed when
/// memdir_finish executes the command, nothing is changed, and the model reads that it has to view the file again.
///
/// Returns a JSON string, which is empty for a view. Returns NULL with an error if the command would be refused: decide
/// {"fail": "…"}, and the command is refused with that sentence. So it is also if the store failed, or there is no such call.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_hook_diff(pending: u64, error: *mut *mut c_char) -> *mut c_char {
    // SAFETY: `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| null_mut(),
            || Ok(text(json!(hooks::diff(pending)?.unwrap_or_default()).to_string())),
        )
    }
}

/// The second half of memdir_execute. It can be called once for each call.
///
/// `decision` is what the hook decided: NULL or "null" allows the command; {"deny": "…"} refuses it with this
/// sentence; {"replace": "…"} writes this text in the place of the command's own; {"fail": "…"} says that the hook
/// failed.
///
/// Returns the reply, as memdir_execute does. Writes a JSON object for your hook "after" to `event`, if that is not
/// NULL.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_finish(
    pending: u64,
    decision: *const c_char,
    event: *mut *mut c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends the text for this call; `event` and `error` are null or its places for pointers.
    unsafe {
        put(event, null_mut());
        answer(error, || {
            let Some(Pending { opened, call }) = PENDING.take(pending) else {
                return Err(Failure::usage(format!("there is no call {pending} to be finished")));
            };
            let before = hooks::decision(bytes(decision));
            let (answer, happened) = opened.call(|opened| opened.memory.finish(call, before));
            if !event.is_null()
                && let Some(happened) = happened
            {
                put(event, text(results::shown(&happened).to_string()));
            }
            Ok(reply::parts(answer))
        })
    }
}

/// Does something with a memory that is no tool call. The model cannot ask for it.
///
/// `arguments` is a JSON object; NULL stands for an empty one. Returns the result as JSON, or NULL if it failed.
///
/// - "read" {"path"}: the text of a file.
/// - "read_shown" {"path"}: the text of a file as a model may see it: redacted if views are, and without line numbers. It
///   counts as a use of the file.
/// - "write" {"path", "text", "if_unchanged": null}: writes a file; with "if_unchanged" only if it holds that text.
/// - "list" {"path": "/memories", "depth": null}: an array of "path", "size" (null for a directory), "modified" and
///   "accessed".
/// - "exists" {"path"}: true or false.
/// - "grep" {"query", "regex": false, "ignore_case": false, "path": "/memories", "limit": 100}: an array of "path",
///   "line" (null if the name was found) and "text".
/// - "find_sensitive" {"path": "/memories", "limit": 100}: where the rules for sensitive text find something: an array of
///   "path", "line" (null if it is in the name) and "rule".
/// - "stats" {}: how much the memory holds: "files", "directories", "bytes", "largest" with "path" and "bytes"; "oldest",
///   "newest" and "least_recently_used", each with "path" and "time"; "history" with "versions" and "bytes". What is not
///   known is null.
/// - "watch" {"path": "/memories", "every": null}: begins to watch what is there, for changes by anybody, and returns the
///   number of the watch. It looks "every" so many seconds. It keeps the store open until it is ended with "unwatch".
/// - "changes" {"watch", "wait": 0}: what was changed since the last call, an array of "kind" ("written" or "deleted"),
///   "path" and "old_path", which is null. If that is nothing, it waits for a change, at most so many seconds. Null if the watch is ended meanwhile.
/// - "is_due" {"watch"}: whether "changes" would look at the store at once, or return null. It neither waits nor reads: for
///   a program that waits without a thread.
/// - "unwatch" {"watch"}: ends the watch. The result is null.
/// - "index" {"max_chars": 2000}: a table of contents for a system prompt.
/// - "bootstrap" {"about", "features", "init": ""}: lays out the files of a project of several sessions, if they are not
///   there, and returns the paths of those that were made. "features" is an array of strings.
/// - "forget_views" {}: the model has to view a file again before it edits it, with "stale_guard". The result is null.
/// - "tool_definition" {"dialect": "json-schema"} and "tool_definitions" {"dialect": "json-schema", "prefix": ""}: the
///   tool, or a tool for each command, for hosts that do not know Anthropic's.
/// - "history" {"path": null, "limit": null, "before": null, "actor": null, "change": null, "since": null}: the versions,
///   newest first, of a file, of all below a directory, or of everything. Each has "id", "change", "operation", "path",
///   "old_path", "time", "actor", "size", "sha256", "is_current" and "redacted"; what a version has not is null. This and
///   the operations to "trim_history" need the option "history".
/// - "resolve_id" {"part"}: the whole id of the version or the change that a person means by a part of it: its beginning or
///   its end, at least 6 digits.
/// - "export_history" {}: the history as a stream for git fast-import, as "read_version" returns a content.
/// - "grep_history" {"query", …}, as "grep": what files held once, and hold no more, newest first: an array of
///   "version" (as "history" has it), "line" (null if the name was found) and "text".
/// - "files_at" {"at"}: the files that there were at a time: an array of "path", "size", "modified" and "version". What is
///   not known is null.
/// - "read_at" {"path", "at"}: what a file held at a time, as "read_version" returns it; null if there was no file.
/// - "blame" {"path"}: for each line of a file as it is now the version that brought it: an array of "line" (from 1 on), "text",
///   "version" and "change" (their ids), "operation", "actor", "time" and "may_be_older". What is not known is null.
/// - "read_version" {"id"}: the content of a version, an object with "text", or with "base64" if it is not UTF-8.
/// - "diff" {"id", "other": null}: a unified diff from one version to another, or what the change of the version did.
/// - "restore" {"id", "overwrite": false}: writes the content of a version back, or all files of a change. Returns
///   "change", the id of the change that this made or null, "files" with "operation", "path" and "old_path", and "skipped", the
///   conflicts that were left out.
/// - "undo" {"change": null, "since": null, "actor": null, "dry_run": false, "skip_conflicts": false, "merge": false}: takes
///   back a change, or all since a time, of an actor or of anybody. Where later changes depend on it, it fails with
///   "conflicts", an array of "path", "in_the_way", "change", "actor" and "time". With "skip_conflicts" it leaves those files
///   out; with "merge" it keeps later changes of other lines. Returns what "restore" does. A file that was merged has "merged",
///   its text.
/// - "restore_all" {"at", "dry_run": false}: makes every file what it was at a time. Returns what "restore" does.
/// - "redact" {"id", "reason"}: removes the content of a version from the history for good. Returns the id of the change,
///   or null if nothing was left to remove.
/// - "redact_text" {"query", "reason", "regex": false, "ignore_case": false, "dry_run": false}: removes every content with a
///   text from the history for good, and the text from names that no file or directory has now. Returns "change", the id of
///   the change or null, "versions", those that have the text as "history" has them, "current", the paths of the files that
///   have it now, which without "dry_run" are an error, "names", the paths that have the text, as they were before, and
///   "kept_names", the paths that have it in a name now: they stay.
/// - "trim_history" {}: removes the versions that the options keep no longer, and returns how many records that were.
/// - "expire" {"older_than", "dry_run": false}: removes the files that nobody used for so many seconds, and returns
///   them: "path", "bytes" and "last_used".
/// - "check" {}: reads every file, every record of the history and every version, and changes nothing; whether or not the memory has
///   the option "history". Returns "directories",
///   "files", "bytes", "versions" (null without a history) and "problems", an array of "kind", "path", "description" and
///   "is_beside".
/// - "copy" {"to", "overwrite": false}: copies everything to another memory, by its number: contents, times, hidden files and empty
///   directories, without the history. Nothing is deleted. If a file is there with another content, nothing is copied, and the
///   error has the kind "copy" and "paths", unless "overwrite" is true. Each file is read back and compared. Returns "files",
///   "bytes", "equal", "directories" and "left_out". If it is cancelled, what was copied before stays, and another copy does the rest.
/// - "clear" {}: deletes everything below /memories. The result is a sentence. With a history, all contents stay in the
///   history.
/// - "erase" {"dry_run": false}: removes everything for good, with the whole history, whether or not the memory has the
///   option "history". It is not recorded and cannot be undone. Returns how much that was: "files", "bytes", "versions"
///   and "history_bytes".
///
/// What is shown with a value may be left out, and has that value then. A time, also one that is an argument, is a text of
/// RFC 3339, such as "2026-03-14T15:09:26.535897Z". A duration is a number of seconds.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_call(
    memory: u64,
    operation: *const c_char,
    arguments: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends both texts for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| null_mut(),
            || {
                let opened = MEMORIES.get(memory)?;
                let operation = utf8("operation", bytes(operation))?;
                let arguments = utf8("arguments", Some(bytes(arguments).unwrap_or(b"{}")))?;
                let done = opened.call(|opened| operations::call(opened, operation, arguments))?;
                Ok(text(done.to_string()))
            },
        )
    }
}

/// Frees a text that one of these functions returned or wrote. NULL is ignored.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_free(text: *mut c_char) {
    // SAFETY: the caller got it from one of these functions, and frees it once.
    unsafe { release(text) };
}

/// The version of the library, such as "0.1.0". Do not free it.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The reply of `work`, or the reply that says that it failed.
///
/// # Safety
/// `error` is null, or points to memory for a pointer.
unsafe fn answer(
    error: *mut *mut c_char,
    work: impl FnOnce() -> Result<(String, Option<String>), Failure>,
) -> *mut c_char {
    let mut cause = None;
    let otherwise = |failure: &Failure| text(reply::of_failure(failure));
    let work = || {
        let (reply, failed) = work()?;
        cause = failed;
        Ok(text(reply))
    };
    // SAFETY: this function's own condition, twice.
    unsafe {
        let reply = call(error, otherwise, work);
        if let Some(cause) = cause
            && !error.is_null()
        {
            put(error, text(cause));
        }
        reply
    }
}

/// The options of a memory.
fn set(options: Option<&[u8]>) -> Result<MemoryOptions, Failure> {
    let mut set = MemoryOptions::default();
    // The API has a block for them.
    set.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    match options {
        None => Ok(set),
        Some(options) => Ok(set.with_json(utf8("options", Some(options))?)?),
    }
}

/// Bytes that need not be UTF-8: the core has a sentence for the model where they are not.
fn given<'a>(name: &str, text: Option<&'a [u8]>) -> Result<&'a [u8], Failure> {
    text.ok_or_else(|| Failure::usage(format!("{name} is NULL")))
}
