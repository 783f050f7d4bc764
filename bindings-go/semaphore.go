package memdir

// How many calls are in the library at one time. A call of cgo's holds a thread of the system until it returns, so without a
// bound a thousand goroutines that wait for a lock would hold a thousand threads. Hooks run in Go: a call holds no place while
// its hook runs, so hooks can use the memory again however few places there are.

import (
	"bytes"
	"container/list"
	"context"
	"encoding/json"
	"runtime"
	"sync"
)

// DefaultMaxCalls is how many views, and how many changes, are executed at one time unless [SetMaxCalls] sets another number.
const DefaultMaxCalls = 64

// places are those of the calls that may be executed at one time on some memories. A change may have to wait for another writer, so
// views have places of their own.
type places struct{ viewing, changing *semaphore }

func newPlaces(n int) *places { return &places{newSemaphore(n), newSemaphore(n)} }

var (
	// The places of all memories but those on stores of the program's own. Such a store may call another memory, whose
	// calls must not wait for those that wait for the store.
	forAll = newPlaces(DefaultMaxCalls)
	// Calls that wait for no other one, such as those that only read the JSON of an input.
	brief = newSemaphore(runtime.NumCPU())
)

// SetMaxCalls sets how many views of this process, and how many changes, may be executed at one time, on all memories
// together. Each holds a thread of the system. Further calls wait in Go for their turn, in the order in which they were made,
// and stop waiting if their context is done. It returns the number that was set before. If n is less than 1, it changes nothing.
//
// A memory on a [Store] of your own has as many places for itself: the number that is set when it is opened.
//
// Calls that run go on to their end, so after a smaller number it takes until then for fewer to run.
func SetMaxCalls(n int) int {
	if n < 1 {
		return forAll.changing.limit()
	}
	forAll.viewing.resize(n)
	return forAll.changing.resize(n)
}

// viewOperations change nothing.
var viewOperations = map[string]bool{
	"read": true, "read_shown": true, "list": true, "exists": true, "grep": true, "find_sensitive": true, "stats": true, "index": true,
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

// of is the semaphore of a command. Anything that is not clearly a view counts as a change; the choice
// affects nothing but the waiting.
func (p *places) of(input json.RawMessage) *semaphore {
	if isView(json.NewDecoder(bytes.NewReader(input)), 2) {
		return p.viewing
	}
	return p.changing
}

// isView reads an object up to its "command": the input of a tool_use, or the whole of it, which has the input within. A
// large text that comes before is skipped.
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

// semaphore lets a number of calls run at one time, and the others wait in their order.
type semaphore struct {
	mutex   sync.Mutex
	size    int
	running int
	// Channels that are closed when their call may run.
	waiting list.List
}

func newSemaphore(size int) *semaphore { return &semaphore{size: size} }

// acquire waits until the call may run; false if the context is done before. After true, release ends the call.
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
		// It was let in at the same moment.
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

// resize returns the size that was set before.
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

// letIn lets those run for whom there is room; the caller has the lock.
func (s *semaphore) letIn() {
	for s.running < s.size && s.waiting.Len() > 0 {
		ready := s.waiting.Remove(s.waiting.Front()).(chan struct{})
		s.running++
		close(ready)
	}
}
