package memdir

// The history of a memory, for your own code. The model cannot call it. It needs the option History.

// #include "library.h"
import "C"

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"time"
)

// ActingAs returns a session of the same memory, for a conversation of its own. Its changes are recorded with this actor,
// such as an agent or a user. With StaleGuard, only what this session was shown counts. Everything else is shared, including
// the store and the hooks. The actor replaces the option Actor. Never take it from a model's input.
//
// Close the session as well. The original memory may be closed before it. The error is an [*Error] if the original memory is
// already closed.
func (m *Memory) ActingAs(actor string) (*Memory, error) {
	if err := m.unopened(); err != nil {
		return nil, err
	}
	inActor, err := newText("actor", actor)
	if err != nil {
		return nil, err
	}
	defer inActor.free()
	defer runtime.KeepAlive(m)
	var failed *C.char
	number := C.memdir_acting_as(m.number, inActor.c, &failed)
	if err := failure(failed); err != nil {
		return nil, err
	}
	return newMemory(number, m.shared), nil
}

// HistoryQuery selects the versions that [Memory.History] returns. Its zero value selects all.
type HistoryQuery struct {
	// Path is a file or a directory, which may have been deleted; empty for everything.
	Path string
	// Limit is the most versions; 0 for all.
	Limit int
	// Before is the id of a version: only older versions are returned. Use the last id of the previous page.
	Before string
	// Actor selects the changes of this actor; empty for any actor.
	Actor string
	// Change is the id of a change: only its versions are returned.
	Change string
	// Since is the earliest time; zero for any.
	Since time.Time
}

// History returns versions, newest first.
//
// Here and below, the error is an [*Error]: KindHistory, whose HistoryKind is the case, or KindStore.
func (m *Memory) History(ctx context.Context, query HistoryQuery) ([]Version, error) {
	arguments := map[string]any{
		"path": orNull(query.Path), "before": orNull(query.Before), "actor": orNull(query.Actor), "change": orNull(query.Change),
	}
	if query.Limit != 0 {
		arguments["limit"] = query.Limit
	}
	if !query.Since.IsZero() {
		arguments["since"] = query.Since
	}
	var versions []Version
	err := m.call(ctx, "history", arguments, &versions)
	return versions, err
}

// ReadVersion returns the content of a version.
func (m *Memory) ReadVersion(ctx context.Context, id string) ([]byte, error) {
	var held content
	if err := m.call(ctx, "read_version", map[string]any{"id": id}, &held); err != nil {
		return nil, err
	}
	return held.bytes()
}

// content is a content that may not be text, as the library sends it.
type content struct {
	Text   string `json:"text"`
	Base64 string `json:"base64"`
}

func (c content) bytes() ([]byte, error) {
	if c.Base64 != "" {
		return base64.StdEncoding.DecodeString(c.Base64)
	}
	return []byte(c.Text), nil
}

// Diff returns a unified diff from one version to another. If other is empty, the diff shows what the change of the version
// did to the file. It is empty if there is no difference.
func (m *Memory) Diff(ctx context.Context, id, other string) (string, error) {
	var diff string
	err := m.call(ctx, "diff", map[string]any{"id": id, "other": orNull(other)}, &diff)
	return diff, err
}

// UndoOptions are the options of [Memory.Undo].
type UndoOptions struct {
	// DryRun only returns what would be done.
	DryRun bool `json:"dry_run"`
	// SkipConflicts leaves out the files that cannot be undone because of a conflict, and undoes the rest.
	SkipConflicts bool `json:"skip_conflicts"`
	// Merge keeps later changes of other lines. In a file that was changed since, the lines of the undone change get their
	// earlier text, if no later change touches them or a line beside them.
	Merge bool `json:"merge"`
}

// Restore writes the content of a version back to its file, as a new version. A deleted file is created at its former path.
// With the id of a change, all files of that change are restored. With overwrite, later changes are overwritten; without it,
// they are a conflict. Policies do not apply.
func (m *Memory) Restore(ctx context.Context, id string, overwrite bool) (Restored, error) {
	return m.restored(ctx, "restore", map[string]any{"id": id, "overwrite": overwrite})
}

// Undo undoes a change: every file of the change gets its earlier content. With the id of a version, it undoes the whole
// change that made the version. If later changes depend on it, the error is a conflict, whose Conflicts name the later
// changes, and nothing is changed, unless the options say otherwise.
func (m *Memory) Undo(ctx context.Context, change string, options UndoOptions) (Restored, error) {
	arguments := struct {
		Change string `json:"change"`
		UndoOptions
	}{change, options}
	return m.restored(ctx, "undo", arguments)
}

// UndoSince is Undo for all changes at a time or later. If the actor is not empty, only changes by that actor are undone. The
// zero time is an error.
func (m *Memory) UndoSince(ctx context.Context, since time.Time, actor string, options UndoOptions) (Restored, error) {
	if err := notZero("since", since); err != nil {
		return Restored{}, err
	}
	arguments := struct {
		Since time.Time `json:"since"`
		Actor any       `json:"actor"`
		UndoOptions
	}{since, orNull(actor), options}
	return m.restored(ctx, "undo", arguments)
}

// RestoreAll restores every file to its content at a time. Later changes are not a conflict. Files that are not in the
// history are not changed. With dryRun it only returns what it would do. The zero time is an error.
func (m *Memory) RestoreAll(ctx context.Context, at time.Time, dryRun bool) (Restored, error) {
	if err := notZero("at", at); err != nil {
		return Restored{}, err
	}
	return m.restored(ctx, "restore_all", map[string]any{"at": at, "dry_run": dryRun})
}

// Redact removes the content of a version from the history for good, in every record that has it. With the id of a change,
// it removes the contents of all its versions. The version stays, with the reason. It returns the id of the change, or an
// empty text if there was nothing to remove.
func (m *Memory) Redact(ctx context.Context, id, reason string) (string, error) {
	var change string
	err := m.call(ctx, "redact", map[string]any{"id": id, "reason": reason}, &change)
	return change, err
}

// RedactTextQuery is the text that [Memory.RedactText] removes.
type RedactTextQuery struct {
	// Query is the text to remove, or a pattern.
	Query string
	// Regex says that Query is a regular expression, as for Grep.
	Regex bool
	// IgnoreCase ignores upper and lower case, as for Grep.
	IgnoreCase bool
}

// RedactText removes every content that contains a text from the history for good, as Redact does, in all versions of all
// files. The text may be anywhere in the content; a regular expression has to match within a line. With dryRun it only
// returns what it would do, and the files that have the text now. The text is removed from names as well, unless a file or
// directory has such a name now. Names of actors stay. It computes every content.
//
// If files have the text now, the error is an [*Error] with the HistoryKind [HistoryIsCurrent] and their Paths.
func (m *Memory) RedactText(ctx context.Context, query RedactTextQuery, reason string, dryRun bool) (RedactedText, error) {
	var redacted RedactedText
	err := m.call(ctx, "redact_text", map[string]any{
		"query": query.Query, "regex": query.Regex, "ignore_case": query.IgnoreCase,
		"reason": reason, "dry_run": dryRun,
	}, &redacted)
	return redacted, err
}

// TrimHistory removes the versions that the options no longer keep, and returns the number of removed records of changes.
// Trimming also happens from time to time after a change.
func (m *Memory) TrimHistory(ctx context.Context) (int, error) {
	var trimmed int
	err := m.call(ctx, "trim_history", nil, &trimmed)
	return trimmed, err
}

func (m *Memory) restored(ctx context.Context, operation string, arguments any) (Restored, error) {
	var restored Restored
	err := m.call(ctx, operation, arguments, &restored)
	return restored, err
}

// notZero refuses a time that was not set. It would select everything, because every change came after the year 1.
func notZero(argument string, moment time.Time) error {
	if moment.IsZero() {
		return &Error{Kind: KindConfig, ReplyKind: ErrorConfig, Option: argument, Message: argument + " must be a time, got the zero time"}
	}
	return nil
}

// orNull returns the text, or JSON's null if the text is empty.
func orNull(text string) any {
	if text == "" {
		return json.RawMessage("null")
	}
	return text
}
