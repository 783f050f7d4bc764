package memdir

// The history of a memory, for a program itself. The model cannot ask for it. It needs the option History.

// #include "library.h"
import "C"

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"runtime"
	"time"
)

// ActingAs is a session of the same memory, for a conversation of its own: its changes are recorded as this actor's, such as an
// agent or a user, and with StaleGuard only what it was shown itself counts. It shares everything else, also the store and the hooks.
// It replaces the option Actor. Never take it from a model's input.
//
// Close it as well; the memory that it was made of may be closed before. The error is an [*Error] if that is closed already.
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

// HistoryQuery says which versions [Memory.History] returns. Its zero value asks for all.
type HistoryQuery struct {
	// Path is a file or a directory, also one that is not there any more; empty for everything.
	Path string
	// Limit is the most versions; 0 for all.
	Limit int
	// Before is the id of a version: only older ones. It is the last of the page that was shown before.
	Before string
	// Actor is who made them; empty for anybody.
	Actor string
	// Change is the id of the change that made them.
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

// content is one that need not be text, as the library sends it.
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

// Diff is a unified diff from one version to another. If other is empty, it is what the change of the version did to the
// file. It is empty if nothing differs.
func (m *Memory) Diff(ctx context.Context, id, other string) (string, error) {
	var diff string
	err := m.call(ctx, "diff", map[string]any{"id": id, "other": orNull(other)}, &diff)
	return diff, err
}

// UndoOptions say how changes are undone.
type UndoOptions struct {
	// DryRun only returns what would be done.
	DryRun bool `json:"dry_run"`
	// SkipConflicts leaves out the files that cannot be undone because of a conflict, and undoes the rest.
	SkipConflicts bool `json:"skip_conflicts"`
	// Merge keeps later changes of other lines: where a file was changed since, the lines of the undone change become what
	// they were, if no later change touches them or a line beside them.
	Merge bool `json:"merge"`
}

// Restore writes the content of a version back, as a new version. A deleted file is made again where it was. With the id of
// a change, all files of that change are brought back. With overwrite also over what was changed since, which is otherwise
// a conflict. Policies do not apply.
func (m *Memory) Restore(ctx context.Context, id string, overwrite bool) (Restored, error) {
	return m.restored(ctx, "restore", map[string]any{"id": id, "overwrite": overwrite})
}

// Undo takes back a change: every file that it changed becomes what it was before. With the id of a version, the whole
// change that made it. Where later changes depend on it, it is a conflict, whose Conflicts name the later changes, and nothing
// is changed, unless the options say otherwise.
func (m *Memory) Undo(ctx context.Context, change string, options UndoOptions) (Restored, error) {
	arguments := struct {
		Change string `json:"change"`
		UndoOptions
	}{change, options}
	return m.restored(ctx, "undo", arguments)
}

// UndoSince is Undo for all changes that were made at a time or later, by an actor, or by anybody if the actor is empty.
func (m *Memory) UndoSince(ctx context.Context, since time.Time, actor string, options UndoOptions) (Restored, error) {
	arguments := struct {
		Since time.Time `json:"since"`
		Actor any       `json:"actor"`
		UndoOptions
	}{since, orNull(actor), options}
	return m.restored(ctx, "undo", arguments)
}

// RestoreAll makes every file what it was at a time, whatever was changed since. Files of which the history knows nothing
// stay. With dryRun it only returns what it would do.
func (m *Memory) RestoreAll(ctx context.Context, at time.Time, dryRun bool) (Restored, error) {
	return m.restored(ctx, "restore_all", map[string]any{"at": at, "dry_run": dryRun})
}

// Redact removes the content of a version from the history for good, wherever the history has it; with the id of a change,
// the contents of all its versions. The version stays, with the reason. It returns the id of the change, or an empty text
// if nothing was left to remove.
func (m *Memory) Redact(ctx context.Context, id, reason string) (string, error) {
	var change string
	err := m.call(ctx, "redact", map[string]any{"id": id, "reason": reason}, &change)
	return change, err
}

// RedactTextQuery is what [Memory.RedactText] looks for.
type RedactTextQuery struct {
	// Query is the text to remove, or a pattern.
	Query string
	// Regex says that Query is a regular expression, as for Grep.
	Regex bool
	// IgnoreCase says that upper and lower case are the same, as for Grep.
	IgnoreCase bool
}

// RedactText removes every content with a text from the history for good, as Redact does, in whatever version of whatever
// file: a text anywhere in the content, a regular expression in a line. With dryRun it only returns what it would do, and
// which files have the text now. The text goes from names as well, unless a file or directory has them now; names of actors
// stay. It computes every content.
//
// If files have the text now, the error is a [HistoryError] of the kind HistoryIsCurrent, with their paths.
func (m *Memory) RedactText(ctx context.Context, query RedactTextQuery, reason string, dryRun bool) (RedactedText, error) {
	var redacted RedactedText
	err := m.call(ctx, "redact_text", map[string]any{
		"query": query.Query, "regex": query.Regex, "ignore_case": query.IgnoreCase,
		"reason": reason, "dry_run": dryRun,
	}, &redacted)
	return redacted, err
}

// TrimHistory removes the versions that the options keep no longer, and returns how many records of changes that were. It
// is also done now and then after a change.
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

// orNull is the text, or JSON's null if it is empty.
func orNull(text string) any {
	if text == "" {
		return json.RawMessage("null")
	}
	return text
}
