package memdir

// Every case of tests/cases, on each kind of store.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// opened is a fresh memory, a memory on the same store without options, and the store's location on this machine.
type opened struct {
	memory, store *Memory
	place         string
}

func TestConformanceMemory(t *testing.T) {
	run(t, "go-memory", func(t *testing.T, options MemoryOptions) opened {
		memory := open(t, "memory:", options)
		return opened{memory, memory, ""}
	})
}

func TestConformanceLocal(t *testing.T) {
	run(t, "go-local", func(t *testing.T, options MemoryOptions) opened {
		place := t.TempDir()
		return opened{open(t, place, options), open(t, place, MemoryOptions{}), place}
	})
}

func TestConformanceSqlite(t *testing.T) {
	run(t, "go-sqlite", func(t *testing.T, options MemoryOptions) opened {
		address := "sqlite:" + filepath.Join(t.TempDir(), "agent.db")
		return opened{open(t, address, options), open(t, address, MemoryOptions{}), ""}
	})
}

func TestConformanceStore(t *testing.T) {
	run(t, "go-store", func(t *testing.T, options MemoryOptions) opened {
		store := newOwnStore()
		return opened{openStore(t, store, options), openStore(t, store, MemoryOptions{}), ""}
	})
}

func openStore(t *testing.T, store Store, options MemoryOptions) *Memory {
	t.Helper()
	memory, err := OpenStore(store, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	return memory
}

func open(t *testing.T, address string, options MemoryOptions) *Memory {
	t.Helper()
	memory, err := Open(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = memory.Close() })
	return memory
}

func run(t *testing.T, runner string, open func(*testing.T, MemoryOptions) opened) {
	counts := filepath.Join(root(t), "target/conformance", runner)
	if err := os.MkdirAll(filepath.Dir(counts), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(counts); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	cases, steps := loadCases(t), 0
	for _, one := range cases {
		t.Run(one.file+"/"+one.Name, func(t *testing.T) {
			runCase(t, one, open)
			steps += len(one.Steps)
		})
	}
	if t.Failed() {
		return
	}
	if err := os.WriteFile(counts, fmt.Appendf(nil, "%d %d\n", len(cases), steps), 0o666); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("conformance: %s: %d cases, %d steps\n", runner, len(cases), steps)
}

func runCase(t *testing.T, one *conformanceCase, open func(*testing.T, MemoryOptions) opened) {
	options, told := optionsOf(t, one.Options), []Event(nil)
	if one.Hooks != nil {
		options.Before = func(_ context.Context, command Command, _ *HookCall) (Decision, error) {
			return decision(one.Hooks.Before, command)
		}
		options.After = func(_ context.Context, event Event) { told = append(told, event) }
	}
	opened := open(t, options)
	write(t, opened.store, one.Given.tree)
	before := readTree(t, opened.store)
	if !sameTree(one.Given.tree.shown(), before) {
		t.Fatalf("what is given is not what the store holds: %v", before)
	}
	for number, step := range one.Steps {
		where := fmt.Sprintf("step %d", number+1)
		if step.Content == nil {
			upkeep(t, where, &step, opened)
			before = readTree(t, opened.store)
			continue
		}
		input, err := json.Marshal(step.Input.value)
		if err != nil {
			t.Fatal(err)
		}
		reply := opened.memory.Execute(context.Background(), input)
		cause := reply.Cause
		reply.Cause = nil
		if (reply.Kind != "") != step.IsError {
			t.Fatalf("%s: the kind of error is %q", where, reply.Kind)
		}
		if step.Kind == "" {
			reply.Kind = ""
		}
		if expected := step.expectedReply(t); !reflect.DeepEqual(reply, expected) {
			t.Fatalf("%s: %.300s\nexpected %.600q\ngot      %.600q", where, input, expected.Text, reply.Text)
		}
		checkEvent(t, where, &step, told, cause)
		told = nil
		if opened.place != "" && strings.Contains(reply.Text, opened.place) {
			t.Fatalf("%s: the reply says where the store is: %s", where, reply.Text)
		}
		after := readTree(t, opened.store)
		command, _ := step.Input.value.(map[string]any)
		if !step.Expires && (step.IsError || command["command"] == "view") && !sameTree(before, after) {
			t.Fatalf("%s: %.300s changed something: %v", where, input, after)
		}
		before = after
	}
	if one.Then.given && !sameTree(one.Then.tree.shown(), before) {
		t.Fatalf("after the last step: %v", before)
	}
	if err := opened.memory.Clear(context.Background()); err != nil {
		t.Fatal(err)
	}
	if left := readTree(t, opened.store); len(left) != 0 {
		t.Fatalf("after clearing: %v", left)
	}
}

// decision returns the decision of the first rule that matches.
func decision(rules []rule, command Command) (Decision, error) {
	written, err := json.Marshal(command)
	if err != nil {
		return Decision{}, err
	}
	var fields expanded
	if err := json.Unmarshal(written, &fields); err != nil {
		return Decision{}, err
	}
	for _, rule := range rules {
		matches := true
		for name, wanted := range rule.When.value.(map[string]any) {
			matches = matches && reflect.DeepEqual(fields.value.(map[string]any)[name], wanted)
		}
		switch {
		case !matches:
			continue
		case rule.Deny != nil:
			return Deny(rule.Deny.text()), nil
		case rule.Fail != nil:
			return Decision{}, errors.New(rule.Fail.text())
		}
		text := map[string]string{
			"create": command.FileText, "str_replace": command.NewStr, "insert": command.InsertText,
		}[command.Command]
		return Replace(strings.ReplaceAll(text, rule.Replace[0].text(), rule.Replace[1].text())), nil
	}
	return Allow(), nil
}

func checkEvent(t *testing.T, where string, step *step, told []Event, cause error) {
	t.Helper()
	if step.Event.value == nil {
		if len(told) != 0 || cause != nil {
			t.Fatalf("%s: told %v, %v", where, told, cause)
		}
		return
	}
	if len(told) != 1 || told[0].Duration <= 0 {
		t.Fatalf("%s: told %v", where, told)
	}
	written, err := json.Marshal(step.Event.value)
	if err != nil {
		t.Fatal(err)
	}
	expected := Event{Duration: told[0].Duration, Repairs: []string{}, Session: told[0].Session}
	if err := json.Unmarshal(written, &expected); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(told[0], expected) {
		t.Fatalf("%s: expected %+v\ngot %+v", where, expected, told[0])
	}
	if (expected.Outcome == "failed") != (cause != nil) {
		t.Fatalf("%s: the cause is %v", where, cause)
	}
}

// upkeep executes a step that is not a tool call.
func upkeep(t *testing.T, where string, step *step, opened opened) {
	t.Helper()
	switch ctx := context.Background(); {
	case step.Meanwhile.given:
		write(t, opened.store, step.Meanwhile.tree)
	case step.Age != nil:
		for path, seconds := range step.Age {
			arguments := map[string]any{"path": path, "seconds": seconds}
			if err := opened.store.call(ctx, "testing.age", arguments, nil); err != nil {
				t.Fatal(where, err)
			}
		}
	case step.Expire != nil:
		olderThan := time.Duration(step.Expire.OlderThan * float64(time.Second))
		expired, err := opened.memory.Expire(ctx, olderThan, step.Expire.DryRun)
		if refused := new(Error); step.Refused != (errors.As(err, &refused) && refused.Kind == KindConfig) {
			t.Fatal(where, err)
		}
		removed := []string{}
		for _, file := range expired {
			removed = append(removed, file.Path)
		}
		if !step.Refused && !reflect.DeepEqual(removed, step.Removed) {
			t.Fatalf("%s: removed %v, not %v", where, removed, step.Removed)
		}
	default:
		t.Fatalf("%s is not in the format", where)
	}
}

// write puts a tree into the store, and overwrites existing files.
func write(t *testing.T, store *Memory, tree tree) {
	t.Helper()
	for path, content := range tree {
		arguments := map[string]any{"path": path, "base64": content}
		if err := store.call(context.Background(), "testing.write", arguments, nil); err != nil {
			t.Fatal(path, err)
		}
	}
}

func readTree(t *testing.T, store *Memory) tree {
	t.Helper()
	var read tree
	if err := store.call(context.Background(), "testing.tree", nil, &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func sameTree(one, other tree) bool {
	return len(one) == 0 && len(other) == 0 || reflect.DeepEqual(one, other)
}
