package memdir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

const notText = "user-\xfe"

func TestTextThatIsNotUTF8IsRefusedAndNothingIsChanged(t *testing.T) {
	ctx := context.Background()
	memory := open(t, "memory:", MemoryOptions{RecordAccess: true, History: true})
	if err := memory.Write(ctx, "/memories/a", "x"); err != nil {
		t.Fatal(err)
	}
	before, err := memory.List(ctx, "/memories", 9)
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"text": func() error { return memory.Write(ctx, "/memories/b", notText) },
		"path": func() error { return memory.Write(ctx, "/memories/"+notText, "x") },
		"read": func() error { _, err := memory.Read(ctx, "/memories/"+notText); return err },
	} {
		var failed *Error
		if err := call(); !errors.As(err, &failed) || failed.Kind != KindUsage || !strings.Contains(failed.Message, "UTF-8") {
			t.Errorf("%s: %v", name, err)
		}
	}
	input := json.RawMessage(`{"command": "create", "path": "/memories/c", "file_text": "` + notText + `"}`)
	if reply := memory.Execute(ctx, input); !reply.IsError {
		t.Errorf("%+v", reply)
	}
	if after, err := memory.List(ctx, "/memories", 9); err != nil || len(after) != len(before) {
		t.Errorf("%v, %v", after, err)
	}
}

func TestOptionsThatAreNotUTF8AreRefused(t *testing.T) {
	for option, options := range map[string]MemoryOptions{
		"encryption_key":  {EncryptionKey: notText},
		"actor":           {Actor: notText},
		"namespace":       {Namespace: notText},
		"read_only_paths": {ReadOnlyPaths: []string{"/memories/a", "/memories/" + notText}},
		"sensitive_rules": {SensitiveRules: map[string]string{"name": notText}},
	} {
		_, err := Open("memory:", options)
		var failed *Error
		if !errors.As(err, &failed) || failed.Kind != KindConfig || failed.Option != option || strings.Contains(failed.Message, "\xfe") {
			t.Errorf("%s: %#v", option, err)
		}
	}
	if _, err := Open("memory:"+notText, MemoryOptions{}); err == nil {
		t.Error("the address was taken")
	}
}

func TestADecisionThatIsNotUTF8FailsTheCommand(t *testing.T) {
	for _, decision := range []Decision{Deny(notText), Replace(notText)} {
		memory := open(t, "memory:", MemoryOptions{
			Before: func(context.Context, Command, *HookCall) (Decision, error) { return decision, nil },
		})
		reply := execute(memory, create)
		if !reply.IsError || reply.Cause == nil || !strings.Contains(reply.Cause.Error(), "UTF-8") {
			t.Errorf("%+v", reply)
		}
		if listed, err := memory.List(context.Background(), "/memories", 9); err != nil || len(listed) != 0 {
			t.Errorf("%v, %v", listed, err)
		}
	}
}

func TestAKeyIsShownByNothing(t *testing.T) {
	options := MemoryOptions{EncryptionKey: "a secret passphrase"}
	var shown bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&shown, nil), slog.NewJSONHandler(&shown, nil)} {
		slog.New(handler).Info("opened", "key", options.EncryptionKey, "options", struct{ Key EncryptionKey }{options.EncryptionKey})
	}
	fmt.Fprintf(&shown, "%v %+v %#v %s", options, options, options, options.EncryptionKey)
	if strings.Contains(shown.String(), "secret") {
		t.Error(shown.String())
	}
}
