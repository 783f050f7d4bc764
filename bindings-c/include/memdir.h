/*
 * memdir: the memory directory for agents that use Claude's memory tool.
 *
 * Made from bindings-c/src/abi.rs by `make generate-c`.
 *
 * The rules, for all functions:
 * - A text that you hand over is UTF-8, ends with a NUL byte, and stays yours. It is read during the call only.
 * - A text that you get is UTF-8, ends with a NUL byte, and is yours: free it once, with memdir_free and nothing else.
 *   memdir_version is the exception.
 * - A memory is a number and not a pointer. 0 is none. A number is never used again, so a memory that is closed twice
 *   or used after it was closed is an error and no accident.
 * - `error` may be NULL. Otherwise it is set in every call: to NULL, or to a JSON object with "kind" ("config",
 *   "store", "cancelled", "refused", "hook", "history", "copy", "usage", "internal"), "message", for an option that is wrong
 *   "option", and for a call about the history "history_kind" and "paths".
 * - Any thread may call any function at any time. Nothing of yours is called but the store that you gave (memdir_host), and
 *   no panic or exception leaves a function.
 */

#ifndef MEMDIR_H
#define MEMDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Your own functions, for a store of your own. They are the only ones that the library calls. Any thread may call them at any
 * time, also several at once, and no exception may leave them.
 */
typedef struct {
  /**
   * Asks a store, which you know by the number `store`, to do something. Answer each request once with memdir_answer: before this
   * function returns, or later from any thread. `asked` and the `length` bytes of `content` are lent until it returns.
   *
   * `asked` is a JSON object: "operation", "path", "call", "to_the_end", and what the operation has beside them. "call" is the
   * number of the memory that the call was made with which the store works for, or null. Once that call is cancelled, the
   * answer is not waited for, unless "to_the_end" is true: then a change that has begun is ended, and the store has 5 seconds for each step.
   *
   * The operations, with the result of each. docs/stores/write-a-store.md says what they have to guarantee.
   *
   * - "info": what the store is, when a memory is opened on it: {"folds_case": false, "tracks_access": false, "methods": []}.
   *   "methods" are those of "open", "modified", "set_modified" and "clear" that it has. The library does without the others.
   * - "read": the content of a file.
   * - "list": the entries of a directory, an array of "path", and of a file "size", "modified" and "accessed".
   * - "write" {"overwrite"}: writes `content`.
   * - "update": reads the file, hands its content to memdir_edit, and writes what that returns.
   * - "delete".
   * - "rename" {"to"}.
   * - "open" {"depth"}: the content of a file, with null as the result, or the entries of a directory, "depth" levels deep.
   * - "modified": the time of a file, or null.
   * - "set_modified" {"time"}.
   * - "clear": deletes everything.
   * - "record_access" {"time"} and "delete_unused" {"since"}, which returns true or false, if it tracks accesses.
   * - "make": of the number that memdir_check_contract was given: the number of a new, empty store.
   */
  void (*serve)(uint64_t store, uint64_t request, const char *asked, const uint8_t *content, size_t length);
  /**
   * The library no longer uses this store, or factory. May be NULL.
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
 * Returns the memory's number, to be closed with memdir_close, or 0 if it failed.
 */
uint64_t memdir_open(const char *address,
                     const char *options,
                     char **error);

/**
 * Opens a memory on a store of your own, or on several stores that are mounted into one tree.
 *
 * `place` is JSON: the text of an address as memdir_open takes it; {"address": "…", "read_only": false}; {"own": 7, "read_only": false}
 * for the store that you know by the number 7; or {"mounts": [{"path": "/memories", "address": "./memory"}, {"path":
 * "/memories/team", "own": 7}]}. One of the mounts is at "/memories". Below, an address without a scheme is that very directory.
 *
 * `host` has the functions for stores of your own, and is read during the call only. It may be NULL if there are none.
 *
 * Returns the memory's number, to be closed with memdir_close, or 0 if it failed. A store is released when the memory and
 * all further numbers of it are closed, also if it failed.
 */
uint64_t memdir_open_place(const char *place,
                           const char *options,
                           const memdir_host *host,
                           char **error);

/**
 * The answer to a request of memdir_host.serve.
 *
 * `result` is JSON, as the operation has it; NULL stands for null. If the method failed, it is {"errno": "ENOENT"} for a condition, by
 * its name in errno.h: ENOENT nothing is there, EEXIST something is there, EISDIR, ENOTDIR, EINVAL a move into itself, ENAMETOOLONG, EACCES,
 * EROFS, ENOSPC, EAGAIN other writers took too long and nothing was changed, ECANCELED nothing was done. Otherwise {"failed": "…", "number": 7}
 * says that the store is broken. The number, which may be left out, comes back as "own" in the error of the call.
 *
 * `content` has `length` bytes, for "read" and for "open" of a file. NULL stands for none.
 *
 * Returns whether the call still waited for it.
 */
bool memdir_answer(uint64_t request,
                   const char *result,
                   const uint8_t *content,
                   size_t length);

/**
 * The new content for the file of a request for "update", whose content is the `length` bytes of `content`.
 *
 * Returns where it begins, and writes its length to `new_length`. It is lent until you answer the request. Returns NULL if
 * nothing is to be written: the file was changed since, and you are asked again, or the call was cancelled. Call it while no other writer can
 * come between; if one did, call it again with the newer content.
 *
 * # Safety
 * See the rules at the top of memdir.h. `new_length` points to memory for a length.
 */
const uint8_t *memdir_edit(uint64_t request,
                           const uint8_t *content,
                           size_t length,
                           size_t *new_length);

/**
 * Checks that a store of your own keeps the contract of docs/stores/write-a-store.md, for your tests. `factory` is a number of yours: it is asked to
 * "make" a new, empty store for each rule, and is released at the end.
 *
 * Returns the first rule that is broken and how, or NULL if all are kept, or if it failed.
 */
char *memdir_check_contract(uint64_t factory,
                            const memdir_host *host,
                            char **error);

/**
 * The key in the file at `path`, for the option "encryption_key". If nothing is there, a random key is generated, and the
 * file is made for it, which only its owner may read. If several threads or processes make the first call at the same
 * time, all get the same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
 *
 * Returns "hex:" and 64 digits, to be freed with memdir_free, or NULL if the file does not have exactly 32 bytes, or cannot
 * be read or made.
 */
char *memdir_key_from_file(const char *path,
                           char **error);

/**
 * A further number for the same memory, whose calls memdir_cancel cancels. To be closed with memdir_close, too.
 * Returns 0 if there is no such memory.
 */
uint64_t memdir_cancellable(uint64_t memory);

/**
 * Cancels the calls of a number that memdir_cancellable returned, those that run and those that follow. A call that
 * has not begun to write then changes nothing, and its reply says so. A call that has begun goes on to its end, unless it
 * waits for a store of your own: then it ends, and its reply says that the change may or may not have been saved.
 *
 * Returns whether it is such a number.
 */
bool memdir_cancel(uint64_t memory);

/**
 * A further number: a session of the same memory, for a conversation of its own. Its changes are recorded as this actor's,
 * with "history", such as an agent or a user, and with "stale_guard" only what it was shown itself counts. Everything else is
 * shared. It replaces the option "actor". Never take it from a model's input. To be closed with memdir_close, too.
 *
 * Returns 0 if it failed.
 */
uint64_t memdir_acting_as(uint64_t memory,
                          const char *actor,
                          char **error);

/**
 * Closes a memory. Calls that run on other threads go on to their end. Closing it again does nothing.
 *
 * Returns whether the memory was open.
 */
bool memdir_close(uint64_t memory);

/**
 * Executes one tool call, given as the JSON text of its "input".
 *
 * Returns a JSON object that is never NULL: "content" and "is_error" of the tool_result. "content" is a string, or
 * for an image an array with an image block. A model's mistake is such a reply, too, and no error.
 *
 * `error` is set if the store itself or the call failed. It is for your log and never for the model.
 */
char *memdir_execute(uint64_t memory,
                     const char *input,
                     char **error);

/**
 * The first half of memdir_execute, for a program with hooks. Nothing is executed yet.
 *
 * Returns the command for your hook "before", a JSON object, or NULL if there is none because the call is already
 * refused. Writes the number of the call to `pending`: hand it to memdir_finish, also if there is no command.
 */
char *memdir_begin(uint64_t memory,
                   const char *input,
                   uint64_t *pending,
                   char **error);

/**
 * What a hook may know of a call between its halves, beside the command.
 *
 * Returns a JSON object: "actor", who acts, or null; "session", another one for each memory and for each number of
 * memdir_acting_as; "tool_use_id", the id of the tool_use block, or null if the input was not a whole block. Returns "null" if
 * the call is already refused, and NULL with an error if there is no such call.
 */
char *memdir_hook_call(uint64_t pending,
                       char **error);

/**
 * What the command of a call between its halves would change, as a unified diff of the texts as they would be stored.
 *
 * It reads the file or lists the directory, and leaves no trace. An approval holds for this diff: if what it is based on has changed when
 * memdir_finish executes the command, nothing is changed, and the model reads that it has to view the file again.
 *
 * Returns a JSON string, which is empty for a view. Returns NULL with an error if the command would be refused: decide
 * {"fail": "…"}, and the command is refused with that sentence. So it is also if the store failed, or there is no such call.
 */
char *memdir_hook_diff(uint64_t pending,
                       char **error);

/**
 * The second half of memdir_execute. It can be called once for each call.
 *
 * `decision` is what the hook decided: NULL or "null" allows the command; {"deny": "…"} refuses it with this
 * sentence; {"replace": "…"} writes this text in the place of the command's own; {"fail": "…"} says that the hook
 * failed.
 *
 * Returns the reply, as memdir_execute does. Writes a JSON object for your hook "after" to `event`, if that is not
 * NULL.
 */
char *memdir_finish(uint64_t pending,
                    const char *decision,
                    char **event,
                    char **error);

/**
 * Does something with a memory that is no tool call. The model cannot ask for it.
 *
 * `arguments` is a JSON object; NULL stands for an empty one. Returns the result as JSON, or NULL if it failed.
 *
 * - "read" {"path"}: the text of a file.
 * - "read_shown" {"path"}: the text of a file as a model may see it: redacted if views are, and without line numbers. It
 *   counts as a use of the file.
 * - "write" {"path", "text", "if_unchanged": null}: writes a file; with "if_unchanged" only if it holds that text.
 * - "list" {"path": "/memories", "depth": null}: an array of "path", "size" (null for a directory), "modified" and
 *   "accessed".
 * - "exists" {"path"}: true or false.
 * - "grep" {"query", "regex": false, "ignore_case": false, "path": "/memories", "limit": 100}: an array of "path",
 *   "line" (null if the name was found) and "text".
 * - "find_sensitive" {"path": "/memories", "limit": 100}: where the rules for sensitive text find something: an array of
 *   "path", "line" (null if it is in the name) and "rule".
 * - "stats" {}: how much the memory holds: "files", "directories", "bytes", "largest" with "path" and "bytes"; "oldest",
 *   "newest" and "least_recently_used", each with "path" and "time"; "history" with "versions" and "bytes". What is not
 *   known is null.
 * - "watch" {"path": "/memories", "every": null}: begins to watch what is there, for changes by anybody, and returns the
 *   number of the watch. It looks "every" so many seconds. It keeps the store open until it is ended with "unwatch".
 * - "changes" {"watch", "wait": 0}: what was changed since the last call, an array of "kind" ("written" or "deleted"),
 *   "path" and "old_path", which is null. If that is nothing, it waits for a change, at most so many seconds. Null if the watch is ended meanwhile.
 * - "is_due" {"watch"}: whether "changes" would look at the store at once, or return null. It neither waits nor reads: for
 *   a program that waits without a thread.
 * - "unwatch" {"watch"}: ends the watch. The result is null.
 * - "index" {"max_chars": 2000}: a table of contents for a system prompt.
 * - "bootstrap" {"about", "features", "init": ""}: lays out the files of a project of several sessions, if they are not
 *   there, and returns the paths of those that were made. "features" is an array of strings.
 * - "forget_views" {}: the model has to view a file again before it edits it, with "stale_guard". The result is null.
 * - "tool_definition" {"dialect": "json-schema"} and "tool_definitions" {"dialect": "json-schema", "prefix": ""}: the
 *   tool, or a tool for each command, for hosts that do not know Anthropic's.
 * - "history" {"path": null, "limit": null, "before": null, "actor": null, "change": null, "since": null}: the versions,
 *   newest first, of a file, of all below a directory, or of everything. Each has "id", "change", "operation", "path",
 *   "old_path", "time", "actor", "size", "sha256", "is_current" and "redacted"; what a version has not is null. This and
 *   the operations to "trim_history" need the option "history".
 * - "resolve_id" {"part"}: the whole id of the version or the change that a person means by a part of it: its beginning or
 *   its end, at least 6 digits.
 * - "export_history" {}: the history as a stream for git fast-import, as "read_version" returns a content.
 * - "grep_history" {"query", …}, as "grep": what files held once, and hold no more, newest first: an array of
 *   "version" (as "history" has it), "line" (null if the name was found) and "text".
 * - "files_at" {"at"}: the files that there were at a time: an array of "path", "size", "modified" and "version". What is
 *   not known is null.
 * - "read_at" {"path", "at"}: what a file held at a time, as "read_version" returns it; null if there was no file.
 * - "blame" {"path"}: for each line of a file as it is now the version that brought it: an array of "line" (from 1 on), "text",
 *   "version" and "change" (their ids), "operation", "actor", "time" and "may_be_older". What is not known is null.
 * - "read_version" {"id"}: the content of a version, an object with "text", or with "base64" if it is not UTF-8.
 * - "diff" {"id", "other": null}: a unified diff from one version to another, or what the change of the version did.
 * - "restore" {"id", "overwrite": false}: writes the content of a version back, or all files of a change. Returns
 *   "change", the id of the change that this made or null, "files" with "operation", "path" and "old_path", and "skipped", the
 *   conflicts that were left out.
 * - "undo" {"change": null, "since": null, "actor": null, "dry_run": false, "skip_conflicts": false, "merge": false}: takes
 *   back a change, or all since a time, of an actor or of anybody. Where later changes depend on it, it fails with
 *   "conflicts", an array of "path", "in_the_way", "change", "actor" and "time". With "skip_conflicts" it leaves those files
 *   out; with "merge" it keeps later changes of other lines. Returns what "restore" does. A file that was merged has "merged",
 *   its text.
 * - "restore_all" {"at", "dry_run": false}: makes every file what it was at a time. Returns what "restore" does.
 * - "redact" {"id", "reason"}: removes the content of a version from the history for good. Returns the id of the change,
 *   or null if nothing was left to remove.
 * - "redact_text" {"query", "reason", "regex": false, "ignore_case": false, "dry_run": false}: removes every content with a
 *   text from the history for good, and the text from names that no file or directory has now. Returns "change", the id of
 *   the change or null, "versions", those that have the text as "history" has them, "current", the paths of the files that
 *   have it now, which without "dry_run" are an error, "names", the paths that have the text, as they were before, and
 *   "kept_names", the paths that have it in a name now: they stay.
 * - "trim_history" {}: removes the versions that the options keep no longer, and returns how many records that were.
 * - "expire" {"older_than", "dry_run": false}: removes the files that nobody used for so many seconds, and returns
 *   them: "path", "bytes" and "last_used".
 * - "check" {}: reads every file, every record of the history and every version, and changes nothing; whether or not the memory has
 *   the option "history". Returns "directories",
 *   "files", "bytes", "versions" (null without a history) and "problems", an array of "kind", "path", "description" and
 *   "is_beside".
 * - "copy" {"to", "overwrite": false}: copies everything to another memory, by its number: contents, times, hidden files and empty
 *   directories, without the history. Nothing is deleted. If a file is there with another content, nothing is copied, and the
 *   error has the kind "copy" and "paths", unless "overwrite" is true. Each file is read back and compared. Returns "files",
 *   "bytes", "equal", "directories" and "left_out". If it is cancelled, what was copied before stays, and another copy does the rest.
 * - "clear" {}: deletes everything below /memories. The result is a sentence. With a history, all contents stay in the
 *   history.
 * - "erase" {"dry_run": false}: removes everything for good, with the whole history, whether or not the memory has the
 *   option "history". It is not recorded and cannot be undone. Returns how much that was: "files", "bytes", "versions"
 *   and "history_bytes".
 *
 * What is shown with a value may be left out, and has that value then. A time, also one that is an argument, is a text of
 * RFC 3339, such as "2026-03-14T15:09:26.535897Z". A duration is a number of seconds.
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
