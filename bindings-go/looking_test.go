package memdir

// Inspecting a memory: watches, the past, sensitive text and statistics.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAWatchTellsWhatAnybodyChanges(t *testing.T) {
	place := t.TempDir()
	memory := open(t, "dir:"+place, MemoryOptions{})
	other := open(t, "dir:"+place, MemoryOptions{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	changes := make(chan Change)
	ended := make(chan error)
	go func() {
		for change, err := range memory.Watch(ctx, "", 20*time.Millisecond) {
			if err != nil {
				ended <- err
				return
			}
			changes <- change
		}
	}()
	// Wait until the watch has begun.
	file := filepath.Join(place, "begun.md")
	for begun := false; !begun; {
		if err := os.WriteFile(file, []byte(time.Now().String()), 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case change := <-changes:
			begun = reflect.DeepEqual(change, Change{ChangeWritten, "/memories/begun.md", ""})
		case <-time.After(50 * time.Millisecond):
		}
	}
	expect := func(kind ChangeKind, path string) {
		t.Helper()
		for {
			select {
			case change := <-changes:
				if change.Path == "/memories/begun.md" && path != change.Path {
					continue
				}
				if change.Kind != kind || change.Path != path {
					t.Fatalf("%+v", change)
				}
				return
			case err := <-ended:
				t.Fatal(err)
			}
		}
	}
	if err := other.Write(ctx, "/memories/team/a.md", "one"); err != nil {
		t.Fatal(err)
	}
	expect(ChangeWritten, "/memories/team/a.md")
	if err := os.Remove(filepath.Join(place, "team", "a.md")); err != nil {
		t.Fatal(err)
	}
	expect(ChangeDeleted, "/memories/team/a.md")
	cancel()
	for {
		select {
		case <-changes:
			continue
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		break
	}
}

func TestAWatchEndsWithItsLoop(t *testing.T) {
	ctx := context.Background()
	memory := open(t, "memory:", MemoryOptions{})
	told, written := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(written)
		// The watch may begin after the first of these changes.
		for {
			select {
			case <-told:
				return
			case <-time.After(20 * time.Millisecond):
				_ = memory.Write(ctx, "/memories/a.md", time.Now().String())
			}
		}
	}()
	for change, err := range memory.Watch(ctx, "/memories/a.md", time.Hour) {
		if err != nil || change.Kind != ChangeWritten {
			t.Fatal(change, err)
		}
		break
	}
	close(told)
	<-written
	failed := new(Error)
	for _, err := range memory.Watch(ctx, "elsewhere", 0) {
		if !errors.As(err, &failed) || failed.Kind != KindRefused {
			t.Fatal(err)
		}
	}
	for _, err := range memory.Watch(ctx, "", -1) {
		if !errors.As(err, &failed) || failed.Option != "every" {
			t.Fatal(err)
		}
	}
	done, cancel := context.WithCancelCause(ctx)
	cause := errors.New("enough")
	cancel(cause)
	for _, err := range memory.Watch(done, "", 0) {
		if !errors.Is(err, cause) {
			t.Fatal(err)
		}
	}
}

func TestTheHistoryHasWhatIsThereNoMore(t *testing.T) {
	ctx, path := context.Background(), "/memories/tea.md"
	memory := open(t, "memory:", MemoryOptions{History: true})
	write := func(text string) time.Time {
		if err := memory.Write(ctx, path, text); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond)
		now := time.Now()
		time.Sleep(2 * time.Millisecond)
		return now
	}
	before := write("green\n")
	after := write("black\n")

	found := must[[]HistoryMatch](t)(memory.GrepHistory(ctx, "GREEN", GrepOptions{IgnoreCase: true}))
	versions := must[[]Version](t)(memory.History(ctx, HistoryQuery{}))
	if !reflect.DeepEqual(found, []HistoryMatch{{versions[1], 1, "green"}}) {
		t.Fatalf("%+v", found)
	}
	files := must[[]PastFile](t)(memory.FilesAt(ctx, before))
	if len(files) != 1 || files[0].Path != path || *files[0].Size != 6 || files[0].Version != versions[1].ID {
		t.Fatalf("%+v", files)
	}
	if files[0].Modified.IsZero() || files[0].Modified.After(before) {
		t.Fatal(files[0].Modified)
	}
	for moment, text := range map[time.Time]string{before: "green\n", after: "black\n"} {
		if held := must[[]byte](t)(memory.ReadAt(ctx, path, moment)); string(held) != text {
			t.Fatal(string(held))
		}
	}
	if held := must[[]byte](t)(memory.ReadAt(ctx, "/memories/none", after)); held != nil {
		t.Fatal(held)
	}
	lines := must[[]BlamedLine](t)(memory.Blame(ctx, path))
	newest := versions[0]
	line := BlamedLine{1, "black", newest.ID, newest.Change, newest.Operation, newest.Actor, newest.Time, false}
	if !reflect.DeepEqual(lines, []BlamedLine{line}) {
		t.Fatalf("%+v", lines)
	}
	_, err := memory.Blame(ctx, "/memories/none")
	isHistory(t, err, HistoryNoFile, "/memories/none")
	_, err = memory.GrepHistory(ctx, "a", GrepOptions{Path: "elsewhere"})
	isHistory(t, err, HistoryPath)
	_, err = open(t, "memory:", MemoryOptions{}).FilesAt(ctx, after)
	isHistory(t, err, HistoryOff)
}

func TestAPartOfAnIDIsResolvedAndTheHistoryIsExported(t *testing.T) {
	ctx := context.Background()
	memory := open(t, "memory:", MemoryOptions{History: true, Actor: "ann"})
	for _, text := range []string{"green\n", "black\n"} {
		if err := memory.Write(ctx, "/memories/tea.md", text); err != nil {
			t.Fatal(err)
		}
	}
	id := must[[]Version](t)(memory.History(ctx, HistoryQuery{}))[0].ID
	if resolved := must[string](t)(memory.ResolveID(ctx, id[len(id)-12:])); resolved != id {
		t.Fatal(resolved)
	}
	for part, kind := range map[string]HistoryKind{
		id[:6]:                                 HistoryAmbiguous,
		"01990a3c-7c00-7123-8456-789abc000000": HistoryUnknown,
		"tea":                                  HistoryNoID,
	} {
		_, err := memory.ResolveID(ctx, part)
		isHistory(t, err, kind)
	}
	stream := string(must[[]byte](t)(memory.ExportHistory(ctx)))
	if !strings.HasSuffix(stream, "done\n") || !strings.Contains(stream, "committer ann <>") {
		t.Fatal(stream)
	}
	_, err := open(t, "memory:", MemoryOptions{}).ExportHistory(ctx)
	isHistory(t, err, HistoryOff)
}

func TestAFileIsReadAsAModelMaySeeIt(t *testing.T) {
	ctx := context.Background()
	memory := open(t, "memory:", MemoryOptions{SensitiveOnView: true})
	if err := memory.Write(ctx, "/memories/db.md", "url: postgres://app:t7Kq-9zLw2@db/app\n"); err != nil {
		t.Fatal(err)
	}
	shown := must[string](t)(memory.ReadShown(ctx, "/memories/db.md"))
	if shown != "url: postgres://app:[REDACTED:url-password]@db/app\n" {
		t.Fatal(shown)
	}
	failed := new(Error)
	if _, err := memory.ReadShown(ctx, "/memories/no"); !errors.As(err, &failed) || failed.Kind != KindRefused {
		t.Fatal(err)
	}
}

func TestWhatAMemoryHoldsIsFoundAndCounted(t *testing.T) {
	ctx := context.Background()
	memory := open(t, "memory:", MemoryOptions{History: true, SensitiveRules: map[string]string{"project": "Bluebird-[0-9]+"}})
	if err := memory.Write(ctx, "/memories/a/b.md", "one\nBluebird-7\n"); err != nil {
		t.Fatal(err)
	}
	found := must[[]SensitiveMatch](t)(memory.FindSensitive(ctx, "", 0))
	if !reflect.DeepEqual(found, []SensitiveMatch{{"/memories/a/b.md", 2, "project"}}) {
		t.Fatalf("%+v", found)
	}
	stats := must[Stats](t)(memory.Stats(ctx))
	if stats.Files != 1 || stats.Directories != 1 || stats.Bytes != 15 || stats.History.Versions != 1 {
		t.Fatalf("%+v", stats)
	}
	if *stats.Largest != (SizedPath{"/memories/a/b.md", 15}) || *stats.Oldest != *stats.Newest {
		t.Fatalf("%+v", stats)
	}
	empty := must[Stats](t)(open(t, "memory:", MemoryOptions{}).Stats(ctx))
	if empty != (Stats{}) {
		t.Fatalf("%+v", empty)
	}
}
