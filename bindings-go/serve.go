package memdir

// How the library calls a store of the application. Each request is answered in its own goroutine, so a call whose context is
// done does not wait for it.

/*
#include "library.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"
	"unsafe"
)

// servedStores are the stores, factories, embedders, mergers and hooks that the library knows, by their numbers in the library.
var (
	servedStores sync.Map
	lastServed   atomic.Uint64
)

// servedStore is a store that the library calls, a factory of stores, an embedder, a merger, or the hooks of a memory in a sync.
type servedStore struct {
	number   uint64
	store    Store
	factory  func() (Store, error)
	embedder Embedder
	merger   MergeFunc
	hooks    *MemoryOptions
	// The call that opens a memory on it. Such a call has no number.
	opening atomic.Pointer[call]
}

func serveStore(store Store) *servedStore {
	served := &servedStore{number: lastServed.Add(1), store: store}
	servedStores.Store(served.number, served)
	return served
}

func serveFactory(factory func() (Store, error), checking *call) uint64 {
	served := &servedStore{number: lastServed.Add(1), factory: factory}
	served.opening.Store(checking)
	servedStores.Store(served.number, served)
	return served.number
}

func serveEmbedder(embedder Embedder) uint64 {
	served := &servedStore{number: lastServed.Add(1), embedder: embedder}
	servedStores.Store(served.number, served)
	return served.number
}

func serveMerger(merger MergeFunc) uint64 {
	served := &servedStore{number: lastServed.Add(1), merger: merger}
	servedStores.Store(served.number, served)
	return served.number
}

func serveHooks(hooks *MemoryOptions) uint64 {
	served := &servedStore{number: lastServed.Add(1), hooks: hooks}
	servedStores.Store(served.number, served)
	return served.number
}

//export memdirGoRelease
func memdirGoRelease(store C.uint64_t) { servedStores.Delete(uint64(store)) }

//export memdirGoServe
func memdirGoServe(store, request C.uint64_t, asked *C.memdir_go_text, content *C.memdir_go_bytes, length C.size_t) {
	question := []byte(C.GoString((*C.char)(asked)))
	given := bytes.Clone(unsafe.Slice((*byte)(content), length))
	go serve(uint64(store), &servedRequest{number: request}, question, given)
}

// asked is a request of the library, as the library writes it.
type asked struct {
	Operation string    `json:"operation"`
	Path      string    `json:"path"`
	Call      uint64    `json:"call"`
	ToTheEnd  bool      `json:"to_the_end"`
	Overwrite bool      `json:"overwrite"`
	To        string    `json:"to"`
	Depth     int       `json:"depth"`
	Time      time.Time `json:"time"`
	Since     time.Time `json:"since"`
	Texts     []string  `json:"texts"`
	IsQuery   bool      `json:"is_query"`
	// The change of a sync that the hooks decide about.
	Pending uint64          `json:"pending"`
	Command json.RawMessage `json:"command"`
	// The file of a conflict.
	SyncMerge
}

// servedRequest is a request until it is answered.
type servedRequest struct {
	number C.uint64_t
	mutex  sync.Mutex
	// True once the request is answered. The library may then free the memory that it lent for an edit.
	isAnswered bool
}

// serve answers a request.
func serve(store uint64, request *servedRequest, written, content []byte) {
	var asked asked
	if err := json.Unmarshal(written, &asked); err != nil {
		request.answer(map[string]any{"failed": err.Error()}, nil)
		return
	}
	found, _ := servedStores.Load(store)
	served, _ := found.(*servedStore)
	if served == nil {
		// The library has released the store, and does not wait for an answer.
		request.answer(map[string]any{"errno": "ECANCELED"}, nil)
		return
	}
	call := served.callOf(&asked)
	ctx := call.ctx
	if asked.ToTheEnd {
		ctx = context.WithoutCancel(ctx)
	}
	if ctx.Err() != nil {
		// Nothing has begun, so it is certain that nothing was changed.
		C.memdir_cancel(C.uint64_t(asked.Call))
		request.answer(map[string]any{"errno": "ECANCELED"}, nil)
		return
	}
	var result any
	var returned []byte
	err := error(&PanicError{})
	// Deferred, because the store may call runtime.Goexit, as a failing test does.
	defer func() { request.finish(ctx, call, &asked, result, returned, err) }()
	result, returned, err = served.ask(ctx, &asked, content, request.edit)
}

// finish answers a request with the result of a method.
func (r *servedRequest) finish(ctx context.Context, call *call, asked *asked, result any, content []byte, err error) {
	if err == nil {
		r.answer(result, content)
		return
	}
	if ctx.Err() != nil {
		// The store may have noticed the cancellation before the library.
		C.memdir_cancel(C.uint64_t(asked.Call))
	}
	// EINVAL is a condition only for a rename, and every other method can return it as well. Mergers and hooks have no
	// conditions.
	name := conditionOf(err)
	isStore := asked.Operation != "merge" && asked.Operation != "hook"
	if name != "" && isStore && (name != "EINVAL" || asked.Operation == "rename") {
		r.answer(map[string]any{"errno": name}, nil)
		return
	}
	r.answer(map[string]any{"failed": shown(err), "number": call.keep(err)}, nil)
}

// callOf returns the call that a request belongs to.
func (s *servedStore) callOf(asked *asked) *call {
	if found, is := calls.Load(asked.Call); is {
		return found.(*call)
	}
	if opening := s.opening.Load(); opening != nil {
		return opening
	}
	return &call{ctx: context.Background()}
}

// ask calls the method of the store. A panic becomes an error.
func (s *servedStore) ask(ctx context.Context, asked *asked, content []byte, edit Edit) (result any, returned []byte, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{value, debug.Stack()}
		}
	}()
	return s.called(ctx, asked, content, edit)
}

func (s *servedStore) called(ctx context.Context, asked *asked, content []byte, edit Edit) (any, []byte, error) {
	path := asked.Path
	switch asked.Operation {
	case "info":
		return about(s.store), nil, nil
	case "embed":
		vectors, err := s.embedder(ctx, asked.Texts, asked.IsQuery)
		return vectors, nil, err
	case "merge":
		file := asked.SyncMerge
		file.Path = path
		text, merged, err := s.merger(ctx, file)
		if err != nil || !merged {
			return nil, nil, err
		}
		if !utf8.ValidString(text) {
			return nil, nil, errors.New("the merged text is not valid UTF-8")
		}
		return text, nil, nil
	case "hook":
		return nil, nil, runHooks(ctx, s.hooks, C.uint64_t(asked.Pending), string(asked.Command))
	case "make":
		made, err := s.factory()
		if err == nil && made == nil {
			err = errors.New("the factory returned nil")
		}
		if err != nil {
			return nil, nil, err
		}
		return serveStore(made).number, nil, nil
	case "read":
		content, err := s.store.Read(ctx, path)
		return nil, content, err
	case "list":
		entries, err := s.store.List(ctx, path)
		return listed(entries), nil, err
	case "write":
		return nil, nil, s.store.Write(ctx, path, content, asked.Overwrite)
	case "update":
		return nil, nil, s.store.Update(ctx, path, edit)
	case "delete":
		return nil, nil, s.store.Delete(ctx, path)
	case "rename":
		return nil, nil, s.store.Rename(ctx, path, asked.To)
	case "open":
		opened, err := s.store.(StoreOpener).Open(ctx, path, asked.Depth)
		if opened.IsDirectory {
			return listed(opened.Entries), nil, err
		}
		return nil, opened.Content, err
	case "modified":
		modified, err := s.store.(StoreTimer).Modified(ctx, path)
		return orUnknown(modified), nil, err
	case "set_modified":
		return nil, nil, s.store.(StoreTimeSetter).SetModified(ctx, path, asked.Time)
	case "clear":
		return nil, nil, s.store.(StoreClearer).Clear(ctx)
	case "record_access":
		return nil, nil, s.store.(StoreAccessTracker).RecordAccess(ctx, path, asked.Time)
	case "delete_unused":
		deleted, err := s.store.(StoreAccessTracker).DeleteUnused(ctx, path, asked.Since)
		return deleted, nil, err
	}
	return nil, nil, fmt.Errorf("there is no operation %q of a store", asked.Operation)
}

// about describes a store. The library reads it once.
func about(store Store) any {
	methods := []string{}
	has := func(name string, is bool) {
		if is {
			methods = append(methods, name)
		}
	}
	_, opens := store.(StoreOpener)
	has("open", opens)
	_, knowsTimes := store.(StoreTimer)
	has("modified", knowsTimes)
	_, setsTimes := store.(StoreTimeSetter)
	has("set_modified", setsTimes)
	_, clears := store.(StoreClearer)
	has("clear", clears)
	_, tracks := store.(StoreAccessTracker)
	folder, isFolder := store.(StoreCaseFolder)
	return map[string]any{"methods": methods, "tracks_access": tracks, "folds_case": isFolder && folder.FoldsCase()}
}

// listedEntry is an entry, as the library reads it. Unknown fields are left out.
type listedEntry struct {
	Path     string `json:"path"`
	Size     *int64 `json:"size,omitempty"`
	Modified any    `json:"modified,omitempty"`
	Accessed any    `json:"accessed,omitempty"`
}

func listed(entries []Entry) []listedEntry {
	listed := make([]listedEntry, 0, len(entries))
	for _, entry := range entries {
		// Paths of a memory are always valid UTF-8, and JSON would turn this one into another name.
		if utf8.ValidString(entry.Path) {
			listed = append(listed, listedEntry{entry.Path, entry.Size, orUnknown(entry.Modified), orUnknown(entry.Accessed)})
		}
	}
	return listed
}

func orUnknown(moment time.Time) any {
	if moment.IsZero() {
		return nil
	}
	return moment
}

// edit is the edit of a request for an update.
func (r *servedRequest) edit(content []byte) (edited []byte, write bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.isAnswered {
		return nil, false
	}
	var length C.size_t
	lent := C.memdir_edit(r.number, (*C.uint8_t)(unsafe.SliceData(content)), C.size_t(len(content)), &length)
	if lent == nil {
		return nil, false
	}
	return bytes.Clone(unsafe.Slice((*byte)(lent), length)), true
}

func (r *servedRequest) answer(result any, content []byte) {
	written, err := json.Marshal(result)
	if err != nil {
		// For example a time in the year 10000 cannot be marshalled.
		written, _ = json.Marshal(map[string]any{"failed": err.Error()})
	}
	// JSON cannot contain a NUL byte.
	in, _ := newText("result", string(written))
	defer in.free()
	r.mutex.Lock()
	r.isAnswered = true
	r.mutex.Unlock()
	C.memdir_answer(r.number, in.c, (*C.uint8_t)(unsafe.SliceData(content)), C.size_t(len(content)))
}

// conditions are the conditions with a named constant in package syscall. Any other number is that of a file or a connection of
// the store itself, so it says nothing about the tree.
var conditions = map[syscall.Errno]string{
	syscall.EISDIR: "EISDIR", syscall.ENOTDIR: "ENOTDIR", syscall.EINVAL: "EINVAL", syscall.ENAMETOOLONG: "ENAMETOOLONG",
	syscall.EROFS: "EROFS", syscall.ENOSPC: "ENOSPC", syscall.EDQUOT: "EDQUOT",
}

// conditionOf returns the name of a condition in C's errno.h; empty if the store is broken.
func conditionOf(err error) (name string) {
	// Methods of an error may panic, too. The store is then broken.
	defer func() {
		if recover() != nil {
			name = ""
		}
	}()
	var errno syscall.Errno
	if errors.As(err, &errno) && conditions[errno] != "" {
		return conditions[errno]
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "ENOENT"
	case errors.Is(err, fs.ErrExist):
		return "EEXIST"
	case errors.Is(err, fs.ErrPermission):
		return "EACCES"
	}
	return ""
}

// shown formats a value for a log. fmt catches a panic of the value's methods.
func shown(value any) string { return fmt.Sprint(value) }
