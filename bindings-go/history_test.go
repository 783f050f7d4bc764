package memdir

// The history of a memory.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// must returns the value of a call, and fails the test if the call fails.
func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func actingAs(t *testing.T, memory *Memory, actor string) *Memory {
	t.Helper()
	acting := must[*Memory](t)(memory.ActingAs(actor))
	t.Cleanup(func() { _ = acting.Close() })
	return acting
}

func isHistory(t *testing.T, err error, kind HistoryKind, paths ...string) {
	t.Helper()
	failed := new(Error)
	if !errors.As(err, &failed) || failed.Kind != KindHistory || failed.HistoryKind != kind ||
		strings.Join(failed.Paths, " ") != strings.Join(paths, " ") {
		t.Fatalf("%s: %+v", kind, err)
	}
}

func TestASessionIsSeenAndTakenBack(t *testing.T) {
	ctx, path := context.Background(), "/memories/tea.md"
	for _, address := range []string{"memory:", t.TempDir(), "sqlite:" + filepath.Join(t.TempDir(), "agent.db")} {
		memory := open(t, address, MemoryOptions{History: true, Actor: "nobody"})
		me, other := actingAs(t, memory, "me"), actingAs(t, memory, "other")
		write := func(memory *Memory, text string) {
			t.Helper()
			time.Sleep(time.Millisecond)
			if err := memory.Write(ctx, path, text); err != nil {
				t.Fatal(err)
			}
		}
		holds := func(text string) {
			t.Helper()
			if found := must[string](t)(memory.Read(ctx, path)); found != text {
				t.Fatalf("%q and not %q", found, text)
			}
		}
		write(other, "green\n")
		begun := time.Now()
		write(me, "black\n")
		if reply := execute(me, `{"command": "rename", "old_path": "/memories/tea.md", "new_path": "/memories/b"}`); reply.IsError {
			t.Fatal(reply)
		}

		versions := must[[]Version](t)(memory.History(ctx, HistoryQuery{}))
		var told []string
		for _, one := range versions {
			told = append(told, fmt.Sprint(one.Operation, " ", one.Path, " ", one.OldPath, " ", one.Actor, " ", *one.Size, one.IsCurrent))
		}
		wanted := []string{
			"renamed /memories/b /memories/tea.md me 6 true",
			"overwritten /memories/tea.md  me 6 false",
			"created /memories/tea.md  other 6 false",
		}
		if !reflect.DeepEqual(told, wanted) {
			t.Fatal(told)
		}
		renamed, black, green := versions[0], versions[1], versions[2]
		if black.Time.Before(begun) || time.Since(black.Time) > time.Minute || len(green.SHA256) != 64 || green.Redacted != nil {
			t.Fatalf("%+v", versions)
		}
		for _, one := range []struct {
			query HistoryQuery
			found []Version
		}{
			{HistoryQuery{Path: "/memories/b"}, versions},
			{HistoryQuery{Limit: 1, Before: renamed.ID}, versions[1:2]},
			{HistoryQuery{Actor: "other"}, versions[2:]},
			{HistoryQuery{Change: renamed.Change}, versions[:1]},
			// The time of a version includes this version.
			{HistoryQuery{Since: black.Time}, versions[:2]},
		} {
			found := must[[]Version](t)(me.History(ctx, one.query))
			if !reflect.DeepEqual(found, one.found) {
				t.Errorf("%+v: %+v", one.query, found)
			}
		}
		if content := must[[]byte](t)(me.ReadVersion(ctx, green.ID)); string(content) != "green\n" {
			t.Fatalf("%q", content)
		}
		if diff := must[string](t)(me.Diff(ctx, black.ID, "")); !strings.HasSuffix(diff, "\n-green\n+black\n") {
			t.Fatal(diff)
		}
		if diff := must[string](t)(me.Diff(ctx, black.ID, black.ID)); diff != "" {
			t.Fatal(diff)
		}

		would := must[Restored](t)(me.UndoSince(ctx, begun, "me", UndoOptions{DryRun: true}))
		files := []RestoredFile{{OperationRenamed, path, "/memories/b", nil}, {OperationModified, path, "", nil}}
		if would.Change != "" || !reflect.DeepEqual(would.Files, files) {
			t.Fatalf("%+v", would)
		}
		done := must[Restored](t)(me.UndoSince(ctx, begun, "me", UndoOptions{}))
		holds("green\n")
		must[Restored](t)(me.Undo(ctx, done.Change, UndoOptions{}))
		must[Restored](t)(me.RestoreAll(ctx, black.Time, false))
		holds("black\n")

		_, err := me.Restore(ctx, green.ID, false)
		isHistory(t, err, HistoryConflict, path)
		must[Restored](t)(me.Restore(ctx, green.ID, true))
		holds("green\n")
		_, err = me.Redact(ctx, green.ID, "a name")
		isHistory(t, err, HistoryIsCurrent, path)
		if change := must[string](t)(me.Redact(ctx, black.ID, "a name")); change == "" {
			t.Fatal("nothing was redacted")
		}
		if change := must[string](t)(me.Redact(ctx, black.ID, "a name")); change != "" {
			t.Fatal(change)
		}
		_, err = me.ReadVersion(ctx, black.ID)
		isHistory(t, err, HistoryRedacted)
		gone := must[[]Version](t)(me.History(ctx, HistoryQuery{Change: black.Change}))[0]
		if gone.Size != nil || gone.SHA256 != "" || *gone.Redacted != "a name" {
			t.Fatalf("%+v", gone)
		}
		if trimmed := must[int](t)(me.TrimHistory(ctx)); trimmed != 0 {
			t.Fatal(trimmed)
		}
		secret := RedactTextQuery{Query: "GREEN", IgnoreCase: true}
		dry := must[RedactedText](t)(me.RedactText(ctx, secret, "a tea", true))
		if len(dry.Versions) == 0 || len(dry.Current) == 0 || dry.Change != "" {
			t.Fatalf("%+v", dry)
		}
		_, err = me.RedactText(ctx, secret, "a tea", false)
		isHistory(t, err, HistoryIsCurrent, dry.Current...)
		for _, command := range []string{
			`{"command": "create", "path": "/memories/acme/deal", "file_text": "one"}`,
			`{"command": "delete", "path": "/memories/acme"}`,
			`{"command": "create", "path": "/memories/b-acme", "file_text": "two"}`,
		} {
			if reply := execute(me, command); reply.IsError {
				t.Fatal(reply)
			}
		}
		named := must[RedactedText](t)(me.RedactText(ctx, RedactTextQuery{Query: "acme"}, "a client", false))
		if !slices.Equal(named.Names, []string{"/memories/acme/deal"}) || !slices.Equal(named.KeptNames, []string{"/memories/b-acme"}) {
			t.Fatalf("%+v", named)
		}
		counted := must[Erased](t)(me.Erase(ctx, true))
		if counted.Files == 0 || counted.Bytes == 0 || counted.Versions == 0 || counted.HistoryBytes == 0 {
			t.Fatalf("%+v", counted)
		}
		if erased := must[Erased](t)(me.Erase(ctx, false)); erased != counted {
			t.Fatalf("%+v", erased)
		}
		if versions := must[[]Version](t)(me.History(ctx, HistoryQuery{})); len(versions) != 0 {
			t.Fatal(versions)
		}
	}
}

func TestWhatCannotBeDoneHasAKind(t *testing.T) {
	ctx, none := context.Background(), "01990a3c-7c00-7123-8456-789abc000001"
	_, err := open(t, "memory:", MemoryOptions{}).History(ctx, HistoryQuery{})
	isHistory(t, err, HistoryOff)
	memory := open(t, "memory:", MemoryOptions{History: true})
	_, err = memory.History(ctx, HistoryQuery{Path: "/etc"})
	isHistory(t, err, HistoryPath)
	for id, kind := range map[string]HistoryKind{"": HistoryNoID, "yesterday": HistoryNoID, none: HistoryUnknown} {
		_, err = memory.ReadVersion(ctx, id)
		isHistory(t, err, kind)
		_, err = memory.Diff(ctx, id, "")
		isHistory(t, err, kind)
		_, err = memory.Restore(ctx, id, true)
		isHistory(t, err, kind)
		_, err = memory.Undo(ctx, id, UndoOptions{})
		isHistory(t, err, kind)
		_, err = memory.Redact(ctx, id, "")
		isHistory(t, err, kind)
	}
	directory := t.TempDir()
	execute(open(t, directory, MemoryOptions{History: true}), create)
	_, err = open(t, directory, MemoryOptions{History: true, ReadOnly: true}).TrimHistory(ctx)
	isHistory(t, err, HistoryReadOnly)

	done, cancel := context.WithCancel(ctx)
	cancel()
	_, err = memory.History(done, HistoryQuery{})
	if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindCancelled {
		t.Fatal(err)
	}
}

func TestATimeThatWasNotSetSelectsNothing(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{History: true})
	execute(memory, create)
	ctx := context.Background()
	_, restored := memory.RestoreAll(ctx, time.Time{}, false)
	_, undone := memory.UndoSince(ctx, time.Time{}, "", UndoOptions{})
	_, listed := memory.FilesAt(ctx, time.Time{})
	_, read := memory.ReadAt(ctx, "/memories/a.md", time.Time{})
	for argument, failures := range map[string][]error{"since": {undone}, "at": {restored, listed, read}} {
		for _, err := range failures {
			failed := new(Error)
			if !errors.As(err, &failed) || failed.Kind != KindConfig || failed.Option != argument || !strings.Contains(failed.Message, argument) {
				t.Errorf("%s: %v", argument, err)
			}
		}
	}
	if text, err := memory.Read(ctx, "/memories/a.md"); err != nil || text != "one\n" {
		t.Error(text, err)
	}
}

func TestAContentThatIsNotTextIsRead(t *testing.T) {
	ctx, directory := context.Background(), t.TempDir()
	if err := os.WriteFile(filepath.Join(directory, "a.bin"), []byte{0xff, 0}, 0o600); err != nil {
		t.Fatal(err)
	}
	memory := open(t, "dir:"+directory, MemoryOptions{History: true})
	execute(memory, `{"command": "delete", "path": "/memories/a.bin"}`)
	versions := must[[]Version](t)(memory.History(ctx, HistoryQuery{}))
	if content := must[[]byte](t)(memory.ReadVersion(ctx, versions[1].ID)); string(content) != "\xff\x00" {
		t.Fatalf("%q", content)
	}
	_, err := memory.ReadVersion(ctx, versions[0].ID)
	isHistory(t, err, HistoryNoContent)
}

func TestAMemoryThatActsAsSomebodySharesItsHooks(t *testing.T) {
	var memory *Memory
	var events []Event
	calls := 0
	memory = open(t, "memory:", MemoryOptions{
		History: true,
		Before: func(ctx context.Context, command Command, _ *HookCall) (Decision, error) {
			calls++
			hook, err := memory.ActingAs("hook")
			if err != nil {
				return Decision{}, err
			}
			defer hook.Close()
			hook.Execute(ctx, []byte(`{"command": "create", "path": "/memories/log.md", "file_text": "x"}`))
			return Allow(), nil
		},
		After: func(ctx context.Context, event Event) { events = append(events, event) },
	})
	me := actingAs(t, memory, "me")
	if reply := execute(me, create); reply.IsError || calls != 1 {
		t.Fatalf("%+v, %d", reply, calls)
	}
	versions := must[[]Version](t)(memory.History(context.Background(), HistoryQuery{}))
	if len(versions) != 2 || versions[0].Actor != "me" || versions[1].Actor != "hook" {
		t.Fatalf("%+v", versions)
	}
	if len(events) != 1 || events[0].Change != versions[0].Change {
		t.Fatalf("%+v", events)
	}

	// Each of them is closed separately.
	if err := memory.Close(); err != nil {
		t.Fatal(err)
	}
	if err := me.Write(context.Background(), "/memories/b", "x"); err != nil {
		t.Fatal(err)
	}
	for _, actor := range []string{"me", "a\x00b"} {
		if _, err := memory.ActingAs(actor); err == nil {
			t.Fatal("a closed memory acts as", actor)
		}
	}
}

func TestAnUndoNamesLeavesOutOrMergesWhatWasChangedSince(t *testing.T) {
	ctx, path := context.Background(), "/memories/a"
	memory := open(t, "memory:", MemoryOptions{History: true})
	write := func(actor, text string) Version {
		acting := must[*Memory](t)(memory.ActingAs(actor))
		defer acting.Close()
		if err := acting.Write(ctx, path, text); err != nil {
			t.Fatal(err)
		}
		return must[[]Version](t)(memory.History(ctx, HistoryQuery{}))[0]
	}
	write("me", "1\n2\n3\n")
	change := write("Ann", "one\n2\n3\n").Change
	later := write("Ben", "one\n2\nthree\n")
	conflicts := []Conflict{{path, false, later.Change, "Ben", later.Time}}
	_, err := memory.Undo(ctx, change, UndoOptions{})
	isHistory(t, err, HistoryConflict, path)
	if failed := new(Error); !errors.As(err, &failed) || !reflect.DeepEqual(failed.Conflicts, conflicts) {
		t.Fatalf("%+v", failed)
	}
	skipped := must[Restored](t)(memory.Undo(ctx, change, UndoOptions{SkipConflicts: true}))
	if skipped.Change != "" || len(skipped.Files) != 0 || !reflect.DeepEqual(skipped.Skipped, conflicts) {
		t.Fatalf("%+v", skipped)
	}
	merged := "1\n2\nthree\n"
	would := must[Restored](t)(memory.Undo(ctx, change, UndoOptions{DryRun: true, Merge: true}))
	files := []RestoredFile{{OperationModified, path, "", &merged}}
	if !reflect.DeepEqual(would.Files, files) || len(would.Skipped) != 0 {
		t.Fatalf("%+v", would)
	}
	must[Restored](t)(memory.Undo(ctx, change, UndoOptions{Merge: true}))
	if text := must[string](t)(memory.Read(ctx, path)); text != merged {
		t.Fatal(text)
	}
}
