package memdir_test

// Tests of an agent, as docs/guides/testing.md explains them. The page quotes this file.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	memdir "github.com/memdir/memdir/bindings-go"
	"github.com/memdir/memdir/bindings-go/memorytool"
)

const tea = "/memories/tea.md"

// Blocks of a real conversation, as the API sent them.
const (
	look = `{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "view", "path": "/memories/tea.md"}}`
	edit = `{"type": "tool_use", "id": "toolu_2", "name": "memory",
		"input": {"command": "str_replace", "path": "/memories/tea.md", "old_str": "green", "new_str": "black"}}`
)

// filled returns a new memory with one file.
func filled(t *testing.T) *memdir.Memory {
	t.Helper()
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{History: true})
	if err == nil {
		err = memory.Write(t.Context(), tea, "- green\n")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { memory.Close() })
	return memory
}

func TestAPreferenceIsCorrected(t *testing.T) {
	memory := filled(t)
	for _, block := range []string{look, edit} {
		if reply := memory.Execute(t.Context(), []byte(block)); reply.IsError {
			t.Fatal(reply.Text)
		}
	}

	if text, err := memory.Read(t.Context(), tea); text != "- black\n" {
		t.Error(text, err)
	}
	versions, err := memory.History(t.Context(), memdir.HistoryQuery{Path: tea})
	if len(versions) != 2 || versions[0].Operation != memdir.OperationModified {
		t.Error(versions, err)
	}
}

func TestAnExistingFileIsNotReplaced(t *testing.T) {
	memory := filled(t)
	reply := memory.Execute(t.Context(), []byte(`{"command": "create", "path": "/memories/tea.md", "file_text": "- none\n"}`))
	if reply.Kind != memdir.ErrorExists {
		t.Error(reply)
	}
	if text, err := memory.Read(t.Context(), tea); text != "- green\n" {
		t.Error(text, err)
	}
}

func TestNothingIsSavedWhileTheReviewerIsAway(t *testing.T) {
	memory, err := memdir.Open("memory:", memdir.MemoryOptions{
		Before: func(context.Context, memdir.Command, *memdir.HookCall) (memdir.Decision, error) {
			return memdir.Decision{}, errors.New("the reviewer does not answer")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	reply := memory.Execute(t.Context(), []byte(`{"command": "create", "path": "/memories/tea.md", "file_text": "- green\n"}`))
	if reply.Kind != memdir.ErrorHookFailed {
		t.Error(reply)
	}
	if exists, err := memory.Exists(t.Context(), tea); exists || err != nil {
		t.Error(exists, err)
	}
}

// standIn returns a client of a stand-in for the API. It answers with these contents, one after the other.
func standIn(t *testing.T, contents ...string) anthropic.Client {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		content, reason := json.RawMessage(contents[0]), "end_turn"
		if contents = contents[1:]; len(contents) > 0 {
			reason = "tool_use"
		}
		message := map[string]any{"type": "message", "role": "assistant", "content": content, "stop_reason": reason, "usage": map[string]any{}}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(message)
	}))
	t.Cleanup(server.Close)
	return anthropic.NewClient(option.WithBaseURL(server.URL), option.WithAPIKey("none"))
}

// agent stands for the agent of your program.
func agent(ctx context.Context, client anthropic.Client, memory *memdir.Memory, message string) error {
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{memorytool.New(memory)}, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model:     "claude-sonnet-5-5",
			MaxTokens: 2048,
			Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(message))},
		},
	})
	memorytool.Declare(runner.Params.Tools)
	_, err := runner.RunToCompletion(ctx)
	return err
}

func TestAWholeConversation(t *testing.T) {
	memory := filled(t)
	client := standIn(t, "["+look+"]", "["+edit+"]", `[{"type": "text", "text": "Noted."}]`)
	if err := agent(t.Context(), client, memory, "I like black tea better."); err != nil {
		t.Fatal(err)
	}
	if text, err := memory.Read(t.Context(), tea); text != "- black\n" {
		t.Error(text, err)
	}
}
