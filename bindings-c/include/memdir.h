/*
 * memdir: the memory directory for agents that use Claude's memory tool.
 *
 * Generated from bindings-c/src/abi.rs and bindings-c/src/host.rs by `make generate-c`.
 *
 * Rules for all functions:
 * - A text that you pass is UTF-8, ends with a NUL byte, and remains yours. The function reads it only during the call.
 * - A text that you get is UTF-8, ends with a NUL byte, and belongs to you: free it once, with memdir_free. The text of
 *   memdir_version is the exception: do not free it.
 * - A memory is a number, not a pointer. 0 means no memory. Numbers are never reused, so using a closed memory is an error
 *   and never undefined behaviour.
 * - `error` may be NULL. Otherwise every call sets it: to NULL, or to a JSON object. The object has a "message" and a "kind":
 *   "config", "store", "cancelled", "refused", "hook", "history", "copy", "sync", "usage" or "internal". An error about an
 *   option also has "option", an error about files "paths", an error about the history "history_kind" and "conflicts",
 *   and an error of a sync "sync_kind".
 * - Any thread may call any function at any time. The library calls only the functions of your own stores (memdir_host). No
 *   panic or exception leaves a function.
 */

#ifndef MEMDIR_H
#define MEMDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Your own functions, for a store of your own. The library calls no others. Any thread may call them at any time, also
 * concurrently, and no exception may leave them.
 */
typedef struct {
  /**
   * Serves a request for your store with the number `store`. Answer each request once with memdir_answer: before
   * this function returns, or later from any thread. `asked` and the `length` bytes of `content` are valid until it
   * returns.
   *
   * `asked` is a JSON object: "operation", "path", "call", "to_the_end", and the arguments of the operation. "call"
   * is the number of the memory with which the current call was made, or null. Once that call is cancelled, it does
   * not wait for the answer, unless "to_the_end" is true: then a change that has begun runs to its end, and the
   * store has 5 seconds for each step.
   *
   * The operations, with the result of each, are listed here. docs/stores/write-a-store.md specifies their guarantees.
   *
   * - "info": describes the store, when a memory is opened on it: {"folds_case": false, "tracks_access": false,
   *   "methods": []}. "methods" are the supported ones of "open", "modified", "set_modified" and "clear". The
   *   library does without the others.
   * - "read": the content of a file.
   * - "list": the entries of a directory, an array of "path", and for a file "size", "modified" and "accessed".
   * - "write" {"overwrite"}: writes `content`.
   * - "update": reads the file, passes its content to memdir_edit, and writes the result.
   * - "delete".
   * - "rename" {"to"}.
   * - "open" {"depth"}: the content of a file, with null as the result, or the entries of a directory, "depth"
   *   levels deep.
   * - "modified": the time of a file, or null.
   * - "set_modified" {"time"}.
   * - "clear": deletes everything.
   * - "record_access" {"time"} and "delete_unused" {"since"}, which returns true or false, if the store tracks
   *   accesses.
   * - "embed" {"texts", "is_query"}: a vector for each text, an array of arrays of numbers, all of the same length. Only the
   *   number that was passed to memdir_with_embedder gets this request. "is_query" is true for the words of a question.
   * - "merge" {"a", "b", "base", "modified_a", "modified_b"}: the text that the file gets in both memories of a sync, or null to
   *   keep both contents. "a" and "b" are its texts in the memories, and "base" is the text that both last agreed on, or null.
   *   Only the number that was passed to memdir_with_merger gets this request. If it fails, the sync ends.
   * - "hook" {"pending", "command"}: a change that a sync would make, for your hooks. "pending" is a call as memdir_begin begins
   *   one, and "command" is its command, or null if it is already refused. Finish the call with memdir_finish, then answer null.
   *   Only the number that was passed to memdir_with_hooks gets this request. If it fails, the sync ends.
   * - "make": the number of a new, empty store. Only the number that was passed to memdir_check_contract gets this
   *   request.
   */
  void (*serve)(uint64_t store, uint64_t request, const char *asked, const uint8_t *content, size_t length);
  /**
   * Called when the library no longer uses this store, or factory. May be NULL.
   */
  void (*release)(uint64_t store);
} memdir_host;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Opens a memory on the store that `address` names: a directory such as "./memory", "sqlite:agent.db", "memory:".
 *
 * `options` is a JSON object of options by their names, such as {"max_files": 100}; NULL sets none.
 *
 * Returns the memory's number, or 0 if it failed. Close the memory with memdir_close.
 */
uint64_t memdir_open(const char *address,
                     const char *options,
                     char **error);

/**
 * Opens a memory on a store of your own, or on several stores that are mounted into one tree.
 *
 * `place` is JSON. It is one of:
 * - "./memory": an address, as memdir_open accepts it
 * - {"address": "…", "read_only": false}: an address, read-only or not
 * - {"own": 7, "read_only": false}: your store with the number 7
 * - {"mounts": [{"path": "/memories", "address": "./memory"}, {"path": "/memories/team", "own": 7}]}: mounted stores. One
 *   of the mounts is at "/memories". At the other mounts, an address without a scheme is that very directory.
 *
 * `host` has the functions for stores of your own, and is read during the call only. It may be NULL if there are no such
 * stores.
 *
 * Returns the memory's number, or 0 if it failed. Close the memory with memdir_close. A store is released when the memory
 * and all of its further numbers are closed, and also if this function failed.
 */
uint64_t memdir_open_place(const char *place,
                           const char *options,
                           const memdir_host *host,
                           char **error);

/**
 * Answers a request of memdir_host.serve.
 *
 * `result` is JSON, as the operation specifies it; NULL means null. If the method failed because of a condition, it is
 * {"errno": "ENOENT"} with the condition's name in errno.h. The names are:
 *
 * - ENOENT (the path does not exist), EEXIST (the path exists), EISDIR, ENOTDIR
 * - EINVAL (a move into itself), ENAMETOOLONG, EACCES, EROFS, ENOSPC
 * - EAGAIN (other writers took too long; nothing was changed), ECANCELED (nothing was done)
 *
 * Any other name means that the store is broken. So do not pass on the
 * errno of a file or a socket that your store uses. If the store is broken, it is {"failed": "…", "number": 7}. The number
 * is optional, and becomes "own" in the error of the call.
 *
 * `content` has `length` bytes, for "read" and for "open" of a file. NULL means no content.
 *
 * Returns whether the call was still waiting for the answer.
 */
bool memdir_answer(uint64_t request,
                   const char *result,
                   const uint8_t *content,
                   size_t length);

/**
 * Computes the new content of a file for a request for "update". The current content is the `length` bytes of `content`.
 *
 * Returns the address of the new content, and writes its length to `new_length`. The memory is valid until you answer the
 * request. Returns NULL if nothing is to be written: either the file has changed and the library will send another request,
 * or the call was cancelled. No other write may happen between reading the file and writing the new content. If one did,
 * call this function again with the newer content.
 *
 * # Safety
 * See the rules at the top of memdir.h. `new_length` points to memory for a length.
 */
const uint8_t *memdir_edit(uint64_t request,
                           const uint8_t *content,
                           size_t length,
                           size_t *new_length);

/**
 * Checks that a store of your own keeps the contract of docs/stores/write-a-store.md, for your tests. `factory` is a number of yours. It
 * gets a request "make" for a new, empty store for each rule, and is released at the end.
 *
 * Returns the first rule that is broken and how, or NULL if all rules are kept or the check failed.
 */
char *memdir_check_contract(uint64_t factory,
                            const memdir_host *host,
                            char **error);

/**
 * Reads the key in the file at `path`, for the option "encryption_key". If the file does not exist, a random key is
 * generated and written to a new file, which only its owner may read. If several threads or processes make the first call
 * concurrently, all get the same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
 *
 * Returns "hex:" and 64 digits, or NULL if the file does not have exactly 32 bytes, or cannot be read or created. Free the
 * text with memdir_free.
 */
char *memdir_key_from_file(const char *path,
                           char **error);

/**
 * Returns a further number for the same memory. memdir_cancel cancels the calls with this number. Close it with
 * memdir_close, too. Returns 0 if there is no such memory.
 */
uint64_t memdir_cancellable(uint64_t memory);

/**
 * Cancels the calls of a number that memdir_cancellable returned, both running and later ones. A call that has not begun to
 * write then changes nothing, and its reply says so. A call that has begun to write runs to its end, unless it waits for a
 * store of your own: then it ends, and its reply says that the change may or may not have been saved.
 *
 * Returns whether the number exists and is cancellable.
 */
bool memdir_cancel(uint64_t memory);

/**
 * Returns a further number for a session of the same memory, for a conversation of its own. With "history", its changes are
 * recorded with this actor, such as an agent or a user. With "stale_guard", only what this session was shown counts.
 * Everything else is shared. The actor replaces the option "actor". Never take it from a model's input. Close the number
 * with memdir_close, too.
 *
 * Returns 0 if it failed.
 */
uint64_t memdir_acting_as(uint64_t memory,
                          const char *actor,
                          char **error);

/**
 * Returns a further number for the same memory with an embedder, so its searches also find files by their meaning. It requires
 * the option "embedder_name". `embedder` is a number of yours. `host.serve` gets a request "embed" for the words of a question,
 * and for passages that have no vector yet, and `host` is read during this call only. If the embedder fails or takes longer than
 * the option "embedder_timeout", the answer of a search is by words alone, and its "words_only" says why. Close the number with
 * memdir_close, too.
 *
 * Returns 0 if it failed. Then the embedder is released.
 */
uint64_t memdir_with_embedder(uint64_t memory,
                              const memdir_host *host,
                              uint64_t embedder,
                              char **error);

/**
 * Returns a further number for the same memory. Its operation "sync" ends conflicts by a function of yours: if both memories
 * changed a text in ways that cannot be merged line by line. `merger` is a number of yours. `host.serve` gets a request "merge"
 * for each such file, one after another, and `host` is read during this call only. The argument "on_conflict" takes precedence.
 * Close the number with memdir_close, too.
 *
 * Returns 0 if it failed. Then the function is released.
 */
uint64_t memdir_with_merger(uint64_t memory,
                            const memdir_host *host,
                            uint64_t merger,
                            char **error);

/**
 * Returns a further number for the same memory. A sync with this number, from it or to it, asks hooks of yours about each change of
 * this memory. `hooks` is a number of yours. `host.serve` gets a request "hook" for each change, one after another, and `host` is
 * read during this call only. Close the number with memdir_close, too.
 *
 * Returns 0 if it failed. Then the hooks are released.
 */
uint64_t memdir_with_hooks(uint64_t memory,
                           const memdir_host *host,
                           uint64_t hooks,
                           char **error);

/**
 * Closes a memory. Calls that run on other threads finish. Closing it again does nothing.
 *
 * Returns whether the memory was open.
 */
bool memdir_close(uint64_t memory);

/**
 * Executes one tool call, given as the JSON text of its "input".
 *
 * Returns a JSON object that is never NULL: "content" and "is_error" of the tool_result. "content" is a string, or for an
 * image an array with an image block. A model's mistake is such a reply, too, and not an error.
 *
 * `error` is set if the store itself or the call failed. It is for your log and never for the model.
 */
char *memdir_execute(uint64_t memory,
                     const char *input,
                     char **error);

/**
 * Executes one call of the search by a model, a tool beside the memory tool. `input` is the JSON text of its "input":
 * "query", and optionally "path" and "limit", the most files (1 to 20, 5 without it).
 *
 * Returns a reply as memdir_execute does. "content" is a string: the paths of the best files, and their best passages with
 * the line numbers that a view shows. The hooks are not called. The operation "search_tool_definition" declares the tool.
 *
 * `error` is set if the store itself or the call failed. It is for your log and never for the model.
 */
char *memdir_execute_search(uint64_t memory,
                            const char *input,
                            char **error);

/**
 * Begins a tool call like memdir_execute, for an application with hooks. Nothing is executed yet.
 *
 * Returns the command for your hook "before" as a JSON object, or NULL if the call is already refused. Writes the number of
 * the call to `pending`. Pass it to memdir_finish, even if there is no command.
 */
char *memdir_begin(uint64_t memory,
                   const char *input,
                   uint64_t *pending,
                   char **error);

/**
 * Describes a pending call, beyond its command, to your hook "before".
 *
 * Returns a JSON object with three fields. "actor" is the actor, or null. "session" is the session: each memory and each
 * number of memdir_acting_as has its own. "tool_use_id" is the id of the tool_use block, or null if the input was not a
 * whole block. Returns "null" if the call is already refused, and NULL with an error if there is no such call.
 */
char *memdir_hook_call(uint64_t pending,
                       char **error);

/**
 * Shows what the command of a pending call would change, as a unified diff of the texts as they would be stored.
 *
 * It reads the file or lists the directory, and is not recorded as a view or as use. An approval applies to this diff. If
 * its basis has changed when memdir_finish executes the command, nothing is changed, and the model reads that it has to
 * view the file again.
 *
 * Returns a JSON string, which is empty for a view. Returns NULL with an error if the command would be refused, the store
 * failed, or there is no such call. If the command would be refused, decide {"fail": "…"}: the command is then refused with
 * its own sentence.
 */
char *memdir_hook_diff(uint64_t pending,
                       char **error);

/**
 * Finishes a call that memdir_begin began. It can be called once for each call.
 *
 * `decision` is the decision of the hook. NULL or "null" allows the command. {"deny": "…"} refuses it with this sentence.
 * {"replace": "…"} writes this text instead of the command's own. {"fail": "…"} says that the hook failed. If the call is
 * cancelled (memdir_cancel), nothing is executed, and the reply says so, whatever the decision is.
 *
 * Returns the reply, as memdir_execute does. If `event` is not NULL, writes a JSON object for your hook "after" to it.
 */
char *memdir_finish(uint64_t pending,
                    const char *decision,
                    char **event,
                    char **error);

/**
 * Executes an operation on a memory other than a tool call. The model cannot call it.
 *
 * `arguments` is a JSON object; NULL means an empty one. Returns the result as JSON, or NULL if it failed.
 *
 * - "read" {"path"}: the text of a file.
 * - "read_shown" {"path"}: the text of a file as a model may see it: redacted if views are, and without line numbers. It
 *   counts as use of the file.
 * - "write" {"path", "text", "if_unchanged": null}: writes a file; with "if_unchanged" only if the file's text is that
 *   text.
 * - "list" {"path": "/memories", "depth": null}: an array of "path", "size" (null for a directory), "modified" and
 *   "accessed".
 * - "exists" {"path"}: true or false.
 * - "grep" {"query", "regex": false, "ignore_case": false, "path": "/memories", "limit": 100}: an array of "path", "line"
 *   (null if the name matches) and "text".
 * - "search" {"query", "path": "/memories", "limit": 10}: the files that answer a question best, at most 1,000. "hits" is an
 *   array of "path", "score", "modified" and "passages". A passage has "text", "first_line", "last_line" and "matches": the
 *   "start" and "end" of words in bytes of the text. "files_left_out" is the number of files beyond "search_max_bytes".
 * - "find_sensitive" {"path": "/memories", "limit": 100}: the matches of the rules for sensitive text: an array of "path",
 *   "line" (null if the name matches) and "rule".
 * - "stats" {}: how much the memory holds: "files", "directories", "bytes", "largest" with "path" and "bytes"; "oldest",
 *   "newest" and "least_recently_used", each with "path" and "time"; "history" with "versions" and "bytes". Unknown values
 *   are null.
 * - "watch" {"path": "/memories", "every": null}: begins to watch the path for changes by any process, and returns the
 *   number of the watch. "every" is the polling interval in seconds. The watch keeps the store open until it is ended with
 *   "unwatch".
 * - "changes" {"watch", "wait": 0}: the changes since the last call, an array of "kind" ("written" or "deleted"), "path"
 *   and "old_path", which is null. If there are none, it waits for a change, at most "wait" seconds. Null if the watch is
 *   ended meanwhile.
 * - "is_due" {"watch"}: true if "changes" would poll the store now, or return null. It neither waits nor reads. Use it to
 *   wait without a thread.
 * - "unwatch" {"watch"}: ends the watch. The result is null.
 * - "index" {"max_chars": 2000}: a table of contents for a system prompt.
 * - "bootstrap" {"about", "features", "init": ""}: creates the files of a project of several sessions, if they do not
 *   exist, and returns the paths of the created files. "features" is an array of strings.
 * - "forget_views" {}: with "stale_guard", the model has to view a file again before it edits it. The result is null.
 * - "search_tool_definition" {"dialect": "json-schema", "prefix": "memory_"}: the search, for memdir_execute_search.
 * - "tool_definition" {"dialect": "json-schema"} and "tool_definitions" {"dialect": "json-schema", "prefix": ""}: the tool,
 *   or a tool for each command, for hosts that do not know Anthropic's memory tool.
 * - "history" {"path": null, "limit": null, "before": null, "actor": null, "change": null, "since": null}: the versions of
 *   a file, of everything below a directory, or of everything, newest first. Each has "id", "change", "operation", "path",
 *   "old_path", "time", "actor", "partner", "partner_version", "size", "sha256", "is_current" and "redacted"; a value that a
 *   version lacks is null. This and the operations to "trim_history" need the option "history".
 * - "resolve_id" {"part"}: the whole id of the version or the change that matches a part of an id: its beginning or its
 *   end, at least 6 digits.
 * - "export_history" {}: the history as a stream for git fast-import, in the form of "read_version".
 * - "grep_history" {"query", …}, as "grep": text that files held in the past and no longer hold, newest first: an array of
 *   "version" (in the form of "history"), "line" (null if the name matches) and "text".
 * - "files_at" {"at"}: the files that existed at a time: an array of "path", "size", "modified" and "version". Unknown
 *   values are null.
 * - "read_at" {"path", "at"}: the content of a file at a time, in the form of "read_version"; null if the file did not
 *   exist.
 * - "blame" {"path"}: for each current line of a file, the version that added it: an array of "line" (from 1 on), "text",
 *   "version" and "change" (their ids), "operation", "actor", "time" and "may_be_older". Unknown values are null.
 * - "read_version" {"id"}: the content of a version, an object with "text", or with "base64" if it is not UTF-8.
 * - "diff" {"id", "other": null}: a unified diff from one version to another. Without "other", the diff of the version's
 *   change.
 * - "restore" {"id", "overwrite": false}: writes the content of a version back, or all files of a change. Returns "change",
 *   the id of the change that this made or null, "files" with "operation", "path" and "old_path", and "skipped", the
 *   conflicts that were left out.
 * - "undo" {"change": null, "since": null, "actor": null, "dry_run": false, "skip_conflicts": false, "merge": false}:
 *   undoes a change, or all changes since a time. With "actor", only changes by that actor are undone. If later changes
 *   depend on it, it fails with "conflicts", an array of "path", "in_the_way", "change", "actor" and "time". With
 *   "skip_conflicts" it leaves those files out; with "merge" it keeps later changes of other lines. Returns the same as
 *   "restore". A merged file has its text as "merged".
 * - "restore_all" {"at", "dry_run": false}: restores every file to its content at a time. Returns the same as "restore".
 * - "redact" {"id", "reason"}: removes the content of a version from the history for good. Returns the id of the change, or
 *   null if there was nothing to remove.
 * - "redact_text" {"query", "reason", "regex": false, "ignore_case": false, "dry_run": false}: removes every content that
 *   contains a text from the history for good, and the text from names that no file or directory has now. Returns five
 *   fields. "change" is the id of the change, or null. "versions" are the versions with the text, in the form of "history".
 *   "current" are the paths of the files that have the text now, which are an error without "dry_run". "names" are the
 *   former paths that have the text. "kept_names" are the paths that have it in a name now: they stay.
 * - "trim_history" {}: removes the versions that the options no longer keep, and returns the number of removed records.
 * - "expire" {"older_than", "dry_run": false}: removes the files that were not used for "older_than" seconds, and returns
 *   them: "path", "bytes" and "last_used".
 * - "check" {}: reads every file, every record of the history and every version, and changes nothing, with and without the
 *   option "history". Returns "directories", "files", "bytes", "versions" (null without a history) and "problems", an array
 *   of "kind", "path", "description" and "is_beside".
 * - "copy" {"to", "overwrite": false, "without_history": false}: copies everything to another memory, by its number:
 *   contents, times, hidden files, empty directories and the history. Nothing is deleted. If a file with another content
 *   exists, nothing is copied, and the error has the kind "copy" and "paths", unless "overwrite" is true. If the other memory
 *   has a history of its own, or the history is damaged, the error has the kind "copy", unless "without_history" is true.
 *   Each file is read back and compared. Returns "files", "bytes", "equal", "directories", "left_out" and "changes" (null
 *   without a history). If it is cancelled, the files that are already copied stay, and another copy does the rest.
 * - "sync" {"to", "on_conflict": "keep-both", "one_way": false, "dry_run": false, "delete": false,
 *   "redactions": false, "exclude": [], "max_file_bytes": null, "names": null}: makes this memory, "a", and another one, "b",
 *   equal. "to" is the number of "b". Changes of both are merged line by line. If the same lines differ, both contents are kept,
 *   unless "on_conflict" is "a" or "b", or the memory has a function for it (memdir_with_merger). With "one_way" only "b" is
 *   changed, with "dry_run" nothing. Files that match a pattern of "exclude", or have more than "max_file_bytes", stay as they are. With "redactions", a content that was redacted in one history is redacted in the
 *   other one, if a sync brought it there. "names" are two names for the memories, in the names of conflict copies. Returns
 *   "changes", "conflicts", "left_out", "redactions", "equal" and "has_baseline". An error has the kind "sync". Its "sync_kind" is
 *   "overlapping" if both are the same memory, "read_only", "too_many_deletions" or "stopped". Too many deletions are more than
 *   a quarter of a memory's files, or all of them; "delete" allows them. A sync is stopped if the call is cancelled. Then the
 *   changes that were made before stay, and another sync makes the others. After the other errors nothing was changed.
 * - "clear" {}: deletes everything below /memories. The result is a sentence. With a history, the history keeps all
 *   contents.
 * - "erase" {"dry_run": false}: removes everything for good, with the whole history, with and without the option "history".
 *   It is not recorded and cannot be undone. Returns the removed amounts: "files", "bytes", "versions" and "history_bytes".
 *
 * An argument with a value above is optional, and that value is its default. A time, even as an argument, is a text in the
 * format of RFC 3339, such as "2026-03-14T15:09:26.535897Z". A duration is a number of seconds.
 */
char *memdir_call(uint64_t memory,
                  const char *operation,
                  const char *arguments,
                  char **error);

/**
 * Frees a text that one of these functions returned or wrote. NULL is ignored.
 */
void memdir_free(char *text);

/**
 * The version of the library, such as "0.1.0". Do not free it.
 */
const char *memdir_version(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* MEMDIR_H */
