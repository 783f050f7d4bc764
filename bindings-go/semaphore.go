package memdir

// The limit of concurrent calls in the library. A call through cgo holds a system thread until it returns. Without a limit, a
// thousand goroutines that wait for a lock would hold a thousand threads. Hooks run in Go: a call gives its slot up while its
// hook runs, so hooks can use the memory even if there are few slots.

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"runtime"
	"sync"
)

// DefaultMaxCalls is the number of views, and of changes, that are executed concurrently unless [SetMaxCalls] sets another
// number.
const DefaultMaxCalls = 64

// places are the slots for concurrent calls on some memories. A change may have to wait for another writer, so views have slots
// of their own.
type places struct{ viewing, changing *semaphore }

func newPlaces(n int) *places { return &places{newSemaphore(n), newSemaphore(n)} }

var (
	// The slots of all memories except those on stores of the application. Such a store may call another memory, whose calls must
	// not wait for those that wait for the store.
	forAll = newPlaces(DefaultMaxCalls)
	// Calls that do not wait for others, such as those that only read the JSON of an input.
	brief = newSemaphore(runtime.NumCPU())
)

// SetMaxCalls sets how many views of this process, and how many changes, may run concurrently, on all memories together. Each
// holds a system thread. Further calls wait in Go for their turn, in the order in which they were made, and stop waiting if their
// context is done. It returns the previous number. If n is less than 1, it changes nothing.
//
// A memory on a [Store] of your own has its own slots: the number that is set when the memory is opened.
//
// Running calls finish, so a smaller number takes effect only then.
func SetMaxCalls(n int) int {
	if n < 1 {
		return forAll.changing.limit()
	}
	forAll.viewing.resize(n)
	return forAll.changing.resize(n)
}

// viewOperations are the operations that change nothing.
var viewOperations = map[string]bool{
	"read": true, "read_shown": true, "list": true, "exists": true, "grep": true, "search": true, "find_sensitive": true,
	"stats": true, "index": true,
	"watch": true, "changes": true, "check": true, "history": true, "grep_history": true, "files_at": true, "read_at": true,
	"read_version": true, "diff": true, "resolve_id": true, "export_history": true, "blame": true,
}

// briefOperations do not use the store.
var briefOperations = map[string]bool{
	"is_due": true, "unwatch": true, "forget_views": true, "tool_definition": true, "tool_definitions": true,
}

func (p *places) ofOperation(operation string) *semaphore {
	switch {
	case viewOperations[operation]:
		return p.viewing
	case briefOperations[operation]:
		return brief
	}
	return p.changing
}

// of returns the semaphore for a command. Anything that is not clearly a view counts as a change. The choice affects only the
// waiting.
func (p *places) of(input json.RawMessage) *semaphore {
	if isView(json.NewDecoder(bytes.NewReader(input)), 2) {
		return p.viewing
	}
	return p.changing
}

// isView reads an object up to its "command". The object is the input of a tool_use, or the whole block, which contains the
// input. A large text before the command is skipped.
func isView(decoder *json.Decoder, depth int) bool {
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') || depth == 0 {
		return false
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return false
		}
		switch name {
		case "command":
			command, err := decoder.Token()
			return err == nil && command == "view"
		case "input":
			return isView(decoder, depth-1)
		}
		var skipped json.RawMessage
		if decoder.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

// semaphore limits the number of concurrent calls. The others wait in their order.
type semaphore struct {
	mutex   sync.Mutex
	size    int
	running int
	// Channels, each of which is closed when its call may run.
	waiting list.List
}

func newSemaphore(size int) *semaphore { return &semaphore{size: size} }

// acquire waits until the call may run. It returns false if the context is done before. After true, release ends the call.
func (s *semaphore) acquire(ctx context.Context) bool {
	s.mutex.Lock()
	if s.running < s.size && s.waiting.Len() == 0 {
		s.running++
		s.mutex.Unlock()
		return true
	}
	ready := make(chan struct{})
	place := s.waiting.PushBack(ready)
	s.mutex.Unlock()
	select {
	case <-ready:
		return true
	case <-ctx.Done():
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	select {
	case <-ready:
		// The call was admitted at the same moment.
		return true
	default:
		s.waiting.Remove(place)
		return false
	}
}

func (s *semaphore) release() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.running--
	s.letIn()
}

// resize sets the size and returns the previous one.
func (s *semaphore) resize(size int) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before := s.size
	s.size = size
	s.letIn()
	return before
}

func (s *semaphore) limit() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.size
}

// letIn admits the waiting calls for which there are slots. The caller holds the lock.
func (s *semaphore) letIn() {
	for s.running < s.size && s.waiting.Len() > 0 {
		ready := s.waiting.Remove(s.waiting.Front()).(chan struct{})
		s.running++
		close(ready)
	}
}
