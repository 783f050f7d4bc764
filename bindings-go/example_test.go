package memdir_test

// The code of the documents: TestTheCodeOfTheDocumentsIsHere compares it.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	memdir "github.com/memdir/memdir/bindings-go"
	"github.com/memdir/memdir/bindings-go/examples/mapstore"
)

func Example() {
	defer inTemporaryDirectory()()

	memory, err := memdir.Open("./memory", memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	calls := []string{
		`{"command": "create", "path": "/memories/notes.md", "file_text": "- likes tea\n"}`,
		`{"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "- lives in Lisbon\n"}`,
		`{"command": "view", "path": "/memories/notes.md"}`,
		`{"command": "view", "path": "/memories/../etc/passwd"}`,
	}
	for _, call := range calls {
		reply := memory.Execute(context.Background(), []byte(call))
		outcome := "done:"
		if reply.IsError {
			outcome = "refused:"
		}
		fmt.Println(outcome, reply.Text)
	}
	// Output:
	// done: File created successfully at: /memories/notes.md
	// done: The file /memories/notes.md has been edited.
	// done: Here's the content of /memories/notes.md with line numbers:
	//      1	- likes tea
	//      2	- lives in Lisbon
	// refused: Path /memories/../etc/passwd would escape /memories directory
}

func ExampleMemoryOptions() {
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{
		MaxFiles:     memdir.Of(1000),
		LockTimeout:  memdir.None[time.Duration](),
		StaleGuard:   memdir.StaleGuardOn,
		NeverExpire:  []string{"/memories/handbook"},
		MaxViewChars: memdir.Of(8000),
	})
	fmt.Println(memory != nil, err)
	// Output: true <nil>
}

func ExampleDeny() {
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{
		Before: func(ctx context.Context, command memdir.Command, call *memdir.HookCall) (memdir.Decision, error) {
			if command.Command == "delete" {
				return memdir.Deny("Error: Nothing is deleted here."), nil
			}
			if strings.Contains(command.FileText, "\r") {
				return memdir.Replace(strings.ReplaceAll(command.FileText, "\r", "")), nil
			}
			return memdir.Allow(), nil
		},
		After: func(ctx context.Context, event memdir.Event) {
			fmt.Println(event.Command, event.Path, event.Outcome)
		},
	})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	reply := memory.Execute(context.Background(), []byte(`{"command": "delete", "path": "/memories/a.md"}`))
	fmt.Println(reply.Text)
	// Output:
	// delete /memories/a.md denied
	// Error: Nothing is deleted here.
}

func ExampleMemory_History() {
	ctx := context.Background()
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{History: true})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	session, err := memory.ActingAs("session 1")
	if err != nil {
		panic(err)
	}
	defer session.Close()
	calls := []string{
		`{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}`,
		`{"command": "str_replace", "path": "/memories/tea.md", "old_str": "green", "new_str": "black"}`,
	}
	for _, call := range calls {
		session.Execute(ctx, []byte(call))
	}

	versions, err := memory.History(ctx, memdir.HistoryQuery{Path: "/memories/tea.md"})
	if err != nil {
		panic(err)
	}
	for _, version := range versions {
		fmt.Println(version.Operation, version.Path, version.Actor)
	}
	diff, err := memory.Diff(ctx, versions[0].ID, "")
	if err != nil {
		panic(err)
	}
	fmt.Print(diff)

	if _, err := memory.Undo(ctx, versions[0].Change, memdir.UndoOptions{}); err != nil {
		panic(err)
	}
	text, err := memory.Read(ctx, "/memories/tea.md")
	fmt.Print(text)
	// Output:
	// modified /memories/tea.md session 1
	// created /memories/tea.md session 1
	// --- /memories/tea.md
	// +++ /memories/tea.md
	// @@ -1 +1 @@
	// -- green
	// +- black
	// - green
}

func ExampleMemory_ActingAs() {
	defer inTemporaryDirectory()()
	ctx := context.Background()
	memory, err := memdir.Open("sqlite:team.db", memdir.MemoryOptions{History: true, StaleGuard: memdir.StaleGuardOn})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	agent, err := memory.ActingAs("agent 7")
	if err != nil {
		panic(err)
	}
	defer agent.Close()

	err = agent.Write(ctx, "/memories/tea.md", "- green\n")
	if err != nil {
		panic(err)
	}
	versions, err := memory.History(ctx, memdir.HistoryQuery{Actor: "agent 7"})
	fmt.Println(len(versions), err)
	// Output: 1 <nil>
}

func ExampleOpenStore() {
	memory, err := memdir.OpenStore(mapstore.New(), memdir.MemoryOptions{History: true})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	reply := memory.Execute(context.Background(), []byte(`{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}`))
	fmt.Println(reply.Text)
	checked, err := memory.Check(context.Background())
	fmt.Println(checked.Files, *checked.Versions, checked.Problems, err)
	// Output:
	// File created successfully at: /memories/tea.md
	// 1 1 [] <nil>
}

func ExampleOpenMounts() {
	defer inTemporaryDirectory()()
	if err := os.Mkdir("docs", 0o777); err != nil {
		panic(err)
	}

	memory, err := memdir.OpenMounts([]memdir.Mount{
		{Path: "/memories", Address: "./memory"},
		{Path: "/memories/team", Store: mapstore.New()},
		{Path: "/memories/handbook", Address: "./docs", ReadOnly: true},
	}, memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	calls := []string{
		`{"command": "create", "path": "/memories/team/plan.md", "file_text": "1. Begin.\n"}`,
		`{"command": "create", "path": "/memories/handbook/style.md", "file_text": "x"}`,
	}
	for _, call := range calls {
		fmt.Println(memory.Execute(context.Background(), []byte(call)).Text)
	}
	// Output:
	// File created successfully at: /memories/team/plan.md
	// Error: /memories/handbook/style.md is read-only: it can be viewed but not changed
}

func ExampleMemory_CopyTo() {
	ctx := context.Background()
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	other, err := memdir.OpenStore(mapstore.New(), memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer other.Close()
	if err := memory.Write(ctx, "/memories/tea.md", "- green\n"); err != nil {
		panic(err)
	}
	copied, err := memory.CopyTo(ctx, other, memdir.CopyOptions{})
	fmt.Println(copied.Files, copied.Bytes, err)
	// Output: 1 8 <nil>
}

func ExampleMemory_Sync() {
	ctx := context.Background()
	laptop, err := memdir.Open("memory:", memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer laptop.Close()
	server, err := memdir.OpenStore(mapstore.New(), memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if err := laptop.Write(ctx, "/memories/tea.md", "- green\n"); err != nil {
		panic(err)
	}

	synced, err := laptop.Sync(ctx, server, memdir.SyncOptions{Names: []string{"laptop", "server"}})
	var failed *memdir.Error
	if errors.As(err, &failed) && failed.SyncKind == memdir.SyncTooManyDeletions {
		fmt.Println("many files are gone from one of the memories")
	}
	if err != nil {
		panic(err)
	}
	for _, change := range synced.Changes {
		fmt.Println(change.Side, change.Action, change.Path)
	}
	for _, conflict := range synced.Conflicts {
		fmt.Println("both contents are kept:", conflict.Path, conflict.CopyPath)
	}
	for _, left := range synced.LeftOut {
		fmt.Println("stays different:", left.Path, left.Details)
	}
	// Output: b created /memories/tea.md
}

func Example_yourOwnCode() {
	defer inTemporaryDirectory()()
	ctx := context.Background()
	memory, err := memdir.Open("./memory", memdir.MemoryOptions{})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	if err := memory.Write(ctx, "/memories/tea.md", "# Tea\n- green\n"); err != nil {
		panic(err)
	}

	// Adds a line, unless the file has changed since it was read.
	text, err := memory.Read(ctx, "/memories/tea.md")
	if err == nil {
		err = memory.WriteIfUnchanged(ctx, "/memories/tea.md", text+"- black\n", text)
	}
	if err != nil {
		panic(err)
	}

	entries, err := memory.List(ctx, "/memories", 0)
	if err != nil {
		panic(err)
	}
	for _, entry := range entries {
		if !entry.IsDirectory() {
			fmt.Println(entry.Path, *entry.Size)
		}
	}
	matches, err := memory.Grep(ctx, "black", memdir.GrepOptions{})
	if err != nil {
		panic(err)
	}
	for _, match := range matches {
		fmt.Printf("%s:%d %s\n", match.Path, match.Line, match.Text)
	}
	index, err := memory.Index(ctx, 1000)
	if err != nil {
		panic(err)
	}
	fmt.Print(index)
	// Output:
	// /memories/tea.md 22
	// /memories/tea.md:3 - black
	// /memories/tea.md	22B	# Tea
}

// TestTheCodeOfTheDocumentsIsHere checks that each line of Go in the documents is part of the tested code.
func TestTheCodeOfTheDocumentsIsHere(t *testing.T) {
	tested := map[string]bool{"": true, "func main() {": true, "package main": true}
	for _, file := range []string{"example_test.go", "guide_programs_test.go", "store_test.go", "examples/mapstore/map_store.go", "memorytool/example_test.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(source)) {
			tested[strings.TrimSpace(line)] = true
		}
	}
	for _, page := range []string{"README.md", "../docs/start/go.md", "../docs/languages/go.md", "../docs/guides/encrypted.md", "../docs/guides/review.md", "../docs/guides/several-processes.md", "../docs/guides/your-own-code.md", "../docs/stores/mounts.md", "../docs/stores/write-a-store.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks := strings.Split(string(text), "```go\n")[1:]
		if len(blocks) == 0 {
			t.Error(page, "has no code")
		}
		for _, block := range blocks {
			code, _, _ := strings.Cut(block, "```")
			for line := range strings.Lines(code) {
				if !tested[strings.TrimSpace(line)] {
					t.Errorf("%s: not tested: %s", page, line)
				}
			}
		}
	}
}

// inTemporaryDirectory changes to a new directory, and returns a function that changes back.
func inTemporaryDirectory() func() {
	before, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	place, err := os.MkdirTemp("", "memdir")
	if err != nil {
		panic(err)
	}
	if err := os.Chdir(filepath.Clean(place)); err != nil {
		panic(err)
	}
	return func() {
		_ = os.Chdir(before)
		_ = os.RemoveAll(place)
	}
}
