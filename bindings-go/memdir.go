// Package memdir is the memory directory for agents that use Claude's memory tool: it executes the commands of the tool on a
// directory, a database or object storage.
//
//	memory, err := memdir.Open("./memory", memdir.MemoryOptions{})
//	if err != nil {
//		return err
//	}
//	defer memory.Close()
//	reply := memory.Execute(ctx, input) // the input of the tool_use
//
// The package memorytool makes a tool from it, for the tool runner of Anthropic's SDK.
//
// The package calls a library in Rust, which has to be installed: see docs/languages/go.md in the repository.
package memdir

/*
#cgo LDFLAGS: -lmemdir_c
#include "library.h"
*/
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// Memory is the memory directory of an agent. Many goroutines may use it concurrently. [Open], [OpenStore] and [OpenMounts]
// open one. Every call of a zero Memory returns an error that says so.
type Memory struct {
	number C.uint64_t
	close  func()
	shared
}

// shared is the state that a memory shares with its sessions.
type shared struct {
	options *MemoryOptions
	places  *places
	// True if some of its stores are the application's own.
	isOwn bool
}

// Open opens the store that the address names. A directory is created if it does not exist, and the files are in its
// "memories" directory. Other addresses are "dir:./notes" for the files of that very directory, "sqlite:agent.db",
// "postgres://…", "s3://…", "gs://…", "az://…", and "memory:" for a store in this process.
//
// The error is an [*Error] if the address or an option is wrong, or the store cannot be opened.
func Open(address string, options MemoryOptions) (*Memory, error) {
	set, err := options.marshal()
	if err != nil {
		return nil, err
	}
	inAddress, err := newText("address", address)
	if err != nil {
		return nil, err
	}
	defer inAddress.free()
	inOptions, err := newText("options", set)
	if err != nil {
		return nil, err
	}
	defer inOptions.free()
	var failed *C.char
	forAll.changing.acquire(context.Background())
	number := C.memdir_open(inAddress.c, inOptions.c, &failed)
	forAll.changing.release()
	if err := failure(failed); err != nil {
		return nil, err
	}
	return newMemory(number, shared{&options, forAll, false}), nil
}

// marshal writes the options as the library reads them.
func (o MemoryOptions) marshal() (string, error) {
	return marshal(struct {
		MemoryOptions
		// Replaces the field that redacts itself in JSON.
		EncryptionKey string `json:"encryption_key,omitzero"`
	}{o, string(o.EncryptionKey)}, KindConfig)
}

// KeyFromFile returns the key in a file, for the option EncryptionKey. If path does not exist, it generates a random key and
// writes it to a new file, which only its owner may read. If several goroutines or processes make the first call
// concurrently, all get the same key. The file is never overwritten. Do not lose it: without it the memory cannot be read.
//
// The error is an [*Error] if the file does not have exactly 32 bytes, or cannot be read or created.
func KeyFromFile(path string) (EncryptionKey, error) {
	in, err := newText("path", path)
	if err != nil {
		return "", err
	}
	defer in.free()
	var failed *C.char
	forAll.changing.acquire(context.Background())
	key := C.memdir_key_from_file(in.c, &failed)
	forAll.changing.release()
	if err := failure(failed); err != nil {
		return "", err
	}
	defer C.memdir_free(key)
	return EncryptionKey(C.GoString(key)), nil
}

// newMemory makes a memory for a number of the library.
func newMemory(number C.uint64_t, shared shared) *Memory {
	memory := &Memory{number: number, shared: shared}
	memory.close = sync.OnceFunc(func() { closeMemory(number) })
	// Closes a memory that the application did not close.
	runtime.AddCleanup(memory, closeMemory, number)
	return memory
}

// closeMemory does not queue behind changes: closing waits for no writer, and a cleanup must not block other cleanups.
func closeMemory(number C.uint64_t) {
	brief.acquire(context.Background())
	defer brief.release()
	C.memdir_close(number)
}

// Close closes the memory. Running calls finish, and later ones fail. Closing it again does nothing. The error is always
// nil.
func (m *Memory) Close() error {
	if m.unopened() == nil {
		m.close()
	}
	return nil
}

// unopened returns the error of a memory that was never opened.
func (m *Memory) unopened() error {
	if m != nil && m.number != 0 {
		return nil
	}
	return &Error{Kind: KindUsage, Message: "this Memory was not opened: use memdir.Open, OpenStore or OpenMounts"}
}

// Execute executes one tool call: input is the "input" of the tool_use, as the model sent it.
//
// A model's mistake is a reply with IsError. So are a broken store, a failed hook and a done context; the reply's Cause then
// has the details for you. A call that has not begun to write when the context is done changes nothing, and its reply says
// so. A call that has begun to write runs to its end.
func (m *Memory) Execute(ctx context.Context, input json.RawMessage) Reply {
	in, err := newText("input", string(input))
	if err != nil {
		in, _ = newText("input", invalidInput)
	}
	defer in.free()
	var failed *C.char
	if err := m.unopened(); err != nil {
		reply := newReply(C.memdir_execute(0, in.c, &failed), failed)
		reply.Cause = err
		return reply
	}
	defer runtime.KeepAlive(m)
	begun, number, done := m.begin(ctx, m.isOwn)
	defer done()
	if hooks := m.options.hooks(ctx); hooks != nil {
		return m.executeWith(begun, number, hooks, in, m.places.of(input))
	}
	defer enter(ctx, m.places.of(input), number)()
	reply := newReply(C.memdir_execute(number, in.c, &failed), failed)
	reply.Cause = begun.explain(reply.Cause, nil)
	return reply
}

// ExecuteSearch executes one call of the search by a model, a tool beside the memory tool that [Memory.SearchToolDefinition]
// declares. The input has "query", and optionally "path" and "limit", the most files (1 to 20, 5 without it).
//
// The text of the reply has the paths of the best files, and their best passages with the line numbers that a view shows. A
// model's mistake is a reply with IsError, as for [Memory.Execute]. The hooks are not called.
func (m *Memory) ExecuteSearch(ctx context.Context, input json.RawMessage) Reply {
	in, err := newText("input", string(input))
	if err != nil {
		in, _ = newText("input", invalidInput)
	}
	defer in.free()
	var failed *C.char
	if err := m.unopened(); err != nil {
		reply := newReply(C.memdir_execute_search(0, in.c, &failed), failed)
		reply.Cause = err
		return reply
	}
	defer runtime.KeepAlive(m)
	begun, number, done := m.begin(ctx, m.isOwn)
	defer done()
	defer enter(ctx, m.places.viewing, number)()
	reply := newReply(C.memdir_execute_search(number, in.c, &failed), failed)
	reply.Cause = begun.explain(reply.Cause, nil)
	return reply
}

// JSON and C strings cannot contain a NUL byte. Its replacement is not valid JSON, either.
const invalidInput = "\x01"

// Clear deletes everything below /memories. The model cannot call it, and no policy applies. With a history, the history
// keeps all contents; [Memory.Erase] removes the history, too.
func (m *Memory) Clear(ctx context.Context) error {
	return m.call(ctx, "clear", nil, nil)
}

// Expire removes the files that were not used for olderThan, and returns them in the order of their paths. With dryRun it
// only returns them. It needs the option RecordAccess or ExpireAfter. The model cannot call it.
func (m *Memory) Expire(ctx context.Context, olderThan time.Duration, dryRun bool) ([]Expired, error) {
	var expired []Expired
	arguments := map[string]any{"older_than": olderThan.Seconds(), "dry_run": dryRun}
	err := m.call(ctx, "expire", arguments, &expired)
	return expired, err
}

// LibraryVersion is the version of the library, such as "0.1.0".
func LibraryVersion() string {
	return C.GoString(C.memdir_version())
}

// call executes an operation other than a tool call, and decodes its result.
func (m *Memory) call(ctx context.Context, operation string, arguments, result any) error {
	if err := m.unopened(); err != nil {
		return err
	}
	return m.callWith(ctx, m, operation, arguments, result)
}

// callWith is call for an operation that uses the stores of another memory as well.
func (m *Memory) callWith(ctx context.Context, other *Memory, operation string, arguments, result any) error {
	given, err := marshal(arguments, KindUsage)
	if err != nil {
		return err
	}
	inOperation, err := newText("operation", operation)
	if err != nil {
		return err
	}
	defer inOperation.free()
	inArguments, err := newText("arguments", given)
	if err != nil {
		return err
	}
	defer inArguments.free()
	defer runtime.KeepAlive(m)
	begun, number, done := m.begin(ctx, m.isOwn || other.isOwn)
	defer done()
	limit := m.places.ofOperation(operation)
	if !m.isOwn {
		// A store of the application may call memories that share their slots with this one.
		limit = other.places.ofOperation(operation)
	}
	if !limit.acquire(ctx) {
		cancelled := &Error{Kind: KindCancelled, ReplyKind: ErrorCancelled, Message: "the call was cancelled before it began"}
		return begun.explain(cancelled, nil)
	}
	defer limit.release()
	var failed *C.char
	made := C.memdir_call(number, inOperation.c, inArguments.c, &failed)
	text, err := taken(made), begun.explain(failure(failed), nil)
	if err != nil || result == nil {
		return err
	}
	return json.Unmarshal([]byte(text), result)
}

// text is a C string for the library.
type text struct{ c *C.char }

func newText(name, value string) (text, error) {
	for i := range len(value) {
		if value[i] == 0 {
			return text{}, &Error{Kind: KindConfig, Message: name + " has a NUL byte"}
		}
	}
	return text{C.CString(value)}, nil
}

func (t text) free() { C.free(unsafe.Pointer(t.c)) }

// taken copies and frees a text that the library made.
func taken(made *C.char) string {
	defer C.memdir_free(made)
	return C.GoString(made)
}

// failure decodes the error of the library; nil if there is none.
func failure(made *C.char) error {
	if made == nil {
		return nil
	}
	var read struct {
		Error
		Own     uint64 `json:"own"`
		GivenUp bool   `json:"given_up"`
	}
	if err := json.Unmarshal([]byte(taken(made)), &read); err != nil {
		return errors.Join(errors.New("memdir: the library's error cannot be read"), err)
	}
	failed := read.Error
	failed.own, failed.givenUp = read.Own, read.GivenUp
	return &failed
}
