package memdir_test

// The code of docs/guides/review.md and encrypted.md: TestTheCodeOfTheDocumentsIsHere compares it.

import (
	"context"
	"fmt"
	"strings"
	"time"

	memdir "github.com/memdir/memdir/bindings-go"
)

func ExampleHookCall_Diff() {
	ctx := context.Background()
	// Stands for your dialog: this one refuses black tea.
	ask := func(actor, diff string) bool {
		fmt.Printf("%s asks for this change:\n%s", actor, diff)
		return !strings.Contains(diff, "black")
	}
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{
		History: true,
		Before: func(ctx context.Context, command memdir.Command, call *memdir.HookCall) (memdir.Decision, error) {
			if command.Command == "view" {
				return memdir.Allow(), nil
			}
			diff, err := call.Diff(ctx)
			if err != nil || ask(call.Actor, diff) {
				return memdir.Allow(), err
			}
			return memdir.Deny("Error: The user does not want this change. Nothing was changed."), nil
		},
	})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	if err := memory.Write(ctx, "/memories/tea.md", "- green\n"); err != nil {
		panic(err)
	}
	agent, err := memory.ActingAs("session-7")
	if err != nil {
		panic(err)
	}
	defer agent.Close()
	for _, text := range []string{"- mint", "- black"} {
		insert := fmt.Sprintf(`{"command": "insert", "path": "/memories/tea.md", "insert_line": 1, "insert_text": %q}`, text)
		fmt.Println(agent.Execute(ctx, []byte(insert)).Text)
	}
	// Output:
	// session-7 asks for this change:
	// --- /memories/tea.md
	// +++ /memories/tea.md
	// @@ -1 +1,2 @@
	//  - green
	// +- mint
	// The file /memories/tea.md has been edited.
	// session-7 asks for this change:
	// --- /memories/tea.md
	// +++ /memories/tea.md
	// @@ -1,2 +1,3 @@
	//  - green
	// +- black
	//  - mint
	// Error: The user does not want this change. Nothing was changed.
}

func ExampleMemory_UndoSince() {
	defer inTemporaryDirectory()()
	ctx := context.Background()
	memory, err := memdir.Open("./memory", memdir.MemoryOptions{History: true, Actor: "Ann"})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	agent, err := memory.ActingAs("session-7")
	if err != nil {
		panic(err)
	}
	defer agent.Close()
	if err := agent.Write(ctx, "/memories/tea.md", "- black\n"); err != nil {
		panic(err)
	}
	undone, err := memory.UndoSince(ctx, time.Now().Add(-time.Hour), "session-7", memdir.UndoOptions{})
	if err != nil {
		panic(err)
	}
	for _, file := range undone.Files {
		fmt.Println(file.Operation, file.Path)
	}
	// Output: deleted /memories/tea.md
}

func ExampleKeyFromFile() {
	defer inTemporaryDirectory()()
	ctx := context.Background()

	key, err := memdir.KeyFromFile("memory.key")
	if err != nil {
		panic(err)
	}
	memory, err := memdir.Open("./memory", memdir.MemoryOptions{EncryptionKey: key, History: true})
	if err != nil {
		panic(err)
	}
	defer memory.Close()
	if err := memory.Write(ctx, "/memories/plan.md", "- order tea\n"); err != nil {
		panic(err)
	}
	text, err := memory.Read(ctx, "/memories/plan.md")
	if err != nil {
		panic(err)
	}
	fmt.Print(text)
	// Output: - order tea
}
