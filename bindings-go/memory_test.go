package memdir

// Go's own parts: contexts, hooks, options, errors, many goroutines.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	create = `{"command": "create", "path": "/memories/a.md", "file_text": "one\n"}`
	view   = `{"command": "view", "path": "/memories/a.md"}`
)

func execute(memory *Memory, input string) Reply {
	return memory.Execute(context.Background(), json.RawMessage(input))
}

func TestTheVersionIsThatOfTheProject(t *testing.T) {
	manifest, err := os.ReadFile(filepath.Join(root(t), "Cargo.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(manifest, []byte("\nversion = \""+LibraryVersion()+"\"\n")) {
		t.Fatal(LibraryVersion())
	}
}

func TestADoneContextChangesNothing(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	reply := memory.Execute(ctx, json.RawMessage(create))
	failed := new(Error)
	if !reply.IsError || !strings.Contains(reply.Text, "Nothing was changed") || !errors.As(reply.Cause, &failed) {
		t.Fatalf("%+v", reply)
	}
	if reply := execute(memory, view); !reply.IsError || reply.Cause != nil {
		t.Fatalf("%+v", reply)
	}
	if err := memory.Clear(ctx); err == nil {
		t.Log("a store without steps that wait is cleared all the same")
	}
}

func TestAContextEndsACallThatWaits(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "agent.db")
	memory := open(t, address, MemoryOptions{LockTimeout: None[time.Duration]()})
	other := open(t, address, MemoryOptions{})
	execute(memory, create)
	entered, leave := make(chan struct{}), make(chan struct{})
	// A hook of this memory holds no lock. A context that ends while the hook runs ends the call before it writes.
	hooked := open(t, address, MemoryOptions{Before: func(context.Context, Command, *HookCall) (Decision, error) {
		close(entered)
		<-leave
		return Allow(), nil
	}})
	ctx, cancel := context.WithCancel(context.Background())
	replies := make(chan Reply)
	go func() {
		replies <- hooked.Execute(ctx, json.RawMessage(`{"command": "delete", "path": "/memories/a.md"}`))
	}()
	<-entered
	cancel()
	// The cancellation comes from another goroutine.
	time.Sleep(50 * time.Millisecond)
	close(leave)
	if reply := <-replies; !reply.IsError || reply.Cause == nil {
		t.Fatalf("%+v", reply)
	}
	if reply := execute(other, view); reply.IsError {
		t.Fatalf("%+v", reply)
	}
}

func TestAClosedMemoryFails(t *testing.T) {
	for _, options := range []MemoryOptions{{}, {After: func(context.Context, Event) {}}} {
		memory, err := Open("memory:", options)
		if err != nil {
			t.Fatal(err)
		}
		if memory.Close() != nil || memory.Close() != nil {
			t.Fatal("closing it failed")
		}
		ctx, cancel := context.WithCancel(context.Background())
		for _, ctx := range []context.Context{context.Background(), ctx} {
			reply := memory.Execute(ctx, json.RawMessage(create))
			failed := new(Error)
			if !reply.IsError || !errors.As(reply.Cause, &failed) || failed.Kind != KindUsage ||
				!strings.Contains(failed.Message, "it was closed") {
				t.Fatalf("%+v", reply)
			}
		}
		cancel()
		if memory.Clear(context.Background()) == nil {
			t.Fatal("a closed memory was cleared")
		}
	}
}

func TestManyGoroutinesUseOneMemory(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{})
	var all sync.WaitGroup
	for n := range 16 {
		all.Add(1)
		go func() {
			defer all.Done()
			path := fmt.Sprintf("/memories/%d.md", n)
			input := fmt.Sprintf(`{"command": "create", "path": %q, "file_text": "%d\n"}`, path, n)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			for range 50 {
				if reply := memory.Execute(ctx, json.RawMessage(input)); reply.Cause != nil {
					t.Errorf("%+v", reply)
				}
			}
		}()
	}
	all.Wait()
	if reply := execute(memory, `{"command": "view", "path": "/memories"}`); strings.Count(reply.Text, ".md") != 16 {
		t.Fatal(reply.Text)
	}
}

func TestCommandsOfAHookRunWithoutHooks(t *testing.T) {
	var memory *Memory
	calls := 0
	memory = open(t, "memory:", MemoryOptions{
		Before: func(ctx context.Context, command Command, _ *HookCall) (Decision, error) {
			calls++
			memory.Execute(ctx, json.RawMessage(`{"command": "create", "path": "/memories/log.md", "file_text": "x"}`))
			return Allow(), nil
		},
	})
	if reply := execute(memory, create); reply.IsError || calls != 1 {
		t.Fatalf("%+v, %d", reply, calls)
	}
	if reply := execute(memory, `{"command": "view", "path": "/memories"}`); !strings.Contains(reply.Text, "log.md") {
		t.Fatal(reply.Text)
	}
}

func TestAHookLearnsWhoActsAndWhatWouldChange(t *testing.T) {
	var shown []string
	meanwhile := func() {}
	memory := open(t, "memory:", MemoryOptions{
		Before: func(ctx context.Context, command Command, call *HookCall) (Decision, error) {
			diff, err := call.Diff(ctx)
			shown = append(shown, call.Actor+" "+call.ToolUseID+" "+diff)
			meanwhile()
			return Allow(), err
		},
	})
	ann, err := memory.ActingAs("ann")
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	block := `{"type": "tool_use", "id": "toolu_1", "name": "memory", "input": {"command": "create", "path": "/memories/a", "file_text": "one\n"}}`
	if reply := execute(ann, block); reply.IsError {
		t.Fatalf("%+v", reply)
	}
	if len(shown) != 1 || shown[0] != "ann toolu_1 --- /dev/null\n+++ /memories/a\n@@ -0,0 +1 @@\n+one\n" {
		t.Fatalf("%q", shown)
	}
	meanwhile = func() {
		if err := memory.Write(context.Background(), "/memories/a", "two\n"); err != nil {
			t.Fatal(err)
		}
	}
	if reply := execute(ann, `{"command": "delete", "path": "/memories/a"}`); reply.Kind != ErrorChanged {
		t.Fatalf("%+v", reply)
	}
	meanwhile = func() {}
	if reply := execute(ann, `{"command": "delete", "path": "/memories/none"}`); reply.Kind != ErrorNotFound {
		t.Fatalf("%+v", reply)
	}
	if text, err := memory.Read(context.Background(), "/memories/a"); err != nil || text != "two\n" {
		t.Fatal(text, err)
	}
}

func TestACallThatIsCancelledDuringBeforeIsCancelled(t *testing.T) {
	mine := errors.New("no answer")
	for name, decide := range map[string]func(ctx context.Context) (Decision, error){
		"allow":   func(context.Context) (Decision, error) { return Allow(), nil },
		"replace": func(context.Context) (Decision, error) { return Replace("two\n"), nil },
		"deny":    func(context.Context) (Decision, error) { return Deny("No."), nil },
		"fail":    func(ctx context.Context) (Decision, error) { return Allow(), ctx.Err() },
		"diff":    nil,
	} {
		// Often, because the context tells the library in a goroutine of its own.
		for range 50 {
			ctx, cancel := context.WithCancelCause(context.Background())
			var told []Outcome
			memory := open(t, "memory:", MemoryOptions{
				Before: func(ctx context.Context, _ Command, call *HookCall) (Decision, error) {
					cancel(mine)
					if decide != nil {
						return decide(ctx)
					}
					_, err := call.Diff(ctx)
					return Allow(), err
				},
				After: func(_ context.Context, event Event) { told = append(told, event.Outcome) },
			})
			reply := memory.Execute(ctx, json.RawMessage(create))
			if reply.Kind != ErrorCancelled || !errors.Is(reply.Cause, mine) || !reflect.DeepEqual(told, []Outcome{OutcomeCancelled}) {
				t.Fatalf("%s: %+v, %v", name, reply, told)
			}
			if exists, err := memory.Exists(context.Background(), "/memories/a.md"); exists || err != nil {
				t.Fatal(name, exists, err)
			}
		}
	}
}

func TestBeforeIsNotAskedAboutACancelledCall(t *testing.T) {
	var told []Outcome
	memory := open(t, "memory:", MemoryOptions{
		Before: func(context.Context, Command, *HookCall) (Decision, error) {
			t.Error("asked")
			return Allow(), nil
		},
		After: func(_ context.Context, event Event) { told = append(told, event.Outcome) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if reply := memory.Execute(ctx, json.RawMessage(create)); reply.Kind != ErrorCancelled || !errors.Is(reply.Cause, context.Canceled) {
		t.Errorf("%+v", reply)
	}
	if !reflect.DeepEqual(told, []Outcome{OutcomeCancelled}) {
		t.Error(told)
	}
}

func TestADiffIsShownBeforeTheDecision(t *testing.T) {
	var kept *HookCall
	memory := open(t, "memory:", MemoryOptions{Before: func(_ context.Context, _ Command, call *HookCall) (Decision, error) {
		kept = call
		return Allow(), nil
	}})
	execute(memory, create)
	failed := new(Error)
	if _, err := kept.Diff(context.Background()); !errors.As(err, &failed) || failed.Kind != KindHook || !strings.Contains(failed.Message, "before the hook Before returns") {
		t.Error(err)
	}
}

func TestAnEventIsTheSameAfterJSON(t *testing.T) {
	event := Event{Command: "view", Outcome: OutcomeOK, Duration: 1500 * time.Millisecond, ToolUseID: "toolu_1"}
	written, err := json.Marshal(event)
	var read Event
	if err != nil || !strings.Contains(string(written), `"duration":1.5`) || json.Unmarshal(written, &read) != nil || !reflect.DeepEqual(read, event) {
		t.Error(string(written), read, err)
	}
}

func TestAPanicOfAHookIsThePrograms(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{Before: func(context.Context, Command, *HookCall) (Decision, error) { panic("mine") }})
	defer func() {
		if recover() != "mine" {
			t.Fatal("another panic")
		}
	}()
	execute(memory, create)
}

func TestWrongOptionsAreNamed(t *testing.T) {
	for _, one := range []struct {
		options MemoryOptions
		option  string
	}{
		{MemoryOptions{MaxFiles: Of(-1)}, "max_files"},
		{MemoryOptions{LockTimeout: Of(-time.Second)}, "lock_timeout"},
		{MemoryOptions{OnExisting: "paint"}, "on_existing"},
		{MemoryOptions{ReadOnlyPaths: []string{"/etc"}}, "read_only_paths"},
		{MemoryOptions{EncryptionKey: "hex:zz"}, "encryption_key"},
		{MemoryOptions{SensitiveRules: map[string]string{"a": "("}}, "sensitive_rules"},
		{MemoryOptions{ReadOnly: true, ExpireAfter: Of(time.Hour)}, "expire_after"},
	} {
		_, err := Open("memory:", one.options)
		if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindConfig || failed.Option != one.option {
			t.Errorf("%s: %v", one.option, err)
		}
	}
	for _, address := range []string{"redis://", "a\x00b", "\xff"} {
		if memory, err := Open(address, MemoryOptions{}); err == nil {
			t.Errorf("%q: %v", address, memory)
		}
	}
}

func TestAnOptionThatIsNotSetIsNotSent(t *testing.T) {
	for _, one := range []struct {
		options MemoryOptions
		sent    string
	}{
		{MemoryOptions{}, `{}`},
		{MemoryOptions{MaxViewChars: None[int](), WritablePaths: []string{}}, `{"max_view_chars":null,"writable_paths":[]}`},
		{MemoryOptions{LockTimeout: Of(1500 * time.Millisecond)}, `{"lock_timeout":1.5}`},
	} {
		if sent, err := json.Marshal(one.options); err != nil || string(sent) != one.sent {
			t.Errorf("%s, %v", sent, err)
		}
	}
}

func TestAKeyIsNotShown(t *testing.T) {
	options := MemoryOptions{EncryptionKey: "s3cret"}
	for _, shown := range []string{fmt.Sprint(options), fmt.Sprintf("%+v", options), fmt.Sprintf("%#v", options)} {
		if strings.Contains(shown, "s3cret") {
			t.Error(shown)
		}
	}
	place := t.TempDir()
	memory := open(t, "dir:"+place, options)
	execute(memory, create)
	if _, err := Open("dir:"+place, MemoryOptions{EncryptionKey: "0ther"}); err == nil || strings.Contains(err.Error(), "0ther") {
		t.Fatal(err)
	}
}

func TestGoroutinesThatMakeTheFirstCallAtOnceGetOneKey(t *testing.T) {
	place := t.TempDir()
	for round := range 200 {
		file := filepath.Join(place, fmt.Sprint(round))
		var begin, done sync.WaitGroup
		begin.Add(1)
		keys := make([]EncryptionKey, 4)
		for i := range keys {
			done.Add(1)
			go func() {
				defer done.Done()
				begin.Wait()
				key, err := KeyFromFile(file)
				if err != nil {
					t.Error(err)
				}
				keys[i] = key
			}()
		}
		begin.Done()
		done.Wait()
		kept, err := os.ReadFile(file)
		if err != nil || len(kept) != 32 {
			t.Fatal(len(kept), err)
		}
		for _, key := range keys {
			if string(key) != fmt.Sprintf("hex:%x", kept) {
				t.Fatalf("round %d: %q", round, string(key))
			}
		}
	}
	if files, err := os.ReadDir(place); err != nil || len(files) != 200 {
		t.Fatal(len(files), err)
	}
}

func TestAFileThatHoldsNoKeyIsAnErrorAndStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "memory.key")
	if err := os.WriteFile(file, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	var failed *Error
	if _, err := KeyFromFile(file); !errors.As(err, &failed) || failed.Kind != KindConfig || failed.Option != "path" {
		t.Fatal(err)
	}
	if kept, _ := os.ReadFile(file); string(kept) != "short" {
		t.Fatal(kept)
	}
	for _, wrong := range []MemoryOptions{{EncryptNames: true}} {
		if _, err := Open("memory:", wrong); !errors.As(err, &failed) || failed.Option != "encrypt_names" {
			t.Fatal(err)
		}
	}
	if _, err := Open("", MemoryOptions{}); !errors.As(err, &failed) || failed.Kind != KindConfig {
		t.Fatal(err)
	}
}

// See tests/hostile.
func TestHostileInputsAreAnswered(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root(t), "tests/hostile/inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		JSON string `json:"json"`
	}
	if err := json.Unmarshal(table, &rows); err != nil || len(rows) == 0 {
		t.Fatal(err)
	}
	memory := open(t, "memory:", MemoryOptions{})
	long := strings.NewReplacer("@long@", strings.Repeat("x", 1_000_000), "@deep@", strings.Repeat("[", 100_000),
		"@digits@", strings.Repeat("9", 5_000), "@half@", `\ud800`)
	inputs := []string{"", "\x00", `{"command": "view", "path": "/memories"}` + "\x00", "\xff"}
	for _, row := range rows {
		inputs = append(inputs, long.Replace(row.JSON))
	}
	for _, input := range inputs {
		if reply := execute(memory, input); !reply.IsError || reply.Cause != nil || reply.Text == "" || len(reply.Text) > 50_000 {
			t.Errorf("%.100q: %.300q, %v", input, reply.Text, reply.Cause)
		}
	}
	if tree := readTree(t, memory); len(tree) != 0 {
		t.Fatal(tree)
	}
}

func TestOptionsAreThoseOfTheTable(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(root(t), "core/options.json"))
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Sections []struct {
			Options []struct {
				Name, Type string
				Languages  []string
			}
		}
	}
	if err := json.Unmarshal(table, &read); err != nil {
		t.Fatal(err)
	}
	fields := reflect.TypeFor[MemoryOptions]()
	names := map[string]bool{}
	for i := range fields.NumField() {
		names[strings.ToLower(fields.Field(i).Name)] = true
	}
	count := 0
	for _, section := range read.Sections {
		for _, option := range section.Options {
			if strings.Contains(strings.Join(option.Languages, " "), "go") {
				count++
				if !names[strings.ReplaceAll(option.Name, "_", "")] {
					t.Error(option.Name)
				}
			}
		}
	}
	if count != len(names) {
		t.Errorf("%d options in the table, and %d fields", count, len(names))
	}
}

func TestAProgramReadsAndWritesFilesItself(t *testing.T) {
	memory, ctx := open(t, "memory:", MemoryOptions{RecordAccess: true}), context.Background()
	if err := memory.Write(ctx, "/memories/tea/a.md", "# Tea\n- Green\n"); err != nil {
		t.Fatal(err)
	}
	text, err := memory.Read(ctx, "/memories/tea/a.md")
	if err != nil || text != "# Tea\n- Green\n" {
		t.Fatal(text, err)
	}
	err = memory.WriteIfUnchanged(ctx, "/memories/tea/a.md", "", "something else")
	if refused := new(Error); !errors.As(err, &refused) || refused.Kind != KindRefused {
		t.Fatal(err)
	}
	if err := memory.WriteIfUnchanged(ctx, "/memories/tea/a.md", text+"- Black\n", text); err != nil {
		t.Fatal(err)
	}
	listed, err := memory.List(ctx, "/memories", 0)
	if err != nil || len(listed) != 2 || !listed[0].IsDirectory() || listed[1].IsDirectory() || *listed[1].Size != 22 || time.Since(listed[1].Modified) > time.Minute {
		t.Fatal(listed, err)
	}
	if listed, err := memory.List(ctx, "/memories", 1); err != nil || len(listed) != 1 {
		t.Fatal(listed, err)
	}
	found, err := memory.Grep(ctx, "^- b", GrepOptions{Regex: true, IgnoreCase: true})
	if err != nil || !reflect.DeepEqual(found, []GrepMatch{{"/memories/tea/a.md", 3, "- Black"}}) {
		t.Fatal(found, err)
	}
	results, err := memory.Search(ctx, "which teas are black?", SearchOptions{Path: "/memories/tea", Limit: 3})
	if err != nil || len(results.Hits) != 1 || results.FilesLeftOut != 0 {
		t.Fatal(results, err)
	}
	hit := results.Hits[0]
	if hit.Path != "/memories/tea/a.md" || hit.Score <= 0 || time.Since(hit.Modified) > time.Minute {
		t.Fatal(hit)
	}
	passage := hit.Passages[0]
	last := passage.Matches[len(passage.Matches)-1]
	if passage.FirstLine != 1 || passage.LastLine != 3 || passage.Text[last.Start:last.End] != "Black" {
		t.Fatal(passage)
	}
	if index, err := memory.Index(ctx, 1000); err != nil || index != "/memories/tea/a.md\t22B\t# Tea\n" {
		t.Fatalf("%q, %v", index, err)
	}
	if there, err := memory.Exists(ctx, "/memories/b.md"); err != nil || there {
		t.Fatal(there, err)
	}
	if tools, err := memory.ToolDefinitions("openai", "memory_"); err != nil || !bytes.Contains(tools, []byte("memory_view")) {
		t.Fatalf("%s, %v", tools, err)
	}
}

func TestTheModelSearchesWithAToolOfItsOwn(t *testing.T) {
	memory, ctx := open(t, "memory:", MemoryOptions{}), context.Background()
	if err := memory.Write(ctx, "/memories/anna.md", "# Anna\n\n- likes green tea\n"); err != nil {
		t.Fatal(err)
	}
	reply := memory.ExecuteSearch(ctx, json.RawMessage(`{"query": "What does Anna like?", "limit": 3}`))
	found := "/memories/anna.md\n     1\t# Anna\n     2\t\n     3\t- likes green tea"
	if reply.Text != found || reply.IsError || reply.Cause != nil {
		t.Fatalf("%+v", reply)
	}
	reply = memory.ExecuteSearch(ctx, json.RawMessage(`{}`))
	missing := "Error: Missing `query` parameter for the `search` command: expected a string"
	if reply.Text != missing || !reply.IsError || reply.Kind != ErrorInvalid || reply.Cause != nil {
		t.Fatalf("%+v", reply)
	}
	if reply := memory.ExecuteSearch(ctx, json.RawMessage("{\x00}")); !reply.IsError {
		t.Fatalf("%+v", reply)
	}
	if reply := new(Memory).ExecuteSearch(ctx, json.RawMessage(`{"query": "tea"}`)); !reply.IsError || reply.Cause == nil {
		t.Fatalf("%+v", reply)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if reply := memory.ExecuteSearch(done, json.RawMessage(`{"query": "tea"}`)); reply.Cause == nil && reply.IsError {
		t.Fatalf("%+v", reply)
	}
	if tool, err := memory.SearchToolDefinition("openai", "memory_"); err != nil || !bytes.Contains(tool, []byte(`"memory_search"`)) {
		t.Fatalf("%s, %v", tool, err)
	}
	if _, err := memory.SearchToolDefinition("openai", "a b"); err == nil {
		t.Fatal("a prefix with a space")
	}
}

func TestAProjectIsLaidOutOnceAndViewsAreForgotten(t *testing.T) {
	memory, ctx := open(t, "memory:", MemoryOptions{StaleGuard: "strict"}), context.Background()
	project := Project{About: "Tea.", Features: []string{"a list", "a basket"}}
	made, err := memory.Bootstrap(ctx, project)
	if err != nil || !reflect.DeepEqual(made, []string{"/memories/progress.md", "/memories/features.md", "/memories/init.md"}) {
		t.Fatal(made, err)
	}
	text, err := memory.Read(ctx, "/memories/features.md")
	if err != nil || !strings.HasSuffix(text, "- [ ] a list\n- [ ] a basket\n") {
		t.Fatal(text, err)
	}
	if made, err := memory.Bootstrap(ctx, Project{}); err != nil || len(made) != 0 {
		t.Fatal(made, err)
	}
	insert := `{"command": "insert", "path": "/memories/init.md", "insert_line": 0, "insert_text": "x"}`
	view := `{"command": "view", "path": "/memories/init.md"}`
	for i, input := range []string{insert, view, insert, "", insert} {
		if input == "" {
			if err := memory.ForgetViews(); err != nil {
				t.Fatal(err)
			}
			continue
		}
		reply := memory.Execute(ctx, []byte(input))
		if refused := i == 0 || i == 4; reply.IsError != refused {
			t.Fatal(i, reply)
		}
	}
}

func TestAPanicOfTheLibraryIsAnError(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{})
	err := memory.call(context.Background(), "testing.panic", nil, nil)
	if failed := new(Error); !errors.As(err, &failed) || failed.Kind != KindInternal {
		t.Fatal(err)
	}
}
