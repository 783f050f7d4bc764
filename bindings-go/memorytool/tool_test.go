package memorytool

// Conversations through the real tool runner of Anthropic's SDK. The other side is the stand-in of examples/standin, which
// compares every request with the script.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	memdir "github.com/memdir/memdir/bindings-go"
)

type object = map[string]any

func TestTwoSessionsTheSecondOfWhichKnowsOnlyWhatTheFirstOneLeft(t *testing.T) {
	play(t, "release-notes")
}

func TestManyToolUsesInOneTurn(t *testing.T) { play(t, "parallel") }

func play(t *testing.T, name string) {
	written, err := os.ReadFile(filepath.Join(root(t), "examples/conversations", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var script object
	if err := json.Unmarshal(written, &script); err != nil {
		t.Fatal(err)
	}
	asTheSDKSends(script)
	place := t.TempDir()
	standin := start(t, script)
	for _, session := range script["sessions"].([]any) {
		memory := open(t, place, memdir.MemoryOptions{})
		converse(t, standin, New(memory), session.(object)["user"].(string))
		if err := memory.Close(); err != nil {
			t.Fatal(err)
		}
	}
	standin.finish(t)
	then, _ := script["then"].(object)
	for path, content := range then {
		kept, err := os.ReadFile(filepath.Join(place, path))
		if err != nil || string(kept) != text(content) {
			t.Errorf("%s: %q, %v", path, kept, err)
		}
	}
}

// The runner writes "Error: " before the text of an error.
func asTheSDKSends(script object) {
	for _, session := range script["sessions"].([]any) {
		for _, turn := range session.(object)["turns"].([]any) {
			calls, _ := turn.(object)["calls"].([]any)
			for _, call := range calls {
				call := call.(object)
				if call["is_error"] == true {
					call["result"] = "Error: " + strings.TrimPrefix(text(call["result"]), "Error: ")
				}
			}
		}
	}
}

func TestTheTextOfAnErrorHasThePrefixOnce(t *testing.T) {
	memory := open(t, "memory:", memdir.MemoryOptions{})
	execute := func(input string) string {
		_, err := New(memory).Execute(context.Background(), json.RawMessage(input))
		if err == nil {
			t.Fatal(input)
		}
		return err.Error()
	}
	input := `{"command": "create", "path": "/memories/a.md", "file_text": "one\n"}`
	if _, err := New(memory).Execute(context.Background(), json.RawMessage(input)); err != nil {
		t.Fatal(err)
	}
	if said := execute(input); said != "File /memories/a.md already exists" {
		t.Error(said)
	}
	if said := execute(`{"command": "view", "path": "/memories/b.md"}`); said != "The path /memories/b.md does not exist. Please provide a valid path." {
		t.Error(said)
	}
	result := New(memory).Result(context.Background(), "id", json.RawMessage(input)).OfToolResult
	if result.Content[0].OfText.Text != "Error: File /memories/a.md already exists" || !result.IsError.Value || result.ToolUseID != "id" {
		t.Errorf("%+v", result)
	}
}

func TestTheModelSearchesAndEditsWhatItFound(t *testing.T) {
	memory := open(t, "memory:", memdir.MemoryOptions{})
	path := "/memories/anna.md"
	if err := memory.Write(context.Background(), path, "- Anna likes green tea.\n"); err != nil {
		t.Fatal(err)
	}
	written, err := memory.SearchToolDefinition("anthropic-custom", "memory_")
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, input object, result string, isError bool) object {
		return object{"calls": []any{object{"tool": tool, "input": input, "result": result, "is_error": isError}}}
	}
	turns := []any{
		call("memory_search", object{"query": "What does Anna like?"}, path+"\n     1\t- Anna likes green tea.", false),
		call("memory", object{"command": "str_replace", "path": path, "old_str": "green tea", "new_str": "water"},
			"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\t- Anna likes water.", false),
		call("memory_search", object{"query": "tea", "limit": 0},
			"Error: Invalid `limit` parameter: expected an integer from 1 to 20, got the number 0", true),
		object{"text": "Done."},
	}
	script := object{
		"about":       "a search",
		"other_tools": []any{json.RawMessage(written)},
		"sessions":    []any{object{"user": "u", "turns": turns}},
	}
	standin := start(t, script)
	converse(t, standin, New(memory), "u", NewSearch(memory))
	standin.finish(t)
	result := NewSearch(memory).Result(context.Background(), "id", json.RawMessage(`{"query": "water"}`)).OfToolResult
	if !strings.HasSuffix(result.Content[0].OfText.Text, "Anna likes water.") || result.IsError.Value {
		t.Errorf("%+v", result)
	}
}

func TestAnImageIsABlock(t *testing.T) {
	png, err := os.ReadFile(filepath.Join(root(t), "bindings-uniffi/tests/plan.png"))
	if err != nil {
		t.Fatal(err)
	}
	place := t.TempDir()
	if err := os.WriteFile(filepath.Join(place, "plan.png"), png, 0o666); err != nil {
		t.Fatal(err)
	}
	shown := object{"$image": "image/png", "$base64": base64.StdEncoding.EncodeToString(png)}
	call := object{"input": object{"command": "view", "path": "/memories/plan.png"}, "result": shown, "is_error": false}
	standin := start(t, conversation(call))
	converse(t, standin, New(open(t, "dir:"+place, memdir.MemoryOptions{})), "u")
	standin.finish(t)
}

func TestAFailureIsToldToTheDeveloperAndNotToTheModel(t *testing.T) {
	secret := errors.New("jdbc://user:hunter2@host")
	memory := open(t, "memory:", memdir.MemoryOptions{
		Before: func(context.Context, memdir.Command, *memdir.HookCall) (memdir.Decision, error) {
			return memdir.Decision{}, secret
		},
	})
	input := object{"command": "view", "path": "/memories"}
	asked, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	sentence := memory.Execute(context.Background(), asked).Text
	if strings.Contains(sentence, "hunter2") {
		t.Fatal(sentence)
	}
	script := conversation(object{"input": input, "result": sentence, "is_error": true})
	asTheSDKSends(script)
	standin := start(t, script)
	var told []error
	tool := New(memory)
	tool.OnFailure = func(_ context.Context, cause error) { told = append(told, cause) }
	converse(t, standin, tool, "u")
	standin.finish(t)
	if len(told) != 1 || !strings.Contains(told[0].Error(), secret.Error()) {
		t.Fatal(told)
	}
}

func TestADoneContextIsToldToTheDeveloper(t *testing.T) {
	tool := New(open(t, "memory:", memdir.MemoryOptions{}))
	var cause error
	tool.OnFailure = func(_ context.Context, told error) { cause = told }
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	input := json.RawMessage(`{"command": "create", "path": "/memories/a.md", "file_text": "late"}`)
	if _, err := tool.Execute(ctx, input); err == nil || cause == nil {
		t.Fatal(err, cause)
	}
	if failure := new(memdir.Error); !errors.As(cause, &failure) || failure.Kind != memdir.KindCancelled {
		t.Fatal(cause)
	}
}

func TestADoneContextIsNotLoggedAsAFailure(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	failing := memdir.MemoryOptions{
		Before: func(context.Context, memdir.Command, *memdir.HookCall) (memdir.Decision, error) {
			return memdir.Decision{}, errors.New("no")
		},
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	input := json.RawMessage(`{"command": "create", "path": "/memories/a.md", "file_text": "late"}`)
	for _, each := range []struct {
		ctx     context.Context
		options memdir.MemoryOptions
		level   string
	}{{cancelled, memdir.MemoryOptions{}, "INFO"}, {context.Background(), failing, "ERROR"}} {
		logged.Reset()
		if _, err := New(open(t, "memory:", each.options)).Execute(each.ctx, input); err == nil {
			t.Fatal("it was executed")
		}
		if strings.Count(logged.String(), "level=") != 1 || !strings.Contains(logged.String(), "level="+each.level) {
			t.Fatal(logged.String())
		}
	}
}

func TestWithoutDeclareItIsACustomToolWithASchema(t *testing.T) {
	tool := New(open(t, "memory:", memdir.MemoryOptions{}))
	client := anthropic.NewClient(option.WithAPIKey("none"))
	runner := client.Beta.Messages.NewToolRunner([]anthropic.BetaTool{tool}, anthropic.BetaToolRunnerParams{})
	written, err := json.Marshal(runner.Params.Tools)
	if err != nil || !bytes.Contains(written, []byte(`"required":["command"`)) || !bytes.Contains(written, []byte(`"file_text":`)) ||
		!bytes.Contains(written, []byte(`"additionalProperties":false`)) || tool.Description() == "" {
		t.Fatalf("%s, %v", written, err)
	}
	if !Declare(runner.Params.Tools) || Declare(runner.Params.Tools) {
		t.Fatal("it is declared once")
	}
	written, err = json.Marshal(runner.Params.Tools)
	if err != nil || string(written) != `[{"name":"memory","type":"memory_20250818"}]` {
		t.Fatalf("%s, %v", written, err)
	}
}

// conversation is a script of one call.
func conversation(call object) object {
	turns := []any{object{"calls": []any{call}}, object{"text": "Done."}}
	return object{"about": "x", "sessions": []any{object{"user": "u", "turns": turns}}}
}

func converse(t *testing.T, standin *standin, tool *Tool, user string, others ...anthropic.BetaTool) {
	t.Helper()
	tools := append([]anthropic.BetaTool{tool}, others...)
	client := anthropic.NewClient(option.WithBaseURL(standin.address), option.WithAPIKey("none"))
	runner := client.Beta.Messages.NewToolRunner(tools, anthropic.BetaToolRunnerParams{
		BetaMessageNewParams: anthropic.BetaMessageNewParams{
			Model:     "claude-stand-in",
			MaxTokens: 1024,
			Messages:  []anthropic.BetaMessageParam{anthropic.NewBetaUserMessage(anthropic.NewBetaTextBlock(user))},
		},
	})
	Declare(runner.Params.Tools)
	message, err := runner.RunToCompletion(context.Background())
	if err != nil || message.StopReason != anthropic.BetaStopReasonEndTurn {
		t.Fatal(err)
	}
}

// standin is the stand-in in its own process.
type standin struct {
	address string
	process *exec.Cmd
	errors  bytes.Buffer
}

func start(t *testing.T, script object) *standin {
	t.Helper()
	written, err := json.Marshal(script)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "script.json")
	if err := os.WriteFile(file, written, 0o666); err != nil {
		t.Fatal(err)
	}
	standin := &standin{process: exec.Command("python3", filepath.Join(root(t), "examples/standin/standin.py"), file)}
	standin.process.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "LD_PRELOAD=")
	standin.process.Stderr = &standin.errors
	out, err := standin.process.StdoutPipe()
	if err == nil {
		err = standin.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = standin.process.Process.Kill() })
	standin.address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, standin.errors.String())
	}
	standin.address = strings.TrimSpace(standin.address)
	return standin
}

// finish fails unless the whole script was played and every request was as expected.
func (s *standin) finish(t *testing.T) {
	t.Helper()
	answer, err := http.Post(s.address+"/standin/finish", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	written, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Complete           bool
		TurnsPlayed        int   `json:"turns_played"`
		ToolResults        int   `json:"tool_results"`
		ToolResultsChecked int   `json:"tool_results_checked"`
		Failures           []any `json:"failures"`
	}
	err = json.Unmarshal(written, &report)
	if err != nil || !report.Complete || len(report.Failures) != 0 || report.ToolResults != report.ToolResultsChecked {
		t.Fatalf("%s, %v", written, err)
	}
	fmt.Printf("end to end: %d turns, %d tool results\n", report.TurnsPlayed, report.ToolResultsChecked)
	if err := s.process.Wait(); err != nil {
		t.Fatal(err, s.errors.String())
	}
}

func open(t *testing.T, address string, options memdir.MemoryOptions) *memdir.Memory {
	t.Helper()
	memory, err := memdir.Open(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	return memory
}

// text returns a text of a script, or joins its pieces.
func text(value any) string {
	form, ok := value.(object)
	if !ok {
		return value.(string)
	}
	var made strings.Builder
	for _, piece := range form["$text"].([]any) {
		made.WriteString(text(piece))
	}
	return made.String()
}

func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}
