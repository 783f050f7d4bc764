package memdir

// Hooks: your own code before and after each command.

// #include "library.h"
import "C"

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"
)

// Command is a command of the model. Its paths are validated and canonical. Fields that a command does not have are empty.
type Command struct {
	Command    string `json:"command"`
	Path       string `json:"path"`
	ViewRange  []int  `json:"view_range"`
	FileText   string `json:"file_text"`
	OldStr     string `json:"old_str"`
	NewStr     string `json:"new_str"`
	InsertLine int    `json:"insert_line"`
	InsertText string `json:"insert_text"`
	OldPath    string `json:"old_path"`
	NewPath    string `json:"new_path"`
}

// HookCall describes a call, beyond its command, to the hook Before. It is valid until the hook returns.
type HookCall struct {
	// Actor is the actor of [Memory.ActingAs], or else the option Actor; empty if neither is set.
	Actor string `json:"actor"`
	// Session is the session. Each memory has its own, and so has each result of ActingAs.
	Session string `json:"session"`
	// ToolUseID is the id of the tool_use block; empty if the input was not a whole block.
	ToolUseID string `json:"tool_use_id"`

	pending C.uint64_t
	call    *call
	places  *places
	// True once the hook has returned.
	isDecided atomic.Bool
}

// Diff returns what the command would change, as a unified diff of the texts as they would be stored; empty for a view. It
// reads the file or lists the directory, and is not recorded as a view or as use.
//
// An approval applies to this diff. If its basis has changed when the command is executed, nothing is changed, and the model
// reads that it has to view the file again. If the command would be refused, the error is an [*Error] with that kind. Return
// it, and the command is refused with the same sentence.
func (c *HookCall) Diff(ctx context.Context) (string, error) {
	if c == nil || c.call == nil {
		return "", &Error{Kind: KindUsage, Message: "this HookCall is not the one that the hook Before got"}
	}
	if c.isDecided.Load() {
		return "", &Error{Kind: KindHook, ReplyKind: ErrorHookFailed, Message: "ask for the diff before the hook Before returns"}
	}
	if !c.places.viewing.acquire(ctx) {
		return "", context.Cause(ctx)
	}
	defer c.places.viewing.release()
	var failed *C.char
	made := C.memdir_hook_diff(c.pending, &failed)
	text, err := taken(made), c.call.explain(failure(failed), nil)
	if err != nil {
		return "", err
	}
	var diff string
	err = json.Unmarshal([]byte(text), &diff)
	return diff, err
}

// MarshalJSON writes the event with its duration in seconds, as in every other language.
func (e Event) MarshalJSON() ([]byte, error) {
	type fields Event
	return json.Marshal(struct {
		fields
		Duration float64 `json:"duration"`
	}{fields(e), e.Duration.Seconds()})
}

// UnmarshalJSON reads the format that [Event.MarshalJSON] writes.
func (e *Event) UnmarshalJSON(written []byte) error {
	type fields Event
	read := struct {
		*fields
		Duration *float64 `json:"duration"`
	}{fields: (*fields)(e)}
	if err := json.Unmarshal(written, &read); err != nil {
		return err
	}
	if read.Duration != nil {
		e.Duration = time.Duration(*read.Duration * float64(time.Second))
	}
	return nil
}

// Decision is the decision of the hook Before. Its zero value allows the command.
type Decision struct {
	Deny    *string `json:"deny,omitempty"`
	Replace *string `json:"replace,omitempty"`
}

// Allow allows the command.
func Allow() Decision { return Decision{} }

// Deny refuses the command with this sentence for the model.
func Deny(sentence string) Decision { return Decision{Deny: &sentence} }

// Replace makes the command write this text instead of its file_text, new_str or insert_text.
func Replace(text string) Decision { return Decision{Replace: &text} }

// hooksOf marks the context of a hook. Commands that the hook executes with it on the same memory run without hooks, for
// every actor of the memory.
type hooksOf struct{ options *MemoryOptions }

// hooks returns the hooks for a call of the memory; nil if there are none, or if one of them makes the call.
func (o *MemoryOptions) hooks(ctx context.Context) *MemoryOptions {
	if (o.Before == nil && o.After == nil) || ctx.Value(hooksOf{o}) != nil {
		return nil
	}
	return o
}

// executeWith is Execute with hooks around the command.
func (m *Memory) executeWith(begun *call, number C.uint64_t, hooks *MemoryOptions, in text, limit *semaphore) Reply {
	ctx := begun.ctx
	inside := context.WithValue(ctx, hooksOf{hooks}, true)
	var pending C.uint64_t
	brief.acquire(context.Background())
	command := taken(C.memdir_begin(number, in.c, &pending, nil))
	brief.release()
	var reply, happened, failed *C.char
	var raised error
	if pending == 0 {
		// The memory is closed, and this call returns that error.
		reply = C.memdir_execute(number, in.c, &failed)
		return newReply(reply, failed)
	}
	func() {
		decision := `{"fail": "the hook Before panicked"}`
		// Deferred, so the call is finished even if the hook panics.
		defer func() {
			// JSON cannot contain a NUL byte.
			decided, _ := newText("decision", decision)
			defer decided.free()
			// Entered only now, because the hook may use the memory itself.
			defer enter(ctx, limit, number)()
			// Cancelled here because AfterFunc runs in a goroutine, which may start late.
			if ctx.Err() != nil {
				C.memdir_cancel(number)
			}
			reply = C.memdir_finish(pending, decided.c, &happened, &failed)
		}()
		if ctx.Err() != nil {
			// The call comes to nothing, so there is nothing to decide.
			decision = "null"
			return
		}
		call := &HookCall{pending: pending, call: begun, places: m.places}
		decision, raised = decide(inside, hooks, command, call)
	}()
	event := taken(happened)
	answer := newReply(reply, failed)
	answer.Cause = begun.explain(answer.Cause, raised)
	if hooks.After != nil && event != "" {
		var told Event
		if err := json.Unmarshal([]byte(event), &told); err == nil {
			hooks.After(inside, told)
		}
	}
	return answer
}

// runHooks runs the hooks about a change of a sync, and makes it if they allow it. The error is that of Before.
func runHooks(ctx context.Context, hooks *MemoryOptions, pending C.uint64_t, command string) error {
	inside := context.WithValue(ctx, hooksOf{hooks}, true)
	decision, raised := `{"fail": "the hook Before panicked"}`, error(nil)
	var happened, failed *C.char
	func() {
		// Deferred, so the call is finished even if the hook panics.
		defer func() {
			// JSON cannot contain a NUL byte.
			decided, _ := newText("decision", decision)
			defer decided.free()
			taken(C.memdir_finish(pending, decided.c, &happened, &failed))
		}()
		asked := &HookCall{pending: pending, call: &call{ctx: ctx}, places: newPlaces(1)}
		if command == "null" {
			command = ""
		}
		decision, raised = decide(inside, hooks, command, asked)
	}()
	var told Event
	if err := json.Unmarshal([]byte(taken(happened)), &told); err != nil {
		return failure(failed)
	}
	if hooks.After != nil {
		hooks.After(inside, told)
	}
	if told.Outcome != OutcomeFailed {
		// The hook may have returned the refusal of the diff.
		return nil
	}
	return raised
}

// decide calls the hook, and writes its decision as the library reads it. The error is the hook's.
func decide(ctx context.Context, hooks *MemoryOptions, command string, call *HookCall) (string, error) {
	if hooks.Before == nil || command == "" {
		return "null", nil
	}
	var asked Command
	decision, err := Decision{}, json.Unmarshal([]byte(command), &asked)
	if err == nil {
		var failed *C.char
		known := taken(C.memdir_hook_call(call.pending, &failed))
		if err = failure(failed); err == nil {
			err = json.Unmarshal([]byte(known), call)
		}
		if err == nil {
			defer call.isDecided.Store(true)
			decision, err = hooks.Before(ctx, asked, call)
		}
	}
	if err == nil && decision == (Decision{}) {
		return "null", nil
	}
	if err == nil {
		var written string
		if written, err = marshal(decision, KindHook); err == nil {
			return written, nil
		}
	}
	// The failure is for a log, where a replaced byte does no harm.
	written, _ := json.Marshal(map[string]string{"fail": err.Error()})
	return string(written), err
}
