//! The functions of the C interface, from which `memdir.h` is generated. Each passes its arguments on, and catches panics.
#![expect(unsafe_code, reason = "the names and pointers of C")]

use std::ffi::c_char;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use memdir::command::{Decoded, SearchCall};
use memdir::{Cancellation, EncryptionKey, MemoryOptions, open_store};
use serde_json::json;

use crate::border::{bytes, call, content, guarded, lent, put, release, text, utf8};
use crate::embedder::OwnEmbedder;
use crate::failure::Failure;
use crate::handles::{MEMORIES, Opened};
use crate::hooks::{self, PENDING, Pending};
use crate::host::{Host, memdir_host};
use crate::merger::OwnMerger;
use crate::request::{REQUESTS, Request};
use crate::sync_hooks::OwnHooks;
use crate::{operations, own_store, places, reply, results};

/// Opens a memory on the store that `address` names: a directory such as "./memory", "sqlite:agent.db", "memory:".
///
/// `options` is a JSON object of options by their names, such as {"max_files": 100}; NULL sets none.
///
/// Returns the memory's number, or 0 if it failed. Close the memory with memdir_close.
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
/// `place` is JSON. It is one of:
/// - "./memory": an address, as memdir_open accepts it
/// - {"address": "…", "read_only": false}: an address, read-only or not
/// - {"own": 7, "read_only": false}: your store with the number 7
/// - {"mounts": [{"path": "/memories", "address": "./memory"}, {"path": "/memories/team", "own": 7}]}: mounted stores. One
///   of the mounts is at "/memories". At the other mounts, an address without a scheme is that very directory.
///
/// `host` has the functions for stores of your own, and is read during the call only. It may be NULL if there are no such
/// stores.
///
/// Returns the memory's number, or 0 if it failed. Close the memory with memdir_close. A store is released when the memory
/// and all of its further numbers are closed, and also if this function failed.
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

/// Answers a request of memdir_host.serve.
///
/// `result` is JSON, as the operation specifies it; NULL means null. If the method failed because of a condition, it is
/// {"errno": "ENOENT"} with the condition's name in errno.h. The names are:
///
/// - ENOENT (the path does not exist), EEXIST (the path exists), EISDIR, ENOTDIR
/// - EINVAL (a move into itself), ENAMETOOLONG, EACCES, EROFS, ENOSPC
/// - EAGAIN (other writers took too long; nothing was changed), ECANCELED (nothing was done)
///
/// Any other name means that the store is broken. So do not pass on the
/// errno of a file or a socket that your store uses. If the store is broken, it is {"failed": "…", "number": 7}. The number
/// is optional, and becomes "own" in the error of the call.
///
/// `content` has `length` bytes, for "read" and for "open" of a file. NULL means no content.
///
/// Returns whether the call was still waiting for the answer.
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

/// Computes the new content of a file for a request for "update". The current content is the `length` bytes of `content`.
///
/// Returns the address of the new content, and writes its length to `new_length`. The memory is valid until you answer the
/// request. Returns NULL if nothing is to be written: either the file has changed and the library will send another request,
/// or the call was cancelled. No other write may happen between reading the file and writing the new content. If one did,
/// call this function again with the newer content.
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

/// Checks that a store of your own keeps the contract of docs/stores/write-a-store.md, for your tests. `factory` is a number of yours. It
/// gets a request "make" for a new, empty store for each rule, and is released at the end.
///
/// Returns the first rule that is broken and how, or NULL if all rules are kept or the check failed.
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

/// Reads the key in the file at `path`, for the option "encryption_key". If the file does not exist, a random key is
/// generated and written to a new file, which only its owner may read. If several threads or processes make the first call
/// concurrently, all get the same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
///
/// Returns "hex:" and 64 digits, or NULL if the file does not have exactly 32 bytes, or cannot be read or created. Free the
/// text with memdir_free.
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

/// Returns a further number for the same memory. memdir_cancel cancels the calls with this number. Close it with
/// memdir_close, too. Returns 0 if there is no such memory.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_cancellable(memory: u64) -> u64 {
    let made = guarded(|| {
        let opened = MEMORIES.get(memory)?;
        Ok(opened.add(opened.memory.cancelled_by(&Cancellation::new()), true))
    });
    made.unwrap_or(0)
}

/// Cancels the calls of a number that memdir_cancellable returned, both running and later ones. A call that has not begun to
/// write then changes nothing, and its reply says so. A call that has begun to write runs to its end, unless it waits for a
/// store of your own: then it ends, and its reply says that the change may or may not have been saved.
///
/// Returns whether the number exists and is cancellable.
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

/// Returns a further number for a session of the same memory, for a conversation of its own. With "history", its changes are
/// recorded with this actor, such as an agent or a user. With "stale_guard", only what this session was shown counts.
/// Everything else is shared. The actor replaces the option "actor". Never take it from a model's input. Close the number
/// with memdir_close, too.
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

/// Returns a further number for the same memory with an embedder, so its searches also find files by their meaning. It requires
/// the option "embedder_name". `embedder` is a number of yours. `host.serve` gets a request "embed" for the words of a question,
/// and for passages that have no vector yet, and `host` is read during this call only. If the embedder fails or takes longer than
/// the option "embedder_timeout", the answer of a search is by words alone, and its "words_only" says why. Close the number with
/// memdir_close, too.
///
/// Returns 0 if it failed. Then the embedder is released.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_with_embedder(
    memory: u64,
    host: *const memdir_host,
    embedder: u64,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends `host` for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let host = Host::of(host)?.ok_or_else(|| Failure::usage("host is NULL"))?;
                let embedder = Arc::new(OwnEmbedder { host, number: embedder });
                let opened = MEMORIES.get(memory)?;
                Ok(opened.add(opened.memory.clone().with_embedder(embedder)?, false))
            },
        )
    }
}

/// Returns a further number for the same memory. Its operation "sync" ends conflicts by a function of yours: if both memories
/// changed a text in ways that cannot be merged line by line. `merger` is a number of yours. `host.serve` gets a request "merge"
/// for each such file, one after another, and `host` is read during this call only. The argument "on_conflict" takes precedence.
/// Close the number with memdir_close, too.
///
/// Returns 0 if it failed. Then the function is released.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_with_merger(
    memory: u64,
    host: *const memdir_host,
    merger: u64,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends `host` for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let host = Host::of(host)?.ok_or_else(|| Failure::usage("host is NULL"))?;
                let merger = OwnMerger { host, number: merger };
                Ok(MEMORIES.get(memory)?.add_with_on_conflict(merger.on_conflict()))
            },
        )
    }
}

/// Returns a further number for the same memory. A sync with this number, from it or to it, asks hooks of yours about each change of
/// this memory. `hooks` is a number of yours. `host.serve` gets a request "hook" for each change, one after another, and `host` is
/// read during this call only. Close the number with memdir_close, too.
///
/// Returns 0 if it failed. Then the hooks are released.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_with_hooks(
    memory: u64,
    host: *const memdir_host,
    hooks: u64,
    error: *mut *mut c_char,
) -> u64 {
    // SAFETY: the caller lends `host` for this call, and `error` is null or its place for a pointer.
    unsafe {
        call(
            error,
            |_| 0,
            || {
                let host = Host::of(host)?.ok_or_else(|| Failure::usage("host is NULL"))?;
                let hooks = OwnHooks { host, number: hooks };
                let opened = MEMORIES.get(memory)?;
                let handler = hooks.call_handler(opened.clone());
                Ok(opened.add_with_call_handler(handler))
            },
        )
    }
}

/// Closes a memory. Calls that run on other threads finish. Closing it again does nothing.
///
/// Returns whether the memory was open.
#[unsafe(no_mangle)]
pub extern "C" fn memdir_close(memory: u64) -> bool {
    guarded(|| Ok(MEMORIES.take(memory).is_some())).unwrap_or(false)
}

/// Executes one tool call, given as the JSON text of its "input".
///
/// Returns a JSON object that is never NULL: "content" and "is_error" of the tool_result. "content" is a string, or for an
/// image an array with an image block. A model's mistake is such a reply, too, and not an error.
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

/// Executes one call of the search by a model, a tool beside the memory tool. `input` is the JSON text of its "input":
/// "query", and optionally "path" and "limit", the most files (1 to 20, 5 without it).
///
/// Returns a reply as memdir_execute does. "content" is a string: the paths of the best files, and their best passages with
/// the line numbers that a view shows. The hooks are not called. The operation "search_tool_definition" declares the tool.
///
/// `error` is set if the store itself or the call failed. It is for your log and never for the model.
///
/// # Safety
/// See the rules at the top of memdir.h.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memdir_execute_search(
    memory: u64,
    input: *const c_char,
    error: *mut *mut c_char,
) -> *mut c_char {
    // SAFETY: the caller lends the text for this call, and `error` is null or its place for a pointer.
    unsafe {
        answer(error, || {
            let opened = MEMORIES.get(memory)?;
            let search = SearchCall::parse(given("input", bytes(input))?);
            Ok(reply::parts(opened.call(|Opened { memory, .. }| memory.execute_search(search))))
        })
    }
}

/// Begins a tool call like memdir_execute, for an application with hooks. Nothing is executed yet.
///
/// Returns the command for your hook "before" as a JSON object, or NULL if the call is already refused. Writes the number of
/// the call to `pending`. Pass it to memdir_finish, even if there is no command.
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

/// Describes a pending call, beyond its command, to your hook "before".
///
/// Returns a JSON object with three fields. "actor" is the actor, or null. "session" is the session: each memory and each
/// number of memdir_acting_as has its own. "tool_use_id" is the id of the tool_use block, or null if the input was not a
/// whole block. Returns "null" if the call is already refused, and NULL with an error if there is no such call.
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

/// Shows what the command of a pending call would change, as a unified diff of the texts as they would be stored.
///
/// It reads the file or lists the directory, and is not recorded as a view or as use. An approval applies to this diff. If
/// its basis has changed when memdir_finish executes the command, nothing is changed, and the model reads that it has to
/// view the file again.
///
/// Returns a JSON string, which is empty for a view. Returns NULL with an error if the command would be refused, the store
/// failed, or there is no such call. If the command would be refused, decide {"fail": "…"}: the command is then refused with
/// its own sentence.
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

/// Finishes a call that memdir_begin began. It can be called once for each call.
///
/// `decision` is the decision of the hook. NULL or "null" allows the command. {"deny": "…"} refuses it with this sentence.
/// {"replace": "…"} writes this text instead of the command's own. {"fail": "…"} says that the hook failed. If the call is
/// cancelled (memdir_cancel), nothing is executed, and the reply says so, whatever the decision is.
///
/// Returns the reply, as memdir_execute does. If `event` is not NULL, writes a JSON object for your hook "after" to it.
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

/// Executes an operation on a memory other than a tool call. The model cannot call it.
///
/// `arguments` is a JSON object; NULL means an empty one. Returns the result as JSON, or NULL if it failed.
///
/// - "read" {"path"}: the text of a file.
/// - "read_shown" {"path"}: the text of a file as a model may see it: redacted if views are, and without line numbers. It
///   counts as use of the file.
/// - "write" {"path", "text", "if_unchanged": null}: writes a file; with "if_unchanged" only if the file's text is that
///   text.
/// - "list" {"path": "/memories", "depth": null}: an array of "path", "size" (null for a directory), "modified" and
///   "accessed".
/// - "exists" {"path"}: true or false.
/// - "grep" {"query", "regex": false, "ignore_case": false, "path": "/memories", "limit": 100}: an array of "path", "line"
///   (null if the name matches) and "text".
/// - "search" {"query", "path": "/memories", "limit": 10}: the files that answer a question best, at most 1,000. "hits" is an
///   array of "path", "score", "modified" and "passages". A passage has "text", "first_line", "last_line" and "matches": the
///   "start" and "end" of words in bytes of the text. "files_left_out" is the number of files beyond "search_max_bytes".
/// - "find_sensitive" {"path": "/memories", "limit": 100}: the matches of the rules for sensitive text: an array of "path",
///   "line" (null if the name matches) and "rule".
/// - "stats" {}: how much the memory holds: "files", "directories", "bytes", "largest" with "path" and "bytes"; "oldest",
///   "newest" and "least_recently_used", each with "path" and "time"; "history" with "versions" and "bytes". Unknown values
///   are null.
/// - "watch" {"path": "/memories", "every": null}: begins to watch the path for changes by any process, and returns the
///   number of the watch. "every" is the polling interval in seconds. The watch keeps the store open until it is ended with
///   "unwatch".
/// - "changes" {"watch", "wait": 0}: the changes since the last call, an array of "kind" ("written" or "deleted"), "path"
///   and "old_path", which is null. If there are none, it waits for a change, at most "wait" seconds. Null if the watch is
///   ended meanwhile.
/// - "is_due" {"watch"}: true if "changes" would poll the store now, or return null. It neither waits nor reads. Use it to
///   wait without a thread.
/// - "unwatch" {"watch"}: ends the watch. The result is null.
/// - "index" {"max_chars": 2000}: a table of contents for a system prompt.
/// - "bootstrap" {"about", "features", "init": ""}: creates the files of a project of several sessions, if they do not
///   exist, and returns the paths of the created files. "features" is an array of strings.
/// - "forget_views" {}: with "stale_guard", the model has to view a file again before it edits it. The result is null.
/// - "search_tool_definition" {"dialect": "json-schema", "prefix": "memory_"}: the search, for memdir_execute_search.
/// - "tool_definition" {"dialect": "json-schema"} and "tool_definitions" {"dialect": "json-schema", "prefix": ""}: the tool,
///   or a tool for each command, for hosts that do not know Anthropic's memory tool.
/// - "history" {"path": null, "limit": null, "before": null, "actor": null, "change": null, "since": null}: the versions of
///   a file, of everything below a directory, or of everything, newest first. Each has "id", "change", "operation", "path",
///   "old_path", "time", "actor", "partner", "partner_version", "size", "sha256", "is_current" and "redacted"; a value that a
///   version lacks is null. This and the operations to "trim_history" need the option "history".
/// - "resolve_id" {"part"}: the whole id of the version or the change that matches a part of an id: its beginning or its
///   end, at least 6 digits.
/// - "export_history" {}: the history as a stream for git fast-import, in the form of "read_version".
/// - "grep_history" {"query", …}, as "grep": text that files held in the past and no longer hold, newest first: an array of
///   "version" (in the form of "history"), "line" (null if the name matches) and "text".
/// - "files_at" {"at"}: the files that existed at a time: an array of "path", "size", "modified" and "version". Unknown
///   values are null.
/// - "read_at" {"path", "at"}: the content of a file at a time, in the form of "read_version"; null if the file did not
///   exist.
/// - "blame" {"path"}: for each current line of a file, the version that added it: an array of "line" (from 1 on), "text",
///   "version" and "change" (their ids), "operation", "actor", "time" and "may_be_older". Unknown values are null.
/// - "read_version" {"id"}: the content of a version, an object with "text", or with "base64" if it is not UTF-8.
/// - "diff" {"id", "other": null}: a unified diff from one version to another. Without "other", the diff of the version's
///   change.
/// - "restore" {"id", "overwrite": false}: writes the content of a version back, or all files of a change. Returns "change",
///   the id of the change that this made or null, "files" with "operation", "path" and "old_path", and "skipped", the
///   conflicts that were left out.
/// - "undo" {"change": null, "since": null, "actor": null, "dry_run": false, "skip_conflicts": false, "merge": false}:
///   undoes a change, or all changes since a time. With "actor", only changes by that actor are undone. If later changes
///   depend on it, it fails with "conflicts", an array of "path", "in_the_way", "change", "actor" and "time". With
///   "skip_conflicts" it leaves those files out; with "merge" it keeps later changes of other lines. Returns the same as
///   "restore". A merged file has its text as "merged".
/// - "restore_all" {"at", "dry_run": false}: restores every file to its content at a time. Returns the same as "restore".
/// - "redact" {"id", "reason"}: removes the content of a version from the history for good. Returns the id of the change, or
///   null if there was nothing to remove.
/// - "redact_text" {"query", "reason", "regex": false, "ignore_case": false, "dry_run": false}: removes every content that
///   contains a text from the history for good, and the text from names that no file or directory has now. Returns five
///   fields. "change" is the id of the change, or null. "versions" are the versions with the text, in the form of "history".
///   "current" are the paths of the files that have the text now, which are an error without "dry_run". "names" are the
///   former paths that have the text. "kept_names" are the paths that have it in a name now: they stay.
/// - "trim_history" {}: removes the versions that the options no longer keep, and returns the number of removed records.
/// - "expire" {"older_than", "dry_run": false}: removes the files that were not used for "older_than" seconds, and returns
///   them: "path", "bytes" and "last_used".
/// - "check" {}: reads every file, every record of the history and every version, and changes nothing, with and without the
///   option "history". Returns "directories", "files", "bytes", "versions" (null without a history) and "problems", an array
///   of "kind", "path", "description" and "is_beside".
/// - "copy" {"to", "overwrite": false, "without_history": false}: copies everything to another memory, by its number:
///   contents, times, hidden files, empty directories and the history. Nothing is deleted. If a file with another content
///   exists, nothing is copied, and the error has the kind "copy" and "paths", unless "overwrite" is true. If the other memory
///   has a history of its own, or the history is damaged, the error has the kind "copy", unless "without_history" is true.
///   Each file is read back and compared. Returns "files", "bytes", "equal", "directories", "left_out" and "changes" (null
///   without a history). If it is cancelled, the files that are already copied stay, and another copy does the rest.
/// - "sync" {"to", "on_conflict": "keep-both", "one_way": false, "dry_run": false, "delete": false,
///   "redactions": false, "exclude": [], "max_file_bytes": null, "names": null}: makes this memory, "a", and another one, "b",
///   equal. "to" is the number of "b". Changes of both are merged line by line. If the same lines differ, both contents are kept,
///   unless "on_conflict" is "a" or "b", or the memory has a function for it (memdir_with_merger). With "one_way" only "b" is
///   changed, with "dry_run" nothing. Files that match a pattern of "exclude", or have more than "max_file_bytes", stay as they are. With "redactions", a content that was redacted in one history is redacted in the
///   other one, if a sync brought it there. "names" are two names for the memories, in the names of conflict copies. Returns
///   "changes", "conflicts", "left_out", "redactions", "equal" and "has_baseline". An error has the kind "sync". Its "sync_kind" is
///   "overlapping" if both are the same memory, "read_only", "too_many_deletions" or "stopped". Too many deletions are more than
///   a quarter of a memory's files, or all of them; "delete" allows them. A sync is stopped if the call is cancelled. Then the
///   changes that were made before stay, and another sync makes the others. After the other errors nothing was changed.
/// - "clear" {}: deletes everything below /memories. The result is a sentence. With a history, the history keeps all
///   contents.
/// - "erase" {"dry_run": false}: removes everything for good, with the whole history, with and without the option "history".
///   It is not recorded and cannot be undone. Returns the removed amounts: "files", "bytes", "versions" and "history_bytes".
///
/// An argument with a value above is optional, and that value is its default. A time, even as an argument, is a text in the
/// format of RFC 3339, such as "2026-03-14T15:09:26.535897Z". A duration is a number of seconds.
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

/// Returns the reply of `work`, or the reply that says that it failed.
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
    // The API has a block for images.
    set.max_image_bytes = Some(MemoryOptions::CLAUDE_IMAGE_BYTES);
    match options {
        None => Ok(set),
        Some(options) => Ok(set.with_json(utf8("options", Some(options))?)?),
    }
}

/// Bytes that may not be UTF-8. The core has a sentence for the model if they are not.
fn given<'a>(name: &str, text: Option<&'a [u8]>) -> Result<&'a [u8], Failure> {
    text.ok_or_else(|| Failure::usage(format!("{name} is NULL")))
}
