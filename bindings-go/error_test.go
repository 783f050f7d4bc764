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
