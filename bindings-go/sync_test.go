package memdir

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

const tea = "/memories/tea.md"

// synced is the result of a sync that must succeed.
func synced(t *testing.T, a, b *Memory, options SyncOptions) Synced {
	t.Helper()
	return must[Synced](t)(a.Sync(context.Background(), b, options))
}

func put(t *testing.T, memory *Memory, path, text string) {
	t.Helper()
	if err := memory.Write(context.Background(), path, text); err != nil {
		t.Fatal(err)
	}
}

// holds checks that both memories have the text.
func holds(t *testing.T, a, b *Memory, path, text string) {
	t.Helper()
	for _, memory := range []*Memory{a, b} {
		if read, err := memory.Read(context.Background(), path); err != nil || read != text {
			t.Errorf("%s: %q, %v", path, read, err)
		}
	}
}

// isSync checks the kind of an error.
func isSync(t *testing.T, err error, kind SyncKind) {
	t.Helper()
	failed := new(Error)
	if !errors.As(err, &failed) || failed.Kind != KindSync || failed.SyncKind != kind {
		t.Errorf("%#v", err)
	}
}

// withTea returns two memories with the same file.
func withTea(t *testing.T) (a, b *Memory) {
	t.Helper()
	a, b = open(t, "memory:", MemoryOptions{}), open(t, "memory:", MemoryOptions{})
	put(t, a, tea, "green\nherbal\nblack\n")
	synced(t, a, b, SyncOptions{})
	return a, b
}

func TestASyncOfStoresMergesChanges(t *testing.T) {
	directory := "dir:" + t.TempDir()
	for _, memories := range [][2]*Memory{
		{open(t, "memory:", MemoryOptions{}), open(t, directory, MemoryOptions{})},
		{openStore(t, newOwnStore(), MemoryOptions{History: true}), openStore(t, newOwnStore(), MemoryOptions{})},
	} {
		a, b := memories[0], memories[1]
		put(t, a, tea, "green\nherbal\nblack\n")
		first := synced(t, a, b, SyncOptions{})
		expected := Synced{
			Changes:   []SyncChange{{Path: tea, Side: SyncSideB, Action: SyncActionCreated}},
			Conflicts: []SyncConflict{}, LeftOut: []SyncLeftOut{}, Redactions: []SyncRedaction{}, Equal: 1,
		}
		if !reflect.DeepEqual(first, expected) {
			t.Errorf("%+v", first)
		}
		put(t, a, tea, "jasmine\nherbal\nblack\n")
		put(t, b, tea, "green\nherbal\noolong\n")
		second := synced(t, a, b, SyncOptions{})
		if len(second.Changes) == 0 || second.Changes[0].Action != SyncActionMerged || !second.HasBaseline {
			t.Errorf("%+v", second)
		}
		holds(t, a, b, tea, "jasmine\nherbal\noolong\n")
	}
}

func TestAConflictOfASyncKeepsBothContents(t *testing.T) {
	for on, text := range map[OnConflict]string{"": "a\n", OnConflictKeepBoth: "a\n", OnConflictA: "a\n", OnConflictB: "b\n"} {
		a, b := withTea(t)
		put(t, a, tea, "a\n")
		put(t, b, tea, "b\n")
		result := synced(t, a, b, SyncOptions{OnConflict: on, Names: []string{"laptop", "server"}})
		holds(t, a, b, tea, text)
		if on == OnConflictA || on == OnConflictB {
			if len(result.Conflicts) != 0 {
				t.Errorf("%s: %+v", on, result)
			}
			continue
		}
		if len(result.Conflicts) != 1 || result.Conflicts[0].Path != tea || result.Conflicts[0].Side != SyncSideB {
			t.Fatalf("%+v", result)
		}
		copied := result.Conflicts[0].CopyPath
		if !strings.Contains(copied, "conflict from server") {
			t.Error(copied)
		}
		holds(t, a, b, copied, "b\n")
	}
}

// inConflict returns two memories that have changed the same file.
func inConflict(t *testing.T) (a, b *Memory) {
	t.Helper()
	a, b = withTea(t)
	put(t, a, tea, "white\n")
	put(t, b, tea, "red\n")
	return a, b
}

func TestAFunctionMergesAConflict(t *testing.T) {
	a, b := inConflict(t)
	var asked []SyncMerge
	merge := func(ctx context.Context, file SyncMerge) (string, bool, error) {
		asked = append(asked, file)
		// It may use both memories.
		theirs, err := b.Read(ctx, file.Path)
		return file.A + theirs, true, err
	}
	merged := synced(t, a, b, SyncOptions{Merge: merge})
	if len(merged.Changes) != 2 || merged.Changes[0].Action != SyncActionMerged || len(merged.Conflicts) != 0 {
		t.Errorf("%+v", merged)
	}
	holds(t, a, b, tea, "white\nred\n")
	if len(asked) != 1 || asked[0].ModifiedA.IsZero() || asked[0].ModifiedB.IsZero() {
		t.Fatalf("%+v", asked)
	}
	expected := SyncMerge{Path: tea, A: "white\n", B: "red\n", Base: "green\nherbal\nblack\n"}
	expected.ModifiedA, expected.ModifiedB = asked[0].ModifiedA, asked[0].ModifiedB
	if asked[0] != expected {
		t.Errorf("%+v", asked[0])
	}
	if again := synced(t, a, b, SyncOptions{Merge: merge}); len(again.Changes) != 0 || len(asked) != 1 {
		t.Errorf("%+v", again)
	}
}

func TestAFunctionMayKeepBothContents(t *testing.T) {
	a, b := inConflict(t)
	merge := func(context.Context, SyncMerge) (string, bool, error) { return "ignored", false, nil }
	if kept := synced(t, a, b, SyncOptions{Merge: merge}); len(kept.Conflicts) != 1 {
		t.Errorf("%+v", kept)
	}
	holds(t, a, b, tea, "white\n")
}

func TestTheErrorOfAFunctionEndsTheSync(t *testing.T) {
	a, b := inConflict(t)
	fails := func(err error) MergeFunc {
		return func(context.Context, SyncMerge) (string, bool, error) { return "", true, err }
	}
	for _, mine := range []error{errors.New("no model"), fs.ErrNotExist, syscall.EINVAL} {
		_, err := a.Sync(context.Background(), b, SyncOptions{Merge: fails(mine)})
		isSync(t, err, SyncStopped)
		if !errors.Is(err, mine) || !strings.Contains(err.Error(), "/memories/tea.md could not be merged: "+mine.Error()) {
			t.Error(err)
		}
	}
	for _, merge := range []MergeFunc{
		func(context.Context, SyncMerge) (string, bool, error) { panic("mine") },
		func(context.Context, SyncMerge) (string, bool, error) { return "\xff", true, nil },
	} {
		_, err := a.Sync(context.Background(), b, SyncOptions{Merge: merge})
		isSync(t, err, SyncStopped)
	}
	_, err := a.Sync(context.Background(), b, SyncOptions{OnConflict: OnConflictA, Merge: fails(nil)})
	if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindConfig {
		t.Error(err)
	}
	if text, err := b.Read(context.Background(), tea); err != nil || text != "red\n" {
		t.Error(text, err)
	}
	servedStores.Range(func(_, value any) bool {
		if value.(*servedStore).merger != nil {
			t.Error("a function is kept after its sync")
		}
		return true
	})
}

func TestAContextEndsTheWaitForAFunction(t *testing.T) {
	a, b := inConflict(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	defer close(ended)
	merge := func(given context.Context, _ SyncMerge) (string, bool, error) {
		cancel()
		<-given.Done()
		<-ended
		return "never", true, nil
	}
	_, err := a.Sync(ctx, b, SyncOptions{Merge: merge})
	isSync(t, err, SyncStopped)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestASyncHasOptions(t *testing.T) {
	a, b := withTea(t)
	put(t, a, "/memories/large.md", "larger\n")
	put(t, a, "/memories/private/a.md", "a\n")
	put(t, a, "/memories/a.md", "a\n")
	put(t, b, "/memories/b.md", "b\n")
	options := SyncOptions{OneWay: true, MaxFileBytes: 6, Exclude: []string{"/memories/private"}, DryRun: true}
	planned := synced(t, a, b, options)
	if exists := must[bool](t)(b.Exists(context.Background(), "/memories/a.md")); exists {
		t.Error("a dry run changed the memory")
	}
	options.DryRun = false
	result := synced(t, a, b, options)
	expected := []SyncChange{{Path: "/memories/a.md", Side: SyncSideB, Action: SyncActionCreated}}
	if !reflect.DeepEqual(result.Changes, expected) || !reflect.DeepEqual(planned.Changes, expected) {
		t.Errorf("%+v, %+v", planned, result)
	}
	left := map[string]SyncReason{}
	for _, one := range result.LeftOut {
		left[one.Path] = one.Reason
	}
	if left["/memories/large.md"] != SyncReasonTooLarge {
		t.Errorf("%+v", result.LeftOut)
	}
	if exists := must[bool](t)(a.Exists(context.Background(), "/memories/b.md")); exists {
		t.Error("a sync of one way changed the first memory")
	}
}

func TestASyncTakesRedactionsOver(t *testing.T) {
	a, b := open(t, "memory:", MemoryOptions{History: true}), open(t, "memory:", MemoryOptions{History: true})
	put(t, a, tea, "hunter2\n")
	synced(t, a, b, SyncOptions{})
	put(t, a, tea, "green\n")
	must[RedactedText](t)(a.RedactText(context.Background(), RedactTextQuery{Query: "hunter2"}, "a password", false))
	result := synced(t, a, b, SyncOptions{Redactions: true})
	if len(result.Redactions) != 1 {
		t.Fatalf("%+v", result)
	}
	if done := result.Redactions[0]; done.Path != tea || done.Side != SyncSideB || !done.IsDone || done.Redacted != "a password" {
		t.Errorf("%+v", done)
	}
}

func TestAnErrorOfASyncHasAKind(t *testing.T) {
	ctx := context.Background()
	a, b := withTea(t)
	execute(b, `{"command": "delete", "path": "/memories/tea.md"}`)
	_, err := a.Sync(ctx, b, SyncOptions{})
	isSync(t, err, SyncTooManyDeletions)
	if result := synced(t, a, b, SyncOptions{Delete: true}); result.Changes[0].Action != SyncActionDeleted {
		t.Errorf("%+v", result)
	}
	_, err = a.Sync(ctx, a, SyncOptions{})
	isSync(t, err, SyncOverlapping)
	_, err = a.Sync(ctx, open(t, "memory:", MemoryOptions{ReadOnly: true}), SyncOptions{})
	isSync(t, err, SyncReadOnly)
	for option, wrong := range map[string]SyncOptions{
		"on_conflict":    {OnConflict: "newest"},
		"exclude":        {Exclude: []string{"notes"}},
		"max_file_bytes": {MaxFileBytes: -1},
		"names":          {Names: []string{"laptop"}},
	} {
		_, err := a.Sync(ctx, b, wrong)
		if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindConfig || failed.Option != option {
			t.Errorf("%s: %#v", option, err)
		}
	}
	for _, unopened := range []*Memory{nil, new(Memory)} {
		_, from := unopened.Sync(ctx, a, SyncOptions{})
		_, to := a.Sync(ctx, unopened, SyncOptions{})
		for _, err := range []error{from, to} {
			if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindUsage {
				t.Errorf("%#v", err)
			}
		}
	}
}

func TestASyncThatFailsBecauseOfAStoreHasItsError(t *testing.T) {
	gone := errors.New("the disk is gone")
	plain := open(t, "memory:", MemoryOptions{})
	broken, _ := through(t, MemoryOptions{}, func(_ context.Context, method string, work func() error) error {
		if method == "Read" {
			return gone
		}
		return work()
	})
	for _, two := range [][2]*Memory{{plain, broken}, {broken, plain}} {
		_, err := two[0].Sync(context.Background(), two[1], SyncOptions{})
		if failed := new(Error); !errors.Is(err, gone) || !errors.As(err, &failed) || failed.Kind != KindStore {
			t.Errorf("%#v", err)
		}
	}
}

func TestACancelledSyncIsContinuedByTheNextOne(t *testing.T) {
	paths := []string{"/memories/1.md", "/memories/2.md", "/memories/3.md"}
	a := open(t, "memory:", MemoryOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	b, _ := through(t, MemoryOptions{}, func(ctx context.Context, method string, work func() error) error {
		if method == "Write" && ctx.Done() != nil {
			defer cancel()
		}
		return work()
	})
	for _, path := range paths {
		put(t, a, path, path)
	}
	_, err := a.Sync(ctx, b, SyncOptions{})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("%#v", err)
	}
	if kind := err.(*Error).Kind; kind != KindSync && kind != KindStore && kind != KindCancelled {
		t.Error(kind)
	}
	synced(t, a, b, SyncOptions{})
	for _, path := range paths {
		holds(t, a, b, path, path)
	}
}

func TestAStoreThatIsSyncedMayUseAnotherMemoryWhenAllPlacesAreTaken(t *testing.T) {
	defer SetMaxCalls(SetMaxCalls(1))
	beneath, a := open(t, "memory:", MemoryOptions{}), open(t, "memory:", MemoryOptions{})
	b, _ := through(t, MemoryOptions{}, func(_ context.Context, _ string, work func() error) error {
		if err := beneath.Write(context.Background(), "/memories/log.md", "x"); err != nil {
			return err
		}
		return work()
	})
	if result := synced(t, a, b, SyncOptions{}); result.Equal != 1 {
		t.Errorf("%+v", result)
	}
	if _, err := b.CopyTo(context.Background(), a, CopyOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := a.CopyTo(context.Background(), b, CopyOptions{WithoutHistory: true}); err != nil {
		t.Error(err)
	}
}

func TestHooksReviewTheChangesOfASync(t *testing.T) {
	var told []string
	var b *Memory
	b = open(t, "memory:", MemoryOptions{
		Before: func(ctx context.Context, command Command, call *HookCall) (Decision, error) {
			if call.Actor != "sync" || command.Command != "create" {
				t.Errorf("%+v %+v", command, call.Actor)
			}
			// Commands of a hook have no hooks.
			if reply := b.Execute(ctx, json.RawMessage(`{"command": "view", "path": "/memories"}`)); reply.IsError {
				t.Error(reply)
			}
			diff, err := call.Diff(ctx)
			if err != nil || !strings.HasPrefix(diff, "--- /dev/null\n+++ /memories/") {
				return Decision{}, err
			}
			switch command.Path {
			case "/memories/no.md":
				return Deny("Not this one."), nil
			case tea:
				return Replace(command.FileText + "reviewed\n"), nil
			}
			return Allow(), nil
		},
		After:        func(_ context.Context, event Event) { told = append(told, event.Path+" "+string(event.Outcome)) },
		MaxFileBytes: Of(20),
	})
	a := open(t, "memory:", MemoryOptions{})
	for path, text := range map[string]string{
		tea: "green\n", "/memories/no.md": "no\n", "/memories/yes.md": "yes\n", "/memories/large.md": strings.Repeat("large", 5),
	} {
		put(t, a, path, text)
	}
	result := synced(t, a, b, SyncOptions{})
	// The refusal of a diff is no failure of the hook.
	if len(result.LeftOut) != 2 || result.LeftOut[1].Details != "Not this one." || len(result.Changes) != 2 {
		t.Errorf("%+v", result)
	}
	if text := must[string](t)(b.Read(context.Background(), tea)); text != "green\nreviewed\n" {
		t.Error(text)
	}
	expected := []string{"/memories/large.md refused", "/memories/no.md denied", tea + " ok", "/memories/yes.md ok"}
	if !reflect.DeepEqual(told, expected) {
		t.Error(told)
	}
	// Also from the other side.
	put(t, a, "/memories/new.md", "new\n")
	told = nil
	synced(t, b, a, SyncOptions{})
	if expected := []string{"/memories/large.md refused", "/memories/new.md ok", "/memories/no.md denied"}; !reflect.DeepEqual(told, expected) {
		t.Error(told)
	}
}

func TestAHookThatFailsEndsASync(t *testing.T) {
	mine := errors.New("mine")
	b := open(t, "memory:", MemoryOptions{
		Before: func(context.Context, Command, *HookCall) (Decision, error) { return Decision{}, mine },
	})
	a := open(t, "memory:", MemoryOptions{})
	put(t, a, tea, "green\n")
	_, err := a.Sync(context.Background(), b, SyncOptions{})
	var failed *Error
	if !errors.As(err, &failed) || !errors.Is(err, mine) || failed.SyncKind != SyncStopped {
		t.Errorf("%v", err)
	}
	if found := must[[]Entry](t)(b.List(context.Background(), "/memories", 1)); len(found) != 0 {
		t.Errorf("%+v", found)
	}
}
