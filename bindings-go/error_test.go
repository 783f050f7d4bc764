package memdir

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"testing"
	"time"
)

func TestAnErrorIsWhatTheStandardLibraryCallsIt(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{ReadOnlyPaths: []string{"/memories/fixed"}})
	ctx := context.Background()
	_, missing := memory.Read(ctx, "/memories/none.md")
	forbidden := memory.Write(ctx, "/memories/fixed/a.md", "x")
	for _, one := range []struct {
		err  error
		kind ErrorKind
		is   error
	}{{missing, ErrorNotFound, fs.ErrNotExist}, {forbidden, ErrorReadOnly, fs.ErrPermission}} {
		failed := new(Error)
		if !errors.As(one.err, &failed) || failed.ReplyKind != one.kind || !errors.Is(one.err, one.is) {
			t.Errorf("%#v", one.err)
		}
		if errors.Is(one.err, fs.ErrExist) || errors.Is(one.err, context.Canceled) {
			t.Errorf("%#v", one.err)
		}
	}
}

// The JSON of a reply is what a model may read.
func TestTheJSONOfAReplyHasNoCause(t *testing.T) {
	memory := open(t, "memory:", MemoryOptions{Before: func(context.Context, Command, *HookCall) (Decision, error) {
		return Decision{}, &Error{Kind: KindStore, Message: "/srv/secret"}
	}})
	written, err := json.Marshal(execute(memory, create))
	expected := `{"text":"Error: The command was not carried out, because the program that runs this memory could not check it. ` +
		`Nothing was changed; try again later.","image":null,"is_error":true,"kind":"hook_failed"}`
	if err != nil || string(written) != expected {
		t.Error(string(written), err)
	}
}

func TestAnErrorHasItsCause(t *testing.T) {
	own := errors.New("out of order")
	memory := open(t, "memory:", MemoryOptions{Before: func(context.Context, Command, *HookCall) (Decision, error) {
		return Decision{}, own
	}})
	reply := memory.Execute(context.Background(), json.RawMessage(create))
	if reply.Kind != ErrorHookFailed || !errors.Is(reply.Cause, own) {
		t.Errorf("%+v", reply)
	}
	plain := open(t, "memory:", MemoryOptions{})
	ctx, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	reply = plain.Execute(ctx, json.RawMessage(create))
	if reply.Kind != ErrorCancelled || !errors.Is(reply.Cause, context.DeadlineExceeded) {
		t.Errorf("%+v", reply)
	}
	if errors.Is(reply.Cause, context.Canceled) {
		t.Errorf("%+v", reply)
	}
}
