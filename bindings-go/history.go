package memdir

// The history of a memory, for a program itself. The model cannot ask for it. It needs the option History.

// #include <memdir.h>
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
	return newMemory(number, m.options), nil
}

// Operation is what a change did to a file.
type Operation string

const (
	// OperationCreated is a new file.
	OperationCreated Operation = "created"
	// OperationModified is an edit.
	OperationModified Operation = "modified"
	// OperationOverwritten is a replacement of the whole content.
	OperationOverwritten Operation = "overwritten"
	// OperationRenamed is a new path, with the same content.
	OperationRenamed Operation = "renamed"
	// OperationDeleted is a deletion of the file, or of a directory above it.
	OperationDeleted Operation = "deleted"
	// OperationExpired is a deletion because nobody had used the file.
	OperationExpired Operation = "expired"
	// OperationCleared is a deletion with everything else.
	OperationCleared Operation = "cleared"
	// OperationRestored brought an earlier state back.
	OperationRestored Operation = "restored"
	// OperationImported is a file that came from outside of the memory, by memdir import.
	OperationImported Operation = "imported"
	// OperationRedacted removed the content of an earlier version from the history.
	OperationRedacted Operation = "redacted"
	// OperationExternal is what somebody else did, not through a memory with history. The next change of the file found it.
	OperationExternal Operation = "external"
)

// Version is one version of one file: what a change made of it.
type Version struct {
	// ID names this version, for [Memory.ReadVersion] and the like. It sorts by time.
	ID string `json:"id"`
	// Change is the change that made it. One change can make versions of several files.
	Change    string    `json:"change"`
	Operation Operation `json:"operation"`
	// Path is where the file is since then; where it was, if it was deleted.
	Path string `json:"path"`
	// OldPath is where it was before, if it was renamed.
	OldPath string `json:"old_path"`
	// Time is when it was made, by the clock of the machine that made the change.
	Time time.Time `json:"-"`
	// Actor is who made it, as the memory was told.
	Actor string `json:"actor"`
	// Size is the size of the content in bytes; nil if the file was deleted, its content is redacted, or nobody has read it
	// since it was moved.
	Size *int64 `json:"size"`
	// SHA256 is that of the content, in hexadecimal digits; empty where Size is nil.
	SHA256 string `json:"sha256"`
	// IsCurrent says that the file is there, and this is what it holds, as far as the history knows.
	IsCurrent bool `json:"is_current"`
	// Redacted is why the content was removed from the history; nil if it was not.
	Redacted *string `json:"redacted"`
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
		arguments["since"] = seconds(query.Since)
	}
	var found []sentVersion
	if err := m.call(ctx, "history", arguments, &found); err != nil {
		return nil, err
	}
	versions := make([]Version, len(found))
	for i, one := range found {
		versions[i] = one.version()
	}
	return versions, nil
}

// sentVersion is a version as the library sends it.
type sentVersion struct {
	Version
	Seconds float64 `json:"time"`
}

func (s sentVersion) version() Version {
	version := s.Version
	version.Time = at(&s.Seconds)
	return version
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

// RestoredFile is what was done to a file to bring back an earlier state, or would be done.
type RestoredFile struct {
	// Operation is OperationCreated, OperationModified, OperationRenamed or OperationDeleted.
	Operation Operation `json:"operation"`
	Path      string    `json:"path"`
	// OldPath is where it was before, if it was renamed.
	OldPath string `json:"old_path"`
	// Merged is the text of the file after it, if this was merged with later changes; otherwise nil.
	Merged *string `json:"merged"`
}

// Conflict is a path that was changed since, or where something is in the way, so a file is not brought back there.
type Conflict struct {
	Path string
	// InTheWay says whether it is in the way: a file where a directory is needed, or a directory or something else where a
	// file is needed. It is never overwritten. Delete or rename it first.
	InTheWay bool
	// Change is the id of the newest later change of the file. It is empty if it is not recorded: another program changed the
	// file since its last version, or something is in the way.
	Change string
	// Actor made this change, as the memory was told.
	Actor string
	// Time is when; if another program made the change, when it was noticed. It is zero if there is no change.
	Time time.Time
}

// UnmarshalJSON reads a conflict as the library sends it.
func (c *Conflict) UnmarshalJSON(sent []byte) error {
	var read struct {
		Path     string   `json:"path"`
		InTheWay bool     `json:"in_the_way"`
		Change   string   `json:"change"`
		Actor    string   `json:"actor"`
		Time     *float64 `json:"time"`
	}
	err := json.Unmarshal(sent, &read)
	*c = Conflict{read.Path, read.InTheWay, read.Change, read.Actor, at(read.Time)}
	return err
}

// Restored is what [Memory.Restore], [Memory.Undo] and [Memory.RestoreAll] did.
type Restored struct {
	// Change is the change that this made, which can be undone itself; empty if nothing was done.
	Change string `json:"change"`
	// Files are in the order of their paths.
	Files []RestoredFile `json:"files"`
	// Skipped is what was left out with SkipConflicts, and why, in the order of the paths.
	Skipped []Conflict `json:"skipped"`
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
		Since float64 `json:"since"`
		Actor any     `json:"actor"`
		UndoOptions
	}{seconds(since), orNull(actor), options}
	return m.restored(ctx, "undo", arguments)
}

// RestoreAll makes every file what it was at a time, whatever was changed since. Files of which the history knows nothing
// stay. With dryRun it only returns what it would do.
func (m *Memory) RestoreAll(ctx context.Context, at time.Time, dryRun bool) (Restored, error) {
	return m.restored(ctx, "restore_all", map[string]any{"at": seconds(at), "dry_run": dryRun})
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

// RedactedText is what [Memory.RedactText] removed from the history, or would remove.
type RedactedText struct {
	// Change is the id of the change; empty if there was nothing to do, or for a dry run.
	Change string
	// Versions are those whose contents have the text, newest first, as they were before.
	Versions []Version
	// Current are the paths of the files that have it now, for a dry run; otherwise that is an error.
	Current []string
	// Names are the paths that have the text, as they were before, sorted: "redacted-" and random digits stand in the place of
	// the names.
	Names []string
	// KeptNames are the paths that have the text in a name now, sorted: they stay.
	KeptNames []string
}

// RedactText removes every content with a text from the history for good, as Redact does, in whatever version of whatever
// file: a text anywhere in the content, a regular expression in a line. With dryRun it only returns what it would do, and
// which files have the text now. The text goes from names as well, unless a file or directory has them now; names of actors
// stay. It computes every content.
//
// If files have the text now, the error is a [HistoryError] of the kind HistoryIsCurrent, with their paths.
func (m *Memory) RedactText(ctx context.Context, query RedactTextQuery, reason string, dryRun bool) (RedactedText, error) {
	var redacted struct {
		Change    string        `json:"change"`
		Versions  []sentVersion `json:"versions"`
		Current   []string      `json:"current"`
		Names     []string      `json:"names"`
		KeptNames []string      `json:"kept_names"`
	}
	err := m.call(ctx, "redact_text", map[string]any{
		"query": query.Query, "regex": query.Regex, "ignore_case": query.IgnoreCase,
		"reason": reason, "dry_run": dryRun,
	}, &redacted)
	if err != nil {
		return RedactedText{}, err
	}
	versions := make([]Version, len(redacted.Versions))
	for i, one := range redacted.Versions {
		versions[i] = one.version()
	}
	return RedactedText{redacted.Change, versions, redacted.Current, redacted.Names, redacted.KeptNames}, nil
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

// seconds is a time as the library reads it: in seconds since 1970.
func seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }
